/* SPDX-License-Identifier: MIT */
#include "read/text/text.h"

#include <stdlib.h>
#include <string.h>

#include "base/container.h"
#include "base/mem.h"
#include "read/text/text_core.h"

#define LOOK_BYTES 4096u
#define PULL_IN_LINES \
	65536u /* lines that are read at once before a pull with no event is tried again */

/* ---- lines to kinds ---- */

static enum text_answer offer_to(struct text *t, size_t kind, const struct text_line *line)
{
	enum text_answer answer;

	t->kind = kind;
	t->why = NULL;
	answer = text_kinds[kind]->take(t->states[kind], t, line);
	if (answer != TEXT_NO)
		t->last_kind = kind;
	return answer;
}

/* The kind of the last line is asked first: lines of one kind stand together. */
static enum text_answer offer(struct text *t, const struct text_line *line)
{
	enum text_answer answer = t->nr_kinds ? offer_to(t, t->last_kind, line) : TEXT_NO;

	for (size_t i = 0; answer == TEXT_NO && i < t->nr_kinds; i++)
		if (i != t->last_kind)
			answer = offer_to(t, i, line);
	return answer;
}

static void account(struct text *t, const struct text_line *line, enum text_answer answer,
		    unsigned int lines)
{
	struct input_info *info = &t->facts->inputs[t->input];
	const char *why = t->why;

	if (answer == TEXT_USED) {
		info->lines_used += lines;
		t->used[t->kind] += lines;
		return;
	}
	if (answer == TEXT_NO)
		text_maybe_heading(t, line->s, line->len);
	if (!why)
		why = answer == TEXT_NO ? "no line of an event, a summary, a table or a result"
					: "breaks off";
	facts_ignored(t->facts, t->input, line->nr, line->s, why);
}

/* Keeps a line that breaks off until the next one is there. */
static void keep(struct text *t, const struct text_line *line)
{
	if (line->len + 1 > t->pending_room) {
		t->pending_room = line->len + 1;
		t->pending = mem_resize(t->pending, t->pending_room, 1);
	}
	memcpy(t->pending, line->s, line->len + 1);
	t->pending_line = *line;
	t->pending_line.s = t->pending;
	t->have_pending = true;
}

/* The line that was kept goes alone: with what it has, or not at all. */
static void give_up_pending(struct text *t)
{
	struct text_line line = t->pending_line;
	enum text_answer answer;

	t->have_pending = false;
	line.last_try = true;
	answer = offer_to(t, t->pending_kind, &line);
	if (answer == TEXT_NO)
		answer = offer(t, &line);
	account(t, &line, answer, 1);
}

/* Did the kept line and this one together make sense? */
static bool try_joined(struct text *t, const struct text_line *next)
{
	struct text_line line = t->pending_line;
	size_t len = line.len + 1 + next->len;
	char *both;
	enum text_answer answer;

	if (len > TEXT_LINE_MAX)
		return false;
	both = mem_printf("%s %s", line.s, next->s);
	line.s = both;
	line.len = strlen(both);
	line.joined = true;
	answer = offer_to(t, t->pending_kind, &line);
	free(both);
	if (answer != TEXT_USED)
		return false;
	account(t, &line, answer, 2);
	t->have_pending = false;
	return true;
}

static void take_line(struct text *t, struct text_line *line)
{
	enum text_answer answer;

	if (t->have_pending) {
		if (try_joined(t, line))
			return;
		give_up_pending(t);
	}
	answer = offer(t, line);
	if (answer == TEXT_MORE) {
		t->pending_kind = t->kind;
		keep(t, line);
		return;
	}
	account(t, line, answer, 1);
}

/* ---- the end ---- */

/* Names the kinds that gave something, the most useful first, and what the kinds said. */
static void describe(struct text *t)
{
	struct input_info *info = &t->facts->inputs[t->input];
	char *dialect = mem_strdup("");
	size_t best = 0;

	for (size_t i = 0; i < t->nr_kinds; i++)
		if (t->used[i] > t->used[best])
			best = i;
	info->format = t->used[best] ? text_kinds[best]->name : "text";
	for (size_t i = 0; i < t->nr_kinds; i++) {
		char *longer;

		if (!t->used[i] || i == best)
			continue;
		longer = mem_printf("%s%s%s", dialect, *dialect ? ", " : "with ",
				    text_kinds[i]->name);
		free(dialect);
		dialect = longer;
	}
	for (size_t i = 0; i < t->nr_words; i++) {
		char *longer = mem_printf("%s%s%s", dialect, *dialect ? "; " : "", t->words[i]);

		free(dialect);
		dialect = longer;
	}
	strncpy(info->dialect, dialect, sizeof(info->dialect) - 1);
	free(dialect);
}

static void end_kinds(struct text *t)
{
	for (size_t i = 0; i < t->nr_kinds; i++) {
		t->kind = i;
		if (text_kinds[i]->end)
			text_kinds[i]->end(t->states[i], t);
	}
}

