/* SPDX-License-Identifier: MIT
 *
 * Event histories that no kernel would write, on two devices and a handful of sectors, so that every
 * join, split, merge and loss meets every other. Six bytes make an event. Whatever happens, time is
 * neither made nor lost and no more completes than was issued.
 */
#include <stdlib.h>

#include "track/track.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static struct event event_of(const uint8_t *b, uint64_t now_ns)
{
	static const uint8_t actions[] = {
		ACT_QUEUE,   ACT_BACKMERGE, ACT_FRONTMERGE, ACT_GETRQ,
		ACT_REQUEUE, ACT_ISSUE,     ACT_COMPLETE,   ACT_INSERT,
		ACT_SPLIT,   ACT_REMAP,     ACT_RQ_MERGE,   ACT_BIO_COMPLETE,
		ACT_PLUG,    ACT_UNPLUG,    ACT_RQ_ERROR,   ACT_BOUNCE,
	};
	struct event ev = {
		.time_ns = now_ns,
		.action = actions[b[0] & 15],
		.class = 1 + (b[1] & 7) % (CLASS_NR - 1),
		.sector = b[2] & 15,
		.bytes = (b[3] & 7) * SECTOR_SIZE,
		.device = DEVICE(8, b[0] >> 4 & 1),
		.pid = 1 + (b[1] >> 3 & 3),
		.cpu = b[1] >> 5 & 1,
		.error = b[4] & 1 ? (b[4] & 2 ? -11 : -5) : 0,
		.flags = (b[4] & 4 ? EV_PREFLUSH : 0) | (b[4] & 8 ? EV_FUA : 0) | EV_WRITE,
	};

	if (ev.action == ACT_SPLIT || ev.action == ACT_REMAP)
		ev.aux_sector = b[2] >> 4;
	if (ev.action == ACT_REMAP)
		ev.aux_device = DEVICE(8, b[4] >> 4 & 1);
	if (ev.action == ACT_PLUG || ev.action == ACT_UNPLUG)
		ev.class = CLASS_NONE;
	return ev;
}

static void must(int truth)
{
	if (!truth)
		abort();
}

static void check(const struct summary *sum)
{
	uint64_t waited = 0, own = 0, window = sum->wait.to_ns - sum->wait.from_ns;

	for (int i = 0; i < WAIT_NR; i++)
		waited += sum->wait.place_ns[i];
	for (int i = 0; i < WAIT_NR; i++)
		own += sum->wait.own_ns[i];
	must(!window || (waited == window && own == window));
	for (size_t i = 0; i < sum->nr_devices; i++) {
		const struct device_sum *d = &sum->devices[i];

		must(!window || d->busy_ns + d->held_ns + d->idle_ns == window);
		must(d->in_flight < 1 << 20); /* it never went below zero */
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct track_options options = { .from_ns = TIME_NONE, .to_ns = TIME_NONE };
	struct facts facts;
	struct summary sum;
	struct tracker *t;
	uint64_t now_ns = 1000;

	facts_init(&facts);
	if (len && data[0] & 0x80)
		options = (struct track_options){ .from_ns = 2000, .to_ns = 1000000 };
	if (len && data[0] & 0x40) {
		options.waiter_pid = 1;
		names_add(&facts.names, 2, 0, "other", 5);
		names_add(&facts.names, 3, 0, "kworker", 7);
	}
	if (len > 1 && data[1] & 0x80) {
		const struct loss losses[] = { { .from_ns = 3000, .to_ns = 4000 },
					       { .from_ns = 9000, .to_ns = 2000000000 } };

		facts_loss(&facts, &losses[0]);
		facts_loss(&facts, &losses[1]);
	}
	t = tracker_new(&options, &facts, &sum);
	for (size_t at = 0; at + 6 <= len; at += 6) {
		struct event ev = event_of(data + at, now_ns);

		now_ns += (uint64_t)data[at + 5] << (data[at + 5] & 31);
		tracker_sink(t)->ops->events(tracker_sink(t), &ev, 1);
	}
	tracker_sink(t)->ops->finish(tracker_sink(t));
	check(&sum);
	tracker_free(t);
	summary_release(&sum);
	facts_release(&facts);
	return 0;
}
