/* SPDX-License-Identifier: MIT
 *
 * Bios: queued, remapped, split, ended. A bio waits (in tracker.waiting, by device and sector) until
 * a request takes it.
 */
#include "track/state.h"

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

static void start_waiting(struct tracker *t, struct bio *bio)
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
		bio_stop_waiting(t, oldest);
		slab_put(&t->bios, oldest);
		t->nr_bios--;
	}
}

static struct bio *bio_new(struct tracker *t, struct device *d, const struct event *ev)
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
			.sector = ev->sector,
			.bytes = ev->bytes,
			.pid = ev->pid,
			.dev = d->index,
			.class = ev->class,
			.flags = ev->flags },
		.sector = ev->sector,
		.bytes = ev->bytes,
		.bytes_left = ev->bytes,
		.dev = d->index,
		.class = ev->class,
	};
	wait_add(t, bio);
	timeline_open(t, d, 1);
	return bio;
}

/* ---- A: the remap that precedes a Q ---- */

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
	struct hash_walk walk = { 0 };
	struct hnode *node;

	bio_settle(t);
	while ((node = hash_walk(&t->waiting, &walk)) != NULL) {
		struct bio *bio = container_of(node, struct bio, by_start);

		if (bio->dev == d->index && bio->class == ev->class && bio->sector < ev->sector &&
		    ev->sector < bio->sector + bio->bytes / SECTOR_SIZE)
			return bio;
	}
	return NULL;
}

/* The waiting bio or piece of exactly ev's range, cut out of a larger one if need be, or NULL. */
static struct bio *cut_free(struct tracker *t, struct device *d, const struct event *ev)
{
	struct bio *bio = bio_find(t, d, ev);
	struct event cut = { .class = ev->class };

	if (!bio) {
		bio = find_containing(t, d, ev);
		if (!bio)
			return NULL;
		cut.sector = bio->sector;
		cut.aux_sector = ev->sector;
		bio_split(t, d, &cut);
		bio = bio_find_at(t, d, ev->sector, ev->class);
	}
	if (bio && ev->bytes && ev->bytes < bio->bytes) {
		cut.sector = ev->sector;
		cut.aux_sector = ev->sector + ev->bytes / SECTOR_SIZE;
		bio_split(t, d, &cut);
		bio = bio_find_at(t, d, ev->sector, ev->class);
	}
	return bio;
}

/* The I/O of a bio of a recorded upper device goes on below: cut the mapped part off as a piece of
 * its own, since that is what will complete, and let the waiter look at the level below. */
static bool map_down(struct tracker *t, const struct event *ev)
{
	struct device *upper = device_known(t, ev->aux_device);
	struct event from = { .sector = ev->aux_sector, .bytes = ev->bytes, .class = ev->class };
	struct bio *bio;

	if (!upper || upper->number == ev->device)
		return false;
	bio = cut_free(t, upper, &from);
	if (!bio && ev->class == CLASS_WRITE) /* flags get lost on the way down [6] */
		bio = bio_find_at(t, upper, ev->aux_sector, CLASS_FLUSH);
	if (!bio)
		return true;
	device_sum(t, upper)->mapped = true;
	bio->origin->mapped = true;
	wait_del(bio->origin);
	return true;
}

void bio_remap(struct tracker *t, struct device *d, const struct event *ev)
{
	struct remap *r = remap_slot(t, ev);
	uint64_t since_ns = ev->time_ns;

	/* A chain keeps the time of its first A. */
	if (r->used && r->device == ev->aux_device && r->sector == ev->aux_sector)
		since_ns = r->time_ns;
	*r = (struct remap){
		.sector = ev->sector, .time_ns = since_ns, .device = ev->device, .used = true
	};
	add_parent(device_sum(t, d), ev->aux_device);
	r->below = map_down(t, ev);
}

/* The time of the remap that led to this Q, or TIME_NONE; *below: from a device of this trace. */
static uint64_t remap_take(struct tracker *t, const struct event *ev, bool *below)
{
	struct remap *r = remap_slot(t, ev);

	if (!r->used || r->device != ev->device || r->sector != ev->sector)
		return TIME_NONE;
	r->used = false;
	*below = r->below;
	return r->time_ns;
}

struct bio *bio_remapped_in(struct tracker *t, struct device *d, const struct event *ev)
{
	struct event queue = *ev;
	bool below = false;
	uint64_t since_ns = remap_take(t, ev, &below);
	struct bio *bio;

	if (since_ns == TIME_NONE)
		return NULL;
	queue.time_ns = since_ns;
	bio = bio_new(t, d, &queue);
	bio->io.remap_ns = since_ns;
	if (t->counting)
		device_sum(t, d)->remapped_in++;
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
	struct process_sum *process = &process_get(t, ev->pid)->sum;

	process->last_ns = ev->time_ns;
	if (!t->counting)
		return;
	if (is_foreign_write(t, ev))
		t->sum->wait.foreign_write_bios++;
	sum->bios[ev->class].count++;
	sum->bios[ev->class].bytes += ev->bytes;
	if (below)
		return;
	process->bios++;
	if (ev->class == CLASS_READ)
		process->read_bytes += ev->bytes;
	else if (ev->class == CLASS_WRITE)
		process->write_bytes += ev->bytes;
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
	wait_touch(t);
	bio_age_out(t, bio);
	bio_stop_waiting(t, bio);
}

