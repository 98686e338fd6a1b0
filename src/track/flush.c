/* SPDX-License-Identifier: MIT
 *
 * The flush machine [6]. A write with PREFLUSH or FUA is one write with parts; flush commands are
 * shared by every part that waits when they are issued. A write goes through the machine when it
 * asked for a pre-flush, or for FUA that the driver was not given (D without F): then its end is a
 * second, zero-length C at its sector.
 */
#include "track/tally.h"

#define MIXED_NS        UINT64_C(1000000000) /* a flush bio ends within this */
#define MOST_FLUSH_BIOS 4096                 /* open on a device */
#define MOST_MISSED     3                    /* ends in a row that fit to no sequence */

void flush_begin(struct tracker *t, struct device *d, struct rq *rq)
{
	rq->preflush = rq->io.flags & EV_PREFLUSH ? STAGE_WAITS : STAGE_NONE;
	rq->stage_ns = t->event_ns;
	if (rq->preflush)
		list_add(&d->sequences, &rq->flush);
}

void flush_begin_late(struct rq *rq)
{
	if (rq->io.flags & EV_PREFLUSH)
		rq->io.crosses_loss = true;
	rq->preflush = STAGE_NONE;
}

void flush_data_issued(struct tracker *t, struct device *d, struct rq *rq, uint32_t flags)
{
	uint32_t asked = rq->io.flags & (EV_PREFLUSH | EV_FUA);

	if (!asked || rq->io.issue_ns != TIME_NONE)
		return;
	rq->machine = (asked & EV_PREFLUSH) || !(flags & EV_FUA);
	if ((asked & EV_FUA) && !(flags & EV_FUA))
		rq->postflush = STAGE_WAITS;
	if (!rq->machine) {
		list_del(&rq->flush);
		return;
	}
	rq->io.unplug_ns = TIME_NONE; /* what goes through the machine was in no plug */
	if (t->counting)
		device_sum(t, d)->flush_writes++;
}

static bool sequence_ready(const struct rq *rq)
{
	return rq->postflush != STAGE_WAITS && rq->postflush != STAGE_RUNS;
}

/* What only waits for its end there, when another one of that range has come so far, has lost it. */
static void lose_ready(struct tracker *t, struct device *d, const struct rq *now)
{
	struct link *next;

	for (struct link *l = d->sequences.next; l != &d->sequences; l = next) {
		struct rq *rq = container_of(l, struct rq, flush);

		next = l->next;
		if (rq != now && rq->data_done && sequence_ready(rq) &&
		    rq->io.sector == now->io.sector && rq->end == now->end)
			rq_lose(t, d, rq);
	}
}

bool flush_data_done(struct tracker *t, struct device *d, struct rq *rq, int error)
{
	if (!rq->machine)
		return false;
	lose_ready(t, d, rq);
	list_del(&rq->flush); /* where its pre-flush was not seen */
	list_add(&d->sequences, &rq->flush);
	if (error) {
		rq->io.error = (int16_t)error;
		rq->postflush = STAGE_NONE; /* what failed is not flushed */
	}
	rq->data_done = true;
	rq->stage_ns = t->event_ns;
	return true;
}

/* The stage of a sequence that waits for a flush command, or NULL. */
static uint8_t *waiting_stage(struct rq *rq)
{
	if (rq->preflush == STAGE_WAITS)
		return &rq->preflush;
	return rq->data_done && rq->postflush == STAGE_WAITS ? &rq->postflush : NULL;
}

/* Is something at the device because of a flush command? */
static bool serves_any(const struct device *d)
{
	for (struct link *l = d->sequences.next; l != &d->sequences; l = l->next) {
		const struct rq *rq = container_of(l, struct rq, flush);

		if (rq->preflush == STAGE_RUNS || rq->postflush == STAGE_RUNS)
			return true;
	}
	for (const struct bio *bio = d->flush_first; bio; bio = bio->next)
		if (bio->covered && !bio->served)
			return true;
	return false;
}

