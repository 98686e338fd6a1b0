/* SPDX-License-Identifier: MIT */
#include "view/meanwhile.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* That are looked at beyond the end of the slow one: until all that were at the device at its D are found,
 * and so many in any case, since a write whose data were there before may end only after its post-flush. */
#define MOST_AHEAD  65536u
#define LEAST_AHEAD 1024u

struct past {
	uint64_t came_ns;           /* Q, else the first that was seen */
	uint64_t issue_ns, done_ns; /* at the device; issue_ns TIME_NONE: not seen there */
	uint64_t end_ns;            /* TIME_NONE: still open */
	uint32_t pid;
	uint16_t dev;
	uint8_t who;
	bool lost_attempt; /* only a time at the device, not a request of its own */
};

struct meanwhile_log {
	struct past *list; /* owned array, by end_ns */
	size_t nr;
	uint64_t cut_ns; /* what ended up to here is forgotten */
};

struct meanwhile_log *meanwhile_log_new(void)
{
	return mem_zalloc(sizeof(struct meanwhile_log));
}

void meanwhile_log_free(struct meanwhile_log *log)
{
	if (!log)
		return;
	free(log->list);
	free(log);
}

bool meanwhile_log_full(const struct meanwhile_log *log)
{
	return log->nr + 2 > MEANWHILE_LOG;
}

void meanwhile_log_cut(struct meanwhile_log *log)
{
	size_t half = log->nr / 2;

	if (!half)
		return;
	log->cut_ns = log->list[half - 1].end_ns;
	memmove(log->list, log->list + half, (log->nr - half) * sizeof(*log->list));
	log->nr -= half;
}

static uint64_t came(const struct io *io)
{
	const uint64_t times[] = { io->queue_ns, io->get_ns, io->insert_ns, io->issue_ns };

	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++)
		if (times[i] != TIME_NONE)
			return times[i];
	return io->end_ns;
}

static void put(struct meanwhile_log *log, const struct past *past)
{
	if (!log->list)
		log->list = mem_resize(NULL, MEANWHILE_LOG, sizeof(*log->list));
	log->list[log->nr++] = *past;
}

void meanwhile_log_add(struct meanwhile_log *log, const struct io *io)
{
	bool nobody = !io->nr_bios && !(io->flags & EV_SUBMITTER);
	struct past past = { .came_ns = came(io),
			     .issue_ns = io->last_issue_ns,
			     .done_ns = io->complete_ns,
			     .end_ns = io->end_ns,
			     .pid = io->pid,
			     .dev = io->dev,
			     .who = WHO_THREAD };

	if (io->whole_ns != TIME_NONE || io->lost)
		return;
	if (nobody)
		past.who = io->class == CLASS_FLUSH ? WHO_FLUSH : WHO_UNTOLD;
	if (past.who != WHO_THREAD)
		past.pid = 0;
	put(log, &past);
	if (io->attempts < 2 || io->issue_ns == TIME_NONE)
		return;
	past.lost_attempt = true;
	past.issue_ns = io->issue_ns;
	past.done_ns = io->issue_ns + io->attempt_lost_ns;
	put(log, &past);
}

/* One time at the device, inside of the wait; of whom. */
struct span {
	uint64_t from_ns, to_ns;
	uint32_t pid;
	uint8_t who;
	bool request; /* counts as one: false for a lost attempt */
	bool later;   /* came later than the slow one, and ended first */
};

struct spans {
	struct span *list; /* owned array */
	size_t nr;
};

static bool clip(struct span *s, const struct past *p, const struct meanwhile *m)
{
	if (p->issue_ns == TIME_NONE)
		return false;
	s->from_ns = p->issue_ns > m->from_ns ? p->issue_ns : m->from_ns;
	s->to_ns = p->done_ns < m->to_ns ? p->done_ns : m->to_ns;
	return s->from_ns < s->to_ns;
}

static int by_who(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	if (x->later != y->later)
		return x->later ? -1 : 1;
	if (x->who != y->who)
		return x->who < y->who ? -1 : 1;
	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return (x->from_ns > y->from_ns) - (x->from_ns < y->from_ns);
}

static int by_time(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	return (x->from_ns > y->from_ns) - (x->from_ns < y->from_ns);
}

/* Of spans in the order of their beginnings. */
static uint64_t union_ns(const struct span *list, size_t nr)
{
	uint64_t sum_ns = 0, until_ns = 0;

	for (size_t i = 0; i < nr; i++) {
		uint64_t from_ns = list[i].from_ns > until_ns ? list[i].from_ns : until_ns;

		if (list[i].to_ns <= from_ns)
			continue;
		sum_ns += list[i].to_ns - from_ns;
		until_ns = list[i].to_ns;
	}
	return sum_ns;
}

static uint64_t sorted_union_ns(struct span *list, size_t nr)
{
	if (nr)
		qsort(list, nr, sizeof(*list), by_time);
	return union_ns(list, nr);
}

static struct meanwhile_part part_of(const struct span *list, size_t nr)
{
	struct meanwhile_part part = { .who = list->who,
				       .pid = list->pid,
				       .device_ns = union_ns(list, nr) };

	for (size_t i = 0; i < nr; i++)
		part.requests += list[i].request;
	return part;
}

static bool more(const struct meanwhile_part *a, const struct meanwhile_part *b)
{
	if (a->device_ns != b->device_ns)
		return a->device_ns > b->device_ns;
	return a->requests > b->requests;
}

