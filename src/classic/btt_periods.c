/* SPDX-License-Identifier: MIT
 *
 * I/O Active Period Information: when some bio was at the device.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"
#include "classic/btt_parts.h"
#include "classic/btt_tables.h"

struct period_row {
	struct btt_live live;
	/* Bios that were issued and have not ended. With none, periods cannot grow any more: they are
	 * added up, all but the last, which the next one may touch. */
	uint64_t open;
	uint64_t nr, active_ns, first_ns;
};

struct periods {
	struct btt *b;
	struct period_row all;
	struct by_device devices; /* struct period_row */
};

static void *periods_new(struct btt *b)
{
	struct periods *p = mem_zalloc(sizeof(*p));

	*p = (struct periods){ .b = b, .devices = { .size = sizeof(struct period_row) } };
	return p;
}

static void periods_free(void *self)
{
	struct periods *p = self;

	for (size_t i = 0; i < p->devices.nr; i++)
		if (p->devices.list[i])
			btt_live_release(&((struct period_row *)p->devices.list[i])->live);
	by_device_release(&p->devices);
	btt_live_release(&p->all.live);
	free(p);
}

/* Adds up all but the last `left` of them. */
static void settle(struct period_row *row, size_t left)
{
	struct btt_live *live = &row->live;
	size_t nr = live->nr > left ? live->nr - left : 0;

	for (size_t i = 0; i < nr; i++) {
		if (!row->nr++)
			row->first_ns = live->spans[i].from_ns;
		row->active_ns += live->spans[i].to_ns - live->spans[i].from_ns;
	}
	for (size_t i = nr; nr && i < live->nr; i++)
		live->spans[i - nr] = live->spans[i];
	live->nr -= nr;
}

static void periods_issued(void *self, struct btt_device *dev, struct io_bio *bio,
			   const struct event *ev)
{
	struct periods *p = self;
	struct period_row *row = by_device(&p->devices, dev);

	row->open++;
	p->all.open++;
}

static void leave(struct period_row *row)
{
	if (row->open && --row->open == 0)
		settle(row, 1);
}

static void periods_lost(void *self, struct btt_device *dev, const struct io_bio *bio)
{
	struct periods *p = self;

	if (bio->issue_ns == TIME_NONE)
		return;
	leave(by_device(&p->devices, dev));
	leave(&p->all);
}

static void periods_ended(void *self, struct btt_device *dev, const struct io_bio *bio,
			  const struct event *ev)
{
	struct periods *p = self;
	struct period_row *row = by_device(&p->devices, dev);
	uint64_t from_ns = btt_ns(p->b, bio->last_issue_ns);
	uint64_t to_ns = btt_ns(p->b, bio->data_ns);

	if (!bio->left_out && from_ns != TIME_NONE && to_ns != TIME_NONE) {
		if (to_ns < from_ns)
			to_ns = from_ns;
		btt_live_add(&row->live, from_ns, to_ns);
		btt_live_add(&p->all.live, from_ns, to_ns);
	}
	periods_lost(p, dev, bio);
}

/* The periods, the gaps between them, and their share of the time from the first event on. */
static void print_row(const struct periods *p, const char *label, struct period_row *row)
{
	double active, gaps = 0, percent = 0;
	uint64_t end_ns = 0;

	if (row->live.nr)
		end_ns = row->live.spans[row->live.nr - 1].to_ns;
	settle(row, 0);
	active = (double)row->active_ns;
	if (row->nr > 1)
		gaps = ((double)(end_ns - row->first_ns) - active) / (double)(row->nr - 1);
	if (end_ns > p->b->first_ns)
		percent = 100 * active / (double)(end_ns - p->b->first_ns);
	fprintf(p->b->avg, "%10s | %10" PRIu64 " %13.9f %13.9f %6.2f\n", label, row->nr,
		row->nr ? active / (double)row->nr / 1e9 : 0, gaps / 1e9, percent);
}

static void periods_finish(void *self)
{
	static const char dashes[] = "---------- | ---------- ------------- ------------- ------\n";
	struct periods *p = self;
	FILE *out = p->b->avg;
	const struct btt_device *dev;

	btt_title(out, "I/O Active Period Information");
	fprintf(out, "%10s | %10s %13s %13s %6s\n%s", "DEV", "# Live", "Avg. Act", "Avg. !Act",
		"% Live", dashes);
	for (size_t at = 0; (dev = btt_shown(p->b, &at)) != NULL;) {
		struct period_row none = { 0 }, *row = by_device_known(&p->devices, dev);

		print_row(p, btt_row_label(p->b, dev).text, row ? row : &none);
	}
	fputs(dashes, out);
	print_row(p, "Total Sys", &p->all);
	fputc('\n', out);
}

const struct btt_part btt_live_periods = {
	.name = "live periods",
	.new = periods_new,
	.issued = periods_issued,
	.ended = periods_ended,
	.bio_lost = periods_lost,
	.finish = periods_finish,
	.free = periods_free,
};
