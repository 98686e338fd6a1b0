/* SPDX-License-Identifier: MIT
 *
 * The verdict: which of device, queue and submitter holds the waiter, with the evidence.
 */
#ifndef BLKLAB_WHY_VERDICT_H
#define BLKLAB_WHY_VERDICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "track/summary.h"
#include "track/wait.h"

enum bound { BOUND_UNKNOWN, BOUND_NONE, BOUND_DEVICE, BOUND_QUEUE, BOUND_SUBMITTER };
enum bound_mode { MODE_UNKNOWN, MODE_LATENCY, MODE_SATURATED };

const char *bound_key(enum bound bound);
const char *mode_key(enum bound_mode mode);

struct verdict {
	enum bound bound, second; /* second: BOUND_UNKNOWN unless within 10 points of the first */
	enum bound_mode mode;
	double mode_depth; /* mean depth while busy that the mode rests on */
	bool have_shares;
	double share[WAIT_NR];
	bool own_only; /* shares are of the command's own I/O: kernel threads had other masters */
	double helper_share;   /* then: of the window, when only those threads' I/O was open */
	char why_unknown[256]; /* for BOUND_UNKNOWN: "because ..." */
};

/* Decides from what the tracker measured. */
void verdict_decide(struct verdict *v, const struct wait_sum *wait, const struct summary *sum);

#endif
