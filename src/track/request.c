/* SPDX-License-Identifier: MIT
 *
 * Requests: how they are found, made of bios and merged.
 */
#include "track/tally.h"

bool rq_fits(const struct rq *rq, const struct device *d, const struct event *ev, bool issued)
{
	return rq->io.dev == d->index && rq->sector == ev->sector && rq->io.class == ev->class &&
	       rq->issued == issued && !rq->data_done;
}

struct rq *rq_find(struct tracker *t, const struct device *d, const struct event *ev, bool issued,
		   int *equals)
{
	struct hnode *node = hash_find(&t->requests, start_key(d, ev->sector));
	struct rq *found = NULL;
	bool exact = false;

	*equals = 0;
	for (; node; node = hash_next(node)) {
		struct rq *rq = container_of(node, struct rq, by_start);

		if (!rq_fits(rq, d, ev, issued) || (exact && rq->bytes_left != ev->bytes))
			continue;
		if (!exact && rq->bytes_left == ev->bytes) {
			exact = true;
			*equals = 0;
			found = NULL;
		}
		(*equals)++;
		if (!found)
			found = rq;
	}
	return found;
}

/* Which of these it is cannot be told: they are equal, or what completes is all of one or a part of the
 * other. */
static bool is_alternative(const struct rq *rq, const struct rq *found, const struct event *ev)
{
	return found->bytes_left != ev->bytes || rq->bytes_left == ev->bytes ||
	       (ev->action == ACT_COMPLETE && rq->bytes_left > ev->bytes);
}

struct rq *rq_join(struct tracker *t, const struct device *d, const struct event *ev, bool issued)
{
	int equals, alternatives = 0;
	struct rq *found = rq_find(t, d, ev, issued, &equals), *best = found;
	struct hnode *node = hash_find(&t->requests, start_key(d, ev->sector));

	if (!found || !hash_next(node))
		return found;
	for (; node; node = hash_next(node)) {
		struct rq *rq = container_of(node, struct rq, by_start);

		if (rq == found || !rq_fits(rq, d, ev, issued) || !is_alternative(rq, found, ev))
			continue;
		alternatives++;
		rq->io.ambiguous = true;
		/* Of a FUA write it is certain that the driver was given that, if it was. */
		if (rq->bytes_left == found->bytes_left && (best->io.flags ^ ev->flags) & EV_FUA &&
		    !((rq->io.flags ^ ev->flags) & EV_FUA))
			best = rq;
	}
	if (!alternatives)
		return found;
	found->io.ambiguous = true;
	if (t->counting)
		device_sum(t, d)->ambiguous_joins++;
	return best;
}

/* Puts the hot request into the table of ends. */
static void settle_hot(struct tracker *t)
{
	struct rq *rq = t->hot;

	t->hot = NULL;
	if (rq)
		hash_add(&t->ends, &rq->by_end, start_key(t->devices[rq->io.dev], rq->end));
}

static bool ends_at(const struct rq *rq, const struct device *d, uint64_t end, uint8_t class)
{
	return rq->io.dev == d->index && rq->end == end && rq->io.class == class;
}

enum rank { RANK_NONE, RANK_OTHER, RANK_FREE, RANK_OWN };

/* Of the requests that a bio may have been merged to, the best two. */
struct choice {
	struct rq *best, *second;
	enum rank rank, second_rank;
};

static bool in_plug_of(const struct rq *rq, uint32_t pid)
{
	return !list_empty(&rq->plug) && rq->io.pid == pid;
}

/* A thread looks into its own plug first, there at the latest one first; then into the scheduler, never
 * into the plugs of others (but where nothing tells of unplugging, all seem to be in there). */
static void consider(struct choice *c, struct rq *rq, const struct event *ev)
{
	enum rank rank = in_plug_of(rq, ev->pid) ? RANK_OWN
			 : list_empty(&rq->plug) ? RANK_FREE
						 : RANK_OTHER;

	if (rank == RANK_OWN && c->rank == RANK_OWN) {
		if (rq->io.get_ns > c->best->io.get_ns)
			c->best = rq;
	} else if (rank > c->rank) {
		c->second = c->best;
		c->second_rank = c->rank;
		c->best = rq;
		c->rank = rank;
	} else if (rank > c->second_rank) {
		c->second = rq;
		c->second_rank = rank;
	}
}

