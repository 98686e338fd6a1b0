/* SPDX-License-Identifier: MIT */
#include "view/fan.h"

#include <stdlib.h>

void fan_add(struct fan *fan, struct track_sink sink)
{
	if (fan->nr == FAN_MAX)
		abort(); /* a row of the program's own is missing */
	fan->sinks[fan->nr++] = sink;
}

#define EACH(call, ...)                                              \
	do {                                                         \
		const struct fan *fan = arg;                         \
                                                                     \
		for (size_t i = 0; i < fan->nr; i++) {               \
			const struct track_sink *s = &fan->sinks[i]; \
                                                                     \
			if (s->call)                                 \
				s->call(s->arg, __VA_ARGS__);        \
		}                                                    \
	} while (0)

static void on_bio(void *arg, const struct io_bio *bio)
{
	EACH(bio, bio);
}

static void on_remapped(void *arg, struct io_bio *bio, const struct event *remap)
{
	EACH(bio_remapped, bio, remap);
}

static void on_issued(void *arg, struct io_bio *bio)
{
	EACH(bio_issued, bio);
}

static void on_request(void *arg, const struct io *io)
{
	EACH(request, io);
}

static void on_open(void *arg, const struct io *io)
{
	EACH(open, io);
}

static void on_open_bio(void *arg, const struct io_bio *bio)
{
	EACH(open_bio, bio);
}

static void on_orphan(void *arg, const struct event *ev)
{
	EACH(orphan, ev);
}

struct track_sink fan_sink(struct fan *fan)
{
	if (!fan->nr)
		return (struct track_sink){ 0 };
	if (fan->nr == 1)
		return fan->sinks[0];
	return (struct track_sink){ .bio = on_bio,
				    .bio_remapped = on_remapped,
				    .bio_issued = on_issued,
				    .request = on_request,
				    .open = on_open,
				    .open_bio = on_open_bio,
				    .orphan = on_orphan,
				    .arg = fan };
}
