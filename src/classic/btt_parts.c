/* SPDX-License-Identifier: MIT */
#include "classic/btt_parts.h"

/* Tables first: without -o all of it goes to standard output in this order. */
const struct btt_part *const btt_parts[] = {
	&btt_times,
	&btt_overhead,
	&btt_merges,
	&btt_seeks_queued,
	&btt_seeks_issued,
	&btt_plugs,
	&btt_active,
	&btt_live_periods,
	&btt_q2d_histogram,
	/* then ranges, and files of their own */
	&btt_ranges,
	&btt_messages,
	&btt_bandwidth,
	&btt_sizes,
	&btt_block_numbers,
	&btt_latencies,
	&btt_periodic,
	&btt_seek_files,
	&btt_queue_depth,
	&btt_unplugs,
	&btt_per_io,
	&btt_trees,
	&btt_activity,
	&btt_iostat,
};
const size_t nr_btt_parts = sizeof(btt_parts) / sizeof(btt_parts[0]);
