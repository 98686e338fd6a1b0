/* SPDX-License-Identifier: MIT
 *
 * Device Merge Information: how many bios became how many requests, and how large these were. And how many
 * requests waited for their D when a bio came.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"
#include "classic/btt_parts.h"
#include "classic/btt_tables.h"

/* ---- merges ---- */

struct merge_row {
	uint64_t bios, requests;
	struct extent sectors; /* of requests that have ended and moved something */
};

struct merges {
	struct btt *b;
	struct by_device devices; /* struct merge_row */
};

static void *merges_new(struct btt *b)
{
	struct merges *m = mem_zalloc(sizeof(*m));

	*m = (struct merges){ .b = b, .devices = { .size = sizeof(struct merge_row) } };
	return m;
}

static void merges_free(void *self)
{
	struct merges *m = self;

	by_device_release(&m->devices);
	free(m);
}

static void merges_event(void *self, struct btt_device *dev, const struct event *ev)
{
	struct merges *m = self;
	struct merge_row *row;

	if (ev->action != ACT_QUEUE && ev->action != ACT_ISSUE)
		return;
	row = by_device(&m->devices, dev);
	if (ev->action == ACT_QUEUE)
		row->bios++;
	else
		row->requests += !m->b->again;
}

/* Discards and the like name sectors, and move none. */
static bool moves(uint8_t class)
{
	return class != CLASS_DISCARD && class != CLASS_WRITE_ZEROES && class != CLASS_ZONE;
}

static void merges_request(void *self, struct btt_device *dev, const struct io *io)
{
	struct merges *m = self;
	struct merge_row *row = by_device(&m->devices, dev);

	if (moves(io->class) && !(io->flags & EV_NO_BYTES))
		extent_add(&row->sectors, io->bytes / SECTOR_SIZE);
}

/* Bios that came with an A from another device and have no Q here. */
static uint64_t remapped_in(const struct btt *b, uint32_t device)
{
	for (size_t i = 0; i < b->sum->nr_devices; i++)
		if (b->sum->devices[i].device == device)
			return b->sum->devices[i].remapped_in;
	return 0;
}

static void print_head(FILE *out)
{
	fprintf(out, "%10s | %8s %8s %7s | %8s %8s %8s %8s\n", "DEV", "#Q", "#D", "Ratio", "BLKmin",
		"BLKavg", "BLKmax", "Total");
}

static void print_dashes(FILE *out)
{
	fputs("---------- | -------- -------- ------- | -------- -------- -------- --------\n",
	      out);
}

static void print_row(FILE *out, const char *label, const struct merge_row *row)
{
	const struct extent *e = &row->sectors;

	fprintf(out,
		"%10s | %8" PRIu64 " %8" PRIu64 " %7.1f | %8" PRIu64 " %8" PRIu64 " %8" PRIu64
		" %8" PRIu64 "\n",
		label, row->bios, row->requests, (double)row->bios / (double)row->requests, e->min,
		e->n ? e->sum / e->n : 0, e->max, e->sum);
}

static void print_xvg(FILE *xvg, const struct btt_device *dev, const struct merge_row *row)
{
	const struct extent *e = &row->sectors;

	if (xvg)
		fprintf(xvg,
			"DMI %s %" PRIu64 " %" PRIu64 " %.9f %" PRIu64 " %" PRIu64 " %" PRIu64
			" %" PRIu64 "\n",
			dev->label, row->bios, row->requests,
			(double)row->bios / (double)row->requests, e->min, e->n ? e->sum / e->n : 0,
			e->max, e->sum);
}

static void merges_finish(void *self)
{
	struct merges *m = self;
	FILE *out = m->b->avg;
	struct merge_row total = { 0 };
	const struct btt_device *dev;
	size_t nr = 0;

	btt_title(out, "Device Merge Information");
	print_head(out);
	print_dashes(out);
	for (size_t at = 0; (dev = btt_shown(m->b, &at)) != NULL;) {
		struct merge_row *row = by_device_known(&m->devices, dev);

		if (row)
			row->bios += remapped_in(m->b, dev->number);
		if (!row || !row->bios || !row->requests)
			continue;
		nr++;
		total.bios += row->bios;
		total.requests += row->requests;
		extent_merge(&total.sectors, &row->sectors);
		print_row(out, btt_row_label(m->b, dev).text, row);
		print_xvg(m->b->xvg, dev, row);
	}
	if (nr > 1) {
		print_dashes(out);
		print_head(out);
		print_row(out, "TOTAL", &total);
	}
	fputc('\n', out);
}

