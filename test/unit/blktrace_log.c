/* SPDX-License-Identifier: MIT */
#include "cm.h"

#include "../text_read.h"

static const char one[] =
	"=== nullb0 ===\n"
	"  CPU  0:               144926 events,     6794 KiB data\n"
	"  CPU  1:               135084 events,     6333 KiB data\n"
	"  Total:                280010 events (dropped 6550),    13126 KiB data\n\n"
	"You have 6550 (  2.3%) dropped events\n"
	"Consider using a larger buffer size (-b) and/or more buffers (-n)\n";

static void drops_are_counted_once(void **state)
{
	struct facts facts;

	assert_int_equal(text_read(&facts, one), 0);
	assert_true(facts.dropped_told);
	assert_int_equal(facts.dropped, 6550);
	assert_int_equal(facts.nr_inputs, 1);
	assert_string_equal(facts.inputs[0].format, "blktrace-log");
	assert_string_equal(facts.inputs[0].tells_drops_of[0], "nullb0");
	assert_string_equal(facts.inputs[0].dialect, "1 device");
	assert_int_equal(facts.inputs[0].lines_used, 6);
	assert_int_equal(facts.inputs[0].lines_ignored, 0);
	assert_true(text_noted(&facts, "6,550 of 286,560 events were dropped (2.29 %)"));
	facts_release(&facts);
}

static void several_devices_add_up(void **state)
{
	struct facts facts;

	assert_int_equal(text_read(&facts, "=== sda ===\n  CPU  0: 1 events, 0 KiB data\n"
					   "  Total: 1 events (dropped 5), 0 KiB data\n"
					   "=== sdb ===\r\n  CPU  0: 1 events, 0 KiB data\r\n"
					   "  Total: 1 events (dropped 7), 0 KiB data\r\n"),
			 0);
	assert_int_equal(facts.dropped, 12);
	assert_string_equal(facts.inputs[0].tells_drops_of[1], "sdb");
	facts_release(&facts);
}

static void none_dropped_is_told(void **state)
{
	struct facts facts;

	assert_int_equal(text_read(&facts,
				   "=== sda ===\n CPU 0: 1 events, 0 KiB data\n Total: 1 events "
				   "(dropped 0), 0 KiB data"),
			 0);
	assert_true(facts.dropped_told);
	assert_int_equal(facts.dropped, 0);
	facts_release(&facts);
}

static void cut_before_the_total(void **state)
{
	struct facts facts;

	assert_int_equal(text_read(&facts, "=== sda ===\n CPU 0: 1 events, 0 KiB data\n"), 0);
	assert_false(facts.dropped_told);
	assert_true(text_noted(&facts, "tells no number of dropped events"));
	facts_release(&facts);
}

static void other_text_is_not_a_log(void **state)
{
	static const char *const texts[] = { "=== title ===\n\ntext\n",
					     "CPU 0: 1 event\n",
					     "===  ===\n",
					     "Device: /dev/sda\ntps kB_read/s\n",
					     "Total: 3\n",
					     "You have 3 new messages\n",
					     "Failed to open the door: 5/6\n" };
	struct facts facts;

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		assert_int_equal(text_read(&facts, texts[i]), -1);
		assert_false(facts.dropped_told);
		facts_release(&facts);
	}
}

static void without_its_head(void **state)
{
	struct facts facts;

	assert_int_equal(text_read_file(&facts, "test/data/pasted/dropped-banner.txt"), 0);
	assert_int_equal(facts.dropped, 8120);
	assert_int_equal(facts.inputs[0].lines_ignored, 0);
	assert_true(text_noted(&facts, "(2.35 %)"));
	facts_release(&facts);
}

/* Of 2007: "Device: /dev/sdb", and events are not counted. */
static void an_old_log(void **state)
{
	struct facts facts;

	assert_int_equal(text_read_file(&facts, "test/data/pasted/slow-sync-session.txt"), 0);
	assert_true(facts.dropped_told);
	assert_int_equal(facts.dropped, 0);
	assert_string_equal(facts.inputs[0].tells_drops_of[0], "sdb");
	assert_true(text_noted(&facts, "did not count events"));
	facts_release(&facts);
}

