/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "cm.h"
#include "stat/modes.h"

#define MAX       8u
#define NR(array) (sizeof(array) / sizeof(*(array)))

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

/* Box and Muller. */
static double gauss(uint64_t *seed)
{
	double radius = sqrt(-2 * log(uniform(seed)));

	return radius * cos(2 * M_PI * uniform(seed));
}

static double log_normal(double median, double sigma, uint64_t *seed)
{
	return median * exp(sigma * gauss(seed));
}

static double narrow(uint64_t *seed)
{
	return log_normal(1e5, 0.05, seed);
}

static double usual(uint64_t *seed)
{
	return log_normal(1e5, 0.4, seed);
}

static double wide(uint64_t *seed)
{
	return log_normal(1e6, 1.5, seed);
}

static double from_zero(uint64_t *seed)
{
	return 1e6 * uniform(seed);
}

static double evenly(uint64_t *seed)
{
	return 2e5 + 1e5 * uniform(seed);
}

static double exponential(uint64_t *seed)
{
	return -1e5 * log(uniform(seed));
}

static double few_units(uint64_t *seed)
{
	return 20 * uniform(seed);
}

static double two_thrice_apart(uint64_t *seed)
{
	double at = next(seed) >> 63 ? 1e5 : 3e5;

	return log_normal(at, 0.2, seed);
}

static double a_tenth_far_away(uint64_t *seed)
{
	double at = uniform(seed) < 0.1 ? 8e6 : 1e5;

	return log_normal(at, 0.3, seed);
}

static double three(uint64_t *seed)
{
	double which = 3 * uniform(seed);

	return log_normal(which < 1 ? 1e5 : which < 2 ? 3e5 : 9e5, 0.2, seed);
}

static double tail_of_a_hundredth(uint64_t *seed)
{
	double at = uniform(seed) < 0.01 ? 1e8 : 1e5;

	return log_normal(at, 0.2, seed);
}

/* The dip between them is a twentieth: beyond doubt with many values, and still no valley. */
static double hardly_apart(uint64_t *seed)
{
	double at = next(seed) >> 63 ? 1e5 : 3e5;

	return log_normal(at, 0.43, seed);
}

/* What every answer must be, whatever the values. */
static void check_whole(const struct hist *hist, const struct mode *modes, size_t nr)
{
	double share = 0;

	assert_true(nr > 0 && nr <= MAX);
	for (size_t i = 0; i < nr; i++) {
		assert_true(modes[i].from <= modes[i].peak && modes[i].peak <= modes[i].to);
		assert_true(i == 0 || modes[i - 1].to < modes[i].from);
		assert_true(modes[i].share >= MODES_SHARE);
		share += modes[i].share;
	}
	assert_true(fabs(share - 1) < 1e-9);
	assert_int_equal(modes[0].from, hist->min);
	assert_int_equal(modes[nr - 1].to, hist->max);
}

static size_t modes_of(double (*draw)(uint64_t *), size_t nr_values, uint64_t seed,
		       struct mode *modes)
{
	struct hist hist = { 0 };
	size_t nr;

	for (size_t i = 0; i < nr_values; i++)
		hist_add(&hist, (uint64_t)draw(&seed));
	nr = modes_find(&hist, modes, MAX);
	check_whole(&hist, modes, nr);
	hist_release(&hist);
	return nr;
}

/* In how many of `runs` samples something else than `want` modes is seen. */
static unsigned int wrong(double (*draw)(uint64_t *), size_t nr_values, size_t want,
			  unsigned int runs)
{
	struct mode modes[MAX];
	unsigned int nr = 0;

	for (unsigned int run = 0; run < runs; run++)
		nr += modes_of(draw, nr_values, run * 7919 + nr_values, modes) != want;
	return nr;
}

