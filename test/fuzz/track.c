/* SPDX-License-Identifier: MIT
 *
 * Event histories that no kernel would write, on two devices and a handful of sectors, so that every
 * join, split, merge and loss meets every other, as binary traces and as text tell it. Six bytes make an
 * event. Whatever happens, time is neither made nor lost and, of a text, no more completes than was
 * issued.
 */
#include <stdlib.h>

#include "track/track.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void must(int truth)
{
	if (!truth)
		abort();
}

static struct event event_of(const uint8_t *b, uint64_t now_ns)
{
	static const uint8_t actions[] = {
		ACT_QUEUE,   ACT_BACKMERGE, ACT_FRONTMERGE, ACT_GETRQ,
		ACT_REQUEUE, ACT_ISSUE,     ACT_COMPLETE,   ACT_INSERT,
		ACT_SPLIT,   ACT_REMAP,     ACT_RQ_MERGE,   ACT_BIO_COMPLETE,
		ACT_PLUG,    ACT_IO,        ACT_RQ_ERROR,   ACT_BOUNCE,
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

	if (b[3] & 0x80)
		ev.sector = UINT64_MAX - ev.sector;
	if (b[3] & 0x40)
		ev.bytes = UINT32_MAX - ev.bytes;
	if (b[4] & 0x20)
		ev.flags |= EV_UNTOLD_KIND | EV_FROM_QUEUE;
	if (b[4] & 0x40) {
		ev.flags |= EV_NO_BYTES;
		ev.bytes = 0;
	}
	if (b[4] & 0x80) {
		ev.flags |= EV_ZONE_APPEND | EV_LANDED;
		ev.class = CLASS_WRITE;
	}
	if (ev.action == ACT_IO) {
		ev.aux_sector = b[2] == 0xff ? TIME_UNTOLD : (uint64_t)b[2] << 8;
		ev.time_ns = b[5] & 0x40 ? TIME_UNTOLD : now_ns;
	}
	if (ev.action == ACT_SPLIT || ev.action == ACT_REMAP)
		ev.aux_sector = b[2] >> 4;
	if (ev.action == ACT_REMAP)
		ev.aux_device = DEVICE(8, b[4] >> 4 & 1);
	if (ev.action == ACT_PLUG)
		ev.class = CLASS_NONE;
	return ev;
}

/* What a text has no event of: a bio's C that is told as such, requests merged after their D. */
static void make_text(struct event *ev)
{
	if (ev->action == ACT_COMPLETE || ev->action == ACT_BIO_COMPLETE) {
		ev->action = ACT_COMPLETE;
		ev->flags |= EV_UNTOLD_KIND;
	}
	if (ev->action == ACT_FRONTMERGE)
		ev->action = ACT_BACKMERGE;
}

struct told {
	uint64_t requests, bios, open, orphans;
};

static void take_request(void *arg, const struct io *io)
{
	((struct told *)arg)->requests++;
	must(!io->lost || io->end_ns == TIME_NONE);
}

static void take_bio(void *arg, const struct io_bio *bio)
{
	((struct told *)arg)->bios++;
	must(bio->complete_ns != TIME_NONE);
}

static void take_open(void *arg, const struct io *io)
{
	((struct told *)arg)->open++;
	must(io->end_ns == TIME_NONE);
}

static void take_open_bio(void *arg, const struct io_bio *bio)
{
	((struct told *)arg)->open++;
	must(bio->complete_ns == TIME_NONE);
}

static void take_orphan(void *arg, const struct event *ev)
{
	((struct told *)arg)->orphans++;
	must(ev->action == ACT_COMPLETE);
}

static void check_text(const struct summary *sum, const struct told *told)
{
	uint64_t orphans = 0;

	for (size_t i = 0; i < sum->nr_devices; i++) {
		const struct device_sum *d = &sum->devices[i];

		for (int c = 0; c < CLASS_NR; c++)
			must(d->completed_bytes[c] <=
			     (d->have_requests ? d->requests[c].bytes : d->bios[c].bytes));
		must(d->nr_cumulative <= CUMULATIVE_MAX);
		for (size_t s = 0; s < d->nr_cumulative; s++) {
			const struct cumulative *c = &d->cumulative[s];

			must(c->lines > 1 && c->last_bytes > c->first_bytes);
			must(c->smallest_bytes && c->last_ns >= c->first_ns);
			cumulative_pieces(c);
		}
		orphans += d->orphan_completes;
	}
	must(orphans == told->orphans);
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
	struct told told = { 0 };
	bool text = len > 2 && data[2] & 0x80;
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
	options.out = (struct track_sink){ .bio = take_bio,
					   .request = take_request,
					   .open = take_open,
					   .open_bio = take_open_bio,
					   .orphan = take_orphan,
					   .arg = &told };
	t = tracker_new(&options, &facts, &sum);
	for (size_t at = 0; at + 6 <= len; at += 6) {
		struct event ev = event_of(data + at, now_ns);

		if (text)
			make_text(&ev);
		now_ns += (uint64_t)data[at + 5] << (data[at + 5] & 31);
		tracker_sink(t)->ops->events(tracker_sink(t), &ev, 1);
	}
	tracker_sink(t)->ops->finish(tracker_sink(t));
	check(&sum);
	if (text)
		check_text(&sum, &told);
	tracker_free(t);
	summary_release(&sum);
	facts_release(&facts);
	return 0;
}
