/* SPDX-License-Identifier: MIT */
#include "stat/hist.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define SUB (1u << HIST_SUB_BITS)

/* Buckets are numbered through: octave o (of width 2^o) has the SUB from (o + 1) SUB on, and the
 * first SUB numbers are the values below SUB, as wide as those of octave 0. */
static unsigned int bucket_of(uint64_t value)
{
	unsigned int octave =
		63 - HIST_SUB_BITS - (unsigned int)__builtin_clzll(value | (uint64_t)SUB);

	return (octave << HIST_SUB_BITS) + (unsigned int)(value >> octave);
}

static unsigned int octave_of(unsigned int bucket)
{
	return bucket < SUB ? 0 : (bucket >> HIST_SUB_BITS) - 1;
}

static uint64_t bucket_from(unsigned int bucket)
{
	unsigned int octave = octave_of(bucket);

	return (uint64_t)(bucket - (octave << HIST_SUB_BITS)) << octave;
}

static uint64_t bucket_width(unsigned int bucket)
{
	return UINT64_C(1) << octave_of(bucket);
}

static uint64_t count_at(const struct hist *hist, unsigned int at)
{
	return hist->count[at] | (hist->carry ? (uint64_t)hist->carry[at] << 32 : 0);
}

static void count(struct hist *hist, unsigned int at, uint64_t n)
{
	n += count_at(hist, at);
	hist->count[at] = (uint32_t)n;
	if (!(n >> 32))
		return;
	if (!hist->carry)
		hist->carry = mem_zalloc(hist->nr * sizeof(*hist->carry));
	hist->carry[at] = (uint32_t)(n >> 32);
}

/* A larger array with the old one `before` buckets after its beginning. */
static uint32_t *moved(uint32_t *old, uint32_t nr_old, uint32_t before, uint32_t nr)
{
	uint32_t *array = mem_zalloc(nr * sizeof(*array));

	if (nr_old)
		memcpy(array + before, old, nr_old * sizeof(*array));
	free(old);
	return array;
}

/* Makes room for these buckets, rounded to whole octaves. */
static void cover(struct hist *hist, unsigned int lowest, unsigned int highest)
{
	uint32_t first = lowest & ~(SUB - 1), end = (highest | (SUB - 1)) + 1;

	if (hist->nr) {
		first = first < hist->first ? first : hist->first;
		end = end > hist->first + hist->nr ? end : hist->first + hist->nr;
	}
	if (end - first == hist->nr)
		return;
	hist->count = moved(hist->count, hist->nr, hist->first - first, end - first);
	if (hist->carry)
		hist->carry = moved(hist->carry, hist->nr, hist->first - first, end - first);
	hist->first = first;
	hist->nr = end - first;
}

/* The few values become counts. */
static void spill(struct hist *hist)
{
	uint64_t *few = hist->few;

	hist->few = NULL;
	if (hist->n)
		cover(hist, bucket_of(hist->min), bucket_of(hist->max));
	for (size_t i = 0; i < hist->n; i++)
		count(hist, bucket_of(few[i]) - hist->first, 1);
	free(few);
}

static void keep(struct hist *hist, uint64_t value)
{
	size_t i = (size_t)hist->n;

	hist->few = mem_grow(hist->few, i, sizeof(*hist->few));
	for (; i > 0 && hist->few[i - 1] > value; i--)
		hist->few[i] = hist->few[i - 1];
	hist->few[i] = value;
	if (!hist->n)
		hist->min = UINT64_MAX;
}

static void tally(struct hist *hist, uint64_t value)
{
	hist->n++;
	hist->sum += value;
	if (value < hist->min)
		hist->min = value;
	if (value > hist->max)
		hist->max = value;
}

/* Outside of the buckets there are. */
static __attribute__((noinline)) void add_outside(struct hist *hist, uint64_t value)
{
	unsigned int bucket = bucket_of(value);

	if (hist->n < HIST_EXACT) {
		keep(hist, value);
	} else {
		if (hist->n == HIST_EXACT)
			spill(hist);
		cover(hist, bucket, bucket);
		count(hist, bucket - hist->first, 1);
	}
	tally(hist, value);
}

void hist_add(struct hist *hist, uint64_t value)
{
	unsigned int at = bucket_of(value) - hist->first;

	if (__builtin_expect(at >= hist->nr, 0)) {
		add_outside(hist, value);
		return;
	}
	if (__builtin_expect(hist->count[at] == UINT32_MAX, 0))
		count(hist, at, 1);
	else
		hist->count[at]++;
	tally(hist, value);
}

void hist_merge(struct hist *into, const struct hist *from)
{
	if (into->n + from->n <= HIST_EXACT) {
		for (size_t i = 0; i < from->n; i++)
			hist_add(into, from->few[i]);
		return;
	}
	if (!from->n)
		return;
	if (!into->nr)
		spill(into);
	cover(into, bucket_of(from->min), bucket_of(from->max));
	for (size_t i = 0; i < from->n && !from->nr; i++)
		count(into, bucket_of(from->few[i]) - into->first, 1);
	for (uint32_t i = 0; i < from->nr; i++)
		count(into, from->first + i - into->first, count_at(from, i));
	into->min = into->n && into->min < from->min ? into->min : from->min;
	into->max = into->max > from->max ? into->max : from->max;
	into->n += from->n;
	into->sum += from->sum;
}

void hist_release(struct hist *hist)
{
	free(hist->nr ? (void *)hist->count : (void *)hist->few);
	free(hist->carry);
	*hist = (struct hist){ 0 };
}

/* Both have a slack far below one value, since the product of a q that is not quite 0.07 and 100 is
 * not quite 7, and 1 - 0.99 not quite 0.01. */
static uint64_t rank_of(const struct hist *hist, double q)
{
	uint64_t rank = (uint64_t)ceil(q * (double)hist->n * (1 - 1e-12));

	return rank ? rank : 1;
}

static bool is_known(const struct hist *hist, double q)
{
	return (double)hist->n * (1 - q) >= 1 - 1e-9;
}

bool hist_quantile(const struct hist *hist, double q, uint64_t *value)
{
	uint64_t rank = rank_of(hist, q), seen = 0;
	uint32_t at;

	if (!is_known(hist, q))
		return false;
	if (!hist->nr) {
		*value = hist->few[rank - 1];
		return true;
	}
	for (at = 0; at < hist->nr - 1; at++) {
		seen += count_at(hist, at);
		if (seen >= rank)
			break;
	}
	at += hist->first;
	*value = bucket_from(at) + bucket_width(at) / 2;
	if (*value < hist->min)
		*value = hist->min;
	if (*value > hist->max)
		*value = hist->max;
	return true;
}

bool hist_next(const struct hist *hist, size_t *at, struct hist_bucket *bucket)
{
	if (!hist->nr) {
		if (*at >= hist->n)
			return false;
		bucket->from = bucket->to = hist->few[(*at)++];
		bucket->n = 1;
		return true;
	}
	while (*at < hist->nr && !count_at(hist, (unsigned int)*at))
		++*at;
	if (*at >= hist->nr)
		return false;
	bucket->n = count_at(hist, (unsigned int)*at);
	bucket->from = bucket_from(hist->first + (unsigned int)*at);
	bucket->to = bucket->from + (bucket_width(hist->first + (unsigned int)*at) - 1);
	++*at;
	return true;
}
