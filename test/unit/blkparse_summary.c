/* SPDX-License-Identifier: MIT */
#include "cm.h"

#include "../text_read.h"

#define KIB 1024.0

/* |got - want| <= within */
#define assert_near(got, want, within) assert_true(fabs((got) - (want)) <= (within))

static const char two_cpus[] =
	"CPU0 (sda):\n"
	" Reads Queued:           1,        4KiB\t Writes Queued:           7,       28KiB\n"
	" Read Dispatches:        1,        4KiB\t Write Dispatches:        2,       28KiB\n"
	" Reads Requeued:         0\t\t Writes Requeued:         1\n"
	" Reads Completed:        0,        0KiB\t Writes Completed:        0,        0KiB\n"
	" Read Merges:            0,        0KiB\t Write Merges:            5,       20KiB\n"
	" Read depth:             1        \t Write depth:             2\n"
	" IO unplugs:             2        \t Timer unplugs:           0\n"
	"CPU1 (sda):\n"
	" Reads Queued:           0,        0KiB\t Writes Queued:           1,        4KiB\n"
	" Read Dispatches:        0,        0KiB\t Write Dispatches:        1,        4KiB\n"
	" Reads Requeued:         0\t\t Writes Requeued:         0\n"
	" Reads Completed:        1,        4KiB\t Writes Completed:        2,       32KiB\n"
	" Read Merges:            0,        0KiB\t Write Merges:            0,        0KiB\n"
	" Read depth:             1        \t Write depth:             2\n"
	" IO unplugs:             1        \t Timer unplugs:           0\n"
	"\n"
	"Total (sda):\n"
	" Reads Queued:           1,        4KiB\t Writes Queued:           8,       32KiB\n"
	" Read Dispatches:        1,        4KiB\t Write Dispatches:        3,       32KiB\n"
	" Reads Requeued:         0\t\t Writes Requeued:         1\n"
	" Reads Completed:        1,        4KiB\t Writes Completed:        2,       32KiB\n"
	" Read Merges:            0,        0KiB\t Write Merges:            5,       20KiB\n"
	" IO unplugs:             3        \t Timer unplugs:           0\n"
	"\n"
	"Throughput (R/W): 2KiB/s / 16KiB/s\n"
	"Events (sda): 1,024 entries\n"
	"Skips: 2 forward (1,000 -  49.4%)\n"
	"Input file sda.blktrace.0 added\n"
	"Input file sda.blktrace.1 added\n"
	"Trace started at Sat Jun 25 12:05:11 2022\n";

static const json_t *block(const struct facts *facts, size_t i)
{
	return json_array_get(facts->summary_blocks, i);
}

static void every_line_of_a_report(void **state)
{
	struct facts facts;
	const json_t *b;

	assert_int_equal(text_read(&facts, two_cpus), 0);
	assert_int_equal(facts.inputs[0].lines_used, 29);
	assert_int_equal(facts.inputs[0].lines_ignored, 0);
	assert_string_equal(facts.inputs[0].format, "blkparse-summary");
	assert_int_equal(json_array_size(facts.summary_blocks), 3);
	b = block(&facts, 0);
	assert_string_equal(text_str(b, "kind"), "cpu");
	assert_string_equal(text_str(b, "name"), "sda");
	assert_int_equal(text_num(b, "cpu"), 0);
	assert_int_equal(text_num(b, "write_depth"), 2);
	assert_true(text_unknown(b, "throughput"));
	assert_true(text_unknown(b, "events"));
	b = block(&facts, 2);
	assert_string_equal(text_str(b, "kind"), "total");
	assert_int_equal(text_num(b, "writes_requeued.count"), 1);
	assert_int_equal(text_num(b, "writes_completed.bytes"), 32 * 1024);
	assert_int_equal(text_num(b, "throughput.write_bytes_per_s"), 16 * 1024);
	assert_int_equal(text_num(b, "events"), 1024);
	assert_int_equal(text_num(b, "skips.forward"), 2);
	assert_int_equal(text_num(b, "skips.missing"), 1000);
	assert_string_equal(text_str(b, "trace_started"), "Sat Jun 25 12:05:11 2022");
	assert_true(text_unknown(b, "read_depth"));
	assert_true(text_unknown(b, "pc"));
	assert_int_equal(
		text_num(text_finding(&facts, "sequence-gap", 0), "evidence.sequence_gaps"), 1000);
	facts_release(&facts);
}