const struct btt_part btt_merges = {
	.name = "merges",
	.new = merges_new,
	.event = merges_event,
	.request = merges_request,
	.finish = merges_finish,
	.free = merges_free,
};

/* ---- Active Requests At Q ---- */

struct active_row {
	uint64_t waiting; /* requests or bios between Q and D */
	uint64_t queued, sum;
	bool issues; /* a D was seen: it has requests */
};

struct active {
	struct btt *b;
	struct by_device devices; /* struct active_row */
};

static void *active_new(struct btt *b)
{
	struct active *a = mem_zalloc(sizeof(*a));

	*a = (struct active){ .b = b, .devices = { .size = sizeof(struct active_row) } };
	return a;
}

static void active_free(void *self)
{
	struct active *a = self;

	by_device_release(&a->devices);
	free(a);
}

static void leave(struct active_row *row)
{
	if (row->waiting) /* it may have come before the trace began */
		row->waiting--;
}

static void active_event(void *self, struct btt_device *dev, const struct event *ev)
{
	struct active *a = self;
	struct active_row *row;

	if (!dev)
		return;
	row = by_device(&a->devices, dev);
	switch ((enum action)ev->action) {
	case ACT_QUEUE:
		row->queued++;
		row->sum += row->waiting++;
		break;
	case ACT_REQUEUE:
		row->waiting += ev->bytes != 0;
		break;
	case ACT_SPLIT: /* both parts become requests */
		row->waiting++;
		break;
	case ACT_BIO_COMPLETE: /* a NOWAIT attempt that got no request: its Q comes again */
		if (ev->error == -EAGAIN)
			leave(row);
		break;
	case ACT_BACKMERGE:
	case ACT_FRONTMERGE:
	case ACT_RQ_MERGE:
		leave(row);
		break;
	case ACT_ISSUE:
		row->issues = true;
		leave(row);
		break;
	default:
		break;
	}
}

/* Its D was not seen. */
static void active_lost(void *self, struct btt_device *dev, const struct io_bio *bio)
{
	struct active *a = self;

	if (bio->issue_ns == TIME_NONE && bio->merge_ns == TIME_NONE)
		leave(by_device(&a->devices, dev));
}

static void active_ended(void *self, struct btt_device *dev, const struct io_bio *bio,
			 const struct event *ev)
{
	active_lost(self, dev, bio);
}

static void print_active(FILE *out, const char *label, const struct active_row *row)
{
	fprintf(out, "%10s | %13.1f\n", label, (double)row->sum / (double)row->queued);
}

static void active_finish(void *self)
{
	static const char dashes[] = "---------- | -------------\n";
	struct active *a = self;
	FILE *out = a->b->avg;
	struct active_row sum = { 0 };
	const struct btt_device *dev;
	size_t nr = 0;

	btt_title(out, "Active Requests At Q Information");
	fprintf(out, "%10s | %13s\n%s", "DEV", "Avg Reqs @ Q", dashes);
	for (size_t at = 0; (dev = btt_shown(a->b, &at)) != NULL;) {
		const struct active_row *row = by_device_known(&a->devices, dev);

		if (!row || !row->queued || !row->issues)
			continue;
		nr++;
		sum.queued += row->queued;
		sum.sum += row->sum;
		print_active(out, btt_row_label(a->b, dev).text, row);
		if (a->b->xvg)
			fprintf(a->b->xvg, "ARQ %s %.9f\n", dev->label,
				(double)row->sum / (double)row->queued);
	}
	if (nr > 1) {
		fprintf(out, "%s%10s | %13s\n", dashes, "Overall", "Avgs Reqs @ Q");
		print_active(out, "Average", &sum);
	}
	fputc('\n', out);
}

const struct btt_part btt_active = {
	.name = "active requests",
	.new = active_new,
	.event = active_event,
	.ended = active_ended,
	.bio_lost = active_lost,
	.finish = active_finish,
	.free = active_free,
};
