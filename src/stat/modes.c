/* SPDX-License-Identifier: MIT */
#include "stat/modes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define PER_OCTAVE 32               /* cells of the density */
#define REACH      (PER_OCTAVE / 2) /* of the smoothing, to either side */

struct density {
	size_t first, nr; /* cells from that of the lowest value; nr of them */
	double *counts;
	double *smooth;   /* sum w c around a cell, w = 1 at the cell */
	double *variance; /* sum w^2 c */
};

/* Peaks and what is between them: valley i lies between peak i and peak i + 1. Cells. */
struct terrain {
	size_t *peaks, *valleys;
	size_t nr; /* peaks */
};

/* In cells. The octave below 1 is that of 0. */
static double place(double value)
{
	return value < 1 ? 0 : (log2(value) + 1) * PER_OCTAVE;
}

static double value_at(double place)
{
	return exp2(place / PER_OCTAVE - 1);
}

/* A bucket's values lie anywhere between its edges: narrow where values are large, but 2 may be
 * anything from 2 to 3 cut off, and would else be a peak far from 1 and 3. */
static void spread(struct density *d, const struct hist_bucket *bucket)
{
	double from = place((double)bucket->from), to = place((double)bucket->to + 1);

	for (double at = from, next; at < to; at = next) {
		size_t cell = (size_t)at;

		next = (double)(cell + 1) < to ? (double)(cell + 1) : to;
		if (cell - d->first < d->nr)
			d->counts[cell - d->first] += (double)bucket->n * (next - at) / (to - from);
	}
}

static void smooth(struct density *d)
{
	for (size_t i = 0; i < d->nr; i++) {
		size_t k = i < REACH ? 0 : i - REACH;

		for (; k < d->nr && k <= i + REACH; k++) {
			size_t away = k > i ? k - i : i - k;
			double w = 1 - (double)away / (REACH + 1);

			d->smooth[i] += w * d->counts[k];
			d->variance[i] += w * w * d->counts[k];
		}
	}
}

static void density_init(struct density *d, const struct hist *hist)
{
	struct hist_bucket bucket;

	/* One more at either end: a bucket reaches beyond the values in it. */
	d->first = (size_t)place((double)hist->min);
	d->first -= d->first > 0;
	d->nr = (size_t)place((double)hist->max + 1) + 2 - d->first;
	d->counts = mem_zalloc(3 * d->nr * sizeof(*d->counts));
	d->smooth = d->counts + d->nr;
	d->variance = d->smooth + d->nr;
	for (size_t at = 0; hist_next(hist, &at, &bucket);)
		spread(d, &bucket);
	smooth(d);
}

/* Every local maximum, however slight, with the lowest place to its left. */
static void terrain_init(struct terrain *t, const struct density *d)
{
	size_t low = 0;

	t->peaks = mem_zalloc(2 * d->nr * sizeof(*t->peaks));
	t->valleys = t->peaks + d->nr;
	for (size_t i = 0; i < d->nr; i++) {
		double here = d->smooth[i];

		if (here < d->smooth[low])
			low = i;
		if ((i > 0 && here <= d->smooth[i - 1]) ||
		    (i + 1 < d->nr && here < d->smooth[i + 1]))
			continue;
		if (t->nr)
			t->valleys[t->nr - 1] = low;
		t->peaks[t->nr++] = i;
		low = i;
	}
}

/* Of the two peaks beside a valley the higher one stays, and the valley goes. */
static void join(struct terrain *t, const struct density *d, size_t valley)
{
	size_t lower = valley + (d->smooth[t->peaks[valley]] > d->smooth[t->peaks[valley + 1]]);

	memmove(t->peaks + lower, t->peaks + lower + 1, (t->nr - lower - 1) * sizeof(*t->peaks));
	memmove(t->valleys + valley, t->valleys + valley + 1,
		(t->nr - valley - 2) * sizeof(*t->valleys));
	t->nr--;
}

/* How many standard deviations a valley is below the lower of its peaks; 0 where it is too shallow
 * to be called one. */
static double clearness(const struct terrain *t, const struct density *d, size_t valley)
{
	size_t a = t->peaks[valley], b = t->peaks[valley + 1], v = t->valleys[valley];
	size_t low = d->smooth[a] < d->smooth[b] ? a : b;

	if (d->smooth[v] > MODES_VALLEY * d->smooth[low])
		return 0;
	return (d->smooth[low] - d->smooth[v]) / sqrt(d->variance[low] + d->variance[v]);
}

static void join_unclear(struct terrain *t, const struct density *d, size_t max)
{
	while (t->nr > 1) {
		double worst = INFINITY;
		size_t at = 0;

		for (size_t i = 0; i + 1 < t->nr; i++) {
			double clear = clearness(t, d, i);

			if (clear < worst) {
				worst = clear;
				at = i;
			}
		}
		if (worst >= MODES_SIGMAS && t->nr <= max)
			return;
		join(t, d, at);
	}
}

static double held(const struct terrain *t, const struct density *d, size_t peak)
{
	size_t from = peak ? t->valleys[peak - 1] : 0;
	size_t to = peak + 1 < t->nr ? t->valleys[peak] : d->nr;
	double sum = 0;

	for (size_t i = from; i < to; i++)
		sum += d->counts[i];
	return sum;
}

/* Each becomes part of the neighbour that it is divided from least. */
static void join_small(struct terrain *t, const struct density *d, double least)
{
	for (size_t i = 0; i < t->nr && t->nr > 1;) {
		if (held(t, d, i) >= least) {
			i++;
			continue;
		}
		if (i + 1 == t->nr ||
		    (i && d->smooth[t->valleys[i - 1]] > d->smooth[t->valleys[i]]))
			join(t, d, i - 1);
		else
			join(t, d, i);
		i = 0;
	}
}

/* Fills in what lies between the valleys, bucket by bucket. */
static void tell(const struct terrain *t, const struct density *d, const struct hist *hist,
		 struct mode *modes)
{
	struct hist_bucket bucket;
	size_t i = 0;

	memset(modes, 0, t->nr * sizeof(*modes));
	for (size_t at = 0; hist_next(hist, &at, &bucket);) {
		while (i + 1 < t->nr &&
		       place((double)bucket.from) >= (double)(d->first + t->valleys[i]))
			i++;
		if (modes[i].share == 0)
			modes[i].from = bucket.from > hist->min ? bucket.from : hist->min;
		modes[i].to = bucket.to < hist->max ? bucket.to : hist->max;
		modes[i].share += (double)bucket.n / (double)hist->n;
	}
	for (i = 0; i < t->nr; i++) {
		double peak = value_at((double)(d->first + t->peaks[i]) + 0.5);

		if (peak >= (double)modes[i].to)
			modes[i].peak = modes[i].to;
		else
			modes[i].peak =
				peak <= (double)modes[i].from ? modes[i].from : (uint64_t)peak;
	}
}

size_t modes_find(const struct hist *hist, struct mode *modes, size_t max)
{
	struct terrain t = { 0 };
	struct density d;

	if (hist->n < MODES_NEED || !max)
		return 0;
	density_init(&d, hist);
	terrain_init(&t, &d);
	join_unclear(&t, &d, max);
	join_small(&t, &d, MODES_SHARE * (double)hist->n);
	tell(&t, &d, hist, modes);
	free(t.peaks);
	free(d.counts);
	return t.nr;
}