static void what_follows_from_a_block(void **state)
{
	struct facts facts;
	const json_t *d;

	assert_int_equal(text_read(&facts, two_cpus), 0);
	d = json_object_get(block(&facts, 2), "derived");
	assert_int_equal(text_num(d, "span_ns"), 2000000000);
	assert_string_equal(text_str(d, "span_from"), "writes");
	assert_near(text_num(d, "mean_queued_write_bytes"), 4 * KIB, 0);
	assert_near(text_num(d, "mean_dispatched_write_bytes"), 32 * KIB / 3, 0.1);
	assert_near(text_num(d, "mean_write_request_bytes"), 16 * KIB, 0);
	assert_int_equal(text_num(d, "requests_written"), 2);
	assert_near(text_num(d, "write_merge_ratio"), 5.0 / 8, 1e-9);
	assert_near(text_num(d, "read_merge_ratio"), 0, 0);
	assert_near(text_num(d, "dispatches_per_unplug"), 4.0 / 3, 1e-9);
	assert_near(text_num(d, "dispatches_per_s"), 2, 1e-9);
	facts_release(&facts);
}

static void sizes_are_of_1000_kib(void **state)
{
	struct facts facts;
	const json_t *b;

	assert_int_equal(
		text_read(&facts,
			  " Reads Queued:   2,560K,  10,242MiB  Writes Queued:   3M,  7GiB\n"
			  " Read Dispatches: 12345678, 9PiB  Write Dispatches: 1, 18446744073PiB\n"
			  " Reads Completed: 99999999999999999999, 1KiB Writes Completed: 1, 2 "
			  "KiB\n"),
		0);
	b = block(&facts, 0);
	assert_int_equal(text_num(b, "reads_queued.count"), 2560000);
	assert_int_equal(text_num(b, "reads_queued.count_rounded_to"), 1000);
	assert_int_equal(text_num(b, "reads_queued.bytes"), 10242000ll * 1024);
	assert_int_equal(text_num(b, "reads_queued.bytes_rounded_to"), 1024000);
	assert_int_equal(text_num(b, "writes_queued.count"), 3000000);
	assert_int_equal(text_num(b, "writes_queued.bytes"), 7000000ll * 1024);
	assert_int_equal(text_num(b, "read_dispatches.count"), 12345678);
	assert_int_equal(text_num(b, "read_dispatches.bytes"), 9000000000ll * 1024);
	assert_true(text_unknown(text_at(b, "write_dispatches"), "bytes"));
	assert_true(text_unknown(text_at(b, "reads_completed"), "count"));
	assert_int_equal(text_num(b, "writes_completed.bytes"), 2048);
	assert_null(text_finding(&facts, "blank-numbers", 0));
	facts_release(&facts);
}

