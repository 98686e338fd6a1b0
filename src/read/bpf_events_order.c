/* SPDX-License-Identifier: MIT */
#include "read/bpf_events_order.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

bool bpf_order_has_room(const struct bpf_order *order)
{
	return order->nr < order->window && order->given == order->ready;
}

static void grow(struct bpf_order *o)
{
	o->room = o->room ? o->room * 2 : 1024;
	o->events = mem_resize(o->events, o->room, sizeof(*o->events));
	if (o->spare)
		o->spare = mem_resize(o->spare, o->room, sizeof(*o->spare));
}

/* What was given makes place. */
static void drop_given(struct bpf_order *o)
{
	if (!o->given)
		return;
	memmove(o->events, o->events + o->given, (o->nr - o->given) * sizeof(*o->events));
	o->nr -= o->given;
	o->given = o->ready = 0;
}

void bpf_order_add(struct bpf_order *o, const struct event *ev)
{
	drop_given(o);
	if (o->nr == o->room)
		grow(o);
	if (o->nr && ev->time_ns < o->events[o->nr - 1].time_ns)
		o->disorder = true;
	o->events[o->nr++] = *ev;
}

static void merge_runs(const struct event *from, struct event *to, size_t a, size_t b, size_t c)
{
	size_t i = a, k = b;

	for (size_t out = a; out < c; out++) {
		bool first = k == c || (i < b && from[i].time_ns <= from[k].time_ns);

		to[out] = from[first ? i++ : k++];
	}
}

/* Bottom-up merge sort: events of equal time keep their order. */
static void sort(struct bpf_order *o)
{
	if (!o->spare)
		o->spare = mem_resize(NULL, o->room, sizeof(*o->spare));
	for (size_t width = 1; width < o->nr; width *= 2) {
		struct event *swap = o->events;

		for (size_t a = 0; a < o->nr; a += 2 * width) {
			size_t b = a + width < o->nr ? a + width : o->nr;
			size_t c = b + width < o->nr ? b + width : o->nr;

			merge_runs(o->events, o->spare, a, b, c);
		}
		o->events = o->spare;
		o->spare = swap;
	}
	o->disorder = false;
}

static void make_ready(struct bpf_order *o, bool flush)
{
	drop_given(o);
	if (o->nr < o->window && !flush)
		return;
	if (o->disorder)
		sort(o);
	o->ready = flush ? o->nr : o->nr / 2;
}

int bpf_order_take(struct bpf_order *o, struct event *events, int max, bool flush)
{
	int nr = 0;

	if (o->given == o->ready)
		make_ready(o, flush);
	for (; nr < max && o->given < o->ready; nr++) {
		events[nr] = o->events[o->given++];
		o->late += events[nr].time_ns < o->last_ns;
		o->last_ns = events[nr].time_ns;
	}
	return nr;
}

void bpf_order_release(struct bpf_order *o)
{
	free(o->events);
	free(o->spare);
	*o = (struct bpf_order){ 0 };
}