/* A command that served something, all of which has ended, has ended as well: its C was lost. */
static void lose_commands(struct tracker *t, struct device *d)
{
	struct link *l = d->commands.next, *next;

	if (l == &d->commands || serves_any(d))
		return;
	for (; l != &d->commands; l = next) {
		struct rq *command = container_of(l, struct rq, flush);

		next = l->next;
		if (command->serves)
			rq_lose(t, d, command);
	}
}

void flush_issue(struct tracker *t, struct device *d, const struct event *ev)
{
	struct device_sum *sum = device_sum(t, d);
	struct rq *command;

	d->flush_seen = true;
	d->flush_issued_ns = ev->time_ns;
	lose_commands(t, d);
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
		if (!bio->joined && d->got)
			break; /* it is not in the machine yet */
		if (!bio->covered && t->counting)
			sum->flush_stages++;
		bio->covered = true;
	}
	if (t->counting)
		tally_request(t, NULL, CLASS_FLUSH, 0);
	if (t->counting && (ev->flags & EV_SUBMITTER))
		process_charge(&process_get(t, ev->pid)->sum, ev);
	command = rq_alone(t, d, ev);
	command->serves = serves_any(d);
	list_add(&d->commands, &command->flush);
	rq_attempt(t, d, command);
}

struct rq *flush_issued(struct device *d)
{
	struct rq *command = container_of(d->commands.next, struct rq, flush);

	return !list_empty(&d->commands) && command->issued ? command : NULL;
}

/* Those that a command has served end before the next one does: what is still here has lost its end, and
 * would be taken for a later one for ever. */
static void flush_bios_served(struct tracker *t, struct device *d, bool several)
{
	struct bio **at = &d->flush_first, *bio;

	while ((bio = *at) != NULL) {
		if (bio->served && !several) {
			*at = bio->next;
			bio->io.left_out = bio->io.lost = true;
			bio_piece_done(t, bio, 0, 0);
			continue;
		}
		bio->served |= bio->covered;
		bio->io.left_out |= several && bio->covered;
		at = &bio->next;
	}
}

/* A write whose parts are over ends before the next command does; what is still here has lost its end. */
static bool is_overdue(struct rq *rq, bool several)
{
	bool was = rq->overdue;

	rq->overdue = rq->data_done && sequence_ready(rq);
	return was && !several;
}

static void stage_served(struct rq *rq, uint64_t time_ns, bool several)
{
	if (rq->preflush != STAGE_RUNS && rq->postflush != STAGE_RUNS)
		return;
	rq->io.ambiguous |= several; /* which of the commands it was that served it is not known */
	rq_pieces_at_device(rq, -1);
	if (rq->preflush == STAGE_RUNS) {
		rq->preflush = STAGE_DONE;
		rq->io.preflush_ns = elapsed(rq->stage_ns, time_ns);
		rq->io.data_from_ns = time_ns;
		if (!rq->data_done)
			list_del(&rq->flush); /* until its data is done */
	} else {
		rq->postflush = STAGE_DONE;
		rq->io.postflush_ns = elapsed(rq->stage_ns, time_ns);
	}
}

