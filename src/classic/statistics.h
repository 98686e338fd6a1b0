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
/* The blocks of -s, and the empty line behind them. */
void statistics_processes(struct out *out, struct processes *processes, struct comms *comms,
			  const struct blkparse_options *o, bool grouped);

#endif
