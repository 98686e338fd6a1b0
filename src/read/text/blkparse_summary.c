// SPDX-License-Identifier: MIT
/*
 * The blocks of counters that blkparse prints at its end: doc/formats/blkparse_summary.md.
 *
 * A block begins at its heading, or where a counter comes that the block at hand has already: people
 * paste blocks without headings, one below the other.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "read/text/finding.h"
#include "read/text/summary_block.h"
#include "read/text/text.h"

#define BLOCKS_MAX   8192u
#define PROCESS_MAX  64u /* bytes of a line "name (pid, ...)" */
#define NEAR_LINES   2u  /* so far above its counters may a process's line stand */
#define RULE_MIN     20u /* dashes around "Using Priority mask" */
#define BYTES_PER_KB 1024u

struct summary {
	struct sum_block block;
	struct sum_runs runs;
	bool ended; /* the block at hand has had its last line: the next counter begins another */
	bool rule;  /* the line that closes a banner is due */
	uint64_t nr_blocks, blank, lost_blocks;
	uint64_t nr; /* of the line at hand */
	struct {
		char comm[64];
		uint32_t pid;
		bool many_pids;
		uint64_t nr; /* 0 = there is none */
	} maybe;     /* a line that looked like a process's, but something else stood below it */
	bool usable; /* in spite of that, some counter has a number */
};

/* ---- blocks ---- */

static void count_blanks(struct summary *sum)
{
	const struct sum_block *b = &sum->block;

	for (size_t i = 0; i < SUM_NR; i++) {
		const struct sum_number *count = &b->cells[i].count, *bytes = &b->cells[i].bytes;

		sum->blank += count->seen && !count->known && !count->huge && !count->why;
		sum->blank += bytes->seen && !bytes->known && !bytes->huge && !bytes->why;
	}
	sum->blank += b->events.seen && !b->events.known && !b->events.huge;
	sum->blank += b->read_rate.seen && !b->read_rate.known && !b->read_rate.huge;
}

static void finish_block(struct summary *sum, struct text *text)
{
	struct facts *facts = text_facts(text);
	struct sum_block *b = &sum->block;

	if (b->kind != SUM_NONE && !b->any)
		facts_note(facts, "a summary's heading (%s%.40s) has no counters below it",
			   b->kind == SUM_CPU ? "CPU of " : "",
			   b->kind == SUM_PROCESS ? b->comm : b->name);
	if (b->any && sum->nr_blocks == BLOCKS_MAX) {
		sum->lost_blocks++;
	} else if (b->any) {
		sum->nr_blocks++;
		count_blanks(sum);
		facts_append(&facts->summary_blocks, sum_block_json(b));
		sum_runs_block(&sum->runs, facts, b);
	}
	*b = (struct sum_block){ 0 };
	sum->ended = false;
}

static void begin_block(struct summary *sum, struct text *text, enum sum_kind kind)
{
	char context[sizeof(sum->block.context)];
	const char *heading = text_heading(text);
	size_t len = strlen(heading);

	while (len && (heading[len - 1] == ':' || heading[len - 1] == ' '))
		len--;
	scan_copy(context, sizeof(context), scan_over(heading, len));
	finish_block(sum, text);
	sum->block.kind = kind;
	memcpy(sum->block.context, context, sizeof(context));
}

/* ---- headings ---- */

/* "CPU3 (sdb):", "Total (8,5):" */
static bool take_heading(struct summary *sum, struct text *text, struct scan s)
{
	enum sum_kind kind = SUM_TOTAL;
	struct scan name;
	uint32_t cpu = 0;

	if (scan_words(&s, "CPU")) {
		scan_blanks(&s);
		if (!scan_u32(&s, UINT32_MAX, &cpu))
			return false;
		kind = SUM_CPU;
	} else if (!scan_words(&s, "Total")) {
		return false;
	}
	if (!scan_parens(&s, &name) || scan_end(&name) || !scan_mark(&s, ':') || !scan_done(&s))
		return false;
	sum->maybe.nr = 0;
	begin_block(sum, text, kind);
	sum->block.cpu = cpu;
	scan_copy(sum->block.name, sizeof(sum->block.name), name);
	return true;
}

