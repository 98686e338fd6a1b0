/* SPDX-License-Identifier: MIT
 *
 * The tracker: events in, counts, finished bios and finished requests out. What happened is decided
 * here and only here, by the rules of doc/model.md. State is what is in flight.
 */
#ifndef BLKLAB_TRACK_TRACK_H
#define BLKLAB_TRACK_TRACK_H

#include "trace/facts.h"
#include "trace/sink.h"
#include "track/io.h"
#include "track/summary.h"

/* Takes finished I/O while it streams by; each may be NULL. The structs are borrowed. */
struct track_sink {
	void (*bio)(void *arg, const struct io_bio *bio);
	/* The rest of a bio's life, told at the event: each piece of it that an A takes to another
	 * device, and the first D of its first piece. io_bio.mark may be changed here. */
	void (*bio_remapped)(void *arg, struct io_bio *bio, const struct event *remap);
	void (*bio_issued)(void *arg, struct io_bio *bio);
	void (*request)(void *arg, const struct io *io);
	/* Requests and bios that have not ended, called from finish, requests first and each by
	 * time; a bio that is in an open request is not told apart. (A bio whose G was lost is told of
	 * when that is seen.) */
	void (*open)(void *arg, const struct io *io);
	void (*open_bio)(void *arg, const struct io_bio *bio);
	/* A completion of something that was never seen: once for a series of cumulative ones. */
	void (*orphan)(void *arg, const struct event *ev);
	void *arg;
};

struct track_options {
	/* The window of the verdict and of the time lines, on the input's clock; TIME_NONE: from
	 * the first Q, to the last C. */
	uint64_t from_ns, to_ns;
	/* Count only what happens in that window (--window), not all there is. */
	bool count_window_only;
	bool count_processes; /* fill process_sum.counts */
	/* The waiter is this process, its children and the kernel threads that may have worked for
	 * them; 0: everybody. */
	uint32_t waiter_pid;
	struct track_sink out;
};

struct tracker;

/* facts and sum are borrowed until tracker_free; sum is reset here, complete after finish and owned
 * by the caller (summary_release). */
struct tracker *tracker_new(const struct track_options *options, const struct facts *facts,
			    struct summary *sum);
/* What the last event ended: the time of its request before I (since G), before D (since I, else
 * G; after an R since that) or at the device (at a C, since the last D). */
struct track_step {
	uint64_t
		since_ns; /* TIME_NONE: it ended nothing of the kind, or when it began is not known */
	uint32_t pid;     /* who queued the request's first bio, else who issued it */
};
struct track_step tracker_step(const struct tracker *tracker);
struct sink *tracker_sink(struct tracker *tracker);
void tracker_free(struct tracker *tracker);

#endif
