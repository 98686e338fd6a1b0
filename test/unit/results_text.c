/* SPDX-License-Identifier: MIT
 *
 * The kinds of text that hold results and snapshots. The pasted texts of test/data/pasted are checked by
 * test/cli/pasted; here are the other forms, and what must not be taken.
 */
#include "cm.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

#include "read/formats.h"
#include "read/text/text.h"

extern const struct format format_text;

struct run {
	struct facts facts;
	struct event events[16];
	size_t nr_events;
};

static void run_text(struct run *run, const char *text)
{
	struct sources sources = { 0 };
	struct error err = { 0 };
	struct event batch[7];
	struct input in;
	int nr;

	*run = (struct run){ 0 };
	facts_init(&run->facts);
	input_memory(&in, "pasted", text, strlen(text));
	assert_int_equal(format_text.open(&in, &run->facts, &sources, &err), 0);
	for (size_t i = 0; i < sources.nr; i++)
		while ((nr = source_pull(sources.list[i], batch, 7, &err)) > 0)
			for (int k = 0; k < nr && run->nr_events < 16; k++)
				run->events[run->nr_events++] = batch[k];
	sources_release(&sources);
	input_release(&in);
}

static uint64_t ignored(const struct run *run)
{
	return run->facts.inputs[0].lines_ignored;
}

/* The i-th metric of that name, or NULL. */
static json_t *metric(const struct run *run, const char *name, int i)
{
	json_t *obj;
	size_t k;

	json_array_foreach(run->facts.metrics, k, obj)
	{
		if (!strcmp(json_string_value(json_object_get(obj, "name")), name) && !i--)
			return obj;
	}
	return NULL;
}

static double number(const json_t *obj, const char *key)
{
	const json_t *value = json_object_get(obj, key);

	return json_is_number(value) ? json_number_value(value) : NAN;
}

static const char *string(const json_t *obj, const char *key)
{
	const char *s = json_string_value(json_object_get(obj, key));

	return s ? s : "";
}

static json_t *finding(const struct run *run, const char *id)
{
	json_t *obj;
	size_t k;

	json_array_foreach(run->facts.findings, k, obj)
	{
		if (!strcmp(string(obj, "id"), id))
			return obj;
	}
	return NULL;
}

#define NEAR(a, b)                assert_true(fabs((a) - (b)) <= 1e-9 * fabs(b))
#define VALUE(run, name, i, want) NEAR(number(metric(run, name, i), "value"), want)

/* ---- dd ---- */

static void makes_of_dd(void **state)
{
	static const char *const lines[] = {
		"2000 bytes (2.0 kB) copied, 0.5 s, 4.0 kB/s\n",
		"2000 bytes (2.0 kB, 2.0 KiB) copied, 0.5 seconds, 4.0 kB/s\n",
		"2000 bytes (2.0KB) copied, 0.500000 seconds, 3.9KB/s\n",
		"2000 bytes transferred in 0.500000 secs (4000 bytes/sec)\n",
		"2000 Bytes (2,0 kB) kopiert, 0,5 s, 4,0 kB/s\n",
		"2000 bytes copied, 5e-1 s, 4.0 kB/s\n",
		"2000 bytes (2.0 kB) copied,\n0.5 s, 4.0 kB/s\n",
		"1000 bytes copied, 0.1 s, 4.0 kB/s\r2000 bytes copied, 0.5 s, 4.0 kB/s\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		struct run run;

		run_text(&run, lines[i]);
		assert_int_equal(json_array_size(run.facts.metrics), 2);
		VALUE(&run, "throughput", 0, 4000.0);
		VALUE(&run, "elapsed", 0, 0.5);
		assert_int_equal(ignored(&run), 0);
		assert_int_equal(run.facts.nr_notes, 0);
		assert_string_equal(run.facts.inputs[0].format, "dd");
		facts_release(&run.facts);
	}
}