static void blanks_are_unknown(void **state)
{
	struct facts facts;
	const json_t *b;

	assert_int_equal(
		text_read(&facts,
			  "Total (sdf):\n"
			  "  Reads Queued:    , iB   Writes Queued:    , iB\n"
			  "  Reads Requeued:                 Writes Requeued:\n"
			  "  Read Merges:     , iB   Write Merges:     , iB\n"
			  "  IO unplugs:         13108               Timer unplugs:        1892\n"
			  "Throughput (R/W): Events (sdf): Skips: 0 forward (0 -   0.0%)\n"),
		0);
	assert_int_equal(facts.inputs[0].lines_ignored, 0);
	b = block(&facts, 0);
	assert_true(text_unknown(text_at(b, "writes_queued"), "count"));
	assert_true(text_unknown(text_at(b, "writes_queued"), "bytes"));
	assert_true(text_unknown(text_at(b, "reads_requeued"), "count"));
	assert_true(text_unknown(text_at(b, "writes_requeued"), "count"));
	assert_int_equal(text_num(b, "io_unplugs"), 13108);
	assert_int_equal(text_num(b, "timer_unplugs"), 1892);
	assert_true(text_unknown(b, "events"));
	assert_true(text_unknown(text_at(b, "throughput"), "read_bytes_per_s"));
	assert_int_equal(text_num(b, "skips.forward"), 0);
	assert_true(text_unknown(text_at(b, "derived"), "mean_queued_write_bytes"));
	assert_string_equal(text_str(text_finding(&facts, "blank-numbers", 0), "severity"),
			    "warning");
	facts_release(&facts);
}

static void wrapped_by_a_mailer(void **state)
{
	struct facts facts;
	const json_t *b;

	assert_int_equal(
		text_read(&facts,
			  "> Total (sde):\n"
			  ">  Reads Queued:          19,       76KiB  Writes Queued:     142,183,\n"
			  "> 568,732KiB\n"
			  ">  Read Dispatches:       19,       76KiB\n"
			  ">  Write Dispatches:   25,440,  568,732KiB\n"
			  ">  Reads Requeued:         0               Writes Requeued:\n"
			  "> 125\n"
			  ">  Read Merges:            0,        0KiB  Write\n"
			  "> Merges:      116,868,  467,472KiB\n"),
		0);
	assert_int_equal(facts.inputs[0].lines_ignored, 0);
	assert_int_equal(json_array_size(facts.summary_blocks), 1);
	b = block(&facts, 0);
	assert_int_equal(text_num(b, "writes_queued.count"), 142183);
	assert_int_equal(text_num(b, "writes_queued.bytes"), 568732 * 1024);
	assert_int_equal(text_num(b, "write_dispatches.count"), 25440);
	assert_int_equal(text_num(b, "writes_requeued.count"), 125);
	assert_int_equal(text_num(b, "write_merges.count"), 116868);
	facts_release(&facts);
}

static void cut_in_a_line(void **state)
{
	struct facts facts;

	assert_int_equal(
		text_read(&facts, "Total (sde):\n Reads Queued: 19, 76KiB Writes Queued: 142,"), 0);
	/* of 142,183: what is cut off may be the number */
	assert_true(text_unknown(text_at(block(&facts, 0), "writes_queued"), "count"));
	assert_true(text_unknown(text_at(block(&facts, 0), "writes_queued"), "bytes"));
	facts_release(&facts);
	assert_int_equal(text_read(&facts, "Reads Queued: 19, 76KiB Writes Queued: many\n"
					   "IO unplugs: 1 Timer unplugs: 2\n"),
			 0);
	assert_int_equal(facts.inputs[0].lines_ignored, 1);
	facts_release(&facts);
}

