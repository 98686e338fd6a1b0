// SPDX-License-Identifier: MIT
#include "view/alignment.h"

#include <stdlib.h>

#include "base/container.h"
#include "base/mem.h"
#include "track/io.h"
#include "view/alignment_sum.h"

#define MAX_DEVICES   256
#define LEAST_SECTORS 8
#define SLOTS         65536u /* what began at a sector: who, and was it given back */

/* The latest write that began at a sector of a device; others with the same slot overwrite it. */
struct slot {
	uint64_t sector;
	uint32_t device, pid;
	bool used, given_back;
};

struct alignment {
	struct sink sink;
	uint32_t stripe;
	uint64_t from_ns, to_ns;
	struct align_device *devices; /* owned array */
	size_t nr;
	struct slot *slots; /* owned, SLOTS */
};

static struct align_device *find(const struct alignment *a, uint32_t device)
{
	for (size_t i = 0; i < a->nr; i++)
		if (a->devices[i].device == device)
			return &a->devices[i];
	return NULL;
}

static struct align_device *get(struct alignment *a, uint32_t device)
{
	struct align_device *dev = find(a, device);

	if (dev || a->nr == MAX_DEVICES)
		return dev;
	a->devices = mem_grow(a->devices, a->nr, sizeof(*a->devices));
	dev = &a->devices[a->nr++];
	*dev = (struct align_device){ .device = device };
	return dev;
}

static struct slot *slot_of(const struct alignment *a, const struct event *ev)
{
	uint64_t key = (ev->sector ^ (uint64_t)ev->device << 40) * 0x9e3779b97f4a7c15ull;

	return &a->slots[key >> 48];
}

static bool is_slot_of(const struct slot *slot, const struct event *ev)
{
	return slot->used && slot->sector == ev->sector && slot->device == ev->device;
}

/* Two runs become one that holds both; its offset is known only where they agree. */
static void merge_pairs(struct align_sum *sum)
{
	size_t left = 0;

	for (size_t i = 0; i + 1 < sum->nr_windows; i += 2) {
		struct align_window *w = &sum->windows[left++];
		const struct align_window *next = &sum->windows[i + 1];

		*w = sum->windows[i];
		w->mixed |= next->mixed || w->offset != next->offset;
		w->to_ns = next->to_ns;
		w->count += next->count;
		w->bytes += next->bytes;
	}
	if (sum->nr_windows % 2)
		sum->windows[left++] = sum->windows[sum->nr_windows - 1];
	sum->nr_windows = left;
	sum->merged = true;
}

static void add_window(struct align_sum *sum, const struct event *ev, uint32_t offset)
{
	struct align_window *last = sum->nr_windows ? &sum->windows[sum->nr_windows - 1] : NULL;

	if (!last || last->mixed || last->offset != offset) {
		if (sum->nr_windows == ALIGN_WINDOWS)
			merge_pairs(sum);
		if (!sum->windows)
			sum->windows = mem_resize(NULL, ALIGN_WINDOWS, sizeof(*sum->windows));
		last = &sum->windows[sum->nr_windows++];
		*last = (struct align_window){ .from_ns = ev->time_ns,
					       .first_sector = ev->sector,
					       .offset = offset };
	}
	last->to_ns = ev->time_ns;
	last->count++;
	last->bytes += ev->bytes;
}

static void join_steps(struct align_steps *steps)
{
	for (size_t i = 0; i < ALIGN_STEPS / 2; i++) {
		const struct align_step *a = &steps->list[2 * i], *b = a + 1;

		steps->list[i] = (struct align_step){ a->bytes + b->bytes,
						      a->misaligned_bytes + b->misaligned_bytes };
	}
	for (size_t i = ALIGN_STEPS / 2; i < ALIGN_STEPS; i++)
		steps->list[i] = (struct align_step){ 0 };
	steps->nr = (steps->nr + 1) / 2;
	steps->step_ns *= 2;
}

static void add_step(struct align_steps *steps, const struct event *ev, bool aligned)
{
	uint64_t ns;
	size_t i;

	if (!steps->step_ns) {
		steps->origin_ns = ev->time_ns;
		steps->step_ns = ALIGN_FIRST_STEP;
	}
	ns = ev->time_ns > steps->origin_ns ? ev->time_ns - steps->origin_ns : 0;
	while (ns / steps->step_ns >= ALIGN_STEPS)
		join_steps(steps);
	i = (size_t)(ns / steps->step_ns);
	steps->list[i].bytes += ev->bytes;
	steps->list[i].misaligned_bytes += aligned ? 0 : ev->bytes;
	if (i >= steps->nr)
		steps->nr = i + 1;
}

