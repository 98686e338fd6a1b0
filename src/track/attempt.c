/* SPDX-License-Identifier: MIT
 *
 * Requests inserted, issued, given back and issued again [4].
 */
#include <stdlib.h>

#include "track/tally.h"

#define BUSY_NS UINT64_C(1000000) /* R sooner after D than this: the driver had no room */

/* Of requests alike: one that this thread got and has not inserted yet; else one that is in no plug (any
 * more), rather one that was not inserted yet than one that is inserted again. */
static int insert_fits(const struct rq *rq, const struct event *ev)
{
	bool new = rq->io.insert_ns == TIME_NONE;

	return 1 + new + 2 * list_empty(&rq->plug) + 4 * (new && rq->io.pid == ev->pid);
}

static struct rq *find_to_insert(struct tracker *t, const struct device *d, const struct event *ev)
{
	int equals, most = 0;
	struct rq *first = rq_find(t, d, ev, false, &equals), *best = first;
	struct hnode *node = first && equals > 1 ? &first->by_start : NULL;

	if (first && ev->flags & EV_ZONE_APPEND && first->bytes_left != ev->bytes)
		return NULL; /* they never grow */

	for (; node; node = hash_next(node)) {
		struct rq *rq = container_of(node, struct rq, by_start);
		int fits = insert_fits(rq, ev);

		if (!rq_fits(rq, d, ev, false) || rq->bytes_left != first->bytes_left)
			continue;
		if (fits == most && !(ev->flags & EV_ZONE_APPEND))
			rq->io.ambiguous = best->io.ambiguous = true;
		if (fits <= most)
			continue;
		best = rq;
		most = fits;
	}
	return best;
}

void rq_insert(struct tracker *t, struct device *d, const struct event *ev)
{
	struct rq *rq;

	device_sum(t, d)->have_requests = true;
	if (!ev->bytes || ev->class == CLASS_PASSTHROUGH)
		return;
	rq = find_to_insert(t, d, ev);
	if (!rq)
		rq = rq_ungotten(t, d, ev);
	step_ended(t, rq, rq->io.get_ns);
	plug_leave(rq);
	if (rq->io.insert_ns == TIME_NONE && rq->io.issue_ns == TIME_NONE)
		rq->io.insert_ns = ev->time_ns;
}

/* Since when it has waited for its first D: what a pre-flush took is the device's [6]. */
static uint64_t waits_since(const struct io *io)
{
	if (io->insert_ns != TIME_NONE)
		return io->insert_ns;
	return io->data_from_ns != TIME_NONE ? io->data_from_ns : io->get_ns;
}

/* Bios learn when their first piece was issued. One with a merge came into a request that others
 * inserted. */
static void bios_issued(struct tracker *t, struct rq *rq)
{
	uint64_t bytes = 0;

	for (struct bio *bio = rq->first; bio; bio = bio->next) {
		struct io_bio *io = &bio->origin->io;

		bytes += bio->bytes;
		if (!bio->leads)
			continue;
		if (io->issue_ns == TIME_NONE) {
			io->issue_ns = t->event_ns;
			io->insert_ns = io->merge_ns == TIME_NONE ? rq->io.insert_ns : TIME_NONE;
			if (t->options.out.bio_issued)
				t->options.out.bio_issued(t->options.out.arg, io);
		}
		io->last_issue_ns = t->event_ns;
	}
	/* Some bio of it was not seen. */
	if (bytes != rq->bytes_left && rq->io.attempts == 1 && !(rq->io.flags & EV_NO_BYTES))
		rq->bio_unseen = true;
}

void rq_attempt(struct tracker *t, struct device *d, struct rq *rq)
{
	struct io *io = &rq->io;

	window_begin(t, t->now_ns);
	plug_leave(rq);
	if (io->issue_ns == TIME_NONE) {
		step_ended(t, rq, waits_since(io));
		io->issue_ns = t->event_ns;
		io->cpu = (uint16_t)t->cpu->cpu;
	} else {
		step_ended(t, rq, rq->requeue_ns);
		io->requeue_wait_ns += elapsed(rq->requeue_ns, t->event_ns);
	}
	io->last_issue_ns = t->event_ns;
	io->attempts++;
	rq->completions_at_issue = d->completions;
	if (rq->first && io->queue_ns > rq->first->process->issued_queue_ns)
		rq->first->process->issued_queue_ns = io->queue_ns;
	rq->issued = true;
	rq->issued_by = t->cpu;
	rq_pieces_at_device(rq, 1);
	timeline_issued(t, d, rq, 1);
	hazard_issued(t, d, rq);
	bios_issued(t, rq);
	io->depth_at_issue = (uint16_t)(d->nr_issued < UINT16_MAX ? d->nr_issued : UINT16_MAX);
}

void rq_attempt_over(struct tracker *t, struct device *d, struct rq *rq)
{
	if (!rq->issued)
		return;
	rq_pieces_at_device(rq, -1);
	hazard_over(d, rq);
	rq->issued = false;
	if (!rq->doubtful)
		timeline_issued(t, d, rq, -1);
	rq->doubtful = false;
}

