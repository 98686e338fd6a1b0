/* SPDX-License-Identifier: MIT
 *
 * The flush machine [6]. A write with PREFLUSH or FUA is one write with parts; flush commands are
 * shared by every part that waits when they are issued. A write goes through the machine when it
 * asked for a pre-flush, or for FUA that the driver was not given (D without F): then its end is a
 * second, zero-length C at its sector.
 */
#include "track/tally.h"

void flush_begin(struct tracker *t, struct device *d, struct rq *rq)
{
	rq->preflush = rq->io.flags & EV_PREFLUSH ? STAGE_WAITS : STAGE_NONE;
	rq->stage_ns = t->now_ns;
	list_add(&d->sequences, &rq->flush);
}

void flush_data_issued(struct tracker *t, struct device *d, struct rq *rq, uint32_t flags)
{
	uint32_t asked = rq->io.flags & (EV_PREFLUSH | EV_FUA);

	if (!asked || rq->io.issue_ns != TIME_NONE)
		return;
	rq->machine = (asked & EV_PREFLUSH) || !(flags & EV_FUA);
	if ((asked & EV_FUA) && !(flags & EV_FUA))
		rq->postflush = STAGE_WAITS;
	if (!rq->machine)
		list_del(&rq->flush);
	else if (t->counting)
		device_sum(t, d)->flush_writes++;
}

bool flush_data_done(struct tracker *t, struct rq *rq)
{
	if (!rq->machine)
		return false;
	rq->data_done = true;
	rq->stage_ns = t->now_ns;
	return true;
}

/* The stage of a sequence that waits for a flush command, or NULL. */
static uint8_t *waiting_stage(struct rq *rq)
{
	if (rq->preflush == STAGE_WAITS)
		return &rq->preflush;
	return rq->data_done && rq->postflush == STAGE_WAITS ? &rq->postflush : NULL;
}

void flush_issue(struct tracker *t, struct device *d, const struct event *ev)
{
	struct device_sum *sum = device_sum(t, d);
	struct rq *command;

	d->flush_seen = true;
	/* A requeued command is issued again. */
	if (!list_empty(&d->commands)) {
		command = container_of(d->commands.next, struct rq, flush);
		if (!command->issued) {
			rq_attempt(t, d, command);
			return;
		}
	}
	for (struct link *l = d->sequences.next; l != &d->sequences; l = l->next) {
		struct rq *rq = container_of(l, struct rq, flush);
		uint8_t *stage = waiting_stage(rq);

		if (!stage)
			continue;
		*stage = STAGE_RUNS;
		*(stage == &rq->preflush ? &rq->io.preflush_wait_ns : &rq->io.postflush_wait_ns) =
			elapsed(rq->stage_ns, ev->time_ns);
		rq->stage_ns = ev->time_ns;
		rq_pieces_at_device(rq, 1);
		if (t->counting)
			sum->flush_stages++;
	}
	for (struct bio *bio = d->flush_first; bio; bio = bio->next) {
		if (!bio->covered && t->counting)
			sum->flush_stages++;
		bio->covered = true;
	}
	if (t->counting)
		tally_request(t, NULL, CLASS_FLUSH, 0);
	if (t->counting && (ev->flags & EV_SUBMITTER))
		process_charge(&process_get(t, ev->pid)->sum, ev);
	command = rq_alone(t, d, ev);
	list_add(&d->commands, &command->flush);
	rq_attempt(t, d, command);
}

void flush_complete(struct tracker *t, struct device *d, const struct event *ev)
{
	struct rq *command;

	for (struct link *l = d->sequences.next; l != &d->sequences; l = l->next) {
		struct rq *rq = container_of(l, struct rq, flush);

		if (rq->preflush == STAGE_RUNS) {
			rq_pieces_at_device(rq, -1);
			rq->preflush = STAGE_DONE;
			rq->io.preflush_ns = elapsed(rq->stage_ns, ev->time_ns);
			rq->io.data_from_ns = ev->time_ns;
		} else if (rq->postflush == STAGE_RUNS) {
			rq_pieces_at_device(rq, -1);
			rq->postflush = STAGE_DONE;
			rq->io.postflush_ns = elapsed(rq->stage_ns, ev->time_ns);
		}
	}
	command = container_of(d->commands.next, struct rq, flush);
	/* Several hardware queues have several at once, and nothing tells them apart. */
	if (d->commands.next != d->commands.prev)
		command->io.ambiguous = true;
	step_ended(t, command, command->io.last_issue_ns);
	if (t->counting)
		tally_ended(t, NULL, CLASS_FLUSH);
	timeline_completed(t, d, command, 0);
	rq_done(t, d, command, ev->error);
}

void flush_stages_over(struct rq *rq)
{
	if (rq->preflush == STAGE_RUNS || rq->postflush == STAGE_RUNS)
		rq_pieces_at_device(rq, -1);
	rq->preflush = rq->postflush = STAGE_DONE;
}

void flush_bio_get(struct device *d, const struct event *ev)
{
	for (struct bio *bio = d->flush_first; bio; bio = bio->next) {
		if (bio->io.get_ns == TIME_NONE) {
			bio->io.get_ns = ev->time_ns;
			return;
		}
	}
}

static struct rq *sequence_at(struct device *d, uint64_t sector)
{
	for (struct link *l = d->sequences.next; l != &d->sequences; l = l->next) {
		struct rq *rq = container_of(l, struct rq, flush);

		if (rq->data_done && (rq->io.sector == sector || rq->end == sector))
			return rq;
	}
	return NULL;
}

/* The end of a write with parts at ev's sector. */
bool flush_sequence_end(struct tracker *t, struct device *d, const struct event *ev)
{
	struct rq *rq = ev->class == CLASS_READ ? NULL : sequence_at(d, ev->sector);

	if (!rq)
		return false;
	timeline_completed(t, d, rq, 0);
	rq_done(t, d, rq, ev->error);
	if (t->counting)
		device_sum(t, d)->zero_ends++;
	return true;
}

bool flush_zero_end(struct tracker *t, struct device *d, const struct event *ev)
{
	struct bio *bio = d->flush_first;

	if (flush_sequence_end(t, d, ev))
		return true;
	if (!bio || !bio->covered || ev->class == CLASS_READ)
		return false;
	d->flush_first = bio->next;
	timeline_completed(t, d, NULL, 0);
	bio_piece_done(t, bio, 0, ev->error);
	if (t->counting)
		device_sum(t, d)->zero_ends++;
	return true;
}
