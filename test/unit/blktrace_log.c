/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "read/formats.h"

extern const struct format format_blktrace_log;

static const char one[] =
	"=== nullb0 ===\n"
	"  CPU  0:               144926 events,     6794 KiB data\n"
	"  CPU  1:               135084 events,     6333 KiB data\n"
	"  Total:                280010 events (dropped 6550),    13126 KiB data\n\n"
	"You have 6550 (  2.3%) dropped events\n"
	"Consider using a larger buffer size (-b) and/or more buffers (-n)\n";

/* The score; with one, the facts of an opened log. */
static int run(const char *text, struct facts *facts)
{
	struct sources sources = { 0 };
	struct error err = { 0 };
	struct input in;
	int score;

	facts_init(facts);
	input_memory(&in, "log", text, strlen(text));
	score = format_blktrace_log.probe(&in, &err);
	if (score)
		assert_int_equal(format_blktrace_log.open(&in, facts, &sources, &err), 0);
	assert_int_equal(sources.nr, 0);
	input_release(&in);
	return score;
}

static void drops_are_counted_once(void **state)
{
	struct facts facts;

	assert_true(run(one, &facts) > 50);
	assert_true(facts.dropped_told);
	assert_int_equal(facts.dropped, 6550);
	assert_int_equal(facts.nr_inputs, 1);
	facts_release(&facts);
}

static void several_devices_add_up(void **state)
{
	struct facts facts;

	assert_true(run("=== sda ===\n  CPU  0: 1 events, 0 KiB data\n"
			"  Total: 1 events (dropped 5), 0 KiB data\n"
			"=== sdb ===\r\n  CPU  0: 1 events, 0 KiB data\r\n"
			"  Total: 1 events (dropped 7), 0 KiB data\r\n",
			&facts));
	assert_int_equal(facts.dropped, 12);
	facts_release(&facts);
}

static void none_dropped_is_told(void **state)
{
	struct facts facts;

	assert_true(run("=== sda ===\n CPU 0: 1 events, 0 KiB data\n Total: 1 events (dropped 0), "
			"0 KiB data",
			&facts));
	assert_true(facts.dropped_told);
	assert_int_equal(facts.dropped, 0);
	facts_release(&facts);
}

static void cut_before_the_total(void **state)
{
	struct facts facts;

	assert_true(run("=== sda ===\n CPU 0: 1 events, 0 KiB data\n", &facts));
	assert_false(facts.dropped_told);
	assert_int_equal(facts.nr_notes, 1);
	facts_release(&facts);
}

static void other_text_is_not_a_log(void **state)
{
	static const char *const texts[] = { "", "=== title ===\n\ntext\n",
					     "CPU 0: 1 events, 0 KiB data\n", "===  ===\n" };
	struct facts facts;

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		assert_int_equal(run(texts[i], &facts), 0);
		facts_release(&facts);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(drops_are_counted_once),  cmocka_unit_test(several_devices_add_up),
		cmocka_unit_test(none_dropped_is_told),    cmocka_unit_test(cut_before_the_total),
		cmocka_unit_test(other_text_is_not_a_log),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