static void blocks_of_processes(void **state)
{
	static const char counters[] =
		" Reads Queued: 0, 0KiB Writes Queued: 1, 24KiB\n"
		" Allocation wait:        0        \t Allocation wait:         4\n"
		" Dispatch wait: 5\n"
		" Dispatch wait: 6\n"
		" Completion wait: 7 Completion wait: 18446744073709551615\n";
	char text[2048];
	struct facts facts;
	const json_t *b;

	snprintf(
		text, sizeof(text),
		"as said (2013)\nkworker/58:2 (77)\n%sThreadPool Fore (0, ...)\n%s(sd-pam) (9)\n%s",
		counters, counters, counters);
	assert_int_equal(text_read(&facts, text), 0);
	assert_int_equal(facts.inputs[0].lines_ignored, 1);
	assert_int_equal(json_array_size(facts.summary_blocks), 3);
	b = block(&facts, 0);
	assert_string_equal(text_str(b, "kind"), "process");
	assert_string_equal(text_str(b, "comm"), "kworker/58:2");
	assert_int_equal(text_num(b, "pid"), 77);
	assert_true(text_unknown(b, "name"));
	assert_int_equal(text_num(b, "waits_ns.read_allocation"), 0);
	assert_int_equal(text_num(b, "waits_ns.write_allocation"), 4000);
	assert_int_equal(text_num(b, "waits_ns.read_dispatch"), 5000);
	assert_int_equal(text_num(b, "waits_ns.write_dispatch"), 6000);
	assert_int_equal(text_num(b, "waits_ns.read_completion"), 7000);
	assert_true(text_unknown(text_at(b, "waits_ns"), "write_completion"));
	b = block(&facts, 1);
	assert_string_equal(text_str(b, "comm"), "ThreadPool Fore");
	assert_true(json_is_true(text_at(b, "many_pids")));
	assert_string_equal(text_str(block(&facts, 2), "comm"), "(sd-pam)");
	assert_int_equal(json_array_size(facts.findings), 0);
	facts_release(&facts);
	/* Somebody's sentence between the name and its counters: */
	snprintf(text, sizeof(text), "dd (5)\n%ssync (77)\nThat one is slow.\n%s", counters,
		 counters);
	assert_int_equal(text_read(&facts, text), 0);
	assert_int_equal(json_array_size(facts.summary_blocks), 2);
	assert_string_equal(text_str(block(&facts, 1), "comm"), "sync");
	facts_release(&facts);
}

static void blocks_without_a_heading(void **state)
{
	struct facts facts;

	assert_int_equal(
		text_read(&facts,
			  "Prior:\n"
			  "Reads Queued: 100,000, 400,000KiB Writes Queued: 1, 4KiB\n"
			  "Read Dispatches: 50,000, 400,000KiB Write Dispatches: 1, 4KiB\n"
			  "\n"
			  "With the patch:\n"
			  "Reads Queued: 130,000, 520,000KiB Writes Queued: 1, 4KiB\n"
			  "Read Dispatches: 13,000, 520,000KiB Write Dispatches: 1, 4KiB\n"),
		0);
	assert_int_equal(json_array_size(facts.summary_blocks), 2);
	assert_string_equal(text_str(block(&facts, 0), "kind"), "unnamed");
	assert_string_equal(text_str(block(&facts, 0), "context"), "Prior");
	assert_string_equal(text_str(block(&facts, 1), "context"), "With the patch");
	assert_true(text_unknown(block(&facts, 0), "name"));
	assert_true(text_unknown(text_at(block(&facts, 0), "derived"), "span_ns"));
	facts_release(&facts);
}

static void different_work_is_refused(void **state)
{
	struct facts facts;
	const json_t *found;

	assert_int_equal(text_read_file(&facts, "test/data/pasted/swap-readahead.txt"), 0);
	found = text_finding(&facts, "different-work", 0);
	assert_non_null(found);
	assert_null(text_finding(&facts, "different-work", 1));
	assert_int_equal(text_num(found, "evidence.runs.0.queued_read_bytes"), 2243000ll * 1024);
	assert_int_equal(text_num(found, "evidence.runs.1.queued_read_bytes"), 2937000ll * 1024);
	assert_near(text_num(found, "evidence.runs.1.read_dispatches_per_mib") /
				    text_num(found, "evidence.runs.0.read_dispatches_per_mib") -
			    1,
		    -0.699, 0.0005);
	/* In flight at the start: */
	assert_null(text_finding(&facts, "summary-completed-exceeds-dispatched", 0));
	assert_null(text_finding(&facts, "flush-ends-counted", 0));
	facts_release(&facts);
	assert_int_equal(text_read(&facts,
				   "Total (sda):\nReads Queued: 9, 36KiB Writes Queued: 0, 0KiB\n"
				   "Total (sdb):\nReads Queued: 1, 4KiB Writes Queued: 0, 0KiB\n"),
			 0);
	assert_null(text_finding(&facts, "different-work", 0)); /* two devices of one trace */
	facts_release(&facts);
	assert_int_equal(
		text_read(&facts,
			  "Total (sda):\nReads Queued: 100, 400KiB Writes Queued: 0, 0KiB\n"
			  "Total (sda):\nReads Queued: 101, 404KiB Writes Queued: 0, 0KiB\n"),
		0);
	assert_null(text_finding(&facts, "different-work", 0)); /* as good as the same */
	facts_release(&facts);
}

