/* SPDX-License-Identifier: MIT
 *
 * The order is the classic's (see source.h): streams in a sorted array, the first is current. An array, not a heap: a heap on (time, cpu) orders equal times differently, and
 * moving the at most few hundred pointers of one array costs less than a heap's steps.
 */
#include <stdlib.h>

#include "base/container.h"
#include "base/mem.h"
#include "trace/order.h"
#include "trace/source.h"

#define BATCH 256

struct stream {
	struct ordered next; /* the event at `at` */
	struct source *src;  /* owned */
	int at, nr;
	bool ended; /* src said so; nothing more to pull */
	bool lent;  /* the current batch holds payloads that were handed out */
	struct event batch[BATCH];
};

struct merge {
	struct source self;
	struct order order;      /* of streams; its array is owned */
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
	s->next.time_ns = s->batch[0].time_ns;
	return 1;
}

static struct stream *current(const struct merge *m)
{
	return container_of(m->order.at[0], struct stream, next);
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
		order_add(&m->order, &s->next);
	}
	m->primed = true;
	return 0;
}

/* Hands out events of the current stream while it stays current, up to max. */
static int take_run(struct merge *m, struct event *events, int max)
{
	struct stream *s = current(m);
	uint64_t limit = order_limit(&m->order);
	int n = 0;

	do {
		const struct event *ev = &s->batch[s->at++];

		s->lent |= ev->payload_len != 0;
		events[n++] = *ev;
	} while (n < max && s->at < s->nr && s->batch[s->at].time_ns <= limit);
	if (s->at < s->nr)
		s->next.time_ns = s->batch[s->at].time_ns;
	return n;
}

/* After a run: 1 go on, 0 the batch must end here (a lent payload would be lost, a live stream held up), -1 error. */
static int settle(struct merge *m, bool any_given, struct error *err)
{
	struct stream *s = current(m);

	if (s->at == s->nr) {
		int got;

		/* A lone stream may have to wait for its next: what it gave goes on. */
		if (any_given && (s->lent || m->order.nr == 1))
			return 0;
		got = refill(s, err);
		if (got < 0)
			return -1;
		if (got == 0) {
			order_remove_first(&m->order);
			return 1;
		}
	}
	order_again(&m->order);
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
	if (m->order.nr && current(m)->at == current(m)->nr && settle(m, false, err) < 0)
		return -1;
	while (n < max && m->order.nr && go > 0) {
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
	free(m->order.at);
	free(m);
}

static const struct source_ops merge_ops = { .pull = merge_pull, .release = merge_release };

struct source *merge_new(struct sources *sources)
{
	struct merge *m = mem_zalloc(sizeof(*m));

	m->self.ops = &merge_ops;
	m->nr_streams = sources->nr;
	m->streams = mem_zalloc(sources->nr * sizeof(*m->streams));
	m->order.at = mem_zalloc((sources->nr + 1) * sizeof(*m->order.at));
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
