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

/* What was measured over the window. Where a command was recorded, two answers: the oldest open bio of
 * the command's own tree, and of those and of the kernel threads that may have worked for it. Without
 * one, everybody is the waiter and both are the same. */
struct wait_sum {
	uint64_t from_ns, to_ns;     /* the window; to <= from: there was none */
	uint64_t place_ns[WAIT_NR];  /* with the kernel threads; sums to to_ns - from_ns */
	uint64_t own_ns[WAIT_NR];    /* without; sums to the same */
	uint64_t bios;               /* of the waiter, queued while it was recorded */
	uint64_t own_bios;           /* those of the command's own tree */
	uint64_t foreign_write_bios; /* writes and flushes of others that are not kernel threads:
	                                  * the kernel threads worked for them as well */
};

#endif
