// SPDX-License-Identifier: MIT
/* What ran while a slow request waited: histories in ns whose answers are derived by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "view/meanwhile.h"

static struct io request(uint64_t queue_ns, uint64_t issue_ns, uint64_t complete_ns, uint32_t pid)
{
	struct io io = { IO_UNSEEN };

	io.queue_ns = queue_ns;
	io.get_ns = queue_ns + 1;
	io.issue_ns = io.last_issue_ns = issue_ns;
	io.complete_ns = io.end_ns = complete_ns;
	io.pid = pid;
	io.nr_bios = io.attempts = 1;
	io.depth_at_issue = 1;
	io.class = CLASS_WRITE;
	return io;
}

static void add(struct meanwhile_log *log, uint64_t queue_ns, uint64_t issue_ns,
		uint64_t complete_ns, uint32_t pid)
{
	struct io io = request(queue_ns, issue_ns, complete_ns, pid);

	meanwhile_log_add(log, &io);
}

static struct meanwhile look(const struct meanwhile_log *log, const struct io *slow)
{
	struct meanwhile m;

	meanwhile_look(log, slow, false, 0, &m);
	return m;
}

static void assert_part(const struct meanwhile_part *part, uint32_t pid, uint64_t requests,
			uint64_t device_ns)
{
	assert_int_equal(part->pid, pid);
	assert_int_equal(part->requests, requests);
	assert_int_equal(part->device_ns, device_ns);
}

/* The slow one waits from 100 to 200 and ends at 250. Before it came one that is at the device until 110. A
 * of thread 7 is there from 120 to 150, B of thread 8 from 140 to 160, C of thread 7 from 145 to 155: in
 * all 120 to 160, of thread 7 120 to 155. Idle: 110 to 120, 160 to 200. */
static void overlaps(void **state)
{
	struct meanwhile_log *log = meanwhile_log_new();
	struct io slow = request(100, 200, 250, 1);
	struct meanwhile m;

	add(log, 90, 95, 110, 9);
	add(log, 101, 120, 150, 7);
	add(log, 130, 145, 155, 7);
	add(log, 130, 140, 160, 8);
	meanwhile_log_add(log, &slow);
	m = look(log, &slow);
	assert_null(m.why);
	assert_int_equal(m.to_ns - m.from_ns, 100);
	assert_int_equal(m.all.requests, 3);
	assert_int_equal(m.all.device_ns, 40);
	assert_int_equal(m.nr_top, 2);
	assert_part(&m.top[0], 7, 2, 35);
	assert_part(&m.top[1], 8, 1, 20);
	assert_int_equal(m.nr_rest, 0);
	assert_true(m.idle_known);
	assert_int_equal(m.idle_ns, 50);
	meanwhile_log_free(log);
}

/* Others' devices do not compete; what came earlier, or ended later, did not overtake it, but may have kept
 * the device from being idle. */
static void who_overtook(void **state)
{
	struct meanwhile_log *log = meanwhile_log_new();
	struct io slow = request(100, 200, 250, 1), other = request(110, 120, 130, 7);
	struct meanwhile m;

	other.dev = 1;
	meanwhile_log_add(log, &other);
	add(log, 99, 150, 180, 7); /* came earlier */
	slow.depth_at_issue = 2;
	meanwhile_log_add(log, &slow);
	m = look(log, &slow);
	assert_int_equal(m.all.requests, 0);
	assert_false(m.idle_known); /* one more was at the device, and has not ended yet */
	add(log, 110, 190, 300, 7); /* ended later */
	m = look(log, &slow);
	assert_int_equal(m.all.requests, 0);
	assert_int_equal(m.all.device_ns, 0);
	assert_true(m.idle_known);
	assert_int_equal(m.idle_ns, 100 - 30 - 10);
	meanwhile_log_free(log);
}

/* Flush commands are part of what ran, though nobody asked for one; a request that came and ended after the
 * slow one's D overtook it too, but took nothing of its wait. */
static void flushes_and_late_ones(void **state)
{
	struct meanwhile_log *log = meanwhile_log_new();
	struct io slow = request(100, 200, 250, 1), flush = request(TIME_NONE, 110, 170, 55);
	struct meanwhile m;

	flush.get_ns = TIME_NONE;
	flush.nr_bios = 0;
	flush.class = CLASS_FLUSH;
	meanwhile_log_add(log, &flush);
	add(log, 205, 210, 240, 7);
	meanwhile_log_add(log, &slow);
	m = look(log, &slow);
	assert_int_equal(m.all.requests, 2);
	assert_int_equal(m.all.device_ns, 60);
	assert_int_equal(m.top[0].who, WHO_FLUSH);
	assert_part(&m.top[0], 0, 1, 60);
	assert_part(&m.top[1], 7, 1, 0);
	assert_int_equal(m.idle_ns, 40);
	meanwhile_log_free(log);
}

