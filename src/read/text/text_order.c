/* SPDX-License-Identifier: MIT */
#include "read/text/text_order.h"

#include <stdlib.h>
#include <string.h>

void text_order_init(struct text_order *o)
{
	*o = (struct text_order){ 0 };
	slab_init(&o->messages, TEXT_MESSAGE_MAX);
}

static void grow(struct text_order *o)
{
	o->room = o->room ? o->room * 2 : 256;
	o->events = mem_resize(o->events, o->room, sizeof(*o->events));
	if (o->spare)
		o->spare = mem_resize(o->spare, o->room, sizeof(*o->spare));
}

void text_order_add(struct text_order *o, const struct event *ev)
{
	struct event *own;

	if (o->nr == o->room)
		grow(o);
	own = &o->events[o->nr];
	*own = *ev;
	if (o->nr && own->time_ns < own[-1].time_ns)
		o->disorder = true;
	o->nr++;
	if (ev->action != ACT_MESSAGE || !ev->payload_len)
		return;
	if (own->payload_len > TEXT_MESSAGE_MAX) {
		own->payload_len = TEXT_MESSAGE_MAX;
		o->cut_messages++;
	}
	own->payload = memcpy(slab_get(&o->messages), ev->payload, own->payload_len);
}

/* Merges the sorted runs [a, b) and [b, c) of `from` into `to`. */
static void merge_runs(const struct event *from, struct event *to, size_t a, size_t b, size_t c)
{
	size_t i = a, k = b;

	for (size_t out = a; out < c; out++) {
		bool first = k == c || (i < b && from[i].time_ns <= from[k].time_ns);

		to[out] = from[first ? i++ : k++];
	}
}

/* Bottom-up merge sort: events of equal time keep their order. */
static void sort(struct text_order *o)
{
	if (!o->spare)
		o->spare = mem_resize(NULL, o->room, sizeof(*o->spare));
	for (size_t width = 1; width < o->nr; width *= 2) {
		struct event *swap;

		for (size_t a = 0; a < o->nr; a += 2 * width) {
			size_t b = a + width < o->nr ? a + width : o->nr;
			size_t c = b + width < o->nr ? b + width : o->nr;

			merge_runs(o->events, o->spare, a, b, c);
		}
		swap = o->events;
		o->events = o->spare;
		o->spare = swap;
	}
	o->disorder = false;
}

size_t text_order_ready(struct text_order *o, bool flush)
{
	if (o->given < o->ready)
		return o->ready - o->given;
	if (o->given) {
		memmove(o->events, o->events + o->given, (o->nr - o->given) * sizeof(*o->events));
		o->nr -= o->given;
		o->given = o->ready = 0;
	}
	if (o->nr < TEXT_WINDOW && !flush)
		return 0;
	if (o->disorder)
		sort(o);
	o->ready = flush ? o->nr : o->nr / 2;
	return o->ready;
}

/* A numbered event that is there twice was pasted twice. Looks at the last few of its time. */
static bool is_repeated(const struct text_order *o, size_t at)
{
	const struct event *ev = &o->events[at];

	if (!ev->sequence)
		return false;
	for (size_t i = at, n = 0; i-- > 0 && n < 64; n++) {
		const struct event *other = &o->events[i];

		if (other->time_ns != ev->time_ns)
			return false;
		if (other->sequence == ev->sequence && other->cpu == ev->cpu &&
		    other->device == ev->device && other->action == ev->action &&
		    other->sector == ev->sector && other->pid == ev->pid)
			return true;
	}
	return false;
}

int text_order_take(struct text_order *o, struct event *events, int max)
{
	int nr = 0;

	while (o->nr_lent)
		slab_put(&o->messages, (void *)o->lent[--o->nr_lent]);
	while (nr < max && o->given < o->ready) {
		const struct event *ev = &o->events[o->given++];

		if (is_repeated(o, o->given - 1)) {
			o->repeated++;
			continue;
		}
		if (ev->action == ACT_MESSAGE && ev->payload_len) {
			o->lent = mem_grow(o->lent, o->nr_lent, sizeof(*o->lent));
			o->lent[o->nr_lent++] = ev->payload;
		}
		events[nr++] = *ev;
	}
	return nr;
}

void text_order_release(struct text_order *o)
{
	free(o->events);
	free(o->spare);
	free(o->lent);
	slab_release(&o->messages);
}
