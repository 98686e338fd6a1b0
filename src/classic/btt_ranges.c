/* SPDX-License-Identifier: MIT
 *
 * The ranges of activity: runs of Qs and of Cs without a gap of range-delta (-d) or more, as boxes to be plotted;
 * of the system, of each device and of each process.
 */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "classic/btt_parts.h"
#include "classic/btt_tables.h"

struct range_list {
	struct btt_span *list; /* owned array */
	size_t nr;
};

/* Of one thing that is active. */
struct active {
	struct range_list q, c;
};

struct process_active {
	struct hnode by_name; /* by the address of the name: one name has one */
	const char *name;
	struct active active;
};

struct ranges {
	struct btt *b;
	struct active sys;
	struct by_device devices; /* struct active */
	struct hash names;
	struct process_active **processes; /* owned array of owned */
	size_t nr_processes;
};

static void *ranges_new(struct btt *b)
{
	struct ranges *r = mem_zalloc(sizeof(*r));

	*r = (struct ranges){ .b = b, .devices = { .size = sizeof(struct active) } };
	hash_init(&r->names);
	return r;
}

static void add(struct range_list *ranges, uint64_t now_ns, uint64_t gap_ns)
{
	struct btt_span *last = ranges->nr ? &ranges->list[ranges->nr - 1] : NULL;

	if (last && (now_ns < last->to_ns || now_ns - last->to_ns < gap_ns)) {
		if (now_ns > last->to_ns)
			last->to_ns = now_ns;
		return;
	}
	ranges->list = mem_grow(ranges->list, ranges->nr, sizeof(*ranges->list));
	ranges->list[ranges->nr++] = (struct btt_span){ now_ns, now_ns };
}

static struct active *process_of(struct ranges *r, const struct event *ev)
{
	const char *name = btt_process(r->b, ev->pid, r->b->now_ns);
	struct hnode *node = hash_find(&r->names, (uintptr_t)name);
	struct process_active *p;

	if (node)
		return &container_of(node, struct process_active, by_name)->active;
	p = mem_zalloc(sizeof(*p));
	p->name = name;
	hash_add(&r->names, &p->by_name, (uintptr_t)name);
	r->processes = mem_grow(r->processes, r->nr_processes, sizeof(*r->processes));
	r->processes[r->nr_processes++] = p;
	return &p->active;
}

static void ranges_event(void *self, struct btt_device *dev, const struct event *ev)
{
	struct ranges *r = self;
	uint64_t now_ns = r->b->now_ns, gap_ns = r->b->o->range_delta_ns;
	bool queued = ev->action == ACT_QUEUE;
	struct active *all[3];

	if (!dev || ev->action == ACT_MESSAGE)
		return;
	all[0] = &r->sys;
	all[1] = by_device(&r->devices, dev);
	all[2] = process_of(r, ev); /* one that is never active has a height, too */
	if (!queued && ev->action != ACT_COMPLETE && ev->action != ACT_BIO_COMPLETE)
		return;
	for (int i = 0; i < 3; i++)
		add(queued ? &all[i]->q : &all[i]->c, now_ns, gap_ns);
}

static void put_point(FILE *out, uint64_t ns, double y)
{
	fprintf(out, "%13.9f %5.1f\n", btt_seconds(ns), y);
}

static void put_list(FILE *out, const char *name, char letter, const struct range_list *ranges,
		     double y)
{
	fprintf(out, "# %16s : %c activity\n", name, letter);
	for (size_t i = 0; i < ranges->nr; i++) {
		put_point(out, ranges->list[i].from_ns, y);
		put_point(out, ranges->list[i].from_ns, y + 0.4);
		put_point(out, ranges->list[i].to_ns, y + 0.4);
		put_point(out, ranges->list[i].to_ns, y);
	}
	fputc('\n', out);
}

static void put_active(FILE *out, const char *name, const struct active *active, double y)
{
	put_list(out, name, 'q', &active->q, y);
	put_list(out, name, 'c', &active->c, y + 0.5);
}

static int by_name(const void *a, const void *b)
{
	const struct process_active *const *x = a, *const *y = b;

	return strcmp((*x)->name, (*y)->name);
}

static void put_devices(const struct ranges *r, double *y)
{
	const struct btt_device *dev;

	fputs("# Per device\n", r->b->dat);
	for (size_t at = 0; (dev = btt_shown(r->b, &at)) != NULL; ++*y) {
		const struct active *active = by_device_known(&r->devices, dev);

		if (active)
			put_active(r->b->dat, dev->label, active, *y);
	}
}

static void put_process(const struct ranges *r, const struct process_active *p, double *y)
{
	if (!btt_process_shown(r->b->o, p->name))
		return;
	if (p->active.q.nr || p->active.c.nr)
		put_active(r->b->dat, p->name, &p->active, *y);
	++*y;
}

static void ranges_finish(void *self)
{
	struct ranges *r = self;
	FILE *out = r->b->dat;
	double y = 0;

	fputs("# Total System\n", out);
	put_active(out, "Total System", &r->sys, y++);
	if (r->b->nr_devices > 1)
		put_devices(r, &y);
	fputs("# Per process\n", out);
	if (r->nr_processes)
		qsort(r->processes, r->nr_processes, sizeof(*r->processes), by_name);
	for (size_t i = 0; i < r->nr_processes; i++)
		put_process(r, r->processes[i], &y);
}

static void release_active(struct active *active)
{
	free(active->q.list);
	free(active->c.list);
}

static void ranges_free(void *self)
{
	struct ranges *r = self;

	release_active(&r->sys);
	for (size_t i = 0; i < r->devices.nr; i++)
		if (r->devices.list[i])
			release_active(r->devices.list[i]);
	for (size_t i = 0; i < r->nr_processes; i++) {
		release_active(&r->processes[i]->active);
		free(r->processes[i]);
	}
	free(r->processes);
	hash_release(&r->names);
	by_device_release(&r->devices);
	free(r);
}

const struct btt_part btt_ranges = {
	.name = "ranges",
	.new = ranges_new,
	.event = ranges_event,
	.finish = ranges_finish,
	.free = ranges_free,
};
