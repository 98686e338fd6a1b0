/* SPDX-License-Identifier: MIT */
#include "stat/hist.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"

#define SUB (1u << HIST_SUB_BITS)

/* Values below SUB have a bucket each; from there every octave has SUB of them. */
static unsigned int bucket_of(uint64_t value)
{
	unsigned int octave;

	if (value < SUB)
		return (unsigned int)value;
	octave = 63 - (unsigned int)__builtin_clzll(value) - HIST_SUB_BITS;
	return ((octave + 1) << HIST_SUB_BITS) + (unsigned int)((value >> octave) & (SUB - 1));
}

/* The middle of a bucket. */
static uint64_t value_of(unsigned int bucket)
{
	unsigned int octave = bucket >> HIST_SUB_BITS;
	uint64_t low, width;

	if (octave == 0)
		return bucket;
	width = UINT64_C(1) << (octave - 1);
	low = (uint64_t)(SUB + (bucket & (SUB - 1))) << (octave - 1);
	return low + width / 2;
}

static void count(struct hist *hist, unsigned int bucket, uint32_t n)
{
	uint32_t *at = &hist->count[bucket];

	*at = n > UINT32_MAX - *at ? UINT32_MAX : *at + n;
}

void hist_add(struct hist *hist, uint64_t value)
{
	if (!hist->count) {
		hist->count = mem_zalloc(HIST_BUCKETS * sizeof(*hist->count));
		hist->min = UINT64_MAX;
	}
	count(hist, bucket_of(value), 1);
	hist->n++;
	hist->sum += (double)value;
	if (value < hist->min)
		hist->min = value;
	if (value > hist->max)
		hist->max = value;
}

void hist_merge(struct hist *into, const struct hist *from)
{
	if (!from->n)
		return;
	if (!into->count) {
		into->count = mem_zalloc(HIST_BUCKETS * sizeof(*into->count));
		into->min = UINT64_MAX;
	}
	for (unsigned int i = 0; i < HIST_BUCKETS; i++)
		count(into, i, from->count[i]);
	into->n += from->n;
	into->sum += from->sum;
	if (from->min < into->min)
		into->min = from->min;
	if (from->max > into->max)
		into->max = from->max;
}

void hist_release(struct hist *hist)
{
	free(hist->count);
	*hist = (struct hist){ 0 };
}

bool hist_quantile(const struct hist *hist, double q, uint64_t *value)
{
	uint64_t rank, seen = 0;
	unsigned int i;

	/* The slack makes 100 values enough for p99 although 1 - 0.99 is not quite 0.01. */
	if ((double)hist->n * (1 - q) < 1 - 1e-9)
		return false;
	rank = (uint64_t)ceil(q * (double)hist->n);
	for (i = 0; i < HIST_BUCKETS - 1; i++) {
		seen += hist->count[i];
		if (seen >= rank)
			break;
	}
	*value = value_of(i);
	if (*value < hist->min)
		*value = hist->min;
	if (*value > hist->max)
		*value = hist->max;
	return true;
}
