/* SPDX-License-Identifier: MIT
 *
 * Requests: made of bios, issued, given back, completed.
 */
#include <stdlib.h>

#include "track/state.h"

#define BUSY_NS UINT64_C(1000000) /* R sooner after D than this: the driver had no room [4] */

/* ---- finding ---- */

/* The first request with this start, class and state; *equals = how many there are. */
static struct rq *find_start(struct tracker *t, const struct device *d, const struct event *ev,
			     bool issued, int *equals)
{
	struct hnode *node = hash_find(&t->requests, start_key(d, ev->sector));
	struct rq *found = NULL;

	*equals = 0;
	for (; node; node = hash_next(node)) {
		struct rq *rq = container_of(node, struct rq, by_start);

		if (rq->io.dev != d->index || rq->sector != ev->sector ||
		    rq->io.class != ev->class || rq->issued != issued || rq->data_done)
			continue;
		(*equals)++;
		if (!found)
			found = rq;
	}
	return found;
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

static struct rq *find_end(struct tracker *t, const struct device *d, uint64_t end, uint8_t class)
{
	struct hnode *node;

	if (t->hot && ends_at(t->hot, d, end, class))
		return t->hot;
	settle_hot(t);
	for (node = hash_find(&t->ends, start_key(d, end)); node; node = hash_next(node)) {
		struct rq *rq = container_of(node, struct rq, by_end);

		if (ends_at(rq, d, end, class))
			return rq;
	}
	return NULL;
}

/* ---- the tables ---- */

static void set_start(struct tracker *t, struct device *d, struct rq *rq, uint64_t sector)
{
	if (rq->hashed)
		hash_del(&t->requests, &rq->by_start);
	rq->sector = sector;
	rq->hashed = true;
	hash_add(&t->requests, &rq->by_start, start_key(d, sector));
}

/* It cannot be merged to any more. */
static void close_end(struct tracker *t, struct rq *rq)
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
		close_end(t, rq);
		settle_hot(t);
		t->hot = rq;
		rq->mergeable = true;
	}
	rq->end = end;
}

static void leave_tables(struct tracker *t, struct rq *rq)
{
	if (rq->hashed)
		hash_del(&t->requests, &rq->by_start);
	rq->hashed = false;
	close_end(t, rq);
}

static void rq_free(struct tracker *t, struct device *d, struct rq *rq)
{
	leave_tables(t, rq);
	list_del(&rq->flush);
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
	rq->io = (struct io){ .queue_ns = TIME_NONE,
			      .get_ns = TIME_NONE,
			      .merge_ns = TIME_NONE,
			      .insert_ns = TIME_NONE,
			      .issue_ns = TIME_NONE,
			      .last_issue_ns = TIME_NONE,
			      .complete_ns = TIME_NONE,
			      .end_ns = TIME_NONE,
			      .sector = ev->sector,
			      .bytes = ev->bytes,
			      .pid = ev->pid,
			      .dev = d->index,
			      .class = ev->class,
			      .flags = ev->flags };
	list_init(&rq->flush);
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

/* ---- bios in, bios out ---- */

static void own_bio(struct rq *rq, struct bio *bio)
{
	const struct io_bio *io = &bio->origin->io;

	bio->rq = rq;
	rq->has_split |= bio->origin->split;
	if (!rq->io.nr_bios++)
		rq->io.pid = io->pid;
	if (io->queue_ns < rq->io.queue_ns)
		rq->io.queue_ns = io->queue_ns;
	if (io->queue_ns > bio->process->got_queue_ns)
		bio->process->got_queue_ns = io->queue_ns;
}

static void append_bio(struct tracker *t, struct rq *rq, struct bio *bio)
{
	bio_stop_waiting(t, bio);
	own_bio(rq, bio);
	bio->next = NULL;
	*(rq->first ? &rq->last->next : &rq->first) = bio;
	rq->last = bio;
}

static void prepend_bio(struct tracker *t, struct rq *rq, struct bio *bio)
{
	bio_stop_waiting(t, bio);
	own_bio(rq, bio);
	bio->next = rq->first;
	rq->first = bio;
	if (!bio->next)
		rq->last = bio;
}

/* The origin of a split bio counts its pieces at the device. */
static void pieces_at_device(struct rq *rq, int by)
{
	if (!rq->has_split)
		return;
	for (struct bio *bio = rq->first; bio; bio = bio->next)
		if (bio->origin->split)
			bio->origin->pieces_at_device += (uint32_t)by;
}

/* The first `bytes` of the request have ended; so have the bios or parts of them in there. */
static void bios_done(struct tracker *t, struct rq *rq, uint64_t bytes, int error)
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
		if (bio->bytes > (rq->end - sector) * SECTOR_SIZE)
			break;
		sector += bio->bytes / SECTOR_SIZE;
		append_bio(t, rq, bio);
	}
	if (!rq->first) {
		rq->alone = true;
		timeline_open(t, d, 1);
	}
}

