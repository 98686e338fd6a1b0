/* SPDX-License-Identifier: MIT
 *
 * Puts events in the order of time that come nearly in it, or, where they were held back, in none.
 */
#ifndef BLKLAB_READ_BPF_EVENTS_ORDER_H
#define BLKLAB_READ_BPF_EVENTS_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/event.h"

struct bpf_order {
	size_t window;                /* events that are looked at together; set by the owner */
	struct event *events, *spare; /* owned */
	size_t nr, room, given, ready;
	bool disorder;    /* the events are not sorted */
	uint64_t last_ns; /* of the last one given */
	uint64_t late;    /* given behind a later one: the window was too small */
};

void bpf_order_add(struct bpf_order *order, const struct event *ev);
/* May another be added before some are taken? */
bool bpf_order_has_room(const struct bpf_order *order);
/* Takes up to max, in order. With `flush` no more come; without, only once the window is full, and half
 * of it. */
int bpf_order_take(struct bpf_order *order, struct event *events, int max, bool flush);
void bpf_order_release(struct bpf_order *order);

#endif
