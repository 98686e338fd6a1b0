/* SPDX-License-Identifier: MIT
 *
 * Bios: queued, found, split. A bio waits (in tracker.waiting, by device and sector) until a request
 * takes it. How it gets to its device is in remap.c, how it ends in bio_end.c.
 */
#include "track/tally.h"

#define RETRY_NS  UINT64_C(1000000000) /* a NOWAIT retry comes within this [7] */
#define MOST_BIOS (1u << 17)           /* in flight; 24 MiB of them */

/* Puts the fresh bio where all others wait. */
void bio_settle(struct tracker *t)
{
	struct bio *bio = t->fresh;

	t->fresh = NULL;
	if (bio)
		hash_add(&t->waiting, &bio->by_start, start_key(t->devices[bio->dev], bio->sector));
}

struct bio *bio_find(struct tracker *t, const struct device *d, const struct event *ev)
{
	struct bio *best = t->fresh;
	struct hnode *node;
	int most = 0;

	if (best && best->dev == d->index && best->sector == ev->sector &&
	    best->class == ev->class && best->bytes == ev->bytes && best->io.pid == ev->pid &&
	    device_sum(t, d)->have_requests) /* so there is no older one like it: forget_same() */
		return best;
	bio_settle(t);
	best = NULL;
	node = hash_find(&t->waiting, start_key(d, ev->sector));
	for (; node; node = hash_next(node)) {
		struct bio *bio = container_of(node, struct bio, by_start);
		int fits;

		if (bio->dev != d->index || bio->sector != ev->sector || bio->class != ev->class)
			continue;
		fits = 1 + (bio->bytes == ev->bytes) * (1 + (bio->io.pid == ev->pid));
		if (fits == 3)
			return bio;
		if (fits > most) {
			best = bio;
			most = fits;
		}
	}
	return best;
}

struct bio *bio_find_at(struct tracker *t, const struct device *d, uint64_t sector, uint8_t class)
{
	struct event at = { .sector = sector, .class = class };

	return bio_find(t, d, &at);
}

void bio_start_waiting(struct tracker *t, struct bio *bio)
{
	bio_settle(t);
	bio->waiting = true;
	t->fresh = bio;
}

void bio_stop_waiting(struct tracker *t, struct bio *bio)
{
	if (bio == t->fresh)
		t->fresh = NULL;
	else if (bio->waiting)
		hash_del(&t->waiting, &bio->by_start);
	bio->waiting = false;
}

/* A trace whose bios never end (no completions were recorded) would fill the memory: the oldest goes. */
static void make_room(struct tracker *t)
{
	struct bio *oldest;

	if (t->nr_bios < MOST_BIOS || list_empty(&t->all.open))
		return;
	wait_touch(t);
	oldest = container_of(t->all.open.next, struct bio, all);
	bio_age_out(t, oldest);
	if (oldest->rq) {
		rq_lose(t, t->devices[oldest->dev], oldest->rq);
	} else if (oldest->waiting && !oldest->split) {
		open_forgotten(t, oldest);
		bio_stop_waiting(t, oldest);
		bio_untie(oldest);
		slab_put(&t->bios, oldest);
		t->nr_bios--;
	}
}

struct bio *bio_new(struct tracker *t, struct device *d, const struct event *ev)
{
	struct bio *bio;

	make_room(t);
	t->nr_bios++;
	bio = slab_get(&t->bios);
	*bio = (struct bio){
		.origin = bio,
		.process = process_get(t, ev->pid),
		.io = { .remap_ns = TIME_NONE,
			.queue_ns = ev->time_ns,
			.get_ns = TIME_NONE,
			.merge_ns = TIME_NONE,
			.sleep_ns = TIME_NONE,
			.insert_ns = TIME_NONE,
			.issue_ns = TIME_NONE,
			.last_issue_ns = TIME_NONE,
			.data_ns = TIME_NONE,
			.sector = ev->sector,
			.bytes = known_bytes(ev),
			.pid = ev->pid,
			.dev = d->index,
			.cpu = ev->cpu,
			.class = ev->class,
			.flags = ev->flags },
		.sector = ev->sector,
		.bytes = ev->bytes,
		.bytes_left = ev->bytes,
		.dev = d->index,
		.class = ev->class,
		.leads = true,
	};
	wait_add(t, bio);
	timeline_open(t, d, 1);
	return bio;
}

/* ---- Q ---- */

/* Somebody else writes: the kernel's threads may work for that as well. */
static bool is_foreign_write(struct tracker *t, const struct event *ev)
{
	return (ev->class == CLASS_WRITE || ev->class == CLASS_FLUSH) &&
	       process_get(t, ev->pid)->foreign;
}

/* A process is charged at the topmost level only [12]. */
static void count_queue(struct tracker *t, struct device_sum *sum, const struct event *ev,
			bool below)
{
	struct process *queued_by = process_get(t, ev->pid);
	struct process_sum *process = &queued_by->sum;

	process->last_ns = ev->time_ns;
	if (!t->counting)
		return;
	if (is_foreign_write(t, ev))
		t->sum->wait.foreign_write_bios++;
	tally_bio(t, below ? NULL : queued_by, ev);
	if (ev->flags & EV_NO_BYTES)
		sum->bytes_unknown++;
	if (below)
		return;
	process->bios++;
	if (ev->flags & EV_NO_BYTES)
		process->bytes_unknown++;
	if (ev->class == CLASS_READ)
		process->read_bytes += known_bytes(ev);
	else if (ev->class == CLASS_WRITE)
		process->write_bytes += known_bytes(ev);
	else if (ev->class == CLASS_FLUSH)
		process->flushes++;
	else if (ev->class == CLASS_DISCARD)
		process->discards++;
}

