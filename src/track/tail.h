/* SPDX-License-Identifier: MIT
 *
 * What the slowest requests spent their time on: of the slowest hundredth (by r_q2c), say, the mean
 * share of each phase (model.md 5). One pass, bounded: shares are added up by how long a request took, in
 * buckets of at most 1/16 of their values, so that the limit may lie as much too low.
 */
#ifndef BLKLAB_TRACK_TAIL_H
#define BLKLAB_TRACK_TAIL_H

#include "track/summary.h"

/* The phases that follow one another from the first Q to the end and add up to r_q2c: q2g, g2i and i2d (or
 * g2d), d2c, and the flush parts. */
#define TAIL_PHASES 8

struct tail {
	struct tail_bucket {
		uint64_t n, min_ns;
		double shares[TAIL_PHASES];
	} * buckets; /* owned */
	size_t nr;
	uint64_t n;
};

enum phase tail_phase(int i);

/* Takes requests that have a latency, and were issued once. */
void tail_add(struct tail *tail, const struct io *io);
void tail_release(struct tail *tail);

struct tail_shares {
	uint64_t n, from_ns; /* so many requests took that long or longer */
	double shares[TAIL_PHASES],
		rest; /* mean share of each phase; of what no phase accounts for */
};

/* The slowest part 1 - q of all, and what took as long as the fastest of them; false where n * (1 - q) < 1. */
bool tail_above(const struct tail *tail, double q, struct tail_shares *out);

#endif
