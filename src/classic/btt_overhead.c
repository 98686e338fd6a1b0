/* SPDX-License-Identifier: MIT
 *
 * Device Overhead: which part of Q2C was what, of the bios that have ended; and the histogram of Q to D.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "classic/btt_parts.h"
#include "classic/btt_tables.h"

enum share { Q2G, G2I, Q2M, I2D, D2C, NR_SHARES };

struct shares {
	uint64_t ns[NR_SHARES], q2c_ns;
};

struct overhead {
	struct btt *b;
	struct by_device devices; /* struct shares */
};

static void *overhead_new(struct btt *b)
{
	struct overhead *o = mem_zalloc(sizeof(*o));

	*o = (struct overhead){ .b = b, .devices = { .size = sizeof(struct shares) } };
	return o;
}

static void overhead_free(void *self)
{
	struct overhead *o = self;

	by_device_release(&o->devices);
	free(o);
}

static uint64_t between(uint64_t from_ns, uint64_t to_ns)
{
	return from_ns == TIME_NONE || to_ns == TIME_NONE ? 0 : btt_elapsed(from_ns, to_ns);
}

static void overhead_ended(void *self, struct btt_device *dev, const struct io_bio *bio,
			   const struct event *ev)
{
	struct overhead *o = self;
	struct shares *s;

	if (bio->left_out)
		return;
	s = by_device(&o->devices, dev);
	s->ns[Q2G] += between(bio->queue_ns, bio->get_ns);
	s->ns[G2I] += between(bio->get_ns, bio->insert_ns);
	s->ns[Q2M] += between(bio->queue_ns, bio->merge_ns);
	s->ns[I2D] += between(bio->insert_ns, bio->issue_ns);
	s->ns[D2C] += between(bio->last_issue_ns, bio->data_ns);
	s->q2c_ns += between(bio->queue_ns, bio->complete_ns);
}

static void print_shares(FILE *out, const char *label, const struct shares *s)
{
	fprintf(out, "%10s |", label);
	for (int i = 0; i < NR_SHARES; i++)
		fprintf(out, " %8.4f%%", 100.0 * (double)s->ns[i] / (double)s->q2c_ns);
	fputc('\n', out);
}

static void overhead_finish(void *self)
{
	static const char dashes[] =
		"---------- | --------- --------- --------- --------- ---------\n";
	struct overhead *o = self;
	FILE *out = o->b->avg;
	struct shares sum = { 0 };
	const struct btt_device *dev;

	btt_title(out, "Device Overhead");
	fprintf(out, "%10s | %9s %9s %9s %9s %9s\n%s", "DEV", "Q2G", "G2I", "Q2M", "I2D", "D2C",
		dashes);
	for (size_t at = 0; (dev = btt_shown(o->b, &at)) != NULL;) {
		const struct shares *s = by_device_known(&o->devices, dev);

		if (!s || dev->remapper)
			continue;
		for (int i = 0; i < NR_SHARES; i++)
			sum.ns[i] += s->ns[i];
		sum.q2c_ns += s->q2c_ns;
		print_shares(out, btt_row_label(o->b, dev).text, s);
	}
	if (sum.q2c_ns) {
		fputs(dashes, out);
		print_shares(out, "Overall", &sum);
	}
	fputc('\n', out);
}

const struct btt_part btt_overhead = {
	.name = "overhead",
	.new = overhead_new,
	.ended = overhead_ended,
	.finish = overhead_finish,
	.free = overhead_free,
};

/* ---- Q2D Histogram ---- */

static const struct bucket {
	const char *label;
	uint64_t below_ms;
} buckets[] = {
	{ "<.005", 5 },    { "<.010", 10 },         { "<.025", 25 },  { "<.050", 50 },
	{ "<.075", 75 },   { "<.100", 100 },        { "<.250", 250 }, { "<.500", 500 },
	{ "< 1.0", 1000 }, { ">=1.0", UINT64_MAX },
};
#define NR_BUCKETS (sizeof(buckets) / sizeof(buckets[0]))

struct counts {
	uint64_t of[NR_BUCKETS], n;
};

struct histogram {
	struct btt *b;
	struct by_device devices; /* struct counts */
};

static bool histogram_wanted(const struct btt_options *o)
{
	return o->all_data;
}

static void *histogram_new(struct btt *b)
{
	struct histogram *h = mem_zalloc(sizeof(*h));

	*h = (struct histogram){ .b = b, .devices = { .size = sizeof(struct counts) } };
	return h;
}

static void histogram_free(void *self)
{
	struct histogram *h = self;

	by_device_release(&h->devices);
	free(h);
}

static void histogram_issued(void *self, struct btt_device *dev, struct io_bio *bio,
			     const struct event *ev)
{
	struct histogram *h = self;
	struct counts *c = by_device(&h->devices, dev);
	uint64_t from_ns = bio->queue_ns, to_ns = bio->issue_ns;
	uint64_t ms = to_ns > from_ns ? (to_ns - from_ns) / 1000000 : 0;
	size_t i = 0;

	while (ms >= buckets[i].below_ms)
		i++;
	c->of[i]++;
	c->n++;
}

static void print_counts(FILE *out, const char *label, const struct counts *c)
{
	fprintf(out, "%10s | ", label);
	for (size_t i = 0; i < NR_BUCKETS; i++)
		fprintf(out, "%5.1f ", 100.0 * (double)c->of[i] / (double)c->n);
	fputc('\n', out);
}

static void print_line(FILE *out, const char *begin)
{
	fprintf(out, "%10s | ", begin);
	for (size_t i = 0; i < NR_BUCKETS; i++)
		fputs("===== ", out);
	fputc('\n', out);
}

static void histogram_finish(void *self)
{
	struct histogram *h = self;
	FILE *out = h->b->avg;
	struct counts sum = { 0 };
	const struct btt_device *dev;

	btt_title(out, "Q2D Histogram");
	fprintf(out, "%10s | ", "DEV");
	for (size_t i = 0; i < NR_BUCKETS; i++)
		fprintf(out, "%s%s", buckets[i].label, i + 1 < NR_BUCKETS ? " " : "\n");
	print_line(out, "---------");
	for (size_t at = 0; (dev = btt_shown(h->b, &at)) != NULL;) {
		const struct counts *c = by_device_known(&h->devices, dev);

		if (!c)
			continue;
		for (size_t i = 0; i < NR_BUCKETS; i++)
			sum.of[i] += c->of[i];
		sum.n += c->n;
		print_counts(out, btt_row_label(h->b, dev).text, c);
	}
	if (sum.n) {
		print_line(out, "==========");
		print_counts(out, "AVG", &sum);
		fputc('\n', out); /* only then, in the classic too */
	}
}

const struct btt_part btt_q2d_histogram = {
	.name = "Q2D histogram",
	.wanted = histogram_wanted,
	.new = histogram_new,
	.issued = histogram_issued,
	.finish = histogram_finish,
	.free = histogram_free,
};
