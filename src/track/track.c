/* SPDX-License-Identifier: MIT */
#include "track/track.h"

#include <stdlib.h>

#include "track/state.h"

static void dispatch(struct tracker *t, struct device *d, const struct event *ev)
{
	switch ((enum action)ev->action) {
	case ACT_QUEUE:
		bio_queue(t, d, ev);
		break;
	case ACT_BACKMERGE:
	case ACT_FRONTMERGE:
		rq_merge_bio(t, d, ev);
		break;
	case ACT_GETRQ:
		rq_get(t, d, ev);
		break;
	case ACT_INSERT:
		rq_insert(t, d, ev);
		break;
	case ACT_ISSUE:
		wait_touch(t);
		rq_issue(t, d, ev);
		break;
	case ACT_REQUEUE:
		wait_touch(t);
		rq_requeue(t, d, ev);
		break;
	case ACT_COMPLETE:
		wait_touch(t);
		if (ev->flags & EV_UNTOLD_KIND)
			untold_complete(t, d, ev);
		else
			rq_complete(t, d, ev);
		break;
	case ACT_BIO_COMPLETE:
		wait_touch(t);
		bio_complete(t, d, ev);
		break;
	case ACT_REMAP:
		if (device_known(t, ev->aux_device))
			wait_touch(t); /* maps down */
		bio_remap(t, d, ev);
		break;
	case ACT_SPLIT:
		if (t->counting)
			t->cpu->splits++;
		bio_split(t, d, ev);
		break;
	case ACT_SLEEPRQ:
		bio_sleeps(t, d, ev);
		break;
	case ACT_RQ_MERGE:
		rq_merge_rq(t, d, ev);
		break;
	case ACT_ZONE_PLUG:
	case ACT_ZONE_UNPLUG:
		d->zoned = true;
		break;
	case ACT_BOUNCE:
		if (t->counting)
			device_sum(t, d)->bounces++;
		break;
	default: /* counted in summary.actions, moves nothing */
		break;
	}
}

/* It may name a device that has no I/O here, or none at all; cheap, for there are many. */
static void count_unplug(struct tracker *t, const struct event *ev)
{
	struct device *d;
	struct cpu_sum *cpu;

	if (!t->counting || !ev->device)
		return;
	d = device_known(t, ev->device);
	if (!d)
		return;
	cpu = cpu_at(t, d, ev->cpu);
	*(ev->action == ACT_UNPLUG ? &cpu->unplugs : &cpu->timer_unplugs) += 1;
}

/* Joined by its start alone; what counts bytes knows that they are not known. */
static const struct event *without_length(const struct event *ev, struct event *copy)
{
	*copy = *ev;
	if (ev->class != CLASS_FLUSH && ev->class != CLASS_PASSTHROUGH)
		copy->bytes = NOMINAL_BYTES;
	return copy;
}

static void one_event(struct tracker *t, const struct event *ev)
{
	struct summary *sum = t->sum;
	struct event copy;
	struct device *d;

	t->step.since_ns = TIME_NONE;
	if (ev->action == ACT_IO) {
		whole_io(t, ev);
		return;
	}
	if (ev->time_ns < t->now_ns)
		sum->time_backwards++;
	else if (t->facts->nr_losses)
		doubt_until(t, ev->time_ns);
	if (t->now_ns < ev->time_ns)
		t->now_ns = ev->time_ns;
	t->event_ns = ev->time_ns;
	if (sum->first_ns > ev->time_ns)
		sum->first_ns = ev->time_ns;
	if (sum->last_ns < ev->time_ns)
		sum->last_ns = ev->time_ns;
	t->counting = !t->options.count_window_only ||
		      (ev->time_ns >= t->options.from_ns && ev->time_ns <= t->options.to_ns);
	if (t->counting) {
		sum->events++;
		sum->actions[ev->action < ACT_NR ? ev->action : ACT_UNKNOWN]++;
	}
	/* Plugs and messages may carry no device, or a whole one that has no I/O here. */
	if (ev->class == CLASS_NONE) {
		if (ev->action == ACT_UNPLUG || ev->action == ACT_UNPLUG_TIMER) {
			plug_over(t, ev);
			count_unplug(t, ev);
		}
		return;
	}
	d = device_at(t, ev->device);
	if (!d) {
		sum->actions[ACT_UNKNOWN]++;
		sum->uncounted_events++;
		return;
	}
	t->cpu = cpu_at(t, d, ev->cpu);
	if (t->counting)
		t->cpu->events++;
	if (ev->flags & EV_NO_BYTES)
		ev = without_length(ev, &copy);
	dispatch(t, d, ev);
}

static void track_events(struct sink *self, const struct event *events, int nr)
{
	struct tracker *t = container_of(self, struct tracker, sink);

	for (int i = 0; i < nr; i++)
		one_event(t, &events[i]);
}

static void track_finish(struct sink *self)
{
	struct tracker *t = container_of(self, struct tracker, sink);
	struct summary *sum = t->sum;

	bio_count_endless(t);
	timeline_finish(t);
	for (size_t i = 0; i < t->nr_devices; i++) {
		sum->devices[i].in_flight = t->devices[i]->nr_open + t->devices[i]->nr_aged;
		cpus_finish(&sum->devices[i]);
	}
	open_finish(t);
	sum->plugs = sum->actions[ACT_PLUG];
	sum->unplugs = sum->actions[ACT_UNPLUG] + sum->actions[ACT_UNPLUG_TIMER];
	sum->messages = sum->actions[ACT_MESSAGE];
	sum->unknown_events = sum->actions[ACT_UNKNOWN];
}

static const struct sink_ops track_ops = { .events = track_events, .finish = track_finish };

struct tracker *tracker_new(const struct track_options *options, const struct facts *facts,
			    struct summary *sum)
{
	struct tracker *t = mem_zalloc(sizeof(*t));

	*sum = (struct summary){ .first_ns = UINT64_MAX,
				 .first_queue_ns = TIME_NONE,
				 .last_complete_ns = TIME_NONE };
	t->sink.ops = &track_ops;
	t->options = *options;
	t->facts = facts;
	t->sum = sum;
	t->begin_ns = options->from_ns;
	t->doubt_at_ns = TIME_NONE;
	t->no_device = UINT32_MAX;
	hash_init(&t->waiting);
	hash_init(&t->requests);
	hash_init(&t->ends);
	hash_init(&t->processes);
	hash_init(&t->retries);
	slab_init(&t->bios, sizeof(struct bio));
	slab_init(&t->rqs, sizeof(struct rq));
	wait_init(t);
	return t;
}

struct track_step tracker_step(const struct tracker *tracker)
{
	return tracker->step;
}

struct sink *tracker_sink(struct tracker *tracker)
{
	return &tracker->sink;
}

void tracker_free(struct tracker *t)
{
	if (!t)
		return;
	hash_release(&t->waiting);
	hash_release(&t->requests);
	hash_release(&t->ends);
	hash_release(&t->processes);
	hash_release(&t->retries);
	slab_release(&t->bios);
	slab_release(&t->rqs);
	for (size_t i = 0; i < t->nr_devices; i++) {
		free(t->devices[i]->past);
		free(t->devices[i]->writes);
		free(t->devices[i]->depths);
		free(t->devices[i]);
	}
	free(t->devices);
	free(t);
}
