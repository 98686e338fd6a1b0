/* SPDX-License-Identifier: MIT
 *
 * DEV_iops_fp.dat, DEV_mbps_fp.dat and those of the whole system: completions by the second. Always written.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"
#include "classic/btt_parts.h"
#include "classic/btt_tables.h"

struct second {
	struct btt_file *iops, *mbps;
	uint64_t at, nr, bytes; /* of the current one; nr 0: none yet */
};

struct bandwidth {
	struct btt *b;
	struct second sys;
	struct by_device devices; /* struct second */
};

static void open_second(struct btt *b, struct second *s, const char *label)
{
	s->iops = btt_file_new(b, true, "%s_iops_fp.dat", label);
	s->mbps = btt_file_new(b, true, "%s_mbps_fp.dat", label);
}

static void *bandwidth_new(struct btt *b)
{
	struct bandwidth *w = mem_zalloc(sizeof(*w));

	*w = (struct bandwidth){ .b = b, .devices = { .size = sizeof(struct second) } };
	open_second(b, &w->sys, "sys");
	return w;
}

static void put_second(struct second *s)
{
	if (!s->nr)
		return;
	btt_file_printf(s->iops, "%" PRIu64 " %" PRIu64 "\n", s->at, s->nr);
	btt_file_printf(s->mbps, "%" PRIu64 " %.6f\n", s->at, (double)s->bytes / (1 << 20));
}

static void count(struct second *s, uint64_t at, uint64_t bytes)
{
	if (s->at != at) {
		put_second(s);
		s->at = at;
		s->nr = s->bytes = 0;
	}
	s->nr++;
	s->bytes += bytes;
}

/* The device has files from its first event on, also without a completion. */
static struct second *second_of(struct bandwidth *w, const struct btt_device *dev)
{
	struct second *s = by_device(&w->devices, dev);

	if (!s->iops)
		open_second(w->b, s, dev->label);
	return s;
}

/* Discards and the like name sectors, and move none. */
static bool moves(uint8_t class)
{
	return class != CLASS_DISCARD && class != CLASS_WRITE_ZEROES && class != CLASS_ZONE;
}

static void bandwidth_event(void *self, struct btt_device *dev, const struct event *ev)
{
	struct bandwidth *w = self;
	uint64_t at = w->b->now_ns / 1000000000, bytes;
	struct second *s;

	if (!dev)
		return;
	s = second_of(w, dev);
	if (ev->action != ACT_COMPLETE && ev->action != ACT_BIO_COMPLETE)
		return;
	bytes = moves(ev->class) ? ev->bytes : 0;
	count(s, at, bytes);
	count(&w->sys, at, bytes);
}

static void end_second(struct second *s)
{
	if (s->nr) {
		put_second(s);
		return;
	}
	btt_file_printf(s->iops, "-1 0\n");
	btt_file_printf(s->mbps, "-1 %.6f\n", 0.0);
}

static void bandwidth_finish(void *self)
{
	struct bandwidth *w = self;

	for (size_t i = 0; i < w->devices.nr; i++)
		if (w->devices.list[i])
			end_second(w->devices.list[i]);
	end_second(&w->sys);
}

static void free_second(struct second *s)
{
	btt_file_free(s->iops);
	btt_file_free(s->mbps);
}

static void bandwidth_free(void *self)
{
	struct bandwidth *w = self;

	for (size_t i = 0; i < w->devices.nr; i++)
		if (w->devices.list[i])
			free_second(w->devices.list[i]);
	free_second(&w->sys);
	by_device_release(&w->devices);
	free(w);
}

const struct btt_part btt_bandwidth = {
	.name = "bandwidth",
	.new = bandwidth_new,
	.event = bandwidth_event,
	.finish = bandwidth_finish,
	.free = bandwidth_free,
};
