/* SPDX-License-Identifier: MIT
 *
 * A mergeable log-linear histogram of unsigned 64-bit values: 64 steps per octave, so a value is
 * known to within 1/128 (below 1 %) of itself; n, sum, min and max are exact.
 */
#ifndef BLKLAB_STAT_HIST_H
#define BLKLAB_STAT_HIST_H

#include <stdbool.h>
#include <stdint.h>

#define HIST_SUB_BITS 6
#define HIST_BUCKETS  ((64 - HIST_SUB_BITS + 1) << HIST_SUB_BITS)

struct hist {
	uint64_t n, min, max;
	double sum;
	uint32_t *count; /* owned, HIST_BUCKETS, made at the first value; saturates at UINT32_MAX */
};

void hist_add(struct hist *hist, uint64_t value);
void hist_merge(struct hist *into, const struct hist *from);
void hist_release(struct hist *hist);

/* The q-quantile (0 < q < 1), clamped to [min, max]; false where there is not enough data to know
 * it: n * (1 - q) < 1 (model.md 5). */
bool hist_quantile(const struct hist *hist, double q, uint64_t *value);

#endif
