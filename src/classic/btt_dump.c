/* SPDX-License-Identifier: MIT
 *
 * Every bio by itself: all its moments (-p FILE), and DEV_pit.dat (-P): what each D and C were for.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/mem.h"
#include "classic/btt_parts.h"
#include "classic/btt_tables.h"

/* An event that ends bios: its address is used again, but not at one time. */
struct ending {
	const struct event *ev; /* NULL: none */
	uint64_t time_ns;
};

static struct ending ending_of(const struct event *ev)
{
	return (struct ending){ .ev = ev, .time_ns = ev->time_ns };
}

static bool is_ending(const struct ending *e, const struct event *ev)
{
	return e->ev == ev && e->time_ns == ev->time_ns;
}

/* ---- -p ---- */

struct range {
	uint64_t sector;
	uint32_t bytes;
};

/* A G or an I, until a bio is issued that it was for, or its request ends. */
struct moment {
	struct hnode by_time;
	struct range range;
	uint32_t device;
	uint8_t action;
};

/* The ranges of the requests that a bio went through, from its D to its end. */
struct passed {
	struct hnode by_bio; /* by the address of the bio */
	struct range get, insert, issue;
};

struct per_io {
	struct btt *b;
	struct btt_file *file;
	struct hash moments, passed;
	struct slab moment_slab, passed_slab;
	struct ending group; /* the C whose bios are being written */
};

static bool per_io_wanted(const struct btt_options *o)
{
	return o->per_io != NULL;
}

static void *per_io_new(struct btt *b)
{
	struct per_io *p = mem_zalloc(sizeof(*p));

	p->b = b;
	p->file = btt_file_new(b, false, "%s", b->o->per_io);
	hash_init(&p->moments);
	hash_init(&p->passed);
	slab_init(&p->moment_slab, sizeof(struct moment));
	slab_init(&p->passed_slab, sizeof(struct passed));
	return p;
}

static void end_group(struct per_io *p)
{
	if (p->group.ev)
		btt_file_printf(p->file, "-----------------------------------------\n");
	p->group = (struct ending){ 0 };
}

static void per_io_free(void *self)
{
	struct per_io *p = self;

	end_group(p);
	btt_file_free(p->file);
	hash_release(&p->moments);
	hash_release(&p->passed);
	slab_release(&p->moment_slab);
	slab_release(&p->passed_slab);
	free(p);
}

static struct range range_of(const struct event *ev)
{
	return (struct range){ .sector = ev->sector, .bytes = ev->bytes };
}

static struct range range_of_bio(const struct io_bio *bio)
{
	return (struct range){ .sector = bio->sector, .bytes = bio->bytes };
}

static void per_io_event(void *self, struct btt_device *dev, const struct event *ev)
{
	struct per_io *p = self;
	struct moment *moment;

	if (ev->action != ACT_GETRQ && ev->action != ACT_INSERT)
		return;
	moment = slab_get(&p->moment_slab);
	*moment = (struct moment){ .range = range_of(ev),
				   .device = ev->device,
				   .action = ev->action };
	hash_add(&p->moments, &moment->by_time, p->b->now_ns);
}

/* The G or I of that time which is for (a part of) this range, and is not kept any longer; where there is none,
 * the range itself. ns: the tracker's. */
static struct range take_moment(struct per_io *p, const struct btt_device *dev, enum action action,
				uint64_t ns, struct range of)
{
	struct hnode *node = ns == TIME_NONE ? NULL : hash_find(&p->moments, btt_ns(p->b, ns));

	for (; node; node = hash_next(node)) {
		struct moment *m = container_of(node, struct moment, by_time);
		uint64_t end = m->range.sector + m->range.bytes / SECTOR_SIZE;

		if (m->device != dev->number || m->action != action || end <= of.sector ||
		    m->range.sector >= of.sector + of.bytes / SECTOR_SIZE)
			continue;
		of = m->range;
		hash_del(&p->moments, node);
		slab_put(&p->moment_slab, m);
		break;
	}
	return of;
}

static struct passed *find_passed(struct per_io *p, const struct io_bio *bio)
{
	struct hnode *node = hash_find(&p->passed, (uintptr_t)bio);

	return node ? container_of(node, struct passed, by_bio) : NULL;
}

static void per_io_issued(void *self, struct btt_device *dev, struct io_bio *bio,
			  const struct event *ev)
{
	struct range own = range_of_bio(bio);
	struct per_io *p = self;
	struct passed *passed = slab_get(&p->passed_slab);

	*passed = (struct passed){
		.get = take_moment(p, dev, ACT_GETRQ, bio->get_ns, own),
		.insert = take_moment(p, dev, ACT_INSERT, bio->insert_ns, own),
		.issue = range_of(ev),
	};
	hash_add(&p->passed, &passed->by_bio, (uintptr_t)bio);
}

static void forget_passed(struct per_io *p, const struct io_bio *bio)
{
	struct passed *passed = find_passed(p, bio);

	if (!passed)
		return;
	hash_del(&p->passed, &passed->by_bio);
	slab_put(&p->passed_slab, passed);
}

static void per_io_bio_lost(void *self, struct btt_device *dev, const struct io_bio *bio)
{
	forget_passed(self, bio);
}

