/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>

#include "cm.h"
#include "stat/hist.h"

static void every_value_within_one_percent(void **state)
{
	(void)state;
	for (uint64_t value = 0; value < UINT64_MAX / 3; value += value / 20 + 1) {
		struct hist hist = { 0 };
		uint64_t p50;

		hist_add(&hist, value);
		hist_add(&hist, value);
		hist.min = 0; /* so that the clamp does not hide the bucket */
		hist.max = UINT64_MAX;
		assert_true(hist_quantile(&hist, 0.5, &p50));
		assert_true(fabs((double)p50 - (double)value) <= 0.01 * (double)value);
		hist_release(&hist);
	}
}

static void too_little_data_is_unknown(void **state)
{
	struct hist hist = { 0 };
	uint64_t v;

	(void)state;
	assert_false(hist_quantile(&hist, 0.5, &v));
	hist_add(&hist, 7);
	assert_false(hist_quantile(&hist, 0.5, &v));
	for (int i = 1; i < 99; i++)
		hist_add(&hist, 7);
	assert_false(hist_quantile(&hist, 0.99, &v));
	hist_add(&hist, 7);
	assert_true(hist_quantile(&hist, 0.99, &v));
	assert_int_equal(v, 7);
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
	assert_int_equal(hist.min, 1000001);
	assert_true(hist.sum == 1000001e3);
	hist_release(&hist);
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Merged parts equal the whole, and quantiles are those of the sorted values. */
static void merge_is_addition(void **state)
{
	enum { N = 5000 };
	static const double qs[] = { 0.5, 0.9, 0.99, 0.999 };
	struct hist whole = { 0 }, parts[3] = { 0 }, sum = { 0 };
	uint64_t *values = malloc(N * sizeof(*values)), seed = 42, a, b;

	(void)state;
	for (int i = 0; i < N; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		values[i] = seed >> (20 + (seed >> 59));
		hist_add(&whole, values[i]);
		hist_add(&parts[i % 3], values[i]);
	}
	for (int i = 0; i < 3; i++)
		hist_merge(&sum, &parts[i]);
	qsort(values, N, sizeof(*values), compare);
	assert_int_equal(sum.n, N);
	assert_int_equal(sum.min, values[0]);
	assert_int_equal(sum.max, values[N - 1]);
	for (int i = 0; i < 4; i++) {
		uint64_t want = values[(int)ceil(qs[i] * N) - 1];

		assert_true(hist_quantile(&whole, qs[i], &a));
		assert_true(hist_quantile(&sum, qs[i], &b));
		assert_int_equal(a, b);
		assert_true(fabs((double)a - (double)want) <= 0.01 * (double)want);
	}
	for (int i = 0; i < 3; i++)
		hist_release(&parts[i]);
	hist_release(&whole);
	hist_release(&sum);
	free(values);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_value_within_one_percent),
		cmocka_unit_test(too_little_data_is_unknown),
		cmocka_unit_test(clamped_to_what_was_seen),
		cmocka_unit_test(merge_is_addition),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
