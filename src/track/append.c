/* SPDX-License-Identifier: MIT
 *
 * Zone appends: issued at the start of their zone, completed where they landed. What joins them is the
 * zone and the length, first in, first out [2].
 */
#include "track/state.h"

#define MOST_LOOKED_AT 4096

/* The first one of ev's zone and length that waits, or NULL. */
struct rq *append_to_issue(struct tracker *t, const struct device *d, const struct event *ev)
{
	struct hnode *node = hash_find(&t->requests, start_key(d, ev->sector));

	for (; node; node = hash_next(node)) {
		struct rq *rq = container_of(node, struct rq, by_start);

		if (rq->io.dev == d->index && rq->sector == ev->sector &&
		    rq->io.class == ev->class && !rq->issued && !rq->data_done &&
		    (rq->bytes_left == ev->bytes || (rq->io.flags | ev->flags) & EV_NO_BYTES))
			return rq;
	}
	return NULL;
}

void append_issued(struct device *d, struct rq *rq)
{
	if (rq->appending)
		return; /* again, after a requeue */
	rq->appending = true;
	list_add(&d->appends, &rq->append);
}

/* Zones do not overlap: of the starts that lie before where it landed, the last one is its zone's. */
struct rq *append_to_end(struct tracker *t, const struct device *d, const struct event *ev)
{
	struct rq *best = NULL;
	int looked_at = 0;

	(void)t;
	for (struct link *l = d->appends.next; l != &d->appends; l = l->next) {
		struct rq *rq = container_of(l, struct rq, append);

		if (++looked_at > MOST_LOOKED_AT)
			break;
		if (!rq->issued || rq->sector > ev->sector || rq->io.class != ev->class)
			continue;
		if (rq->bytes_left != ev->bytes && !((rq->io.flags | ev->flags) & EV_NO_BYTES))
			continue;
		if (!best || rq->sector > best->sector)
			best = rq;
	}
	return best;
}
