// SPDX-License-Identifier: MIT
/* The report: numbers for people, the tree and the page, from a summary made by hand. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "view/num.h"
#include "view/over_time.h"
#include "view/role.h"
#include "view/tree.h"

#define MS 1000000ull

static void numbers(void **state)
{
	assert_string_equal(num_count(0).s, "0");
	assert_string_equal(num_count(999).s, "999");
	assert_string_equal(num_count(1000).s, "1,000");
	assert_string_equal(num_count(16568).s, "16,568");
	assert_string_equal(num_count(UINT64_MAX).s, "18,446,744,073,709,551,615");
	assert_string_equal(num_of(1, "bio").s, "1 bio");
	assert_string_equal(num_of(0, "bio").s, "0 bios");
	assert_string_equal(num_of(16568, "request").s, "16,568 requests");
	assert_string_equal(num_ns(0).s, "0 ns");
	assert_string_equal(num_ns(850).s, "850 ns");
	assert_string_equal(num_ns(1000).s, "1.00 us");
	assert_string_equal(num_ns(9996).s, "10.0 us");
	assert_string_equal(num_ns(12345).s, "12.3 us");
	assert_string_equal(num_ns(99960).s, "100 us");
	assert_string_equal(num_ns(999400).s, "999 us");
	assert_string_equal(num_ns(999600).s, "1.00 ms");
	assert_string_equal(num_ns(1.5e9).s, "1.50 s");
	assert_string_equal(num_ns(5e12).s, "5000 s");
	assert_string_equal(num_bytes(0).s, "0 B");
	assert_string_equal(num_bytes(1023).s, "1023 B");
	assert_string_equal(num_bytes(1024).s, "1.00 KiB");
	assert_string_equal(num_bytes(1.14 * 1024 * 1024).s, "1.14 MiB");
	assert_string_equal(num_bytes(1024.0 * 1024 * 1024 * 1024).s, "1.00 TiB");
	assert_string_equal(num_share(0).s, "0.0 %");
	assert_string_equal(num_share(0.0001).s, "<0.1 %");
	assert_string_equal(num_share(0.813).s, "81.3 %");
	assert_string_equal(num_share(1).s, "100 %");
	assert_string_equal(num_real(0.125).s, "0.12");
	assert_string_equal(num_real(1234.4).s, "1,234");
}

/* No scaled number is wider than a column of the latency table. */
static void number_widths(void **state)
{
	for (double v = 1; v < 9.9e12; v *= 1.003)
		assert_true(strlen(num_ns(v).s) <= 7 || v >= 1e13);
	for (double v = 1; v < 1e17; v *= 1.003)
		assert_true(strlen(num_bytes(v).s) <= 8);
}

static void roles(void **state)
{
	static const char *const expect[][2] = {
		{ "dd", "app" },
		{ "kworker/u4:1", "worker" },
		{ "kworker/u8:2-flush-253:0", "writeback" },
		{ "kworker/u8:2+flush-7:0", "writeback" },
		{ "kworker/0:1H-kblockd", "worker" },
		{ "flush-8:0", "writeback" },
		{ "jbd2/vda1-8", "journal" },
		{ "xfsaild/dm-0", "journal" },
		{ "dmcrypt_write/2", "crypt" },
		{ "md0_raid5", "raid" },
		{ "mdadm", "app" },
		{ "loop0", "loop" },
		{ "loopback-test", "app" },
		{ "swapper/0", "kernel" },
		{ "iou-wrk-77", "app" },
		{ "", "unknown" },
	};

	for (size_t i = 0; i < sizeof(expect) / sizeof(expect[0]); i++)
		assert_string_equal(role_of(expect[i][0]), expect[i][1]);
	assert_string_equal(role_of(NULL), "unknown");
}

static void strings_are_safe(void **state)
{
	json_t *s = tree_string("a\033[2J\xff\xc3\xa9\n\xc2\x9b");

	assert_string_equal(json_string_value(s), "a\\x1b[2J\\xff\xc3\xa9\\x0a\\xc2\\x9b");
	json_decref(s);
	s = tree_string("\xe2\x82"); /* cut in the middle of a character */
	assert_string_equal(json_string_value(s), "\\xe2\\x82");
	json_decref(s);
}

/* A machine of one disk that is saturated by dd through a worker. */
struct fixture {
	struct summary sum;
	struct facts facts;
	struct source_stats stats;
	struct wait_sum wait;
	struct verdict verdict;
	struct report report;
};

