/* SPDX-License-Identifier: MIT
 *
 * What the kinds of text give to the facts and to the stream.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/printable.h"
#include "read/text/text_core.h"
#include "read/text/text_scan.h"

#define CPUS_MAX     65536u
#define COUNTERS_MAX 64u /* per CPU */

struct facts *text_facts(struct text *text)
{
	return text->facts;
}

size_t text_input(const struct text *text)
{
	return text->input;
}

void text_event(struct text *text, const struct event *ev)
{
	text->events++;
	text->gave[text->kind] |= ev->class != CLASS_NONE;
	text_order_add(&text->order, ev);
}

void text_why(struct text *text, const char *why)
{
	text->why = why;
}

void text_dialect(struct text *text, const char *word)
{
	for (size_t i = 0; i < text->nr_words; i++)
		if (text->words[i] == word || !strcmp(text->words[i], word))
			return;
	if (text->nr_words < TEXT_WORDS)
		text->words[text->nr_words++] = word;
}

void text_resolution(struct text *text, uint64_t ns)
{
	struct input_info *info = &text->facts->inputs[text->input];

	if (ns > info->resolution_ns)
		info->resolution_ns = ns;
}

/* ---- sequence numbers ---- */

static struct text_cpu *cpu_of(struct text *text, uint32_t cpu)
{
	if (cpu >= CPUS_MAX)
		return NULL;
	if (cpu >= text->nr_cpus) {
		size_t nr = cpu + 1;

		text->cpus = mem_resize(text->cpus, nr, sizeof(*text->cpus));
		memset(text->cpus + text->nr_cpus, 0, (nr - text->nr_cpus) * sizeof(*text->cpus));
		text->nr_cpus = nr;
	}
	return &text->cpus[cpu];
}

/* An A carries the device it leads to, so a number that follows another counter of its CPU belongs
 * there, whatever the device. */
static struct text_counter *counter_of(struct text_cpu *cpu, uint32_t device, uint32_t sequence)
{
	struct text_counter *same = NULL;

	if (cpu->nr && cpu->counters[cpu->recent].last + 1 == sequence)
		return &cpu->counters[cpu->recent];
	for (size_t i = 0; i < cpu->nr; i++) {
		struct text_counter *c = &cpu->counters[i];

		if (c->last + 1 == sequence) {
			cpu->recent = i;
			return c;
		}
		if (c->device == device) {
			cpu->recent = i;
			same = c;
		}
	}
	return same;
}

static void add_gap(struct text *text, struct text_counter *c, uint32_t from, uint32_t to)
{
	text->missing_numbers += (uint64_t)to - from + 1;
	c->gaps[c->nr_gaps % TEXT_GAPS].from = from;
	c->gaps[c->nr_gaps % TEXT_GAPS].to = to;
	c->nr_gaps++;
}

/* A number that comes late is not missing. */
static void fill_gap(struct text *text, struct text_counter *c, uint32_t sequence)
{
	for (uint32_t i = 0; i < c->nr_gaps && i < TEXT_GAPS; i++) {
		if (sequence < c->gaps[i].from || sequence > c->gaps[i].to)
			continue;
		text->missing_numbers--;
		if (sequence == c->gaps[i].from) /* lines in between may come twice; hardly */
			c->gaps[i].from++;
		return;
	}
}

void text_sequence(struct text *text, uint32_t number, uint32_t device, uint32_t sequence)
{
	struct text_cpu *cpu = sequence ? cpu_of(text, number) : NULL;
	struct text_counter *c;

	if (!cpu)
		return;
	c = counter_of(cpu, device, sequence);
	if (!c) {
		if (cpu->nr == COUNTERS_MAX)
			return;
		cpu->counters = mem_grow(cpu->counters, cpu->nr, sizeof(*cpu->counters));
		cpu->recent = cpu->nr;
		cpu->counters[cpu->nr++] =
			(struct text_counter){ .device = device, .last = sequence };
		return;
	}
	if (sequence > c->last) {
		if (sequence > c->last + 1)
			add_gap(text, c, c->last + 1, sequence - 1);
		c->last = sequence;
	} else if (sequence < c->last) {
		fill_gap(text, c, sequence);
	}
}

void text_drops_told(struct text *text, uint64_t dropped)
{
	struct facts *facts = text->facts;

	text->drops_told = true;
	facts->dropped_told = true;
	facts->dropped =
		dropped < INT64_MAX - facts->dropped ? facts->dropped + dropped : INT64_MAX;
}

