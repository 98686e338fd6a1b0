// SPDX-License-Identifier: MIT
/* Alignment of writes: windows, who, what is left out, D before Q, and bounded memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "view/tree.h"

#define STRIPE 256u
#define DEV    DEVICE(9, 3)

struct fixture {
	struct alignment *align;
	struct facts facts;
	struct summary sum;
	struct report report;
	uint64_t now_ns;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	f->align = alignment_new(STRIPE, TIME_NONE, TIME_NONE);
	facts_init(&f->facts);
	names_add(&f->facts.names, 7, 0, "writer", 6);
	f->report = (struct report){ .facts = &f->facts, .sum = &f->sum, .alignment = f->align };
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	alignment_free(f->align);
	facts_release(&f->facts);
	free(f);
	return 0;
}

static void give(struct fixture *f, enum action action, uint64_t sector, uint32_t sectors,
		 uint32_t flags, uint32_t pid)
{
	struct sink *sink = alignment_sink(f->align);
	struct event ev = {
		.time_ns = f->now_ns += 10,
		.sector = sector,
		.bytes = sectors * SECTOR_SIZE,
		.device = DEV,
		.pid = pid,
		.flags = flags,
		.action = (uint8_t)action,
		.class = CLASS_WRITE,
	};

	sink->ops->events(sink, &ev, 1);
}

static void runs_of_one_offset(void **state)
{
	struct fixture *f = *state;
	const json_t *windows, *finding;
	json_t *tree, *list = json_array();

	give(f, ACT_QUEUE, 0, STRIPE, 0, 7);
	give(f, ACT_QUEUE, 4 * STRIPE, STRIPE, 0, 7);
	give(f, ACT_QUEUE, 9 * STRIPE + 3, 1, 0, 7); /* too small */
	give(f, ACT_QUEUE, 9 * STRIPE + 8, 64, EV_PREFLUSH | EV_FUA, 8);
	give(f, ACT_QUEUE, 9 * STRIPE + 8, 64, EV_META, 8);
	give(f, ACT_QUEUE, 5 * STRIPE + 100, STRIPE, 0, 8);
	give(f, ACT_QUEUE, 6 * STRIPE, STRIPE, 0, 8);
	tree = alignment_tree(&f->report, DEV);
	assert_string_equal(tree_str(tree, "at"), "Q");
	assert_int_equal(tree_u64(tree, "writes.count"), 4);
	assert_int_equal(tree_u64(tree, "misaligned.count"), 1);
	assert_int_equal(tree_u64(tree, "straddling.count"), 1);
	assert_true(tree_num(tree, "aligned_share") == 0.75);
	assert_int_equal(tree_u64(tree, "left_out.small.count"), 1);
	assert_int_equal(tree_u64(tree, "left_out.flush.count"), 1);
	assert_int_equal(tree_u64(tree, "left_out.meta.count"), 1);
	windows = tree_at(tree, "windows");
	assert_int_equal(json_array_size(windows), 3);
	assert_int_equal(tree_u64(json_array_get(windows, 0), "count"), 2);
	assert_int_equal(tree_u64(json_array_get(windows, 1), "offset_sectors"), 100);
	assert_int_equal(tree_u64(json_array_get(windows, 1), "from_ns"), 60);
	assert_int_equal(json_array_size(tree_at(tree, "processes")), 2);
	assert_string_equal(tree_str(json_array_get(tree_at(tree, "processes"), 0), "comm"),
			    "writer");
	json_decref(tree);
	find_misaligned(list, &f->report, DEV, "md3");
	finding = find_finding(list, "misaligned-writes");
	assert_non_null(finding);
	assert_int_equal(json_array_size(tree_at(finding, "evidence.windows")), 1);
	json_decref(list);
}

/* Small writes have any offset by their nature: no finding. */
static void small_writes_are_no_finding(void **state)
{
	struct fixture *f = *state;
	json_t *list = json_array();

	for (unsigned int i = 0; i < 32; i++)
		give(f, ACT_QUEUE, 1000 + i * 8, 8, 0, 7);
	find_misaligned(list, &f->report, DEV, "md3");
	assert_int_equal(json_array_size(list), 0);
	json_decref(list);
	assert_null(alignment_tree(&f->report, DEVICE(1, 1)));
}

/* A device with requests is looked at where they are issued, once each, for whoever queued them. */
static void at_dispatch(void **state)
{
	struct fixture *f = *state;
	json_t *tree;

	give(f, ACT_QUEUE, 10 * STRIPE, 128, 0, 7);
	give(f, ACT_QUEUE, 10 * STRIPE + 128, 128, 0, 7);
	give(f, ACT_ISSUE, 10 * STRIPE, STRIPE, 0, 99);
	give(f, ACT_REQUEUE, 10 * STRIPE, STRIPE, 0, 99);
	give(f, ACT_ISSUE, 10 * STRIPE, STRIPE, 0, 99);
	tree = alignment_tree(&f->report, DEV);
	assert_string_equal(tree_str(tree, "at"), "D");
	assert_int_equal(tree_u64(tree, "writes.count"), 1);
	assert_true(tree_num(tree, "aligned_share") == 1);
	assert_int_equal(tree_u64(json_array_get(tree_at(tree, "processes"), 0), "pid"), 7);
	json_decref(tree);
}

static void many_windows_are_merged(void **state)
{
	struct fixture *f = *state;
	uint64_t count = 0;
	json_t *tree, *w;
	size_t i;

	for (unsigned int n = 0; n < 100000; n++)
		give(f, ACT_QUEUE, (uint64_t)n * STRIPE + n % 3, STRIPE, 0, n);
	tree = alignment_tree(&f->report, DEV);
	assert_true(json_array_size(tree_at(tree, "windows")) <= 1000);
	assert_true(json_is_true(tree_at(tree, "windows_merged")));
	json_array_foreach((json_t *)tree_at(tree, "windows"), i, w) count += tree_u64(w, "count");
	assert_int_equal(count, 100000);
	assert_true(json_array_size(tree_at(tree, "processes")) <= 256);
	assert_true(tree_u64(tree, "other_processes.count") > 0);
	json_decref(tree);
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		CASE(runs_of_one_offset),
		CASE(small_writes_are_no_finding),
		CASE(at_dispatch),
		CASE(many_windows_are_merged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
