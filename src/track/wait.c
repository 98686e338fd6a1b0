/* SPDX-License-Identifier: MIT
 *
 * The second partition of time of model.md 10: at each moment, where the waiter's oldest open bio is.
 */
#include "track/state.h"

#define STALE_NS          UINT64_C(100000000)
#define STALE_ISSUED_NS   UINT64_C(1000000000)
#define STALE_COMPLETIONS 1000

/* Can the end of this bio only have been lost? A thread submits one bio after the other, and an unplug
 * issues all that the thread has plugged; so a bio without G and a request without I are lost when a
 * later one of the same thread has long passed. One at the device is given up only where events are
 * known to be missing, since a device may really hold on to one request for minutes. */
static bool stale(const struct tracker *t, const struct bio *bio)
{
	const struct process *p = bio->process;
	const struct rq *rq = bio->rq;
	uint64_t queue_ns = bio->io.queue_ns;

	if (bio->split || bio->class == CLASS_FLUSH)
		return false;
	if (!rq) /* not one that waits in retries, nor one that a zone's write plug holds */
		return bio->waiting && !t->devices[bio->dev]->zoned &&
		       p->got_queue_ns > queue_ns + STALE_NS;
	if (rq->issued)
		return t->loss_hint && elapsed(queue_ns, t->now_ns) > STALE_ISSUED_NS &&
		       t->devices[bio->dev]->completions - rq->completions_at_issue >
			       STALE_COMPLETIONS;
	return rq->io.insert_ns == TIME_NONE && rq->io.issue_ns == TIME_NONE &&
	       rq->preflush == STAGE_NONE && p->issued_queue_ns > queue_ns + STALE_NS;
}

/* A bio on a device above others (md, dm) is at the device while one of those works for it. */
static enum wait_place place_below(const struct tracker *t, const struct device *upper)
{
	for (size_t i = 0; i < t->nr_devices; i++) {
		const struct device_sum *lower = &t->sum->devices[i];

		for (int p = 0; p < lower->nr_parents; p++)
			if (lower->parents[p] == upper->number && t->devices[i]->nr_issued)
				return WAIT_DEVICE;
	}
	return WAIT_HELD;
}

static bool at_device(const struct device *d, const struct bio *bio)
{
	const struct rq *rq = bio->rq;

	if (bio->split)
		return bio->pieces_at_device > 0;
	if (bio->class == CLASS_FLUSH) /* not while the device works for an earlier one's flush */
		return bio->covered && d->nr_flushing;
	return rq && (rq->issued || rq->preflush == STAGE_RUNS || rq->postflush == STAGE_RUNS);
}

static enum wait_place place_of(const struct tracker *t, const struct bio *bio)
{
	const struct device *d = t->devices[bio->dev];

	if (device_sum(t, d)->mapped)
		return place_below(t, d);
	if (at_device(d, bio))
		return WAIT_DEVICE;
	return d->nr_issued ? WAIT_BEHIND_OTHERS : WAIT_HELD;
}

/* Nobody can wait for what will not end: it leaves the lists, not the tables. */
static const struct bio *oldest(struct tracker *t, const struct wait_line *line, bool own)
{
	while (!list_empty(&line->open)) {
		struct link *first = line->open.next;
		struct bio *bio = own ? container_of(first, struct bio, own)
				      : container_of(first, struct bio, all);

		if (!stale(t, bio))
			return bio;
		bio_age_out(t, bio);
	}
	return NULL;
}

static void line_touch(struct tracker *t, struct wait_line *line, bool own)
{
	uint64_t ns = inside_window(t, line->from_ns, t->now_ns);
	const struct bio *bio;
	enum wait_place place;

	line->from_ns = t->now_ns;
	if (!ns)
		return;
	bio = oldest(t, line, own);
	place = bio ? place_of(t, bio) : WAIT_SUBMITTER;
	line->place_ns[place] += ns;
	if (bio && !own)
		t->sum->devices[bio->dev].wait_ns[place] += ns;
}

void wait_touch(struct tracker *t)
{
	line_touch(t, &t->all, false);
	if (t->options.waiter_pid)
		line_touch(t, &t->own, true);
}

void wait_init(struct tracker *t)
{
	list_init(&t->all.open);
	list_init(&t->own.open);
}

void wait_add(struct tracker *t, struct bio *bio)
{
	list_init(&bio->all);
	list_init(&bio->own);
	if (!bio->process->waiter)
		return;
	/* It is the oldest only of a list that is empty. */
	if (list_empty(&t->all.open) || list_empty(&t->own.open))
		wait_touch(t);
	list_add(&t->all.open, &bio->all);
	t->sum->wait.bios++;
	if (!bio->process->own)
		return;
	list_add(&t->own.open, &bio->own);
	t->sum->wait.own_bios++;
}

void wait_del(struct bio *bio)
{
	list_del(&bio->all);
	list_del(&bio->own);
}
