/* SPDX-License-Identifier: MIT
 *
 * Wait attribution (model.md 10.2): at each moment of a window, where is the oldest unfinished I/O
 * that the waiter depends on?
 */
#ifndef BLKLAB_TRACK_WAIT_H
#define BLKLAB_TRACK_WAIT_H

#include <stdbool.h>
#include <stdint.h>

enum wait_place {
	WAIT_DEVICE,        /* at the device */
	WAIT_BEHIND_OTHERS, /* waiting while the device serves other I/O */
	WAIT_HELD,          /* waiting while the device does nothing */
	WAIT_SUBMITTER,     /* nothing of the waiter is in the block layer */
	WAIT_NR
};

const char *wait_key(enum wait_place place); /* "device", "behind_others", "held", "submitter" */

/* What was measured over the window. */
struct wait_sum {
	uint64_t from_ns, to_ns;    /* the window; to <= from: there was none */
	uint64_t place_ns[WAIT_NR]; /* sums to to_ns - from_ns */
	uint64_t bios;              /* of the waiter, that were open in the window */
};

#endif
