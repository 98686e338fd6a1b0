/* SPDX-License-Identifier: MIT
 *
 * The order is the classic's (see source.h): streams in a sorted array, the first is current. An array, not a heap: a heap on (time, cpu) orders equal times differently, and
 * moving the at most few hundred pointers of one array costs less than a heap's steps.
 */
#include <stdlib.h>
#include <string.h>

#include "base/container.h"
#include "base/mem.h"
#include "trace/source.h"

#define BATCH 256

struct stream {
	struct source *src; /* owned */
	uint64_t time_ns;   /* of the event at `at` */
	int at, nr;
	bool ended; /* src said so; nothing more to pull */
	bool lent;  /* the current batch holds payloads that were handed out */
	struct event batch[BATCH];
};

struct merge {
	struct source self;
	struct stream **order; /* sorted, the current one first; borrowed from streams */
	size_t nr_order;
	struct stream **streams; /* owned */
	size_t nr_streams;
	bool primed;
	bool failed; /* a source failed: told after the events before it */
	struct error why;
};

/* 1: has an event at `at`; 0: ended; -1: error. */
static int refill(struct stream *s, struct error *err)
{
	if (s->ended)
		return 0;
	s->at = 0;
	s->lent = false;
	s->nr = source_pull(s->src, s->batch, BATCH, err);
	if (s->nr <= 0) {
		s->ended = true;
		return s->nr;
	}
	s->time_ns = s->batch[0].time_ns;
	return 1;
}

/* Puts s into the sorted part [from, nr): before waiting streams of equal time. */
static void insert(struct merge *m, struct stream *s, size_t from)
{
	size_t low = from, high = m->nr_order;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (m->order[mid]->time_ns < s->time_ns)
			low = mid + 1;
		else
			high = mid;
	}
	memmove(&m->order[low + 1], &m->order[low], (m->nr_order - low) * sizeof(*m->order));
	m->order[low] = s;
	m->nr_order++;
}

static int prime(struct merge *m, struct error *err)
{
	for (size_t i = 0; i < m->nr_streams; i++) {
		struct stream *s = m->streams[i];
		int got = refill(s, err);

		if (got < 0)
			return -1;
		if (got == 0)
			continue;
		/* an equal head stays the head */
		insert(m, s, m->nr_order && s->time_ns >= m->order[0]->time_ns ? 1 : 0);
	}
	m->primed = true;
	return 0;
}

static void remove_first(struct merge *m)
{
	m->nr_order--;
	memmove(&m->order[0], &m->order[1], m->nr_order * sizeof(*m->order));
}

/* Hands out events of the current stream while it stays current, up to max. */
static int take_run(struct merge *m, struct event *events, int max)
{
	struct stream *s = m->order[0];
	uint64_t limit = m->nr_order > 1 ? m->order[1]->time_ns : UINT64_MAX;
	int n = 0;

	do {
		const struct event *ev = &s->batch[s->at++];

		s->lent |= ev->payload_len != 0;
		events[n++] = *ev;
	} while (n < max && s->at < s->nr && s->batch[s->at].time_ns <= limit);
	if (s->at < s->nr)
		s->time_ns = s->batch[s->at].time_ns;
	return n;
}

/* After a run: 1 go on, 0 the batch must end here (a lent payload would be lost, a live stream held up), -1 error. */
static int settle(struct merge *m, bool any_given, struct error *err)
{
	struct stream *s = m->order[0];

	if (s->at == s->nr) {
		int got;

		/* A lone stream may have to wait for its next: what it gave goes on. */
		if (any_given && (s->lent || m->nr_order == 1))
			return 0;
		got = refill(s, err);
		if (got < 0)
			return -1;
		if (got == 0) {
			remove_first(m);
			return 1;
		}
	}
	if (m->nr_order > 1 && s->time_ns > m->order[1]->time_ns) {
		remove_first(m);
		insert(m, s, 1);
	}
	return 1;
}

static int merge_pull(struct source *self, struct event *events, int max, struct error *err)
{
	struct merge *m = container_of(self, struct merge, self);
	int n = 0, go = 1;

	if (m->failed) {
		*err = m->why;
		return -1;
	}
	if (!m->primed && prime(m, err) < 0)
		return -1;
	/* A stream left exhausted by the last batch is refilled now that its payloads are done. */
	if (m->nr_order && m->order[0]->at == m->order[0]->nr && settle(m, false, err) < 0)
		return -1;
	while (n < max && m->nr_order && go > 0) {
		n += take_run(m, events + n, max - n);
		go = settle(m, true, &m->why);
	}
	m->failed = go < 0;
	self->stats.events += (uint64_t)n;
	if (!n) /* the end: what the parts lost is the whole's */
		self->stats = merge_stats(self);
	return n;
}

static void merge_release(struct source *self)
{
	struct merge *m = container_of(self, struct merge, self);

	for (size_t i = 0; i < m->nr_streams; i++) {
		source_release(m->streams[i]->src);
		free(m->streams[i]);
	}
	free(m->streams);
	free(m->order);
	free(m);
}

static const struct source_ops merge_ops = { .pull = merge_pull, .release = merge_release };

struct source *merge_new(struct sources *sources)
{
	struct merge *m = mem_zalloc(sizeof(*m));

	m->self.ops = &merge_ops;
	m->nr_streams = sources->nr;
	m->streams = mem_zalloc(sources->nr * sizeof(*m->streams));
	m->order = mem_zalloc((sources->nr + 1) * sizeof(*m->order));
	for (size_t i = 0; i < sources->nr; i++) {
		m->streams[i] = mem_zalloc(sizeof(*m->streams[i]));
		m->streams[i]->src = sources->list[i];
	}
	free(sources->list);
	*sources = (struct sources){ 0 };
	return &m->self;
}

struct source_stats merge_stats(const struct source *merge)
{
	const struct merge *m = container_of(merge, const struct merge, self);
	struct source_stats sum = { .events = merge->stats.events };

	for (size_t i = 0; i < m->nr_streams; i++) {
		const struct source_stats *s = &m->streams[i]->src->stats;

		sum.bytes += s->bytes;
		sum.lost += s->lost;
		sum.sequence_gaps += s->sequence_gaps;
		sum.damaged_bytes += s->damaged_bytes;
		sum.damages += s->damages;
	}
	return sum;
}

void sources_add(struct sources *sources, struct source *src)
{
	sources->list = mem_grow(sources->list, sources->nr, sizeof(*sources->list));
	sources->list[sources->nr++] = src;
}

void sources_release(struct sources *sources)
{
	for (size_t i = 0; i < sources->nr; i++)
		source_release(sources->list[i]);
	free(sources->list);
	*sources = (struct sources){ 0 };
}