static struct rq *make_ungotten(struct tracker *t, struct device *d, const struct event *ev)
{
	struct rq *rq = rq_new(t, d, ev);

	take_waiting(t, d, rq);
	set_start(t, d, rq, ev->sector);
	return rq;
}

/* ---- G, M, F ---- */

void rq_get(struct tracker *t, struct device *d, const struct event *ev)
{
	struct device_sum *sum = device_sum(t, d);
	struct bio *bio;
	struct rq *rq;

	sum->have_requests = true;
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
	else if (bio->origin->io.get_ns == TIME_NONE)
		bio->origin->io.get_ns = ev->time_ns;
	rq = bio ? rq_new(t, d, ev) : rq_alone(t, d, ev);
	rq->io.get_ns = ev->time_ns;
	if (bio)
		append_bio(t, rq, bio);
	set_start(t, d, rq, rq->sector);
	set_end(t, rq, rq->end);
	if (ev->flags & (EV_PREFLUSH | EV_FUA))
		flush_begin(t, d, rq);
}

void rq_merge_bio(struct tracker *t, struct device *d, const struct event *ev)
{
	struct device_sum *sum = device_sum(t, d);
	uint64_t end = ev->sector + ev->bytes / SECTOR_SIZE;
	bool back = ev->action == ACT_BACKMERGE;
	struct bio *bio = bio_find(t, d, ev);
	struct rq *rq;
	int equals;

	sum->have_requests = true;
	if (t->counting)
		*(back ? &sum->back_merges : &sum->front_merges) += 1;
	if (!bio)
		bio = bio_remapped_in(t, d, ev);
	if (back) {
		rq = find_end(t, d, ev->sector, ev->class);
	} else {
		struct event at_start = *ev;

		at_start.sector = end;
		rq = find_start(t, d, &at_start, false, &equals);
	}
	if (!rq || !bio) {
		if (t->counting)
			sum->orphan_merges++;
		if (!rq)
			return; /* a D will take the waiting bio */
	}
	if (bio && bio->origin->io.merge_ns == TIME_NONE)
		bio->origin->io.merge_ns = ev->time_ns;
	rq->io.merge_ns = ev->time_ns;
	rq->io.bytes += ev->bytes;
	rq->bytes_left += ev->bytes;
	if (back) {
		if (bio)
			append_bio(t, rq, bio);
		set_end(t, rq, end);
	} else {
		if (bio)
			prepend_bio(t, rq, bio);
		set_start(t, d, rq, ev->sector);
	}
}

/* The request of exactly that start is absorbed by the one that ends there [3]. */
void rq_merge_rq(struct tracker *t, struct device *d, const struct event *ev)
{
	struct device_sum *sum = device_sum(t, d);
	int equals;
	struct rq *absorbed = find_start(t, d, ev, false, &equals);
	struct rq *keeper = find_end(t, d, ev->sector, ev->class);

	if (t->counting)
		sum->rq_merges++;
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
	if (absorbed->io.queue_ns < keeper->io.queue_ns)
		keeper->io.queue_ns = absorbed->io.queue_ns;
	set_end(t, keeper, absorbed->end);
	rq_free(t, d, absorbed);
}

/* ---- I, D, R ---- */

void rq_insert(struct tracker *t, struct device *d, const struct event *ev)
{
	int equals;
	struct rq *rq;

	device_sum(t, d)->have_requests = true;
	if (!ev->bytes || ev->class == CLASS_PASSTHROUGH)
		return;
	rq = find_start(t, d, ev, false, &equals);
	if (!rq)
		rq = make_ungotten(t, d, ev);
	if (rq->io.insert_ns == TIME_NONE)
		rq->io.insert_ns = ev->time_ns;
}

