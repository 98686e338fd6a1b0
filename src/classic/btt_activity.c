/* SPDX-License-Identifier: MIT
 *
 * DEV_live.dat and sys_live.dat (-Z): when I/O was at the device, as steps to be plotted; the system is
 * at height 0, devices are above it.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "classic/btt_parts.h"
#include "classic/btt_tables.h"

struct activity {
	struct btt *b;
	struct btt_live sys;
	struct by_device devices; /* struct btt_live */
};

static bool activity_wanted(const struct btt_options *o)
{
	return o->activity;
}

static void *activity_new(struct btt *b)
{
	struct activity *a = mem_zalloc(sizeof(*a));

	*a = (struct activity){ .b = b, .devices = { .size = sizeof(struct btt_live) } };
	return a;
}

static void activity_ended(void *self, struct btt_device *dev, const struct io_bio *bio,
			   const struct event *ev)
{
	struct activity *a = self;
	uint64_t from_ns = btt_ns(a->b, bio->last_issue_ns), to_ns = btt_ns(a->b, bio->data_ns);

	if (from_ns == TIME_NONE || to_ns == TIME_NONE || bio->left_out)
		return;
	btt_live_add(&a->sys, from_ns, to_ns);
	btt_live_add(by_device(&a->devices, dev), from_ns, to_ns);
}

static void put_point(struct btt_file *file, uint64_t ns, double y)
{
	btt_file_printf(file, "%.9f %.1f\n", btt_seconds(ns), y);
}

static void put_live(struct btt *b, const struct btt_live *live, const char *label, double y)
{
	struct btt_file *file = btt_file_new(b, false, "%s_live.dat", label);
	uint64_t last_ns = b->o->from_ns; /* before that nobody looked */

	for (size_t i = 0; i < live->nr; i++) {
		const struct btt_span *span = &live->spans[i];

		put_point(file, last_ns, y);
		put_point(file, span->from_ns, y);
		put_point(file, span->from_ns, y + 0.9);
		put_point(file, span->to_ns, y + 0.9);
		put_point(file, span->to_ns, y);
		last_ns = span->to_ns;
	}
	btt_file_free(file);
}

static void activity_finish(void *self)
{
	struct activity *a = self;
	double y = 1;

	put_live(a->b, &a->sys, "sys", 0);
	for (size_t i = 0; i < a->devices.nr; i++) {
		const struct btt_device *dev = a->b->devices[i];

		if (a->devices.list[i] && dev->shown)
			put_live(a->b, a->devices.list[i], dev->label, y++);
	}
}

static void activity_free(void *self)
{
	struct activity *a = self;

	for (size_t i = 0; i < a->devices.nr; i++)
		if (a->devices.list[i])
			btt_live_release(a->devices.list[i]);
	btt_live_release(&a->sys);
	by_device_release(&a->devices);
	free(a);
}

const struct btt_part btt_activity = {
	.name = "activity",
	.wanted = activity_wanted,
	.new = activity_new,
	.ended = activity_ended,
	.finish = activity_finish,
	.free = activity_free,
};
