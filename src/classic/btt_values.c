/* SPDX-License-Identifier: MIT */
#include "classic/btt_values.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define MOST_FRESH  32768u
#define MOST_ALIKE  16u /* runs of one level before they are merged */
#define DIGIT_BITS  8
#define DIGITS      (64 / DIGIT_BITS)
#define DIGIT_KINDS (1u << DIGIT_BITS)

struct values_cursor {
	const uint8_t *at, *end;
	uint64_t value, count; /* the current one */
};

/* A run: for each distinct value its difference to the one before, doubled, plus one where it comes
 * more than once; then how often. Seven bits a byte, the lowest first. */
struct writer {
	uint8_t *bytes; /* owned by the run it becomes */
	size_t len, room;
	uint64_t last;
};

static void put_number(struct writer *w, uint64_t n)
{
	if (w->room - w->len < 10) {
		w->room = w->room ? w->room + w->room / 2 : 4096;
		w->bytes = mem_resize(w->bytes, w->room, 1);
	}
	for (; n >= 0x80; n >>= 7)
		w->bytes[w->len++] = (uint8_t)(n | 0x80);
	w->bytes[w->len++] = (uint8_t)n;
}

/* Values are below 2^63 (distances of sectors), so doubling them is safe. */
static void put_value(struct writer *w, uint64_t value, uint64_t count)
{
	put_number(w, (value - w->last) << 1 | (count > 1));
	if (count > 1)
		put_number(w, count);
	w->last = value;
}

static uint64_t get_number(struct values_cursor *c)
{
	uint64_t n = 0;

	for (unsigned int shift = 0; c->at < c->end; shift += 7) {
		uint8_t byte = *c->at++;

		n |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			break;
	}
	return n;
}

static bool cursor_next(struct values_cursor *c)
{
	uint64_t n;

	if (c->at == c->end)
		return false;
	n = get_number(c);
	c->value += n >> 1;
	c->count = n & 1 ? get_number(c) : 1;
	return true;
}

/* ---- sorting ---- */

static void sort_by_digit(const uint64_t *from, uint64_t *to, size_t nr, int digit,
			  const size_t *counts)
{
	size_t at[DIGIT_KINDS], sum = 0;

	for (size_t i = 0; i < DIGIT_KINDS; i++) {
		at[i] = sum;
		sum += counts[i];
	}
	for (size_t i = 0; i < nr; i++)
		to[at[from[i] >> (digit * DIGIT_BITS) & (DIGIT_KINDS - 1)]++] = from[i];
}

/* By digits, the lowest first; returns the sorted one of the two arrays. Digits in which all agree cost
 * nothing. */
static uint64_t *sort(uint64_t *list, uint64_t *spare, size_t nr)
{
	size_t counts[DIGITS][DIGIT_KINDS] = { 0 };

	for (size_t i = 0; i < nr; i++)
		for (int d = 0; d < DIGITS; d++)
			counts[d][list[i] >> (d * DIGIT_BITS) & (DIGIT_KINDS - 1)]++;
	for (int d = 0; d < DIGITS; d++) {
		uint64_t *other = spare;

		if (counts[d][list[0] >> (d * DIGIT_BITS) & (DIGIT_KINDS - 1)] == nr)
			continue;
		sort_by_digit(list, spare, nr, d, counts[d]);
		spare = list;
		list = other;
	}
	return list;
}

/* ---- runs ---- */

static void add_run(struct values *v, struct writer *w, unsigned int level)
{
	v->runs = mem_grow(v->runs, v->nr_runs, sizeof(*v->runs));
	v->runs[v->nr_runs++] = (struct values_run){ .bytes = mem_resize(w->bytes, w->len, 1),
						     .len = w->len,
						     .level = level };
}

