/* SPDX-License-Identifier: MIT
 *
 * A: a bio goes on to another device, or from a partition to its disk [9]. A remap is remembered by
 * CPU until the Q (or G) that follows it there.
 */
#include "track/tally.h"

#define MOST_LOOKED_AT 4096u /* of completions that may well be of something else */

static struct remap *remap_slot(struct tracker *t, const struct event *ev)
{
	return &t->remaps[ev->cpu % REMAP_SLOTS];
}

static void add_parent(struct device_sum *sum, uint32_t from)
{
	for (int i = 0; i < sum->nr_parents; i++)
		if (sum->parents[i] == from)
			return;
	if (sum->nr_parents < sizeof(sum->parents) / sizeof(*sum->parents))
		sum->parents[sum->nr_parents++] = from;
}

/* The waiting bio that contains this sector. Linear in what waits: only for bio-based devices that map or
 * complete in pieces out of order. */
static struct bio *find_containing(struct tracker *t, const struct device *d,
				   const struct event *ev)
{
	uint32_t left = ev->flags & EV_UNTOLD_KIND ? MOST_LOOKED_AT : UINT32_MAX;
	struct hash_walk walk = { 0 };
	struct hnode *node;

	bio_settle(t);
	while (left-- && (node = hash_walk(&t->waiting, &walk)) != NULL) {
		struct bio *bio = container_of(node, struct bio, by_start);

		if (bio->dev == d->index && bio->class == ev->class && bio->sector < ev->sector &&
		    ev->sector < bio->sector + bio->bytes / SECTOR_SIZE)
			return bio;
	}
	return NULL;
}

struct bio *bio_cut_free(struct tracker *t, struct device *d, const struct event *ev, bool ends)
{
	struct bio *bio = ends ? bio_find(t, d, ev) : bio_find_here(t, d, ev);

	if (!bio) {
		bio = find_containing(t, d, ev);
		if (!bio)
			return NULL;
		bio_cut(t, bio, (uint32_t)((ev->sector - bio->sector) * SECTOR_SIZE));
	}
	if (ev->bytes && ev->bytes < bio->bytes)
		bio = bio_cut(t, bio, ev->bytes);
	return bio;
}

/* The I/O of a bio of a recorded upper device goes on below: cut the mapped part off as a piece of
 * its own, since that is what will complete, and let the waiter look at the level below. */
static bool map_down(struct tracker *t, const struct event *ev)
{
	struct device *upper = device_known(t, ev->aux_device);
	struct event from = { .sector = ev->aux_sector,
			      .bytes = ev->bytes,
			      .pid = ev->pid,
			      .class = ev->class };
	struct bio *bio;

	/* A device that only remaps lead through (a partition) is no level of its own. */
	if (!upper || !upper->queued || upper->number == ev->device)
		return false;
	bio = bio_cut_free(t, upper, &from, false);
	if (!bio && ev->class == CLASS_WRITE) /* flags get lost on the way down [6] */
		bio = bio_find_at(t, upper, ev->aux_sector, CLASS_FLUSH);
	if (!bio)
		return true;
	device_sum(t, upper)->mapped = true;
	bio->origin->mapped = true;
	bio->sent = true;
	if (t->options.out.bio_remapped)
		t->options.out.bio_remapped(t->options.out.arg, &bio->origin->io, ev);
	wait_del(bio->origin);
	return true;
}

void bio_remap(struct tracker *t, struct device *d, const struct event *ev)
{
	struct remap *r = remap_slot(t, ev);

	/* A chain keeps the time of its first A, and where it came from. Its targets are told by their disk where they are
	 * partitions, its sources by themselves: then the disk is the same twice. */
	if (!r->used || r->sector != ev->aux_sector ||
	    (r->device != ev->aux_device && r->device != ev->device))
		*r = (struct remap){ .time_ns = ev->time_ns, .used = true };
	r->sector = ev->sector;
	r->device = ev->device;
	add_parent(device_sum(t, d), ev->aux_device);
	if (!map_down(t, ev))
		return;
	r->below = true;
	r->from = device_known(t, ev->aux_device)->index;
	r->from_sector = ev->aux_sector;
	r->bytes = ev->bytes;
}

uint64_t bio_remapped_at(struct tracker *t, const struct event *ev, bool *below)
{
	struct remap *r = remap_slot(t, ev);

	if (!r->used || r->device != ev->device || r->sector != ev->sector)
		return TIME_NONE;
	r->used = false;
	*below = r->below;
	if (r->below && ev->action == ACT_QUEUE)
		t->devices[r->from]->tells_ends = true;
	return r->time_ns;
}

void bio_untie(struct bio *bio)
{
	if (bio->above)
		bio->above->under = NULL;
	if (bio->under)
		bio->under->above = NULL;
	bio->above = bio->under = NULL;
}

/* The same bio goes on in place: nothing else will tell of its end above. */
static void tie(struct tracker *t, struct bio *bio, const struct remap *r)
{
	struct event from = { .sector = r->from_sector,
			      .bytes = r->bytes,
			      .pid = bio->io.pid,
			      .class = bio->class };
	struct bio *above = NULL;
	struct hnode *node;

	bio_settle(t);
	node = hash_find(&t->waiting, start_key(t->devices[r->from], from.sector));
	for (; node; node = hash_next(node)) {
		above = container_of(node, struct bio, by_start);
		if (above->dev == r->from && above->sector == from.sector && above->sent &&
		    !above->under && above->bytes == r->bytes && above->io.pid == from.pid &&
		    above->class == from.class)
			break;
	}
	if (!node)
		return;
	above->under = bio;
	bio->above = above;
}

void bio_end_above(struct tracker *t, struct bio *bio)
{
	struct bio *above = bio->above;
	struct cpu_sum *cpu = t->cpu;
	struct device *d;
	uint32_t bytes;

	if (!above)
		return;
	d = t->devices[above->dev];
	t->cpu = cpu_at(t, d, cpu->cpu);
	above->origin->io.left_out |= bio->io.left_out;
	above->origin->io.lost |= bio->io.lost;
	bytes = bio_front_done(t, d, above, above->bytes, bio->io.error);
	if (t->counting && !bio->io.lost)
		tally_moved(t, NULL, bio->class, bytes);
	t->cpu = cpu;
}

struct bio *bio_remapped_in(struct tracker *t, struct device *d, const struct event *ev)
{
	struct event queue = *ev;
	bool below = false;
	uint64_t since_ns = bio_remapped_at(t, ev, &below);
	const struct remap *r = remap_slot(t, ev);
	struct bio *bio;

	if (since_ns == TIME_NONE)
		return NULL;
	queue.time_ns = since_ns;
	bio = bio_new(t, d, &queue);
	bio->io.remap_ns = since_ns;
	bio->unqueued = true;
	bio->below = below;
	if (below && !t->devices[r->from]->tells_ends)
		tie(t, bio, r);
	window_begin(t, t->now_ns);
	if (t->counting)
		device_sum(t, d)->remapped_in++;
	return bio;
}
