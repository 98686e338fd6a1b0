/* SPDX-License-Identifier: MIT
 *
 * btt's pure parts: distances of seeks, exact medians and modes, periods in which I/O was at the device.
 */
#include "cm.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "classic/btt.h"
#include "classic/btt_values.h"

static void seek_distances(void **state)
{
	static const struct {
		uint64_t start, end;
		int64_t distance, absolute;
	} all[] = {
		{ 100, 108, 100, 100 },   /* from 0 */
		{ 108, 116, 0, 0 },       /* goes on */
		{ 112, 120, 0, -4 },      /* begins inside */
		{ 104, 113, 0, -16 },     /* ends inside: 112 to 120 was the last */
		{ 1000, 1008, 887, 887 }, /* from 113 */
		{ 200, 208, -800, -808 }, /* back: from the start of the last one */
		{ 0, 200, 0, -208 },      /* ends where it began */
	};
	struct btt_seek usual = { 0 }, absolute = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		assert_true(btt_seek_distance(&usual, all[i].start, all[i].end, false) ==
			    all[i].distance);
		assert_true(btt_seek_distance(&absolute, all[i].start, all[i].end, true) ==
			    all[i].absolute);
	}
}

static struct values_middle middle_of(const uint64_t *list, size_t nr)
{
	struct values v = { 0 }, *one = &v;
	struct values_middle m;

	for (size_t i = 0; i < nr; i++)
		values_add(&v, list[i]);
	m = values_middle(&one, 1);
	values_release(&v);
	return m;
}

static void few_values(void **state)
{
	static const uint64_t list[] = { 7, 0, 5, 0, 9, 5 };
	struct values_middle m;

	(void)state;
	m = middle_of(list, 6); /* 0 0 5 5 7 9 */
	assert_int_equal(m.n, 6);
	assert_int_equal(m.median, 5);
	assert_true(m.nr_modes == 2 && m.count == 2 && m.mode[0] == 0 && m.mode[1] == 5);
	m = middle_of(list, 4); /* 0 0 5 7: at least half are at most 0 */
	assert_int_equal(m.median, 0);
	assert_true(m.nr_modes == 1 && m.count == 2 && m.mode[0] == 0);
	m = middle_of(list, 1);
	assert_true(m.median == 7 && m.mode[0] == 7 && m.count == 1 && m.mean == 7);
	m = middle_of(list, 0);
	assert_true(m.n == 0 && m.nr_modes == 0 && m.mean == 0);
}

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* The same, from the sorted list. */
static struct values_middle slowly(uint64_t *list, size_t nr)
{
	struct values_middle m = { .n = nr };

	qsort(list, nr, sizeof(*list), by_value);
	m.median = list[(nr - 1) / 2];
	for (size_t i = 0, same; i < nr; i += same) {
		for (same = 1; i + same < nr && list[i + same] == list[i]; same++)
			;
		if (same > m.count) {
			m.count = same;
			m.nr_modes = 0;
		}
		if (same < m.count)
			continue;
		if (m.nr_modes < 2)
			m.mode[m.nr_modes] = list[i];
		m.nr_modes++;
	}
	return m;
}

static uint64_t random_of(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return *seed >> 11;
}

/* Enough for runs to be merged, in two streams; small and large values, many and few of them alike. */
static void many_values(void **state)
{
	static const uint64_t most[] = { 3, 1000, 1000000, UINT64_C(1) << 50 };
	const size_t nr = 1200000;
	uint64_t *list = malloc(nr * sizeof(*list)), seed = 1;

	(void)state;
	assert_non_null(list);
	for (size_t k = 0; k < sizeof(most) / sizeof(*most); k++) {
		struct values v[2] = { 0 }, *both[] = { &v[0], &v[1] };
		struct values_middle m, want;

		for (size_t i = 0; i < nr; i++) {
			list[i] = random_of(&seed) % most[k];
			values_add(&v[i % 3 == 0], list[i]);
		}
		m = values_middle(both, 2);
		want = slowly(list, nr);
		assert_int_equal(m.n, nr);
		assert_int_equal(m.median, want.median);
		assert_int_equal(m.count, want.count);
		assert_int_equal(m.nr_modes, want.nr_modes);
		assert_memory_equal(m.mode, want.mode, sizeof(m.mode));
		values_release(&v[0]);
		values_release(&v[1]);
	}
	free(list);
}

static void spans(void **state)
{
	static const struct btt_span in[] = {
		{ 10, 20 },   { 20, 30 }, /* touch */
		{ 40, 50 },   { 45, 60 }, /* overlap */
		{ 5, 70 },                /* over all of them */
		{ 100, 110 }, { 80, 90 }, /* told late */
		{ 90, 95 },               /* touches the late one only */
	};
	static const struct btt_span want[] = { { 5, 70 }, { 80, 95 }, { 100, 110 } };
	struct btt_live l = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(in) / sizeof(*in); i++)
		btt_live_add(&l, in[i].from_ns, in[i].to_ns);
	assert_int_equal(l.nr, 3);
	assert_memory_equal(l.spans, want, sizeof(want));
	btt_live_release(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(seek_distances),
		cmocka_unit_test(few_values),
		cmocka_unit_test(many_values),
		cmocka_unit_test(spans),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
