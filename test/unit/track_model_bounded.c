/* SPDX-License-Identifier: MIT
 *
 * State is bounded by the I/O in flight: a million I/Os of which a share never ends.
 */
#include <sys/resource.h>

#include "cm.h"
#include "track/track.h"

#ifdef __SANITIZE_ADDRESS__ /* several times as slow */
#define NR_IOS 400000
#else
#define NR_IOS 1000000
#endif
#define MOST_KB (96 * 1024) /* 131,072 bios and their requests are 90 MiB */

static uint64_t nr_told;

static void told_bio(void *arg, const struct io_bio *bio)
{
	(void)arg;
	(void)bio;
	nr_told++;
}

static long most_kb(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_maxrss;
}

struct flow {
	struct tracker *tracker;
	uint64_t now_ns;
};

static void push(struct flow *f, enum action action, const struct event *like)
{
	struct event ev = *like;
	struct sink *sink = tracker_sink(f->tracker);

	ev.action = (uint8_t)action;
	ev.time_ns = f->now_ns += 1000;
	sink->ops->events(sink, &ev, 1);
}

/* Where each kind of I/O stops that does not end. */
enum stop { STOP_Q, STOP_G, STOP_D, STOP_FLUSH, STOP_SEQUENCE, STOP_NR };

static void one_io(struct flow *f, uint64_t i, enum stop stop, bool ends)
{
	bool flush = stop == STOP_FLUSH;
	struct event ev = { .device = DEVICE(8, 0),
			    .sector = flush ? 0 : i * 8,
			    .bytes = flush ? 0 : 4096,
			    .pid = 100 + (uint32_t)(i % 50),
			    .flags = EV_WRITE,
			    .class = flush ? CLASS_FLUSH : CLASS_WRITE };
	struct event zero;

	if (flush || stop == STOP_SEQUENCE)
		ev.flags |= EV_PREFLUSH;
	zero = ev;
	zero.bytes = 0;
	zero.class = CLASS_WRITE;
	push(f, ACT_QUEUE, &ev);
	if (!ends && stop == STOP_Q)
		return;
	push(f, ACT_GETRQ, &ev);
	if (!ends && stop == STOP_G)
		return;
	if (flush || stop == STOP_SEQUENCE) {
		struct event command = { .device = ev.device,
					 .pid = ev.pid,
					 .flags = EV_PREFLUSH,
					 .class = CLASS_FLUSH };

		push(f, ACT_ISSUE, &command);
		push(f, ACT_COMPLETE, &command);
	}
	ev.flags &= ~EV_PREFLUSH;
	if (!flush)
		push(f, ACT_ISSUE, &ev);
	if (!ends && stop == STOP_D)
		return;
	if (!flush)
		push(f, ACT_COMPLETE, &ev);
	if (ends && (flush || stop == STOP_SEQUENCE))
		push(f, ACT_COMPLETE, &zero);
}

static void bounded(void **state)
{
	struct track_options options = { .from_ns = TIME_NONE,
					 .to_ns = TIME_NONE,
					 .out = { .bio = told_bio } };
	struct summary sum;
	struct facts facts;
	struct flow f = { 0 };
	uint64_t in_flight;
	long before_kb = most_kb();

	(void)state;
	facts_init(&facts);
	f.tracker = tracker_new(&options, &facts, &sum);
	for (uint64_t i = 0; i < NR_IOS; i++)
		one_io(&f, i, i / 3 % STOP_NR, i % 3 != 0);
	tracker_sink(f.tracker)->ops->finish(tracker_sink(f.tracker));
	tracker_free(f.tracker);
	in_flight = sum.devices[0].in_flight;
	print_message("%llu in flight, %llu aged out, %llu ended or lost, %ld MiB\n",
		      (unsigned long long)in_flight, (unsigned long long)sum.devices[0].aged_out,
		      (unsigned long long)nr_told, (most_kb() - before_kb) / 1024);
	assert_true(sum.devices[0].aged_out > 0);
	assert_true(nr_told >= NR_IOS * 2 / 3);
#ifndef __SANITIZE_ADDRESS__ /* which keeps what was freed */
	assert_true(most_kb() - before_kb < MOST_KB);
#endif
	summary_release(&sum);
	facts_release(&facts);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(bounded) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