static void sift_down(struct values_cursor *heap, size_t nr, size_t at)
{
	struct values_cursor moving = heap[at];

	for (;;) {
		size_t child = 2 * at + 1;

		if (child + 1 < nr && heap[child + 1].value < heap[child].value)
			child++;
		if (child >= nr || heap[child].value >= moving.value)
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = moving;
}

static void walk_add(struct values_walk *walk, const struct values_run *run)
{
	struct values_cursor c = { .at = run->bytes, .end = run->bytes + run->len };

	if (!cursor_next(&c))
		return;
	walk->cursors = mem_grow(walk->cursors, walk->nr, sizeof(*walk->cursors));
	walk->cursors[walk->nr++] = c;
}

static void walk_order(struct values_walk *walk)
{
	for (size_t i = walk->nr / 2; i-- > 0;)
		sift_down(walk->cursors, walk->nr, i);
}

/* The last runs, all of one level, become one of the next. */
static void merge_last(struct values *v, size_t nr)
{
	struct values_run *last = &v->runs[v->nr_runs - nr];
	struct values_walk walk = { 0 };
	struct writer w = { 0 };
	unsigned int level = last->level + 1;

	for (size_t i = 0; i < nr; i++)
		walk_add(&walk, &last[i]);
	walk_order(&walk);
	while (values_walk_next(&walk))
		put_value(&w, walk.value, walk.count);
	values_walk_end(&walk);
	for (size_t i = 0; i < nr; i++)
		free(last[i].bytes);
	v->nr_runs -= nr;
	add_run(v, &w, level);
}

static bool are_alike(const struct values *v)
{
	return v->nr_runs >= MOST_ALIKE &&
	       v->runs[v->nr_runs - MOST_ALIKE].level == v->runs[v->nr_runs - 1].level;
}

static void sort_away(struct values *v)
{
	struct writer w = { 0 };
	uint64_t *spare, *sorted;

	if (!v->nr_fresh)
		return;
	spare = mem_resize(NULL, v->nr_fresh, sizeof(*spare));
	sorted = sort(v->fresh, spare, v->nr_fresh);
	for (size_t i = 0, same; i < v->nr_fresh; i += same) {
		for (same = 1; i + same < v->nr_fresh && sorted[i + same] == sorted[i]; same++)
			;
		put_value(&w, sorted[i], same);
	}
	free(spare);
	v->nr_fresh = 0;
	add_run(v, &w, 0);
	while (are_alike(v))
		merge_last(v, MOST_ALIKE);
}

void values_add(struct values *v, uint64_t value)
{
	v->n++;
	v->sum += (double)value;
	if (!value) {
		v->zeros++;
		return;
	}
	v->fresh = mem_grow(v->fresh, v->nr_fresh, sizeof(*v->fresh));
	v->fresh[v->nr_fresh++] = value;
	if (v->nr_fresh == MOST_FRESH)
		sort_away(v);
}

void values_release(struct values *v)
{
	for (size_t i = 0; i < v->nr_runs; i++)
		free(v->runs[i].bytes);
	free(v->runs);
	free(v->fresh);
	*v = (struct values){ 0 };
}

/* ---- walking ---- */

void values_walk_begin(struct values_walk *walk, struct values *const *streams, size_t nr)
{
	*walk = (struct values_walk){ 0 };
	for (size_t s = 0; s < nr; s++) {
		sort_away(streams[s]);
		walk->zeros += streams[s]->zeros;
		for (size_t i = 0; i < streams[s]->nr_runs; i++)
			walk_add(walk, &streams[s]->runs[i]);
	}
	walk_order(walk);
}

bool values_walk_next(struct values_walk *walk)
{
	struct values_cursor *heap = walk->cursors;

	walk->value = 0;
	walk->count = walk->zeros;
	walk->zeros = 0;
	if (walk->count)
		return true;
	if (!walk->nr)
		return false;
	for (walk->value = heap->value; walk->nr && heap->value == walk->value;
	     sift_down(heap, walk->nr, 0)) {
		walk->count += heap->count;
		if (!cursor_next(heap)) {
			*heap = heap[--walk->nr];
			if (!walk->nr)
				break;
		}
	}
	return true;
}

void values_walk_end(struct values_walk *walk)
{
	free(walk->cursors);
	*walk = (struct values_walk){ 0 };
}

static void look_at(struct values_middle *m, uint64_t value, uint64_t count)
{
	if (count > m->count) {
		m->count = count;
		m->nr_modes = 0;
	}
	if (count < m->count)
		return;
	if (m->nr_modes < 2)
		m->mode[m->nr_modes] = value;
	m->nr_modes++;
}

struct values_middle values_middle(struct values *const *streams, size_t nr)
{
	struct values_middle m = { 0 };
	struct values_walk walk;
	uint64_t seen = 0;
	double sum = 0;

	for (size_t i = 0; i < nr; i++) {
		m.n += streams[i]->n;
		sum += streams[i]->sum;
	}
	m.mean = m.n ? sum / (double)m.n : 0;
	values_walk_begin(&walk, streams, nr);
	while (values_walk_next(&walk)) {
		if (seen < m.n - m.n / 2 && seen + walk.count >= m.n - m.n / 2)
			m.median = walk.value;
		seen += walk.count;
		look_at(&m, walk.value, walk.count);
	}
	values_walk_end(&walk);
	return m;
}