static void command_and_flush(void **state)
{
	struct run run;

	(void)state;
	run_text(&run, "[me@host ~]$ dd if=/dev/zero of=x bs=2k count=8192 conv=notrunc,fdatasync\n"
		       "8192+0 records in\n8192+0 records out\n"
		       "16777216 bytes (17 MB, 16 MiB) copied, 2 s, 8.4 MB/s\n");
	assert_true(!finding(&run, "page-cache-dd") && !finding(&run, "too-short"));
	assert_true(finding(&run, "small-block-size") && !finding(&run, "records-mismatch"));
	assert_int_equal(number(metric(&run, "throughput", 0), "block_bytes"), 2048);
	assert_int_equal(number(metric(&run, "throughput", 0), "records"), 8192);
	assert_true(!strncmp(string(metric(&run, "throughput", 0), "command"), "dd if=", 6));
	assert_int_equal(ignored(&run), 0);
	facts_release(&run.facts);

	run_text(&run, "# dd if=/dev/zero of=x bs=1M count=32\n32+0 records in\n31+0 records out\n"
		       "33554432 bytes (34 MB) copied, 2 s, 16.8 MB/s\n"
		       "1024 bytes copied, 1 s, 1.0 kB/s\n");
	assert_string_equal(string(finding(&run, "page-cache-dd"), "severity"), "warning");
	assert_non_null(finding(&run, "records-mismatch"));
	/* the second result is of another command, which is not there */
	assert_string_equal(string(metric(&run, "throughput", 1), "command"), "");
	facts_release(&run.facts);

	run_text(&run, "# dd if=/dev/zero of=/dev/sdb bs=1M count=32\n"
		       "33554432 bytes (34 MB) copied, 2 s, 16.8 MB/s\n");
	assert_null(finding(&run, "page-cache-dd"));
	facts_release(&run.facts);
}

static void progress_is_no_result(void **state)
{
	struct run run;

	(void)state;
	run_text(&run, "100000000 bytes (100 MB) copied, 1 s, 100 MB/s\n"
		       "200000000 bytes (200 MB) copied, 2.00012 s, 100 MB/s\n"
		       "25+0 records in\n25+0 records out\n"
		       "250000000 bytes (250 MB) copied, 2.5 s, 100 MB/s\n"
		       "250000000 bytes (250 MB) copied, 3 s, 83.3 MB/s\n");
	assert_int_equal(json_array_size(run.facts.metrics), 4);
	VALUE(&run, "throughput", 0, 1e8);
	VALUE(&run, "elapsed", 1, 3.0);
	facts_release(&run.facts);
}

static void rate_that_disagrees(void **state)
{
	struct run run;

	(void)state;
	run_text(&run, "100000000 bytes (100 MB) copied, 10 s, 100 MB/s\n");
	VALUE(&run, "throughput", 0, 1e7);
	assert_int_equal(run.facts.nr_notes, 1);
	facts_release(&run.facts);
}

static void mounts_without_results(void **state)
{
	struct run run;

	(void)state;
	run_text(&run, "# mount -o a=1 /dev/x /m\n# dd if=/dev/zero of=/m/f bs=1M count=10\n"
		       "33554432 bytes (34 MB) copied, 2 s, 16.8 MB/s\n# umount /m\n"
		       "# mount /dev/x /m -o b=2\n# umount /m\n");
	assert_string_equal(string(metric(&run, "throughput", 0), "context"), "a=1");
	assert_string_equal(string(metric(&run, "throughput", 1), "context"), "b=2");
	assert_true(json_is_null(json_object_get(metric(&run, "throughput", 1), "value")));
	assert_non_null(json_object_get(metric(&run, "throughput", 1), "value_why"));
	facts_release(&run.facts);

	run_text(&run, "# mount -o a=1 /dev/x /m\n# mount -o a=2 /dev/x /m\n");
	assert_null(run.facts.metrics); /* no sweep, no missing cell */
	facts_release(&run.facts);
}

/* ---- times ---- */

