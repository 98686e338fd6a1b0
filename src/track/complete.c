/* SPDX-License-Identifier: MIT
 *
 * Completions: whole requests, parts, errors, and what matches nothing; the latencies.
 */
#include "track/tally.h"

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

/* Windows come roughly in the order of time. */
bool crosses_loss(const struct tracker *t, uint64_t since_ns, uint64_t until_ns)
{
	for (size_t i = t->facts->nr_losses; i-- > 0;) {
		const struct loss *loss = &t->facts->losses[i];

		if (loss->from_ns < until_ns && loss->to_ns > since_ns)
			return true;
		if (loss->to_ns + UINT64_C(1000000000) < since_ns)
			return false;
	}
	return false;
}

static uint64_t open_since(const struct io *io)
{
	if (io->queue_ns != TIME_NONE)
		return io->queue_ns;
	return io->get_ns != TIME_NONE ? io->get_ns : io->issue_ns;
}

static void count_latencies(struct device_sum *sum, const struct io *io)
{
	uint64_t get_ns = io->get_ns, queue_ns = io->queue_ns;

	if (io->ambiguous || io->crosses_loss) {
		sum->left_out++;
		return;
	}
	add_phase(sum, PHASE_PLUG, io->unplug_ns == TIME_NONE ? TIME_NONE : io->queue_ns,
		  io->unplug_ns);
	if (io->attempts > 1) {
		hist_add(&sum->latency[PHASE_ATTEMPT_LOST], io->attempt_lost_ns);
		hist_add(&sum->latency[PHASE_REQUEUE_WAIT], io->requeue_wait_ns);
		sum->left_out++;
		return;
	}
	/* What a pre-flush took is the device's, not the queue's [6]. */
	if (io->data_from_ns != TIME_NONE) {
		get_ns = queue_ns = io->data_from_ns;
		hist_add(&sum->latency[PHASE_PREFLUSH], io->preflush_ns);
		hist_add(&sum->latency[PHASE_PREFLUSH_WAIT], io->preflush_wait_ns);
	}
	if (io->postflush_ns) {
		hist_add(&sum->latency[PHASE_POSTFLUSH], io->postflush_ns);
		hist_add(&sum->latency[PHASE_POSTFLUSH_WAIT], io->postflush_wait_ns);
	}
	add_phase(sum, PHASE_G2I, get_ns, io->insert_ns);
	if (io->insert_ns == TIME_NONE)
		add_phase(sum, PHASE_G2D, get_ns, io->issue_ns);
	add_phase(sum, PHASE_I2D, io->insert_ns, io->issue_ns);
	add_phase(sum, PHASE_M2D, io->merge_ns, io->issue_ns);
	add_phase(sum, PHASE_Q2D, queue_ns, io->issue_ns);
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

	flush_stages_over(rq);
	rq_attempt_over(t, d, rq);
	if (error)
		io->error = (int16_t)error;
	if (!io->lost) {
		if (io->complete_ns == TIME_NONE)
			io->complete_ns = t->event_ns;
		io->end_ns = t->event_ns;
	}
	if (!io->crosses_loss)
		io->crosses_loss = crosses_loss(t, open_since(io), io->end_ns);
	if (rq->bio_unseen)
		io->queue_ns = io->remap_ns = TIME_NONE; /* the first Q may be the one not seen */
	if (io->crosses_loss || io->ambiguous)
		for (struct bio *bio = rq->first; bio; bio = bio->next)
			bio->origin->io.left_out = true;
	for (struct bio *bio = io->lost ? rq->first : NULL; bio; bio = bio->next)
		bio->origin->io.lost = true;
	rq_bios_done(t, rq, UINT64_MAX, error);
	if (t->counting) {
		count_latencies(device_sum(t, d), io);
		if (io->nr_bios)
			process_get(t, io->pid)->sum.requests++;
	}
	if (t->options.out.request)
		t->options.out.request(t->options.out.arg, io);
	rq_free(t, d, rq);
}

void rq_lose(struct tracker *t, struct device *d, struct rq *rq)
{
	if (t->counting && rq->issued)
		device_sum(t, d)->orphan_issues++;
	rq->io.crosses_loss = rq->io.lost = true;
	rq_done(t, d, rq, 0);
}

void note_orphan(struct tracker *t, struct device *d, const struct event *ev)
{
	if (t->counting)
		device_sum(t, d)->orphan_completes++;
	if (t->options.out.orphan)
		t->options.out.orphan(t->options.out.arg, ev);
}

/* The issued request, of another class, that starts there; *exact: it has just that range. */
static struct rq *of_another_class(struct tracker *t, const struct device *d,
				   const struct event *ev, bool *exact)
{
	struct hnode *node = hash_find(&t->requests, start_key(d, ev->sector));

	for (; node; node = hash_next(node)) {
		struct rq *rq = container_of(node, struct rq, by_start);

		if (rq->io.dev != d->index || rq->sector != ev->sector || !rq->issued ||
		    rq->io.class == ev->class)
			continue;
		*exact = rq->bytes_left == ev->bytes && !((rq->io.flags | ev->flags) & EV_NO_BYTES);
		return rq;
	}
	return NULL;
}

