/* SPDX-License-Identifier: MIT
 *
 * For the files of this room only. What is counted by class is counted for the device, for the CPU of the
 * event (tracker.cpu) and for the process, if that is known and asked for. Call while tracker.counting.
 */
#ifndef BLKLAB_TRACK_TALLY_H
#define BLKLAB_TRACK_TALLY_H

#include "track/state.h"

static inline struct io_counts *tally_process(const struct process *process)
{
	return process ? process->sum.counts : NULL;
}

static inline void tally_class(struct class_count *c, uint64_t bytes)
{
	c->count++;
	c->bytes += bytes;
}

static inline void tally_bio(struct tracker *t, struct device_sum *sum,
			     const struct process *process, const struct event *ev)
{
	uint32_t bytes = known_bytes(ev);

	tally_class(&sum->bios[ev->class], bytes);
	tally_class(&t->cpu->counts.bios[ev->class], bytes);
	if (tally_process(process))
		tally_class(&process->sum.counts->bios[ev->class], bytes);
}

static inline void tally_request(struct tracker *t, struct device_sum *sum,
				 const struct process *process, uint8_t class, uint32_t bytes)
{
	tally_class(&sum->requests[class], bytes);
	tally_class(&t->cpu->counts.requests[class], bytes);
	if (tally_process(process))
		tally_class(&process->sum.counts->requests[class], bytes);
}

static inline void tally_merge(struct tracker *t, struct device_sum *sum,
			       const struct process *process, const struct event *ev)
{
	uint32_t bytes = known_bytes(ev);

	*(ev->action == ACT_BACKMERGE ? &sum->back_merges : &sum->front_merges) += 1;
	tally_class(&t->cpu->counts.merges[ev->class], bytes);
	if (tally_process(process))
		tally_class(&process->sum.counts->merges[ev->class], bytes);
}

static inline void tally_rq_merge(struct tracker *t, struct device_sum *sum,
				  const struct process *process)
{
	sum->rq_merges++;
	t->cpu->counts.rq_merges++;
	if (tally_process(process))
		process->sum.counts->rq_merges++;
}

static inline void tally_requeue(struct tracker *t, struct device_sum *sum, const struct rq *rq,
				 bool busy)
{
	struct io_counts *of = tally_process(rq->process);
	uint8_t class = rq->io.class;

	*(busy ? &sum->requeues_busy : &sum->requeues_failed) += 1;
	(busy ? t->cpu->counts.requeues_busy : t->cpu->counts.requeues_failed)[class]++;
	if (of)
		(busy ? of->requeues_busy : of->requeues_failed)[class]++;
}

/* What moved, at each C. */
static inline void tally_moved(struct tracker *t, struct device_sum *sum,
			       const struct process *process, uint8_t class, uint32_t bytes)
{
	sum->completed_bytes[class] += bytes;
	t->cpu->counts.completed[class].bytes += bytes;
	if (tally_process(process))
		process->sum.counts->completed[class].bytes += bytes;
}

/* The end itself. */
static inline void tally_ended(struct tracker *t, const struct process *process, uint8_t class)
{
	t->cpu->counts.completed[class].count++;
	if (tally_process(process))
		process->sum.counts->completed[class].count++;
}

static inline void depths_change(struct depths *d, uint8_t class, int by)
{
	enum depth_kind kind = class == CLASS_READ    ? DEPTH_READ
			       : class == CLASS_WRITE ? DEPTH_WRITE
						      : DEPTH_ALL;

	d->now[DEPTH_ALL] += (uint32_t)by;
	if (d->now[DEPTH_ALL] > d->max[DEPTH_ALL])
		d->max[DEPTH_ALL] = d->now[DEPTH_ALL];
	if (kind == DEPTH_ALL)
		return;
	d->now[kind] += (uint32_t)by;
	if (d->now[kind] > d->max[kind])
		d->max[kind] = d->now[kind];
}

#endif
