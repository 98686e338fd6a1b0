/* SPDX-License-Identifier: MIT
 *
 * Where text and dumps go: a buffer that a thread of its own writes out while the next one is filled. Order is
 * kept; an error (a full disk, a closed pipe) is kept too and told at the end.
 */
#ifndef BLKLAB_CLASSIC_OUT_H
#define BLKLAB_CLASSIC_OUT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/error.h"

#define OUT_BYTES (256u * 1024u) /* of a buffer: the most that out_room can give */

struct out_writer; /* the thread and its buffers */

struct out {
	char *at, *end;            /* the free part of the buffer that is being filled */
	struct out_writer *writer; /* owned; NULL = nowhere: nothing may be written */
};

/* Over an open file, taken and closed at the end (not standard output). `label` is for messages. */
void out_init(struct out *out, int fd, const char *label);
/* Opens path for writing; NULL is standard output. -1 with errno. */
int out_open(struct out *out, const char *path);
/* Another buffer, whatever is left in this one. */
void out_next(struct out *out);
/* At least n bytes (n <= OUT_BYTES) at the returned place; the caller then moves out->at. */
static inline char *out_room(struct out *out, size_t n)
{
	if ((size_t)(out->end - out->at) < n)
		out_next(out);
	return out->at;
}
void out_bytes(struct out *out, const void *bytes, size_t n); /* any n */
void out_printf(struct out *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* What was written so far is on its way before this returns: for live input. */
void out_flush(struct out *out);
/* Writes the rest, ends the thread, closes. -1 with err if anything could not be written. {0} is fine. */
int out_close(struct out *out, struct error *err);

#endif
