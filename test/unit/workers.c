// SPDX-License-Identifier: MIT
//
// What kernel workers spent their time on, over a fake /proc; and how their names are read.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "cm.h"
#include "record/threads.h"
#include "record/workers.h"

struct fake {
	char dir[64];
	struct sysroot root;
	struct workers workers;
};

static void put(const struct fake *fake, int pid, const char *file, const char *text)
{
	char *path = mem_printf("%s/proc/%d/%s", fake->dir, pid, file);
	FILE *f;

	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(path, 0777);
		*slash = '/';
	}
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
	free(path);
}

static void children(const struct fake *fake, const char *text)
{
	put(fake, 2, "task/2/children", text);
}

static void thread(const struct fake *fake, int pid, const char *comm, unsigned long long cpu_ns)
{
	char text[100];

	snprintf(text, sizeof(text), "%llu 5 6\n", cpu_ns);
	put(fake, pid, "schedstat", text);
	snprintf(text, sizeof(text), "%s\n", comm);
	put(fake, pid, "comm", text);
}

static int set_up(void **state)
{
	struct fake *fake = mem_zalloc(sizeof(*fake));

	strcpy(fake->dir, "/tmp/blklab-unit-XXXXXX");
	assert_non_null(mkdtemp(fake->dir));
	fake->root.prefix = fake->dir;
	children(fake, "3 10 11 ");
	thread(fake, 3, "jbd2/sda1-8", 100);
	thread(fake, 10, "kworker/u8:1-events_unbound", 1000);
	thread(fake, 11, "kworker/0:1", 500);
	*state = fake;
	return 0;
}

static int tear_down(void **state)
{
	struct fake *fake = *state;
	char *command = mem_printf("rm -rf %s", fake->dir);
	int status = system(command);

	workers_release(&fake->workers);
	workers_release(&fake->workers);
	free(command);
	free(fake);
	return status;
}

/* The sum of what is booked on a worker and a work (NULL = unknown). */
static json_int_t booked(const struct fake *fake, int pid, const char *work)
{
	json_t *list = json_array(), *one;
	json_int_t sum = 0;
	size_t i;

	workers_add_json(&fake->workers, list);
	json_array_foreach(list, i, one)
	{
		const char *is = json_string_value(json_object_get(one, "work"));

		assert_true(json_is_true(json_object_get(one, "sampled")));
		assert_null(strpbrk(json_string_value(json_object_get(one, "comm")), "+-"));
		if (json_integer_value(json_object_get(one, "pid")) == pid &&
		    (is && work ? !strcmp(is, work) : is == work))
			sum += json_integer_value(json_object_get(one, "cpu_ns"));
	}
	json_decref(list);
	return sum;
}

static void growth_goes_to_the_work_seen(void **state)
{
	struct fake *fake = *state;

	workers_open(&fake->workers, &fake->root);
	thread(fake, 3, "jbd2/sda1-8", 9000); /* no worker */
	thread(fake, 10, "kworker/u8:1+flush-7:0", 1100);
	workers_look(&fake->workers);
	thread(fake, 10, "kworker/u8:1+loop0", 1105);
	thread(fake, 11, "kworker/0:1", 503);
	workers_look(&fake->workers);
	thread(fake, 10, "kworker/u8:1-flush-7:0", 1112);
	workers_look(&fake->workers);
	thread(fake, 10, "kworker/u8:1-kvfree_rcu_reclaim", 1112); /* no time */
	workers_look(&fake->workers);
	assert_int_equal(booked(fake, 10, "flush-7:0"), 107);
	assert_int_equal(booked(fake, 10, "loop0"), 5);
	assert_int_equal(booked(fake, 10, "kvfree_rcu_reclaim"), 0);
	assert_int_equal(booked(fake, 11, NULL), 3);
	assert_int_equal(booked(fake, 3, NULL), 0);
	assert_true(workers_has(&fake->workers, 10));
	assert_false(workers_has(&fake->workers, 3));
}

/* One that appears has done all of its work meanwhile; one that ends keeps what is booked, and its
 * number may come again. */