/* The bio that this Q brings again after a NOWAIT attempt, or NULL [7]. */
static struct bio *take_retry(struct tracker *t, struct device *d, const struct event *ev)
{
	struct hnode *node;

	if (!t->retries.nr)
		return NULL;
	for (node = hash_find(&t->retries, start_key(d, ev->sector)); node;
	     node = hash_next(node)) {
		struct bio *bio = container_of(node, struct bio, by_start);

		if (bio->dev == d->index && bio->class == ev->class && bio->bytes == ev->bytes &&
		    elapsed(bio->io.complete_ns, ev->time_ns) <= RETRY_NS) {
			hash_del(&t->retries, node);
			return bio;
		}
	}
	return NULL;
}

void bio_age_out(struct tracker *t, struct bio *bio)
{
	struct device *d = t->devices[bio->dev];

	wait_del(bio);
	if (bio->aged_out)
		return;
	bio->aged_out = true;
	t->loss_hint = true;
	device_sum(t, d)->aged_out++;
	d->nr_aged++;
	timeline_open(t, d, -1);
}

void bio_taken_back(struct tracker *t, struct bio *bio)
{
	struct device *d = t->devices[bio->dev];

	bio->aged_out = false;
	device_sum(t, d)->aged_out--;
	d->nr_aged--;
	timeline_open(t, d, 1);
}

/* A thread submits one bio after the other, so one that waits at the same place with the same length
 * when the thread queues this has lost its G. It must not be taken for the new one. */
static void forget_same(struct tracker *t, struct device *d, const struct event *ev)
{
	struct bio *bio = bio_find(t, d, ev);

	if (!bio || bio->bytes != ev->bytes || bio->io.pid != ev->pid || bio->origin != bio ||
	    bio->split || bio->mapped || !device_sum(t, d)->have_requests)
		return;
	if (ev->flags & EV_ZONE_APPEND)
		return; /* all of a zone are queued at its start */
	wait_touch(t);
	bio_age_out(t, bio);
	bio_stop_waiting(t, bio);
	open_forgotten(t, bio);
}

void bio_queue(struct tracker *t, struct device *d, const struct event *ev)
{
	struct device_sum *sum = device_sum(t, d);
	struct bio *bio = take_retry(t, d, ev);
	uint64_t remap_ns;
	bool below = false;

	if (t->sum->first_queue_ns == TIME_NONE) {
		t->sum->first_queue_ns = ev->time_ns;
		window_begin(t, ev->time_ns);
	}
	if (bio) {
		bio_start_waiting(t, bio);
		return;
	}
	d->queued = true;
	remap_ns = bio_remapped_at(t, ev, &below);
	count_queue(t, sum, ev, below);
	if (!ev->bytes && ev->class != CLASS_FLUSH)
		return; /* moves nothing (a zone command): nothing below would ever end it */
	forget_same(t, d, ev);
	bio = bio_new(t, d, ev);
	bio->io.remap_ns = remap_ns;
	bio->below = below;
	if (bio->class == CLASS_FLUSH && bio->bytes == 0) {
		if (t->counting)
			sum->empty_flush_bios++;
		flush_bio_add(t, d, bio);
		return;
	}
	bio_start_waiting(t, bio);
}

void bio_sleeps(struct tracker *t, struct device *d, const struct event *ev)
{
	struct bio *bio = bio_find(t, d, ev);

	if (bio && bio->origin->io.sleep_ns == TIME_NONE)
		bio->origin->io.sleep_ns = ev->time_ns;
}

/* ---- X: the front becomes a piece, the rest waits at its new start [3] ---- */

struct bio *bio_cut(struct tracker *t, struct bio *rest, uint32_t bytes)
{
	struct bio *front = slab_get(&t->bios);

	bio_untie(rest);
	*front = *rest;
	front->bytes = bytes;
	front->origin = rest->origin;
	list_init(&front->all);
	list_init(&front->own);
	rest->origin->split = true;
	bio_stop_waiting(t, rest);
	bio_start_waiting(t, front);
	rest->sector += bytes / SECTOR_SIZE;
	rest->bytes -= bytes;
	rest->leads = false;
	bio_start_waiting(t, rest);
	return front;
}

/* What a thread splits or sends on: of several that wait there its own, that has not gone on yet. */
struct bio *bio_find_here(struct tracker *t, const struct device *d, const struct event *ev)
{
	struct bio *best = NULL;
	struct hnode *node;
	int most = 0;

	bio_settle(t);
	for (node = hash_find(&t->waiting, start_key(d, ev->sector)); node;
	     node = hash_next(node)) {
		struct bio *bio = container_of(node, struct bio, by_start);
		int fits = 1 + (bio->io.pid == ev->pid) + 2 * !bio->sent +
			   4 * (bio->bytes >= ev->bytes);

		if (bio->dev != d->index || bio->sector != ev->sector || bio->class != ev->class ||
		    fits <= most)
			continue;
		best = bio;
		most = fits;
	}
	return best;
}

void bio_split(struct tracker *t, struct device *d, const struct event *ev)
{
	struct event longer = *ev;
	struct bio *rest;
	uint64_t sectors;

	if (ev->aux_sector <= ev->sector)
		return;
	longer.bytes += SECTOR_SIZE;
	rest = bio_find_here(t, d, &longer);
	if (!rest)
		return;
	sectors = ev->aux_sector - ev->sector;
	if (sectors < rest->bytes / SECTOR_SIZE)
		bio_cut(t, rest, (uint32_t)(sectors * SECTOR_SIZE));
}
