/* SPDX-License-Identifier: MIT
 *
 * The order in which blkparse merges streams: see merge_new (source.h), which has it from here, as the
 * drop-in blkparse has.
 */
#ifndef BLKLAB_TRACE_ORDER_H
#define BLKLAB_TRACE_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Embedded in a stream. */
struct ordered {
	uint64_t time_ns; /* of its next event */
};

struct order {
	struct ordered **
		at; /* array with room for all streams, of the caller: sorted, the current one first */
	size_t nr;
};

/* Puts s into the sorted part [from, nr): before waiting streams of equal time. */
static inline void order_insert(struct order *o, struct ordered *s, size_t from)
{
	size_t low = from, high = o->nr;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (o->at[mid]->time_ns < s->time_ns)
			low = mid + 1;
		else
			high = mid;
	}
	memmove(&o->at[low + 1], &o->at[low], (o->nr - low) * sizeof(*o->at));
	o->at[low] = s;
	o->nr++;
}

/* A stream that was not there before: an equal head stays the head. */
static inline void order_add(struct order *o, struct ordered *s)
{
	order_insert(o, s, o->nr && s->time_ns >= o->at[0]->time_ns ? 1 : 0);
}

static inline void order_remove_first(struct order *o)
{
	o->nr--;
	memmove(&o->at[0], &o->at[1], o->nr * sizeof(*o->at));
}

/* The current stream has a new next event: it stays current unless its successor's is earlier. */
static inline void order_again(struct order *o)
{
	struct ordered *s = o->at[0];

	if (o->nr > 1 && s->time_ns > o->at[1]->time_ns) {
		order_remove_first(o);
		order_insert(o, s, 1);
	}
}

/* Until when the current stream stays current. */
static inline uint64_t order_limit(const struct order *o)
{
	return o->nr > 1 ? o->at[1]->time_ns : UINT64_MAX;
}

#endif