void bio_queue(struct tracker *t, struct device *d, const struct event *ev)
{
	struct device_sum *sum = device_sum(t, d);
	struct bio *bio = take_retry(t, d, ev);
	uint64_t remap_ns;
	bool below = false;

	if (t->sum->first_queue_ns == TIME_NONE) {
		t->sum->first_queue_ns = ev->time_ns;
		if (t->begin_ns == TIME_NONE)
			t->begin_ns = ev->time_ns;
	}
	if (bio) {
		start_waiting(t, bio);
		return;
	}
	remap_ns = remap_take(t, ev, &below);
	count_queue(t, sum, ev, below);
	if (!ev->bytes && ev->class != CLASS_FLUSH)
		return; /* moves nothing (a zone command): nothing below would ever end it */
	forget_same(t, d, ev);
	bio = bio_new(t, d, ev);
	bio->io.remap_ns = remap_ns;
	if (bio->class == CLASS_FLUSH && bio->bytes == 0) {
		if (t->counting)
			sum->empty_flush_bios++;
		*(d->flush_first ? &d->flush_last->next : &d->flush_first) = bio;
		d->flush_last = bio;
		return;
	}
	start_waiting(t, bio);
}

/* ---- X: the front becomes a piece, the rest waits at its new start [3] ---- */

void bio_split(struct tracker *t, struct device *d, const struct event *ev)
{
	struct bio *rest = bio_find_at(t, d, ev->sector, ev->class), *front;
	uint64_t sectors;

	if (!rest || ev->aux_sector <= ev->sector)
		return;
	sectors = ev->aux_sector - ev->sector;
	if (sectors >= rest->bytes / SECTOR_SIZE)
		return;
	front = slab_get(&t->bios);
	*front = *rest;
	front->bytes = (uint32_t)(sectors * SECTOR_SIZE);
	front->origin = rest->origin;
	list_init(&front->all);
	list_init(&front->own);
	rest->origin->split = true;
	bio_stop_waiting(t, rest);
	start_waiting(t, front);
	rest->sector = ev->aux_sector;
	rest->bytes -= front->bytes;
	start_waiting(t, rest);
}

/* ---- ends ---- */

static void hand_out(struct tracker *t, struct bio *bio)
{
	struct device_sum *sum = &t->sum->devices[bio->dev];
	const struct io_bio *io = &bio->io;

	if (t->counting && !io->left_out) {
		add_phase(sum, PHASE_A2Q, io->remap_ns, io->queue_ns);
		add_phase(sum, PHASE_Q2G, io->queue_ns, io->get_ns);
		add_phase(sum, PHASE_Q2M, io->queue_ns, io->merge_ns);
		add_phase(sum, PHASE_BIO_Q2C, io->queue_ns, io->complete_ns);
		hist_add(&bio->process->sum.q2c, elapsed(io->queue_ns, io->complete_ns));
	}
	if (t->options.out.bio)
		t->options.out.bio(t->options.out.arg, io);
}

static void bio_end(struct tracker *t, struct bio *bio)
{
	bio->io.complete_ns = t->now_ns;
	hand_out(t, bio);
	wait_del(bio);
	if (bio->aged_out)
		t->devices[bio->dev]->nr_aged--;
	else
		timeline_open(t, t->devices[bio->dev], -1);
	slab_put(&t->bios, bio);
	t->nr_bios--;
}

void bio_piece_done(struct tracker *t, struct bio *piece, uint32_t bytes, int error)
{
	struct bio *origin = piece->origin;

	if (error && !origin->io.error)
		origin->io.error = (int16_t)error;
	piece->bytes -= bytes;
	origin->bytes_left -= bytes < origin->bytes_left ? bytes : origin->bytes_left;
	if (piece != origin && !piece->bytes)
		slab_put(&t->bios, piece);
	if (!origin->bytes_left)
		bio_end(t, origin);
}

static void nowait_failed(struct tracker *t, struct device *d, struct bio *bio)
{
	bio_stop_waiting(t, bio);
	bio->io.complete_ns = t->now_ns;
	hash_add(&t->retries, &bio->by_start, start_key(d, bio->sector));
	if (t->counting)
		device_sum(t, d)->nowait_retries++;
}

/* The flush bio of a bio-based device, or NULL. */
static bool end_flush_bio(struct tracker *t, struct device *d)
{
	struct bio *bio = d->flush_first;

	if (!bio)
		return false;
	d->flush_first = bio->next;
	bio_end(t, bio);
	return true;
}

void bio_complete(struct tracker *t, struct device *d, const struct event *ev)
{
	struct device_sum *sum = device_sum(t, d);
	struct bio *bio = bio_find(t, d, ev);
	uint32_t bytes = ev->bytes;

	if (bytes == 0 && !sum->have_requests && end_flush_bio(t, d))
		return;
	if (bio && ev->error == -11 && bio == bio->origin) {
		nowait_failed(t, d, bio);
		return;
	}
	if (!bio && bytes && !sum->have_requests)
		bio = cut_free(t, d, ev);
	if (!bio || !bytes) {
		/* A request's completion told of it already, or will. */
		if (t->counting && bytes)
			sum->double_completions++;
		return;
	}
	if (ev->error)
		note_error(sum, ev);
	if (bytes > bio->bytes)
		bytes = bio->bytes;
	if (t->counting)
		sum->completed_bytes[ev->class] += bytes;
	bio_stop_waiting(t, bio);
	if (bytes < bio->bytes) { /* the front ended; the rest goes on waiting */
		bio->sector += bytes / SECTOR_SIZE;
		start_waiting(t, bio);
		timeline_completed(t, d, NULL, bytes);
		bio_piece_done(t, bio, bytes, ev->error);
		return;
	}
	timeline_completed(t, d, NULL, bytes);
	bio_piece_done(t, bio, bytes, ev->error);
}