/* "influxd (2414)", "fio (77, ...)": from its end, since names hold blanks and parentheses. */
static bool is_process(const char *s, size_t len, struct sum_block *b)
{
	struct scan pid;
	size_t open = len;

	if (len < 4 || len > PROCESS_MAX || s[len - 1] != ')')
		return false;
	while (open && s[open - 1] != '(')
		open--;
	if (open < 3 || s[open - 2] != ' ')
		return false;
	pid = scan_over(s + open, len - open - 1);
	if (!scan_u32(&pid, UINT32_MAX, &b->pid))
		return false;
	b->many_pids = scan_words(&pid, ", ...") || scan_words(&pid, ",...");
	if (!scan_done(&pid))
		return false;
	scan_copy(b->comm, sizeof(b->comm), scan_over(s, open - 2));
	return b->comm[0] != 0;
}

/* ---- counters ---- */

static void begin_process(struct summary *sum, struct text *text, const char *comm, uint32_t pid,
			  bool many_pids)
{
	begin_block(sum, text, SUM_PROCESS);
	sum->block.pid = pid;
	sum->block.many_pids = many_pids;
	memcpy(sum->block.comm, comm, sizeof(sum->block.comm));
}

/* Somebody's sentence stands between the process's line and its counters. */
static bool begin_late_process(struct summary *sum, struct text *text)
{
	bool near = sum->maybe.nr && sum->nr <= sum->maybe.nr + NEAR_LINES;

	sum->maybe.nr = 0;
	if (near)
		begin_process(sum, text, sum->maybe.comm, sum->maybe.pid, sum->maybe.many_pids);
	return near;
}

static void put_half(struct summary *sum, struct text *text, struct sum_half half)
{
	struct sum_block *b = &sum->block;
	bool is_wait = half.row >= SUM_WAIT_ALLOC_READ;

	/* A wait alone on its line, broken off from the reads' one: the writes'. */
	if (is_wait && !(half.row & 1) && b->cells[half.row].count.seen)
		half.row++;
	if (!begin_late_process(sum, text) &&
	    (b->kind == SUM_NONE || sum->ended || b->cells[half.row].count.seen))
		begin_block(sum, text, SUM_UNNAMED);
	b->any = true;
	b->cells[half.row] = half.cell;
	sum->usable |= half.cell.count.known;
}

static void put_line(struct summary *sum, struct text *text, const struct sum_line *line)
{
	for (size_t i = 0; i < line->nr; i++)
		put_half(sum, text, line->half[i]);
}

static enum text_answer take_counters(struct summary *sum, struct text *text,
				      const struct text_line *line, const char *s, size_t len)
{
	struct sum_line found;

	switch (sum_line_parse(s, len, &found)) {
	case SUM_NO:
		return TEXT_NO;
	case SUM_BAD:
		text_why(text, "a counter of blkparse's summary that cannot be understood");
		return line->joined ? TEXT_NO : TEXT_BAD;
	case SUM_OPEN:
		if (line->joined)
			return TEXT_NO; /* the next line is no rest of this one */
		if (!line->last_try)
			return TEXT_MORE;
		break;
	case SUM_OK:
		break;
	}
	put_line(sum, text, &found);
	return TEXT_USED;
}

/* A line that may be a process's name is one if counters stand below it. */
static enum text_answer take_process(struct summary *sum, struct text *text,
				     const struct text_line *line, const char *s, size_t len)
{
	struct sum_block found = { 0 };
	struct sum_line counters;

	if (!line->joined) {
		if (!is_process(s, len, &found))
			return TEXT_NO;
		if (!line->last_try)
			return TEXT_MORE;
		memcpy(sum->maybe.comm, found.comm, sizeof(found.comm));
		sum->maybe.pid = found.pid;
		sum->maybe.many_pids = found.many_pids;
		sum->maybe.nr = line->nr;
		return TEXT_NO;
	}
	for (size_t i = 3; i < len && i <= PROCESS_MAX; i++) {
		enum sum_answer answer;

		if (s[i - 1] != ')' || !is_process(s, i, &found))
			continue;
		answer = sum_line_parse(s + i, len - i, &counters);
		if (answer != SUM_OK && answer != SUM_OPEN)
			continue;
		sum->maybe.nr = 0;
		begin_process(sum, text, found.comm, found.pid, found.many_pids);
		put_line(sum, text, &counters);
		return TEXT_USED;
	}
	return TEXT_NO;
}