static void forms_of_times(void **state)
{
	static const char *const texts[] = {
		"real\t5m28.500s\nuser\t0m1.000s\nsys\t5m25.900s\n",
		"real 328.50\nuser 1.00\nsys 325.90\n",
		"real 328.50\nsome prose between these lines, as happens in mail\nuser 1.00\nsys "
		"325.90\n",
		"1.00user 325.90system 5:28.50elapsed 99%CPU (0avgtext+0avgdata 0maxresident)k\n"
		"0inputs+8outputs (0major+145minor)pagefaults 0swaps\n",
		"1.00user 325.90system 5:28.50elapsed 99%CPU (0avgtext+0avgdata\n0maxresident)k\n",
		"cp a b  1.00s user 325.90s system 99% cpu 5:28.50 total\n",
		"1.000u 325.900s 5:28.50 99.5%\t0+0k 0+0io 0pf+0w\n",
		"real = 328.5, user = 1.00, sys = 325.90, 99% cpu\n",
		"\tCommand being timed: \"cp a b\"\n\tUser time (seconds): 1.00\n"
		"\tSystem time (seconds): 325.90\n"
		"\tElapsed (wall clock) time (h:mm:ss or m:ss): 0:05:28.50\n\tSwaps: 0\n\tExit "
		"status: 0\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		struct run run;

		run_text(&run, texts[i]);
		VALUE(&run, "elapsed", 0, 328.5);
		VALUE(&run, "user", 0, 1.0);
		VALUE(&run, "system", 0, 325.9);
		assert_null(metric(&run, "elapsed", 1));
		assert_non_null(finding(&run, "cpu-bound-command"));
		assert_int_equal(ignored(&run), i == 2);
		facts_release(&run.facts);
	}
}

/* ---- fs_mark ---- */

static void verbose_table(void **state)
{
	struct run run;

	(void)state;
	run_text(&run, "#  fs_mark  -d  /m  -v\n#\tVersion 3.3\n"
		       "FSUse%        Count         Size    Files/sec     App Overhead        "
		       "CREAT (Min/Avg/Max)        FSYNC (Min/Avg/Max)\n"
		       "     5         1000        51200        300.0   2000000   10  20 300  1000 "
		       "3000 90000\n"
		       "     5         2000        51200        310.0   1000000   5   30 200\n"
		       "  1000 2000 80000\n"
		       "     5         1000        51200        200.0   1000000   10  20 300  1000 "
		       "3000 90000\n"
		       "Average Files/sec:     51724.6 +/- 2.4e+04\n");
	VALUE(&run, "files_per_sec", 0, 305.0);
	assert_int_equal(number(metric(&run, "files_per_sec", 0), "n"), 2);
	VALUE(&run, "app_overhead", 0, 1.5);
	VALUE(&run, "fsync_call", 0, 0.0025);
	NEAR(number(metric(&run, "creat_call", 0), "min"), 5e-6);
	NEAR(number(metric(&run, "fsync_call", 0), "max"), 0.09);
	VALUE(&run, "files_per_sec", 1, 200.0); /* the count began again: another run */
	VALUE(&run, "files_per_sec_average", 0, 51724.6);
	assert_int_equal(ignored(&run), 0);
	facts_release(&run.facts);
}

static void figures_of_fs_mark(void **state)
{
	struct run run;

	(void)state;
	run_text(&run, "Files/sec: 29938.0, 28023.7,\n23704.6, 16976.8, 21858.3\n"
		       "fs_mark: 307.288 files/sec\nAverage Files/sec: 10.5 +/- 2\n"
		       "Files/sec went down a lot, as you see\nfs_mark: it was slow\n");
	VALUE(&run, "files_per_sec", 0, 24100.28);
	assert_int_equal(number(metric(&run, "files_per_sec", 0), "n"), 5);
	assert_int_equal(
		json_array_size(json_object_get(metric(&run, "files_per_sec", 0), "values")), 5);
	VALUE(&run, "files_per_sec", 1, 307.288);
	VALUE(&run, "files_per_sec", 2, 10.5);
	NEAR(number(metric(&run, "files_per_sec", 2), "sd"), 2.0);
	assert_int_equal(ignored(&run), 2);
	facts_release(&run.facts);
}

/* ---- fio ---- */