void rq_attempt(struct tracker *t, struct device *d, struct rq *rq)
{
	struct io *io = &rq->io;

	if (io->issue_ns == TIME_NONE)
		io->issue_ns = t->now_ns;
	else
		io->requeue_wait_ns += elapsed(rq->requeue_ns, t->now_ns);
	io->last_issue_ns = t->now_ns;
	io->attempts++;
	rq->completions_at_issue = d->completions;
	if (rq->first && io->queue_ns > rq->first->process->issued_queue_ns)
		rq->first->process->issued_queue_ns = io->queue_ns;
	rq->issued = true;
	pieces_at_device(rq, 1);
	timeline_issued(t, d, 1);
	io->depth_at_issue = (uint16_t)(d->nr_issued < UINT16_MAX ? d->nr_issued : UINT16_MAX);
}

static void attempt_over(struct tracker *t, struct device *d, struct rq *rq)
{
	if (!rq->issued)
		return;
	pieces_at_device(rq, -1);
	rq->issued = false;
	timeline_issued(t, d, -1);
}

static void count_seek(const struct tracker *t, struct device *d, struct device_sum *sum,
		       const struct rq *rq)
{
	uint64_t away =
		rq->sector > d->last_end ? rq->sector - d->last_end : d->last_end - rq->sector;

	if (d->have_last_end && t->counting) {
		sum->seeks++;
		sum->sequential += away == 0;
		sum->seek_sum_sectors += (double)away;
		hist_add(&sum->seek_sectors, away);
	}
	d->last_end = rq->end;
	d->have_last_end = true;
}

static int by_queue_time(const void *a, const void *b)
{
	const struct bio *const *x = a, *const *y = b;

	return ((*x)->io.queue_ns > (*y)->io.queue_ns) - ((*x)->io.queue_ns < (*y)->io.queue_ns);
}

/* A multi-range discard: one G, and the Qs that follow it join unseen until their sum is D's [2]. */
static void join_ranges(struct tracker *t, struct device *d, struct rq *rq, uint32_t bytes)
{
	struct bio **list = NULL;
	size_t nr = 0;

	bio_settle(t);
	for (uint32_t i = 0; i <= t->waiting.mask; i++) {
		for (struct hnode *node = t->waiting.bucket[i]; node; node = node->next) {
			struct bio *bio = container_of(node, struct bio, by_start);

			if (bio->dev != d->index || bio->class != CLASS_DISCARD ||
			    bio->io.pid != rq->io.pid)
				continue;
			list = mem_grow(list, nr, sizeof(*list));
			list[nr++] = bio;
		}
	}
	if (nr)
		qsort(list, nr, sizeof(*list), by_queue_time);
	for (size_t i = 0; i < nr && rq->bytes_left < bytes; i++) {
		rq->bytes_left += list[i]->bytes;
		append_bio(t, rq, list[i]);
	}
	free(list);
}

/* What D says of the length rules; what was gathered may be short of it (lost merges). */
static void fit_length(struct tracker *t, struct device *d, struct rq *rq, const struct event *ev)
{
	if (rq->bytes_left == ev->bytes || rq->io.issue_ns != TIME_NONE)
		return;
	if (ev->class == CLASS_DISCARD && rq->bytes_left < ev->bytes)
		join_ranges(t, d, rq, ev->bytes);
	rq->bytes_left = ev->bytes;
	rq->io.bytes = ev->bytes;
	rq->end = rq->sector + ev->bytes / SECTOR_SIZE;
}

/* Its completion was lost: the device has another request at the same place now. */
static void lose_completion(struct tracker *t, struct device *d, struct rq *rq)
{
	if (t->counting)
		device_sum(t, d)->orphan_issues++;
	rq->io.crosses_loss = true;
	rq_done(t, d, rq, 0);
}

static void issue_unranged(struct tracker *t, struct device *d, const struct event *ev)
{
	struct rq *rq = rq_alone(t, d, ev);

	if (ev->class == CLASS_PASSTHROUGH)
		list_add(&d->passthrough, &rq->flush);
	rq_attempt(t, d, rq);
}

