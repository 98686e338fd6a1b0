/* SPDX-License-Identifier: MIT
 *
 * What has completed lately on a device, to tell repeated and cumulative completions from new ones [17].
 */
#include "track/state.h"

#define REPEAT_NS UINT64_C(1000000000)  /* the same is printed again within this */
#define GROWS_NS  UINT64_C(60000000000) /* pieces of one bio end no further apart */

void past_add(struct tracker *t, struct device *d, const struct event *ev, uint64_t end,
	      bool orphan)
{
	if (!d->past)
		d->past = mem_zalloc(sizeof(*d->past));
	d->past->ranges[d->past->next++ % PAST_RANGES] = (struct past_range){ .sector = ev->sector,
									      .end = end,
									      .time_ns = t->now_ns,
									      .class = ev->class,
									      .orphan = orphan };
}

/* Of two equal ones of which nothing is known each may be new. */
static bool is_equal_orphan(const struct past_range *range, const struct event *ev)
{
	return range->orphan && range->sector == ev->sector && range->end == event_end(ev);
}

/* The i-th latest, or NULL. */
static const struct past_range *latest(const struct device *d, uint32_t i, uint8_t class)
{
	const struct past_range *range;

	range = &d->past->ranges[(d->past->next - 1 - i) % PAST_RANGES];
	return range->class == class ? range : NULL;
}

bool past_repeats(const struct tracker *t, const struct device *d, const struct event *ev)
{
	uint64_t end = event_end(ev);

	for (uint32_t i = 0; d->past && i < PAST_RANGES; i++) {
		const struct past_range *range = latest(d, i, ev->class);

		if (!range || ev->sector < range->sector || end > range->end)
			continue;
		if (is_equal_orphan(range, ev))
			continue;
		return elapsed(range->time_ns, t->now_ns) <= REPEAT_NS;
	}
	return false;
}

bool past_ends_at(const struct tracker *t, const struct device *d, const struct event *ev)
{
	for (uint32_t i = 0; d->past && i < PAST_RANGES; i++) {
		const struct past_range *range = latest(d, i, ev->class);

		/* Bios of a request end inside of it. */
		if (range && ev->sector > range->sector && ev->sector <= range->end)
			return elapsed(range->time_ns, t->now_ns) <= REPEAT_NS;
	}
	return false;
}

/* The series that had come to `from`, or with `from` 0 to anywhere. */
static struct cumulative *series_at(const struct tracker *t, const struct device *d,
				    const struct event *ev, uint64_t from)
{
	struct device_sum *sum = device_sum(t, d);

	for (size_t i = sum->nr_cumulative; i-- > 0;) {
		struct cumulative *c = &sum->cumulative[i];
		uint64_t to = ev->sector + c->last_bytes / SECTOR_SIZE;

		if (c->sector != ev->sector || c->class != ev->class)
			continue;
		if (elapsed(c->last_ns, t->now_ns) > GROWS_NS)
			continue;
		if (!from || to == from)
			return c;
	}
	return NULL;
}

static bool issued_at(struct tracker *t, const struct device *d, const struct event *ev,
		      uint64_t sector)
{
	struct event at = { .sector = sector, .class = ev->class };
	int equals;

	return rq_find(t, d, &at, true, &equals) != NULL;
}

uint64_t past_reaches(struct tracker *t, const struct device *d, const struct event *ev)
{
	const struct cumulative *series = series_at(t, d, ev, 0);
	uint64_t to = ev->sector, end = event_end(ev), before;

	if (series && series->last_bytes < ev->bytes)
		to += series->last_bytes / SECTOR_SIZE;
	if (to > ev->sector && issued_at(t, d, ev, to))
		return to;
	do {
		before = to;
		for (uint32_t i = 0; d->past && i < PAST_RANGES && to < end; i++) {
			const struct past_range *range = latest(d, i, ev->class);

			if (!range || range->sector > to || range->end <= to ||
			    is_equal_orphan(range, ev))
				continue;
			to = range->end;
			if (issued_at(t, d, ev, to))
				return to;
		}
	} while (to != before && to < end);
	return to;
}

/* Logs write to one place again and again, with whatever length: only what was an orphan from the start
 * may go on as one. Discards do not. */
static bool may_grow(const struct past_range *range)
{
	return range->orphan || range->class == CLASS_DISCARD || range->class == CLASS_WRITE_ZEROES;
}

bool past_grows(const struct tracker *t, const struct device *d, const struct event *ev,
		bool *first)
{
	const struct cumulative *series = series_at(t, d, ev, 0);
	uint64_t end = event_end(ev);

	*first = false;
	for (uint32_t i = 0; d->past && i < PAST_RANGES; i++) {
		const struct past_range *range = latest(d, i, ev->class);

		if (!range || range->sector != ev->sector)
			continue;
		if (range->end >= end || !may_grow(range) ||
		    elapsed(range->time_ns, t->now_ns) > GROWS_NS)
			break;
		*first = !range->orphan;
		return true;
	}
	return series && series->last_bytes < ev->bytes;
}

/* When the range that had come to `from` completed. */
static uint64_t time_of(const struct tracker *t, const struct device *d, const struct event *ev,
			uint64_t from)
{
	for (uint32_t i = 0; d->past && i < PAST_RANGES; i++) {
		const struct past_range *range = latest(d, i, ev->class);

		if (range && range->end == from)
			return range->time_ns;
	}
	return t->now_ns;
}

/* The value that more than half of all increments have wins (Boyer and Moore). */
static void vote(struct cumulative *c, uint32_t step)
{
	if (!c->votes)
		c->common_bytes = step;
	c->votes += c->common_bytes == step ? 1 : -1u;
	if (c->lines == 2 || step < c->smallest_bytes)
		c->smallest_bytes = step;
}

void past_series(struct tracker *t, struct device *d, const struct event *ev, uint64_t from,
		 bool issued)
{
	struct device_sum *sum = device_sum(t, d);
	uint32_t before = (uint32_t)((from - ev->sector) * SECTOR_SIZE);
	struct cumulative *c;

	if (!t->counting)
		return;
	sum->cumulative_completions++;
	c = series_at(t, d, ev, from);
	if (!c) {
		if (sum->nr_cumulative == CUMULATIVE_MAX)
			return;
		sum->cumulative =
			mem_grow(sum->cumulative, sum->nr_cumulative, sizeof(*sum->cumulative));
		c = &sum->cumulative[sum->nr_cumulative++];
		*c = (struct cumulative){ .sector = ev->sector,
					  .first_ns = time_of(t, d, ev, from),
					  .first_bytes = before,
					  .whole_ns = time_of(t, d, ev, from),
					  .whole_bytes = before,
					  .lines = 1,
					  .class = ev->class,
					  .issued = issued };
	}
	c->lines++;
	c->last_ns = t->now_ns;
	c->last_bytes = ev->bytes;
	c->issued &= issued;
	vote(c, ev->bytes - before);
	if (ev->bytes - before == c->common_bytes) {
		c->whole_ns = t->now_ns;
		c->whole_bytes = ev->bytes;
	}
}
