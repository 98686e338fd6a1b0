/* SPDX-License-Identifier: MIT
 *
 * blkparse -t: a table of outstanding requests, by their first sector. What it gets wrong is in
 * doc/blkparse-differences.md.
 */
#ifndef BLKLAB_CLASSIC_TIMING_H
#define BLKLAB_CLASSIC_TIMING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "classic/record.h"

enum timed_wait {
	TIMED_ALLOCATION,
	TIMED_DISPATCH,
	TIMED_COMPLETION,
	NR_TIMED
}; /* G to I, I to D, D to C */

struct timing {
	struct hash by_sector; /* of owned entries */
	bool ready;
};

struct timed {
	uint64_t elapsed_ns; /* ELAPSED_NONE: there is none */
	enum timed_wait wait;      /* which one that is */
	uint32_t owner; /* pid of the process that owns the table's entry, to be charged with it */
};

/* Takes a record of one of G I D C F (others do nothing), before it is printed. `device` and `verbose` are
 * for the classic's messages on standard error. */
struct timed timing_take(struct timing *timing, const struct record *r, uint32_t device,
			 bool verbose);
void timing_release(struct timing *timing);

#endif