static void every_failure_has_its_reason(void **state)
{
	static const struct {
		int errnum;
		const char *name, *device, *cause, *advice;
	} want[] = {
		{ 25, "ENOTTY", "/dev/nbd0", "CONFIG_BLK_DEV_IO_TRACE", "CONFIG_BLK_DEV_IO_TRACE" },
		{ 5, "EIO", "/dev/vdc", "fragmented", "-b 128" },
		{ 2, "ENOENT", "/dev/sda", "debugfs is not mounted", "whole disk" },
		{ 16, "EBUSY", "/dev/nvme6n1", "traced already", "If it is yours: blktrace -k" },
		{ 1, "EPERM", "md1", "locked down", "Do not switch secure boot off" },
		{ 22, "EINVAL", NULL, "cpuset", "cpuset" },
		{ 0, NULL, NULL, "locked down", "tracefs" },
	};
	struct facts facts;

	assert_int_equal(text_read_file(&facts, "test/data/pasted/capture-errors.txt"), 0);
	assert_int_equal(facts.inputs[0].lines_ignored, 0);
	assert_int_equal(json_array_size(facts.findings), 7);
	for (int i = 0; i < 7; i++) {
		const json_t *found = text_finding(&facts, "capture-failed", i);
		const json_t *ev = text_at(found, "evidence");

		assert_string_equal(text_str(found, "severity"), "critical");
		assert_non_null(strstr(text_str(found, "sentence"), want[i].cause));
		assert_non_null(strstr(text_str(found, "advice.0"), want[i].advice));
		if (want[i].errnum)
			assert_int_equal(text_num(ev, "errno"), want[i].errnum);
		else
			assert_true(text_unknown(ev, "errno"));
		if (want[i].name)
			assert_string_equal(text_str(ev, "errno_name"), want[i].name);
		if (want[i].device)
			assert_string_equal(text_str(ev, "device"), want[i].device);
		else
			assert_true(text_unknown(ev, "device"));
	}
	facts_release(&facts);
}

static void a_cascade_is_one_finding(void **state)
{
	struct facts facts;

	assert_int_equal(text_read(&facts,
				   "BLKTRACESETUP(2) /dev/sdb failed: 2/No such file or directory\n"
				   "Thread 0 failed open /sys/kernel/debug/block/(null)/trace0: "
				   "2/No such file or directory\n"
				   "Thread 3 failed open /sys/kernel/debug/block/(null)/trace3: "
				   "2/No such file or directory\n"
				   "FAILED to start thread on CPU 0: 1/Operation not permitted\n"
				   "FAILED to start thread on CPU 1: 1/Operation not permitted\n"
				   "BLKTRACETEARDOWN /dev/sdb failed: 22/Invalid argument\n"),
			 0);
	assert_int_equal(json_array_size(facts.findings), 4);
	assert_int_equal(text_num(text_finding(&facts, "capture-failed", 1), "evidence.lines"), 2);
	assert_true(text_unknown(text_at(text_finding(&facts, "capture-failed", 1), "evidence"),
				 "device"));
	assert_int_equal(text_num(text_finding(&facts, "capture-failed", 2), "evidence.cpu"), 0);
	assert_string_equal(text_str(text_finding(&facts, "capture-failed", 3), "evidence.call"),
			    "BLKTRACETEARDOWN");
	facts_release(&facts);
}

static void forms_without_a_number(void **state)
{
	static const char *const texts[] = {
		"BLKTRACESETUP: Inappropriate ioctl for device\n",
		"Invalid debug path /sys/kernel/debug: 2/No such file or directory\n",
		"/sys/kernel/debug is not a debug filesystem\n",
		"blktrace: /dev/sdb: Permission denied\n",
		"cat: /sys/kernel/debug/block/sda/trace0: Operation not permitted\n",
		"Invalid path /dev/sdz specified: 2/No such file or directory\n",
		"[   12.345678] Lockdown: blktrace: debugfs access is restricted; see man "
		"kernel_lockdown.7\n",
		"BLKTRACESETUP(2) /dev/sdb failed: 95/Operation not supported\n",
		"BLKTRACESETUP(2) /dev/sdb failed: 4000/Unknown error 4000\n",
	};
	struct facts facts;

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		assert_int_equal(text_read(&facts, texts[i]), 0);
		assert_int_equal(json_array_size(facts.findings), 1);
		assert_int_equal(
			json_array_size(text_at(json_array_get(facts.findings, 0), "advice")), 1);
		facts_release(&facts);
	}
}

static void lost_by_other_tools(void **state)
{
	struct facts facts;

	assert_int_equal(text_read(&facts, "Lost 42 events\nLost 1 events\n"), 0);
	assert_int_equal(facts.dropped, 43);
	facts_release(&facts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(drops_are_counted_once),
		cmocka_unit_test(several_devices_add_up),
		cmocka_unit_test(none_dropped_is_told),
		cmocka_unit_test(cut_before_the_total),
		cmocka_unit_test(other_text_is_not_a_log),
		cmocka_unit_test(without_its_head),
		cmocka_unit_test(an_old_log),
		cmocka_unit_test(every_failure_has_its_reason),
		cmocka_unit_test(a_cascade_is_one_finding),
		cmocka_unit_test(forms_without_a_number),
		cmocka_unit_test(lost_by_other_tools),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
