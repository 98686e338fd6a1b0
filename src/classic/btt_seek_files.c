/* SPDX-License-Identifier: MIT
 *
 * BASE_DEV_q2q_{r,w,c}.dat and BASE_DEV_d2d_{r,w,c}.dat (-s): the way from each Q or D to the next; and how
 * many of them a second had (-m): BASE_DEV.dat of Qs, BASE_DEV_d2d.dat of Ds.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"
#include "classic/btt_parts.h"
#include "classic/btt_tables.h"

#define PERIOD_NS UINT64_C(1000000000)

/* Of the Qs or the Ds of a device. */
struct seek_kind {
	struct btt_seek seek;
	struct btt_file *read, *write, *both;
	struct btt_file *rate;
	uint64_t first_ns, last_ns, n; /* of the current period of -m */
};

struct seek_files_of {
	struct seek_kind q, d;
};

struct seek_files {
	struct btt *b;
	struct by_device devices; /* struct seek_files_of */
};

static bool seek_files_wanted(const struct btt_options *o)
{
	return o->seeks != NULL;
}

static void *seek_files_new(struct btt *b)
{
	struct seek_files *s = mem_zalloc(sizeof(*s));

	*s = (struct seek_files){ .b = b, .devices = { .size = sizeof(struct seek_files_of) } };
	return s;
}

static void open_kind(struct btt *b, struct seek_kind *kind, const char *label, bool queued)
{
	const char *what = queued ? "q2q" : "d2d";

	kind->read = btt_file_new(b, false, "%s_%s_%s_r.dat", b->o->seeks, label, what);
	kind->write = btt_file_new(b, false, "%s_%s_%s_w.dat", b->o->seeks, label, what);
	kind->both = btt_file_new(b, false, "%s_%s_%s_c.dat", b->o->seeks, label, what);
	if (b->o->seeks_per_second)
		kind->rate = btt_file_new(b, false, "%s_%s%s.dat", b->o->seeks_per_second, label,
					  queued ? "" : "_d2d");
}

/* A single one in a period, which is at least a second long, is told as one a second. */
static void put_rate(struct seek_kind *kind)
{
	uint64_t ns = kind->last_ns > kind->first_ns ? kind->last_ns - kind->first_ns : PERIOD_NS;

	btt_file_printf(kind->rate, "%15.9f %.2f\n", btt_seconds(kind->first_ns),
			(double)kind->n * 1e9 / (double)ns);
	kind->n = 0;
}

static void count_rate(struct seek_kind *kind, uint64_t now_ns)
{
	if (kind->n && now_ns >= kind->first_ns && now_ns - kind->first_ns >= PERIOD_NS)
		put_rate(kind);
	if (!kind->n++)
		kind->first_ns = now_ns;
	kind->last_ns = now_ns;
}

static void put_seek(struct btt_file *file, uint64_t now_ns, int64_t distance, char letter)
{
	btt_file_printf(file, "%15.9f %13" PRId64 " %c\n", btt_seconds(now_ns), distance, letter);
}

static struct seek_files_of *files_of(struct seek_files *s, const struct btt_device *dev)
{
	struct seek_files_of *of = by_device(&s->devices, dev);

	if (!of->q.both) {
		open_kind(s->b, &of->q, dev->label, true);
		open_kind(s->b, &of->d, dev->label, false);
	}
	return of;
}

static void seek_files_event(void *self, struct btt_device *dev, const struct event *ev)
{
	struct seek_files *s = self;
	uint64_t now_ns = s->b->now_ns, end = ev->sector + ev->bytes / SECTOR_SIZE;
	bool queued = ev->action == ACT_QUEUE, write = ev->flags & EV_WRITE;
	struct seek_files_of *of;
	struct seek_kind *kind;
	int64_t distance;

	if (!dev)
		return;
	of = files_of(s, dev);
	if ((!queued && ev->action != ACT_ISSUE) || s->b->again)
		return;
	kind = queued ? &of->q : &of->d;
	distance = btt_seek_distance(&kind->seek, ev->sector, end, s->b->o->seek_absolute);
	put_seek(write ? kind->write : kind->read, now_ns, distance, write ? 'w' : 'r');
	put_seek(kind->both, now_ns, distance, write ? 'w' : 'r');
	if (kind->rate)
		count_rate(kind, now_ns);
}

static void free_kind(struct seek_kind *kind)
{
	if (kind->rate && kind->n)
		put_rate(kind);
	btt_file_free(kind->rate);
	btt_file_free(kind->read);
	btt_file_free(kind->write);
	btt_file_free(kind->both);
}

static void seek_files_free(void *self)
{
	struct seek_files *s = self;

	for (size_t i = 0; i < s->devices.nr; i++) {
		struct seek_files_of *of = s->devices.list[i];

		if (!of)
			continue;
		free_kind(&of->q);
		free_kind(&of->d);
	}
	by_device_release(&s->devices);
	free(s);
}

const struct btt_part btt_seek_files = {
	.name = "seeks",
	.wanted = seek_files_wanted,
	.new = seek_files_new,
	.event = seek_files_event,
	.free = seek_files_free,
};
