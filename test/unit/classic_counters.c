/* SPDX-License-Identifier: MIT
 *
 * The rules of counting; every number was read off the statistics of blkparse 1.2.0 for the same records.
 */
#include "cm.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "classic/counters.h"

#define R  TC_READ
#define W  TC_WRITE
#define PC TC_PC

static struct record record(uint32_t number, uint32_t categories, uint32_t bytes)
{
	return (struct record){
		.h = { .number = number, .categories = categories, .bytes = bytes, .pid = 10 }
	};
}

static void take(struct counters *c, uint32_t number, uint32_t categories, uint32_t bytes)
{
	struct record r = record(number, categories, bytes);

	counters_take(c, &r);
}

static uint64_t shown(const struct count *c)
{
	return c->kib + (c->bytes >> 10);
}

static void check(const struct count *c, uint64_t nr, uint64_t kib)
{
	assert_int_equal(c->nr, nr);
	assert_int_equal(shown(c), kib);
}

static void check_none(const struct counters *c)
{
	static const struct counters none;

	assert_memory_equal(c, &none, sizeof(none));
}

static void each_action(void **state)
{
	struct counters c = { 0 };

	(void)state;
	for (uint32_t number = 1; number <= BLKTRACE_LAST_ACTION; number++) {
		take(&c, number, R | TC_FS, 5000);
		take(&c, number, W, 5000);
	}
	for (int d = 0; d < 2; d++) {
		check(&c.fs[COUNT_QUEUED][d], 1, 4);
		check(&c.fs[COUNT_DISPATCHED][d], 1, 0); /* R took it off again */
		check(&c.fs[COUNT_REQUEUED][d], 1, 0);
		check(&c.fs[COUNT_COMPLETED][d], 1, 4);
		check(&c.fs[COUNT_MERGED][d], 2, 9);
		for (int i = 0; i < NR_COUNTED; i++)
			check(&c.pc[i][d], 0, 0);
	}
	assert_int_equal(c.unplugs, 2);
	assert_int_equal(c.timer_unplugs, 2);
}

static void each_action_of_pc(void **state)
{
	struct counters c = { 0 };

	(void)state;
	for (uint32_t number = 1; number <= BLKTRACE_LAST_ACTION; number++) {
		take(&c, number, R | PC, 5220);
		take(&c, number, W | PC | TC_FS, 5220);
	}
	check(&c.fs[COUNT_QUEUED][0], 0, 5); /* the KiB of reads go astray */
	check(&c.pc[COUNT_QUEUED][0], 1, 0);
	check(&c.pc[COUNT_QUEUED][1], 1, 5);
	for (int d = 0; d < 2; d++) {
		check(&c.pc[COUNT_DISPATCHED][d], 1, 0);
		check(&c.pc[COUNT_REQUEUED][d], 1, 0);
		check(&c.pc[COUNT_COMPLETED][d], 1, 0);
		check(&c.pc[COUNT_MERGED][d], 0, 0);
		check(&c.fs[COUNT_MERGED][d], 0, 0);
	}
	assert_int_equal(c.unplugs + c.timer_unplugs, 0);
}

static void bytes_below_a_kib(void **state)
{
	struct counters c = { 0 };

	(void)state;
	for (int i = 0; i < 5; i++) {
		take(&c, ACT_QUEUE, R | PC, 1000);
		take(&c, ACT_QUEUE, W | PC, 1000);
	}
	for (int i = 0; i < 2; i++)
		take(&c, ACT_QUEUE, R, 1000);
	check(&c.fs[COUNT_QUEUED][0], 2, 1);
	check(&c.pc[COUNT_QUEUED][0], 5, 4);
	check(&c.pc[COUNT_QUEUED][1], 5, 4);
}

static void nothing_of_unknown_numbers(void **state)
{
	static const uint32_t numbers[] = { 0, 16, 17, 20, 0x101, 0x107, 0x201, 0x8001, 0xffff };
	struct counters c = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		take(&c, numbers[i], R, 4096);
		take(&c, numbers[i], W | PC, 4096);
	}
	check_none(&c);
}

static void requeues_below_zero(void **state)
{
	struct counters c = { 0 };

	(void)state;
	take(&c, ACT_REQUEUE, R | TC_FS, 5000);
	check(&c.fs[COUNT_DISPATCHED][0], 0, 18014398509481979u); /* shown as 18014398PiB */
	take(&c, ACT_ISSUE, R | TC_FS, 4096);
	take(&c, ACT_ISSUE, R | TC_FS, 904);
	check(&c.fs[COUNT_DISPATCHED][0], 2, 0);
	take(&c, ACT_REQUEUE, W | PC, 4096);
	check(&c.pc[COUNT_DISPATCHED][1], 0, (uint64_t)-4);
	check(&c.pc[COUNT_REQUEUED][1], 1, 0);
}