static void small_synchronous_writes(void **state)
{
	struct facts facts;
	const json_t *found;

	assert_int_equal(text_read_file(&facts, "test/data/pasted/exfat-dirsync.txt"), 0);
	found = text_finding(&facts, "small-pieces", 0);
	assert_non_null(found);
	assert_null(text_finding(&facts, "small-pieces", 1));
	assert_int_equal(text_num(found, "evidence.writes"), 32775);
	assert_near(text_num(found, "evidence.mean_bytes"), 512, 0.1);
	assert_non_null(text_finding(&facts, "different-work", 0));
	assert_near(text_num(block(&facts, 0), "derived.dispatches_per_unplug"), 32775 / 2.0, 0.1);
	facts_release(&facts);
}

static void completions_are_checked(void **state)
{
	struct facts facts;
	const json_t *found;

	/* Of bios beside their request: */
	assert_int_equal(text_read_file(&facts, "test/data/pasted/bounce-merges.txt"), 0);
	found = text_finding(&facts, "summary-completed-exceeds-dispatched", 0);
	assert_int_equal(text_num(found, "evidence.completed_bytes"), 40960);
	assert_int_equal(text_num(found, "evidence.dispatched_bytes"), 20480);
	facts_release(&facts);
	/* Cumulative ones of a split bio: */
	assert_int_equal(text_read_file(&facts, "test/data/pasted/split-discard.txt"), 0);
	facts_release(&facts);
	/* Ends of flushes: */
	assert_int_equal(text_read_file(&facts, "test/data/pasted/apt-get-summary.txt"), 0);
	found = text_finding(&facts, "flush-ends-counted", 0);
	assert_int_equal(text_num(found, "evidence.beyond_dispatches"), 262);
	assert_int_equal(text_num(found, "evidence.beyond_requests"), 268);
	assert_null(text_finding(&facts, "summary-completed-exceeds-dispatched", 0));
	assert_non_null(text_finding(&facts, "device-mostly-idle", 0));
	assert_near(text_num(block(&facts, 0), "derived.span_ns"), 59.94e9, 0.01e9);
	assert_near(text_num(text_finding(&facts, "device-mostly-idle", 0),
			     "evidence.dispatches_per_s"),
		    12.3, 0.1);
	facts_release(&facts);
}

/* Blocks of CPUs prove nothing one by one: the other CPU completes. */
static void cpus_of_a_run_belong_together(void **state)
{
	struct facts facts;

	assert_int_equal(text_read_file(&facts, "test/data/pasted/slow-sync-summary.txt"), 0);
	assert_int_equal(json_array_size(facts.findings), 0);
	facts_release(&facts);
	/* The same without the total: their sum is looked at. */
	assert_int_equal(
		text_read(&facts,
			  "CPU0 (sda):\nRead Dispatches: 0, 0KiB Write Dispatches: 9, 360KiB\n"
			  "Reads Completed: 0, 0KiB Writes Completed: 0, 0KiB\n"
			  "CPU1 (sda):\nRead Dispatches: 0, 0KiB Write Dispatches: 0, 0KiB\n"
			  "Reads Completed: 0, 0KiB Writes Completed: 9, 360KiB\n"),
		0);
	assert_int_equal(json_array_size(facts.findings), 0);
	facts_release(&facts);
}