/* ---- names and headings ---- */

uint32_t text_device(struct text *text, const char *name, size_t len)
{
	struct facts *facts = text->facts;
	struct device_name *d;
	char copy[sizeof(d->name)];
	uint32_t named = 0;

	if (len >= sizeof(copy))
		len = sizeof(copy) - 1;
	memcpy(copy, name, len);
	copy[len] = 0;
	for (size_t i = 0; i < facts->nr_devices; i++) {
		d = &facts->devices[i];
		if (!strcmp(d->name, copy))
			return d->device;
		named += DEVICE_MAJOR(d->device) == DEVICE_NAMED_MAJOR;
	}
	facts_device(facts, DEVICE(DEVICE_NAMED_MAJOR, named), copy);
	return DEVICE(DEVICE_NAMED_MAJOR, named);
}

const char *text_heading(const struct text *text)
{
	return text->heading;
}

/* Copies with blanks squeezed and none at either end. */
static void squeeze(char *to, const char *s, size_t len)
{
	size_t out = 0;

	for (size_t i = 0; i < len && out < TEXT_HEADING; i++) {
		bool blank = s[i] == ' ' || s[i] == '\t' || !s[i];

		if (!blank)
			to[out++] = s[i];
		else if (out && to[out - 1] != ' ')
			to[out++] = ' ';
	}
	while (out && to[out - 1] == ' ')
		out--;
	to[out] = 0;
}

void text_set_heading(struct text *text, const char *s, size_t len)
{
	squeeze(text->heading, s, len);
}

static bool is_rule(const char *s)
{
	return strlen(s) >= 3 && !s[strspn(s, "-=_*~")];
}

/* "host:~# mount ...", "$ dd ..." */
static bool is_prompt(const char *s)
{
	const char *mark = strpbrk(s, "#$");

	return mark && mark - s < 40 && mark[1] == ' ' && mark[2] > ' ' &&
	       (mark == s || !strchr(" \t", mark[-1]) || mark[-1] == ']');
}

static unsigned int words(const char *s)
{
	unsigned int n = *s != 0;

	for (; *s; s++)
		n += *s == ' ';
	return n;
}

void text_maybe_heading(struct text *text, const char *s, size_t len)
{
	char line[TEXT_HEADING + 1];
	size_t n;

	squeeze(line, s, len);
	n = strlen(line);
	if (!n)
		return;
	if (is_rule(line)) {
		if (text->maybe[0] && words(text->maybe) <= 8)
			strcpy(text->heading, text->maybe);
		text->maybe[0] = 0;
		return;
	}
	strcpy(text->maybe, line);
	if (is_prompt(line) || (words(line) <= 5 && (line[n - 1] == ':' ||
						     (line[0] == '[' && !scan_is_digit(line[1])) ||
						     !strncmp(line, "==", 2))))
		strcpy(text->heading, line);
}

/* ---- metrics ---- */

static void set_text(json_t *obj, const char *key, const char *text)
{
	char *clean = printable(text);

	json_object_set_new(obj, key, json_string(clean));
	free(clean);
}

static void set_real(json_t *obj, const char *key, double value, const char *why_key,
		     const char *why)
{
	if (isfinite(value)) {
		json_object_set_new(obj, key, json_real(value));
		return;
	}
	json_object_set_new(obj, key, json_null());
	json_object_set_new(obj, why_key, json_string(why ? why : "not given in this text"));
}

json_t *text_metric(struct text *text, const char *source, const char *name, double value,
		    const char *unit, const char *better, uint64_t n, double sd, const char *why)
{
	json_t *obj = json_object();

	set_text(obj, "name", name);
	set_real(obj, "value", value, "value_why", why);
	json_object_set_new(obj, "unit", json_string(unit));
	json_object_set_new(obj, "better", json_string(better));
	if (n) {
		json_object_set_new(obj, "n", json_integer((json_int_t)n));
	} else {
		json_object_set_new(obj, "n", json_null());
		json_object_set_new(obj, "n_why", json_string("not given in this text"));
	}
	set_real(obj, "sd", sd, "sd_why", n == 1 ? "one value has no spread" : NULL);
	json_object_set_new(obj, "source", json_string(source));
	if (text->heading[0]) {
		set_text(obj, "context", text->heading);
	} else {
		json_object_set_new(obj, "context", json_null());
		json_object_set_new(obj, "context_why", json_string("nothing stands above it"));
	}
	return facts_append(&text->facts->metrics, obj) ? obj : NULL;
}