static void fill_device(struct device_sum *dev)
{
	dev->device = DEVICE(253, 0);
	dev->parents[0] = DEVICE(253, 1);
	dev->nr_parents = 1;
	dev->events = 4321;
	dev->have_requests = true;
	dev->bios[CLASS_READ] = (struct class_count){ 10, 40960 };
	dev->bios[CLASS_WRITE] = (struct class_count){ 2000, 8192000 };
	dev->bios[CLASS_FLUSH].count = 5;
	dev->getrqs = 1015;
	dev->back_merges = 1000;
	dev->requests[CLASS_READ] = (struct class_count){ 10, 40960 };
	dev->requests[CLASS_WRITE] = (struct class_count){ 1000, 8192000 };
	dev->requests[CLASS_FLUSH].count = 7;
	dev->flush_stages = 14;
	dev->completed_bytes[CLASS_WRITE] = 8192000;
	for (int i = 0; i < 1000; i++) {
		hist_add(&dev->latency[PHASE_D2C], 100000u + (unsigned int)i * 1000u);
		hist_add(&dev->latency[PHASE_BIO_Q2C], 2 * MS);
		hist_add(&dev->class_d2c[CLASS_WRITE], MS);
	}
	hist_add(&dev->class_d2c[CLASS_READ], MS);
	dev->busy_ns = 800 * MS;
	dev->held_ns = 50 * MS;
	dev->idle_ns = 150 * MS;
	dev->depth_area = 3.2e9;
	dev->depth_max = 32;
	dev->wait_ns[WAIT_DEVICE] = 800 * MS;
	dev->seeks = 1000;
	dev->sequential = 250;
	dev->seek_sum_sectors = 2048e3;
	hist_add(&dev->seek_sectors, 8);
	hist_add(&dev->seek_sectors, 8);
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct process_sum *p = calloc(1, sizeof(*p));

	facts_init(&f->facts);
	facts_input(&f->facts, "trace", "blktrace");
	f->facts.inputs[0].events = 4321;
	facts_device(&f->facts, DEVICE(253, 0), "vda");
	names_add(&f->facts.names, 120, 5, "dd", 2);
	f->facts.dropped_told = true;
	f->sum.devices = calloc(1, sizeof(struct device_sum));
	f->sum.nr_devices = 1;
	fill_device(&f->sum.devices[0]);
	f->sum.processes = calloc(1, sizeof(struct process_sum *));
	f->sum.processes[0] = p;
	f->sum.nr_processes = 1;
	*p = (struct process_sum){ .pid = 120, .last_ns = 9, .bios = 2000, .write_bytes = 8192000 };
	f->sum.first_ns = 1000 * MS;
	f->sum.last_ns = 2000 * MS;
	f->sum.events = 4321;
	f->wait = (struct wait_sum){ .from_ns = 1000 * MS, .to_ns = 2000 * MS, .bios = 2010 };
	f->verdict = (struct verdict){
		.bound = BOUND_DEVICE,
		.mode = MODE_SATURATED,
		.have_shares = true,
		.share = { [WAIT_DEVICE] = 0.8, [WAIT_HELD] = 0.05, [WAIT_SUBMITTER] = 0.15 },
	};
	f->report = (struct report){
		.sum = &f->sum,
		.facts = &f->facts,
		.stats = &f->stats,
		.wait = &f->wait,
		.verdict = &f->verdict,
		.genesis_ns = 1000 * MS,
	};
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	summary_release(&f->sum);
	facts_release(&f->facts);
	free(f);
	return 0;
}

static char *page_of(const struct report *r, bool colour)
{
	struct report_look look = { .colour = colour, .top = 10 };
	json_t *tree = report_tree(r);
	size_t len;
	char *text = NULL;
	FILE *out = open_memstream(&text, &len);

	report_text(tree, out, &look);
	fclose(out);
	json_decref(tree);
	if (!text)
		abort();
	return text;
}

static void assert_says(const char *page, const char *words)
{
	if (!strstr(page, words))
		fail_msg("\"%s\" is not in:\n%s", words, page);
}

static void tree_shape(void **state)
{
	static const char *const keys[] = {
		"schema_version", "tool",     "inputs",    "losses", "span_ns",
		"start_wall_ns",  "devices",  "processes", "files",  "syncs",
		"verdict",        "findings", "metrics",   "notes",  "summary_blocks",
	};
	struct fixture *f = *state;
	json_t *tree = report_tree(&f->report);
	const json_t *dev = json_array_get(json_object_get(tree, "devices"), 0);

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		assert_non_null(json_object_get(tree, keys[i]));
	assert_int_equal(tree_u64(tree, "schema_version"), 1);
	assert_int_equal(tree_u64(tree, "span_ns"), 1000 * MS);
	assert_string_equal(tree_str(dev, "device"), "253,0");
	assert_string_equal(tree_str(dev, "kind"), "request");
	assert_int_equal(tree_u64(dev, "bios.write.count"), 2000);
	assert_int_equal(tree_u64(dev, "requests.write.count"), 1000);
	assert_true(tree_num(dev, "requests.write.mean_bytes") == 8192);
	assert_true(tree_num(dev, "flush_sharing") == 2);
	assert_true(tree_num(dev, "busy_share") == 0.8);
	assert_true(tree_num(dev, "depth.mean") == 3.2);
	assert_true(tree_num(dev, "depth.mean_while_busy") == 4);
	assert_int_equal(tree_u64(dev, "latency_ns.d2c.n"), 1000);
	assert_int_equal(tree_u64(dev, "seeks.mean_sectors"), 2048);
	assert_string_equal(tree_str(tree, "verdict.bound"), "device");
	assert_true(tree_num(tree, "verdict.shares.device") == 0.8);
	assert_int_equal(json_array_size(tree_at(tree, "losses.hints")), 0);
	json_decref(tree);
}

/* Walks a tree: every null has its reason, every reason a null. */
static void check_whys(const json_t *node)
{
	const char *key;
	json_t *value;
	size_t i;

	json_array_foreach((json_t *)node, i, value) check_whys(value);
	json_object_foreach((json_t *)node, key, value)
	{
		char why[80];
		size_t len = strlen(key);

		snprintf(why, sizeof(why), "%s_why", key);
		if (json_is_null(value) && !json_is_string(json_object_get(node, why)))
			fail_msg("%s is null without %s", key, why);
		if (len > 4 && !strcmp(key + len - 4, "_why")) {
			snprintf(why, sizeof(why), "%.*s", (int)(len - 4), key);
			if (!json_is_null(json_object_get(node, why)))
				fail_msg("%s without a null %s", key, why);
		}
		check_whys(value);
	}
}

