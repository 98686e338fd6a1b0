/* SPDX-License-Identifier: MIT
 *
 * What a tracker hands out for a history of track_model.h, kept. Each file of tests includes this once.
 */
#ifndef BLKLAB_TEST_TRACK_MODEL_GOT_H
#define BLKLAB_TEST_TRACK_MODEL_GOT_H

#include "cm.h"
#include "track_model.h"

struct got {
	struct facts facts;
	struct summary sum;
	struct io *ios, *open; /* owned arrays */
	struct io_bio *bios, *open_bios;
	size_t nr_ios, nr_bios, nr_open, nr_open_bios, nr_orphans;
};

static void got_io(void *arg, const struct io *io)
{
	struct got *got = arg;

	got->ios = mem_grow(got->ios, got->nr_ios, sizeof(*io));
	got->ios[got->nr_ios++] = *io;
}

static void got_bio(void *arg, const struct io_bio *bio)
{
	struct got *got = arg;

	got->bios = mem_grow(got->bios, got->nr_bios, sizeof(*bio));
	got->bios[got->nr_bios++] = *bio;
}

static void got_open(void *arg, const struct io *io)
{
	struct got *got = arg;

	got->open = mem_grow(got->open, got->nr_open, sizeof(*io));
	got->open[got->nr_open++] = *io;
}

static void got_open_bio(void *arg, const struct io_bio *bio)
{
	struct got *got = arg;

	got->open_bios = mem_grow(got->open_bios, got->nr_open_bios, sizeof(*bio));
	got->open_bios[got->nr_open_bios++] = *bio;
}

static void got_orphan(void *arg, const struct event *ev)
{
	struct got *got = arg;

	(void)ev;
	got->nr_orphans++;
}

static void track(struct got *got, const struct event *events, int nr)
{
	struct track_options options = { .from_ns = TIME_NONE,
					 .to_ns = TIME_NONE,
					 .out = { .bio = got_bio,
						  .request = got_io,
						  .open = got_open,
						  .open_bio = got_open_bio,
						  .orphan = got_orphan,
						  .arg = got } };
	struct tracker *t = tracker_new(&options, &got->facts, &got->sum);
	struct sink *sink = tracker_sink(t);

	sink->ops->events(sink, events, nr);
	sink->ops->finish(sink);
	tracker_free(t);
}

static void got_init(struct got *got)
{
	*got = (struct got){ 0 };
	facts_init(&got->facts);
	/* Two devices of one name are two devices. */
	facts_device(&got->facts, model_kinds[M_DISK].number, "sda");
	facts_device(&got->facts, model_kinds[M_NVME].number, "sda");
}

static void got_release(struct got *got)
{
	summary_release(&got->sum);
	facts_release(&got->facts);
	free(got->ios);
	free(got->open);
	free(got->bios);
	free(got->open_bios);
}

static inline struct event *events_of(const struct model *m)
{
	struct event *events = mem_resize(NULL, (size_t)m->nr_events + 1, sizeof(*events));

	for (int i = 0; i < m->nr_events; i++)
		events[i] = m->events[i].ev;
	return events;
}

/* ---- what differs ---- */

struct verdict {
	bool loud;
	int wrong;
};

static bool differs(struct verdict *v, const char *what, const char *field, uint64_t id,
		    uint64_t got, uint64_t want)
{
	if (got == want)
		return false;
	v->wrong++;
	if (v->loud)
		print_error("%s %llu: %s is %lld, should be %lld\n", what, (unsigned long long)id,
			    field, (long long)got, (long long)want);
	return true;
}

static enum model_device device_of(const struct got *got, unsigned int index)
{
	for (int i = 0; i < M_DEVICES; i++)
		if (got->sum.devices[index].device == model_kinds[i].number)
			return i;
	return M_DEVICES;
}

static uint64_t number(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);

	return text ? strtoull(text, NULL, 10) : otherwise;
}

#endif
