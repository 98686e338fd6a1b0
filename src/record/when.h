/* SPDX-License-Identifier: MIT
 *
 * The clocks of a recording, in ns.
 */
#ifndef BLKLAB_RECORD_WHEN_H
#define BLKLAB_RECORD_WHEN_H

#include <stdint.h>
#include <time.h>

static inline uint64_t when(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* The recording's clock: the same as the tracefs clock "mono". */
static inline uint64_t when_mono(void)
{
	return when(CLOCK_MONOTONIC);
}

/* Since the epoch. */
static inline uint64_t when_wall(void)
{
	return when(CLOCK_REALTIME);
}

#endif
