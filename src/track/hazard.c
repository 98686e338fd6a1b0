/* SPDX-License-Identifier: MIT
 *
 * Hazards: a read that was issued while a write of some of its sectors was at the device may return
 * what was there before or after. It counts once, however often it is issued. Linear in the writes at the device: a few hundred at most.
 */
#include "track/state.h"

static void count_hazard(struct tracker *t, struct device *d, struct rq *read, uint64_t sectors)
{
	struct hazards *h = &device_sum(t, d)->hazards;

	read->hazard = true;
	if (!h->count++) {
		h->first_ns = t->now_ns;
		h->first_sector = read->sector;
		h->first_pid = read->io.pid;
	}
	h->bytes += sectors * SECTOR_SIZE;
}

/* The overlaps of several writes may overlap: the largest one counts. */
static void look_for_writes(struct tracker *t, struct device *d, struct rq *read)
{
	uint64_t most = 0;

	for (size_t i = 0; i < d->nr_writes; i++) {
		const struct rq *write = d->writes[i];
		uint64_t from = write->sector > read->sector ? write->sector : read->sector;
		uint64_t to = write->end < read->end ? write->end : read->end;

		if (from < to && to - from > most)
			most = to - from;
	}
	if (most && t->counting)
		count_hazard(t, d, read, most);
}

void hazard_issued(struct tracker *t, struct device *d, struct rq *rq)
{
	if (rq->io.flags & (EV_NO_BYTES | EV_ZONE_APPEND))
		return; /* where it is cannot be told */
	if (rq->io.class == CLASS_READ && d->nr_writes && !rq->hazard)
		look_for_writes(t, d, rq);
	if (rq->io.class != CLASS_WRITE || rq->write_at)
		return;
	d->writes = mem_grow(d->writes, d->nr_writes, sizeof(*d->writes));
	d->writes[d->nr_writes++] = rq;
	rq->write_at = d->nr_writes;
}

void hazard_over(struct device *d, struct rq *rq)
{
	struct rq *last;

	if (!rq->write_at)
		return;
	last = d->writes[--d->nr_writes];
	d->writes[rq->write_at - 1] = last;
	last->write_at = rq->write_at;
	rq->write_at = 0;
}