static void fio_of_3(void **state)
{
	struct run run;

	(void)state;
	run_text(&run,
		 "w: (g=0): rw=randwrite, bs=(R) 4096B-4096B, ioengine=libaio, "
		 "iodepth=16\nfio-3.28\n"
		 "w: (groupid=0, jobs=1): err= 0: pid=1234: Tue Jan  5 10:00:00 2021\n"
		 "  write: IOPS=12.3k, BW=48.0MiB/s (50.3MB/s)(2885MiB/60001msec); 0 zone resets\n"
		 "    clat (usec): min=29, max=12345, avg=80.50, stdev=11.50\n"
		 "    clat percentiles (usec):\n     |  1.00th=[   26], 99.00th=[  200], 99.90th=[ "
		 " 750],\n"
		 "     | 99.99th=[ 1000]\n  lat (usec)   : 50=0.01%, 100=99.01%\n"
		 "  fsync/fdatasync/sync_file_range:\n"
		 "    sync (usec): min=200, max=4000, avg=812, stdev=100.0\n"
		 "     issued rwts: total=0,738560,0,12 short=0,3,0,0 dropped=0,0,0,0\n"
		 "Run status group 0 (all jobs):\n"
		 "  WRITE: bw=48.0MiB/s (50.3MB/s), 48.0MiB/s-48.0MiB/s (50.3MB/s-50.3MB/s)\n"
		 "Disk stats (read/write):\n  sda: ios=0/738, merge=0/7, ticks=0/1500, "
		 "in_queue=1600, "
		 "util=12.50%\n  sdb: ios=1/2, sectors=8/16, merge=0/0, ticks=3/4, in_queue=7, "
		 "util=0.01%\n");
	VALUE(&run, "write_issued", 0, 738560.0);
	VALUE(&run, "sync_issued", 0, 12.0);
	VALUE(&run, "write_short", 0, 3.0);
	assert_null(metric(&run, "read_issued", 0));
	assert_null(metric(&run, "write_dropped", 0));
	assert_string_equal(string(metric(&run, "write_issued", 0), "better"), "neutral");
	assert_string_equal(string(metric(&run, "write_issued", 0), "context"), "w");
	VALUE(&run, "disk_write_ios", 0, 738.0);
	VALUE(&run, "disk_write_merges", 0, 7.0);
	VALUE(&run, "disk_write_time", 0, 1.5);
	VALUE(&run, "disk_time_in_queue", 0, 1.6);
	VALUE(&run, "disk_busy_share", 0, 0.125);
	VALUE(&run, "disk_write_bytes", 0, 8192.0);
	assert_string_equal(string(metric(&run, "disk_read_ios", 0), "context"), "sda");
	assert_string_equal(string(metric(&run, "disk_read_ios", 1), "context"), "sdb");
	VALUE(&run, "write_iops", 0, 12300.0);
	VALUE(&run, "write_bandwidth", 0, 48.0 * 1024 * 1024);
	VALUE(&run, "write_clat", 0, 80.5e-6);
	NEAR(number(metric(&run, "write_clat", 0), "sd"), 11.5e-6);
	VALUE(&run, "write_clat_p99", 0, 200e-6);
	VALUE(&run, "write_clat_p999", 0, 750e-6);
	VALUE(&run, "write_clat_p9999", 0, 1e-3);
	VALUE(&run, "fsync_lat", 0, 812e-6);
	assert_string_equal(string(metric(&run, "write_iops", 0), "context"), "w");
	assert_string_equal(string(metric(&run, "write_clat", 0), "better"), "lower");
	assert_int_equal(ignored(&run), 0);
	facts_release(&run.facts);
}

static void fio_of_old(void **state)
{
	struct run run;

	(void)state;
	run_text(&run,
		 "j: (groupid=0, jobs=1): err= 5: pid=34\n"
		 "  write: io=352192KB, bw=5872.0KB/s, iops=1468, runt= 60000msec\n"
		 "    clat (msec): min=2, max=123, avg= 5.40, stdev= 1.20\n"
		 "     issued    : total=r=0/w=88048/d=5, short=r=0/w=0/d=0, drop=r=0/w=2/d=0\n");
	VALUE(&run, "write_issued", 0, 88048.0);
	VALUE(&run, "trim_issued", 0, 5.0);
	VALUE(&run, "write_dropped", 0, 2.0);
	VALUE(&run, "write_bandwidth", 0, 5872.0 * 1024);
	assert_non_null(json_object_get(metric(&run, "write_bandwidth", 0), "assumed"));
	VALUE(&run, "write_iops", 0, 1468.0);
	VALUE(&run, "write_clat", 0, 5.4e-3);
	VALUE(&run, "error", 0, 5.0);
	facts_release(&run.facts);
}