static void unknown_has_a_reason(void **state)
{
	struct fixture *f = *state;
	json_t *tree;

	f->facts.dropped_told = false;
	facts_dropped_unknown(&f->facts, "a v7 trace carries no drop count");
	f->sum.devices[0].have_requests = false;
	f->verdict =
		(struct verdict){ .bound = BOUND_UNKNOWN, .why_unknown = "because of nothing" };
	tree = report_tree(&f->report);
	check_whys(tree);
	assert_null(tree_at(tree, "losses.lost_events"));
	assert_string_equal(tree_str(tree, "losses.lost_events_why"),
			    "a v7 trace carries no drop count");
	assert_string_equal(tree_str(tree, "verdict.sentence"),
			    "Cannot be told from this trace, because of nothing.");
	json_decref(tree);
	f->report.wait = NULL;
	f->report.verdict = NULL;
	tree = report_tree(&f->report);
	check_whys(tree);
	json_decref(tree);
}

static void page_says_it(void **state)
{
	struct fixture *f = *state;
	char *page = page_of(&f->report, false);

	assert_true(!strncmp(page, "losses:    none: 0 events were dropped", 38));
	assert_says(page,
		    "VERDICT    The device: of the 1.00 s between the first and last I/O, the");
	assert_says(page, "vda is saturated");
	assert_says(page, "at the device   80.0 %  ################################........");
	assert_says(page, "DEVICE vda (253,0), request-based, 4,321 events");
	assert_says(page, "  write            2,000   7.81 MiB   4.00 KiB");
	assert_says(page, "1,000   7.81 MiB   8.00 KiB");
	assert_says(page, "25.0 % sequential; distance: mean 1.00 MiB, median 4.00 KiB\n");
	assert_says(page, "120 dd               app");
	assert_null(strstr(page, "FINDINGS"));
	assert_null(strchr(page, '\033'));
	free(page);
	page = page_of(&f->report, true);
	assert_non_null(strchr(page, '\033'));
	free(page);
}

static void page_is_80_wide(void **state)
{
	struct fixture *f = *state;
	char *page, *line;

	f->stats.damaged_bytes = 48;
	f->stats.damages = 1;
	f->facts.dropped = 6550;
	f->sum.devices[0].orphan_completes = 3;
	f->sum.devices[0].requeues_failed = 1;
	f->sum.devices[0].aged_out = 8000;
	hist_add(&f->sum.devices[0].latency[PHASE_PREFLUSH], 40 * MS);
	f->sum.devices[0].in_flight = 2;
	page = page_of(&f->report, false);
	for (line = strtok(page, "\n"); line; line = strtok(NULL, "\n"))
		if (strlen(line) > 80)
			fail_msg("wider than 80: \"%s\"", line);
	free(page);
}

static void losses_come_first(void **state)
{
	struct fixture *f = *state;
	char *page;

	assert_false(report_has_losses(&f->report));
	f->facts.dropped = 6550;
	assert_true(report_has_losses(&f->report));
	page = page_of(&f->report, false);
	assert_true(!strncmp(page, "losses:    6,550 events were dropped", 36));
	assert_says(page, "estimates");
	assert_says(page, "[lost-events]");
	free(page);
}

/* Quantiles of the distance stand there as soon as there is enough to know them. */
static void seek_quantiles(void **state)
{
	struct fixture *f = *state;
	struct device_sum *dev = &f->sum.devices[0];
	json_t *tree = report_tree(&f->report);
	const json_t *seeks = tree_at(json_array_get(tree_at(tree, "devices"), 0), "seeks");
	char *page;

	assert_int_equal(tree_u64(seeks, "p50_sectors"), 8);
	assert_null(tree_at(seeks, "p90_sectors"));
	assert_string_equal(tree_str(seeks, "p90_sectors_why"), "needs at least 10 values");
	json_decref(tree);
	for (int i = 0; i < 88; i++)
		hist_add(&dev->seek_sectors, 8);
	for (int i = 0; i < 10; i++)
		hist_add(&dev->seek_sectors, 16);
	page = page_of(&f->report, false);
	assert_says(page,
		    "median 4.00 KiB, 90 %\n           within 4.00 KiB, 99 % within 8.00 KiB\n");
	free(page);
}

/* What failed stands right behind the losses, by name. */
static void failures_come_first(void **state)
{
	struct fixture *f = *state;
	struct device_sum *dev = &f->sum.devices[0];
	char *page;

	dev->errors = calloc(1, sizeof(*dev->errors));
	dev->nr_errors = 1;
	dev->errors[0] = (struct io_error){ EIO, CLASS_READ, 3, 40010 };
	page = page_of(&f->report, false);
	assert_says(page,
		    "0 bytes damaged\nerrors:    vda: 3 requests failed: read with EIO (5), first "
		    "at sector 40,010\nread: ");
	assert_says(page,
		    "  errors   3 requests failed: read with EIO (5), first at sector 40,010");
	free(page);
}

static void reads_during_writes(void **state)
{
	struct fixture *f = *state;
	struct device_sum *dev = &f->sum.devices[0];
	const json_t *finding, *hazards;
	json_t *tree = report_tree(&f->report);

	hazards = tree_at(json_array_get(tree_at(tree, "devices"), 0), "hazards");
	assert_int_equal(tree_u64(hazards, "count"), 0);
	assert_null(tree_at(hazards, "first_ns"));
	assert_null(find_finding(tree_at(tree, "findings"), "read-during-write"));
	json_decref(tree);
	dev->hazards = (struct hazards){ 2, 4608, 1250 * MS, 72, 120 };
	tree = report_tree(&f->report);
	hazards = tree_at(json_array_get(tree_at(tree, "devices"), 0), "hazards");
	assert_int_equal(tree_u64(hazards, "bytes"), 4608);
	assert_int_equal(tree_u64(hazards, "first_ns"), 250 * MS);
	finding = find_finding(tree_at(tree, "findings"), "read-during-write");
	assert_string_equal(tree_str(finding, "severity"), "warning");
	assert_int_equal(tree_u64(finding, "evidence.first_sector"), 72);
	assert_string_equal(tree_str(finding, "evidence.first_comm"), "dd");
	json_decref(tree);
}

