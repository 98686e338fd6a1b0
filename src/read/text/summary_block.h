/* SPDX-License-Identifier: MIT
 *
 * One block of blkparse's summary, and what follows from a run of them.
 */
#ifndef BLKLAB_READ_TEXT_SUMMARY_BLOCK_H
#define BLKLAB_READ_TEXT_SUMMARY_BLOCK_H

#include <jansson.h>

#include "read/text/summary_rows.h"
#include "trace/facts.h"

enum sum_kind { SUM_NONE, SUM_TOTAL, SUM_CPU, SUM_PROCESS, SUM_UNNAMED };

struct sum_block {
	enum sum_kind kind;
	char name[64]; /* the device as the text names it, "" = it does not */
	char comm[64]; /* of a process block */
	uint32_t cpu, pid;
	bool many_pids;    /* "name (pid, ...)": all of that name */
	char context[201]; /* the heading above, "" = none */
	bool any;          /* some line of it was there */
	bool tail;         /* so were the lines below the last block of a run */
	struct sum_cell cells[SUM_NR];
	struct sum_number read_rate, write_rate; /* bytes per second, in steps of 1024 */
	struct sum_number events, skips, missing;
	char started[64]; /* "Trace started at", "" = not told */
};

/* The object for facts->summary_blocks; the caller owns it. */
json_t *sum_block_json(const struct sum_block *block);

/* The window that the counters cover, from completed bytes and throughput; 0 = cannot be told. */
struct sum_span {
	double ns, error_ns; /* half the print's rounding does not hide more than error_ns */
	bool writes;         /* told from the writes */
	const char *why;     /* where ns is 0 */
};
struct sum_span sum_block_span(const struct sum_block *block);

/* ---- runs: the blocks that blkparse printed at one go for one device ---- */

/* What is compared between runs. */
struct sum_work {
	char name[64], context[201];
	struct sum_cell queued[2], dispatched[2]; /* read, write */
	bool grouped;                             /* was compared already */
};

struct sum_runs {
	bool open, has_total, closed; /* the run at hand; closed: nothing more can belong to it */
	uint32_t cpus, last_cpu;
	struct sum_block whole;
	struct sum_work *done; /* owned */
	size_t nr_done;
};

/* Each block in order, then the end, which makes the last findings and frees what runs own. */
void sum_runs_block(struct sum_runs *runs, struct facts *facts, const struct sum_block *block);
void sum_runs_end(struct sum_runs *runs, struct facts *facts);

#endif
