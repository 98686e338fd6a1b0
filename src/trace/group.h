/* SPDX-License-Identifier: MIT
 *
 * Inside the inputs: how groups are put together by input.c (paths) and unpack.c (archives).
 */
#ifndef BLKLAB_TRACE_GROUP_H
#define BLKLAB_TRACE_GROUP_H

#include "trace/input.h"

#define BLOBS_MAX   65536u /* files of one directory or archive */
#define PACKED_HEAD 512u   /* bytes that tell an archive */

/* An unlinked temporary file that the blobs of one archive share; closed with the last of them. */
struct spool {
	int fd;
	unsigned int refs;
	char *dir;     /* owned; for messages */
	uint64_t size; /* written so far */
};

void spool_put(struct spool *spool); /* gives a share back; NULL is none */

void blob_release(struct blob *blob);

/* Adds an empty group; takes label and base. Pointers into the list move. */
struct input *group_new(struct inputs *inputs, char *label, char *base);
/* NULL where none has that label. */
struct input *group_find(struct inputs *inputs, const char *label);
/* As group_find, for a set of per-CPU files: a file "sda" beside sda.blktrace.0 has the same label. */
struct input *group_find_set(struct inputs *inputs, const char *label);
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

/* Do the first bytes say that it is an archive or compressed? Plain files never are. */
bool packed_probe(const uint8_t *head, size_t len);
/* Unpacks the blob into groups labelled "label:member"; -1 with err. */
int packed_add(struct inputs *inputs, struct blob *blob, const char *label, struct error *err);

#endif