static void results_in_json(void **state)
{
	struct run run;

	(void)state;
	run_text(
		&run,
		"fio: some note\n{\n  \"fio version\" : \"fio-3.28\",\n  \"jobs\" : [\n"
		"    { \"jobname\" : \"a {\\\" b\", \"error\" : 0,\n"
		"      \"read\" : { \"io_bytes\" : 0, \"iops\" : 0.0 },\n"
		"prose that got between the lines\n"
		"      \"write\" : { \"io_bytes\" : 409600, \"bw_bytes\" : 204800, \"iops\" : "
		"50.0,\n"
		"        \"runtime\" : 2000, \"clat_ns\" : { \"min\" : 10, \"max\" : 2000,\n"
		"          \"mean\" : 150.5, \"stddev\" : 0.5, \"N\" : 100,\n"
		"          \"percentile\" : { \"99.900000\" : 1900 } },\n"
		"        \"total_ios\" : 100, \"short_ios\" : 0 } }\n  ],\n"
		"  \"disk_util\" : [ { \"name\" : \"vda\", \"read_ios\" : 0, \"write_ios\" : 104,\n"
		"      \"write_ticks\" : 2000, \"in_queue\" : 500, \"util\" : 50.0 } ]\n}\nafter "
		"it\n");
	VALUE(&run, "write_issued", 0, 100.0);
	VALUE(&run, "disk_write_ios", 0, 104.0);
	VALUE(&run, "disk_write_time", 0, 2.0);
	VALUE(&run, "disk_busy_share", 0, 0.5);
	assert_string_equal(string(metric(&run, "disk_write_ios", 0), "context"), "vda");
	VALUE(&run, "write_iops", 0, 50.0);
	VALUE(&run, "write_bandwidth", 0, 204800.0);
	VALUE(&run, "write_clat", 0, 150.5e-9);
	VALUE(&run, "write_clat_p999", 0, 1900e-9);
	assert_null(metric(&run, "read_iops", 0));
	assert_string_equal(string(metric(&run, "write_iops", 0), "context"), "a {\" b");
	assert_int_equal(ignored(&run), 3);
	facts_release(&run.facts);

	run_text(&run, "{\"results\": [{\"command\": \"sync\", \"mean\": 2.0, \"stddev\": 1.0,\n"
		       "\"min\": 1.0, \"max\": 3.0, \"times\": [1.0, 2.0, 3.0]}]}\n");
	VALUE(&run, "elapsed", 0, 2.0);
	assert_int_equal(number(metric(&run, "elapsed", 0), "n"), 3);
	facts_release(&run.facts);

	run_text(&run, "{ \"a\": [1,\n2\n"); /* does not end */
	assert_int_equal(run.facts.nr_notes, 1);
	facts_release(&run.facts);
}

/* ---- tables ---- */

static void hyperfine_for_people(void **state)
{
	struct run run;

	(void)state;
	run_text(
		&run,
		"Benchmark 1: sleep 0.3\n"
		"  Time (mean \xc2\xb1 \xcf\x83):     310.4 ms \xc2\xb1   4.1 ms    [User: 1.2 ms, "
		"System: 0.8 ms]\n"
		"This is prose.\n"
		"  Range (min \xe2\x80\xa6 max):   305.0 ms \xe2\x80\xa6 318.2 ms    10 runs\n"
		"Benchmark #2: sync\n  Time (abs \xe2\x89\xa1):        3.000 s\n");
	VALUE(&run, "elapsed", 0, 0.3104);
	assert_int_equal(number(metric(&run, "elapsed", 0), "n"), 10);
	NEAR(number(metric(&run, "elapsed", 0), "sd"), 0.0041);
	assert_string_equal(string(metric(&run, "elapsed", 0), "context"), "sleep 0.3");
	VALUE(&run, "elapsed", 1, 3.0);
	VALUE(&run, "system", 0, 0.8e-3);
	facts_release(&run.facts);
}

