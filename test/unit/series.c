/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "cm.h"
#include "stat/series.h"

static struct series of(const double *values, size_t nr)
{
	struct series s = { 0 };

	for (size_t i = 0; i < nr; i++)
		series_add(&s, values[i]);
	return s;
}

#define NEAR(a, b, by) assert_true(fabs((a) - (b)) <= (by))
#define NR(array)      (sizeof(array) / sizeof(*(array)))

static void mean_and_sample_deviation(void **state)
{
	/* files/s that somebody pasted; 24100 and 5133 are the thread's own figures */
	static const double pasted[] = { 29938.0, 28023.7, 23704.6, 16976.8, 21858.3 };
	struct series s = of(pasted, NR(pasted));

	(void)state;
	NEAR(s.mean, 24100.28, 0.01);
	NEAR(series_sd(&s), 5132.9, 0.5);
	assert_true(s.min == 16976.8 && s.max == 29938.0);
	assert_int_equal(series_kept(&s), 5);
	assert_true(isnan(series_kendall_z(&s))); /* too few to say */
	series_release(&s);
	series_release(&s);
}

static void too_few_are_unknown(void **state)
{
	static const double two[] = { 3, 5 };
	struct series s = { 0 };

	(void)state;
	assert_true(isnan(series_sd(&s)) && isnan(series_trend(&s)));
	series_add(&s, 7);
	assert_true(isnan(series_sd(&s)) && s.mean == 7);
	series_release(&s);
	s = of(two, 2);
	NEAR(series_sd(&s), sqrt(2), 1e-12);
	assert_true(isnan(series_trend(&s)));
	series_release(&s);
}

static void deviation_far_from_zero(void **state)
{
	struct series s = { 0 };

	(void)state;
	for (int i = 0; i < 1000; i++)
		series_add(&s, 1e12 + (i & 1));
	NEAR(series_sd(&s), 0.50025, 1e-4);
	series_release(&s);
}

static void trend_of_a_line(void **state)
{
	struct series s = { 0 };

	(void)state;
	for (int i = 0; i <= 20; i++)
		series_add(&s, 110 - i); /* 110 .. 90, mean 100 */
	NEAR(series_trend(&s), -0.2, 1e-12);
	assert_true(series_kendall_z(&s) < -6);
	series_release(&s);
	for (int i = 0; i <= 20; i++)
		series_add(&s, 42);
	assert_true(series_trend(&s) == 0 && series_kendall_z(&s) == 0);
	series_release(&s);
}

/* Ten values with one tie: S = 45 - 1 - 2 * 1 ..., worked out by hand. */
static void kendall_with_a_tie(void **state)
{
	static const double values[] = { 1, 2, 3, 4, 5, 6, 7, 8, 8, 2.5 };
	/* pairs: 36 among the first nine less the tie = 35 up; the last one: 2 up, 7 down */
	struct series s = of(values, NR(values));
	double variance = (10 * 9 * 25 - 2 * 1 * 9) / 18.0;

	(void)state;
	NEAR(series_kendall_z(&s), (35 + 2 - 7 - 1) / sqrt(variance), 1e-12);
	series_release(&s);
}

static void a_long_run_is_bounded(void **state)
{
	struct series s = { 0 };

	(void)state;
	for (int i = 0; i < 100000; i++)
		series_add(&s, 2e5 - i);
	assert_int_equal(s.n, 100000);
	assert_int_equal(series_kept(&s), SERIES_KEPT);
	assert_true(s.nr_batches <= SERIES_KEPT && s.nr_batches >= SERIES_KEPT / 2);
	NEAR(series_trend(&s), -1e5 / s.mean, 0.005);
	assert_true(series_kendall_z(&s) < -20);
	NEAR(series_sd(&s), 1e5 / sqrt(12), 1);
	series_release(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mean_and_sample_deviation),
		cmocka_unit_test(too_few_are_unknown),
		cmocka_unit_test(deviation_far_from_zero),
		cmocka_unit_test(trend_of_a_line),
		cmocka_unit_test(kendall_with_a_tie),
		cmocka_unit_test(a_long_run_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
