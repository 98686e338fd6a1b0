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
#include "track/breakdown.h"
#include "track/summary.h"
#include "view/alignment.h"
#include "view/request_list.h"
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
	const struct source_stats *stats;    /* of all sources together */
	const struct wait_sum *wait;         /* NULL = not measured */
	const struct verdict *verdict;       /* NULL = none made */
	const struct request_list *requests; /* NULL = not asked for */
	const struct alignment *alignment;   /* NULL = not asked for */
	const struct breakdown *by;          /* NULL = not asked for */
	uint32_t flags_seen; /* EV_* of all writes together, where the input is a text */
	uint64_t genesis_ns; /* time 0 of every offset that is shown */
	enum report_window window;
	uint64_t window_from_ns, window_to_ns; /* of REPORT_ASKED, since genesis */
};

/* Are events known lost, or bytes damaged, skipped or cut (exit status 3)? */
bool report_has_losses(const struct report *r);

/* The tree, owned by the caller. Unknown is null with a sibling "..._why". requests_list and by.rows stay
 * empty: their rows are made one by one (request_list_row, by_row), for there may be a million. */
json_t *report_tree(const struct report *r);

/* Prints the tree of report_tree with all rows of requests_list and of by. */
void report_json(const struct report *r, const json_t *tree, FILE *out);

/* Prints one table as RFC 4180 has it (lines end with CR LF, unknown is an empty field): the groups, one
 * row for each phase of a group, or the requests, a row each. Exactly one of r->by and r->requests is
 * there. */
void report_csv(const struct report *r, FILE *out);

struct report_look {
	bool colour;
	bool show_ignored;           /* name every input and line of which nothing was used */
	int top;                     /* rows of the process table */
	const struct report *report; /* for what the tree has no room for: lists; NULL = none */
};

/* Prints the page, at most 80 columns wide (but for long names), from a tree of report_tree. */
void report_text(const json_t *tree, FILE *out, const struct report_look *look);

#endif
