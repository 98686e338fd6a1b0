/* SPDX-License-Identifier: MIT
 *
 * What comes out of a compressed blob. The first 256 KiB are decompressed by whoever reads them, so
 * looking into many files, and reading small ones, starts no thread; what follows by a thread of the
 * stream's own, which is at most 1 MiB ahead of the reader.
 */
#ifndef BLKLAB_TRACE_STREAM_H
#define BLKLAB_TRACE_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/error.h"
#include "trace/input.h"

struct stream;

/* Takes the blob (which is empty then). `label`, copied, is what messages call it. */
struct stream *stream_new(struct blob *from, const char *label);
/* Reads up to n bytes: >0, 0 at the end, -1 with err, again and again. Short reads happen only at the
 * end, before an error and with `some`: then it waits only for the first byte. */
ssize_t stream_read(struct stream *s, void *buf, size_t n, bool some, struct error *err);
/* 1 = stream_read has something to say, 0 = not within ms milliseconds. Starts the thread if the
 * blob is live. */
int stream_wait(struct stream *s, int ms);
/* The compressed blob, borrowed. */
struct blob *stream_from(struct stream *s);
/* Back to the first byte; nothing is open then. Only while no more than 256 KiB were read. */
void stream_rewind(struct stream *s);
/* From another thread: whoever reads, or will, gets an error soon. */
void stream_interrupt(struct stream *s);
/* Ends the thread, wherever it is. NULL is none. */
void stream_free(struct stream *s);

#endif
