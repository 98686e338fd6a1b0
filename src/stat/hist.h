/* SPDX-License-Identifier: MIT
 *
 * A mergeable histogram of unsigned 64-bit values (nanoseconds, sectors, bytes).
 *
 * Exact: n, min, max and sum; and every quantile of at most HIST_EXACT values, which are kept as
 * they are. From the next value on they are counted in buckets: one per value below 128, and 64
 * equal ones in each octave [64 x 2^o, 128 x 2^o) above. A bucket of width w = 2^o begins at 64 w
 * or higher and a quantile is told as its middle, so it is off by at most w / 2 of 64 w: 1/128, less
 * than 0.8 %, of the value that stands at its rank in the sorted values. (The middle is moved into
 * [min, max], where that value lies as well.)
 *
 * Memory follows what occurred: at most 256 bytes for few values, then 256 bytes for each octave
 * from that of min to that of max. A count that passes 32 bits gets 32 more. Merging is addition:
 * any split of the values, merged in any order, gives the histogram of all of them.
 */
#ifndef BLKLAB_STAT_HIST_H
#define BLKLAB_STAT_HIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HIST_SUB_BITS 6
#define HIST_EXACT    32u

/* Zero-initialised; one cache line. */
struct hist {
	unsigned __int128 sum;
	uint64_t n, min, max;
	union {
		uint64_t *few;   /* owned: while nr == 0, the n values, ascending */
		uint32_t *count; /* owned: of the buckets, bits 0..31 */
	};
	uint32_t *carry; /* owned: bits 32..63; NULL while no count needs them */
	uint32_t first;  /* number of the first bucket that `count` holds: of whole octaves */
	uint32_t nr;     /* how many it holds; 0 as long as n <= HIST_EXACT */
};

/* Values counted in one bucket: all lie in [from, to]. */
struct hist_bucket {
	uint64_t from, to, n;
};

void hist_add(struct hist *hist, uint64_t value);

/* Adds the values of another histogram, which stays as it is. */
void hist_merge(struct hist *into, const struct hist *from);
void hist_release(struct hist *hist);

/* The q-quantile (0 < q < 1): the ceil(q n)-th value in ascending order, as exact as told above;
 * false where there is not enough data to know it: n * (1 - q) < 1 (model.md 5). */
bool hist_quantile(const struct hist *hist, double q, uint64_t *value);

/* The buckets that hold something, ascending: `for (size_t at = 0; hist_next(hist, &at, &bucket);)`.
 * Of few values each is a bucket of its own, equal ones one after another. */
bool hist_next(const struct hist *hist, size_t *at, struct hist_bucket *bucket);

#endif