static void sizes_of_2_gib(void **state)
{
	struct counters c = { 0 };

	(void)state;
	take(&c, ACT_COMPLETE, W, 0x80000400);
	take(&c, ACT_COMPLETE, W, 0x7ffffc00);
	check(&c.fs[COUNT_COMPLETED][1], 2, 0);
	take(&c, ACT_COMPLETE, R, 0xfffffe01); /* -511 */
	check(&c.fs[COUNT_COMPLETED][0], 1, UINT64_MAX);
	assert_int_equal(c.fs[COUNT_COMPLETED][0].bytes, 513);
	take(&c, ACT_QUEUE, R, 0xfffffe00);
	check(&c.fs[COUNT_QUEUED][0], 1, 4194303);
}

static void totals(void **state)
{
	struct counters sum = { 0 }, c = { 0 };

	(void)state;
	take(&c, ACT_QUEUE, R, 1000);
	take(&c, ACT_ISSUE, W | PC, 1000);
	take(&c, ACT_UNPLUG, R, 0);
	take(&c, ACT_UNPLUG_TIMER, R, 0);
	counters_add(&sum, &c);
	counters_add(&sum, &c);
	check(&sum.fs[COUNT_QUEUED][0], 2, 1);
	check(&sum.pc[COUNT_DISPATCHED][1], 2, 1);
	assert_int_equal(sum.unplugs, 2);
	assert_int_equal(sum.timer_unplugs, 2);
}

/* "D R R D D" and so on: what happens to the depth of one direction; lower case is of pc type. */
static uint64_t most_depth(const char *events)
{
	struct device d = { 0 };
	uint64_t most;

	for (; *events; events++) {
		uint32_t number = strchr("Dd", *events)   ? ACT_ISSUE
				  : strchr("Rr", *events) ? ACT_REQUEUE
				  : strchr("Cc", *events) ? ACT_COMPLETE
							  : ACT_INSERT;
		struct record r = record(number, W | (*events >= 'a' ? PC : TC_FS), 0);

		device_depth(&d, &r);
	}
	most = d.most_depth[1];
	assert_int_equal(d.depth[0] + d.most_depth[0], 0);
	device_release(&d);
	return most;
}

static void depth(void **state)
{
	(void)state;
	assert_int_equal(most_depth("DRRDD"), 2);
	assert_int_equal(most_depth("drrdd"), 2);
	assert_int_equal(most_depth("dcdccDDCD"), 2);
	assert_int_equal(most_depth("dCDcD"), 1);
	assert_int_equal(most_depth("DIDID"), 3);
	assert_int_equal(most_depth("CCRR"), 0);
}

static void cpus(void **state)
{
	struct device d = { 0 };

	(void)state;
	device_cpu(&d, 2)->events = 7;
	assert_int_equal(d.nr_cpus, 3);
	assert_int_equal(device_cpu(&d, 1)->number, 1);
	assert_int_equal(device_cpu(&d, 200)->number, 200);
	assert_int_equal(device_cpu(&d, 2)->events, 7);
	check_none(&device_cpu(&d, 100)->counters);
	assert_non_null(device_cpu(&d, CPUS_MAX - 1));
	assert_null(device_cpu(&d, CPUS_MAX));
	assert_null(device_cpu(&d, UINT32_MAX));
	device_cpu(&d, 0)->pipe = mem_zalloc(8);
	device_release(&d);
	device_release(&d);
}

/* ---- processes ---- */

struct charged {
	struct processes p;
	struct comms comms;
};

static void begin(struct charged *c, bool by_name)
{
	comms_init(&c->comms);
	processes_init(&c->p, by_name);
}

static void end(struct charged *c)
{
	processes_release(&c->p);
	processes_release(&c->p);
	comms_release(&c->comms);
}

static void name(struct charged *c, uint32_t pid, const char *text)
{
	comms_note(&c->comms, pid, (const uint8_t *)text, strlen(text));
}

static void charge(struct charged *c, uint32_t number, uint32_t categories, uint32_t pid)
{
	static const struct timed none = { .elapsed_ns = ELAPSED_NONE };
	struct record r = record(number, categories, 4096);

	r.h.pid = pid;
	processes_take(&c->p, &c->comms, &r, &none);
}

static void check_process(const struct process *p, uint32_t pid, const char *text, bool more,
			  uint64_t queued)
{
	assert_int_equal(p->pid, pid);
	assert_string_equal(p->name, text);
	assert_int_equal(p->more_pids, more);
	assert_int_equal(p->counters.fs[COUNT_QUEUED][1].nr, queued);
}

