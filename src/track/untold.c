/* SPDX-License-Identifier: MIT
 *
 * Completions of an input that does not tell of what: text prints one C for a request, for each of its
 * bios, and for a split bio again and again with all that has completed of it so far. The first of
 * these that fits is what happened [17].
 */
#include "track/tally.h"

#define MOST_LOOKED_AT 4096 /* of what no table finds */

static void count_unissued(struct tracker *t, struct device *d, uint64_t since_ns)
{
	struct device_sum *sum = device_sum(t, d);

	if (!t->counting || !sum->have_requests)
		return;
	sum->unissued_ends++;
	if (since_ns != TIME_NONE)
		sum->unissued_ends_ns += elapsed(since_ns, t->now_ns);
}

static void note_any_error(struct tracker *t, struct device *d, const struct event *ev)
{
	if (ev->error)
		note_error(device_sum(t, d), ev);
}

/* ---- requests ---- */

/* How far issued requests lie end to end from `from` on, at most up to `end`. */
static uint64_t issued_up_to(struct tracker *t, struct device *d, const struct event *ev,
			     uint64_t from, uint64_t end)
{
	struct event at = { .sector = from, .class = ev->class };
	int equals;

	for (int i = 0; i < MOST_LOOKED_AT && at.sector < end; i++) {
		const struct rq *rq = rq_find(t, d, &at, true, &equals);
		uint64_t sectors = rq ? rq->bytes_left / SECTOR_SIZE : 0;

		if (!sectors || rq->io.flags & EV_NO_BYTES)
			break;
		at.sector = sectors < end - at.sector ? at.sector + sectors : end;
	}
	return at.sector;
}

/* Ends what issued_up_to found. */
static void end_issued_up_to(struct tracker *t, struct device *d, const struct event *ev,
			     uint64_t from, uint64_t end)
{
	struct event at = *ev;
	int equals;

	at.sector = from;
	while (at.sector < end) {
		struct rq *rq = rq_find(t, d, &at, true, &equals);
		uint64_t left = end - at.sector;

		rq->io.ambiguous |= equals > 1;
		at.bytes = rq->bytes_left;
		if (left < at.bytes / SECTOR_SIZE)
			at.bytes = (uint32_t)(left * SECTOR_SIZE);
		past_add(t, d, &at, event_end(&at), false);
		rq_front_done(t, d, rq, &at, at.bytes);
		at.sector = event_end(&at);
	}
}

/* (a) An issued request that starts there, or the front of it, or several of them end to end. */
static bool end_issued(struct tracker *t, struct device *d, const struct event *ev)
{
	uint64_t end = event_end(ev);
	uint32_t bytes = ev->bytes;
	struct rq *rq =
		ev->flags & EV_ZONE_APPEND ? append_to_end(t, d, ev) : rq_join(t, d, ev, true);

	if (!rq)
		return false;
	note_any_error(t, d, ev);
	if ((ev->flags | rq->io.flags) & EV_NO_BYTES)
		bytes = rq->bytes_left;
	if (bytes > rq->bytes_left && rq->bytes_left >= SECTOR_SIZE &&
	    issued_up_to(t, d, ev, ev->sector, end) == end) {
		past_series(t, d, ev, ev->sector + rq->bytes_left / SECTOR_SIZE, true);
		end_issued_up_to(t, d, ev, ev->sector, end);
		return true;
	}
	if (bytes > rq->bytes_left) {
		bytes = rq->bytes_left;
		if (t->counting)
			device_sum(t, d)->double_completions++;
	}
	past_add(t, d, ev, ev->sector + bytes / SECTOR_SIZE, false);
	rq_front_done(t, d, rq, ev, bytes);
	return true;
}

/* (b) A request that was not issued yet: its D was cut out. It must have been, so it counts. */
static bool end_unissued(struct tracker *t, struct device *d, const struct event *ev)
{
	struct device_sum *sum = device_sum(t, d);
	int equals;
	struct rq *rq = rq_find(t, d, ev, false, &equals);
	bool no_bytes = rq && (ev->flags | rq->io.flags) & EV_NO_BYTES;

	if (!rq || (rq->bytes_left != ev->bytes && !no_bytes))
		return false;
	note_any_error(t, d, ev);
	count_unissued(t, d, rq->io.queue_ns != TIME_NONE ? rq->io.queue_ns : rq->io.get_ns);
	if (rq->io.issue_ns != TIME_NONE) {
		rq->io.crosses_loss = true; /* which attempt ended is not known */
	} else if (t->counting) {
		uint32_t bytes = rq->io.flags & EV_NO_BYTES ? 0 : rq->bytes_left;

		tally_request(t, rq->process, ev->class, bytes);
		if (rq->io.flags & EV_NO_BYTES)
			sum->bytes_unknown++;
	}
	past_add(t, d, ev, ev->sector + rq->bytes_left / SECTOR_SIZE, false);
	rq_front_done(t, d, rq, ev, rq->bytes_left);
	return true;
}

