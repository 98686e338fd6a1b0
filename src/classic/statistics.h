/* SPDX-License-Identifier: MIT
 *
 * The statistics that blkparse prints behind the events.
 */
#ifndef BLKLAB_CLASSIC_STATISTICS_H
#define BLKLAB_CLASSIC_STATISTICS_H

#include "classic/counters.h"
#include "classic/options.h"
#include "classic/out.h"

/* Are there thousands separators? By the option, or where the locale en_US exists. */
bool statistics_grouped(const struct blkparse_options *o);

/* The blocks of all devices: per CPU, Total, throughput, events, skips. */
void statistics_devices(struct out *out, const struct device *devices, size_t nr, bool grouped);
/* The blocks of -s, and the empty line behind them. By name, then pid; with -S KEY (1.3) ascending by the key
 * first: N name, Q KiB queued, R of them read, W written, C KiB completed, and q r w c the same in
 * numbers. Sorts the array of processes; needs no `comms`, since the names were taken when the processes
 * came. */
void statistics_processes(struct out *out, struct processes *processes, struct comms *comms,
			  const struct blkparse_options *o, bool grouped);

/* ---- for the two files of this module, and --fix ---- */

struct shown {
	char text[48];
};

#define COLUMNS 8 /* of a number, at least */

/* Digits, in groups of three if wanted; blanks in front up to `width` (at most COLUMNS). */
struct shown statistics_number(uint64_t n, int width, bool grouped);
/* The lines of the counters; depth (of reads, of writes) NULL: without that line. */
void statistics_counters(struct out *out, const struct counters *c, const uint64_t *depth,
			 bool grouped);
/* The lines of the longest waits of a process, NR_TIMED of reads and writes. */
void statistics_waits(struct out *out, const uint64_t (*longest_ns)[2], bool grouped);

#endif
