/* SPDX-License-Identifier: MIT
 *
 * BASE_DEV_aqd.dat (-Q): requests at the device, a step wherever that changes; and BASE_DEV.dat (-u): how many
 * requests the explicit unplugs had.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"
#include "classic/btt_at_device.h"
#include "classic/btt_parts.h"
#include "classic/btt_tables.h"

struct depth_of {
	struct btt_file *file;
	const struct btt_device *dev;
	struct btt_at_device at;
};

struct depth {
	struct btt *b;
	struct by_device devices; /* struct depth_of */
};

static bool depth_wanted(const struct btt_options *o)
{
	return o->queue_depth != NULL;
}

static void *depth_new(struct btt *b)
{
	struct depth *d = mem_zalloc(sizeof(*d));

	*d = (struct depth){ .b = b, .devices = { .size = sizeof(struct depth_of) } };
	return d;
}

static void put_step(struct depth_of *of, uint64_t ns, uint64_t from, uint64_t to)
{
	double at = btt_seconds(ns);

	btt_file_printf(of->file, "%.6f %" PRIu64 "\n%.6f %" PRIu64 "\n", at, from, at, to);
}

static void settle(struct depth *d, struct depth_of *of)
{
	uint64_t fell = btt_at_device_settle(&of->at, d->b, of->dev);

	for (; fell; fell--)
		put_step(of, of->at.last_ns, of->at.now + fell, of->at.now + fell - 1);
}

static void depth_event(void *self, struct btt_device *dev, const struct event *ev)
{
	struct depth *d = self;
	struct depth_of *of;
	int step;

	if (!dev || ev->action == ACT_MESSAGE)
		return;
	of = by_device(&d->devices, dev);
	if (!of->file) {
		of->file = btt_file_new(d->b, false, "%s_%s_aqd.dat", d->b->o->queue_depth,
					dev->label);
		of->dev = dev;
	}
	settle(d, of);
	step = btt_at_device_event(&of->at, d->b, ev);
	if (step)
		put_step(of, d->b->now_ns, of->at.now - (uint64_t)step, of->at.now);
}

static void depth_finish(void *self)
{
	struct depth *d = self;

	for (size_t i = 0; i < d->devices.nr; i++)
		if (d->devices.list[i])
			settle(d, d->devices.list[i]);
}

static void depth_free(void *self)
{
	struct depth *d = self;

	for (size_t i = 0; i < d->devices.nr; i++)
		if (d->devices.list[i])
			btt_file_free(((struct depth_of *)d->devices.list[i])->file);
	by_device_release(&d->devices);
	free(d);
}

const struct btt_part btt_queue_depth = {
	.name = "queue depth",
	.wanted = depth_wanted,
	.new = depth_new,
	.event = depth_event,
	.finish = depth_finish,
	.free = depth_free,
};

/* ---- -u ---- */

#define BUCKETS 21u /* of 5 requests each; the last one: 100 and more */

struct unplugs_of {
	uint64_t buckets[BUCKETS];
};

struct unplugs {
	struct btt *b;
	struct by_device devices; /* struct unplugs_of */
};

static bool unplugs_wanted(const struct btt_options *o)
{
	return o->unplugs != NULL;
}

static void *unplugs_new(struct btt *b)
{
	struct unplugs *u = mem_zalloc(sizeof(*u));

	*u = (struct unplugs){ .b = b, .devices = { .size = sizeof(struct unplugs_of) } };
	return u;
}

static void unplugs_event(void *self, struct btt_device *dev, const struct event *ev)
{
	struct unplugs *u = self;
	struct unplugs_of *of;
	uint64_t bucket;

	if (!dev)
		return;
	of = by_device(&u->devices, dev); /* also a device without any has a file */
	if (ev->action != ACT_UNPLUG)
		return;
	bucket = ev->aux_sector / 5;
	of->buckets[bucket < BUCKETS ? bucket : BUCKETS - 1]++;
}

static void unplugs_finish(void *self)
{
	struct unplugs *u = self;

	for (size_t i = 0; i < u->devices.nr; i++) {
		const struct unplugs_of *of = u->devices.list[i];
		struct btt_file *file;

		if (!of)
			continue;
		file = btt_file_new(u->b, false, "%s_%s.dat", u->b->o->unplugs,
				    u->b->devices[i]->label);
		for (unsigned int k = 0; k < BUCKETS; k++)
			btt_file_printf(file, "%u %" PRIu64 "\n", k, of->buckets[k]);
		btt_file_free(file);
	}
}

static void unplugs_free(void *self)
{
	struct unplugs *u = self;

	by_device_release(&u->devices);
	free(u);
}

const struct btt_part btt_unplugs = {
	.name = "unplugs",
	.wanted = unplugs_wanted,
	.new = unplugs_new,
	.event = unplugs_event,
	.finish = unplugs_finish,
	.free = unplugs_free,
};
