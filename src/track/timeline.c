/* SPDX-License-Identifier: MIT
 *
 * The two partitions of time of model.md 10: each device's busy, held and idle, and where the
 * waiter's oldest open I/O is. Sums are folded into the summary at each completion, so that what
 * follows the last one, when no end of the window was given, is not counted.
 */
#include "track/state.h"

#define STALE_NS          UINT64_C(100000000)
#define STALE_ISSUED_NS   UINT64_C(1000000000)
#define STALE_COMPLETIONS 1000

/* The part of [from, to] inside the window; 0 where the window has not begun. */
static inline uint64_t inside(const struct tracker *t, uint64_t from_ns, uint64_t to_ns)
{
	if (from_ns < t->begin_ns)
		from_ns = t->begin_ns;
	if (to_ns > t->options.to_ns)
		to_ns = t->options.to_ns;
	return elapsed(from_ns, to_ns);
}

static void advance(struct tracker *t, struct device *d)
{
	struct device_sum *sum = device_sum(t, d);
	uint64_t ns = inside(t, d->changed_ns, t->now_ns);
	uint32_t level = d->nr_issued < DEPTH_LEVELS - 1 ? d->nr_issued : DEPTH_LEVELS - 1;

	d->changed_ns = t->now_ns;
	if (!ns)
		return;
	if (d->nr_issued)
		d->busy_ns += ns;
	else if (d->nr_open)
		d->held_ns += ns;
	else
		d->idle_ns += ns;
	sum->depth_time_ns[level] += ns;
	sum->depth_area += (double)ns * d->nr_issued;
}

static void fold(struct tracker *t, struct device *d)
{
	struct device_sum *sum = device_sum(t, d);

	advance(t, d);
	sum->busy_ns = d->busy_ns;
	sum->held_ns = d->held_ns;
	sum->idle_ns = d->idle_ns;
}

void timeline_issued(struct tracker *t, struct device *d, int by)
{
	struct device_sum *sum = device_sum(t, d);

	advance(t, d);
	d->nr_issued += (uint32_t)by;
	if (d->nr_issued > sum->depth_max)
		sum->depth_max = d->nr_issued;
}

void timeline_open(struct tracker *t, struct device *d, int by)
{
	if (!d->nr_open)
		d->quiet_from_ns = t->now_ns;
	if (!d->nr_open || d->nr_open + (uint32_t)by == 0)
		advance(t, d); /* idle begins or ends */
	d->nr_open += (uint32_t)by;
}

/* Can the end of this bio only have been lost? A thread submits one bio after the other, and an unplug
 * issues all that the thread has plugged; so a bio without G and a request without I are lost when a
 * later one of the same thread has long passed. One at the device is given up only where events are
 * known to be missing, since a device may really hold on to one request for minutes. */
static bool stale(struct tracker *t, const struct bio *bio)
{
	const struct process *p = bio->process;
	const struct rq *rq = bio->rq;
	uint64_t queue_ns = bio->io.queue_ns;

	if (bio->split || bio->class == CLASS_FLUSH)
		return false;
	if (!rq) /* not one that waits in retries */
		return bio->waiting && p->got_queue_ns > queue_ns + STALE_NS;
	if (rq->issued)
		return t->loss_hint && elapsed(queue_ns, t->now_ns) > STALE_ISSUED_NS &&
		       t->devices[bio->dev]->completions - rq->completions_at_issue >
			       STALE_COMPLETIONS;
	return rq->io.insert_ns == TIME_NONE && rq->io.issue_ns == TIME_NONE &&
	       rq->preflush == STAGE_NONE && p->issued_queue_ns > queue_ns + STALE_NS;
}

/* Nobody can wait for what will not end: it leaves the list, not the tables. */
static void drop_stale(struct tracker *t)
{
	while (!list_empty(&t->open)) {
		struct bio *bio = container_of(t->open.next, struct bio, open);

		if (!stale(t, bio))
			return;
		bio_age_out(t, bio);
	}
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

static enum wait_place place_now(const struct tracker *t)
{
	const struct bio *bio;
	const struct device *d;
	const struct rq *rq;

	if (list_empty(&t->open))
		return WAIT_SUBMITTER;
	bio = container_of(t->open.next, struct bio, open);
	d = t->devices[bio->dev];
	rq = bio->rq;
	if (device_sum(t, d)->mapped)
		return place_below(t, d);
	if (bio->split                  ? bio->pieces_at_device > 0
	    : bio->class == CLASS_FLUSH ? !list_empty(&d->commands)
					: rq && (rq->issued || rq->preflush == STAGE_RUNS ||
						 rq->postflush == STAGE_RUNS))
		return WAIT_DEVICE;
	return d->nr_issued ? WAIT_BEHIND_OTHERS : WAIT_HELD;
}

void wait_touch(struct tracker *t)
{
	uint64_t ns = inside(t, t->wait_from_ns, t->now_ns);
	enum wait_place place;

	t->wait_from_ns = t->now_ns;
	if (!ns)
		return;
	drop_stale(t);
	place = place_now(t);
	t->place_ns[place] += ns;
	if (place != WAIT_SUBMITTER)
		t->sum->devices[container_of(t->open.next, struct bio, open)->dev].wait_ns[place] +=
			ns;
}

static void fold_all(struct tracker *t)
{
	for (size_t i = 0; i < t->nr_devices; i++)
		fold(t, t->devices[i]);
	for (int i = 0; i < WAIT_NR; i++)
		t->sum->wait.place_ns[i] = t->place_ns[i];
}

void timeline_completed(struct tracker *t, struct device *d)
{
	struct device_sum *sum = device_sum(t, d);
	uint32_t level = d->nr_issued < DEPTH_LEVELS - 1 ? d->nr_issued : DEPTH_LEVELS - 1;
	uint64_t silence = elapsed(d->quiet_from_ns, t->now_ns);

	if (silence > sum->longest_silence_ns) {
		sum->longest_silence_ns = silence;
		sum->longest_silence_at_ns = d->quiet_from_ns;
	}
	d->quiet_from_ns = t->now_ns;
	d->completions++;
	if (inside(t, t->now_ns - 1, t->now_ns))
		sum->depth_completions[level]++;
	t->sum->last_complete_ns = t->now_ns;
	fold_all(t);
}

void timeline_finish(struct tracker *t)
{
	struct wait_sum *wait = &t->sum->wait;

	wait->from_ns = t->begin_ns;
	wait->to_ns = t->options.to_ns;
	if (wait->to_ns == TIME_NONE) {
		wait->to_ns = t->sum->last_complete_ns;
	} else {
		/* The window goes on after the last event: whatever was open stays open. */
		if (t->now_ns < wait->to_ns)
			t->now_ns = wait->to_ns;
		wait_touch(t);
		fold_all(t);
	}
	for (size_t i = 0; i < t->nr_devices && wait->to_ns != TIME_NONE; i++) {
		struct device_sum *d = &t->sum->devices[i];

		/* It came after the last C: idle all the time. */
		if (!d->busy_ns && !d->held_ns && !d->idle_ns)
			d->idle_ns = elapsed(wait->from_ns, wait->to_ns);
	}
	if (wait->from_ns == TIME_NONE || wait->to_ns == TIME_NONE || wait->to_ns < wait->from_ns)
		wait->from_ns = wait->to_ns = 0;
}