/* ---- below the last block ---- */

/* A blank one is what a libc without printf's ' flag makes of it. */
static void parse_count(struct scan *s, struct sum_number *n)
{
	*n = (struct sum_number){ .seen = true };
	scan_blanks(s);
	n->known = scan_grouped(s, &n->value, &n->huge) && !n->huge;
	n->step = 1;
}

static bool parse_rate(struct scan *s, struct sum_number *n)
{
	parse_count(s, n);
	if (n->known && n->value > INT64_MAX / BYTES_PER_KB) {
		n->known = false;
		n->huge = true;
	}
	n->value *= n->known ? BYTES_PER_KB : 0;
	n->step = BYTES_PER_KB;
	return scan_words(s, "KiB/s");
}

static bool tail_throughput(struct scan *s, struct sum_block *b)
{
	struct scan at;

	if (!scan_words(s, "Throughput (R/W):"))
		return false;
	at = *s;
	if (parse_rate(&at, &b->read_rate) && scan_mark(&at, '/') &&
	    parse_rate(&at, &b->write_rate)) {
		*s = at;
		return true;
	}
	/* Blank up to its end: without even a newline. */
	b->read_rate = b->write_rate = (struct sum_number){ .seen = true };
	return true;
}

static bool tail_events(struct scan *s, struct sum_block *b)
{
	struct scan at = *s;
	struct scan name;

	if (!scan_words(&at, "Events") || !scan_parens(&at, &name) || !scan_mark(&at, ':'))
		return false;
	parse_count(&at, &b->events);
	scan_words(&at, "entries");
	scan_copy(b->name, sizeof(b->name), name);
	*s = at;
	return true;
}

/* "Skips: 12 forward (1,234 -   0.5%)" */
static bool tail_skips(struct scan *s, struct sum_block *b)
{
	struct scan at = *s;
	uint64_t percent;

	if (!scan_words(&at, "Skips:"))
		return false;
	parse_count(&at, &b->skips);
	if (!scan_words(&at, "forward") || !scan_mark(&at, '('))
		return false;
	parse_count(&at, &b->missing);
	if (!scan_mark(&at, '-'))
		return false;
	scan_blanks(&at);
	scan_fixed(&at, 1, &percent);
	if (!scan_words(&at, "%)"))
		return false;
	*s = at;
	return true;
}

static void merge_tail(struct summary *sum, struct text *text, const struct sum_block *tail)
{
	struct sum_block *b = &sum->block;
	bool other = (tail->events.seen && b->events.seen) ||
		     (tail->read_rate.seen && b->read_rate.seen) ||
		     (tail->skips.seen && b->skips.seen);

	if (b->kind == SUM_NONE || sum->ended || b->kind == SUM_PROCESS || other)
		begin_block(sum, text, SUM_UNNAMED);
	if (tail->read_rate.seen) {
		b->read_rate = tail->read_rate;
		b->write_rate = tail->write_rate;
	}
	if (tail->events.seen) {
		b->events = tail->events;
		if (!b->name[0])
			memcpy(b->name, tail->name, sizeof(b->name));
	}
	if (tail->skips.seen) {
		b->skips = tail->skips;
		b->missing = tail->missing;
		sum->ended = true;
	}
	b->any = b->tail = true;
}

/* One or more of the three on one line: where numbers are blank, so are the line ends. */
static enum text_answer take_tail(struct summary *sum, struct text *text, struct scan s)
{
	struct sum_block tail = { 0 };
	bool any = false;

	while (!scan_done(&s)) {
		if (!tail_throughput(&s, &tail) && !tail_events(&s, &tail) &&
		    !tail_skips(&s, &tail))
			break;
		any = true;
	}
	if (!any || !scan_done(&s))
		return TEXT_NO;
	merge_tail(sum, text, &tail);
	return TEXT_USED;
}

/* ---- what else blkparse says ---- */

static bool is_rule(const char *s, size_t len)
{
	return len >= RULE_MIN && strspn(s, "-") >= len;
}

