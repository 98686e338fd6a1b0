/* SPDX-License-Identifier: MIT
 *
 * The file of -I: what iostat -x would have shown, block by block. Of a device with requests:
 *
 * rqm: merges; r, w and their sectors: requests issued; avgrq-sz: sectors of one; avgqu-sz: how many there were
 * on average, from G to the end; await: the mean time from G (else the first D) to the end, of those that ended;
 * svctm: time with a request at the device, by those that ended; %util: share of that time.
 *
 * A device without requests has bios instead, from Q to their end. Of TOTAL, which leaves those devices out where
 * others have requests, rates and avgqu-sz are sums, avgrq-sz, await and svctm are those of all, and %util is the
 * mean of the devices.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "classic/btt_at_device.h"
#include "classic/btt_parts.h"
#include "classic/btt_tables.h"

enum direction { READS, WRITES, NR_DIRECTIONS };

/* In one block, or in all of them. */
struct io_sums {
	uint64_t merges[NR_DIRECTIONS], ios[NR_DIRECTIONS], sectors[NR_DIRECTIONS];
	uint64_t ended; /* whose waiting is known */
	uint64_t busy_ns;
	double wait_ns, open_area; /* the latter: how many x ns */
};

/* Of requests, or of bios. */
struct io_level {
	struct io_sums block, all;
	uint64_t open;
};

struct io_device {
	const struct btt_device *dev;
	struct io_level bios, requests;
	bool has_requests;
	struct btt_at_device at;
	uint64_t since_ns; /* up to here areas and busy times are accounted */
};

struct iostat {
	struct btt *b;
	struct btt_file *file;
	struct by_device devices; /* struct io_device */
	uint64_t block_ns;        /* where the current block began */
};

static const char head[] = "Device:       rrqm/s   wrqm/s     r/s     w/s    rsec/s    wsec/s     "
			   "rkB/s     wkB/s avgrq-sz avgqu-sz   await   svctm  %util   Stamp\n";

static bool iostat_wanted(const struct btt_options *o)
{
	return o->iostat != NULL;
}

static void *iostat_new(struct btt *b)
{
	struct iostat *s = mem_zalloc(sizeof(*s));

	*s = (struct iostat){ .b = b, .devices = { .size = sizeof(struct io_device) } };
	s->file = btt_file_new(b, true, "%s", b->o->iostat);
	s->block_ns = b->o->from_ns;
	btt_file_printf(s->file, "%s", head);
	return s;
}

/* ---- counting ---- */

static void advance(struct io_device *d, uint64_t now_ns)
{
	uint64_t ns = now_ns > d->since_ns ? now_ns - d->since_ns : 0;

	d->since_ns += ns;
	d->bios.block.open_area += (double)ns * (double)d->bios.open;
	d->requests.block.open_area += (double)ns * (double)d->requests.open;
	if (d->bios.open)
		d->bios.block.busy_ns += ns;
	if (d->at.now)
		d->requests.block.busy_ns += ns;
}

/* Up to the event that is being handled; what that one has ended is known only after it. */
static void catch_up(struct iostat *s, struct io_device *d)
{
	if (s->b->now_ns > d->at.last_ns)
		btt_at_device_settle(&d->at, s->b, d->dev);
	advance(d, s->b->now_ns);
}

static struct io_device *device_of(struct iostat *s, const struct btt_device *dev)
{
	struct io_device *d = by_device(&s->devices, dev);

	d->dev = dev;
	return d;
}

/* A request or bio, at its end; from_ns is TIME_NONE where that it began was not seen. */
static void count_end(struct io_level *level, uint64_t from_ns, uint64_t to_ns, bool unsure)
{
	if (from_ns == TIME_NONE || unsure)
		return;
	level->block.ended++;
	level->block.wait_ns += (double)btt_elapsed(from_ns, to_ns);
}

static void one_less(struct io_level *level)
{
	level->open -= level->open > 0;
}

