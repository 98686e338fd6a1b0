/* SPDX-License-Identifier: MIT
 *
 * The report: one tree, in the JSON shape of doc/spec.md, from which the text page is printed too,
 * so that text and JSON can never disagree.
 */
#ifndef BLKLAB_VIEW_REPORT_H
#define BLKLAB_VIEW_REPORT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "trace/facts.h"
#include "trace/source.h"
#include "track/summary.h"
#include "why/verdict.h"

/* Whose time the verdict and the time lines divide. */
enum report_window {
	REPORT_FIRST_TO_LAST, /* from the first queued to the last completed I/O */
	REPORT_COMMAND,       /* the run time of the recorded command */
	REPORT_RECORDING,     /* all that was recorded, where there was no command */
	REPORT_ASKED,         /* --window: only that part was counted */
};

/* Everything is borrowed; complete, that is after the end of the events. */
struct report {
	const struct summary *sum;
	const struct facts *facts;
	const struct source_stats *stats; /* of all sources together */
	const struct wait_sum *wait;      /* NULL = not measured */
	const struct verdict *verdict;    /* NULL = none made */
	uint64_t genesis_ns;              /* time 0 of every offset that is shown */
	enum report_window window;
	uint64_t window_from_ns, window_to_ns; /* of REPORT_ASKED, since genesis */
};

/* Are events known lost, or bytes damaged, skipped or cut (exit status 3)? */
bool report_has_losses(const struct report *r);

/* The tree, owned by the caller. Unknown is null with a sibling "..._why". */
json_t *report_tree(const struct report *r);

struct report_look {
	bool colour;
	bool show_ignored; /* name every input of which nothing was used */
	int top;           /* rows of the process table */
};

/* Prints the page, at most 80 columns wide (but for long names), from a tree of report_tree. */
void report_text(const json_t *tree, FILE *out, const struct report_look *look);

#endif
