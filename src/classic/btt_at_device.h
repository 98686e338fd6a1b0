/* SPDX-License-Identifier: MIT
 *
 * How many requests of a device are at it: one more at each D, one less at the C that ends one, at R, and where
 * one is given up. Which C ended one (not a part, not that of one whose D was not seen) the tracker
 * knows, after the event: so that is counted when the next one comes.
 */
#ifndef BLKLAB_CLASSIC_BTT_AT_DEVICE_H
#define BLKLAB_CLASSIC_BTT_AT_DEVICE_H

#include "classic/btt.h"

struct btt_at_device {
	uint64_t now;
	uint64_t last_ns; /* of the last event, the parts' time */
	bool completed;   /* that was a C, which is not counted yet */
	/* What the tracker had said before that event. */
	uint64_t no_ends, lost;
	size_t place; /* of the device in the summary */
};

/* Before each event of the device, and at the end: by how many it fell at last_ns; `now` is told. */
uint64_t btt_at_device_settle(struct btt_at_device *at, const struct btt *b,
			      const struct btt_device *dev);
/* Then, at the event: 1 where another one is there from now on, -1 where one has come back, else 0. */
int btt_at_device_event(struct btt_at_device *at, const struct btt *b, const struct event *ev);

#endif
