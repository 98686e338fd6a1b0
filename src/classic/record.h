/* SPDX-License-Identifier: MIT
 *
 * A record of blktrace as the drop-in modes handle it: undecoded in meaning, unlike an event, since they
 * have to repeat what the classic tools do with every bit.
 */
#ifndef BLKLAB_CLASSIC_RECORD_H
#define BLKLAB_CLASSIC_RECORD_H

#include <stdbool.h>

#include "read/blktrace_record.h"
#include "trace/event.h"

/* Which classic: what each prints is its own; what it counts wrongly stays so without --fix. */
enum classic { CLASSIC_1_2, CLASSIC_1_3, CLASSIC_8 };

struct record {
	struct blktrace_header h; /* time_ns: relative to the first event once it is shown */
	const uint8_t *pdu;       /* borrowed: h.pdu_len bytes */
	bool swap;                /* payloads in the order of the header are in the other one */
	bool cgroup; /* 1.3 and later: the number's flag was taken off, and these off the payload */
	uint32_t cgroup_ino, cgroup_gen;
};

#define RWBS_BYTES 12

void record_take_cgroup(struct record *r);

/* From the bytes of a whole record: a header of `size` bytes (blktrace_header_size) and its payload. 1.2 does not
 * know the flag of a cgroup id: to it such a record has a number it never heard of. */
static inline void record_decode(struct record *r, const uint8_t *p, size_t size, bool swap,
				 enum classic classic)
{
	blktrace_header_decode(&r->h, p, size, swap);
	r->pdu = p + size;
	r->swap = swap;
	r->cgroup = false;
	if ((r->h.number & BLKTRACE_CGROUP) && classic != CLASSIC_1_2)
		record_take_cgroup(r);
}

/* Encodes it again, in host byte order and its own version: BLKTRACE_V8_BYTES at most, returns how many. */
size_t record_encode(const struct record *r, uint8_t header[BLKTRACE_V8_BYTES]);

/* A message, as the classic knows it: by the whole action word. Any other note is taken when it is read. */
static inline bool record_is_message(const struct record *r)
{
	return r->h.number == NOTE_MESSAGE && r->h.categories == TC_NOTIFY;
}

static inline bool record_is_note(const struct record *r)
{
	return (r->h.categories & TC_NOTIFY) && !record_is_message(r);
}

/* Read or write, as the classic counts them: by the direction bit. */
static inline int record_direction(const struct record *r)
{
	return (r->h.categories & TC_WRITE) != 0;
}

/* The letters of blkparse's RWBS column, NUL-terminated; returns how many. */
size_t record_rwbs(const struct record *r, enum classic classic, char text[RWBS_BYTES]);

#endif