/* Into the list of those with the most; what falls out of it joins the rest. */
static void rank(struct meanwhile *m, struct meanwhile_part part)
{
	for (size_t i = 0; i < m->nr_top; i++) {
		struct meanwhile_part swap = m->top[i];

		if (!more(&part, &swap))
			continue;
		m->top[i] = part;
		part = swap;
	}
	if (m->nr_top < MEANWHILE_TOP) {
		m->top[m->nr_top++] = part;
		return;
	}
	m->nr_rest++;
	m->rest.requests += part.requests;
}

static bool is_top(const struct meanwhile *m, const struct span *s)
{
	for (size_t i = 0; i < m->nr_top; i++)
		if (m->top[i].who == s->who && m->top[i].pid == s->pid)
			return true;
	return false;
}

/* spans: by who. */
static void by_process(struct meanwhile *m, const struct span *list, size_t nr)
{
	struct spans rest = { 0 };
	size_t from = 0;

	for (size_t i = 1; i <= nr; i++) {
		if (i < nr && list[i].who == list[from].who && list[i].pid == list[from].pid)
			continue;
		rank(m, part_of(list + from, i - from));
		from = i;
	}
	if (!m->nr_rest)
		return;
	rest.list = mem_resize(NULL, nr, sizeof(*list));
	for (size_t i = 0; i < nr; i++)
		if (!is_top(m, &list[i]))
			rest.list[rest.nr++] = list[i];
	m->rest.device_ns = sorted_union_ns(rest.list, rest.nr);
	free(rest.list);
}

/* The first entry that ended at or after that time. */
static size_t first_since(const struct meanwhile_log *log, uint64_t time_ns)
{
	size_t low = 0, high = log->nr;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (log->list[middle].end_ns < time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The depth at the slow one's D tells how many were at the device then. Of one that was issued again that
 * is the last attempt's, and all that has ended since is looked at. */
static bool all_known(const struct io *slow, size_t at_device)
{
	return slow->attempts == 1 && at_device >= slow->depth_at_issue;
}

/* Every time at the device in the wait, and each request that came later and ended first even if it was
 * not at the device then. Returns how many were at the device at the end of the wait, the slow one among
 * them. */
static size_t gather(const struct meanwhile_log *log, const struct io *slow, uint64_t end_ns,
		     const struct meanwhile *m, struct spans *spans)
{
	size_t at_device = 0, ahead = 0;

	for (size_t i = first_since(log, m->from_ns); i < log->nr && ahead < MOST_AHEAD; i++) {
		const struct past *p = &log->list[i];
		struct span s = { .pid = p->pid, .who = p->who, .request = !p->lost_attempt };
		bool at;

		if (ahead >= LEAST_AHEAD && all_known(slow, at_device))
			break;
		ahead += p->end_ns > end_ns && p->end_ns != TIME_NONE;
		if (p->dev != slow->dev)
			continue;
		at_device += p->issue_ns != TIME_NONE && p->issue_ns <= m->to_ns &&
			     p->done_ns >= m->to_ns;
		s.later = p->came_ns > m->from_ns && p->end_ns < end_ns;
		at = clip(&s, p, m);
		if (!at && !(s.later && s.request))
			continue;
		if (!at)
			s.from_ns = s.to_ns = m->to_ns;
		spans->list = mem_grow(spans->list, spans->nr, sizeof(*spans->list));
		spans->list[spans->nr++] = s;
	}
	return at_device;
}

static const char *why_not(const struct meanwhile_log *log, const struct io *slow, bool in_flight)
{
	if (slow->whole_ns != TIME_NONE)
		return "this input tells I/O only as a whole, without an order";
	if (slow->queue_ns == TIME_NONE)
		return "its Q was not seen";
	if (slow->lost)
		return "its end was not seen";
	if (slow->ambiguous)
		return "joined first in, first out with others like it";
	if (slow->issue_ns == TIME_NONE && !in_flight)
		return "its D was not seen";
	if (slow->queue_ns < log->cut_ns)
		return "it waited through more requests than are kept (1,048,576)";
	return NULL;
}

void meanwhile_look(const struct meanwhile_log *log, const struct io *slow, bool in_flight,
		    uint64_t last_ns, struct meanwhile *m)
{
	uint64_t end_ns = in_flight ? TIME_NONE : slow->end_ns;
	struct spans spans = { 0 };
	size_t later = 0, at_device;

	*m = (struct meanwhile){ .why = why_not(log, slow, in_flight) };
	if (m->why)
		return;
	m->from_ns = slow->queue_ns;
	m->to_ns = slow->issue_ns != TIME_NONE ? slow->issue_ns : last_ns;
	if (m->to_ns < m->from_ns)
		m->to_ns = m->from_ns;
	at_device = gather(log, slow, end_ns, m, &spans);
	if (spans.nr)
		qsort(spans.list, spans.nr, sizeof(*spans.list), by_who);
	while (later < spans.nr && spans.list[later].later)
		m->all.requests += spans.list[later++].request;
	by_process(m, spans.list, later);
	m->all.device_ns = sorted_union_ns(spans.list, later);
	/* Those that are not in the log, for their end was lost or is yet to come, may have been at the
	 * device. */
	m->idle_known = slow->attempts != 1 || all_known(slow, at_device);
	m->idle_ns = m->to_ns - m->from_ns - sorted_union_ns(spans.list, spans.nr);
	free(spans.list);
}