static enum text_answer take_rule(struct summary *sum, struct text *text,
				  const struct text_line *line)
{
	if (sum->rule) {
		sum->rule = false;
		return TEXT_USED;
	}
	return line->last_try || line->joined ? TEXT_NO : TEXT_MORE;
}

static bool take_priority(struct summary *sum, struct text *text, struct scan s)
{
	while (scan_char(&s, '-'))
		;
	if (!scan_words(&s, "Using Priority mask"))
		return false;
	text_dialect(text, "priority column");
	sum->rule = true;
	return true;
}

static bool take_file_added(struct scan s)
{
	static const char added[] = " added";
	size_t len = sizeof(added) - 1;

	return scan_words(&s, "Input file ") && scan_left(&s) > len &&
	       !memcmp(s.end - len, added, len);
}

static bool take_complaint(struct text *text, struct scan s)
{
	static const struct {
		const char *words, *note;
	} table[] = {
		{ "Bad magic ",
		  "blkparse met damaged data (\"Bad magic\") and left out the rest of "
		  "that CPU: the counts of this text are too low" },
		{ "unsupported trace version ",
		  "blkparse could not read a file of this trace "
		  "(its version is newer): the counts of this text are too low" },
		{ "discarded traces containing low-level device driver specific data",
		  "blkparse left out driver data, which it shows in binary output only" },
		{ "(only available in binary output)", NULL },
		{ "No input files found for ", "blkparse found no files for a device" },
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		struct scan at = s;

		if (!scan_words(&at, table[i].words))
			continue;
		if (table[i].note)
			facts_note(text_facts(text), "%s", table[i].note);
		return true;
	}
	return false;
}

static bool take_started(struct summary *sum, struct scan s)
{
	if (!scan_words(&s, "Trace started at "))
		return false;
	scan_copy(sum->block.started, sizeof(sum->block.started), s);
	return true;
}

static bool may_be_ours(char first, char last)
{
	return last == ')' || strchr("RrWwIiTtPpAaDdCcEeSsUuNnBb-(", first) != NULL;
}

static enum text_answer take(void *state, struct text *text, const struct text_line *line)
{
	struct summary *sum = state;
	struct scan s = scan_over(line->s, line->len);
	enum text_answer answer;

	sum->nr = line->nr;
	if (scan_done(&s) || !*s.at ||
	    (!line->joined && !may_be_ours(*s.at, line->s[line->len - 1])))
		return TEXT_NO;
	if (is_rule(s.at, scan_left(&s)))
		return take_rule(sum, text, line);
	answer = take_counters(sum, text, line, s.at, scan_left(&s));
	if (answer == TEXT_NO)
		answer = take_tail(sum, text, s);
	if (answer != TEXT_NO)
		return answer;
	if (take_heading(sum, text, s) || take_priority(sum, text, s) || take_file_added(s) ||
	    take_complaint(text, s) || take_started(sum, s))
		return TEXT_USED;
	return take_process(sum, text, line, s.at, scan_left(&s));
}

/* ---- the end ---- */

static void say_blanks(const struct summary *sum, struct facts *facts)
{
	json_t *ev;

	if (!sum->blank)
		return;
	ev = finding_add(
		facts, "blank-numbers", "warning", "Numbers of the summary are blank",
		mem_printf("%s numbers of the summary are blank: unknown, not 0. A blkparse on a "
			   "libc that does not know printf's ' flag (musl) prints this%s.",
			   grouped(sum->blank).s,
			   sum->usable ? "; the numbers that are there can be used" : ""),
		"Give the recorded files (DEV.blktrace.*) to blklab report: they hold all of it.");
	put_u64(ev, "blank", sum->blank);
}

static void end(void *state, struct text *text)
{
	struct summary *sum = state;
	struct facts *facts = text_facts(text);

	finish_block(sum, text);
	sum_runs_end(&sum->runs, facts);
	say_blanks(sum, facts);
	if (sum->lost_blocks)
		facts_note(facts, "%llu blocks of summaries beyond the first %u were left out",
			   (unsigned long long)sum->lost_blocks, BLOCKS_MAX);
}

const struct text_kind text_blkparse_summary = {
	.name = "blkparse-summary",
	.what = "counters that blkparse prints at its end",
	.state_size = sizeof(struct summary),
	.take = take,
	.end = end,
};