/* Three steps: depth 4 for half of the first, 0, and 1 for the whole of the last. */
static void depth_over_time(void **state)
{
	struct fixture *f = *state;
	struct steps *steps = &f->sum.devices[0].depth_steps;
	json_t *tree;
	const json_t *over;
	char *page;

	steps_add(steps, 1000 * MS, 1000 * MS + MS / 2, 4);
	steps_add(steps, 1000 * MS + MS / 2, 1002 * MS, 0);
	steps_add(steps, 1002 * MS, 1003 * MS, 1);
	tree = report_tree(&f->report);
	over = tree_at(json_array_get(tree_at(tree, "devices"), 0), "depth_over_time");
	assert_int_equal(tree_u64(over, "step_ns"), MS);
	assert_int_equal(tree_u64(over, "from_ns"), 0);
	assert_int_equal(json_array_size(tree_at(over, "mean")), 3);
	assert_true(json_real_value(json_array_get(tree_at(over, "mean"), 0)) == 2);
	assert_int_equal(json_integer_value(json_array_get(tree_at(over, "max"), 0)), 4);
	json_decref(tree);
	page = page_of(&f->report, false);
	assert_says(page,
		    "  depth(t) |@ +|\n           each character is 1.00 ms, from 0 ns on; \"@\" "
		    "is a mean depth of 2.00\n");
	free(page);
}

static void drawn_lines(void **state)
{
	double values[120], full = 0;
	char line[OVER_TIME_MOST + 1];

	for (int i = 0; i < 120; i++)
		values[i] = i < 60 ? 0 : i < 118 ? 0.001 : 90;
	values[0] = values[1] = (double)NAN;
	assert_int_equal(over_time_draw(values, 120, &full, line), 2);
	assert_int_equal(strlen(line), 60);
	assert_true(full == 90);
	assert_int_equal(line[0], '?');
	assert_int_equal(line[1], ' ');
	assert_int_equal(line[30], '.'); /* hardly anything is not nothing */
	assert_int_equal(line[59], '@');
	full = 1;
	assert_int_equal(over_time_draw((const double[]){ 0, 0.5, 1, 2 }, 4, &full, line), 1);
	assert_string_equal(line, " +@@");
}

static void two_close_shares(void **state)
{
	struct fixture *f = *state;
	char *page;

	f->verdict.second = BOUND_SUBMITTER;
	f->verdict.mode = MODE_LATENCY;
	f->verdict.mode_depth = 1.2;
	f->verdict.share[WAIT_DEVICE] = 0.5;
	f->verdict.share[WAIT_SUBMITTER] = 0.45;
	page = page_of(&f->report, false);
	assert_says(page, "Too close to choose: the device; and the submitter");
	assert_says(page, "50.0 %");
	assert_says(page, "45.0 %");
	free(page);
}

static void broken_conservation_is_a_hint(void **state)
{
	struct fixture *f = *state;
	json_t *tree;

	f->sum.devices[0].getrqs = 500;
	tree = report_tree(&f->report);
	assert_int_equal(json_array_size(tree_at(tree, "losses.hints")), 1);
	assert_false(report_has_losses(&f->report));
	json_decref(tree);
}

/* One text that is JSON but for its quotes. */
static json_t *json_of(const char *text)
{
	char *copy = strdup(text);
	json_error_t err;
	json_t *json;

	for (char *p = copy; *p; p++)
		*p = *p == '\'' ? '"' : *p;
	json = json_loads(copy, 0, &err);
	if (!json)
		fail_msg("%s: %s", err.text, copy);
	free(copy);
	return json;
}

/* What `blklab record` stores around a command that began and ended with the events. */
static void record_command(struct fixture *f)
{
	f->facts.meta =
		json_of("{'start_ns': 900000000, 'end_ns': 2100000000, 'stopped_by': 'command',"
			" 'command': {'argv': ['/bin/dd', 'of=x'], 'pid': 120, 'exit_status': 0,"
			"  'signal': null, 'start_ns': 1000000000, 'end_ns': 2000000000,"
			"  'wall_ns': 1000000000, 'user_ns': 1000000, 'system_ns': 90000000,"
			"  'out_blocks': 0},"
			" 'threads': [{'comm': 'kworker/u4:1', 'work': 'writeback',"
			"  'cpu_ns': 300000000}],"
			" 'before': {'meminfo': {'Dirty_bytes': 0, 'Writeback_bytes': 0}},"
			" 'after': {'meminfo': {'Dirty_bytes': 67108864, 'Writeback_bytes': 0}}}");
	f->report.window = REPORT_COMMAND;
}

static void set_command(struct fixture *f, const char *key, json_t *value)
{
	json_object_set_new(json_object_get(f->facts.meta, "command"), key, value);
}

static void command_and_workers(void **state)
{
	struct fixture *f = *state;
	char *page;

	record_command(f);
	page = page_of(&f->report, false);
	assert_says(page, "command:   /bin/dd of=x\n           status 0, 1.00 s wall");
	assert_says(page, "span:      1.00 s of 1.20 s recorded");
	assert_says(page, "the 1.00 s that dd ran");
	assert_says(page,
		    "  CPU time kworkers for writeback 300 ms, dd (system) 90.0 ms, dd (user)");
	free(page);
}