static void lkp_with_deviations(void **state)
{
	struct run run;

	(void)state;
	run_text(&run, "aaaaaaaaaaaaaaaa bbbbbbbbbbbbbbbbbbbbbbbbbbb\n"
		       "---------------- ---------------------------\n"
		       "         %stddev     %change         %stddev\n             \\          |   "
		       "    \\\n"
		       "      1000 \xc2\xb1  2%     +50.0%       1500        a.files_per_sec\n"
		       "      2.00            +50.0%       4.00 \xc2\xb1  5%  b.latency_us\n"
		       "     12.50             +2.5       15.00        perf-profile.x\n");
	assert_int_equal(json_array_size(run.facts.metrics), 6);
	NEAR(number(metric(&run, "a.files_per_sec", 0), "sd"), 20.0);
	assert_string_equal(string(metric(&run, "a.files_per_sec", 1), "variant"),
			    "bbbbbbbbbbbbbbbbbbbbbbbbbbb");
	assert_string_equal(string(metric(&run, "b.latency_us", 1), "better"), "lower");
	assert_true(
		json_is_true(json_object_get(metric(&run, "b.latency_us", 1), "change_disagrees")));
	assert_int_equal(run.facts.nr_notes, 1);
	assert_int_equal(ignored(&run), 0);
	facts_release(&run.facts);
}

static void mmtests_tells_the_direction(void **state)
{
	struct run run;

	(void)state;
	run_text(&run, "                             5.1-rc9             5.1-rc9\n"
		       "                                vanilla             patched\n"
		       "Some prose that stands between them, for no good reason.\n"
		       "Amean     1       20.00 (   0.00%)       25.00 ( -25.00%)\n"
		       "Ops rate       100.00 (   0.00%)      110.00 *  10.00%*\n");
	assert_string_equal(string(metric(&run, "Amean 1", 0), "better"), "lower");
	assert_string_equal(string(metric(&run, "Ops rate", 1), "better"), "higher");
	assert_string_equal(string(metric(&run, "Amean 1", 1), "variant"), "5.1-rc9-patched");
	assert_int_equal(run.facts.nr_notes, 0);
	facts_release(&run.facts);
}

/* ---- snapshots ---- */

static void requests_that_do_not_move(void **state)
{
	struct run run;
	json_t *devices;

	(void)state;
	run_text(&run,
		 "8 0 sda 10 0 80 5 20 0 160 9 3 12 14\n8 16 sdb 10 0 80 5 20 0 160 9 3 12 14\n"
		 "8 32 sdc 10 0 80 5 20 0 160 9 8 12 14\n"
		 "8 0 sda 10 0 80 5 20 0 160 9 3 12 14\n8 16 sdb 10 0 80 5 21 0 168 9 3 13 14\n"
		 "8 32 sdc 900 0 80 5 20 0 160 9 8 12 14\n");
	assert_int_equal(json_array_size(run.facts.snapshots), 2);
	devices =
		json_object_get(json_object_get(finding(&run, "stuck-io"), "evidence"), "devices");
	assert_int_equal(json_array_size(devices), 1); /* sdb wrote, sdc reads */
	assert_string_equal(string(json_array_get(devices, 0), "name"), "sda");
	devices = json_object_get(json_array_get(run.facts.snapshots, 0), "devices");
	assert_int_equal(number(json_array_get(devices, 0), "write_bytes"), 160 * 512);
	assert_int_equal(number(json_array_get(devices, 0), "io_ns"), 12000000);
	facts_release(&run.facts);

	run_text(&run,
		 "8 0 sda 10 0 80 5 20 0 160 9 3 12 14\n8 1 sda1 10 0 80 5 20 0 160 9 3 12 14\n");
	assert_int_equal(json_array_size(run.facts.snapshots), 1);
	assert_null(finding(&run, "stuck-io"));
	facts_release(&run.facts);
}

