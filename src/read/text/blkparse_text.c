/* SPDX-License-Identifier: MIT
 *
 * The lines of events that blkparse prints: doc/formats/blkparse_text.md. What one line says is found in
 * blkparse_text_line.c and _tail.c, formats of somebody's own (-f) in _own.c and _columns.c.
 */
#include "read/text/blkparse_text.h"

#include <string.h>

#include "base/mem.h"
#include "read/text/finding.h"

#define NAME_LEN 15 /* of the kernel's names */

/* ---- what a line tells beside its event ---- */

static void note_name(struct blkparse *b, struct text *text, const struct blkparse_line *line)
{
	const struct event *ev = &line->ev;
	struct blkparse_name *name = &b->names[ev->pid % BLKPARSE_NAMES];
	uint32_t len = line->comm_len < NAME_LEN ? line->comm_len : NAME_LEN;

	if (name->pid == ev->pid && name->len == len && !memcmp(name->comm, line->comm, len))
		return;
	name->pid = ev->pid;
	name->len = len;
	memcpy(name->comm, line->comm, len);
	names_add(&text_facts(text)->names, ev->pid, ev->time_ns, line->comm, len);
}

static void note_dialect(struct blkparse *b, struct text *text, uint32_t seen)
{
	static const struct {
		uint32_t bit;
		const char *word;
	} words[] = {
		{ BLKPARSE_ELAPSED, "elapsed times (-t)" },
		{ BLKPARSE_CGROUP, "cgroup column" },
		{ BLKPARSE_PRIORITY, "priority column" },
		{ BLKPARSE_LANDING, "landing sector" },
		{ BLKPARSE_PREFIX, "prefixed lines" },
		{ BLKPARSE_ANNOTATED, "annotated lines" },
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (seen & ~b->seen & words[i].bit)
			text_dialect(text, words[i].word);
	b->seen |= seen;
}

static void note_digits(struct blkparse *b, struct text *text, unsigned int digits)
{
	uint64_t ns = 1;

	if (b->digits >> digits & 1)
		return;
	b->digits |= 1u << digits;
	if (digits == 9)
		return;
	for (unsigned int i = digits; i < 9; i++)
		ns *= 10;
	text_resolution(text, ns);
	text_dialect(text, digits == 6 ? "6-digit times" : "times of few digits");
}

/* A negative time of a live pipe, which blkparse printed as if it were not. */
static void note_wrapped(struct blkparse *b, uint64_t time_ns)
{
	if (!b->nr_wrapped || time_ns < b->wrapped_from_ns)
		b->wrapped_from_ns = time_ns;
	if (!b->nr_wrapped || time_ns > b->wrapped_to_ns)
		b->wrapped_to_ns = time_ns;
	b->nr_wrapped++;
}

/* blkparse before 1.3.0 took a time that it did not know for 0, or for whatever memory held; then
 * more time has elapsed than the trace is old. What began at the first event may be as old. */
static void check_elapsed(struct blkparse *b, const struct blkparse_line *line)
{
	if (line->elapsed_ns > line->time_ns ||
	    (line->elapsed_ns == line->time_ns && line->time_ns &&
	     !(b->have_zero && b->zero_sector == line->ev.sector)))
		b->nr_wrong_elapsed++;
}

static void note_rare(struct blkparse *b, struct text *text, const struct blkparse_line *line)
{
	if (line->seen & ~b->seen)
		note_dialect(b, text, line->seen);
	if (line->seen & BLKPARSE_WRAPPED)
		note_wrapped(b, line->ev.time_ns);
	if (line->seen & BLKPARSE_ELAPSED)
		check_elapsed(b, line);
}

void blkparse_number_seen(struct text *text, struct blkparse_line *line)
{
	const struct event *ev = &line->ev;

	if (ev->sequence && !line->counted)
		text_sequence(text, ev->cpu, ev->device, ev->sequence);
	line->counted = true;
}

void blkparse_give(struct blkparse *b, struct text *text, struct blkparse_line *line)
{
	const struct event *ev = &line->ev;

	if (line->seen)
		note_rare(b, text, line);
	if (line->digits != 9 || !b->digits)
		note_digits(b, text, line->digits);
	if (line->comm)
		note_name(b, text, line);
	if (!line->time_ns && !b->have_zero && ev->action != ACT_MESSAGE) {
		b->have_zero = true;
		b->zero_sector = ev->sector;
	}
	/* Not a remap's: it may be recorded on one device and name another. */
	if (ev->device != b->device && ev->class != CLASS_NONE && ev->action != ACT_REMAP) {
		b->device = ev->device;
		facts_device_held(text_facts(text), ev->device, text_input(text));
	}
	blkparse_number_seen(text, line);
	text_event(text, ev);
}

/* ---- lines ---- */

/* "...+ 8 [ceph-osd]": what people leave out of a log. */
static bool is_fragment(const struct text_line *line)
{
	const char *p = blkparse_skip(line->s), *plus;

	if (strncmp(p, "..", 2) != 0 && strncmp(p, "\xe2\x80\xa6", 3) != 0)
		return false;
	plus = strstr(p, "+ ");
	return plus && blkparse_digit(plus[2]) && strchr(plus, '[');
}

static enum text_answer take_other(struct blkparse *b, struct text *text,
				   const struct text_line *from)
{
	struct blkparse_line line = { 0 };

	if (is_fragment(from)) {
		text_why(text, "part of an event's line; its beginning was left out");
		return TEXT_BAD;
	}
	if (from->joined || !blkparse_free_candidate(from))
		return TEXT_NO;
	return blkparse_own_take(b, text, from, &line, BLKPARSE_OWN_FREE);
}

static enum text_answer take_cut(struct blkparse *b, struct text *text,
				 const struct text_line *from, struct blkparse_line *line)
{
	const char *why = line->why;

	if (from->joined)
		return TEXT_NO;
	if (line->safe && from->last_try) {
		blkparse_give(b, text, line);
		return TEXT_USED;
	}
	if (!line->safe && line->tail && (from->last_try || blkparse_own_known(b->own)) &&
	    blkparse_own_tail(line, from->s + from->len) == BLKPARSE_OWN)
		return blkparse_own_take(b, text, from, line, BLKPARSE_OWN_TRIMMED);
	if (!from->last_try)
		return TEXT_MORE;
	blkparse_number_seen(text, line);
	text_why(text, why);
	return TEXT_BAD;
}

static enum text_answer take_event(struct blkparse *b, struct text *text,
				   const struct text_line *from, struct blkparse_line *line)
{
	/* D and I with "(852)" are like this in blkparse -t, and in other people's formats too. */
	if ((line->seen & BLKPARSE_ELAPSED) && line->ev.action != ACT_COMPLETE &&
	    line->ev.action != ACT_REQUEUE && (!b->nr_default || blkparse_own_known(b->own)))
		return blkparse_own_take(b, text, from, line, BLKPARSE_OWN_MAYBE);
	if (line->ev.action != ACT_MESSAGE && !b->nr_default++)
		blkparse_own_settle(b, text);
	blkparse_give(b, text, line);
	return TEXT_USED;
}

static enum text_answer take(void *state, struct text *text, const struct text_line *from)
{
	struct blkparse *b = state;
	struct blkparse_line line;

	switch (blkparse_line(from, &b->memo, &line)) {
	case BLKPARSE_EVENT:
		return take_event(b, text, from, &line);
	case BLKPARSE_CUT:
		return take_cut(b, text, from, &line);
	case BLKPARSE_OWN:
		return from->joined ? TEXT_NO
				    : blkparse_own_take(b, text, from, &line, BLKPARSE_OWN_SURE);
	case BLKPARSE_BAD:
		if (from->joined)
			return TEXT_NO;
		blkparse_number_seen(text, &line);
		text_why(text, line.why);
		return TEXT_BAD;
	case BLKPARSE_NO:
		break;
	}
	return take_other(b, text, from);
}

/* ---- the end ---- */

static void say_wrapped(const struct blkparse *b, struct text *text)
{
	uint64_t first = TEXT_BIAS - b->wrapped_from_ns;
	json_t *evidence = finding_add(
		text_facts(text), "wrapped-time", "warning", "Times were negative",
		mem_printf("%llu times of a live pipe lie before its first event; blkparse printed "
			   "them as decades. They were put back, up to %llu ns before it.",
			   (unsigned long long)b->nr_wrapped, (unsigned long long)first),
		"Save the trace and read it from files: then the first event is known.");

	put_u64(evidence, "lines", b->nr_wrapped);
	put_u64(evidence, "earliest_before_ns", first);
	put_u64(evidence, "span_ns", b->wrapped_to_ns - b->wrapped_from_ns);
}

static void say_wrong_elapsed(const struct blkparse *b, struct text *text)
{
	struct facts *facts = text_facts(text);
	json_t *evidence = finding_add(
		facts, "wrong-elapsed", "info", "blkparse -t printed impossible times",
		mem_printf(
			"%llu elapsed times are as long as the trace is old, or longer: blkparse "
			"took a time that it did not know for 0. No elapsed time is used here.",
			(unsigned long long)b->nr_wrong_elapsed),
		NULL);

	put_u64(evidence, "lines", b->nr_wrong_elapsed);
	facts_note(facts,
		   "Elapsed times that blkparse -t printed are wrong; latencies are computed from "
		   "the events.");
}

static void end(void *state, struct text *text)
{
	struct blkparse *b = state;

	blkparse_own_end(b, text);
	if (b->nr_wrapped)
		say_wrapped(b, text);
	if (b->nr_wrong_elapsed)
		say_wrong_elapsed(b, text);
}

const struct text_kind text_blkparse = {
	.name = "blkparse",
	.what = "events as blkparse prints them",
	.state_size = sizeof(struct blkparse),
	.take = take,
	.end = end,
};