static void iostat_ended(void *self, struct btt_device *dev, const struct io_bio *bio,
			 const struct event *ev)
{
	struct iostat *s = self;
	struct io_device *d = device_of(s, dev);

	catch_up(s, d);
	one_less(&d->bios);
	count_end(&d->bios, bio->queue_ns, bio->complete_ns, bio->left_out);
}

static void iostat_request(void *self, struct btt_device *dev, const struct io *io)
{
	struct iostat *s = self;
	struct io_device *d = device_of(s, dev);

	catch_up(s, d);
	if (io->get_ns != TIME_NONE)
		one_less(&d->requests);
	count_end(&d->requests, io->get_ns != TIME_NONE ? io->get_ns : io->issue_ns, io->end_ns,
		  io->ambiguous || io->crosses_loss);
}

static void iostat_bio_lost(void *self, struct btt_device *dev, const struct io_bio *bio)
{
	struct iostat *s = self;
	struct io_device *d = device_of(s, dev);

	catch_up(s, d);
	one_less(&d->bios);
}

static void iostat_request_lost(void *self, struct btt_device *dev, const struct io *io)
{
	struct iostat *s = self;
	struct io_device *d = device_of(s, dev);

	catch_up(s, d);
	if (io->get_ns != TIME_NONE)
		one_less(&d->requests);
}

/* Discards and the like name sectors, and move none. */
static bool moves(uint8_t class)
{
	return class != CLASS_DISCARD && class != CLASS_WRITE_ZEROES && class != CLASS_ZONE;
}

static void count_io(struct io_level *level, const struct event *ev)
{
	enum direction direction = ev->flags & EV_WRITE ? WRITES : READS;

	level->block.ios[direction]++;
	if (moves(ev->class))
		level->block.sectors[direction] += ev->bytes / SECTOR_SIZE;
}

static void count_event(struct io_device *d, const struct event *ev, bool again)
{
	switch ((enum action)ev->action) {
	case ACT_QUEUE:
		d->bios.open++;
		count_io(&d->bios, ev);
		break;
	case ACT_RQ_MERGE:
		one_less(&d->requests);
		/* fall through */
	case ACT_BACKMERGE:
	case ACT_FRONTMERGE:
		d->requests.block.merges[ev->flags & EV_WRITE ? WRITES : READS]++;
		break;
	case ACT_GETRQ:
		d->requests.open++;
		d->has_requests = true;
		break;
	case ACT_ISSUE:
		d->has_requests = true;
		if (!again)
			count_io(&d->requests, ev);
		break;
	default:
		break;
	}
}

/* ---- output ---- */

static double per(double sum, double n)
{
	return n > 0 ? sum / n : 0;
}

/* devices: how many the sums are of. */
static void put_row(struct iostat *s, const char *label, const struct io_sums *io, double dt_ns,
		    size_t devices, const char *stamp)
{
	double dt_s = dt_ns / 1e9, ios = (double)(io->ios[READS] + io->ios[WRITES]);
	double read = (double)io->sectors[READS], written = (double)io->sectors[WRITES];

	btt_file_printf(s->file,
			"%-11s %8.2f %8.2f %7.2f %7.2f %9.2f %9.2f %9.2f %9.2f %8.2f %8.2f %7.2f "
			"%7.2f %6.2f%8s\n",
			label, per((double)io->merges[READS], dt_s),
			per((double)io->merges[WRITES], dt_s), per((double)io->ios[READS], dt_s),
			per((double)io->ios[WRITES], dt_s), per(read, dt_s), per(written, dt_s),
			per(read / 2, dt_s), per(written / 2, dt_s), per(read + written, ios),
			per(io->open_area, dt_ns), per(io->wait_ns / 1e6, (double)io->ended),
			per((double)io->busy_ns / 1e6, (double)io->ended),
			100 * per((double)io->busy_ns, dt_ns * (double)devices), stamp);
}

static void add_sums(struct io_sums *into, const struct io_sums *from)
{
	for (int i = 0; i < NR_DIRECTIONS; i++) {
		into->merges[i] += from->merges[i];
		into->ios[i] += from->ios[i];
		into->sectors[i] += from->sectors[i];
	}
	into->ended += from->ended;
	into->busy_ns += from->busy_ns;
	into->wait_ns += from->wait_ns;
	into->open_area += from->open_area;
}