static void count_seek(const struct tracker *t, struct device *d, struct device_sum *sum,
		       const struct rq *rq)
{
	/* Where an append lands is the device's choice: right behind the last one. */
	bool append = rq->io.flags & EV_ZONE_APPEND;
	uint64_t away =
		rq->sector > d->last_end ? rq->sector - d->last_end : d->last_end - rq->sector;

	if (append)
		away = 0;
	if (t->counting && (append ? d->have_issue : d->have_last_end)) {
		sum->seeks++;
		sum->sequential += away == 0;
		sum->seek_sum_sectors += (double)away;
		hist_add(&sum->seek_sectors, away);
	}
	d->have_issue = true;
	if (append)
		return;
	d->last_end = rq->end;
	d->have_last_end = !(rq->io.flags & EV_NO_BYTES);
}

static int by_queue_time(const void *a, const void *b)
{
	const struct bio *const *x = a, *const *y = b;

	return ((*x)->io.queue_ns > (*y)->io.queue_ns) - ((*x)->io.queue_ns < (*y)->io.queue_ns);
}

/* A multi-range discard: one G, and the Qs that follow it join unseen until their sum is D's [2]. */
static void join_ranges(struct tracker *t, struct device *d, struct rq *rq, uint32_t bytes)
{
	struct hash_walk walk = { 0 };
	struct hnode *node;
	struct bio **list = NULL;
	size_t nr = 0;

	bio_settle(t);
	while ((node = hash_walk(&t->waiting, &walk)) != NULL) {
		struct bio *bio = container_of(node, struct bio, by_start);

		if (bio->dev != d->index || bio->class != CLASS_DISCARD ||
		    bio->io.pid != rq->io.pid || bio->io.queue_ns < rq->io.queue_ns)
			continue;
		list = mem_grow(list, nr, sizeof(*list));
		list[nr++] = bio;
	}
	if (nr)
		qsort(list, nr, sizeof(*list), by_queue_time);
	for (size_t i = 0; i < nr && rq->bytes_left < bytes; i++) {
		rq->bytes_left += list[i]->bytes;
		rq_append_bio(t, rq, list[i]);
	}
	free(list);
}

/* What D says of the length rules; what was gathered may be short of it (lost merges). */
static void fit_length(struct tracker *t, struct device *d, struct rq *rq, const struct event *ev)
{
	if (rq->bytes_left == ev->bytes || rq->io.issue_ns != TIME_NONE)
		return;
	if (ev->flags & EV_NO_BYTES)
		return;
	if (ev->class == CLASS_DISCARD && rq->bytes_left < ev->bytes)
		join_ranges(t, d, rq, ev->bytes);
	rq->bytes_left = ev->bytes;
	rq->io.bytes = ev->bytes;
	rq->end = rq->sector + ev->bytes / SECTOR_SIZE;
}

/* rq is NULL where the event makes none. */
static void count_issue(struct tracker *t, struct device_sum *sum, const struct rq *rq,
			const struct event *ev)
{
	if (!t->counting)
		return;
	tally_request(t, rq ? rq->process : NULL, ev->class, known_bytes(ev));
	if (ev->flags & EV_NO_BYTES)
		sum->bytes_unknown++;
	if (ev->flags & EV_SUBMITTER)
		process_charge(&process_get(t, ev->pid)->sum, ev);
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
	bool append = ev->flags & EV_ZONE_APPEND;
	struct rq *rq;

	sum->have_requests = true;
	if (ev->class == CLASS_FLUSH) {
		flush_issue(t, d, ev);
		return;
	}
	if (ev->class == CLASS_PASSTHROUGH || !ev->bytes) {
		count_issue(t, sum, NULL, ev);
		if (ev->class == CLASS_PASSTHROUGH)
			issue_unranged(t, d, ev);
		return;
	}
	rq = append ? append_to_issue(t, d, ev) : rq_join(t, d, ev, false);
	if (!rq) {
		rq = append ? NULL : rq_join(t, d, ev, true);
		if (rq)
			rq_lose(t, d, rq); /* the device has another one there now */
		rq = rq_ungotten(t, d, ev);
	}
	fit_length(t, d, rq, ev);
	rq_close_end(t, rq);
	if (rq->io.issue_ns == TIME_NONE) {
		rq->io.sector = rq->sector;
		rq->io.flags = (rq->io.flags & ~EV_NO_BYTES) | (ev->flags & EV_NO_BYTES);
		count_issue(t, sum, rq, ev);
		count_seek(t, d, sum, rq);
	}
	if (append)
		append_issued(d, rq);
	flush_data_issued(t, d, rq, ev->flags);
	rq_attempt(t, d, rq);
}

/* An R of what was not issued: a D was lost, so the next one will not be the first. */
static void attempt_unseen(struct tracker *t, struct device *d, const struct event *ev)
{
	int equals;
	struct rq *rq;

	if (ev->class == CLASS_FLUSH) {
		flush_unseen(t, d, ev);
		return;
	}
	rq = rq_find(t, d, ev, false, &equals);
	if (rq)
		rq->io.crosses_loss = true;
}

void rq_requeue(struct tracker *t, struct device *d, const struct event *ev)
{
	uint64_t lost_ns;
	struct rq *rq = ev->class == CLASS_FLUSH ? flush_issued(d) : rq_join(t, d, ev, true);

	if (!rq) {
		attempt_unseen(t, d, ev);
		return;
	}
	lost_ns = elapsed(rq->io.last_issue_ns, ev->time_ns);
	if (t->counting)
		tally_requeue(t, rq, lost_ns < BUSY_NS);
	rq->io.attempt_lost_ns += lost_ns;
	rq->requeue_ns = ev->time_ns;
	rq_attempt_over(t, d, rq);
}