static void memory_and_its_limits(void **state)
{
	struct run run;
	json_t *values;

	(void)state;
	run_text(&run,
		 "HighTotal:  1000000 kB\nLowFree:  300000 kB\nvm.highmem_is_dirtyable = 0\n"
		 "/proc/sys/vm/dirty_ratio:20\nnr_dirty 17\nvm.lowmem_reserve_ratio = 256 256 32\n"
		 "Note: 12 kB is not much\n");
	assert_null(finding(&run, "tiny-dirty-limit"));
	values = json_object_get(json_array_get(run.facts.snapshots, 0), "values");
	assert_int_equal(number(values, "LowFree_bytes"), 307200000);
	assert_int_equal(number(values, "vm.dirty_ratio"), 20);
	assert_int_equal(number(values, "nr_dirty"), 17);
	assert_int_equal(ignored(&run), 1);
	facts_release(&run.facts);
}

static void block_dump_is_a_weak_source(void **state)
{
	struct run run;

	(void)state;
	run_text(&run, "[   12.000100] a (b)(77): WRITE block 2048 on sdz1 (8 sectors)\n"
		       "Jan  1 host kernel: [   12.000300] cat(78): READ block 8 on sdz1\n"
		       "[   12.000200] cat(78): dirtied inode 5 (x) on sdz1\n");
	assert_int_equal(run.nr_events, 3);
	assert_int_equal(run.events[0].bytes, 4096);
	assert_int_equal(run.events[0].class, CLASS_WRITE);
	assert_int_equal(run.events[0].sector, 2048);
	assert_int_equal(run.events[0].time_ns, TEXT_BIAS + 12000100000);
	assert_string_equal(names_get(&run.facts.names, 77, TEXT_BIAS + 12000100000), "a (b)");
	assert_int_equal(run.events[1].action, ACT_MESSAGE);
	assert_true(run.events[2].flags & EV_NO_BYTES);
	assert_int_equal(run.events[2].device, run.events[0].device);
	facts_release(&run.facts);
}

static void prose_is_left_alone(void **state)
{
	static const char prose[] =
		"I copied 100 bytes (not more) and it took 5 s.\nThe real problem is elsewhere.\n"
		"real 5 men\nuser reports say so\n50% of the time dd was slow\n# of requests: "
		"many\n"
		"fio showed 12 MB/s here\nwrite: see above\nread: the manual\nStarting over "
		"again.\n"
		"12 monkeys and 3 more\nTime (see below): none\nRange (wide): 5\nBenchmark us.\n"
		"Dirty: yes\nvm.dirty_ratio was never set\nJobs: 5 of them\n8 of 10 cats 1 2 3\n"
		"  (a) 5 % of 100 (50 %)\nWRITE: all of it\n{ not JSON }\n{\nneither\n"
		"+ a list item\n$ 5 for a disk\n-- \nfio-fans unite\n"
		"fs_mark: 1 files/sec\n"; /* the one line that is a result */
	struct run run;

	(void)state;
	run_text(&run, prose);
	assert_int_equal(json_array_size(run.facts.metrics), 1);
	assert_null(run.facts.snapshots);
	assert_null(run.facts.findings);
	assert_int_equal(run.facts.inputs[0].lines_used, 1);
	facts_release(&run.facts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(makes_of_dd),
		cmocka_unit_test(command_and_flush),
		cmocka_unit_test(progress_is_no_result),
		cmocka_unit_test(rate_that_disagrees),
		cmocka_unit_test(mounts_without_results),
		cmocka_unit_test(forms_of_times),
		cmocka_unit_test(verbose_table),
		cmocka_unit_test(figures_of_fs_mark),
		cmocka_unit_test(fio_of_3),
		cmocka_unit_test(fio_of_old),
		cmocka_unit_test(results_in_json),
		cmocka_unit_test(hyperfine_for_people),
		cmocka_unit_test(lkp_with_deviations),
		cmocka_unit_test(mmtests_tells_the_direction),
		cmocka_unit_test(requests_that_do_not_move),
		cmocka_unit_test(memory_and_its_limits),
		cmocka_unit_test(block_dump_is_a_weak_source),
		cmocka_unit_test(prose_is_left_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