/* The largest is never among the others, and one other is no plural. */
static void workers_by_size(void **state)
{
	struct fixture *f = *state;
	json_t *threads = json_array();
	char *page;

	record_command(f);
	for (int i = 1; i <= 5; i++) {
		json_t *thread = json_object();
		char comm[16];

		snprintf(comm, sizeof(comm), "jbd2/sd%d-8", i);
		json_object_set_new(thread, "comm", json_string(comm));
		json_object_set_new(thread, "cpu_ns", json_integer(i * 1000));
		json_array_append_new(threads, thread);
	}
	json_object_set_new(f->facts.meta, "threads", threads);
	json_array_append_new(threads, json_pack("{s:s, s:I}", "comm", "ksoftirqd/0", "cpu_ns",
						 (json_int_t)(5000 * MS)));
	set_command(f, "user_ns", json_integer(0));
	page = page_of(&f->report, false);
	assert_says(page, "  CPU time other kernel threads 5.00 s, dd (system) 90.0 ms");
	assert_says(page, "1 other\n           1.00 us\n");
	free(page);
}

static void command_is_quoted(void **state)
{
	struct fixture *f = *state;
	char *page;

	record_command(f);
	set_command(f, "argv", json_of("['sh', '-c', 'dd if=/dev/zero of=x; sync', '']"));
	json_array_append_new(json_object_get(json_object_get(f->facts.meta, "command"), "argv"),
			      json_string("it's"));
	page = page_of(&f->report, false);
	assert_says(page, "command:   sh -c 'dd if=/dev/zero of=x; sync' '' 'it'\\''s'\n");
	free(page);
}

/* A signal that the recorder itself sent is not an accident. */
static void recorder_ended_the_command(void **state)
{
	struct fixture *f = *state;
	char *page;

	record_command(f);
	set_command(f, "exit_status", json_null());
	set_command(f, "signal", json_integer(15));
	page = page_of(&f->report, false);
	assert_says(page, "killed by signal 15, 1.00 s wall");
	free(page);
	json_object_set_new(f->facts.meta, "stopped_by", json_string("time"));
	set_command(f, "end_ns", json_integer(2500000000));
	page = page_of(&f->report, false);
	assert_says(page, "the recorder ended it after the time of --for (signal 15)");
	assert_says(page, "the recorded 1.00 s that dd ran");
	free(page);
}

static void recording_without_command(void **state)
{
	struct fixture *f = *state;
	json_t *tree;

	f->facts.meta = json_of("{'start_ns': 500000000, 'end_ns': 3500000000, 'command': null,"
				" 'stopped_by': 'time'}");
	f->report.window = REPORT_RECORDING;
	f->wait.from_ns = 500 * MS;
	f->wait.to_ns = 3500 * MS;
	tree = report_tree(&f->report);
	check_whys(tree);
	assert_non_null(strstr(tree_str(tree, "verdict.sentence"), "of the 3.00 s recorded,"));
	assert_string_equal(tree_str(tree, "verdict.window.what"), "the recording");
	assert_true(tree_u64(tree, "recorded_ns") == 3000 * MS);
	json_decref(tree);
}

static void only_a_partition(void **state)
{
	struct fixture *f = *state;
	const json_t *dev;
	json_t *tree;
	char *page;

	f->facts.meta = json_of("{'devices': [{'device': '253,0', 'name': 'vda', 'kind': 'request',"
				" 'partition': {'device': '253,1', 'name': 'vda1',"
				"  'start_sector': 2048, 'sectors': 40960}}]}");
	f->verdict.share[WAIT_DEVICE] = 0.2;
	f->verdict.share[WAIT_HELD] = 0.3;
	f->verdict.share[WAIT_BEHIND_OTHERS] = 0.35;
	f->verdict.bound = BOUND_QUEUE;
	tree = report_tree(&f->report);
	check_whys(tree);
	dev = json_array_get(json_object_get(tree, "devices"), 0);
	assert_string_equal(tree_str(json_array_get(tree_at(dev, "partitions"), 0), "name"),
			    "vda1");
	assert_null(tree_at(dev, "busy_share"));
	assert_true(tree_num(dev, "recorded_busy_share") == 0.8);
	assert_null(tree_at(tree, "verdict.shares.behind_others"));
	assert_true(fabs(tree_num(tree, "verdict.shares.queue") - 0.65) < 1e-9);
	json_decref(tree);
	page = page_of(&f->report, false);
	assert_says(page, "DEVICE vda (253,0) (only its partition vda1 was recorded)\n");
	assert_says(page, "recorded I/O at the device 80.0 %");
	assert_says(page, "in the queue    65.0 %");
	assert_null(strstr(page, "behind others"));
	assert_null(strstr(page, "idle"));
	free(page);
	/* Beside the whole disk a partition of it is nothing special. */
	json_array_append_new(json_object_get(f->facts.meta, "devices"),
			      json_pack("{s:s, s:n}", "device", "253,0", "partition"));
	page = page_of(&f->report, false);
	assert_says(page, "busy 80.0 %, held 5.0 %");
	free(page);
}

/* The same program beside the command is another one. */
static void whose_io(void **state)
{
	struct fixture *f = *state;
	struct process_sum *other = calloc(1, sizeof(*other));
	char *page;

	*other = (struct process_sum){ .pid = 77, .last_ns = 9, .bios = 3, .write_bytes = 4096 };
	f->sum.processes = realloc(f->sum.processes, 2 * sizeof(struct process_sum *));
	f->sum.processes[f->sum.nr_processes++] = other;
	names_add(&f->facts.names, 77, 5, "dd", 2);
	page = page_of(&f->report, false);
	assert_says(page, "most I/O dd wrote 7.82 MiB\n");
	assert_says(page, "\n      120 dd ");
	free(page);
	record_command(f);
	page = page_of(&f->report, false);
	assert_says(page, "most I/O dd wrote 7.81 MiB, dd (not this command) wrote 4.00 KiB");
	assert_says(page, "\n*     120 dd ");
	assert_says(page, "\n       77 dd ");
	free(page);
	names_fork(&f->facts.names, 120, 77);
	page = page_of(&f->report, false);
	assert_says(page, "most I/O dd wrote 7.82 MiB\n");
	assert_says(page, "\n*      77 dd ");
	free(page);
}