void rq_issue(struct tracker *t, struct device *d, const struct event *ev)
{
	struct device_sum *sum = device_sum(t, d);
	struct rq *rq;
	int equals;

	sum->have_requests = true;
	if (ev->class == CLASS_FLUSH) {
		flush_issue(t, d, ev);
		return;
	}
	if (ev->class == CLASS_PASSTHROUGH || !ev->bytes) {
		if (t->counting) {
			sum->requests[ev->class].count++;
			sum->requests[ev->class].bytes += ev->bytes;
		}
		if (ev->class == CLASS_PASSTHROUGH)
			issue_unranged(t, d, ev);
		return;
	}
	rq = find_start(t, d, ev, false, &equals);
	if (!rq) {
		rq = find_start(t, d, ev, true, &equals);
		if (rq)
			lose_completion(t, d, rq);
		rq = make_ungotten(t, d, ev);
	}
	if (equals > 1) {
		rq->io.ambiguous = true;
		if (t->counting)
			sum->ambiguous_joins++;
	}
	fit_length(t, d, rq, ev);
	close_end(t, rq);
	if (rq->io.issue_ns == TIME_NONE) {
		rq->io.sector = rq->sector;
		if (t->counting) {
			sum->requests[ev->class].count++;
			sum->requests[ev->class].bytes += ev->bytes;
		}
		count_seek(t, d, sum, rq);
	}
	flush_data_issued(t, d, rq, ev->flags);
	rq_attempt(t, d, rq);
}

void rq_requeue(struct tracker *t, struct device *d, const struct event *ev)
{
	struct device_sum *sum = device_sum(t, d);
	uint64_t lost_ns;
	int equals;
	struct rq *rq = ev->class == CLASS_FLUSH && !list_empty(&d->commands)
				? container_of(d->commands.next, struct rq, flush)
				: find_start(t, d, ev, true, &equals);

	if (!rq)
		return;
	lost_ns = elapsed(rq->io.last_issue_ns, ev->time_ns);
	if (t->counting)
		*(lost_ns < BUSY_NS ? &sum->requeues_busy : &sum->requeues_failed) += 1;
	rq->io.attempt_lost_ns += lost_ns;
	rq->requeue_ns = ev->time_ns;
	attempt_over(t, d, rq);
}

/* ---- C ---- */

void note_error(struct device_sum *sum, const struct event *ev)
{
	int error = ev->error < 0 ? -ev->error : ev->error;

	for (uint64_t i = 0; i < sum->nr_errors; i++) {
		if (sum->errors[i].error == error && sum->errors[i].class == ev->class) {
			sum->errors[i].count++;
			return;
		}
	}
	sum->errors = mem_grow(sum->errors, sum->nr_errors, sizeof(*sum->errors));
	sum->errors[sum->nr_errors++] = (struct io_error){
		.error = error, .class = ev->class, .count = 1, .first_sector = ev->sector
	};
}

/* Was the request open across a window of loss? Windows come roughly in the order of time. */
static bool crosses_loss(const struct tracker *t, const struct io *io)
{
	uint64_t since_ns = io->queue_ns != TIME_NONE ? io->queue_ns : io->issue_ns;

	for (size_t i = t->facts->nr_losses; i-- > 0;) {
		const struct loss *loss = &t->facts->losses[i];

		if (loss->from_ns < io->end_ns && loss->to_ns > since_ns)
			return true;
		if (loss->to_ns + UINT64_C(1000000000) < since_ns)
			return false;
	}
	return false;
}

static void count_latencies(struct device_sum *sum, const struct io *io)
{
	if (io->ambiguous || io->crosses_loss || io->attempts > 1) {
		sum->left_out++;
		return;
	}
	add_phase(sum, PHASE_G2I, io->get_ns, io->insert_ns);
	if (io->insert_ns == TIME_NONE)
		add_phase(sum, PHASE_G2D, io->get_ns, io->issue_ns);
	add_phase(sum, PHASE_I2D, io->insert_ns, io->issue_ns);
	add_phase(sum, PHASE_M2D, io->merge_ns, io->issue_ns);
	add_phase(sum, PHASE_Q2D, io->queue_ns, io->issue_ns);
	if (io->class != CLASS_FLUSH)
		add_phase(sum, PHASE_D2C, io->last_issue_ns, io->complete_ns);
	add_phase(sum, PHASE_R_Q2C, io->queue_ns, io->end_ns);
	if (io->last_issue_ns != TIME_NONE)
		hist_add(&sum->class_d2c[io->class], elapsed(io->last_issue_ns, io->complete_ns));
	if (io->queue_ns != TIME_NONE)
		hist_add(&sum->class_r_q2c[io->class], elapsed(io->queue_ns, io->end_ns));
}