static void workers_come_and_go(void **state)
{
	struct fake *fake = *state;

	workers_open(&fake->workers, &fake->root);
	thread(fake, 12, "kworker/u8:2+loop0", 70);
	children(fake, "3 10 11 12 ");
	workers_look(&fake->workers);
	assert_int_equal(booked(fake, 12, "loop0"), 70);
	put(fake, 12, "schedstat", ""); /* ended */
	children(fake, "3 10 11 ");
	workers_look(&fake->workers);
	assert_false(workers_has(&fake->workers, 12));
	thread(fake, 12, "kworker/1:2+dio/sda", 4);
	children(fake, "3 10 11 12 ");
	workers_look(&fake->workers);
	assert_int_equal(booked(fake, 12, "loop0"), 70);
	assert_int_equal(booked(fake, 12, "dio/sda"), 4);
}

/* Where kthreadd or the times are hidden (a container, another kernel), nothing is booked. */
static void nothing_to_see(void **state)
{
	struct fake *fake = *state;

	fake->root.prefix = "/nonexistent";
	workers_open(&fake->workers, &fake->root);
	workers_look(&fake->workers);
	assert_int_equal(fake->workers.nr, 0);
	assert_false(workers_has(&fake->workers, 10));
}

static void works_without_number_end_as_unknown(void **state)
{
	struct fake *fake = *state;
	char name[64];

	workers_open(&fake->workers, &fake->root);
	for (unsigned int i = 1; i <= 100; i++) {
		snprintf(name, sizeof(name), "kworker/0:1+work%u", i);
		thread(fake, 11, name, 500 + i);
		workers_look(&fake->workers);
	}
	assert_int_equal(booked(fake, 11, "work1"), 1);
	assert_true(booked(fake, 11, NULL) > 30);
}

/* The list of meta.json: workers by work, the others by the two walks, largest first. */
static void workers_and_others_together(void **state)
{
	struct fake *fake = *state;
	struct thread before[] = { { .tid = 3, .kernel = true, .cpu_ns = 100, .comm = "jbd2" },
				   { .tid = 10, .kernel = true, .cpu_ns = 900 } };
	struct thread after[] = { { .tid = 3, .kernel = true, .cpu_ns = 150, .comm = "jbd2" },
				  { .tid = 10, .kernel = true, .cpu_ns = 2000 } };
	struct threads start = { before, 2 }, end = { after, 2 };
	json_t *list;

	workers_open(&fake->workers, &fake->root);
	thread(fake, 10, "kworker/u8:1+loop0", 1060);
	workers_look(&fake->workers);
	thread(fake, 10, "kworker/u8:1+flush-7:0", 1070);
	workers_look(&fake->workers);
	list = threads_grown_json(&start, &end, &fake->workers);
	assert_int_equal(json_array_size(list), 3);
	for (size_t i = 0; i < 3; i++) {
		static const json_int_t times[] = { 60, 50, 10 };
		json_t *one = json_array_get(list, i);

		assert_int_equal(json_integer_value(json_object_get(one, "cpu_ns")), times[i]);
		assert_int_equal(json_is_true(json_object_get(one, "sampled")), i != 1);
	}
	json_decref(list);
}

static void names_and_works(void **state)
{
	char work[64];

	assert_int_equal(thread_name_len("kworker/u8:1-flush-7:0\n"), 12);
	assert_int_equal(thread_name_len("jbd2/dm-0-8\n"), 11);
	thread_work("kworker/u8:1-flush-7:0\n", work);
	assert_string_equal(work, "flush-7:0");
	thread_work("kworker/R-writeback", work);
	assert_string_equal(work, "writeback");
	thread_work("kworker/0:1\n", work);
	assert_string_equal(work, "");
	thread_work("jbd2/dm-0-8\n", work);
	assert_string_equal(work, "");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(growth_goes_to_the_work_seen),
		TEST(workers_come_and_go),
		TEST(nothing_to_see),
		TEST(works_without_number_end_as_unknown),
		TEST(workers_and_others_together),
		cmocka_unit_test(names_and_works),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
