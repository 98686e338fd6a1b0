/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "trace/facts.h"
#include "trace/names.h"

static void unknown_is_null(void **state)
{
	struct names names;

	names_init(&names);
	assert_null(names_get(&names, 1, 0));
	names_fork(&names, 1, 2);
	assert_null(names_get(&names, 2, 0));
	names_release(&names);
	names_release(&names);
}

static void a_name_holds_from_its_time(void **state)
{
	struct names names;

	names_init(&names);
	names_add(&names, 7, 100, "bash", 16);
	names_add(&names, 7, 200, "dd", 16);
	names_add(&names, 7, 300, "dd", 16);
	assert_string_equal(names_get(&names, 7, 50), "bash"); /* the nearest */
	assert_string_equal(names_get(&names, 7, 100), "bash");
	assert_string_equal(names_get(&names, 7, 199), "bash");
	assert_string_equal(names_get(&names, 7, 200), "dd");
	assert_string_equal(names_get(&names, 7, UINT64_MAX), "dd");
	assert_null(names_get(&names, 8, 200));
	names_release(&names);
}

static void times_in_any_order(void **state)
{
	struct names names;

	names_init(&names);
	names_add(&names, 7, UINT64_MAX, "dd", 16);
	names_add(&names, 7, 250, "dd", 16);
	names_add(&names, 7, 100, "bash", 16);
	names_add(&names, 7, 200, "dd", 16); /* lowers the time of the one at 250 */
	assert_string_equal(names_get(&names, 7, 150), "bash");
	assert_string_equal(names_get(&names, 7, 200), "dd");
	names_release(&names);
}

static void cut_at_nul_and_length(void **state)
{
	struct names names;

	names_init(&names);
	names_add(&names, 1, 0, "ab\0stale", 8);
	names_add(&names, 2, 0, "0123456789abcdefXYZ", 19);
	names_add(&names, 3, 0, "abc", 2);
	assert_string_equal(names_get(&names, 1, 0), "ab");
	assert_string_equal(names_get(&names, 2, 0), "0123456789abcde");
	assert_string_equal(names_get(&names, 3, 0), "ab");
	names_release(&names);
}

static void many_names_and_pids(void **state)
{
	struct names names;
	char text[16];

	names_init(&names);
	for (uint32_t i = 0; i < 100000; i++) {
		snprintf(text, sizeof(text), "n%u", i);
		names_add(&names, i % 5000, i, text, sizeof(text));
		names_add(&names, 9999, i, text, sizeof(text)); /* bounded, not quadratic */
	}
	assert_string_equal(names_get(&names, 42, 0), "n42");
	assert_string_equal(names_get(&names, 42, 5042), "n5042");
	assert_non_null(names_get(&names, 9999, 99999));
	names_release(&names);
}

static void descent(void **state)
{
	struct names names;

	names_init(&names);
	names_fork(&names, 10, 11);
	names_fork(&names, 11, 12);
	assert_true(names_descends(&names, 12, 10));
	assert_true(names_descends(&names, 10, 10));
	assert_false(names_descends(&names, 10, 12));
	names_fork(&names, 12, 10); /* a ring */
	assert_false(names_descends(&names, 12, 99));
	names_release(&names);
}

static void facts_lists(void **state)
{
	struct loss loss = { .cpu = 1, .events = 3, .count_known = true };
	struct facts facts;

	facts_init(&facts);
	assert_int_equal(facts_input(&facts, "a", "x"), 0);
	assert_int_equal(facts_input(&facts, "b", "y"), 1);
	assert_string_equal(facts.inputs[0].path, "a");
	facts_note(&facts, "n %d", 1);
	facts_note(&facts, "n %d", 1); /* once is enough */
	assert_int_equal(facts.nr_notes, 1);
	for (int i = 0; i < 10000; i++)
		facts_note(&facts, "n %d", i);
	assert_true(facts.nr_notes < 1000);
	facts_loss(&facts, &loss);
	assert_int_equal(facts.losses[0].events, 3);
	facts_device(&facts, 5, "sda");
	facts_device(&facts, 5, "sdb"); /* the first stays */
	assert_string_equal(facts_device_name(&facts, 5), "sda");
	assert_null(facts_device_name(&facts, 6));
	facts_dropped_unknown(&facts, "first");
	facts_dropped_unknown(&facts, "second");
	assert_string_equal(facts.dropped_unknown_why, "first");
	facts_release(&facts);
	facts_release(&facts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unknown_is_null),     cmocka_unit_test(a_name_holds_from_its_time),
		cmocka_unit_test(times_in_any_order),  cmocka_unit_test(cut_at_nul_and_length),
		cmocka_unit_test(many_names_and_pids), cmocka_unit_test(descent),
		cmocka_unit_test(facts_lists),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
