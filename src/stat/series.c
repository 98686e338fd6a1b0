/* SPDX-License-Identifier: MIT */
#include "stat/series.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define KENDALL_MIN 8

/* Makes of each two batches one, so that a long run stays bounded and covered evenly. */
static void halve(struct series *s)
{
	for (size_t i = 0; i < s->nr_batches / 2; i++)
		s->batches[i] = (s->batches[2 * i] + s->batches[2 * i + 1]) / 2;
	s->nr_batches /= 2;
	s->per_batch *= 2;
}

static void batch_add(struct series *s, double value)
{
	s->batch_sum += value;
	if (++s->in_batch < s->per_batch)
		return;
	s->batches[s->nr_batches++] = s->batch_sum / (double)s->in_batch;
	s->batch_sum = 0;
	s->in_batch = 0;
	if (s->nr_batches == SERIES_KEPT)
		halve(s);
}

void series_add(struct series *s, double value)
{
	double delta = value - s->mean;

	if (!s->kept) {
		s->kept = mem_resize(NULL, SERIES_KEPT, sizeof(*s->kept));
		s->batches = mem_resize(NULL, SERIES_KEPT, sizeof(*s->batches));
		s->per_batch = 1;
		s->min = s->max = value;
	}
	if (s->n < SERIES_KEPT)
		s->kept[s->n] = value;
	s->n++;
	s->mean += delta / (double)s->n;
	s->squares += delta * (value - s->mean);
	s->min = value < s->min ? value : s->min;
	s->max = value > s->max ? value : s->max;
	batch_add(s, value);
}

void series_release(struct series *s)
{
	free(s->kept);
	free(s->batches);
	*s = (struct series){ 0 };
}

size_t series_kept(const struct series *s)
{
	return s->n < SERIES_KEPT ? (size_t)s->n : SERIES_KEPT;
}

double series_sd(const struct series *s)
{
	return s->n < 2 ? NAN : sqrt(s->squares / (double)(s->n - 1));
}

/* slope = sum((i - mean i) (y - mean y)) / sum((i - mean i)^2); the second sum is k (k^2 - 1) / 12. */
double series_trend(const struct series *s)
{
	double k = (double)s->nr_batches, mean = 0, up = 0;

	if (s->nr_batches < 3 || s->mean == 0)
		return NAN;
	for (size_t i = 0; i < s->nr_batches; i++)
		mean += s->batches[i] / k;
	for (size_t i = 0; i < s->nr_batches; i++)
		up += ((double)i - (k - 1) / 2) * (s->batches[i] - mean);
	return up / (k * (k * k - 1) / 12) * (k - 1) / s->mean;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* sum over groups of equal values of t (t - 1) (2 t + 5) */
static double ties(const double *values, size_t nr)
{
	double *sorted = mem_resize(NULL, nr, sizeof(*sorted)), sum = 0;

	memcpy(sorted, values, nr * sizeof(*sorted));
	qsort(sorted, nr, sizeof(*sorted), by_value);
	for (size_t i = 0, end; i < nr; i = end) {
		double t;

		for (end = i + 1; end < nr && sorted[end] == sorted[i];)
			end++;
		t = (double)(end - i);
		sum += t * (t - 1) * (2 * t + 5);
	}
	free(sorted);
	return sum;
}

/* H. B. Mann 1945, M. G. Kendall 1975: S = pairs that rise - pairs that fall, with variance
 * (n (n - 1) (2 n + 5) - ties) / 18 where there is no trend. */
double series_kendall_z(const struct series *s)
{
	double n = (double)s->nr_batches, variance;
	long long rise = 0;

	if (s->nr_batches < KENDALL_MIN)
		return NAN;
	for (size_t i = 0; i < s->nr_batches; i++)
		for (size_t k = i + 1; k < s->nr_batches; k++)
			rise += (s->batches[k] > s->batches[i]) - (s->batches[k] < s->batches[i]);
	variance = (n * (n - 1) * (2 * n + 5) - ties(s->batches, s->nr_batches)) / 18;
	if (rise == 0 || variance <= 0)
		return 0;
	return (double)(rise - (rise > 0 ? 1 : -1)) / sqrt(variance);
}
