/* SPDX-License-Identifier: MIT
 *
 * The counter lines of the blocks that blkparse prints at its end: doc/formats/blkparse_summary.md.
 */
#ifndef BLKLAB_READ_TEXT_SUMMARY_ROWS_H
#define BLKLAB_READ_TEXT_SUMMARY_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "read/text/line_scan.h"

/* Left column, right column, one row of the print after another: reads and writes alternate. */
enum sum_row {
	SUM_QUEUED_READ,
	SUM_QUEUED_WRITE,
	SUM_DISPATCH_READ,
	SUM_DISPATCH_WRITE,
	SUM_REQUEUE_READ,
	SUM_REQUEUE_WRITE,
	SUM_COMPLETE_READ,
	SUM_COMPLETE_WRITE,
	SUM_MERGE_READ,
	SUM_MERGE_WRITE,
	SUM_DEPTH_READ,
	SUM_DEPTH_WRITE,
	SUM_PC_QUEUED_READ,
	SUM_PC_QUEUED_WRITE,
	SUM_PC_DISPATCH_READ,
	SUM_PC_DISPATCH_WRITE,
	SUM_PC_REQUEUE_READ,
	SUM_PC_REQUEUE_WRITE,
	SUM_PC_COMPLETE_READ,
	SUM_PC_COMPLETE_WRITE,
	SUM_UNPLUG_IO,
	SUM_UNPLUG_TIMER,
	SUM_WAIT_ALLOC_READ,
	SUM_WAIT_ALLOC_WRITE,
	SUM_WAIT_DISPATCH_READ,
	SUM_WAIT_DISPATCH_WRITE,
	SUM_WAIT_COMPLETE_READ,
	SUM_WAIT_COMPLETE_WRITE,
	SUM_NR
};

struct sum_number {
	bool seen;       /* the text has this line */
	bool known;      /* ... with a number in it that can be true */
	bool huge;       /* ... with one that does not fit */
	const char *why; /* it is unknown, where that is something else; static */
	uint64_t value;  /* bytes, where it is a size */
	uint64_t step;   /* the print's last digit stands for so much: 1, 1000; 1024, 1024000 */
};

struct sum_cell {
	struct sum_number count;
	struct sum_number bytes; /* seen only where the row has a size */
};

struct sum_half {
	enum sum_row row;
	struct sum_cell cell;
};

#define SUM_HALVES 2 /* a line has no more */

struct sum_line {
	size_t nr;
	struct sum_half half[SUM_HALVES];
};

enum sum_answer {
	SUM_NO,   /* no counter line */
	SUM_OK,   /* one or both halves of a line */
	SUM_OPEN, /* breaks off; *line holds what is there */
	SUM_BAD,  /* begins as one, but cannot be understood */
};

enum sum_answer sum_line_parse(const char *s, size_t len, struct sum_line *line);

/* "2,560K" or a blank; a number that is not there is seen, but not known. */
void sum_count_parse(struct scan *s, struct sum_number *number);

bool sum_has_size(enum sum_row row);

#endif