static struct rq *chosen(const struct choice *c)
{
	if (c->second && c->rank == c->second_rank)
		c->best->io.ambiguous = c->second->io.ambiguous = true;
	return c->best;
}

static bool is_last_plugged(const struct rq *rq, uint32_t pid)
{
	return in_plug_of(rq, pid) && rq->process && rq->plug.next == &rq->process->plug;
}

/* The request that ends where ev begins. */
static struct rq *find_end(struct tracker *t, const struct device *d, const struct event *ev)
{
	struct choice choice = { 0 };
	struct hnode *node;

	if (t->hot && ends_at(t->hot, d, ev->sector, ev->class) && is_last_plugged(t->hot, ev->pid))
		return t->hot;
	settle_hot(t);
	for (node = hash_find(&t->ends, start_key(d, ev->sector)); node; node = hash_next(node)) {
		struct rq *rq = container_of(node, struct rq, by_end);

		if (ends_at(rq, d, ev->sector, ev->class))
			consider(&choice, rq, ev);
	}
	return chosen(&choice);
}

/* The request that begins where ev ends. */
static struct rq *find_start(struct tracker *t, const struct device *d, const struct event *ev)
{
	struct choice choice = { 0 };
	struct event at = *ev;
	struct hnode *node;

	at.sector = event_end(ev);
	for (node = hash_find(&t->requests, start_key(d, at.sector)); node;
	     node = hash_next(node)) {
		struct rq *rq = container_of(node, struct rq, by_start);

		if (rq_fits(rq, d, &at, false) && rq->mergeable)
			consider(&choice, rq, ev);
	}
	return chosen(&choice);
}

void rq_set_start(struct tracker *t, struct device *d, struct rq *rq, uint64_t sector)
{
	if (rq->hashed)
		hash_del(&t->requests, &rq->by_start);
	rq->sector = sector;
	rq->hashed = true;
	hash_add(&t->requests, &rq->by_start, start_key(d, sector));
}

/* It cannot be merged to any more. */
void rq_close_end(struct tracker *t, struct rq *rq)
{
	if (rq == t->hot)
		t->hot = NULL;
	else if (rq->mergeable)
		hash_del(&t->ends, &rq->by_end);
	rq->mergeable = false;
}

static void set_end(struct tracker *t, struct rq *rq, uint64_t end)
{
	if (rq != t->hot) {
		rq_close_end(t, rq);
		settle_hot(t);
		t->hot = rq;
		rq->mergeable = true;
	}
	rq->end = end;
}

void rq_leave_tables(struct tracker *t, struct rq *rq)
{
	if (rq->hashed)
		hash_del(&t->requests, &rq->by_start);
	rq->hashed = false;
	rq_close_end(t, rq);
	if (rq->appending)
		list_del(&rq->append);
	rq->appending = false;
}

void rq_free(struct tracker *t, struct device *d, struct rq *rq)
{
	rq_leave_tables(t, rq);
	list_del(&rq->flush);
	list_del(&rq->plug);
	if (rq->alone)
		timeline_open(t, d, -1);
	slab_put(&t->rqs, rq);
}

static struct rq *rq_new(struct tracker *t, struct device *d, const struct event *ev)
{
	struct rq *rq = slab_get(&t->rqs);

	*rq = (struct rq){ .sector = ev->sector,
			   .end = ev->sector + ev->bytes / SECTOR_SIZE,
			   .bytes_left = ev->bytes };
	rq->io = (struct io){ IO_UNSEEN,      .sector = ev->sector, .bytes = known_bytes(ev),
			      .pid = ev->pid, .dev = d->index,      .class = ev->class,
			      .cpu = ev->cpu, .flags = ev->flags };
	list_init(&rq->flush);
	list_init(&rq->plug);
	device_sum(t, d)->have_requests = true;
	return rq;
}

struct rq *rq_alone(struct tracker *t, struct device *d, const struct event *ev)
{
	struct rq *rq = rq_new(t, d, ev);

	rq->alone = true;
	timeline_open(t, d, 1);
	return rq;
}