static void passthrough_is_counted_apart(void **state)
{
	struct facts facts;
	const json_t *pc;

	assert_int_equal(
		text_read(&facts,
			  "Total (8,0):\n"
			  " PC Reads Queued:        0,        0KiB  PC Writes Queued:        0,    "
			  "    0KiB\n"
			  " PC Read Disp.:         20,        4KiB  PC Write Disp.:          0,    "
			  "    0KiB\n"
			  " PC Reads Req.:          7               PC Writes Req.:          0\n"
			  " PC Reads Compl.:       13               PC Writes Compl.:        0\n"),
		0);
	assert_string_equal(text_str(block(&facts, 0), "name"), "8,0");
	pc = text_at(block(&facts, 0), "pc");
	assert_int_equal(text_num(pc, "read_dispatches.count"), 20);
	assert_int_equal(text_num(pc, "read_dispatches.bytes"), 4096);
	assert_int_equal(text_num(pc, "reads_requeued.count"), 7);
	assert_int_equal(text_num(pc, "reads_completed.count"), 13);
	assert_null(text_at(pc, "reads_completed.bytes"));
	assert_true(text_unknown(text_at(block(&facts, 0), "reads_queued"), "count"));
	facts_release(&facts);
}

static void several_runs_in_one_text(void **state)
{
	char text[2 * sizeof(two_cpus) + 64];
	struct facts facts;

	snprintf(text, sizeof(text), "Patched\n-------\n%s\nVanilla\n-------\n%s", two_cpus,
		 two_cpus);
	assert_int_equal(text_read(&facts, text), 0);
	assert_int_equal(json_array_size(facts.summary_blocks), 6);
	assert_string_equal(text_str(block(&facts, 2), "context"), "Patched");
	assert_string_equal(text_str(block(&facts, 5), "context"), "Vanilla");
	assert_null(text_finding(&facts, "different-work", 0));
	assert_non_null(text_finding(&facts, "sequence-gap", 1));
	facts_release(&facts);
}

static void banners_and_complaints(void **state)
{
	struct facts facts;

	assert_int_equal(text_read(&facts, "---------------------------------------------\n"
					   "Using Priority mask 0x1\n"
					   "---------------------------------------------\n"
					   "CPU23 (252,0):\n"
					   " Reads Queued: 5, 20KiB Writes Queued: 0, 0KiB\n"
					   "Bad magic 0\n"
					   "CPU24 (252,0):\n"),
			 0);
	assert_int_equal(facts.inputs[0].lines_ignored, 0);
	assert_true(text_noted(&facts, "Bad magic"));
	assert_true(text_noted(&facts, "no counters below it"));
	assert_int_equal(json_array_size(facts.summary_blocks), 1);
	facts_release(&facts);
}

static void other_text_is_none(void **state)
{
	static const char *const texts[] = { "Reads Queued\n",          "Total:\n",
					     "Total (all): 5\n",        "IO unplugs\n",
					     "Events (today): music\n", "me (1) and you (2)\n" };
	struct facts facts;

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		assert_int_equal(text_read(&facts, texts[i]), -1);
		assert_null(facts.summary_blocks);
		facts_release(&facts);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_line_of_a_report),
		cmocka_unit_test(what_follows_from_a_block),
		cmocka_unit_test(sizes_are_of_1000_kib),
		cmocka_unit_test(blanks_are_unknown),
		cmocka_unit_test(wrapped_by_a_mailer),
		cmocka_unit_test(cut_in_a_line),
		cmocka_unit_test(blocks_of_processes),
		cmocka_unit_test(blocks_without_a_heading),
		cmocka_unit_test(different_work_is_refused),
		cmocka_unit_test(small_synchronous_writes),
		cmocka_unit_test(completions_are_checked),
		cmocka_unit_test(cpus_of_a_run_belong_together),
		cmocka_unit_test(passthrough_is_counted_apart),
		cmocka_unit_test(several_runs_in_one_text),
		cmocka_unit_test(banners_and_complaints),
		cmocka_unit_test(other_text_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
