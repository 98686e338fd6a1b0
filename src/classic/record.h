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

struct record {
	struct blktrace_header h; /* time_ns: relative to the first event once it is shown */
	const uint8_t *pdu;       /* borrowed: h.pdu_len bytes */
};

/* Which classic: what each prints is its own; what it counts wrongly stays so without --fix. */
enum classic { CLASSIC_1_2, CLASSIC_1_3, CLASSIC_8 };

#define RWBS_BYTES 12

/* Read or write, as the classic counts them: by the direction bit. */
static inline int record_direction(const struct record *r)
{
	return (r->h.categories & TC_WRITE) != 0;
}

/* The letters of blkparse's RWBS column, NUL-terminated; returns how many. */
size_t record_rwbs(const struct record *r, enum classic classic, char text[RWBS_BYTES]);

#endif