static void own_bio(struct tracker *t, struct rq *rq, struct bio *bio)
{
	const struct io_bio *io = &bio->origin->io;

	bio->rq = rq;
	if (bio->origin->aged_out)
		bio_taken_back(t, bio->origin);
	rq->has_split |= bio->origin->split;
	if (!rq->io.nr_bios++) {
		rq->io.pid = io->pid;
		rq->process = bio->process;
	}
	if (io->queue_ns < rq->io.queue_ns) {
		rq->io.queue_ns = io->queue_ns;
		rq->io.remap_ns = io->remap_ns;
	}
	if (io->queue_ns > bio->process->got_queue_ns)
		bio->process->got_queue_ns = io->queue_ns;
}

void rq_append_bio(struct tracker *t, struct rq *rq, struct bio *bio)
{
	bio_stop_waiting(t, bio);
	own_bio(t, rq, bio);
	bio->next = NULL;
	*(rq->first ? &rq->last->next : &rq->first) = bio;
	rq->last = bio;
}

static void prepend_bio(struct tracker *t, struct rq *rq, struct bio *bio)
{
	bio_stop_waiting(t, bio);
	own_bio(t, rq, bio);
	bio->next = rq->first;
	rq->first = bio;
	if (!bio->next)
		rq->last = bio;
}

/* The origin of a split bio counts its pieces at the device. */
void rq_pieces_at_device(struct rq *rq, int by)
{
	if (!rq->has_split)
		return;
	for (struct bio *bio = rq->first; bio; bio = bio->next)
		if (bio->origin->split)
			bio->origin->pieces_at_device += (uint32_t)by;
}

/* The first `bytes` of the request have ended; so have the bios or parts of them in there. */
void rq_bios_done(struct tracker *t, struct rq *rq, uint64_t bytes, int error)
{
	while (bytes && rq->first) {
		struct bio *bio = rq->first;
		uint32_t part = bio->bytes < bytes ? bio->bytes : (uint32_t)bytes;

		bytes -= part;
		if (part < bio->bytes) {
			bio->sector += part / SECTOR_SIZE;
		} else {
			rq->first = bio->next;
			bio->rq = NULL;
			if (rq->issued && bio->origin->split)
				bio->origin->pieces_at_device--;
		}
		bio_piece_done(t, bio, part, error);
	}
	if (!rq->first)
		rq->last = NULL;
}

/* Takes waiting bios that lie in the request where no G or M told of them. */
static void take_waiting(struct tracker *t, struct device *d, struct rq *rq)
{
	uint64_t sector = rq->sector;
	struct bio *bio;

	while (sector < rq->end && (bio = bio_find_at(t, d, sector, rq->io.class)) != NULL) {
		uint64_t room = (rq->end - sector) * SECTOR_SIZE;

		if (bio->bytes > room && (rq->io.flags & EV_NO_BYTES))
			break;
		if (bio->bytes > room) /* the rest of a split, whose X was lost */
			bio = bio_cut(t, bio, (uint32_t)room);
		sector += bio->bytes / SECTOR_SIZE;
		rq_append_bio(t, rq, bio);
	}
	if (!rq->first) {
		rq->alone = true;
		timeline_open(t, d, 1);
	}
}

struct rq *rq_ungotten(struct tracker *t, struct device *d, const struct event *ev)
{
	struct rq *rq = rq_new(t, d, ev);

	take_waiting(t, d, rq);
	for (struct bio *bio = rq->first; bio; bio = bio->next)
		rq->io.flags |= bio->origin->io.flags & (EV_PREFLUSH | EV_FUA);
	if (rq->io.flags & (EV_PREFLUSH | EV_FUA))
		flush_begin_late(rq);
	rq_set_start(t, d, rq, ev->sector);
	return rq;
}

void rq_get(struct tracker *t, struct device *d, const struct event *ev)
{
	struct device_sum *sum = device_sum(t, d);
	struct bio *bio;
	struct rq *rq;

	sum->have_requests = d->got = true;
	if (t->counting)
		sum->getrqs++;
	if (!ev->bytes) {
		if (ev->class == CLASS_FLUSH)
			flush_bio_get(d, ev);
		return;
	}
	bio = bio_find(t, d, ev);
	if (!bio)
		bio = bio_remapped_in(t, d, ev);
	if (bio && bio->leads && bio->origin->io.get_ns == TIME_NONE)
		bio->origin->io.get_ns = ev->time_ns;
	/* A split that does not say where it cut, or that was lost. */
	if (bio && ev->bytes < bio->bytes && !(ev->flags & EV_NO_BYTES))
		bio = bio_cut(t, bio, ev->bytes);
	rq = bio ? rq_new(t, d, ev) : rq_alone(t, d, ev);
	rq->io.get_ns = ev->time_ns;
	if (bio)
		rq_append_bio(t, rq, bio);
	rq_set_start(t, d, rq, rq->sector);
	set_end(t, rq, rq->end);
	if (ev->flags & (EV_PREFLUSH | EV_FUA))
		flush_begin(t, d, rq);
	if (!(ev->flags & EV_PREFLUSH))
		plug_add(t, rq, ev);
}

