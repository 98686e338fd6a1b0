/* SPDX-License-Identifier: MIT */
#include "read/text/summary_rows.h"

#include <string.h>

#define SUM_KIB UINT64_C(1024)

/* Of the waits both columns have one label: the left one is the reads'. */
static const struct {
	const char *label;
	bool size;
} rows[SUM_NR] = {
	[SUM_QUEUED_READ] = { "Reads Queued", true },
	[SUM_QUEUED_WRITE] = { "Writes Queued", true },
	[SUM_DISPATCH_READ] = { "Read Dispatches", true },
	[SUM_DISPATCH_WRITE] = { "Write Dispatches", true },
	[SUM_REQUEUE_READ] = { "Reads Requeued", false },
	[SUM_REQUEUE_WRITE] = { "Writes Requeued", false },
	[SUM_COMPLETE_READ] = { "Reads Completed", true },
	[SUM_COMPLETE_WRITE] = { "Writes Completed", true },
	[SUM_MERGE_READ] = { "Read Merges", true },
	[SUM_MERGE_WRITE] = { "Write Merges", true },
	[SUM_DEPTH_READ] = { "Read depth", false },
	[SUM_DEPTH_WRITE] = { "Write depth", false },
	[SUM_PC_QUEUED_READ] = { "PC Reads Queued", true },
	[SUM_PC_QUEUED_WRITE] = { "PC Writes Queued", true },
	[SUM_PC_DISPATCH_READ] = { "PC Read Disp.", true },
	[SUM_PC_DISPATCH_WRITE] = { "PC Write Disp.", true },
	[SUM_PC_REQUEUE_READ] = { "PC Reads Req.", false },
	[SUM_PC_REQUEUE_WRITE] = { "PC Writes Req.", false },
	[SUM_PC_COMPLETE_READ] = { "PC Reads Compl.", false },
	[SUM_PC_COMPLETE_WRITE] = { "PC Writes Compl.", false },
	[SUM_UNPLUG_IO] = { "IO unplugs", false },
	[SUM_UNPLUG_TIMER] = { "Timer unplugs", false },
	[SUM_WAIT_ALLOC_READ] = { "Allocation wait", false },
	[SUM_WAIT_ALLOC_WRITE] = { "Allocation wait", false },
	[SUM_WAIT_DISPATCH_READ] = { "Dispatch wait", false },
	[SUM_WAIT_DISPATCH_WRITE] = { "Dispatch wait", false },
	[SUM_WAIT_COMPLETE_READ] = { "Completion wait", false },
	[SUM_WAIT_COMPLETE_WRITE] = { "Completion wait", false },
};

bool sum_has_size(enum sum_row row)
{
	return rows[row].size;
}

static bool may_begin(char c)
{
	return strchr("RrWwIiTtPpAaDdCc", c) != NULL;
}

static bool scan_label(struct scan *s, const struct sum_line *line, enum sum_row *row)
{
	scan_blanks(s);
	if (s->at == s->end || !*s->at || !may_begin(*s->at))
		return false;
	for (size_t i = 0; i < SUM_NR; i++) {
		struct scan at = *s;

		if (line->nr && (i == line->half[0].row || i < line->half[0].row))
			continue; /* so the second wait of a line is the writes' */
		if (scan_words(&at, rows[i].label) && scan_mark(&at, ':')) {
			*s = at;
			*row = (enum sum_row)i;
			return true;
		}
	}
	return false;
}

/* The rest of the line is the beginning of a label. */
static bool is_label_begun(const struct scan *s)
{
	for (size_t i = 0; i < SUM_NR; i++) {
		struct scan at = *s;

		if (scan_is_begun(s, rows[i].label) ||
		    (scan_words(&at, rows[i].label) && scan_done(&at)))
			return true;
	}
	return false;
}

/* "K", "M", "G", "P" are steps of 1000, and no T is among them: blkparse's own list. */
static unsigned int unit_steps(char c)
{
	const char *units = "KMGP", *at = c ? strchr(units, c) : NULL;

	return at ? (unsigned int)(at - units) + 1 : 0;
}

static void scale(struct sum_number *n, uint64_t unit)
{
	n->known = true;
	n->step = unit;
	if (n->huge || __builtin_mul_overflow(n->value, unit, &n->value) || n->value > INT64_MAX) {
		n->huge = true;
		n->known = false;
		n->value = 0;
	}
}

static uint64_t power(uint64_t unit, unsigned int steps)
{
	while (steps--)
		unit *= 1000;
	return unit;
}

void sum_count_parse(struct scan *s, struct sum_number *n)
{
	unsigned int steps = 0;
	bool there;

	*n = (struct sum_number){ .seen = true };
	scan_blanks(s);
	there = scan_grouped(s, &n->value, &n->huge);
	if (s->at < s->end && (scan_left(s) == 1 || strchr(" \t,", s->at[1])))
		steps = unit_steps(*s->at);
	s->at += steps > 0;
	if (there)
		scale(n, power(1, steps));
}

/* "568,732KiB", "2,243MiB" of 1000 KiB, or a blank one: "iB". */
static bool size_parse(struct scan *s, struct sum_number *n)
{
	unsigned int steps;
	bool there;

	*n = (struct sum_number){ .seen = true };
	scan_blanks(s);
	there = scan_grouped(s, &n->value, &n->huge);
	scan_blanks(s);
	steps = s->at < s->end ? unit_steps(*s->at) : 0;
	s->at += steps > 0;
	if (!scan_words(s, "iB") || (there && !steps))
		return false;
	if (there)
		scale(n, power(SUM_KIB, steps - 1));
	return true;
}

/* The size that belongs behind it is not there: the number may be cut off too ("142," of "142,183"). */
static enum sum_answer cut_off(struct sum_cell *cell)
{
	static const char why[] = "the line is cut off there";

	cell->count = (struct sum_number){ .seen = true, .why = why };
	cell->bytes.why = why;
	return SUM_OPEN;
}

/* What stands behind a label's colon. */
static enum sum_answer values_parse(struct scan *s, struct sum_half *half)
{
	struct sum_cell *cell = &half->cell;

	cell->bytes.seen = sum_has_size(half->row);
	sum_count_parse(s, &cell->count);
	if (!sum_has_size(half->row))
		return cell->count.known || cell->count.huge || !scan_done(s) ? SUM_OK : SUM_OPEN;
	if (scan_done(s))
		return cut_off(cell);
	if (!scan_char(s, ','))
		return SUM_BAD;
	if (scan_done(s))
		return cut_off(cell);
	return size_parse(s, &cell->bytes) ? SUM_OK : SUM_BAD;
}

enum sum_answer sum_line_parse(const char *text, size_t len, struct sum_line *line)
{
	struct scan s = scan_over(text, len);

	line->nr = 0;
	while (!scan_done(&s)) {
		struct sum_half half = { 0 };
		enum sum_answer answer;

		if (line->nr == SUM_HALVES)
			return SUM_BAD;
		if (!scan_label(&s, line, &half.row)) {
			if (!line->nr)
				return SUM_NO;
			return is_label_begun(&s) ? SUM_OPEN : SUM_BAD;
		}
		answer = values_parse(&s, &half);
		if (answer == SUM_BAD)
			return SUM_BAD;
		line->half[line->nr++] = half;
		if (answer == SUM_OPEN)
			return SUM_OPEN;
	}
	return line->nr ? SUM_OK : SUM_NO;
}
