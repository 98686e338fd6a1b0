/* SPDX-License-Identifier: MIT
 *
 * An input is a named group of blobs that one reader opens: the per-CPU files of one device, a trace
 * directory, one text. Blobs are files, pipes, memory (tests, fuzzers), what comes out of a compressed
 * file (a stream: decompressed on a thread of its own while it is read) or members of an archive
 * (spooled: kept in memory up to 32 MiB, beyond that in an unlinked temporary file).
 */
#ifndef BLKLAB_TRACE_INPUT_H
#define BLKLAB_TRACE_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

struct spool;  /* the members of all archives; spool.h */
struct stream; /* what comes out of a compressed blob; stream.h */
struct index;  /* of the labels in use; group.c */

struct blob {
	char *name;          /* owned; relative inside its group: "vda.blktrace.0", "cpu0.pages" */
	char *path;          /* owned; to open on first use, or NULL */
	int fd;              /* -1 = not open */
	struct spool *spool; /* a share in it, or NULL */
	uint64_t spool_from, spool_at, spool_end;
	struct stream *stream; /* owned, or NULL */
	const uint8_t *mem;    /* borrowed, or NULL */
	size_t mem_len, mem_at;
	uint8_t *head; /* owned: bytes read ahead by blob_head, given again by blob_read */
	size_t head_len, head_at;
	bool head_short;    /* a pipe gave less than was wanted, and paused */
	struct error *late; /* owned; told once, behind the last byte: it is cut or damaged there */
	bool late_told;
};

struct input {
	char *label;        /* owned; what the user calls it, for messages */
	char *base;         /* owned; "vda" of vda.blktrace.N, else the blob's name */
	struct blob *blobs; /* owned array, sorted by name (numbers by value) */
	size_t nr;
};

/* Whoever takes groups out of the list or moves them may not add others afterwards. */
struct inputs {
	struct input *list; /* owned array */
	size_t nr;
	struct index *index; /* owned; of the list by label */
	struct spool *spool; /* a share in it; NULL until something was unpacked */
	char **notes; /* owned array of owned sentences: what an archive holds and nobody reads */
	size_t nr_notes;
};

/* Adds to `inputs` what `path` names: "-" (standard input), a file, a base name ("sda", "sda.blktrace.3" or
 * "sda.blktrace.3.gz" for all of sda.blktrace.N, plain or compressed), a directory (a trace directory, or one group per device), an archive or compressed
 * file. A group already there (sda.blktrace.* expanded by a shell) is not added twice. What is damaged
 * or cut is added and says so when it is read. -1 and one sentence where nothing readable is named. */
int inputs_add(struct inputs *inputs, const char *path, struct error *err);
void inputs_release(struct inputs *inputs);

/* A group of one blob over borrowed memory. */
void input_memory(struct input *in, const char *label, const void *mem, size_t len);
void input_release(struct input *in);

/* The blob with that name, or NULL. */
struct blob *input_blob(const struct input *in, const char *name);

/* Reads up to n bytes: >0, 0 at the end, -1 with err. Short reads happen only at the end and before an
 * error. What is compressed or archived and cut or damaged gives what could be unpacked, then -1 once,
 * then 0. A compressed blob is decompressed on its own thread from the second 256 KiB on. */
ssize_t blob_read(struct blob *blob, void *buf, size_t n, struct error *err);
/* As blob_read, but takes what is there: of a pipe, waits only until there is something. */
ssize_t blob_read_some(struct blob *blob, void *buf, size_t n, struct error *err);
/* Waits until blob_read_some would not: 1, or 0 if nothing came for `ms` milliseconds. Files and memory
 * are always ready. */
int blob_wait(struct blob *blob, int ms);
/* Was the last error of blob_read that of something cut or damaged? What came before it is good. */
bool blob_damaged(const struct blob *blob);
/* Borrows the first bytes (up to `want`, at most 64 KiB) without consuming them; returns how many. Less
 * where there are no more, or a pipe paused for a second; err says why if that is an error (blob_read
 * tells it again). */
size_t blob_head(struct blob *blob, size_t want, const uint8_t **bytes, struct error *err);
/* The whole blob, NUL-terminated, owned by the caller; NULL with err if above max. */
char *blob_text(struct blob *blob, size_t max, size_t *len, struct error *err);
/* Closes the file (not standard input) and ends the thread; the blob may not be read afterwards. */
void blob_close(struct blob *blob);

#endif