/* Dirty data of a whole machine say nothing about the command; its own account does. */
static void left_in_the_page_cache(void **state)
{
	static const struct {
		int out_blocks, dirty_after;
		bool said;
	} cases[] = {
		{ 0, 64 << 20, false },     /* others made it dirty */
		{ 16000, 64 << 20, false }, /* 8,192,000 bytes: all of it reached the device */
		{ 200000, 64 << 20, true }, /* 98 MiB */
		{ 200000, 1 << 20, false }, /* written elsewhere */
	};
	struct fixture *f = *state;

	record_command(f);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *page;

		set_command(f, "out_blocks", json_integer(cases[i].out_blocks));
		json_object_set_new(json_object_get(json_object_get(f->facts.meta, "after"),
						    "meminfo"),
				    "Dirty_bytes", json_integer(cases[i].dirty_after));
		page = page_of(&f->report, false);
		if (!strstr(page, "[page-cache]") == cases[i].said)
			fail_msg("case %zu:\n%s", i, page);
		free(page);
	}
}

static void one_bio_at_a_time(void **state)
{
	struct fixture *f = *state;
	char *page;

	f->verdict.mode = MODE_LATENCY;
	f->verdict.mode_depth = 1.0;
	f->sum.devices[0].levels[4].time_ns = 800 * MS;
	f->sum.devices[0].bios[CLASS_READ].count = 0;
	f->sum.devices[0].splits = 16000;
	page = page_of(&f->report, false);
	assert_says(page, "latency (one\n           bio at a time, ");
	assert_says(page, "each split into 9.00 requests");
	free(page);
	f->sum.devices[0].splits = 0;
	page = page_of(&f->report, false);
	assert_says(page, "depth 1.00 while it moved data)");
	free(page);
	f->sum.devices[0].levels[4].time_ns = 0;
	page = page_of(&f->report, false);
	assert_says(page, "nothing but flushes");
	free(page);
}

static void helpers_of_others(void **state)
{
	struct fixture *f = *state;
	json_t *tree;

	record_command(f);
	f->verdict.own_only = true;
	f->verdict.helper_share = 0.25;
	tree = report_tree(&f->report);
	assert_true(tree_num(tree, "verdict.helper_share") == 0.25);
	assert_non_null(strstr(tree_str(tree, "verdict.sentence"),
			       "for 25.0 % of the time only I/O of kernel threads was open"));
	json_decref(tree);
}

static void given_up(void **state)
{
	struct fixture *f = *state;
	json_t *tree = report_tree(&f->report);
	char *page;

	assert_int_equal(tree_u64(json_array_get(json_object_get(tree, "devices"), 0),
				  "orphans.aged_out"),
			 0);
	json_decref(tree);
	f->sum.devices[0].aged_out = 1;
	page = page_of(&f->report, false);
	assert_says(page, "given up 1 bio that can only have lost the end");
	free(page);
}

static void flush_parts_have_a_legend(void **state)
{
	struct fixture *f = *state;
	char *page = page_of(&f->report, false);

	assert_null(strstr(page, "preflush"));
	free(page);
	hist_add(&f->sum.devices[0].latency[PHASE_PREFLUSH], 40 * MS);
	page = page_of(&f->report, false);
	assert_says(page, "  preflush             1 40.0 ms");
	assert_says(page, "preflush, postflush: flush commands of writes");
	free(page);
}

/* As if it had been pasted. */
static void make_text(struct fixture *f)
{
	f->facts.inputs[0].is_text = true;
	f->facts.inputs[0].format = "blkparse";
	f->facts.inputs[0].lines_used = 12;
	f->facts.inputs[0].lines_ignored = 3;
	f->facts.inputs[0].missing_numbers = 9;
	f->facts.dropped_told = false;
}

static void text_is_an_excerpt(void **state)
{
	struct fixture *f = *state;
	const json_t *dev;
	json_t *tree;
	char *page;

	make_text(f);
	tree = report_tree(&f->report);
	check_whys(tree);
	assert_false(report_has_losses(&f->report));
	dev = json_array_get(tree_at(tree, "inputs"), 0);
	assert_int_equal(tree_u64(dev, "lines_used"), 12);
	assert_int_equal(tree_u64(dev, "missing_numbers"), 9);
	assert_int_equal(tree_u64(dev, "resolution_ns"), 1);
	assert_int_equal(tree_u64(tree, "losses.sequence_gaps"), 0);
	assert_string_equal(tree_str(tree, "losses.lost_events_why"), "a text does not carry it");
	assert_true(json_array_size(tree_at(tree, "losses.unsafe")) > 0);
	assert_non_null(find_finding(tree_at(tree, "findings"), "numbers-missing"));
	json_decref(tree);
	page = page_of(&f->report, false);
	assert_says(
		page,
		"12 of 15 lines used (3 ignored: --show-ignored),\n           9 numbers missing");
	free(page);
}

