/* SPDX-License-Identifier: MIT
 *
 * For the files of this room only. What is counted for the CPU of the event (tracker.cpu; the
 * device's own numbers are the sums over its CPUs) and for the process, if that is known and
 * asked for. Call while tracker.counting.
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

static inline void tally_bio(struct tracker *t, const struct process *process,
			     const struct event *ev)
{
	uint32_t bytes = known_bytes(ev);

	tally_class(&t->cpu->counts.bios[ev->class], bytes);
	if (tally_process(process))
		tally_class(&process->sum.counts->bios[ev->class], bytes);
}

static inline void tally_request(struct tracker *t, const struct process *process, uint8_t class,
				 uint32_t bytes)
{
	tally_class(&t->cpu->counts.requests[class], bytes);
	if (tally_process(process))
		tally_class(&process->sum.counts->requests[class], bytes);
}

static inline void tally_merge(struct tracker *t, const struct process *process,
			       const struct event *ev)
{
	uint32_t bytes = known_bytes(ev);

	t->cpu->counts.front_merges += ev->action == ACT_FRONTMERGE;
	tally_class(&t->cpu->counts.merges[ev->class], bytes);
	if (!tally_process(process))
		return;
	process->sum.counts->front_merges += ev->action == ACT_FRONTMERGE;
	tally_class(&process->sum.counts->merges[ev->class], bytes);
}

static inline void tally_rq_merge(struct tracker *t, const struct process *process)
{
	t->cpu->counts.rq_merges++;
	if (tally_process(process))
		process->sum.counts->rq_merges++;
}

static inline void tally_requeue(struct tracker *t, const struct rq *rq, bool busy)
{
	struct io_counts *of = tally_process(rq->process);
	uint8_t class = rq->io.class;

	(busy ? t->cpu->counts.requeues_busy : t->cpu->counts.requeues_failed)[class]++;
	if (of)
		(busy ? of->requeues_busy : of->requeues_failed)[class]++;
}

static inline void tally_retry(struct tracker *t, const struct process *process)
{
	t->cpu->counts.nowait_retries++;
	if (tally_process(process))
		process->sum.counts->nowait_retries++;
}

/* What moved, at each C. */
static inline void tally_moved(struct tracker *t, const struct process *process, uint8_t class,
			       uint32_t bytes)
{
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

static inline void depth_change(struct depths *d, enum depth_kind kind, int by)
{
	d->now[kind] += (uint32_t)by;
	if (d->now[kind] > d->max[kind])
		d->max[kind] = d->now[kind];
}

static inline void depths_change(struct depths *d, uint8_t class, int by)
{
	depth_change(d, DEPTH_ALL, by);
	if (class == CLASS_READ || class == CLASS_WRITE)
		depth_change(d, class == CLASS_READ ? DEPTH_READ : DEPTH_WRITE, by);
}

#endif