static void noise_makes_no_modes(void **state)
{
	static double (*const one[])(uint64_t *) = {
		narrow, usual, wide, from_zero, evenly, exponential, few_units, tail_of_a_hundredth
	};

	(void)state;
	for (size_t i = 0; i < NR(one); i++) {
		assert_true(wrong(one[i], 200, 1, 1000) <= 2);
		assert_true(wrong(one[i], 1000, 1, 300) <= 1);
		assert_true(wrong(one[i], 10000, 1, 20) == 0);
		assert_true(wrong(one[i], 100000, 1, 1) == 0);
	}
}

static void modes_thrice_apart_are_seen(void **state)
{
	static double (*const two[])(uint64_t *) = { two_thrice_apart, a_tenth_far_away };

	(void)state;
	for (size_t i = 0; i < NR(two); i++) {
		assert_true(wrong(two[i], 500, 2, 200) <= 4);
		assert_true(wrong(two[i], 5000, 2, 20) == 0);
		assert_true(wrong(two[i], 100000, 2, 1) == 0);
	}
	assert_true(wrong(two_thrice_apart, 200, 2, 200) <= 20);
	assert_true(wrong(three, 300, 3, 200) <= 4);
	assert_true(wrong(three, 100000, 3, 1) == 0);
}

static void a_shallow_dip_is_no_valley(void **state)
{
	(void)state;
	assert_true(wrong(hardly_apart, 300000, 1, 3) == 0);
}

static void peaks_and_shares(void **state)
{
	struct mode modes[MAX];

	(void)state;
	assert_int_equal(modes_of(a_tenth_far_away, 20000, 3, modes), 2);
	assert_true(fabs(modes[0].share - 0.9) < 0.01);
	assert_true(fabs((double)modes[0].peak / 1e5 - 1) < 0.06);
	assert_true(fabs((double)modes[1].peak / 8e6 - 1) < 0.06);
	assert_true(modes[0].to < 1000000 && modes[1].from > 1000000);
}

static void constants(void **state)
{
	static const uint64_t values[] = { 0, 1, 127, 128, 4096, 1000000, UINT64_MAX };

	(void)state;
	for (size_t v = 0; v < NR(values); v++) {
		struct hist hist = { 0 };
		struct mode modes[MAX];

		for (unsigned int i = 0; i < MODES_NEED - 1; i++)
			hist_add(&hist, values[v]);
		assert_int_equal(modes_find(&hist, modes, MAX), 0);
		hist_add(&hist, values[v]);
		assert_int_equal(modes_find(&hist, modes, MAX), 1);
		check_whole(&hist, modes, 1);
		assert_int_equal(modes[0].peak, values[v]);
		hist_release(&hist);
	}
}

/* Spikes over the whole range, with 0 and the largest value; then room for fewer than there are. */
static void any_range_and_any_room(void **state)
{
	static const uint64_t spikes[] = { 0, 1000, 1u << 20, UINT64_C(1) << 40, UINT64_MAX };
	struct hist hist = { 0 };
	struct mode modes[MAX];

	(void)state;
	for (size_t s = 0; s < NR(spikes); s++)
		for (int i = 0; i < 100; i++)
			hist_add(&hist, spikes[s]);
	assert_int_equal(modes_find(&hist, modes, MAX), NR(spikes));
	check_whole(&hist, modes, NR(spikes));
	for (size_t s = 0; s < NR(spikes); s++) {
		assert_true(fabs((double)modes[s].peak - (double)spikes[s]) <=
			    0.02 * (double)spikes[s]);
		assert_true(fabs(modes[s].share - 0.2) < 1e-9);
	}
	for (size_t max = 1; max < NR(spikes); max++) {
		assert_int_equal(modes_find(&hist, modes, max), max);
		check_whole(&hist, modes, max);
	}
	assert_int_equal(modes_find(&hist, modes, 0), 0);
	hist_release(&hist);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(noise_makes_no_modes),
		cmocka_unit_test(modes_thrice_apart_are_seen),
		cmocka_unit_test(peaks_and_shares),
		cmocka_unit_test(constants),
		cmocka_unit_test(a_shallow_dip_is_no_valley),
		cmocka_unit_test(any_range_and_any_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
