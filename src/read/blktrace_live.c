/* SPDX-License-Identifier: MIT */
#include "read/blktrace_live.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"

struct held {
	struct event ev; /* its payload is owned */
	struct ring *ring;
	uint64_t at_ns;        /* its time, or the latest one before it in its ring */
	struct held *next;     /* in the ring; of those given: the next one given */
	struct held *next_all; /* as they came */
};

struct ring {
	struct hnode node;
	struct held *first, **end; /* unless empty */
	uint64_t last_ns;          /* the latest time seen */
	uint32_t cpu, place;       /* `place`: of its device among those seen */
};

struct blktrace_live {
	struct slab slab;            /* of struct held */
	struct held *given;          /* by the last take: to be freed */
	struct held *all, **all_end; /* as they came, until mixed */
	uint32_t nr;                 /* held */
	size_t bytes;                /* of payloads held */
	struct hash by_key;          /* the rings, owned */
	struct ring **rings;         /* owned array, by place and CPU */
	size_t nr_rings;
	struct ring *newest; /* the ring of the last record; most have the same */
	uint32_t nr_devices;
	struct ring **order; /* if mixed: those with records, the current one first; by time */
	size_t nr_order;
	uint64_t latest_ns; /* of all that came */
	uint64_t given_ns;  /* of all that were given */
	uint64_t whole_ns;  /* every ring has something at that time or later */
	bool stale;         /* whole_ns must be found again */
	bool mixed, started, flush;
	uint64_t late;
};

struct blktrace_live *blktrace_live_new(void)
{
	struct blktrace_live *live = mem_zalloc(sizeof(*live));

	slab_init(&live->slab, sizeof(struct held));
	hash_init(&live->by_key);
	live->all_end = &live->all;
	return live;
}

static void free_given(struct blktrace_live *live)
{
	struct held *h = live->given, *next;

	for (; h; h = next) {
		next = h->next;
		if (h->ev.payload_len)
			free((void *)h->ev.payload);
		slab_put(&live->slab, h);
	}
	live->given = NULL;
}

void blktrace_live_free(struct blktrace_live *live)
{
	if (!live)
		return;
	free_given(live);
	for (size_t i = 0; i < live->nr_rings; i++) {
		for (struct held *h = live->rings[i]->first; h; h = h->next)
			if (h->ev.payload_len)
				free((void *)h->ev.payload);
		free(live->rings[i]);
	}
	free(live->rings);
	free(live->order);
	hash_release(&live->by_key);
	slab_release(&live->slab);
	free(live);
}

static struct ring *ring_new(struct blktrace_live *live, uint32_t device, uint32_t cpu)
{
	struct ring *ring = mem_zalloc(sizeof(*ring));
	size_t at = live->nr_rings;

	ring->cpu = cpu;
	ring->place = live->nr_devices;
	for (size_t i = 0; i < live->nr_rings; i++)
		if (live->rings[i]->node.key >> 32 == device)
			ring->place = live->rings[i]->place;
	live->nr_devices += ring->place == live->nr_devices;
	hash_add(&live->by_key, &ring->node, (uint64_t)device << 32 | cpu);
	live->rings = mem_grow(live->rings, live->nr_rings, sizeof(struct ring *));
	live->order = mem_grow(live->order, live->nr_rings, sizeof(struct ring *));
	live->nr_rings++;
	for (;
	     at && (live->rings[at - 1]->place > ring->place ||
		    (live->rings[at - 1]->place == ring->place && live->rings[at - 1]->cpu > cpu));
	     at--)
		live->rings[at] = live->rings[at - 1];
	live->rings[at] = ring;
	return ring;
}

static struct ring *ring_of(struct blktrace_live *live, uint32_t device, uint32_t cpu)
{
	uint64_t key = (uint64_t)device << 32 | cpu;
	struct hnode *node;

	if (live->newest && live->newest->node.key == key)
		return live->newest;
	node = hash_find(&live->by_key, key);
	if (node)
		live->newest = container_of(node, struct ring, node);
	else if (live->nr_rings < BLKTRACE_LIVE_RINGS)
		live->newest = ring_new(live, device, cpu);
	else
		return live->rings[live->nr_rings - 1];
	return live->newest;
}

/* As merge.c does: before waiting ones of equal time, but not before `from`. */
static void order_insert(struct blktrace_live *live, struct ring *ring, size_t from)
{
	uint64_t time_ns = ring->first->ev.time_ns;
	size_t low = from, high = live->nr_order;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (live->order[mid]->first->ev.time_ns < time_ns)
			low = mid + 1;
		else
			high = mid;
	}
	memmove(&live->order[low + 1], &live->order[low],
		(live->nr_order - low) * sizeof(struct ring *));
	live->order[low] = ring;
	live->nr_order++;
}