/* ---- bios ---- */

static void bio_bytes_done(struct tracker *t, struct device *d, const struct process *process,
			   const struct event *ev, uint32_t bytes)
{
	struct device_sum *sum = device_sum(t, d);

	if (!t->counting || sum->have_requests || ev->flags & EV_NO_BYTES)
		return; /* what no request was seen to dispatch is not counted as its completion */
	tally_moved(t, process, ev->class, bytes);
	t->cpu->early[ev->class].bytes += bytes;
}

/* What of [from, end) waits as bios, end to end, ends. Returns how far that is. */
static uint64_t end_bios_up_to(struct tracker *t, struct device *d, const struct event *ev,
			       uint64_t from, uint64_t end)
{
	struct event at = *ev;
	struct bio *bio;

	at.sector = from;
	at.bytes = ev->flags & EV_NO_BYTES ? ev->bytes : (uint32_t)((end - from) * SECTOR_SIZE);
	while (at.bytes && (bio = bio_find(t, d, &at)) != NULL) {
		const struct process *process = bio->origin->below ? NULL : bio->process;
		bool no_bytes = (ev->flags | bio->io.flags) & EV_NO_BYTES;
		uint32_t bytes = no_bytes ? bio->bytes : at.bytes;

		if (bytes >= bio->bytes)
			count_unissued(t, d, bio->origin->io.queue_ns);
		bytes = bio_front_done(t, d, bio, bytes, ev->error);
		if (no_bytes)
			return end;
		bio_bytes_done(t, d, process, ev, bytes);
		at.sector += bytes / SECTOR_SIZE;
		at.bytes -= bytes;
		if (bytes < SECTOR_SIZE)
			break;
	}
	return at.sector;
}

/* How far bios wait end to end from `from` on. */
static uint64_t bios_up_to(struct tracker *t, struct device *d, const struct event *ev,
			   uint64_t from, uint64_t end)
{
	for (int i = 0; i < MOST_LOOKED_AT && from < end; i++) {
		const struct bio *bio = bio_find_at(t, d, from, ev->class);

		if (!bio || bio->bytes < SECTOR_SIZE || bio->io.flags & EV_NO_BYTES)
			break;
		from += bio->bytes / SECTOR_SIZE;
	}
	return from < end ? from : end;
}

/* (c) A bio that waits there: the device has no requests, or they were cut out. */
static bool end_bios(struct tracker *t, struct device *d, const struct event *ev)
{
	struct bio *bio = bio_find(t, d, ev);

	if (!bio && !device_sum(t, d)->have_requests)
		bio = bio_cut_free(t, d, ev, true);
	if (!bio)
		return false;
	if (ev->error == -11 && bio == bio->origin) {
		bio_nowait_failed(t, d, bio);
		return true;
	}
	note_any_error(t, d, ev);
	past_add(t, d, ev, event_end(ev), false);
	end_bios_up_to(t, d, ev, ev->sector, event_end(ev));
	return true;
}

/* ---- what was told before ---- */

/* (d), (e), (f) Part of it or all has completed before. */
static bool ended_before(struct tracker *t, struct device *d, const struct event *ev)
{
	uint64_t end = event_end(ev), from;
	bool first;

	if (past_repeats(t, d, ev)) {
		if (t->counting)
			device_sum(t, d)->double_completions++;
		return true;
	}
	if (ev->flags & EV_NO_BYTES)
		return false;
	from = past_reaches(t, d, ev);
	if (from == ev->sector)
		return false;
	if (from >= end) {
		if (t->counting)
			device_sum(t, d)->double_completions++;
		return true;
	}
	if (issued_up_to(t, d, ev, from, end) == end) {
		note_any_error(t, d, ev);
		past_series(t, d, ev, from, true);
		end_issued_up_to(t, d, ev, from, end);
		return true;
	}
	if (bios_up_to(t, d, ev, from, end) == end) {
		note_any_error(t, d, ev);
		past_series(t, d, ev, from, false);
		past_add(t, d, ev, end, false);
		end_bios_up_to(t, d, ev, from, end);
		return true;
	}
	if (!past_grows(t, d, ev, &first))
		return false;
	note_any_error(t, d, ev);
	if (first)
		note_orphan(t, d, ev);
	past_series(t, d, ev, from, false);
	past_add(t, d, ev, end, true);
	return true;
}

