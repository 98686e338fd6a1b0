/* SPDX-License-Identifier: MIT
 *
 * Events and finished I/O on their way to the parts of btt: which count, and of which device.
 */
#include <stdlib.h>
#include <string.h>

#include "classic/btt_names.h"
#include "classic/btt_run.h"

struct requeued {
	struct hnode by_place;
	uint32_t device;
	uint8_t class;
};

void feed_init(struct btt_run *run)
{
	hash_init(&run->requeues.open);
	slab_init(&run->requeues.slab, sizeof(struct requeued));
}

void feed_release(struct btt_run *run)
{
	hash_release(&run->requeues.open);
	slab_release(&run->requeues.slab);
}

/* ---- devices ---- */

static bool is_shown(const struct btt_options *o, uint32_t device)
{
	for (size_t i = 0; i < o->nr_devices; i++)
		if (o->devices[i] == device)
			return true;
	return !o->nr_devices;
}

static char *label_of(const struct btt_run *run, uint32_t device)
{
	const char *name = btt_map_name(run->b.map, device);
	char *label;

	if (!name)
		return mem_printf("%u,%u", DEVICE_MAJOR(device), DEVICE_MINOR(device));
	label = mem_strdup(name);
	for (char *c = label; *c; c++)
		if (*c == '/') /* it becomes part of file names */
			*c = '_';
	return label;
}

/* NULL: it has not begun. */
static struct btt_device *device_find(struct btt_run *run, uint32_t number)
{
	struct btt *b = &run->b;

	if (run->last_device && run->last_device->number == number)
		return run->last_device;
	for (size_t i = 0; i < b->nr_devices; i++) {
		if (b->devices[i]->number == number) {
			run->last_device = b->devices[i];
			return b->devices[i];
		}
	}
	return NULL;
}

static struct btt_device *device_begin(struct btt_run *run, uint32_t number)
{
	struct btt *b = &run->b;
	struct btt_device *dev = mem_zalloc(sizeof(*dev));

	*dev = (struct btt_device){
		.number = number,
		.label = label_of(run, number),
		.shown = is_shown(b->o, number),
		.first_ns = b->now_ns,
		.last_ns = b->now_ns,
		.index = b->nr_devices,
	};
	if (!b->nr_devices)
		b->first_ns = b->now_ns;
	b->devices = mem_grow(b->devices, b->nr_devices, sizeof(struct btt_device *));
	b->devices[b->nr_devices++] = dev;
	return dev;
}

/* By the tracker's index; NULL: it has not begun. */
static struct btt_device *device_of(struct btt_run *run, uint16_t index)
{
	struct btt *b = &run->b;

	while (b->nr_by_track <= index) {
		b->by_track = mem_grow(b->by_track, b->nr_by_track, sizeof(struct btt_device *));
		b->by_track[b->nr_by_track++] = NULL;
	}
	if (!b->by_track[index])
		b->by_track[index] = device_find(run, b->sum->devices[index].device);
	return b->by_track[index];
}

/* ---- events ---- */

/* Does it move something, be it unknown how much? */
static bool has_bytes(uint32_t bytes, uint32_t flags)
{
	return bytes || (flags & EV_NO_BYTES);
}

/* Does the classic leave it out where it moves no bytes? */
static bool needs_bytes(const struct event *ev)
{
	switch ((enum action)ev->action) {
	case ACT_QUEUE:
	case ACT_GETRQ:
	case ACT_INSERT:
	case ACT_SLEEPRQ:
	case ACT_BACKMERGE:
	case ACT_FRONTMERGE:
	case ACT_ISSUE:
	case ACT_COMPLETE:
	case ACT_BIO_COMPLETE:
		return true;
	default:
		return false;
	}
}

static bool counts(const struct btt_run *run, const struct event *ev)
{
	if (ev->class == CLASS_PASSTHROUGH || (ev->action == ACT_REMAP && run->b.o->no_remaps))
		return false;
	return has_bytes(ev->bytes, ev->flags) || !needs_bytes(ev);
}

static uint64_t place_of(const struct event *ev)
{
	return ev->sector ^ (uint64_t)ev->device << 32;
}

/* Is this D that of a request which came back? (Between the two it keeps its place.) */
static bool is_again(struct btt_run *run, const struct event *ev)
{
	struct hnode *node = hash_find(&run->requeues.open, place_of(ev));

	for (; node; node = hash_next(node)) {
		struct requeued *r = container_of(node, struct requeued, by_place);

		if (r->device != ev->device || r->class != ev->class)
			continue;
		hash_del(&run->requeues.open, node);
		slab_put(&run->requeues.slab, r);
		return true;
	}
	return false;
}

static void came_back(struct btt_run *run, const struct event *ev)
{
	struct requeued *r;

	if (!has_bytes(ev->bytes, ev->flags))
		return;
	r = slab_get(&run->requeues.slab);
	*r = (struct requeued){ .device = ev->device, .class = ev->class };
	hash_add(&run->requeues.open, &r->by_place, place_of(ev));
}

static void tell_event(struct btt_run *run, struct btt_device *dev, const struct event *ev)
{
	for (size_t i = 0; i < run->nr_parts; i++)
		if (run->parts[i].part->event)
			run->parts[i].part->event(run->parts[i].self, dev, ev);
}