void flush_complete(struct tracker *t, struct device *d, const struct event *ev)
{
	bool several = d->commands.next != d->commands.prev;
	struct rq *command;
	struct link *next;

	for (struct link *l = d->sequences.next; l != &d->sequences; l = next) {
		struct rq *rq = container_of(l, struct rq, flush);

		next = l->next;
		stage_served(rq, ev->time_ns, several);
		if (is_overdue(rq, several))
			rq_lose(t, d, rq);
	}
	flush_bios_served(t, d, several);
	rq_not_alone(&d->commands); /* several hardware queues have several at once */
	command = container_of(d->commands.next, struct rq, flush);
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

/* One whose Q was lost is in the machine as well: which of them ends is not known any more, for a while. */
static void flush_bio_unseen(struct device *d, uint64_t time_ns)
{
	d->flush_mixed_ns = time_ns;
	for (struct bio *bio = d->flush_first; bio; bio = bio->next)
		bio->io.left_out = true;
}

/* All that waits is taken to be served by it, which may not be so. */
void flush_unseen(struct tracker *t, struct device *d, const struct event *ev)
{
	bool ends = ev->action == ACT_COMPLETE;
	struct rq *command;

	for (struct link *l = d->sequences.next; l != &d->sequences; l = l->next) {
		struct rq *rq = container_of(l, struct rq, flush);
		uint8_t *stage = waiting_stage(rq);

		if (!stage)
			continue;
		rq->io.crosses_loss = true;
		*stage = ends ? STAGE_DONE : STAGE_RUNS;
		rq_pieces_at_device(rq, !ends);
	}
	d->flush_issued_ns = ev->time_ns;
	for (struct bio *bio = d->flush_first; bio; bio = bio->next)
		bio->covered |= bio->joined;
	flush_bio_unseen(d, ev->time_ns);
	if (ends) {
		note_orphan(t, d, ev);
		return;
	}
	command = rq_alone(t, d, ev); /* it will be issued again */
	command->io.crosses_loss = true;
	command->requeue_ns = ev->time_ns;
	list_add(&d->commands, &command->flush);
}

/* `at` is where in the list of flush bios. */
static void put_at(struct bio **at, struct bio *bio)
{
	bio->next = *at;
	*at = bio;
}

/* A thread submits one bio after the other: one that has not come into the machine when the next one is
 * queued has lost its G. */
static void forget_ungotten(struct tracker *t, struct device *d, uint32_t pid)
{
	struct bio **at = &d->flush_first, *bio;

	while ((bio = *at) != NULL) {
		if (!d->got || bio->joined || bio->io.pid != pid) {
			at = &bio->next;
			continue;
		}
		*at = bio->next;
		bio->io.left_out = bio->io.lost = true;
		bio_piece_done(t, bio, 0, 0);
	}
}

static void lose_oldest(struct tracker *t, struct device *d)
{
	struct bio *bio = d->flush_first;

	d->flush_first = bio->next;
	bio->io.left_out = bio->io.lost = true;
	bio_age_out(t, bio);
	bio_piece_done(t, bio, 0, 0);
}

void flush_bio_add(struct tracker *t, struct device *d, struct bio *bio)
{
	struct bio **at = &d->flush_first;
	int nr = 0;

	forget_ungotten(t, d, bio->io.pid);

	if (elapsed(d->flush_mixed_ns, bio->io.queue_ns) > MIXED_NS)
		d->flush_mixed_ns = 0;
	bio->io.left_out = d->flush_mixed_ns != 0;
	while (*at) {
		at = &(*at)->next;
		nr++;
	}
	put_at(at, bio);
	if (nr > MOST_FLUSH_BIOS)
		lose_oldest(t, d);
}

/* This thread's comes into the machine. */
void flush_bio_get(struct device *d, const struct event *ev)
{
	struct bio **end = &d->flush_first, **at, *bio;

	while (*end && (*end)->joined)
		end = &(*end)->next;
	at = end;
	while (*at && (*at)->io.pid != ev->pid)
		at = &(*at)->next;
	if (!*at) {
		flush_bio_unseen(d, ev->time_ns);
		return;
	}
	bio = *at;
	*at = bio->next;
	bio->joined = true;
	bio->io.get_ns = ev->time_ns;
	put_at(end, bio);
}

/* How well the sequence fits to a zero-length C at this sector; 0: not at all. */
static int sequence_fits(const struct device *d, const struct rq *rq, uint64_t sector)
{
	bool start = rq->io.sector == sector && d->zero_at != ZERO_AT_END;
	bool end = rq->end == sector && d->zero_at != ZERO_AT_START;

	return rq->data_done && (start || end) ? 1 + sequence_ready(rq) : 0;
}

/* The sequence that ends with a zero-length C at this sector; *equals = how many may. */
static struct rq *sequence_at(const struct device *d, uint64_t sector, int *equals)
{
	struct rq *best = NULL;
	int most = 0;

	*equals = 0;
	for (struct link *l = d->sequences.next; l != &d->sequences; l = l->next) {
		struct rq *rq = container_of(l, struct rq, flush);
		int fits = sequence_fits(d, rq, sector);

		if (!fits || fits < most)
			continue;
		*equals = fits > most ? 1 : *equals + 1;
		if (fits > most || rq->io.complete_ns < best->io.complete_ns)
			best = rq; /* they end in the order in which their data did */
		most = fits;
	}
	return best;
}

/* Flags get lost on the way [6]. */
static bool ends_in_machine(const struct event *ev)
{
	return ev->class == CLASS_WRITE || ev->class == CLASS_FLUSH;
}

bool flush_failed_before(struct device *d, const struct event *ev)
{
	int equals;
	const struct rq *rq = NULL;

	if (!ev->bytes && ends_in_machine(ev))
		rq = sequence_at(d, ev->sector, &equals);
	return rq && rq->io.error == ev->error;
}

static void learn_zero_at(struct device *d, const struct rq *rq, uint64_t sector)
{
	d->zero_missed = 0;
	if (d->zero_at == ZERO_UNKNOWN)
		d->zero_at = rq->io.sector == sector ? ZERO_AT_START : ZERO_AT_END;
}

/* What was learned may be wrong, if events were lost then. */
static void doubt_zero_at(struct device *d)
{
	if (!list_empty(&d->sequences) && ++d->zero_missed > MOST_MISSED) {
		d->zero_at = ZERO_UNKNOWN;
		d->zero_missed = 0;
	}
}

/* All that fit to it as well as this one does. */
static void doubt_sequences(struct device *d, const struct rq *like, uint64_t sector)
{
	for (struct link *l = d->sequences.next; l != &d->sequences; l = l->next) {
		struct rq *rq = container_of(l, struct rq, flush);

		if (sequence_fits(d, rq, sector) == sequence_fits(d, like, sector))
			rq->io.ambiguous = true;
	}
}

/* The end of a write with parts at ev's sector. */
bool flush_sequence_end(struct tracker *t, struct device *d, const struct event *ev)
{
	struct rq *rq;
	int equals = 0, issued;

	rq = ends_in_machine(ev) ? sequence_at(d, ev->sector, &equals) : NULL;
	if (!rq) {
		doubt_zero_at(d);
		return false;
	}
	/* At the start of an open request it says that nothing of that has ended yet [3]. */
	if (rq_find(t, d, ev, true, &issued)) {
		if (!sequence_ready(rq))
			return false;
		rq->io.ambiguous |= rq->io.sector == ev->sector; /* or it was lost, and so */
	}
	if (equals > 1)
		doubt_sequences(d, rq, ev->sector);
	else
		learn_zero_at(d, rq, ev->sector);
	timeline_completed(t, d, rq, 0);
	rq_done(t, d, rq, ev->error);
	if (t->counting)
		device_sum(t, d)->zero_ends++;
	return true;
}

/* The flush bio at this sector that ends first: the first one that a command serves. Where there is none,
 * one whose G, or that command's D, must have been lost. */
static struct bio **flush_bio_to_end(struct device *d, uint64_t sector)
{
	for (struct bio **at = &d->flush_first; *at; at = &(*at)->next)
		if ((*at)->served && (*at)->sector == sector)
			return at;
	for (struct bio **at = &d->flush_first; *at; at = &(*at)->next)
		if ((*at)->covered && (*at)->sector == sector)
			return at; /* the C of the command was lost */
	for (struct bio **at = &d->flush_first; *at; at = &(*at)->next) {
		if ((*at)->sector != sector || (*at)->io.queue_ns > d->flush_issued_ns)
			continue;
		(*at)->io.left_out = true;
		return at;
	}
	return NULL;
}

bool flush_zero_end(struct tracker *t, struct device *d, const struct event *ev)
{
	struct bio **at = NULL, *bio;
	int issued;

	if (flush_sequence_end(t, d, ev))
		return true;
	if (ends_in_machine(ev))
		at = flush_bio_to_end(d, ev->sector);
	/* At the start of an open request it says that nothing of that has ended yet [3]. */
	if (!at || (!(*at)->served && rq_find(t, d, ev, true, &issued)))
		return false;
	bio = *at;
	*at = bio->next;
	timeline_completed(t, d, NULL, 0);
	bio_piece_done(t, bio, 0, ev->error);
	if (t->counting)
		device_sum(t, d)->zero_ends++;
	return true;
}
