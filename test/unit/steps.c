/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>

#include "cm.h"
#include "stat/steps.h"

#define MS UINT64_C(1000000)

static uint64_t next(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return (*seed ^ *seed >> 29) * 0x9E3779B97F4A7C15u >> 8;
}

static struct step total(const struct steps *s)
{
	struct step sum = { 0 };

	for (size_t i = 0; i < s->nr; i++) {
		sum.area += s->steps[i].area;
		sum.ns += s->steps[i].ns;
		sum.max = s->steps[i].max > sum.max ? s->steps[i].max : sum.max;
	}
	return sum;
}

static void one_value_over_three_steps(void **state)
{
	struct steps s = { 0 };
	const uint64_t at = 7 * MS + 123;

	(void)state;
	steps_add(&s, at, at + 2 * MS + MS / 2, 4);
	assert_int_equal(s.origin_ns, at);
	assert_int_equal(s.step_ns, STEPS_FIRST_NS);
	assert_int_equal(s.nr, 3);
	for (size_t i = 0; i < 3; i++) {
		uint64_t ns = i < 2 ? MS : MS / 2;

		assert_int_equal(s.steps[i].ns, ns);
		assert_true(s.steps[i].area == 4.0 * (double)ns);
		assert_int_equal(s.steps[i].max, 4);
	}
	steps_release(&s);
	steps_release(&s);
	assert_int_equal(s.nr, 0);
}

static void nothing_is_not_a_value(void **state)
{
	struct steps s = { 0 };

	(void)state;
	steps_add(&s, 50 * MS, 50 * MS, 9);
	steps_add(&s, 60 * MS, 50 * MS, 9);
	assert_int_equal(s.step_ns, 0);
	assert_int_equal(s.nr, 0);
	steps_add(&s, 10 * MS, 11 * MS, 1);
	assert_int_equal(s.origin_ns, 10 * MS);
	steps_add(&s, 11 * MS, 11 * MS, 9);
	assert_int_equal(total(&s).ns, MS);
	assert_int_equal(total(&s).max, 1);
	steps_release(&s);
}

static void what_was_before_the_origin_is_cut_off(void **state)
{
	struct steps s = { 0 };

	(void)state;
	steps_add(&s, 10 * MS, 11 * MS, 1);
	steps_add(&s, 2 * MS, 9 * MS, 7);
	steps_add(&s, 9 * MS, 10 * MS, 7);
	assert_int_equal(s.nr, 1);
	assert_int_equal(s.steps[0].max, 1);
	steps_add(&s, 2 * MS, 10 * MS + 5, 7);
	assert_int_equal(s.origin_ns, 10 * MS);
	assert_int_equal(s.steps[0].ns, MS + 5);
	assert_int_equal(s.steps[0].max, 7);
	assert_true(s.steps[0].area == (double)MS + 35);
	steps_release(&s);
}

/* A maximum is never averaged away, the integral stays, and a gap is not known to be zero. */
static void joining_keeps_what_was_added(void **state)
{
	struct steps s = { 0 };

	(void)state;
	for (uint64_t i = 0; i < STEPS_MAX; i++)
		steps_add(&s, i * MS, (i + 1) * MS, i == 77 ? 1000 : 1);
	assert_int_equal(s.nr, STEPS_MAX);
	assert_int_equal(s.step_ns, MS);
	steps_add(&s, 5 * STEPS_MAX * MS, 5 * STEPS_MAX * MS + 1, 2);
	assert_int_equal(s.step_ns, 8 * MS);
	assert_int_equal(s.nr, 5 * STEPS_MAX / 8 + 1);
	assert_int_equal(s.steps[9].max, 1000);
	assert_true(s.steps[9].area == 1007.0 * (double)MS);
	assert_int_equal(s.steps[STEPS_MAX / 8 + 1].ns, 0);
	assert_int_equal(total(&s).ns, STEPS_MAX * MS + 1);
	assert_true(total(&s).area == (double)(STEPS_MAX + 999) * (double)MS + 2);
	steps_release(&s);
}

static void the_end_of_time(void **state)
{
	struct steps s = { 0 };

	(void)state;
	steps_add(&s, UINT64_MAX - 5, UINT64_MAX, 3);
	assert_int_equal(s.nr, 1);
	assert_int_equal(s.steps[0].ns, 5);
	steps_release(&s);

	steps_add(&s, UINT64_MAX - 3 * MS, UINT64_MAX - 2 * MS, 3);
	steps_add(&s, UINT64_MAX - 2 * MS, UINT64_MAX, 4);
	assert_int_equal(s.nr, 3);
	assert_int_equal(total(&s).ns, 3 * MS);
	steps_release(&s);

	steps_add(&s, 0, 1, 1);
	steps_add(&s, 1, UINT64_MAX, 2);
	assert_int_equal(total(&s).ns, UINT64_MAX);
	assert_true(s.nr > STEPS_MAX / 2 && s.nr <= STEPS_MAX);
	assert_true(fabs(total(&s).area / 0x1p65 - 1) < 1e-12);
	steps_release(&s);
}

#define UNIT  UINT64_C(250000)
#define UNITS 4000u

/* The same as an array over units of time. */
struct naive {
	uint64_t origin;
	uint64_t times[UNITS], area[UNITS];
	uint32_t most[UNITS];
};

static void naive_add(struct naive *n, uint64_t from, uint64_t to, uint32_t value)
{
	for (uint64_t i = from < n->origin ? n->origin : from; i < to; i++) {
		n->times[i]++;
		n->area[i] += value;
		n->most[i] = value > n->most[i] ? value : n->most[i];
	}
}

static void check_step(const struct steps *s, size_t at, const struct naive *n)
{
	uint64_t per = s->step_ns / UNIT, from = n->origin + at * per, ns = 0, sum = 0;
	uint32_t max = 0;

	for (uint64_t i = from; i < from + per && i < UNITS; i++) {
		ns += n->times[i] * UNIT;
		sum += n->area[i] * UNIT;
		max = n->most[i] > max ? n->most[i] : max;
	}
	assert_int_equal(s->steps[at].ns, ns);
	assert_true(s->steps[at].area == (double)sum);
	assert_int_equal(s->steps[at].max, max);
	assert_true(ns == 0 || at < s->nr);
}

static void as_an_array_would_have_it(void **state)
{
	uint64_t seed = 5;

	(void)state;
	for (int run = 0; run < 40; run++) {
		struct naive *n = calloc(1, sizeof(*n));
		uint64_t span = 4 + next(&seed) % (UNITS - 4);
		struct steps s = { 0 };

		for (int add = 0; add < 300; add++) {
			uint64_t from = next(&seed) % span;
			uint64_t to = from + next(&seed) % (next(&seed) % 4 ? 8 : 200);
			uint32_t value = (uint32_t)(next(&seed) % 50);

			to = to > span ? span : to;
			if (!s.step_ns)
				n->origin = from;
			steps_add(&s, from * UNIT, to * UNIT, value);
			naive_add(n, from, to, value);
		}
		assert_int_equal(s.origin_ns, n->origin * UNIT);
		for (size_t at = 0; at < STEPS_MAX; at++)
			check_step(&s, at, n);
		assert_true(s.steps[s.nr - 1].ns > 0);
		steps_release(&s);
		free(n);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_value_over_three_steps),
		cmocka_unit_test(nothing_is_not_a_value),
		cmocka_unit_test(what_was_before_the_origin_is_cut_off),
		cmocka_unit_test(joining_keeps_what_was_added),
		cmocka_unit_test(the_end_of_time),
		cmocka_unit_test(as_an_array_would_have_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