/* Text prints an M for requests merged as well [3]: is this one? */
static bool merges_request(struct tracker *t, const struct device *d, const struct event *ev)
{
	int equals;
	const struct rq *rq = rq_find(t, d, ev, false, &equals);

	return rq && rq->bytes_left == ev->bytes && find_end(t, d, ev);
}

/* Where no length is known no end is: most likely the request that was made or merged to last. */
static struct rq *likely_end(const struct tracker *t, const struct device *d,
			     const struct event *ev)
{
	struct rq *hot = t->hot;

	return hot && hot->io.dev == d->index && hot->io.class == ev->class &&
			       hot->sector < ev->sector
		       ? hot
		       : NULL;
}

void rq_merge_bio(struct tracker *t, struct device *d, const struct event *ev)
{
	struct device_sum *sum = device_sum(t, d);
	uint64_t end = ev->sector + ev->bytes / SECTOR_SIZE;
	bool back = ev->action == ACT_BACKMERGE;
	struct bio *bio = bio_find(t, d, ev);
	struct rq *rq;

	sum->have_requests = true;
	if (!bio)
		bio = bio_remapped_in(t, d, ev);
	if (!bio && back && merges_request(t, d, ev)) {
		rq_merge_rq(t, d, ev);
		return;
	}
	if (t->counting)
		tally_merge(t, bio ? bio->process : NULL, ev);
	if (back && ev->flags & EV_NO_BYTES) {
		rq = likely_end(t, d, ev);
		if (bio)
			bio->origin->io.left_out = true;
	} else if (back) {
		rq = find_end(t, d, ev);
	} else {
		rq = find_start(t, d, ev);
	}
	if (!rq || !bio) {
		if (t->counting)
			sum->orphan_merges++;
	}
	if (bio && bio->origin->io.merge_ns == TIME_NONE)
		bio->origin->io.merge_ns = ev->time_ns;
	if (!rq)
		return; /* a D will take the waiting bio */
	rq->io.merge_ns = ev->time_ns;
	rq->io.bytes += known_bytes(ev);
	rq->io.flags |= ev->flags & EV_NO_BYTES;
	rq->bytes_left += ev->bytes;
	if (back) {
		if (bio)
			rq_append_bio(t, rq, bio);
		set_end(t, rq, end);
	} else {
		if (bio)
			prepend_bio(t, rq, bio);
		rq_set_start(t, d, rq, ev->sector);
	}
}

/* The request of exactly that start is absorbed by the one that ends there [3]. */
void rq_merge_rq(struct tracker *t, struct device *d, const struct event *ev)
{
	int equals;
	struct rq *absorbed = rq_find(t, d, ev, false, &equals);
	struct rq *keeper = find_end(t, d, ev);

	if (t->counting)
		tally_rq_merge(t, absorbed ? absorbed->process : NULL);
	if (!absorbed || !keeper || absorbed == keeper)
		return;
	for (struct bio *bio = absorbed->first; bio; bio = bio->next)
		bio->rq = keeper;
	if (absorbed->first) {
		*(keeper->first ? &keeper->last->next : &keeper->first) = absorbed->first;
		keeper->last = absorbed->last;
	}
	keeper->has_split |= absorbed->has_split;
	keeper->io.nr_bios += absorbed->io.nr_bios;
	keeper->io.bytes += absorbed->io.bytes;
	keeper->bytes_left += absorbed->bytes_left;
	keeper->io.merge_ns = ev->time_ns;
	if (absorbed->io.queue_ns < keeper->io.queue_ns) {
		keeper->io.queue_ns = absorbed->io.queue_ns;
		keeper->io.remap_ns = absorbed->io.remap_ns;
	}
	set_end(t, keeper, absorbed->end);
	rq_free(t, d, absorbed);
}
