/* SPDX-License-Identifier: MIT
 *
 * Inside one run of btt: handing events and I/O to the parts (btt_feed.c), and what is around that
 * (btt.c).
 */
#ifndef BLKLAB_CLASSIC_BTT_RUN_H
#define BLKLAB_CLASSIC_BTT_RUN_H

#include "base/hash.h"
#include "base/mem.h"
#include "classic/btt.h"

/* A part that is wanted, and what it keeps. */
struct running {
	const struct btt_part *part;
	void *self;
};

/* Requests that were given back (R) and not issued again, by device and sector. */
struct requeues {
	struct hash open;
	struct slab slab;
};

struct btt_run {
	struct btt b;
	struct tracker *tracker;
	struct running *parts; /* owned array */
	size_t nr_parts;
	struct requeues requeues;
	const struct event *ev; /* that is being handled; of the run's end: the last one */
	struct btt_device *last_device;
	bool begun; /* the shift is known */
	bool shift; /* take the first event's time off */
};

void feed_init(struct btt_run *run);
void feed_release(struct btt_run *run);
/* What the tracker is to tell. */
struct track_sink feed_sink(struct btt_run *run);
void feed_event(struct btt_run *run, const struct event *ev);
/* After the tracker's finish: what a device is, is known now. */
void feed_finish(struct btt_run *run);

#endif