static void device_event(struct btt_run *run, const struct event *ev)
{
	struct btt *b = &run->b;
	struct btt_device *dev = device_find(run, ev->device);

	if (!counts(run, ev))
		return;
	if (!dev && (ev->action == ACT_QUEUE || ev->action == ACT_REMAP))
		dev = device_begin(run, ev->device);
	if (!dev)
		return;
	dev->last_ns = b->now_ns;
	b->last_ns = b->now_ns;
	b->again = ev->action == ACT_ISSUE && run->requeues.open.nr && is_again(run, ev);
	tell_event(run, dev, ev);
	if (ev->action == ACT_REQUEUE)
		came_back(run, ev);
}

/* What has no place among the devices. (A P or U without a device is of all of them.) */
static bool has_device(const struct event *ev)
{
	return ev->device && ev->action != ACT_MESSAGE;
}

/* Time begins at the first event; messages that blktrace flags with a cgroup are none to blkparse. */
static bool begins(const struct event *ev)
{
	return ev->action != ACT_MESSAGE || !(ev->flags & EV_CGROUP);
}

void feed_event(struct btt_run *run, const struct event *ev)
{
	struct sink *sink = tracker_sink(run->tracker);
	struct btt *b = &run->b;

	if (!run->begun && begins(ev)) {
		run->begun = true;
		b->shift_ns = run->shift && ev->time_ns != TIME_UNTOLD ? ev->time_ns : 0;
	}
	b->now_ns = ev->time_ns > b->shift_ns ? ev->time_ns - b->shift_ns : 0;
	if (b->now_ns < b->o->from_ns || b->now_ns > b->o->to_ns)
		return;
	run->ev = ev;
	if (has_device(ev))
		device_event(run, ev);
	else
		tell_event(run, device_find(run, ev->device), ev);
	/* A message is no I/O, and in a dump of blkparse its time may be one of another clock. */
	if (ev->action != ACT_MESSAGE)
		sink->ops->events(sink, ev, 1);
}

/* ---- I/O ---- */

static struct btt_device *device_of_bio(struct btt_run *run, const struct io_bio *bio)
{
	return has_bytes(bio->bytes, bio->flags) ? device_of(run, bio->dev) : NULL;
}

static void bio_remapped(void *arg, struct io_bio *bio, const struct event *remap)
{
	struct btt_run *run = arg;
	struct btt_device *dev = device_of_bio(run, bio);

	if (!dev || run->b.o->no_remaps)
		return;
	for (size_t i = 0; i < run->nr_parts; i++)
		if (run->parts[i].part->remapped)
			run->parts[i].part->remapped(run->parts[i].self, dev, bio, remap);
}

static void bio_issued(void *arg, struct io_bio *bio)
{
	struct btt_run *run = arg;
	struct btt_device *dev = device_of_bio(run, bio);

	for (size_t i = 0; dev && i < run->nr_parts; i++)
		if (run->parts[i].part->issued)
			run->parts[i].part->issued(run->parts[i].self, dev, bio, run->ev);
}

static void bio_lost(struct btt_run *run, struct btt_device *dev, const struct io_bio *bio)
{
	for (size_t i = 0; i < run->nr_parts; i++)
		if (run->parts[i].part->bio_lost)
			run->parts[i].part->bio_lost(run->parts[i].self, dev, bio);
}

static void bio_ended(void *arg, const struct io_bio *bio)
{
	struct btt_run *run = arg;
	struct btt_device *dev = device_of_bio(run, bio);

	if (dev && bio->lost) {
		bio_lost(run, dev, bio);
		return;
	}
	for (size_t i = 0; dev && i < run->nr_parts; i++)
		if (run->parts[i].part->ended)
			run->parts[i].part->ended(run->parts[i].self, dev, bio, run->ev);
}

static void request_ended(void *arg, const struct io *io)
{
	struct btt_run *run = arg;
	bool counted = has_bytes(io->bytes, io->flags) && io->class != CLASS_PASSTHROUGH;
	struct btt_device *dev = counted ? device_of(run, io->dev) : NULL;

	for (size_t i = 0; dev && i < run->nr_parts; i++) {
		const struct btt_part *part = run->parts[i].part;
		void (*tell)(void *self, struct btt_device *dev, const struct io *io) =
			io->lost ? part->request_lost : part->request;

		if (tell)
			tell(run->parts[i].self, dev, io);
	}
}

struct track_sink feed_sink(struct btt_run *run)
{
	return (struct track_sink){
		.bio = bio_ended,
		.bio_remapped = bio_remapped,
		.bio_issued = bio_issued,
		.request = request_ended,
		.arg = run,
	};
}

/* ---- the end ---- */

#define MD_MAJOR 9

/* Does it hand its I/O on to other devices? Where those are not in the trace, its name tells. */
static bool is_remapper(const struct facts *facts, const struct device_sum *sum)
{
	const char *name = facts_device_name(facts, sum->device);

	if (sum->have_requests)
		return false;
	return sum->mapped || DEVICE_MAJOR(sum->device) == MD_MAJOR ||
	       (name && !strncmp(name, "dm-", 3));
}

void feed_finish(struct btt_run *run)
{
	const struct summary *sum = run->b.sum;

	for (size_t i = 0; i < sum->nr_devices; i++) {
		struct btt_device *dev = device_find(run, sum->devices[i].device);

		if (dev)
			dev->remapper = is_remapper(run->b.facts, &sum->devices[i]);
	}
	for (size_t i = 0; i < run->nr_parts; i++)
		if (run->parts[i].part->finish)
			run->parts[i].part->finish(run->parts[i].self);
}
