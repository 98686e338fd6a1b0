/* SPDX-License-Identifier: MIT
 *
 * The first of the two partitions of time of model.md 10: each device's busy, held and idle (the second
 * is wait.c's). Sums of both are folded into the summary at each completion (a device's when
 * it next changes), so that what follows the last one, when no end of the window was given, is not
 * counted.
 */
#include "track/tally.h"

#define FEW_OPEN    4
#define MOST_DEPTHS 4096 /* that wait for a completion; more are accounted without */

/* What is added up by depth. */
static void account_depths(struct device_sum *sum, struct device *d)
{
	for (size_t i = 0; i < d->nr_depths; i++) {
		const struct past_depth *p = &d->depths[i];
		uint32_t level = p->nr_data < DEPTH_LEVELS ? p->nr_data : DEPTH_LEVELS - 1;
		uint64_t ns = p->to_ns - p->from_ns;

		steps_add(&sum->depth_steps, p->from_ns, p->to_ns, p->nr_issued);
		sum->depth_area += (double)ns * p->nr_issued;
		sum->levels[level].time_ns += ns;
		if (p->nr_data)
			sum->open_area += (double)ns * p->nr_open;
	}
	d->nr_depths = 0;
}

/* To be accounted when the next completion shows that it lies in the window. */
static void keep_depth(struct tracker *t, struct device *d, uint64_t until_ns)
{
	if (d->nr_depths == MOST_DEPTHS)
		account_depths(device_sum(t, d), d);
	d->depths = mem_grow(d->depths, d->nr_depths, sizeof(*d->depths));
	d->depths[d->nr_depths++] = (struct past_depth){
		.from_ns = d->changed_ns > t->begin_ns ? d->changed_ns : t->begin_ns,
		.to_ns = until_ns < t->options.to_ns ? until_ns : t->options.to_ns,
		.nr_issued = d->nr_issued,
		.nr_data = d->nr_issued - d->nr_flushing,
		.nr_open = d->nr_open
	};
}

/* Accounts the device's state up to until_ns. */
static void account(struct tracker *t, struct device *d, uint64_t until_ns)
{
	uint64_t ns = inside_window(t, d->changed_ns, until_ns);

	if (ns)
		keep_depth(t, d, until_ns);
	d->changed_ns = until_ns;
	if (d->nr_issued)
		d->busy_ns += ns;
	else if (d->nr_open)
		d->held_ns += ns;
	else
		d->idle_ns += ns;
}

/* The last completion of all devices came after this one's last change: up to there it counts. */
static void fold(struct tracker *t, struct device *d)
{
	struct device_sum *sum = device_sum(t, d);
	uint64_t last_ns = t->sum->last_complete_ns;

	if (last_ns == TIME_NONE || last_ns < d->changed_ns)
		return;
	account(t, d, last_ns);
	sum->busy_ns = d->busy_ns;
	sum->held_ns = d->held_ns;
	sum->idle_ns = d->idle_ns;
	account_depths(sum, d);
}

/* Before the device's state changes. */
static void advance(struct tracker *t, struct device *d)
{
	fold(t, d);
	if (d->changed_ns < t->now_ns)
		account(t, d, t->now_ns);
}

void timeline_issued(struct tracker *t, struct device *d, const struct rq *rq, int by)
{
	struct device_sum *sum = device_sum(t, d);

	advance(t, d);
	d->nr_issued += (uint32_t)by;
	depths_change(&sum->depths, rq->io.class, by);
	depths_change(&rq->issued_by->depths, rq->io.class, by);
	if (rq->io.class == CLASS_FLUSH)
		d->nr_flushing += (uint32_t)by;
	if (d->nr_issued > sum->depth_max)
		sum->depth_max = d->nr_issued;
}

void timeline_open(struct tracker *t, struct device *d, int by)
{
	if (!d->nr_open)
		d->quiet_from_ns = t->now_ns;
	/* It matters where idle begins or ends, and to tell one bio at a time from more. */
	if (d->nr_open < FEW_OPEN || d->nr_open + (uint32_t)by < FEW_OPEN)
		advance(t, d);
	d->nr_open += (uint32_t)by;
}

static void fold_waits(struct tracker *t)
{
	const struct wait_line *own = t->options.waiter_pid ? &t->own : &t->all;

	for (int i = 0; i < WAIT_NR; i++) {
		t->sum->wait.place_ns[i] = t->all.place_ns[i];
		t->sum->wait.own_ns[i] = own->place_ns[i];
	}
}

void timeline_completed(struct tracker *t, struct device *d, const struct rq *rq, uint32_t bytes)
{
	struct device_sum *sum = device_sum(t, d);
	uint32_t data = d->nr_issued - d->nr_flushing;
	struct depth_level *level = &sum->levels[data < DEPTH_LEVELS ? data : DEPTH_LEVELS - 1];
	uint64_t silence = elapsed(d->quiet_from_ns, t->now_ns);

	if (silence > sum->longest_silence_ns) {
		sum->longest_silence_ns = silence;
		sum->longest_silence_at_ns = d->quiet_from_ns;
	}
	d->quiet_from_ns = t->now_ns;
	d->completions++;
	if (rq && bytes && rq->io.class != CLASS_FLUSH &&
	    inside_window(t, t->now_ns - 1, t->now_ns)) {
		level->completions++;
		level->bytes += bytes;
		level->reads += rq->io.class == CLASS_READ;
	}
	t->sum->last_complete_ns = t->now_ns;
	fold_waits(t);
}

void timeline_finish(struct tracker *t)
{
	struct wait_sum *wait = &t->sum->wait;
	uint64_t last_complete_ns = t->sum->last_complete_ns;

	wait->from_ns = t->begin_ns;
	wait->to_ns = t->options.to_ns;
	if (wait->to_ns == TIME_NONE) {
		wait->to_ns = last_complete_ns;
	} else {
		/* The window goes on after the last event: whatever was open stays open. */
		doubt_until(t, wait->to_ns);
		if (t->now_ns < wait->to_ns)
			t->now_ns = wait->to_ns;
		wait_touch(t);
		fold_waits(t);
		t->sum->last_complete_ns = t->now_ns; /* so that everything up to now counts */
	}
	for (size_t i = 0; i < t->nr_devices; i++)
		fold(t, t->devices[i]);
	t->sum->last_complete_ns = last_complete_ns;
	if (wait->from_ns == TIME_NONE || wait->to_ns == TIME_NONE || wait->to_ns < wait->from_ns)
		wait->from_ns = wait->to_ns = 0;
}