/* A C that nothing is known of. A device does not work on one range for two: where a request of another
 * class was issued for just that range, its C was lost, and so was this one's D [17]. */
void rq_complete_orphan(struct tracker *t, struct device *d, const struct event *ev)
{
	bool exact;
	struct rq *other = of_another_class(t, d, ev, &exact);
	struct rq *rq;
	int equals;

	note_orphan(t, d, ev);
	if (other && t->counting)
		device_sum(t, d)->class_mismatches++;
	if (other && exact)
		rq_lose(t, d, other);
	rq = rq_find(t, d, ev, false, &equals);
	if (rq) { /* its D was lost */
		rq->io.crosses_loss = true;
		rq_done(t, d, rq, ev->error);
	}
}

void rq_not_alone(struct link *list)
{
	if (list->next == list->prev)
		return;
	for (struct link *l = list->next; l != list; l = l->next)
		container_of(l, struct rq, flush)->io.ambiguous = true;
}

/* The first one of this length; if there is none, the first one. */
static struct rq *passthrough_to_end(struct device *d, const struct event *ev)
{
	struct rq *first = container_of(d->passthrough.next, struct rq, flush);

	for (struct link *l = d->passthrough.next; l != &d->passthrough; l = l->next) {
		struct rq *rq = container_of(l, struct rq, flush);

		if (rq->bytes_left == ev->bytes)
			return rq;
	}
	if (ev->bytes && !((first->io.flags | ev->flags) & EV_NO_BYTES))
		first->io.ambiguous = true;
	return first;
}

static void complete_passthrough(struct tracker *t, struct device *d, const struct event *ev)
{
	struct rq *rq;

	if (list_empty(&d->passthrough)) {
		note_orphan(t, d, ev);
		return;
	}
	rq_not_alone(&d->passthrough);
	rq = passthrough_to_end(d, ev);
	step_ended(t, rq, rq->io.last_issue_ns);
	if (t->counting)
		tally_ended(t, rq->process, rq->io.class);
	timeline_completed(t, d, rq, ev->bytes);
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
	if (!rq->machine) /* whose bios end with it */
		rq_bios_done(t, rq, bytes, error);
	rq_set_start(t, d, rq, rq->sector + bytes / SECTOR_SIZE);
}

void rq_front_done(struct tracker *t, struct device *d, struct rq *rq, const struct event *ev,
		   uint32_t bytes)
{
	step_ended(t, rq, rq->io.last_issue_ns);
	if (t->counting && !(rq->io.flags & EV_NO_BYTES))
		tally_moved(t, rq->process, ev->class, bytes);
	timeline_completed(t, d, rq, bytes);
	if (bytes < rq->bytes_left) {
		complete_part(t, d, rq, bytes, ev->error);
		return;
	}
	if (t->counting)
		tally_ended(t, rq->process, ev->class);
	rq->io.complete_ns = ev->time_ns;
	if (flush_data_done(t, d, rq, ev->error)) {
		for (struct bio *bio = rq->first; bio; bio = bio->next)
			bio->origin->io.data_ns = ev->time_ns;
		rq_attempt_over(t, d, rq);
		rq_leave_tables(t, rq);
		return;
	}
	rq_done(t, d, rq, ev->error);
}

/* Another one of just that range waits: were its D and the C of this one lost, this C would be that one's.
 * A device is seldom asked for the same twice at once. */
static void doubt_unissued(struct tracker *t, const struct device *d, const struct event *ev,
			   struct rq *rq)
{
	int equals;
	struct rq *other = rq_find(t, d, ev, false, &equals);

	if (other && other->bytes_left == ev->bytes && !(ev->flags & EV_ZONE_APPEND))
		rq->io.ambiguous = other->io.ambiguous = true;
}

void rq_complete(struct tracker *t, struct device *d, const struct event *ev)
{
	struct device_sum *sum = device_sum(t, d);
	uint32_t bytes = ev->bytes;
	struct rq *rq;

	/* What failed in the flush machine fails again at its end. */
	if (ev->error && !flush_failed_before(d, ev))
		note_error(sum, ev);
	if (ev->class == CLASS_FLUSH && !list_empty(&d->commands)) {
		flush_complete(t, d, ev);
		return;
	}
	if (is_flush_command(ev)) {
		flush_unseen(t, d, ev);
		return;
	}
	if (ev->class == CLASS_PASSTHROUGH) {
		complete_passthrough(t, d, ev);
		return;
	}
	if (!bytes) {
		if (!flush_zero_end(t, d, ev) && t->counting)
			sum->partial_completions++; /* e.g. of a failing read [3] */
		return;
	}
	rq = ev->flags & EV_ZONE_APPEND ? append_to_end(t, d, ev) : rq_join(t, d, ev, true);
	if (!rq) {
		rq_complete_orphan(t, d, ev);
		return;
	}
	doubt_unissued(t, d, ev, rq);
	if ((ev->flags | rq->io.flags) & EV_NO_BYTES)
		bytes = rq->bytes_left;
	if (bytes > rq->bytes_left) {
		bytes = rq->bytes_left;
		if (t->counting)
			sum->double_completions++;
	}
	rq_front_done(t, d, rq, ev, bytes);
}