/* What was for another than the first piece of a bio. */
static void per_io_request(void *self, struct btt_device *dev, const struct io *io)
{
	struct range of = { .sector = io->sector, .bytes = io->bytes };

	take_moment(self, dev, ACT_GETRQ, io->get_ns, of);
	take_moment(self, dev, ACT_INSERT, io->insert_ns, of);
}

/* *label: of a bio's first line; later ones have none. */
static void put_moment(struct per_io *p, const char **label, uint64_t ns, char letter,
		       struct range range)
{
	if (ns == TIME_NONE)
		return;
	ns = btt_ns(p->b, ns);
	btt_file_printf(p->file, "%9s%5" PRIu64 ".%09" PRIu64 " %c %10" PRIu64 "+%-4u\n", *label,
			ns / 1000000000, ns % 1000000000, letter, range.sector,
			range.bytes / SECTOR_SIZE);
	*label = "";
}

static void per_io_ended(void *self, struct btt_device *dev, const struct io_bio *bio,
			 const struct event *ev)
{
	struct range own = range_of_bio(bio);
	struct per_io *p = self;
	const struct passed *passed = find_passed(p, bio);
	bool own_end = ev->device == dev->number && ev->bytes;
	char text[24];
	const char *label = text;

	if (!is_ending(&p->group, ev))
		end_group(p);
	p->group = ending_of(ev);
	snprintf(text, sizeof(text), "%3u,%-3u: ", DEVICE_MAJOR(dev->number),
		 DEVICE_MINOR(dev->number));
	put_moment(p, &label, bio->queue_ns, 'Q', own);
	put_moment(p, &label, bio->get_ns, 'G', passed ? passed->get : own);
	put_moment(p, &label, bio->insert_ns, 'I', passed ? passed->insert : own);
	put_moment(p, &label, bio->merge_ns, 'M', own);
	if (passed)
		put_moment(p, &label, bio->last_issue_ns, 'D', passed->issue);
	/* Where the end is not its data's, but that of a flush or of a piece below, no range is told. */
	put_moment(p, &label, bio->complete_ns, 'C', own_end ? range_of(ev) : own);
	btt_file_printf(p->file, "\n");
	forget_passed(p, bio);
}

const struct btt_part btt_per_io = {
	.name = "per I/O",
	.wanted = per_io_wanted,
	.new = per_io_new,
	.event = per_io_event,
	.issued = per_io_issued,
	.ended = per_io_ended,
	.bio_lost = per_io_bio_lost,
	.request = per_io_request,
	.request_lost = per_io_request,
	.free = per_io_free,
};

/* ---- -P ---- */

struct trees {
	struct btt *b;
	struct by_device devices; /* struct btt_file * */
	/* The line whose bios are being written: of one C, on one device. */
	struct btt_file *file; /* NULL: none */
	struct ending line;
	uint64_t issue_ns, complete_ns; /* the parts' */
};

static bool trees_wanted(const struct btt_options *o)
{
	return o->per_io_trees;
}

static void *trees_new(struct btt *b)
{
	struct trees *t = mem_zalloc(sizeof(*t));

	*t = (struct trees){ .b = b, .devices = { .size = sizeof(struct btt_file *) } };
	return t;
}

static struct btt_file *tree_of(struct trees *t, const struct btt_device *dev)
{
	struct btt_file **file = by_device(&t->devices, dev);

	if (!*file)
		*file = btt_file_new(t->b, false, "%s_pit.dat", dev->label);
	return *file;
}

static void trees_event(void *self, struct btt_device *dev, const struct event *ev)
{
	if (dev)
		tree_of(self, dev);
}

static void end_line(struct trees *t)
{
	if (!t->file)
		return;
	btt_file_printf(t->file, "| ");
	if (t->issue_ns != TIME_NONE) /* a bio-based device issues nothing */
		btt_file_printf(t->file, "%.9f", btt_seconds(t->issue_ns));
	btt_file_printf(t->file, " | %.9f\n", btt_seconds(t->complete_ns));
	t->file = NULL;
}

static void trees_ended(void *self, struct btt_device *dev, const struct io_bio *bio,
			const struct event *ev)
{
	struct trees *t = self;
	struct btt_file *file = tree_of(t, dev);

	if (t->file != file || !is_ending(&t->line, ev))
		end_line(t);
	t->file = file;
	t->line = ending_of(ev);
	t->issue_ns = btt_ns(t->b, bio->last_issue_ns);
	t->complete_ns = btt_ns(t->b, bio->complete_ns);
	btt_file_printf(file, "%.9f ", btt_seconds(btt_ns(t->b, bio->queue_ns)));
}

static void trees_free(void *self)
{
	struct trees *t = self;

	end_line(t);
	for (size_t i = 0; i < t->devices.nr; i++)
		if (t->devices.list[i])
			btt_file_free(*(struct btt_file **)t->devices.list[i]);
	by_device_release(&t->devices);
	free(t);
}

const struct btt_part btt_trees = {
	.name = "trees",
	.wanted = trees_wanted,
	.new = trees_new,
	.event = trees_event,
	.ended = trees_ended,
	.free = trees_free,
};
