/* SPDX-License-Identifier: MIT
 *
 * Lines between the events of a kernel trace: comments, losses, stacks, perf's header.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "read/text/ftrace_text.h"

/* ---- losses ---- */

static struct ftrace_cpu *cpu_of(struct ftrace_notes *notes, uint32_t cpu)
{
	struct ftrace_cpu **page = &notes->pages[cpu / FTRACE_CPU_PAGE % FTRACE_CPU_PAGES];

	if (!*page)
		*page = mem_zalloc(FTRACE_CPU_PAGE * sizeof(**page));
	return &(*page)[cpu % FTRACE_CPU_PAGE];
}

static void end_loss(struct ftrace_cpu *c, struct text *text, uint32_t cpu, uint64_t to_ns)
{
	struct loss loss = { .cpu = cpu,
			     .count_known = c->count_known,
			     .events = c->events,
			     .from_ns = c->last_ns && c->last_ns < to_ns ? c->last_ns : to_ns,
			     .to_ns = to_ns };

	facts_loss(text_facts(text), &loss);
	c->lost = false;
	c->events = 0;
}

void ftrace_notes_event(struct ftrace_notes *notes, struct text *text, uint16_t cpu,
			uint64_t time_ns)
{
	struct ftrace_cpu *c = cpu_of(notes, cpu);

	if (c->lost)
		end_loss(c, text, cpu, time_ns);
	c->last_ns = time_ns;
	notes->last_ns = time_ns;
	notes->in_header = false;
}

void ftrace_notes_end(struct ftrace_notes *notes, struct text *text)
{
	for (uint32_t i = 0; i < FTRACE_CPU_PAGES; i++) {
		struct ftrace_cpu *page = notes->pages[i];

		for (uint32_t k = 0; page && k < FTRACE_CPU_PAGE; k++)
			if (page[k].lost)
				end_loss(&page[k], text, i * FTRACE_CPU_PAGE + k, notes->last_ns);
		free(page);
	}
	memset(notes, 0, sizeof(*notes));
}

static void add_loss(struct ftrace_notes *notes, struct text *text, uint32_t cpu, uint64_t events,
		     bool known)
{
	struct ftrace_cpu *c = cpu_of(notes, cpu);

	c->count_known = known && (!c->lost || c->count_known);
	c->lost = true;
	c->events += events;
	text_drops_told(text, events);
	if (!known)
		facts_note(text_facts(text),
			   "CPU %u: the trace says that events were lost there, not how many", cpu);
}

/* "CPU:3 [LOST 123 EVENTS]" of the kernel, "CPU:3 [123 EVENTS DROPPED]" of trace-cmd. */
static enum text_answer take_loss(struct ftrace_notes *notes, struct text *text, struct scan s)
{
	uint64_t events = 0;
	uint32_t cpu;
	bool known;

	if (!scan_text(&s, "CPU:") || !scan_u32(&s, UINT16_MAX, &cpu))
		return TEXT_NO;
	scan_blanks(&s);
	if (!scan_char(&s, '['))
		return TEXT_NO;
	if (scan_text(&s, "LOST ")) {
		known = scan_u64(&s, &events);
		scan_blanks(&s);
		if (!scan_text(&s, "EVENTS]"))
			return TEXT_NO;
	} else {
		known = scan_u64(&s, &events);
		scan_blanks(&s);
		if (!scan_text(&s, "EVENTS DROPPED]"))
			return TEXT_NO;
	}
	if (events > UINT32_MAX) {
		text_why(text, "more events than a trace can lose");
		return TEXT_BAD;
	}
	add_loss(notes, text, cpu, events, known);
	return TEXT_USED;
}

/* "# entries-in-buffer/entries-written: 140080/250280   #P:4": the rest was overwritten. */
static bool take_entries(struct text *text, struct scan s)
{
	struct facts *facts = text_facts(text);
	uint64_t in_buffer, written;

	if (!scan_text(&s, "entries-in-buffer/entries-written:"))
		return false;
	scan_blanks(&s);
	if (!scan_u64(&s, &in_buffer) || !scan_char(&s, '/') || !scan_u64(&s, &written) ||
	    written < in_buffer || written > INT64_MAX)
		return false;
	text_drops_told(text, written - in_buffer);
	if (written > in_buffer)
		facts_note(facts,
			   "the trace's header says that %llu of %llu events were overwritten "
			   "before they "
			   "were read",
			   (unsigned long long)(written - in_buffer), (unsigned long long)written);
	return true;
}

/* ---- comments ---- */

