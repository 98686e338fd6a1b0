/* SPDX-License-Identifier: MIT
 *
 * Inside the inputs: how groups are put together by input.c (paths) and unpack.c (archives).
 */
#ifndef BLKLAB_TRACE_GROUP_H
#define BLKLAB_TRACE_GROUP_H

#include "trace/input.h"

#define BLOBS_MAX   65536u /* files of one directory or archive */
#define PACKED_HEAD 512u   /* bytes that tell an archive */

/* Back to the first byte, nothing open: of what blob_head has looked at. Not of a pipe. */
void blob_rewind(struct blob *blob);
/* Puts a stream over the blob: from now on it is what comes out of it. `label` is for messages. */
void blob_unpack(struct blob *blob, const char *label);
/* Waits as blob_wait, but also ends when `wake` (an eventfd, or -1) can be read. */
int blob_wait_or(struct blob *blob, int ms, int wake);
/* Is there a pipe at the bottom that may not have its next byte yet? */
bool blob_is_live(const struct blob *blob);
/* Makes a read of a stream in another thread end soon. */
void blob_interrupt(struct blob *blob);
void blob_release(struct blob *blob);

/* Adds an empty group; takes label and base. Pointers into the list move. Groups are found in constant
 * time. */
struct input *group_new(struct inputs *inputs, char *label, char *base);
/* NULL where none has that label. */
struct input *group_find(struct inputs *inputs, const char *label);
/* As group_find, for a set of per-CPU files: a file "sda" beside sda.blktrace.0 has the same label. */
struct input *group_find_set(struct inputs *inputs, const char *label);
/* An archive has no group of its own: was this asked before? */
bool group_seen(struct inputs *inputs, const char *label);
/* Adds a sentence (taken) for the report. */
void inputs_note(struct inputs *inputs, char *note);
/* Adds an empty blob; takes name. Pointers into the array move. */
struct blob *group_blob(struct input *in, char *name);
/* Moves a blob into the group under a (copied) name; the old one is empty then. */
void group_move(struct input *in, struct blob *blob, const char *name);
void group_sort(struct input *in);

/* What stands behind the last slash. */
const char *path_base_name(const char *path);
/* Without "./" in front and without slashes at the end, so that one thing has one label; owned. */
char *path_clean(const char *path);
/* The length of X in "X.blktrace.N", 0 where the name is not of that kind. */
size_t set_base_len(const char *name);
/* The length of "X.blktrace.N" in "X.blktrace.N.gz" (or .xz, .zst, ...), 0 where it is not of that
 * kind. */
size_t set_packed_len(const char *name);
/* The length of X in either, 0 where it is of neither kind. */
size_t set_member_len(const char *name);

/* Do the first bytes say that it is an archive or compressed? Plain files never are. */
bool packed_probe(const uint8_t *head, size_t len);
/* Adds what the blob holds under that label: a stream, or the members of an archive as "label:member".
 * The blob is empty then. `reopen`: a file, so nothing of it need stay open until it is read. -1 with err,
 * not for what is damaged. */
int packed_add(struct inputs *inputs, struct blob *blob, const char *label, bool reopen,
	       struct error *err);

/* unpack.c: as packed_add, for an archive. */
int archive_add(struct inputs *inputs, struct blob *blob, const char *label, int depth,
		struct error *err);
/* packed.c: as packed_add, at that depth of archives in archives. */
int packed_add_at(struct inputs *inputs, struct blob *blob, const char *label, bool reopen,
		  int depth, struct error *err);
/* packed.c: reads a compressed per-CPU file into the spool; the blob is that then. -1 with err where
 * there is no room. */
int packed_spool(struct inputs *inputs, struct blob *blob, const char *label, struct error *err);

#endif
