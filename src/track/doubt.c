/* SPDX-License-Identifier: MIT
 *
 * After a loss: whatever was open then may have lost its end. A second later what still is open is given
 * up: it is neither at the device nor waited for; should its end come after all, it is still found [13].
 */
#include "track/state.h"

#define DOUBT_NS UINT64_C(1000000000)

/* The next loss that has ended by now or is to come, or none. */
static void next_doubt(struct tracker *t)
{
	const struct facts *facts = t->facts;

	t->doubt_at_ns = TIME_NONE;
	if (t->losses_seen == facts->nr_losses)
		return;
	t->doubt_ns = facts->losses[t->losses_seen++].to_ns;
	t->doubt_at_ns = t->doubt_ns + DOUBT_NS;
}

static void doubt_bio(struct tracker *t, struct bio *bio)
{
	if (bio->origin->io.queue_ns <= t->doubt_ns)
		bio_age_out(t, bio->origin);
}

static void doubt_request(struct tracker *t, struct rq *rq)
{
	struct device *d = t->devices[rq->io.dev];
	uint64_t since_ns = rq->io.queue_ns != TIME_NONE ? rq->io.queue_ns : rq->io.last_issue_ns;

	if (rq->doubtful || since_ns == TIME_NONE || since_ns > t->doubt_ns)
		return;
	rq->doubtful = true;
	rq->io.crosses_loss = true;
	if (rq->issued)
		timeline_issued(t, d, rq, -1);
	if (rq->alone) {
		rq->alone = false;
		timeline_open(t, d, -1);
	}
	for (struct bio *bio = rq->first; bio; bio = bio->next)
		doubt_bio(t, bio);
}

static void doubt_list(struct tracker *t, struct link *list)
{
	for (struct link *l = list->next; l != list; l = l->next)
		doubt_request(t, container_of(l, struct rq, flush));
}

static void doubt_all(struct tracker *t)
{
	struct hash_walk requests = { 0 }, waiting = { 0 };
	struct hnode *node;

	bio_settle(t);
	while ((node = hash_walk(&t->requests, &requests)) != NULL)
		doubt_request(t, container_of(node, struct rq, by_start));
	while ((node = hash_walk(&t->waiting, &waiting)) != NULL)
		doubt_bio(t, container_of(node, struct bio, by_start));
	for (size_t i = 0; i < t->nr_devices; i++) {
		struct device *d = t->devices[i];

		doubt_list(t, &d->sequences);
		doubt_list(t, &d->commands);
		doubt_list(t, &d->passthrough);
		for (struct bio *bio = d->flush_first; bio; bio = bio->next)
			doubt_bio(t, bio);
	}
}

void doubt_until(struct tracker *t, uint64_t time_ns)
{
	if (t->doubt_at_ns == TIME_NONE)
		next_doubt(t);
	while (t->doubt_at_ns <= time_ns) {
		if (t->now_ns < t->doubt_at_ns)
			t->now_ns = t->doubt_at_ns;
		t->loss_hint = true;
		wait_touch(t);
		doubt_all(t);
		next_doubt(t);
	}
}
