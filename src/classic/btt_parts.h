/* SPDX-License-Identifier: MIT
 *
 * The parts of btt: one const struct in its own file, one row in btt_parts.c.
 */
#ifndef BLKLAB_CLASSIC_BTT_PARTS_H
#define BLKLAB_CLASSIC_BTT_PARTS_H

#include "classic/btt.h"

/* Tables and sections. */
extern const struct btt_part btt_times, btt_overhead, btt_merges, btt_seeks_queued,
	btt_seeks_issued, btt_plugs, btt_active, btt_live_periods, btt_q2d_histogram;

/* Plot files. */
extern const struct btt_part btt_bandwidth, btt_sizes, btt_block_numbers, btt_latencies,
	btt_periodic, btt_seek_files, btt_queue_depth, btt_unplugs, btt_per_io, btt_trees,
	btt_activity, btt_ranges, btt_iostat, btt_messages;

#endif
