/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cm.h"
#include "stat/hist.h"

#define NR(array) (sizeof(array) / sizeof(*(array)))
#define MOST      100000u

static uint64_t next(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return (*seed ^ *seed >> 29) * 0x9E3779B97F4A7C15u;
}

/* In (0, 1). */
static double uniform(uint64_t *seed)
{
	return ((double)(next(seed) >> 11) + 0.5) / 9007199254740992.0;
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

enum { UNIFORM, LOG_UNIFORM, BIMODAL, CONSTANT, HUGE_ONES, TINY, EDGES, ZERO_OR_FAR, KINDS };

static uint64_t draw(int kind, uint64_t *seed)
{
	uint64_t r = next(seed);

	switch (kind) {
	case UNIFORM:
		return r % 1000000;
	case LOG_UNIFORM:
		return r >> (next(seed) >> 58);
	case BIMODAL:
		return (r & 1 ? 90000 : 8000000) + r % 5000;
	case CONSTANT:
		return 1000001;
	case HUGE_ONES:
		return UINT64_MAX - (r >> 8);
	case TINY:
		return r % 200;
	case EDGES: /* the first and last values of buckets and octaves */
		return (((64 + r % 64) << (r >> 8) % 58) - (r >> 16) % 2);
	default:
		return r % 3 ? 0 : UINT64_MAX - r % 2;
	}
}

/* The value at the rank that the header tells, found without floating point: the smallest rank
 * with rank / nr >= q, q in ten thousandths. */
static uint64_t at_rank(const uint64_t *sorted, size_t nr, unsigned int q)
{
	size_t rank = (nr * q + 9999) / 10000;

	return sorted[rank ? rank - 1 : 0];
}

static void check_quantiles(const struct hist *hist, const uint64_t *sorted, size_t nr)
{
	uint64_t got, want;

	for (unsigned int q = 100; q <= 9999; q += q < 9900 ? 100 : 1) {
		bool known = nr * (10000 - q) >= 10000;

		assert_int_equal(hist_quantile(hist, q / 1e4, &got), known);
		if (!known)
			continue;
		want = at_rank(sorted, nr, q);
		if (nr <= HIST_EXACT || want < 128)
			assert_int_equal(got, want);
		else
			assert_true((got > want ? got - want : want - got) <= want / 128);
	}
}

static void check_same(const struct hist *a, const struct hist *b)
{
	struct hist_bucket x, y;
	size_t i = 0, k = 0;

	assert_true(a->n == b->n && a->min == b->min && a->max == b->max && a->sum == b->sum);
	while (hist_next(a, &i, &x)) {
		assert_true(hist_next(b, &k, &y));
		assert_true(x.from == y.from && x.to == y.to && x.n == y.n);
	}
	assert_false(hist_next(b, &k, &y));
}

static void check_exact(const struct hist *hist, const uint64_t *sorted, size_t nr)
{
	unsigned __int128 sum = 0;
	struct hist_bucket bucket;
	size_t seen = 0;

	for (size_t i = 0; i < nr; i++)
		sum += sorted[i];
	assert_int_equal(hist->n, nr);
	assert_true(hist->sum == sum);
	assert_int_equal(hist->min, sorted[0]);
	assert_int_equal(hist->max, sorted[nr - 1]);
	for (size_t at = 0; hist_next(hist, &at, &bucket);)
		for (uint64_t i = 0; i < bucket.n; i++, seen++)
			assert_true(bucket.from <= sorted[seen] && sorted[seen] <= bucket.to);
	assert_int_equal(seen, nr);
}

/* The values dealt out to a few histograms, which are merged in a random order. */
static void merged(struct hist *sum, const uint64_t *values, size_t nr, uint64_t *seed)
{
	struct hist parts[7] = { 0 };

	for (size_t i = 0; i < nr; i++)
		hist_add(&parts[next(seed) % (1 + next(seed) % NR(parts))], values[i]);
	for (size_t left = NR(parts); left > 1; left--) {
		size_t from = next(seed) % left, into = next(seed) % (left - 1);
		struct hist swap = parts[from];

		parts[from] = parts[left - 1];
		hist_merge(&parts[into], &swap);
		hist_release(&swap);
	}
	*sum = parts[0];
}

static void quantiles_of_any_values_and_any_split(void **state)
{
	static const size_t sizes[] = { 1, 2, 3, 10, 31, 32, 33, 64, 100, 500, 1000, 5000, MOST };
	uint64_t *values = malloc(MOST * sizeof(*values)), seed = 42;

	(void)state;
	for (int kind = 0; kind < KINDS; kind++)
		for (size_t s = 0; s < NR(sizes); s++) {
			struct hist whole = { 0 }, sum;
			size_t nr = sizes[s];

			for (size_t i = 0; i < nr; i++) {
				values[i] = draw(kind, &seed);
				hist_add(&whole, values[i]);
			}
			merged(&sum, values, nr, &seed);
			check_same(&whole, &sum);
			qsort(values, nr, sizeof(*values), compare);
			check_exact(&whole, values, nr);
			check_quantiles(&whole, values, nr);
			hist_release(&whole);
			hist_release(&sum);
		}
	free(values);
}

/* Each value between a lower and a higher one, so that nothing but its bucket tells it. */
static void every_bucket_is_within_the_bound(void **state)
{
	(void)state;
	for (uint64_t value = 1; value < UINT64_MAX / 3; value += value / 300 + 1) {
		struct hist hist = { 0 };
		uint64_t p50;

		for (unsigned int i = 0; i < HIST_EXACT + 1; i++)
			hist_add(&hist, value);
		hist_add(&hist, 0);
		hist_add(&hist, UINT64_MAX);
		assert_true(hist_quantile(&hist, 0.5, &p50));
		assert_true((p50 > value ? p50 - value : value - p50) <= value / 128);
		hist_release(&hist);
	}
}

static void too_little_data_is_unknown(void **state)
{
	struct hist hist = { 0 };
	struct hist_bucket bucket;
	uint64_t v;
	size_t at = 0;

	(void)state;
	assert_false(hist_quantile(&hist, 0.5, &v));
	assert_false(hist_next(&hist, &at, &bucket));
	hist_add(&hist, 7);
	assert_false(hist_quantile(&hist, 0.5, &v));
	for (int i = 1; i < 99; i++)
		hist_add(&hist, 7);
	assert_false(hist_quantile(&hist, 0.99, &v));
	hist_add(&hist, 7);
	assert_true(hist_quantile(&hist, 0.99, &v));
	assert_int_equal(v, 7);
	hist_release(&hist);
	hist_release(&hist);
}

static void clamped_to_what_was_seen(void **state)
{
	struct hist hist = { 0 };
	uint64_t v;

	(void)state;
	for (int i = 0; i < 1000; i++)
		hist_add(&hist, 1000001);
	assert_true(hist_quantile(&hist, 0.999, &v));
	assert_int_equal(v, 1000001);
	hist_release(&hist);
}

/* Two histograms added to each other in turn grow like Fibonacci's rabbits: past 32 bits in fifty
 * steps. The range grows afterwards, and then one by one over the edge of a carry. */
static void counts_pass_32_bits(void **state)
{
	struct hist a = { 0 }, b = { 0 };
	struct hist_bucket bucket;
	uint64_t v, n;
	size_t at = 0;

	(void)state;
	for (unsigned int i = 0; i < 2 * HIST_EXACT; i++)
		hist_add(&a, 5000);
	for (int i = 0; i < 25; i++) {
		hist_merge(&b, &a);
		hist_merge(&a, &b);
	}
	n = a.n;
	assert_true(n > (uint64_t)UINT32_MAX * 8);
	assert_true(a.sum == (unsigned __int128)n * 5000);
	hist_add(&a, 1);
	hist_add(&a, UINT64_MAX);
	hist_merge(&b, &a);
	assert_true(hist_next(&a, &at, &bucket) && bucket.from == 1 && bucket.n == 1);
	assert_true(hist_next(&a, &at, &bucket) && bucket.n == n);
	assert_true(bucket.from <= 5000 && bucket.to >= 5000);
	assert_true(hist_next(&a, &at, &bucket) && bucket.to == UINT64_MAX && bucket.n == 1);
	assert_true(hist_quantile(&a, 0.5, &v) && v > 4960 && v < 5040);
	hist_release(&a);
	hist_release(&b);
}

static void one_more_than_32_bits(void **state)
{
	struct hist hist = { 0 };
	struct hist_bucket bucket;
	size_t at = 0;

	(void)state;
	for (unsigned int i = 0; i < 2 * HIST_EXACT; i++)
		hist_add(&hist, 5000);
	assert_true(hist_next(&hist, &at, &bucket));
	hist.count[at - 1] = UINT32_MAX;
	hist.n = UINT32_MAX;
	hist_add(&hist, 5000);
	hist_add(&hist, 5000);
	at = 0;
	assert_true(hist_next(&hist, &at, &bucket));
	assert_int_equal(bucket.n, UINT64_C(1) + UINT32_MAX + 1);
	hist_release(&hist);
}

/* What the header promises about memory: few octaves take little, wherever they are. */
static void memory_follows_what_occurred(void **state)
{
	struct hist hist = { 0 };
	uint64_t seed = 1;

	(void)state;
	for (unsigned int i = 0; i < HIST_EXACT; i++)
		hist_add(&hist, next(&seed));
	assert_int_equal(hist.nr, 0);
	hist_release(&hist);
	for (int i = 0; i < 10000; i++)
		hist_add(&hist, (uint64_t)(1e5 * exp2(2 * uniform(&seed))));
	assert_true(hist.nr > 0 && hist.nr <= 3u << HIST_SUB_BITS);
	hist_release(&hist);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quantiles_of_any_values_and_any_split),
		cmocka_unit_test(every_bucket_is_within_the_bound),
		cmocka_unit_test(too_little_data_is_unknown),
		cmocka_unit_test(clamped_to_what_was_seen),
		cmocka_unit_test(counts_pass_32_bits),
		cmocka_unit_test(one_more_than_32_bits),
		cmocka_unit_test(memory_follows_what_occurred),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