/* A ring that had no record waiting has one now. */
static void order_add(struct blktrace_live *live, struct ring *ring)
{
	bool behind =
		live->nr_order && ring->first->ev.time_ns >= live->order[0]->first->ev.time_ns;

	order_insert(live, ring, behind ? 1 : 0);
}

static void order_drop_first(struct blktrace_live *live)
{
	live->nr_order--;
	memmove(&live->order[0], &live->order[1], live->nr_order * sizeof(struct ring *));
}

/* The stream is not in order: from now on the rings are merged. */
static void begin_mixed(struct blktrace_live *live)
{
	live->mixed = true;
	for (size_t i = 0; i < live->nr_rings; i++)
		if (live->rings[i]->first)
			order_add(live, live->rings[i]);
}

void blktrace_live_add(struct blktrace_live *live, const struct event *ev, uint32_t device,
		       uint32_t cpu)
{
	struct ring *ring = ring_of(live, device, cpu);
	struct held *h = slab_get(&live->slab);
	bool was_empty = !ring->first;

	h->ev = *ev;
	h->ring = ring;
	h->next = h->next_all = NULL;
	if (ev->payload_len) {
		uint8_t *copy = mem_resize(NULL, ev->payload_len, 1);

		memcpy(copy, ev->payload, ev->payload_len);
		h->ev.payload = copy;
		live->bytes += ev->payload_len;
	}
	if (ring->last_ns < ev->time_ns)
		ring->last_ns = ev->time_ns;
	h->at_ns = ring->last_ns;
	if (was_empty)
		ring->end = &ring->first;
	*ring->end = h;
	ring->end = &h->next;
	live->nr++;
	live->stale = true;
	live->flush = false;
	if (live->mixed) {
		if (was_empty)
			order_add(live, ring);
		return;
	}
	*live->all_end = h;
	live->all_end = &h->next_all;
	if (h->at_ns < live->latest_ns)
		begin_mixed(live);
	live->latest_ns = h->at_ns;
}

static void find_whole(struct blktrace_live *live)
{
	live->whole_ns = UINT64_MAX;
	live->stale = false;
	for (size_t i = 0; i < live->nr_rings; i++)
		if (live->rings[i]->last_ns < live->whole_ns)
			live->whole_ns = live->rings[i]->last_ns;
}

/* Before anything was held long, nobody knows which CPUs there are. */
static bool has_turn(struct blktrace_live *live, const struct held *h)
{
	if (live->flush)
		return true;
	if (live->nr > BLKTRACE_LIVE_RECORDS || live->bytes > BLKTRACE_LIVE_BYTES) {
		live->started = true;
		return true;
	}
	/* At that very time a ring may have more, and whose is first depends on it. */
	return live->started && h->at_ns < live->whole_ns;
}

static struct held *next_held(const struct blktrace_live *live)
{
	if (!live->mixed)
		return live->all;
	return live->nr_order ? live->order[0]->first : NULL;
}

/* The record that next_held gave leaves its ring. */
static void take_mixed(struct blktrace_live *live)
{
	struct ring *ring = live->order[0];

	ring->first = ring->first->next;
	if (!ring->first) {
		order_drop_first(live);
	} else if (live->nr_order > 1 &&
		   ring->first->ev.time_ns > live->order[1]->first->ev.time_ns) {
		order_drop_first(live);
		order_insert(live, ring, 1);
	}
}

static void take_first(struct blktrace_live *live)
{
	struct held *h = live->all;

	live->all = h->next_all;
	if (!live->all)
		live->all_end = &live->all;
	h->ring->first = h->next; /* its first too: rings keep the order */
}

int blktrace_live_take(struct blktrace_live *live, struct event *events, int max)
{
	struct held *h;
	int n = 0;

	free_given(live);
	if (live->stale)
		find_whole(live);
	while (n < max && (h = next_held(live)) != NULL && has_turn(live, h)) {
		if (live->mixed)
			take_mixed(live);
		else
			take_first(live);
		events[n++] = h->ev;
		live->nr--;
		live->bytes -= h->ev.payload_len;
		if (h->at_ns < live->given_ns)
			live->late++;
		else
			live->given_ns = h->at_ns;
		h->next = live->given;
		live->given = h;
	}
	return n;
}

void blktrace_live_flush(struct blktrace_live *live)
{
	live->flush = live->started = true;
}

bool blktrace_live_holds(const struct blktrace_live *live)
{
	return live->nr > 0;
}

bool blktrace_live_mixed(const struct blktrace_live *live)
{
	return live->mixed;
}

uint64_t blktrace_live_late(const struct blktrace_live *live)
{
	return live->late;
}