static void finish(struct text *t)
{
	struct facts *facts = t->facts;

	if (t->have_pending)
		give_up_pending(t);
	end_kinds(t);
	t->ended = true;
	describe(t);
	facts->inputs[t->input].missing_numbers = t->missing_numbers;
	facts->inputs[t->input].events = t->events;
	for (size_t i = 0; i < t->nr_kinds; i++)
		facts->text_clocks += t->gave[i];
	if (t->events)
		facts->text_bias_ns = TEXT_BIAS;
	if (t->events && !t->drops_told)
		facts_dropped_unknown(facts, "a text does not carry the number of dropped events");
	if (t->lines.broken.text[0]) {
		t->self.stats.damages++;
		facts_note(facts, "the text breaks off: %s", t->lines.broken.text);
	}
	if (t->lines.cut_lines) {
		t->self.stats.damages += t->lines.cut_lines;
		facts_note(facts, "%llu lines are longer than %u bytes and were cut",
			   (unsigned long long)t->lines.cut_lines, TEXT_LINE_MAX / 2);
	}
	if (t->order.cut_messages)
		facts_note(facts, "%llu messages are longer than %u bytes and were cut",
			   (unsigned long long)t->order.cut_messages, TEXT_MESSAGE_MAX);
}

/* ---- the source ---- */

/* Reads lines until events may go out; false: there will be none any more. */
static bool fill(struct text *t)
{
	struct text_line line;

	for (;;) {
		if (text_order_ready(&t->order, t->ended))
			return true;
		if (t->ended)
			return false;
		if (!text_lines_next(&t->lines, &line))
			finish(t);
		else if (line.len)
			take_line(t, &line);
	}
}

static void say_repeated(struct text *t)
{
	uint64_t nr = t->order.repeated;

	if (!nr)
		return;
	facts_note(t->facts, "%llu event lines are in the text twice; they are counted once",
		   (unsigned long long)nr);
	t->facts->inputs[t->input].events -= nr;
	t->order.repeated = 0;
}

static int text_pull(struct source *self, struct event *events, int max, struct error *err)
{
	struct text *t = container_of(self, struct text, self);
	int nr;

	do {
		if (!fill(t)) {
			say_repeated(t);
			return 0;
		}
		nr = text_order_take(&t->order, events, max);
	} while (!nr); /* what there was had been pasted twice */
	self->stats.events += (uint64_t)nr;
	return nr;
}

static void text_free(struct text *t)
{
	if (!t->ended && t->states)
		end_kinds(t);
	for (size_t i = 0; i < t->nr_kinds; i++)
		free(t->states[i]);
	free(t->states);
	free(t->used);
	free(t->gave);
	free(t->pending);
	for (size_t i = 0; i < t->nr_cpus; i++)
		free(t->cpus[i].counters);
	free(t->cpus);
	text_order_release(&t->order);
	text_lines_release(&t->lines);
	free(t);
}

static void text_release(struct source *self)
{
	text_free(container_of(self, struct text, self));
}

static const struct source_ops text_ops = { .pull = text_pull, .release = text_release };

/* ---- the format ---- */

/* A stray control character or two (a terminal's, a hole in a log) do not make it binary. */
static bool looks_like_text(const uint8_t *bytes, size_t len)
{
	size_t strange = 0;

	for (size_t i = 0; i < len; i++)
		strange +=
			!bytes[i] || (bytes[i] < 32 && !strchr("\t\n\v\f\r\b\x03\x1b\a", bytes[i]));
	return len > 0 && strange <= 1 + len / 256;
}

static int text_probe(struct input *in, struct error *err)
{
	const uint8_t *head;
	size_t len;

	if (in->nr != 1)
		return 0;
	len = blob_head(&in->blobs[0], LOOK_BYTES, &head, err);
	return looks_like_text(head, len) ? 5 : 0;
}

static struct text *text_new(struct input *in, struct facts *facts)
{
	struct text *t = mem_zalloc(sizeof(*t));

	t->self.ops = &text_ops;
	t->facts = facts;
	while (text_kinds[t->nr_kinds])
		t->nr_kinds++;
	t->states = mem_zalloc((t->nr_kinds + 1) * sizeof(*t->states));
	t->gave = mem_zalloc((t->nr_kinds + 1) * sizeof(*t->gave));
	t->used = mem_zalloc((t->nr_kinds + 1) * sizeof(*t->used));
	for (size_t i = 0; i < t->nr_kinds; i++)
		t->states[i] = mem_zalloc(text_kinds[i]->state_size);
	text_order_init(&t->order);
	t->input = facts_input(facts, in->label, "text");
	facts->inputs[t->input].is_text = true;
	return t;
}

/* Reads up to the first events, so that a text without any is known at once. */
static int text_open(struct input *in, struct facts *facts, struct sources *sources,
		     struct error *err)
{
	struct text *t = text_new(in, facts);
	const struct input_info *info;
	bool events;

	if (text_lines_init(&t->lines, &in->blobs[0], err) < 0) {
		text_free(t);
		return -1;
	}
	events = fill(t);
	info = &facts->inputs[t->input];
	if (events || info->lines_used) {
		sources_add(sources, &t->self);
		return 0;
	}
	error_set(err, "%s: is text, but none of its %llu lines is of a kind that blklab reads",
		  in->label, (unsigned long long)info->lines_ignored);
	text_free(t);
	return -1;
}

const struct format format_text = {
	.name = "text",
	.what = "text that people paste",
	.probe = text_probe,
	.open = text_open,
};