/* Nothing ended: unknown, not 0. */
static void nothing_ended(void **state)
{
	struct fixture *f = *state;
	struct device_sum *dev = &f->sum.devices[0];
	const json_t *tree_dev;
	json_t *tree;
	char *page;

	make_text(f);
	memset(dev->completed_bytes, 0, sizeof(dev->completed_bytes));
	for (int p = 0; p < PHASE_NR; p++)
		hist_release(&dev->latency[p]);
	for (int c = 0; c < CLASS_NR; c++)
		hist_release(&dev->class_d2c[c]);
	tree = report_tree(&f->report);
	check_whys(tree);
	tree_dev = json_array_get(tree_at(tree, "devices"), 0);
	assert_string_equal(tree_str(tree_dev, "latency_ns.d2c_why"),
			    "n/a, no C events in this excerpt");
	assert_null(tree_at(tree_dev, "busy_share"));
	assert_null(tree_at(tree_dev, "depth"));
	assert_string_equal(tree_str(tree, "verdict.bound"), "unknown");
	assert_null(tree_at(tree, "verdict.shares"));
	json_decref(tree);
	page = page_of(&f->report, false);
	assert_says(page, "n/a, no C events in this excerpt");
	assert_says(page, "Cannot be told from this text, because this excerpt has no C events");
	free(page);
}

static void nothing_queued_nor_issued(void **state)
{
	struct fixture *f = *state;
	struct device_sum *dev = &f->sum.devices[0];
	const json_t *tree_dev;
	json_t *tree;

	make_text(f);
	memset(dev->requests, 0, sizeof(dev->requests));
	memset(dev->bios, 0, sizeof(dev->bios));
	dev->have_requests = false;
	tree = report_tree(&f->report);
	check_whys(tree);
	tree_dev = json_array_get(tree_at(tree, "devices"), 0);
	assert_null(tree_at(tree_dev, "requests"));
	assert_null(tree_at(tree_dev, "bios.write"));
	assert_string_equal(tree_str(tree_dev, "requests_why"),
			    "no request events (G, I, D) in this excerpt");
	json_decref(tree);
}

static void lengths_untold(void **state)
{
	struct fixture *f = *state;
	const json_t *dev;
	json_t *tree;

	f->sum.devices[0].bytes_unknown = 3;
	f->sum.devices[0].device = DEVICE(DEVICE_NAMED_MAJOR, 0);
	facts_device(&f->facts, DEVICE(DEVICE_NAMED_MAJOR, 0), "sdx");
	f->sum.processes[0]->bytes_unknown = 3;
	tree = report_tree(&f->report);
	check_whys(tree);
	dev = json_array_get(tree_at(tree, "devices"), 0);
	assert_null(tree_at(dev, "bios.write.bytes"));
	assert_int_equal(tree_u64(dev, "bios.write.count"), 2000);
	assert_null(tree_at(dev, "device"));
	assert_string_equal(tree_str(dev, "name"), "sdx");
	assert_null(tree_at(json_array_get(tree_at(tree, "processes"), 0), "write_bytes"));
	json_decref(tree);
	free(page_of(&f->report, false));
}

#define BLOCK                                                                             \
	"{'name': 'vda', 'kind': 'total', 'reads_queued': {'count': 10, 'bytes': 40960}," \
	" 'writes_queued': {'count': 2005, 'bytes': 8192000},"                            \
	" 'read_dispatches': {'count': 10, 'bytes': 40960},"                              \
	" 'write_dispatches': {'count': 1007, 'bytes': 8192000},"                         \
	" 'writes_completed': {'count': 3000, 'bytes': 16384000},"                        \
	" 'events': %d, 'derived': {}}"

static void add_block(struct fixture *f, int events)
{
	char text[1000];

	snprintf(text, sizeof(text), BLOCK, events);
	facts_append(&f->facts.summary_blocks, json_of(text));
}

static void events_beside_their_summary(void **state)
{
	struct fixture *f = *state;
	const json_t *finding;
	json_t *tree;
	char *page;

	make_text(f);
	add_block(f, 4321);
	f->sum.devices[0].double_completions = 5;
	tree = report_tree(&f->report);
	finding = find_finding(tree_at(tree, "findings"), "summary-cross-check");
	assert_true(json_is_true(tree_at(finding, "evidence.agrees")));
	finding = find_finding(tree_at(tree, "findings"), "double-completion");
	assert_string_equal(tree_str(finding, "severity"), "warning");
	assert_non_null(strstr(tree_str(finding, "sentence"),
			       "completed 15.6 MiB > dispatched 7.81 MiB; counting requests: "
			       "1,007/7.81 MiB"));
	json_decref(tree);
	page = page_of(&f->report, false);
	assert_says(page, "SUMMARY vda\n");
	assert_says(page, "  dispatched         10   40.0 KiB   4.00 KiB      1,007");
	assert_says(page, "  merges              ?          ?          -");
	free(page);
}

static void summary_of_more(void **state)
{
	struct fixture *f = *state;
	const json_t *finding;
	json_t *tree;

	make_text(f);
	add_block(f, 100000);
	f->report.flags_seen = EV_ZONE_APPEND;
	tree = report_tree(&f->report);
	finding = find_finding(tree_at(tree, "findings"), "summary-cross-check");
	assert_null(tree_at(finding, "evidence.agrees"));
	assert_non_null(strstr(tree_str(finding, "sentence"), "4,321 of 100,000 events"));
	assert_null(find_finding(tree_at(tree, "findings"), "zone-append-counted-as-read"));
	json_decref(tree);
	f->sum.devices[0].bios[CLASS_READ].count = 0;
	f->sum.devices[0].requests[CLASS_READ].count = 0;
	tree = report_tree(&f->report);
	assert_non_null(find_finding(tree_at(tree, "findings"), "zone-append-counted-as-read"));
	json_decref(tree);
}

