/* SPDX-License-Identifier: MIT
 *
 * From record to record through a binary file of blktrace, whole or damaged. What records mean is not
 * known here. Layout and damage: doc/formats/blktrace_bin.md.
 */
#ifndef BLKLAB_READ_BLKTRACE_WALK_H
#define BLKLAB_READ_BLKTRACE_WALK_H

#include "read/blktrace_record.h"
#include "trace/input.h"
#include "trace/source.h"

#define BLKTRACE_BUFFER_BYTES (96 * 1024)   /* many files at once should stay in the cache */
#define BLKTRACE_STREAM_BYTES (1024 * 1024) /* of a merged dump, whose first event may come late */

struct blktrace_walk {
	struct blob *blob;          /* borrowed */
	struct source_stats *stats; /* borrowed: bytes and damage are counted here */
	int cpu;                    /* of a per-CPU file; -1: a merged dump, any */
	bool swap, order_known;
	bool in_damage; /* the last bytes skipped were damaged and what follows may be too */
	bool at_end;    /* of the blob */
	bool paused;    /* a pipe has no more for now: a whole record need not show its successor */
	bool strays;    /* there were whole records of another CPU, one behind the other */
	uint32_t stray_cpu;
	uint8_t *buf;   /* owned by the caller */
	size_t size;    /* of it: BLKTRACE_BUFFER_BYTES or more */
	size_t at, len; /* unread bytes are buf[at..len); the caller moves `at` past a record */
};

/* Looks at the unread bytes: 1 a whole record is there, 0 no more, 2 only with more of the file. */
int blktrace_walk_next(struct blktrace_walk *w, struct blktrace_header *h);

/* Makes the buffer as full as the blob allows; the unread part moves to its start, so payloads lent
 * from it are gone. 0, or -1 with err. */
int blktrace_walk_fill(struct blktrace_walk *w, struct error *err);

/* As blktrace_walk_fill, but only what is there: of a pipe, waits for the first byte. */
int blktrace_walk_more(struct blktrace_walk *w, struct error *err);

/* The version that a file's first bytes say (whatever it is), or 0: no such file; *swap: it is in the
 * other byte order. */
int blktrace_version(const uint8_t *head, size_t len, bool *swap);

#endif