static void processes_by_pid(void **state)
{
	struct charged c;

	(void)state;
	begin(&c, false);
	name(&c, 1, "fio");
	name(&c, 2, "fio");
	charge(&c, ACT_QUEUE, W, 2);
	charge(&c, ACT_QUEUE, W, 1);
	charge(&c, ACT_QUEUE, W, 2);
	charge(&c, ACT_QUEUE, W, 3);
	name(&c, 3, "late");
	charge(&c, ACT_QUEUE, W, 3);
	assert_int_equal(c.p.nr, 3);
	check_process(c.p.all[0], 2, "fio", false, 2);
	check_process(c.p.all[1], 1, "fio", false, 1);
	check_process(c.p.all[2], 3, "unknown", false, 2);
	assert_string_equal(comms_get(&c.comms, 3)->name, "unknown");
	end(&c);
}

static void processes_by_name(void **state)
{
	static const uint32_t pids[] = { 1, 2, 1, 1, 2, 3, 1, 1 };
	struct charged c;

	(void)state;
	begin(&c, true);
	name(&c, 9, "fio");
	name(&c, 11, "fio");
	charge(&c, ACT_QUEUE, W, 11);
	charge(&c, ACT_PLUG, R, 9);
	check_process(c.p.all[0], 11, "fio", false, 1);
	charge(&c, ACT_QUEUE, W, 9);
	check_process(c.p.all[0], 11, "fio", true, 2);
	for (size_t i = 0; i < sizeof(pids) / sizeof(*pids); i++)
		charge(&c, ACT_QUEUE, W, pids[i]);
	assert_int_equal(c.p.nr, 4);
	check_process(c.p.all[1], 1, "unknown", false, 1);
	check_process(c.p.all[2], 2, "unknown", true, 4);
	check_process(c.p.all[3], 3, "unknown", true, 3);
	end(&c);
}

/* Which actions make a process of a pid, and give it a name: fs, then pc. */
static void who_is_charged(void **state)
{
	static const bool fs[] = { 0, 1, 1, 1, 0, 0, 1, 1, 1, 0, 1, 1, 0, 0, 0, 0 };
	static const bool pc[] = { 0, 1, 0, 0, 0, 0, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0 };

	(void)state;
	for (uint32_t number = 1; number <= ACT_REMAP; number++) {
		for (int is_pc = 0; is_pc < 2; is_pc++) {
			struct charged c;
			bool counted = is_pc ? pc[number] : fs[number];

			begin(&c, false);
			charge(&c, number, R | (is_pc ? PC : TC_FS), 20);
			assert_int_equal(c.p.nr, counted);
			assert_int_equal(comms_get(&c.comms, 20) != NULL, counted);
			end(&c);
		}
	}
}

static void longest_waits(void **state)
{
	struct timed timed = { .elapsed_ns = 7, .wait = TIMED_DISPATCH, .owner = 5, .found = true };
	struct record r = record(ACT_ISSUE, W, 4096);
	struct charged c;

	(void)state;
	begin(&c, true);
	name(&c, 4, "fio");
	name(&c, 5, "fio");
	processes_take(&c.p, &c.comms, &r, &timed); /* pid 5 is nobody yet */
	check_process(c.p.all[0], 10, "unknown", false, 0);
	assert_int_equal(c.p.all[0]->longest_ns[TIMED_DISPATCH][1], 0);
	charge(&c, ACT_QUEUE, W, 4);
	processes_take(&c.p, &c.comms, &r, &timed);
	timed.elapsed_ns = 6;
	processes_take(&c.p, &c.comms, &r, &timed);
	timed.elapsed_ns = ELAPSED_NONE;
	processes_take(&c.p, &c.comms, &r, &timed);
	check_process(c.p.all[1], 4, "fio", true, 1); /* the owner counts as another one */
	assert_int_equal(c.p.all[1]->longest_ns[TIMED_DISPATCH][1], 7);
	assert_int_equal(c.p.all[1]->longest_ns[TIMED_DISPATCH][0], 0);
	assert_int_equal(c.p.nr, 2);
	end(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_action),
		cmocka_unit_test(each_action_of_pc),
		cmocka_unit_test(bytes_below_a_kib),
		cmocka_unit_test(nothing_of_unknown_numbers),
		cmocka_unit_test(requeues_below_zero),
		cmocka_unit_test(sizes_of_2_gib),
		cmocka_unit_test(totals),
		cmocka_unit_test(depth),
		cmocka_unit_test(cpus),
		cmocka_unit_test(processes_by_pid),
		cmocka_unit_test(processes_by_name),
		cmocka_unit_test(who_is_charged),
		cmocka_unit_test(longest_waits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