/* A paste without events is a page without an empty device and without a verdict. */
static void facts_alone(void **state)
{
	struct fixture *f = *state;
	struct summary none = { .first_ns = UINT64_MAX };
	json_t *tree;
	char *page;

	make_text(f);
	f->facts.inputs[0].events = 0;
	f->report.sum = &none;
	f->report.verdict = NULL;
	f->report.wait = NULL;
	facts_append(&f->facts.metrics,
		     json_of("{'name': 'throughput', 'value': 1048576, 'unit': 'bytes_per_s',"
			     " 'better': 'higher', 'n': 13, 'sd': 12.5, 'source': 'dd',"
			     " 'context': 'Before'}"));
	tree = report_tree(&f->report);
	check_whys(tree);
	assert_null(tree_at(tree, "span_ns"));
	json_decref(tree);
	page = page_of(&f->report, false);
	assert_null(strstr(page, "VERDICT"));
	assert_null(strstr(page, "DEVICE"));
	assert_null(strstr(page, "losses:"));
	assert_says(page,
		    "  below    \"Before\"\n  throughput                       1.00 MiB/s higher ");
	free(page);
	facts_append(&f->facts.findings,
		     json_of("{'id': 'bound-from-table', 'severity': 'notice', 'title': 'x',"
			     " 'sentence': 'It waits.', 'evidence': {'bound': 'queue'},"
			     " 'advice': []}"));
	tree = report_tree(&f->report);
	check_whys(tree);
	assert_string_equal(tree_str(tree, "verdict.bound"), "queue");
	assert_null(tree_at(tree, "verdict.shares"));
	json_decref(tree);
	page = page_of(&f->report, false);
	assert_says(page, "VERDICT    It waits.");
	free(page);
}

static void series_of_cumulative_completions(void **state)
{
	struct fixture *f = *state;
	struct device_sum *dev = &f->sum.devices[0];
	const json_t *finding;
	json_t *tree;

	dev->cumulative = calloc(1, sizeof(*dev->cumulative));
	dev->nr_cumulative = 1;
	dev->cumulative_completions = 3;
	dev->cumulative[0] = (struct cumulative){ .sector = 4096,
						  .first_ns = 1000 * MS,
						  .last_ns = 1020 * MS,
						  .first_bytes = 5 * 65536,
						  .last_bytes = 7 * 65536,
						  .whole_ns = 1020 * MS,
						  .whole_bytes = 7 * 65536,
						  .lines = 3,
						  .smallest_bytes = 65536,
						  .common_bytes = 65536,
						  .votes = 2,
						  .class = CLASS_DISCARD };
	tree = report_tree(&f->report);
	finding = find_finding(tree_at(tree, "findings"), "cumulative-completion");
	assert_int_equal(tree_u64(finding, "evidence.pieces"), 7);
	assert_int_equal(tree_u64(finding, "evidence.mean_interval_ns"), 10 * MS);
	json_decref(tree);
}

/* Of a worker above whose device another one was not recorded. */
static void proxies(void **state)
{
	struct fixture *f = *state;
	const json_t *finding;
	json_t *tree;

	names_add(&f->facts.names, 120, 6, "dmcrypt_write/2", 15);
	f->sum.devices[0].parents[0] = DEVICE(252, 3);
	tree = report_tree(&f->report);
	finding = find_finding(tree_at(tree, "findings"), "proxy-submitter");
	assert_non_null(finding);
	assert_non_null(strstr(json_string_value(json_array_get(tree_at(finding, "advice"), 0)),
			       "dm-3 (252,3)"));
	json_decref(tree);
	f->sum.devices[0].parents[0] = DEVICE(253, 3); /* its own partition */
	tree = report_tree(&f->report);
	assert_null(find_finding(tree_at(tree, "findings"), "proxy-submitter"));
	json_decref(tree);
}

/* Written key by key, it is what jansson would write. */
static void json_text(void **state)
{
	struct fixture *f = *state;
	json_t *tree = report_tree(&f->report);
	char *expect = json_dumps(tree, JSON_INDENT(2) | JSON_REAL_PRECISION(9)), *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	report_json(&f->report, tree, out);
	fclose(out);
	assert_int_equal(len, strlen(expect) + 1);
	assert_memory_equal(text, expect, len - 1);
	free(text);
	free(expect);
	json_decref(tree);
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers),
		cmocka_unit_test(number_widths),
		cmocka_unit_test(roles),
		cmocka_unit_test(strings_are_safe),
		CASE(tree_shape),
		CASE(unknown_has_a_reason),
		CASE(page_says_it),
		CASE(page_is_80_wide),
		CASE(losses_come_first),
		CASE(seek_quantiles),
		CASE(failures_come_first),
		CASE(reads_during_writes),
		CASE(depth_over_time),
		cmocka_unit_test(drawn_lines),
		CASE(two_close_shares),
		CASE(broken_conservation_is_a_hint),
		CASE(command_and_workers),
		CASE(workers_by_size),
		CASE(command_is_quoted),
		CASE(recorder_ended_the_command),
		CASE(recording_without_command),
		CASE(only_a_partition),
		CASE(whose_io),
		CASE(left_in_the_page_cache),
		CASE(one_bio_at_a_time),
		CASE(helpers_of_others),
		CASE(given_up),
		CASE(flush_parts_have_a_legend),
		CASE(text_is_an_excerpt),
		CASE(nothing_ended),
		CASE(nothing_queued_nor_issued),
		CASE(lengths_untold),
		CASE(events_beside_their_summary),
		CASE(summary_of_more),
		CASE(facts_alone),
		CASE(series_of_cumulative_completions),
		CASE(proxies),
		CASE(json_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
