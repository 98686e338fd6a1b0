/* SPDX-License-Identifier: MIT
 *
 * Numbers of one measurement in the order they were taken: mean, spread, and whether they drift.
 */
#ifndef BLKLAB_STAT_SERIES_H
#define BLKLAB_STAT_SERIES_H

#include <stddef.h>
#include <stdint.h>

#define SERIES_KEPT 1000u

/* Zero-initialised. Mean and spread are those of all values, whatever is kept. */
struct series {
	uint64_t n;
	double mean, min, max;
	double squares;  /* sum of (value - mean)^2, kept up value by value (Welford) */
	double *kept;    /* owned: the first SERIES_KEPT values */
	double *batches; /* owned: means of `per_batch` neighbours, at most SERIES_KEPT */
	size_t nr_batches;
	uint64_t per_batch, in_batch; /* values per batch; values in the unfinished one */
	double batch_sum;
};

void series_add(struct series *series, double value);
void series_release(struct series *series);

/* How many are in series->kept. */
size_t series_kept(const struct series *series);

/* The sample standard deviation (n - 1); NAN with fewer than two values. */
double series_sd(const struct series *series);

/* The least-squares line through the values by their position: its value at the last one minus that
 * at the first one, as a share of the mean. NAN with fewer than three values or a mean of 0. Of more
 * than SERIES_KEPT values the batch means stand for the values. */
double series_trend(const struct series *series);

/* The z of the Mann-Kendall test for a trend (ties and continuity corrected): above 1.96 the values
 * rise, below -1.96 they fall, at the 5 % level, if they were independent. NAN with fewer than eight
 * values, for which the normal approximation is no good. */
double series_kendall_z(const struct series *series);

#endif