static void add_process(struct align_sum *sum, const struct event *ev, uint32_t pid, bool aligned)
{
	struct align_process *p = NULL;

	for (size_t i = 0; i < sum->nr_processes && !p; i++)
		if (sum->processes[i].pid == pid)
			p = &sum->processes[i];
	if (!p && sum->nr_processes < ALIGN_PROCESSES) {
		sum->processes =
			mem_grow(sum->processes, sum->nr_processes, sizeof(*sum->processes));
		p = &sum->processes[sum->nr_processes++];
		*p = (struct align_process){ .pid = pid };
	}
	if (!p) {
		align_add(&sum->unnamed, ev->bytes);
		return;
	}
	p->last_ns = ev->time_ns;
	align_add(&p->all, ev->bytes);
	if (aligned)
		align_add(&p->aligned, ev->bytes);
}

/* NULL: it is one to look at. */
static struct align_count *left_out(struct align_sum *sum, const struct event *ev)
{
	if (ev->flags & EV_META)
		return &sum->meta;
	if (ev->flags & (EV_PREFLUSH | EV_FUA))
		return &sum->flush;
	return ev->bytes / SECTOR_SIZE < LEAST_SECTORS ? &sum->small : NULL;
}

static void add_write(const struct alignment *a, struct align_sum *sum, const struct event *ev,
		      uint32_t pid)
{
	uint32_t offset = (uint32_t)(ev->sector % a->stripe), sectors = ev->bytes / SECTOR_SIZE;
	struct align_count *apart = left_out(sum, ev);

	if (apart) {
		align_add(apart, ev->bytes);
		return;
	}
	align_add(&sum->all, ev->bytes);
	if (offset) {
		align_add(&sum->misaligned, ev->bytes);
		if (sectors >= a->stripe / 2)
			align_add(&sum->large_misaligned, ev->bytes);
		if (sectors > a->stripe - offset)
			align_add(&sum->straddling, ev->bytes);
	}
	add_window(sum, ev, offset);
	add_process(sum, ev, pid, !offset);
	add_step(&sum->steps, ev, !offset);
}

static bool is_write(const struct alignment *a, const struct event *ev)
{
	return ev->class == CLASS_WRITE && ev->bytes && ev->sector != SECTOR_NONE &&
	       !(ev->flags & EV_ZONE_APPEND) && ev->time_ns >= a->from_ns &&
	       ev->time_ns <= a->to_ns;
}

static void queued(struct alignment *a, const struct event *ev)
{
	struct align_device *dev = get(a, ev->device);

	*slot_of(a, ev) = (struct slot){ ev->sector, ev->device, ev->pid, true, false };
	if (dev && is_write(a, ev))
		add_write(a, &dev->at_queue, ev, ev->pid);
}

/* Whoever issues it is not who wanted it; and what was given back is not written twice. */
static void issued(struct alignment *a, const struct event *ev)
{
	struct align_device *dev = get(a, ev->device);
	struct slot *slot = slot_of(a, ev);
	bool known = is_slot_of(slot, ev);

	if (!dev)
		return;
	dev->have_requests = true;
	if (known && slot->given_back) {
		slot->given_back = false;
		return;
	}
	if (is_write(a, ev))
		add_write(a, &dev->at_issue, ev, known ? slot->pid : ev->pid);
}

static void given_back(struct alignment *a, const struct event *ev)
{
	struct slot *slot = slot_of(a, ev);

	if (!is_slot_of(slot, ev))
		*slot = (struct slot){ ev->sector, ev->device, ev->pid, true, false };
	slot->given_back = true;
}

static void events(struct sink *self, const struct event *list, int nr)
{
	struct alignment *a = container_of(self, struct alignment, sink);

	for (int i = 0; i < nr; i++) {
		if (list[i].action == ACT_QUEUE)
			queued(a, &list[i]);
		else if (list[i].action == ACT_ISSUE)
			issued(a, &list[i]);
		else if (list[i].action == ACT_REQUEUE)
			given_back(a, &list[i]);
	}
}

static void finish(struct sink *self)
{
}

static void release(struct sink *self)
{
	alignment_free(container_of(self, struct alignment, sink));
}

static const struct sink_ops ops = { events, finish, release };

struct alignment *alignment_new(uint32_t stripe, uint64_t from_ns, uint64_t to_ns)
{
	struct alignment *a = mem_zalloc(sizeof(*a));

	a->sink.ops = &ops;
	a->stripe = stripe;
	a->from_ns = from_ns == TIME_NONE ? 0 : from_ns;
	a->to_ns = to_ns;
	a->slots = mem_zalloc(SLOTS * sizeof(*a->slots));
	return a;
}

static void sum_release(struct align_sum *sum)
{
	free(sum->windows);
	free(sum->processes);
}

void alignment_free(struct alignment *a)
{
	if (!a)
		return;
	for (size_t i = 0; i < a->nr; i++) {
		sum_release(&a->devices[i].at_queue);
		sum_release(&a->devices[i].at_issue);
	}
	free(a->devices);
	free(a->slots);
	free(a);
}

struct sink *alignment_sink(struct alignment *a)
{
	return &a->sink;
}

const struct align_device *alignment_device(const struct alignment *a, uint32_t device)
{
	return find(a, device);
}

uint32_t alignment_stripe(const struct alignment *a)
{
	return a->stripe;
}
