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
#include "base/mem.h"
#include "classic/own_format.h"
#include "classic/record.h"

enum timed_wait {
	TIMED_ALLOCATION,
	TIMED_DISPATCH,
	TIMED_COMPLETION,
	NR_TIMED
}; /* G to I, I to D, D to C */

struct timing {
	struct hash by_sector; /* of entries */
	struct slab entries;
	bool ready; /* false: {0}, the first record makes the table */
};

struct timed {
	uint64_t elapsed_ns;  /* ELAPSED_NONE: there is none */
	enum timed_wait wait; /* which one that is */
	uint32_t owner; /* pid of the process that owns the table's entry, to be charged with it */
	bool found;   /* there was an entry with a wait, known or not: `wait` and `owner` are set */
	bool created; /* an entry came: the record's pid now has a name, see processes_name */
};

/* Takes a record of one of G I D C F, and Q on devices that pass their I/O on (others do nothing), before it
 * is printed. `device` and `verbose` are for the classic's messages on standard error, and for telling those
 * devices. */
struct timed timing_take(struct timing *timing, const struct record *r, uint32_t device,
			 bool verbose);
void timing_release(struct timing *timing);

#endif
