/* SPDX-License-Identifier: MIT
 *
 * How bios end: with the last of their bytes, with a completion of their own, or as a NOWAIT attempt.
 */
#include "track/tally.h"

#define FLUSH_NS UINT64_C(1000000000) /* a flush bio ends within this */

/* The phases that are over before a bio is issued. */
static void count_beginning(struct device_sum *sum, const struct bio *bio)
{
	const struct io_bio *io = &bio->io;

	if (bio->unqueued)
		return; /* they begin at its Q */
	add_phase(sum, PHASE_A2Q, io->remap_ns, io->queue_ns);
	add_phase(sum, PHASE_Q2G, io->queue_ns, io->get_ns);
	add_phase(sum, PHASE_Q2M, io->queue_ns, io->merge_ns);
}

void bio_count_endless(struct tracker *t)
{
	for (struct link *l = t->all.open.next; l != &t->all.open; l = l->next) {
		const struct bio *bio = container_of(l, struct bio, all);

		if (!t->devices[bio->dev]->completions)
			count_beginning(&t->sum->devices[bio->dev], bio);
	}
}

static void hand_out(struct tracker *t, struct bio *bio)
{
	struct device_sum *sum = &t->sum->devices[bio->dev];
	const struct io_bio *io = &bio->io;

	if (t->counting && !io->left_out) {
		count_beginning(sum, bio);
		add_phase(sum, PHASE_BIO_Q2C, io->queue_ns, io->complete_ns);
		add_phase(sum, PHASE_CHAIN_Q2C, io->remap_ns, io->complete_ns);
		if (!bio->below) /* a process waits for the topmost level only [12] */
			hist_add(&bio->process->sum.q2c, elapsed(io->queue_ns, io->complete_ns));
	}
	if (t->options.out.bio)
		t->options.out.bio(t->options.out.arg, io);
}

/* Where there are no requests it is what completes. */
static void count_end(struct tracker *t, const struct bio *bio)
{
	if (!t->counting || t->sum->devices[bio->dev].have_requests)
		return;
	tally_ended(t, bio->below || bio->mapped ? NULL : bio->process, bio->class);
	t->cpu->early[bio->class].count++;
}

/* Flush bios are told apart by their order alone: not behind one that was lost. */
static uint64_t doubtful_since(const struct bio *bio)
{
	uint64_t queue_ns = bio->io.queue_ns;

	return bio->class == CLASS_FLUSH ? elapsed(FLUSH_NS, queue_ns) : queue_ns;
}

static void bio_end(struct tracker *t, struct bio *bio)
{
	/* Of its pieces the last one may be told of first. */
	if (bio->io.complete_ns < t->event_ns)
		bio->io.complete_ns = t->event_ns;
	if (bio->io.data_ns == TIME_NONE)
		bio->io.data_ns = bio->io.complete_ns;
	if (t->facts->nr_losses)
		bio->io.left_out |= crosses_loss(t, doubtful_since(bio), bio->io.complete_ns);
	count_end(t, bio);
	hand_out(t, bio);
	bio_end_above(t, bio);
	bio_untie(bio);
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
	if (origin->io.complete_ns < t->event_ns)
		origin->io.complete_ns = t->event_ns;
	origin->bytes_left -= bytes < origin->bytes_left ? bytes : origin->bytes_left;
	if (piece != origin && !piece->bytes) {
		bio_untie(piece);
		slab_put(&t->bios, piece);
	}
	if (!origin->bytes_left)
		bio_end(t, origin);
}

void bio_nowait_failed(struct tracker *t, struct device *d, struct bio *bio)
{
	bio_stop_waiting(t, bio);
	bio->io.complete_ns = t->event_ns;
	hash_add(&t->retries, &bio->by_start, start_key(d, bio->sector));
	if (t->counting)
		tally_retry(t, bio->process);
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

uint32_t bio_front_done(struct tracker *t, struct device *d, struct bio *bio, uint32_t bytes,
			int error)
{
	if (bytes > bio->bytes)
		bytes = bio->bytes;
	bio_stop_waiting(t, bio);
	if (bytes < bio->bytes) { /* the rest goes on waiting */
		bio->sector += bytes / SECTOR_SIZE;
		bio_start_waiting(t, bio);
	}
	timeline_completed(t, d, NULL, bytes);
	bio_piece_done(t, bio, bytes, error);
	return bytes;
}

/* Of several that went on at one place, with one length, nothing tells which one has ended. */
static void doubt_alike(struct tracker *t, const struct bio *like)
{
	struct hnode *node = hash_find(&t->waiting, like->by_start.key);
	int alike = 0;

	for (int pass = 0; pass < 2; pass++, node = hash_find(&t->waiting, like->by_start.key)) {
		for (; node; node = hash_next(node)) {
			struct bio *bio = container_of(node, struct bio, by_start);

			if (bio->dev != like->dev || bio->sector != like->sector ||
			    bio->class != like->class || bio->bytes != like->bytes)
				continue;
			alike++;
			bio->origin->io.left_out |= pass;
		}
		if (alike < 2)
			return;
	}
}

void bio_complete(struct tracker *t, struct device *d, const struct event *ev)
{
	struct device_sum *sum = device_sum(t, d);
	struct bio *bio = bio_find(t, d, ev);
	const struct process *process;
	uint32_t bytes = ev->bytes;

	if (bytes == 0 && !sum->have_requests && end_flush_bio(t, d))
		return;
	if (bio && ev->error == -11 && bio == bio->origin) {
		bio_nowait_failed(t, d, bio);
		return;
	}
	if (!bio && bytes && !sum->have_requests)
		bio = bio_cut_free(t, d, ev, true);
	if (!bio || !bytes) {
		/* A request's completion told of it already, or will. */
		if (t->counting && bytes)
			sum->double_completions++;
		return;
	}
	d->tells_ends = true;
	bio_settle(t);
	doubt_alike(t, bio);
	if (ev->error)
		note_error(sum, ev);
	if (ev->flags & EV_NO_BYTES)
		bytes = bio->bytes;
	process = bio->below || bio->mapped ? NULL : bio->process;
	bytes = bio_front_done(t, d, bio, bytes, ev->error);
	if (t->counting && !(ev->flags & EV_NO_BYTES))
		tally_moved(t, process, ev->class, bytes);
}