/* The words of the table above the events, and the art that points at its columns. */
static bool is_legend(struct scan s)
{
	static const char *const words[] = { "TASK-PID",
					     "TASK-PID-TGID",
					     "TGID",
					     "CPU#",
					     "CPU",
					     "TIMESTAMP",
					     "FUNCTION",
					     "irqs-off",
					     "need-resched",
					     "hardirq/softirq",
					     "preempt-depth",
					     "migrate-disable",
					     "delay",
					     "irqs-off/BH-disabled",
					     "/need-resched",
					     "DEV",
					     "PID",
					     "ACT",
					     "FLG",
					     "preempt-lazy-depth",
					     "need-resched-lazy" };
	const char *word;
	size_t len, nr = 0;

	for (; scan_word(&s, &word, &len); nr++) {
		bool known = true;

		for (size_t i = 0; i < len && known; i++)
			known = strchr("|/\\_-=>", word[i]) && word[i];
		for (size_t i = 0; i < sizeof(words) / sizeof(*words) && !known; i++)
			known = scan_word_is(word, len, words[i]);
		if (!known)
			return false;
	}
	return nr > 0;
}

static void take_release(struct text *text, struct scan s)
{
	struct facts *facts = text_facts(text);
	const char *word;
	size_t len;

	scan_blanks(&s);
	if (!facts->kernel[0] && scan_char(&s, ':') && scan_word(&s, &word, &len))
		snprintf(facts->kernel, sizeof(facts->kernel), "%.*s",
			 (int)(len < sizeof(facts->kernel) ? len : sizeof(facts->kernel) - 1),
			 word);
}

static enum text_answer take_comment(struct ftrace_notes *notes, struct text *text, struct scan s)
{
	struct scan at = s;

	scan_blanks(&s);
	if (scan_text(&s, "tracer: ")) {
		notes->in_header = true;
		return TEXT_USED;
	}
	if (scan_text(&s, "========")) { /* perf script --header */
		notes->in_perf_header = !notes->in_perf_header;
		return TEXT_USED;
	}
	if (take_entries(text, s)) {
		notes->in_header = true;
		return TEXT_USED;
	}
	if (notes->in_perf_header) {
		if (scan_text(&s, "os release"))
			take_release(text, s);
		return TEXT_USED;
	}
	if (scan_end(&s))
		return notes->in_header ? TEXT_USED : TEXT_NO;
	return is_legend(at) ? TEXT_USED : TEXT_NO;
}

/* ---- the rest ---- */

/* " => submit_bio" of the kernel, "ffffffff8143 submit_bio+0x12 ([kernel.kallsyms])" of perf. */
static bool is_stack_line(struct scan s)
{
	const char *word;
	size_t len;

	if (scan_text(&s, "=> "))
		return true;
	if (!scan_word(&s, &word, &len) || len < 5 || len > 16)
		return false;
	for (size_t i = 0; i < len; i++)
		if (!scan_is_digit(word[i]) && (word[i] < 'a' || word[i] > 'f'))
			return false;
	return s.end > s.at && s.end[-1] == ')' && memchr(s.at, '(', scan_left(&s));
}

/* "version = 6", "cpus=4", "CPU 2 is empty" of trace-cmd */
static bool is_trace_cmd_line(struct scan s)
{
	uint32_t n;

	if (scan_text(&s, "cpus=") || scan_text(&s, "version = "))
		return scan_u32(&s, UINT16_MAX, &n) && scan_end(&s);
	return scan_text(&s, "CPU ") && scan_u32(&s, UINT16_MAX, &n) &&
	       scan_text(&s, " is empty") && scan_end(&s);
}

/* "Processed 1234 events and lost 5 chunks!" of perf */
static bool take_perf_loss(struct text *text, struct scan s)
{
	uint64_t events, lost;

	if (!scan_text(&s, "Processed ") || !scan_u64(&s, &events) ||
	    !scan_text(&s, " events and ") || !(scan_text(&s, "lost ") || scan_text(&s, "LOST ")) ||
	    !scan_u64(&s, &lost))
		return false;
	if (scan_text(&s, " chunks")) {
		facts_note(text_facts(text), "perf says that %llu chunks of events were lost",
			   (unsigned long long)lost);
		facts_dropped_unknown(text_facts(text),
				      "perf counts lost chunks of events, not events");
		return true;
	}
	text_drops_told(text, lost);
	return true;
}

enum text_answer ftrace_notes_take(struct ftrace_notes *notes, struct text *text,
				   const struct text_line *line)
{
	struct scan s = scan_over(line->s, line->len);

	scan_blanks(&s);
	if (scan_end(&s))
		return TEXT_NO;
	switch (*s.at) {
	case '#':
		s.at++;
		return take_comment(notes, text, s);
	case 'C':
		if (is_trace_cmd_line(s))
			return TEXT_USED;
		return take_loss(notes, text, s);
	case 'c':
	case 'v':
		return is_trace_cmd_line(s) ? TEXT_USED : TEXT_NO;
	case 'P':
		return take_perf_loss(text, s) ? TEXT_USED : TEXT_NO;
	case 'W': /* iosnoop hands the kernel's lines on */
		return scan_text(&s, "WARNING: ") ? take_loss(notes, text, s) : TEXT_NO;
	default:
		return notes->in_stack && is_stack_line(s) ? TEXT_USED : TEXT_NO;
	}
}