void rq_done(struct tracker *t, struct device *d, struct rq *rq, int error)
{
	struct io *io = &rq->io;

	attempt_over(t, d, rq);
	if (error)
		io->error = (int16_t)error;
	if (io->complete_ns == TIME_NONE)
		io->complete_ns = t->now_ns;
	io->end_ns = t->now_ns;
	if (!io->crosses_loss)
		io->crosses_loss = crosses_loss(t, io);
	if (io->crosses_loss || io->ambiguous)
		for (struct bio *bio = rq->first; bio; bio = bio->next)
			bio->origin->io.left_out = true;
	bios_done(t, rq, UINT64_MAX, error);
	if (t->counting) {
		count_latencies(device_sum(t, d), io);
		if (io->nr_bios)
			process_get(t, io->pid)->sum.requests++;
	}
	if (t->options.out.request)
		t->options.out.request(t->options.out.arg, io);
	rq_free(t, d, rq);
}

/* A C that no open request starts at. */
static void complete_orphan(struct tracker *t, struct device *d, const struct event *ev)
{
	struct device_sum *sum = device_sum(t, d);
	struct hnode *node = hash_find(&t->requests, start_key(d, ev->sector));
	struct rq *rq;
	int equals;

	if (t->counting) {
		sum->orphan_completes++;
		for (; node; node = hash_next(node))
			if (container_of(node, struct rq, by_start)->io.class != ev->class) {
				sum->class_mismatches++;
				break;
			}
	}
	rq = find_start(t, d, ev, false, &equals); /* its D was lost */
	if (rq) {
		rq->io.crosses_loss = true;
		rq_done(t, d, rq, ev->error);
	}
}

static void complete_passthrough(struct tracker *t, struct device *d, const struct event *ev)
{
	struct rq *rq;

	if (list_empty(&d->passthrough)) {
		if (t->counting)
			device_sum(t, d)->orphan_completes++;
		return;
	}
	rq = container_of(d->passthrough.next, struct rq, flush);
	rq->io.ambiguous = d->passthrough.next != d->passthrough.prev;
	timeline_completed(t, d);
	rq_done(t, d, rq, ev->error);
}

/* The front of the request has ended; what is left starts further on. */
static void complete_part(struct tracker *t, struct device *d, struct rq *rq, uint32_t bytes,
			  int error)
{
	if (t->counting)
		device_sum(t, d)->partial_completions++;
	if (error)
		rq->io.error = (int16_t)error;
	rq->bytes_left -= bytes;
	if (!(rq->io.flags & (EV_PREFLUSH | EV_FUA)))
		bios_done(t, rq, bytes, error);
	set_start(t, d, rq, rq->sector + bytes / SECTOR_SIZE);
}

void rq_complete(struct tracker *t, struct device *d, const struct event *ev)
{
	struct device_sum *sum = device_sum(t, d);
	uint32_t bytes = ev->bytes;
	struct rq *rq;
	int equals;

	if (ev->error)
		note_error(sum, ev);
	if (ev->class == CLASS_FLUSH && !list_empty(&d->commands)) {
		flush_complete(t, d, ev);
		return;
	}
	if (ev->class == CLASS_PASSTHROUGH) {
		complete_passthrough(t, d, ev);
		return;
	}
	if (!bytes) {
		flush_zero_end(t, d, ev);
		return;
	}
	rq = find_start(t, d, ev, true, &equals);
	if (!rq) {
		complete_orphan(t, d, ev);
		return;
	}
	if (equals > 1) {
		rq->io.ambiguous = true;
		if (t->counting)
			sum->ambiguous_joins++;
	}
	if (bytes > rq->bytes_left) {
		bytes = rq->bytes_left;
		if (t->counting)
			sum->double_completions++;
	}
	if (t->counting)
		sum->completed_bytes[ev->class] += bytes;
	timeline_completed(t, d);
	if (bytes < rq->bytes_left) {
		complete_part(t, d, rq, bytes, ev->error);
		return;
	}
	rq->io.complete_ns = ev->time_ns;
	if (flush_data_done(t, rq)) {
		attempt_over(t, d, rq);
		leave_tables(t, rq);
		return;
	}
	rq_done(t, d, rq, ev->error);
}