static bool any_requests(const struct iostat *s)
{
	const struct btt_device *dev;

	for (size_t at = 0; (dev = btt_shown(s->b, &at)) != NULL;) {
		const struct io_device *d = by_device_known(&s->devices, dev);

		if (d && d->has_requests)
			return true;
	}
	return false;
}

/* all: the last one, of the whole time. */
static void put_block(struct iostat *s, uint64_t from_ns, uint64_t to_ns, bool all)
{
	double dt_ns = to_ns > from_ns ? (double)(to_ns - from_ns) : 0;
	bool requests = any_requests(s);
	struct io_sums total = { 0 };
	const struct btt_device *dev;
	size_t nr = 0, counted = 0;
	char stamp[32];

	snprintf(stamp, sizeof(stamp), all ? "TOTAL" : "%.2f", (double)to_ns / 1e9);
	for (size_t at = 0; (dev = btt_shown(s->b, &at)) != NULL; nr++) {
		const struct io_device *d = device_of(s, dev);
		const struct io_level *level = d->has_requests ? &d->requests : &d->bios;
		const struct io_sums *io = all ? &level->all : &level->block;

		put_row(s, btt_row_label(s->b, dev).text, io, dt_ns, 1, stamp);
		if (d->has_requests == requests) {
			add_sums(&total, io);
			counted++;
		}
	}
	if (nr > 1)
		put_row(s, "TOTAL", &total, dt_ns, counted, stamp);
}

static void fold(struct io_level *level)
{
	add_sums(&level->all, &level->block);
	level->block = (struct io_sums){ 0 };
}

/* Everything up to now is in the sums of the block, then in those of all. */
static void settle_all(struct iostat *s, uint64_t now_ns)
{
	for (size_t i = 0; i < s->devices.nr; i++) {
		struct io_device *d = s->devices.list[i];

		if (!d)
			continue;
		btt_at_device_settle(&d->at, s->b, d->dev);
		advance(d, now_ns);
	}
}

static void fold_all(struct iostat *s)
{
	for (size_t i = 0; i < s->devices.nr; i++) {
		struct io_device *d = s->devices.list[i];

		if (!d)
			continue;
		fold(&d->bios);
		fold(&d->requests);
	}
}

static void check_time(struct iostat *s)
{
	uint64_t now_ns = s->b->now_ns;

	if (now_ns < s->block_ns + s->b->o->iostat_ns)
		return;
	settle_all(s, now_ns);
	put_block(s, s->block_ns, now_ns, false);
	btt_file_printf(s->file, "\n");
	fold_all(s);
	s->block_ns = now_ns;
}

static void iostat_event(void *self, struct btt_device *dev, const struct event *ev)
{
	struct iostat *s = self;
	struct io_device *d;

	if (!dev || ev->action == ACT_MESSAGE) /* these may be told before their time */
		return;
	d = device_of(s, dev);
	check_time(s);
	btt_at_device_settle(&d->at, s->b, dev);
	advance(d, s->b->now_ns);
	btt_at_device_event(&d->at, s->b, ev);
	count_event(d, ev, s->b->again);
}

static void iostat_finish(void *self)
{
	struct iostat *s = self;

	settle_all(s, s->b->last_ns);
	fold_all(s);
	btt_file_printf(s->file, "\n%s", head);
	put_block(s, s->b->o->from_ns, s->b->last_ns, true);
}

static void iostat_free(void *self)
{
	struct iostat *s = self;

	btt_file_free(s->file);
	by_device_release(&s->devices);
	free(s);
}

const struct btt_part btt_iostat = {
	.name = "iostat",
	.wanted = iostat_wanted,
	.new = iostat_new,
	.event = iostat_event,
	.ended = iostat_ended,
	.request = iostat_request,
	.bio_lost = iostat_bio_lost,
	.request_lost = iostat_request_lost,
	.finish = iostat_finish,
	.free = iostat_free,
};
