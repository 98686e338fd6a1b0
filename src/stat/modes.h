/* SPDX-License-Identifier: MIT
 *
 * The modes of a distribution of latencies: the values around which it gathers, such as the hits
 * and the misses of a cache.
 *
 * The density is taken over the logarithm of the value, smoothed by a triangle of half an octave to
 * either side. Two peaks of it are two modes where the valley between them is clear: at most
 * MODES_VALLEY of the lower peak, and below it by at least MODES_SIGMAS standard deviations of their
 * difference (of a weighted sum of counts, sum w c, the variance is sum w^2 c: counts scatter like
 * Poisson's). A mode that holds less than MODES_SHARE of the values is tail of its neighbour.
 *
 * So modes closer than a factor of about 1.7 are one. Values of a coarse resolution (text in
 * microseconds) come apart where they are below three units of it.
 */
#ifndef BLKLAB_STAT_MODES_H
#define BLKLAB_STAT_MODES_H

#include <stddef.h>
#include <stdint.h>

#include "stat/hist.h"

#define MODES_SIGMAS 4.0
#define MODES_VALLEY 0.8
#define MODES_SHARE  0.02

/* With fewer values nothing is said. It takes MODES_SIGMAS^2 = 16 values in a peak to stand out from
 * an empty valley: of 100 values those are a sixth, and of fewer "one mode" would say next to
 * nothing about a second. */
#define MODES_NEED 100u

struct mode {
	uint64_t from,
		to;    /* its lowest and its highest value, to within a bucket of the histogram */
	uint64_t peak; /* where it is densest, to within 2 % and what noise and smoothing move */
	double share;  /* of all values; those of all modes add up to 1 */
};

/* The modes, ascending, at most `max` of them (the least clear are joined); how many: 0 where there
 * are fewer than MODES_NEED values. */
size_t modes_find(const struct hist *hist, struct mode *modes, size_t max);

#endif
