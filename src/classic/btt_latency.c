/* SPDX-License-Identifier: MIT
 *
 * Latencies one by one (-l, -q, -z) and as means of periods (-L): of each bio Q to D, told at its first D; D to C
 * and Q to its end, told there.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "classic/btt_parts.h"
#include "classic/btt_tables.h"

enum kind { Q2D, Q2C, D2C, NR_KINDS };

static const char *const kinds[NR_KINDS] = { "q2d", "q2c", "d2c" };

/* A sample of a bio: at which time it stands in the files, and what it is. False: it has none. */
static bool sample_of(const struct btt *b, enum kind kind, const struct io_bio *bio,
		      uint64_t *at_ns, uint64_t *ns)
{
	uint64_t from_ns = kind == D2C ? bio->last_issue_ns : bio->queue_ns;
	uint64_t to_ns = kind == Q2D   ? bio->issue_ns
			 : kind == Q2C ? bio->complete_ns
				       : bio->data_ns;

	if (from_ns == TIME_NONE || to_ns == TIME_NONE || bio->left_out)
		return false;
	*at_ns = btt_ns(b, kind == Q2C ? from_ns : to_ns);
	/* At D it is the plain difference, at the end at least 1 ns: as in the classic. */
	*ns = kind != Q2D ? btt_elapsed(from_ns, to_ns) : to_ns > from_ns ? to_ns - from_ns : 0;
	return true;
}

/* Not btt_seconds: the classic rounds these otherwise. */
static double seconds(uint64_t ns)
{
	return (double)ns / 1e9;
}

/* ---- -l, -q, -z ---- */

struct latency_files {
	struct btt_file *of[NR_KINDS]; /* NULL: not wanted */
};

struct latencies {
	struct btt *b;
	struct by_device devices; /* struct latency_files */
};

static bool latencies_wanted(const struct btt_options *o)
{
	return o->d2c || o->q2c || o->q2d;
}

static void *latencies_new(struct btt *b)
{
	struct latencies *l = mem_zalloc(sizeof(*l));

	*l = (struct latencies){ .b = b, .devices = { .size = sizeof(struct latency_files) } };
	return l;
}

/* At a device's first event. */
static void latencies_event(void *self, struct btt_device *dev, const struct event *ev)
{
	struct latencies *l = self;
	const struct btt_options *o = l->b->o;
	const char *bases[NR_KINDS] = { [Q2D] = o->q2d, [Q2C] = o->q2c, [D2C] = o->d2c };
	struct latency_files *files;

	if (!dev || by_device_known(&l->devices, dev))
		return;
	files = by_device(&l->devices, dev);
	for (int k = 0; k < NR_KINDS; k++)
		if (bases[k])
			files->of[k] = btt_file_new(l->b, false, "%s_%s_%s.dat", bases[k],
						    dev->label, kinds[k]);
}

static void put_latency(struct latencies *l, const struct btt_device *dev, enum kind kind,
			const struct io_bio *bio)
{
	const struct latency_files *files = by_device_known(&l->devices, dev);
	uint64_t at_ns, ns;

	if (files && files->of[kind] && sample_of(l->b, kind, bio, &at_ns, &ns))
		btt_file_printf(files->of[kind], "%.6f %.6f\n", seconds(at_ns), seconds(ns));
}

static void latencies_issued(void *self, struct btt_device *dev, struct io_bio *bio,
			     const struct event *ev)
{
	put_latency(self, dev, Q2D, bio);
}

static void latencies_ended(void *self, struct btt_device *dev, const struct io_bio *bio,
			    const struct event *ev)
{
	put_latency(self, dev, Q2C, bio);
	put_latency(self, dev, D2C, bio);
}

static void latencies_free(void *self)
{
	struct latencies *l = self;

	for (size_t i = 0; i < l->devices.nr; i++) {
		struct latency_files *files = l->devices.list[i];

		for (int k = 0; files && k < NR_KINDS; k++)
			btt_file_free(files->of[k]);
	}
	by_device_release(&l->devices);
	free(l);
}

const struct btt_part btt_latencies = {
	.name = "latencies",
	.wanted = latencies_wanted,
	.new = latencies_new,
	.event = latencies_event,
	.issued = latencies_issued,
	.ended = latencies_ended,
	.free = latencies_free,
};

/* ---- -L ---- */

/* A period begins with a sample and ends when one comes that is the period's length or more behind it. */
struct period {
	struct btt_file *file;
	uint64_t first_ns, last_ns, n;
	double sum_s;
};

struct periods {
	struct period of[NR_KINDS];
};

struct periodic {
	struct btt *b;
	struct by_device devices; /* struct periods */
};

static bool periodic_wanted(const struct btt_options *o)
{
	return o->periodic_ns != 0;
}

static void *periodic_new(struct btt *b)
{
	struct periodic *p = mem_zalloc(sizeof(*p));

	*p = (struct periodic){ .b = b, .devices = { .size = sizeof(struct periods) } };
	return p;
}

static void put_period(struct period *p)
{
	if (p->n)
		btt_file_printf(p->file, "%.6f %.6f\n",
				(seconds(p->first_ns) + seconds(p->last_ns)) / 2,
				p->sum_s / (double)p->n);
	p->n = 0;
	p->sum_s = 0;
}

/* At a device's first event. */
static void periodic_event(void *self, struct btt_device *dev, const struct event *ev)
{
	struct periodic *all = self;
	struct periods *periods;

	if (!dev || by_device_known(&all->devices, dev))
		return;
	periods = by_device(&all->devices, dev);
	for (int k = 0; k < NR_KINDS; k++)
		periods->of[k].file =
			btt_file_new(all->b, false, "%s_%s_plat.dat", dev->label, kinds[k]);
}

static void add_sample(struct periodic *all, const struct btt_device *dev, enum kind kind,
		       const struct io_bio *bio)
{
	struct periods *periods = by_device_known(&all->devices, dev);
	struct period *p;
	uint64_t at_ns, ns;

	if (!periods || !sample_of(all->b, kind, bio, &at_ns, &ns))
		return;
	p = &periods->of[kind];
	if (p->n && at_ns >= p->first_ns && at_ns - p->first_ns >= all->b->o->periodic_ns)
		put_period(p);
	if (!p->n++)
		p->first_ns = at_ns;
	p->last_ns = at_ns;
	p->sum_s += seconds(ns);
}

static void periodic_issued(void *self, struct btt_device *dev, struct io_bio *bio,
			    const struct event *ev)
{
	add_sample(self, dev, Q2D, bio);
}

static void periodic_ended(void *self, struct btt_device *dev, const struct io_bio *bio,
			   const struct event *ev)
{
	add_sample(self, dev, Q2C, bio);
	add_sample(self, dev, D2C, bio);
}

static void periodic_free(void *self)
{
	struct periodic *p = self;

	for (size_t i = 0; i < p->devices.nr; i++) {
		struct periods *of = p->devices.list[i];

		for (int k = 0; of && k < NR_KINDS; k++) {
			put_period(&of->of[k]);
			btt_file_free(of->of[k].file);
		}
	}
	by_device_release(&p->devices);
	free(p);
}

const struct btt_part btt_periodic = {
	.name = "periodic latencies",
	.wanted = periodic_wanted,
	.new = periodic_new,
	.event = periodic_event,
	.issued = periodic_issued,
	.ended = periodic_ended,
	.free = periodic_free,
};