/* ---- nothing that is known ---- */

/* (g) */
static void orphan(struct tracker *t, struct device *d, const struct event *ev)
{
	note_any_error(t, d, ev);
	past_add(t, d, ev, event_end(ev), true);
	rq_complete_orphan(t, d, ev);
}

/* ---- zero length ---- */

/* A flush bio whose flush command was cut out, or that has none: the device is bio-based. */
static bool end_lone_flush(struct tracker *t, struct device *d, const struct event *ev)
{
	struct bio *bio = d->flush_first;

	if (!bio || d->flush_seen || ev->class == CLASS_READ || bio->sector != ev->sector)
		return false;
	d->flush_first = bio->next;
	count_unissued(t, d, bio->io.queue_ns);
	timeline_completed(t, d, NULL, 0);
	bio_piece_done(t, bio, 0, ev->error);
	if (t->counting)
		device_sum(t, d)->zero_ends++;
	return true;
}

/* "C END, nothing left" of what ends there. */
static bool end_request_before(struct tracker *t, struct device *d, const struct event *ev)
{
	struct hash_walk walk = { 0 };
	struct event at = *ev;
	struct hnode *node;

	for (int i = 0; i < MOST_LOOKED_AT && (node = hash_walk(&t->requests, &walk)); i++) {
		struct rq *rq = container_of(node, struct rq, by_start);

		if (rq->io.dev != d->index || rq->end != ev->sector || !rq->issued ||
		    rq->io.class != ev->class || rq->io.flags & EV_NO_BYTES || rq->data_done)
			continue;
		at.sector = rq->sector;
		at.bytes = rq->bytes_left;
		past_add(t, d, &at, ev->sector, false);
		rq_front_done(t, d, rq, &at, at.bytes);
		return true;
	}
	return false;
}

static bool end_bio_before(struct tracker *t, struct device *d, const struct event *ev)
{
	struct hash_walk walk = { 0 };
	struct event at = *ev;
	struct hnode *node;

	bio_settle(t);
	for (int i = 0; i < MOST_LOOKED_AT && (node = hash_walk(&t->waiting, &walk)); i++) {
		const struct bio *bio = container_of(node, struct bio, by_start);

		if (bio->dev != d->index || bio->class != ev->class || !bio->bytes ||
		    bio->io.flags & EV_NO_BYTES ||
		    bio->sector + bio->bytes / SECTOR_SIZE != ev->sector)
			continue;
		at.sector = bio->sector;
		at.bytes = bio->bytes;
		past_add(t, d, &at, ev->sector, false);
		end_bios_up_to(t, d, &at, at.sector, ev->sector);
		return true;
	}
	return false;
}

static void zero_length(struct tracker *t, struct device *d, const struct event *ev)
{
	int equals;

	if (flush_zero_end(t, d, ev)) {
		note_any_error(t, d, ev);
		return;
	}
	if (is_flush_command(ev)) {
		d->flush_seen = true;
		note_any_error(t, d, ev);
		note_orphan(t, d, ev);
		return;
	}
	if (end_lone_flush(t, d, ev)) {
		note_any_error(t, d, ev);
		return;
	}
	/* At the start of an open request it says that nothing of it has ended yet [3]. */
	if (!rq_find(t, d, ev, true, &equals)) {
		if (past_ends_at(t, d, ev)) {
			if (t->counting)
				device_sum(t, d)->double_completions++;
			return;
		}
		if (end_request_before(t, d, ev) ||
		    (!device_sum(t, d)->have_requests && end_bio_before(t, d, ev))) {
			note_any_error(t, d, ev);
			return;
		}
	}
	note_any_error(t, d, ev);
	if (t->counting)
		device_sum(t, d)->partial_completions++;
}

/* Without lengths the end of a write with parts looks like that of its data. */
static bool end_without_length(struct tracker *t, struct device *d, const struct event *ev)
{
	return ev->flags & EV_NO_BYTES && flush_sequence_end(t, d, ev);
}

void untold_complete(struct tracker *t, struct device *d, const struct event *ev)
{
	if (ev->class == CLASS_PASSTHROUGH ||
	    (ev->class == CLASS_FLUSH && !list_empty(&d->commands)))
		rq_complete(t, d, ev); /* these are requests */
	else if (!ev->bytes)
		zero_length(t, d, ev);
	else if (!end_issued(t, d, ev) && !end_without_length(t, d, ev) &&
		 !end_unissued(t, d, ev) && !end_bios(t, d, ev) && !ended_before(t, d, ev))
		orphan(t, d, ev);
}
