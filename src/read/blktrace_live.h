/* SPDX-License-Identifier: MIT
 *
 * Order for a stream that holds the records of all CPUs in chunks (blktrace -o -): each CPU's ring of
 * each device is in order, the stream is not. Records are held until every ring has one that is later;
 * or until too many are held, since a CPU may be silent; or until the stream pauses. What comes later
 * than that is given at once, out of order, and counted. Numbers of records play no part: one that is
 * missing holds up nothing.
 *
 * A stream that turns out to be in order (a merged dump) is given as it is. One that is not comes in the
 * order in which merge_new (trace/source.h) would give the rings if each were a file of its own.
 */
#ifndef BLKLAB_READ_BLKTRACE_LIVE_H
#define BLKLAB_READ_BLKTRACE_LIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/event.h"

#define BLKTRACE_LIVE_RECORDS 262144u     /* held at most; 27 MiB */
#define BLKTRACE_LIVE_BYTES   (16u << 20) /* of payloads held at most */
#define BLKTRACE_LIVE_RINGS   8192u       /* more share the last one */
#define BLKTRACE_LIVE_PAUSE   1000        /* ms without anything new: nobody has older ones */

struct blktrace_live;

struct blktrace_live *blktrace_live_new(void);
void blktrace_live_free(struct blktrace_live *live); /* NULL is none */

/* Holds an event from the ring of that device and CPU (which its record names); its payload is copied. */
void blktrace_live_add(struct blktrace_live *live, const struct event *ev, uint32_t device,
		       uint32_t cpu);
/* Up to max of the events whose turn it is. Their payloads live until the next call. */
int blktrace_live_take(struct blktrace_live *live, struct event *events, int max);
/* The stream pauses or has ended: all that is held has its turn. */
void blktrace_live_flush(struct blktrace_live *live);

bool blktrace_live_holds(const struct blktrace_live *live);    /* anything */
bool blktrace_live_mixed(const struct blktrace_live *live);    /* the stream was not in order */
uint64_t blktrace_live_late(const struct blktrace_live *live); /* given out of order */

#endif
