/* SPDX-License-Identifier: MIT
 *
 * One text while it is read; for text.c and text_facts.c only.
 */
#ifndef BLKLAB_READ_TEXT_TEXT_CORE_H
#define BLKLAB_READ_TEXT_TEXT_CORE_H

#include "read/text/text.h"
#include "read/text/text_lines.h"
#include "read/text/text_order.h"
#include "trace/format.h"

#define TEXT_WORDS   16
#define TEXT_GAPS    8u
#define TEXT_HEADING 200u

/* The numbers of one CPU: one counter per device that was traced. */
struct text_counter {
	uint32_t device, last;
	/* The last gaps: a number that comes late lies in one, one that was pasted twice does not. */
	struct {
		uint32_t from, to;
	} gaps[TEXT_GAPS];
	uint32_t nr_gaps; /* ever; the latest are kept */
};

struct text_cpu {
	struct text_counter *counters; /* owned */
	size_t nr, recent;
};

struct text {
	struct source self;
	struct facts *facts; /* borrowed */
	size_t input;
	struct text_lines lines;
	struct text_order order;
	void **states;  /* owned, of the kinds */
	uint64_t *used; /* owned: lines of each kind */
	bool *gave;     /* owned: events came from that kind */
	size_t nr_kinds, kind, last_kind;
	const char *why; /* of the line at hand */
	char *pending;   /* owned: a line that breaks off */
	size_t pending_room, pending_kind;
	struct text_line pending_line;
	bool have_pending, ended, drops_told;
	char heading[TEXT_HEADING + 1];
	char maybe[TEXT_HEADING +
		   1]; /* the last line of no kind: a heading if it gets underlined */
	const char *words[TEXT_WORDS]; /* of the dialect */
	size_t nr_words;
	struct text_cpu *cpus; /* owned, by number */
	size_t nr_cpus;
	uint64_t missing_numbers, events;
};

/* A line that no kind took: does it head what follows? */
void text_maybe_heading(struct text *text, const char *s, size_t len);

#endif
