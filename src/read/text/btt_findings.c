/* SPDX-License-Identifier: MIT */
#include "read/text/btt_findings.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "read/text/finding.h"

#define WHOLE_WITHIN 0.01 /* of the time, that rounding and one-nanosecond repairs explain */
#define CLEARLY      1.25 /* times as much: one side outweighs the other */
#define NS_PER_MS    1e6

static double sum_ns(const struct btt_mean *m)
{
	return (double)m->mean_ns * (double)m->n;
}

/* ---- the shares that do not add up ---- */

static char *missing_words(const struct btt_all *all, double missing)
{
	double m2d = sum_ns(&all->m2d) / sum_ns(&all->q2c);
	uint64_t unmatched = all->q2m.n > all->m2d.n ? all->q2m.n - all->m2d.n : 0;

	if (!all->q2c.n || !all->q2c.mean_ns || !all->m2d.n)
		return mem_printf(
			"what is missing is M2D, which that table leaves out (the table of all "
			"devices would tell it), and merged I/O that was never matched to a D");
	if (!unmatched)
		return mem_printf("%.1f %% is M2D (%s x %.3f ms), which that table leaves out",
				  100 * m2d, grouped(all->m2d.n).s,
				  (double)all->m2d.mean_ns / NS_PER_MS);
	return mem_printf(
		"%.1f %% is M2D (%s x %.3f ms), which that table leaves out; the other %.1f %% "
		"belong to the %s merges (%s Q2M, %s M2D) that were never matched to a D",
		100 * m2d, grouped(all->m2d.n).s, (double)all->m2d.mean_ns / NS_PER_MS,
		100 * (missing - m2d), grouped(unmatched).s, grouped(all->q2m.n).s,
		grouped(all->m2d.n).s);
}

static void put_m2d(json_t *ev, const struct btt_all *all)
{
	if (all->m2d.n && all->q2c.n && all->q2c.mean_ns)
		put_real(ev, "m2d_share", sum_ns(&all->m2d) / sum_ns(&all->q2c));
	else
		put_unknown(ev, "m2d_share", "the table of all devices has no M2D or no Q2C");
	if (all->q2m.n >= all->m2d.n && all->q2m.n)
		put_u64(ev, "unmatched_merges", all->q2m.n - all->m2d.n);
	else
		put_unknown(ev, "unmatched_merges", "the table of all devices has no Q2M");
	if (all->q2c.n)
		put_real(ev, "q2c_sum_ns", sum_ns(&all->q2c));
	else
		put_unknown(ev, "q2c_sum_ns", "the table of all devices has no Q2C");
}

static void not_whole(struct facts *facts, const struct btt_all *all, const struct btt_overhead *o)
{
	double missing = 1 - o->sum;
	char *sentence;
	json_t *ev;

	if (!o->known || fabs(missing) <= WHOLE_WITHIN)
		return;
	if (missing > 0) {
		char *words = missing_words(all, missing);

		sentence = mem_printf(
			"The shares of btt's overhead table add to %.1f %% of Q2C: of the "
			"missing %.1f %%, %s.",
			100 * o->sum, 100 * missing, words);
		free(words);
	} else {
		sentence = mem_printf(
			"The shares of btt's overhead table add to %.1f %% of Q2C: btt joined "
			"I/O wrongly (it does where ranges overlap), or merged I/O is in it "
			"twice.",
			100 * o->sum);
	}
	ev = finding_add(facts, "overhead-not-whole", "notice",
			 "The shares do not add up to the whole", sentence, NULL);
	put_text(ev, "device", o->device);
	put_real(ev, "sum", o->sum);
	put_real(ev, "missing", missing);
	put_m2d(ev, all);
}

/* ---- queue or device ---- */

static char *bound_words(const struct btt_all *all, double queue, double device)
{
	double d2c = (double)all->d2c.mean_ns / NS_PER_MS,
	       i2d = (double)all->i2d.mean_ns / NS_PER_MS;
	const char *tail =
		"What share of somebody's waiting that was cannot be told from a table of means.";

	if (queue > CLEARLY * device && all->i2d.mean_ns > all->d2c.mean_ns && all->d2c.mean_ns)
		return mem_printf(
			"I2D (%.2f ms) is %.1f times D2C (%.2f ms): requests wait in the queue "
			"until others have left the device (it takes no more at once), longer "
			"than the device works on each: bound by the queue. %s",
			i2d, i2d / d2c, d2c, tail);
	if (queue > CLEARLY * device)
		return mem_printf(
			"From Q to D all I/O together waited %.1f s, %.1f times what it spent at "
			"the device (%.1f s): bound by the queue. %s",
			queue / 1e9, queue / device, device / 1e9, tail);
	if (device > CLEARLY * queue)
		return mem_printf(
			"D2C is %.2f ms, and all that comes before D is less (together %.1f s "
			"against %.1f s at the device): bound by the device. %s",
			d2c, queue / 1e9, device / 1e9, tail);
	return mem_printf(
		"All I/O together spent about as long before D (%.1f s) as at the device (%.1f s): "
		"neither bounds alone. %s",
		queue / 1e9, device / 1e9, tail);
}

static void put_mean(json_t *ev, const char *mean_key, const char *sum_key,
		     const struct btt_mean *m)
{
	if (m->n) {
		put_u64(ev, mean_key, m->mean_ns);
		put_real(ev, sum_key, sum_ns(m));
	} else {
		put_unknown(ev, mean_key, "the table has no such row");
		put_unknown(ev, sum_key, "the table has no such row");
	}
}

static void bound(struct facts *facts, const struct btt_all *all)
{
	double queue =
		sum_ns(&all->q2g) + sum_ns(&all->g2i) + sum_ns(&all->i2d) + sum_ns(&all->m2d);
	double device = sum_ns(&all->d2c);
	json_t *ev;

	if (device <= 0 || (!all->q2g.n && !all->i2d.n))
		return; /* nothing says how long it waited before */
	ev = finding_add(facts, "bound-from-table", "notice", "Queue or device, from btt's table",
			 bound_words(all, queue, device), NULL);
	put_text(ev, "bound",
		 queue > CLEARLY * device   ? "queue"
		 : device > CLEARLY * queue ? "device"
					    : "unknown");
	put_mean(ev, "i2d_mean_ns", "i2d_sum_ns", &all->i2d);
	put_mean(ev, "d2c_mean_ns", "d2c_sum_ns", &all->d2c);
	put_mean(ev, "q2c_mean_ns", "q2c_sum_ns", &all->q2c);
	put_real(ev, "before_device_sum_ns", queue);
}

void btt_findings(struct facts *facts, const struct btt_all *all,
		  const struct btt_overhead *overhead)
{
	not_whole(facts, all, overhead);
	bound(facts, all);
}