/* Seven threads: five with the most time, the others together, overlapping. */
static void many_threads(void **state)
{
	struct meanwhile_log *log = meanwhile_log_new();
	struct io slow = request(100, 1000, 1100, 1);
	struct meanwhile m;

	for (uint32_t i = 0; i < 5; i++)
		add(log, 150, 200, 300 + i * 10, 10 + i);
	add(log, 150, 400, 420, 20);
	add(log, 150, 410, 440, 21);
	meanwhile_log_add(log, &slow);
	m = look(log, &slow);
	assert_int_equal(m.all.requests, 7);
	assert_int_equal(m.all.device_ns, 140 + 40);
	assert_int_equal(m.nr_top, MEANWHILE_TOP);
	assert_part(&m.top[0], 14, 1, 140);
	assert_part(&m.top[4], 10, 1, 100);
	assert_int_equal(m.nr_rest, 2);
	assert_part(&m.rest, 0, 2, 40);
	assert_int_equal(m.idle_ns, 900 - 180);
	meanwhile_log_free(log);
}

/* An attempt that was lost was at the device as well. */
static void lost_attempts(void **state)
{
	struct meanwhile_log *log = meanwhile_log_new();
	struct io slow = request(100, 200, 250, 1), again = request(105, 110, 190, 7);
	struct meanwhile m;

	again.attempts = 2;
	again.attempt_lost_ns = 20;
	again.last_issue_ns = 170;
	meanwhile_log_add(log, &again);
	meanwhile_log_add(log, &slow);
	m = look(log, &slow);
	assert_part(&m.top[0], 7, 1, 20 + 20);
	assert_int_equal(m.idle_ns, 60);
	meanwhile_log_free(log);
}

/* A write that waits for its post-flush has been at the device, though it ends after the slow one. */
static void post_flush_later(void **state)
{
	struct meanwhile_log *log = meanwhile_log_new();
	struct io slow = request(100, 200, 250, 1), write = request(90, 120, 150, 7);
	struct meanwhile m;

	write.end_ns = 400;
	meanwhile_log_add(log, &slow);
	meanwhile_log_add(log, &write);
	m = look(log, &slow);
	assert_int_equal(m.all.requests, 0);
	assert_true(m.idle_known);
	assert_int_equal(m.idle_ns, 70);
	meanwhile_log_free(log);
}

/* One that is still waiting at the end: its wait reaches up to there. */
static void in_flight(void **state)
{
	struct meanwhile_log *log = meanwhile_log_new();
	struct io slow = request(100, TIME_NONE, TIME_NONE, 1);
	struct meanwhile m;

	slow.attempts = slow.depth_at_issue = 0;
	add(log, 110, 120, 170, 7);
	meanwhile_log_add(log, &slow);
	meanwhile_look(log, &slow, true, 500, &m);
	assert_int_equal(m.to_ns, 500);
	assert_int_equal(m.all.requests, 1);
	assert_int_equal(m.idle_ns, 350);
	meanwhile_log_free(log);
}

static void nothing_known(void **state)
{
	struct meanwhile_log *log = meanwhile_log_new();
	struct io slow = request(TIME_NONE, 200, 250, 1);

	assert_string_equal(look(log, &slow).why, "its Q was not seen");
	slow = request(100, TIME_NONE, 250, 1);
	assert_string_equal(look(log, &slow).why, "its D was not seen");
	slow = request(100, 200, 250, 1);
	slow.ambiguous = true;
	assert_non_null(look(log, &slow).why);
	slow = request(100, 200, 250, 1);
	slow.whole_ns = 150;
	assert_non_null(look(log, &slow).why);
	meanwhile_log_free(log);
}

/* The log is bounded; who has waited through all of it is told so, and no wrong number. */
static void bounded(void **state)
{
	struct meanwhile_log *log = meanwhile_log_new();
	struct io slow, late;
	uint64_t t = 1000;

	for (; !meanwhile_log_full(log); t += 10)
		add(log, t, t + 2, t + 8, 7);
	slow = request(1000, t, t + 9, 1);
	assert_int_equal(look(log, &slow).all.requests, (t - 1000) / 10 - 1);
	meanwhile_log_cut(log);
	assert_false(meanwhile_log_full(log));
	assert_non_null(look(log, &slow).why);
	late = request(t - 95, t, t + 9, 1);
	assert_null(look(log, &late).why);
	assert_int_equal(look(log, &late).all.requests, 9);
	assert_int_equal(look(log, &late).all.device_ns, 9 * 6);
	meanwhile_log_free(log);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(overlaps),
		cmocka_unit_test(who_overtook),
		cmocka_unit_test(flushes_and_late_ones),
		cmocka_unit_test(many_threads),
		cmocka_unit_test(lost_attempts),
		cmocka_unit_test(post_flush_later),
		cmocka_unit_test(in_flight),
		cmocka_unit_test(nothing_known),
		cmocka_unit_test(bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
