/* SPDX-License-Identifier: MIT
 *
 * Hostile lines for one kind of text, without what text.c does around it: a hundred times as many in the
 * same time.
 */
#ifndef BLKLAB_TEST_TEXT_KIND_H
#define BLKLAB_TEST_TEXT_KIND_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "read/text/text.h"

/* Stands for text.c and text_facts.c, whose functions are all here. */
struct text {
	struct facts facts;
};

struct facts *text_facts(struct text *text)
{
	return &text->facts;
}

size_t text_input(const struct text *text)
{
	return 0;
}

static void touch(const void *bytes, size_t len)
{
	volatile uint8_t sum = 0;

	for (size_t i = 0; i < len; i++)
		sum = (uint8_t)(sum + ((const uint8_t *)bytes)[i]);
	(void)sum;
}

/* What every kind promises about its events. */
void text_event(struct text *text, const struct event *ev)
{
	if (ev->action >= ACT_NR || ev->class >= CLASS_NR || ev->error > 0)
		abort();
	if (ev->time_ns > INT64_MAX && ev->time_ns != TIME_UNTOLD)
		abort();
	if (ev->action != ACT_MESSAGE && ev->payload_len)
		abort();
	touch(ev->payload_len ? ev->payload : NULL, ev->payload_len);
}

void text_why(struct text *text, const char *why)
{
	touch(why, strlen(why));
}

void text_dialect(struct text *text, const char *word)
{
	touch(word, strlen(word));
}

void text_resolution(struct text *text, uint64_t ns)
{
	if (!ns || ns > 1000000000)
		abort();
}

void text_sequence(struct text *text, uint32_t cpu, uint32_t device, uint32_t sequence)
{
}

void text_drops_told(struct text *text, uint64_t dropped)
{
	text->facts.dropped_told = true;
}

uint32_t text_device(struct text *text, const char *name, size_t len)
{
	touch(name, len);
	return DEVICE(DEVICE_NAMED_MAJOR, len & 7);
}

const char *text_heading(const struct text *text)
{
	return "heading";
}

void text_set_heading(struct text *text, const char *s, size_t len)
{
	touch(s, len);
}

json_t *text_metric(struct text *text, const char *source, const char *name, double value,
		    const char *unit, const char *better, uint64_t n, double sd, const char *why)
{
	json_t *obj = json_object();

	if (isinf(value) || (isnan(value) && !why))
		abort();
	json_object_set_new(obj, "name", json_string(name));
	return facts_append(&text->facts.metrics, obj) ? obj : NULL;
}

/* A line that breaks off comes again, as text.c does it. */
static void take_line(const struct text_kind *kind, void *state, struct text *t,
		      struct text_line *line)
{
	if (kind->take(state, t, line) != TEXT_MORE)
		return;
	line->joined = true;
	if (kind->take(state, t, line) == TEXT_MORE)
		abort();
	line->joined = false;
	line->last_try = true;
	if (kind->take(state, t, line) == TEXT_MORE)
		abort();
}

static void check_json(const json_t *array)
{
	char *text = array ? json_dumps(array, 0) : NULL;

	if (array && !text)
		abort();
	free(text);
}

static void fuzz_kind(const struct text_kind *kind, const uint8_t *data, size_t size)
{
	struct text t;
	void *state = mem_zalloc(kind->state_size);
	const uint8_t *end = data + size;

	facts_init(&t.facts);
	facts_input(&t.facts, "text", "text");
	for (const uint8_t *at = data; at < end;) {
		const uint8_t *stop = memchr(at, '\n', (size_t)(end - at));
		size_t len = (size_t)((stop ? stop : end) - at);
		char *s = mem_zalloc(len + 1); /* of its own, so that a byte too far is seen */
		struct text_line line = { .s = s, .len = len, .nr = 1 };

		memcpy(s, at, len);
		if (len)
			take_line(kind, state, &t, &line);
		free(s);
		at += len + 1;
	}
	if (kind->end)
		kind->end(state, &t);
	free(state);
	check_json(t.facts.metrics);
	check_json(t.facts.findings);
	check_json(t.facts.latency_tables);
	check_json(t.facts.summary_blocks);
	check_json(t.facts.snapshots);
	facts_release(&t.facts);
}

#endif
