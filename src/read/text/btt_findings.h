/* SPDX-License-Identifier: MIT
 *
 * What follows from btt's tables alone.
 */
#ifndef BLKLAB_READ_TEXT_BTT_FINDINGS_H
#define BLKLAB_READ_TEXT_BTT_FINDINGS_H

#include "trace/facts.h"

/* Rows of the table of all devices. */
struct btt_all {
	struct btt_mean {
		uint64_t mean_ns, n; /* n 0: no such row */
	} q2g, g2i, q2m, i2d, m2d, d2c, q2c;
};

/* The overhead table's row that stands for all: "Overall", or the only device. */
struct btt_overhead {
	bool known;
	char device[64];
	double sum; /* of the five shares */
	double i2d, d2c;
};

void btt_findings(struct facts *facts, const struct btt_all *all,
		  const struct btt_overhead *overhead);

#endif
