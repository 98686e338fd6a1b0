/* SPDX-License-Identifier: MIT */
#include "cm.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "read/formats.h"
#include "read/text/text.h"

extern const struct format format_text;

/* One text that was read: its events as lines, its facts. */
struct run {
	struct facts facts;
	char *events; /* owned */
};

static void append(char **all, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void append(char **all, const char *fmt, ...)
{
	char line[300], *longer;
	va_list args;

	va_start(args, fmt);
	vsnprintf(line, sizeof(line), fmt, args);
	va_end(args);
	longer = mem_printf("%s%s", *all, line);
	free(*all);
	*all = longer;
}

/* "ACTION TIME PID DEVICE SECTOR+BYTES CLASS", and the latency of a whole I/O */
static void print_event(char **all, const struct event *ev)
{
	append(all, "%s ", action_letter(ev->action));
	if (ev->time_ns != TIME_UNTOLD)
		append(all, "%lld ", (long long)(ev->time_ns - TEXT_BIAS));
	append(all, "%u %u,%u %lld", ev->pid, DEVICE_MAJOR(ev->device), DEVICE_MINOR(ev->device),
	       (long long)ev->sector);
	if (ev->flags & EV_NO_BYTES)
		append(all, "+? %s", class_name(ev->class));
	else
		append(all, "+%u %s", ev->bytes, class_name(ev->class));
	if (ev->action == ACT_IO)
		append(all, " %s%llu", ev->flags & EV_FROM_QUEUE ? "q2c " : "d2c ",
		       (unsigned long long)ev->aux_sector);
	append(all, "\n");
}

static void run_text(struct run *run, const char *text)
{
	struct sources sources = { 0 };
	struct error err = { 0 };
	struct event events[7];
	struct input in;

	facts_init(&run->facts);
	run->events = mem_strdup("");
	input_memory(&in, "pasted", text, strlen(text));
	format_text.open(&in, &run->facts, &sources, &err);
	for (size_t i = 0; i < sources.nr; i++) {
		struct source *s = sources.list[i];
		int nr;

		while ((nr = s->ops->pull(s, events, 7, &err)) > 0)
			for (int k = 0; k < nr; k++)
				print_event(&run->events, &events[k]);
	}
	sources_release(&sources);
	input_release(&in);
}

static void run_end(struct run *run)
{
	free(run->events);
	facts_release(&run->facts);
}

static void expect_lines(const struct run *run, unsigned int used, unsigned int ignored)
{
	assert_int_equal(run->facts.inputs[0].lines_used, used);
	assert_int_equal(run->facts.inputs[0].lines_ignored, ignored);
}

static void expect(const char *text, unsigned int used, unsigned int ignored, const char *events)
{
	struct run run;

	run_text(&run, text);
	assert_string_equal(run.events, events);
	expect_lines(&run, used, ignored);
	run_end(&run);
}

static const char *name_of(const struct run *run, uint32_t pid)
{
	return names_get(&run->facts.names, pid, TEXT_BIAS + (UINT64_C(1) << 50));
}

/* ---- rows that are I/O ---- */

static void bcc(void **state)
{
	struct run run;

	run_text(&run, "Tracing block I/O... Hit Ctrl-C to end.\n"
		       "TIME(s)     COMM           PID    DISK    T SECTOR     BYTES   LAT(ms)\n"
		       "0.000004    supervise      1950   xvda1   W 13092560   4096       0.74\n"
		       "2.004042    xfsaild/md0    456    xvdb    R 63542016   4096       0.36\n"
		       "2.004204    Web Content 2  26040  xvdb    W 18446744073709551615 0 0.34\n"
		       "2.005000                   0      xvdb    W 8          512        0.10\n"
		       "^C\n");
	assert_string_equal(run.events, "D -736000 1950 4095,0 13092560+4096 write\n"
					"C 4000 1950 4095,0 13092560+4096 write\n"
					"D 2003682000 456 4095,1 63542016+4096 read\n"
					"D 2003864000 26040 4095,1 0+0 flush\n"
					"C 2004042000 456 4095,1 63542016+4096 read\n"
					"C 2004204000 26040 4095,1 -1+0 flush\n"
					"D 2004900000 0 4095,1 8+512 write\n"
					"C 2005000000 0 4095,1 8+512 write\n");
	expect_lines(&run, 6, 0);
	assert_string_equal(name_of(&run, 26040), "Web Content 2");
	assert_null(name_of(&run, 0));
	assert_string_equal(facts_device_name(&run.facts, DEVICE(4095, 1)), "xvdb");
	assert_int_equal(run.facts.inputs[0].resolution_ns, 10000);
	assert_string_equal(run.facts.inputs[0].format, "biosnoop");
	run_end(&run);
}

/* bcc counts from where the request is got, libbpf from where it is inserted. */
static void queue_times(void **state)
{
	expect("TIME(s)     COMM           PID    DISK    T SECTOR     BYTES  QUE(ms) LAT(ms)\n"
	       "1.000000    sync           22177  nvme1n1 W 41963894   3072      0.11    0.47\n",
	       2, 0,
	       "G 999420000 22177 4095,0 41963894+3072 write\n"
	       "D 999530000 22177 4095,0 41963894+3072 write\n"
	       "C 1000000000 22177 4095,0 41963894+3072 write\n");
	expect("TIME(s)     COMM           PID     DISK    T    SECTOR     BYTES   QUE(ms) "
	       "LAT(ms)\n"
	       "1.000000    fio            7       sdb     FWS  64         4096      0.110   "
	       "0.470\n"
	       "2.000000    fio            7       sdb     WSM  64         4096     -1.000   "
	       "0.470\n",
	       3, 0,
	       "I 999420000 7 4095,0 64+4096 write\n"
	       "D 999530000 7 4095,0 64+4096 write\n"
	       "C 1000000000 7 4095,0 64+4096 write\n"
	       "D 1999530000 7 4095,0 64+4096 write\n"
	       "C 2000000000 7 4095,0 64+4096 write\n");
}

static void patterns(void **state)
{
	expect("TIME(s)     COMM           PID    DISK      T SECTOR     BYTES  P QUE(ms) LAT(ms)\n"
	       "1.000000    x              7      sdb       R 64         4096   S    0.00    "
	       "0.47\n",
	       2, 0,
	       "G 999530000 7 4095,0 64+4096 read\n"
	       "D 999530000 7 4095,0 64+4096 read\n"
	       "C 1000000000 7 4095,0 64+4096 read\n");
}

static void without_a_heading(void **state)
{
	expect("0.000004    supervise      1950   xvda1   W 13092560   4096       0.74\n"
	       "0.000178    my prog        1951   xvda1   R 13092432   4096       0.61\n",
	       2, 0,
	       "D -736000 1950 4095,0 13092560+4096 write\n"
	       "D -432000 1951 4095,0 13092432+4096 read\n"
	       "C 4000 1950 4095,0 13092560+4096 write\n"
	       "C 178000 1951 4095,0 13092432+4096 read\n");
	expect("5982800.302061 5982800.302679 supervise        1809   W    202,1    17039600     "
	       "4096       0.62\n",
	       1, 0,
	       "D 5982800302061000 1809 202,1 17039600+4096 write\n"
	       "C 5982800302679000 1809 202,1 17039600+4096 write\n");
}

static void iosnoop(void **state)
{
	struct run run;

	run_text(&run, "Tracing block I/O issued by PID 446. Ctrl-C to end.\n"
		       "COMM         PID    TYPE DEV      BLOCK        BYTES     LATms\n"
		       "jbd2/dm-8-44 446    WS   8,0      34898224     28672      0.26\n"
		       "jbd2/dm-8-44 446    FWS  8,0      18446744073709551615 0          2.90\n"
		       "kworker/0:0  26852  WS   8,0      34898280     4096       0.10\n"
		       "<idle>       0      FWS  8,0      18446744073709551615 0          0.86\n"
		       "WARNING: CPU:3 [LOST 12 EVENTS]\n"
		       "nb_truck_3   5404   R    65,192   184067232    8192    -90.10\n"
		       "Ending tracing...\n");
	assert_string_equal(run.events, "io 446 8,0 34898224+28672 write d2c 260000\n"
					"io 446 8,0 -1+0 flush d2c 2900000\n"
					"io 26852 8,0 34898280+4096 write d2c 100000\n"
					"io 0 8,0 -1+0 flush d2c 860000\n");
	expect_lines(&run, 8, 1);
	assert_string_equal(name_of(&run, 446), "jbd2/dm-8-44");
	assert_null(name_of(&run, 0)); /* the context, nobody who asked for it */
	assert_int_equal(run.facts.dropped, 12);
	run_end(&run);
	expect("STARTs         ENDs           COMM             PID    TYPE DEV      BLOCK        "
	       "BYTES     LATms\n"
	       "10.302061      10.302679      supervise        1809   RM   202,1    17039600     "
	       "4096       0.62\n",
	       2, 0,
	       "D 10302061000 1809 202,1 17039600+4096 read\n"
	       "C 10302679000 1809 202,1 17039600+4096 read\n");
	expect("ENDs           COMM             PID    TYPE DEV      BLOCK        BYTES     LATms\n"
	       "10.302679      supervise        1809   RM   202,1    17039600     4096       "
	       "0.62\n",
	       2, 0,
	       "D 10302059000 1809 202,1 17039600+4096 read\n"
	       "C 10302679000 1809 202,1 17039600+4096 read\n");
}

static void bpftrace(void **state)
{
	struct run run;

	run_text(&run, "Attaching 4 probes...\n"
		       "TIME(ms)     DISK             COMM             PID    LAT(ms)\n"
		       "611          nvme0n1          bash             4179        10\n"
		       "TIME(ms)     DISK ID        COMM             PID    LAT(ms)\n"
		       "             MAJOR MINOR\n"
		       "627          259   1        cksum            4180        15\n"
		       "Lost 34 events\n");
	assert_string_equal(run.events, "io 611000000 4179 4095,0 -1+? other q2c 10000000\n"
					"io 627000000 4180 259,1 -1+? other q2c 15000000\n");
	expect_lines(&run, 7, 0);
	assert_int_equal(run.facts.inputs[0].resolution_ns, 1000000);
	assert_int_equal(run.facts.dropped, 34);
	run_end(&run);
}

static void broken_rows(void **state)
{
	expect("TIME(s)     COMM           PID    DISK    T SECTOR     BYTES   LAT(ms)\n"
	       "0.500000    supervise      1950   xvda1   W 13092560\n4096       0.74\n"
	       "0.600000    supervise      1950   xvda1   W 13092560\n"
	       "0.700000    supervise      1950   xvda1   W what 4096 0.74\n"
	       "0.800000    supervise      1950   xvda1   W 99999999999999999999 4096 0.74\n"
	       "0.900000    supervise      1950   xvda1   W 8 99999999999 0.74\n"
	       "that is all, as I said on 1950\n",
	       3, 5,
	       "D 499260000 1950 4095,0 13092560+4096 write\n"
	       "C 500000000 1950 4095,0 13092560+4096 write\n");
}

/* ---- what is no I/O ---- */

static const json_t *at(const json_t *array, size_t i, const char *key)
{
	return json_object_get(json_array_get(array, i), key);
}

static void file_systems(void **state)
{
	struct run run;

	run_text(&run, "Tracing ext4 operations slower than 10 ms\n"
		       "TIME     COMM           PID    T BYTES   OFF_KB   LAT(ms) FILENAME\n"
		       "06:35:01 cron           16464  R 1249    0          16.00 common-auth\n"
		       "06:35:01 my prog        16465  R 4096    0          12.00 my file (1)\n"
		       "06:35:02 postdrop       16546  S 0       0          32.94 Universal\n"
		       "Tracing sync read/writes slower than 1 ms\n"
		       "TIME(s)  COMM           PID    D BYTES   LAT(ms) FILENAME\n"
		       "0.000    randread.pl    4762   W 8192      12.70 data1\n"
		       "ENDTIME_us,TASK,PID,TYPE,BYTES,OFFSET_b,LATENCY_us,FILE\n"
		       "127200947295,cksum,17225,W,65536,655360,6463,libx.a\n");
	assert_string_equal(run.events, "");
	expect_lines(&run, 10, 0);
	assert_int_equal(json_array_size(run.facts.metrics), 9);
	assert_string_equal(json_string_value(at(run.facts.metrics, 1, "name")),
			    "read_latency_mean");
	assert_string_equal(json_string_value(at(run.facts.metrics, 1, "better")), "lower");
	assert_string_equal(json_string_value(at(run.facts.metrics, 1, "source")), "ext4slower");
	assert_true(fabs(json_real_value(at(run.facts.metrics, 1, "value")) - 0.014) < 1e-12);
	assert_int_equal(json_integer_value(at(run.facts.metrics, 1, "n")), 2);
	assert_int_equal(json_integer_value(at(run.facts.metrics, 1, "only_slower_than_ns")),
			 10000000);
	assert_string_equal(json_string_value(at(run.facts.metrics, 5, "name")),
			    "fsync_latency_max");
	assert_true(fabs(json_real_value(at(run.facts.metrics, 5, "value")) - 0.03294) < 1e-12);
	assert_string_equal(json_string_value(at(run.facts.metrics, 8, "source")), "fileslower");
	assert_int_equal(json_integer_value(at(run.facts.metrics, 8, "n")), 2);
	run_end(&run);
}

static void tops(void **state)
{
	struct run run;
	const json_t *rows;

	run_text(&run, "Tracing... Output every 1 secs. Hit Ctrl-C to end\n\n"
		       "08:04:11 loadavg: 1.48 0.87 0.45 1/287 14547\n\n"
		       "PID    COMM             D MAJ MIN DISK       I/O  Kbytes  AVGms\n"
		       "14501  cksum a          R 202 1   xvda1      361   28832   3.39\n"
		       "326    jbd2/xvda1-8     W 202 1   xvda1        3     168   3.00\n"
		       "PID    COMM             D MAJ MIN DISK       I/O  Kbytes  AVGms\n"
		       "327    dd               W 202 1   xvda1        3     168   3.00\n");
	assert_string_equal(run.events, "");
	expect_lines(&run, 7, 0);
	assert_int_equal(json_array_size(run.facts.latency_tables), 2);
	assert_string_equal(json_string_value(at(run.facts.latency_tables, 0, "source")), "biotop");
	assert_string_equal(json_string_value(at(run.facts.latency_tables, 0, "at")), "08:04:11");
	assert_true(json_is_null(at(run.facts.latency_tables, 1, "at")));
	rows = at(run.facts.latency_tables, 0, "rows");
	assert_int_equal(json_array_size(rows), 2);
	assert_string_equal(json_string_value(at(rows, 0, "comm")), "cksum a");
	assert_string_equal(json_string_value(at(rows, 0, "device")), "202,1");
	assert_int_equal(json_integer_value(at(rows, 0, "bytes")), 28832 * 1024);
	assert_int_equal(json_integer_value(at(rows, 0, "mean_ns")), 3390000);
	run_end(&run);
}

static void histograms_of_operations(void **state)
{
	struct run run;

	run_text(
		&run,
		"Tracing ext4 operation latency... Hit Ctrl-C to end.\n^C\n"
		"operation = read\n"
		"     usecs               : count     distribution\n"
		"         0 -> 1          : 1210     |****************************************|\n"
		"operation = b'fsync'\n"
		"     usecs               : count     distribution\n"
		"      1024 -> 2047       : 5        |****************************************|\n");
	expect_lines(&run, 7, 0);
	assert_int_equal(json_array_size(run.facts.latency_tables), 2);
	assert_string_equal(json_string_value(at(run.facts.latency_tables, 1, "source")),
			    "ext4dist");
	assert_string_equal(json_string_value(at(run.facts.latency_tables, 1, "operation")),
			    "fsync");
	assert_null(at(run.facts.latency_tables, 1, "disk"));
	run_end(&run);
}

static void histograms(void **state)
{
	struct run run;
	const json_t *buckets;

	run_text(
		&run,
		"Tracing block device I/O... Hit Ctrl-C to end.\n"
		"06:20:16\n"
		"disk = b'vda'\n"
		"     usecs               : count     distribution\n"
		"         0 -> 1          : 3        |***                                     |\n"
		"       128 -> 255        : 40       |****************************************|\n"
		"18014398509481984 -> 36028797018963967 : 2        |*                       |\n"
		"\n"
		"avg = 663 usecs, total: 16575 usecs, count: 25\n"
		"flags = Sync-Write\n"
		"     msecs               : count     distribution\n"
		"         0 -> 1          : 5        |****************************************|\n"
		"  >=(ms) .. <(ms)   : I/O      |Distribution                          |\n"
		"       0 -> 1       : 4381     |######################################|\n"
		"@usecs:\n"
		"(..., 0)              7 |@                                                   |\n"
		"[1K, 2K)            426 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|\n");
	assert_string_equal(run.events, "");
	expect_lines(&run, 16, 0);
	assert_int_equal(json_array_size(run.facts.latency_tables), 4);
	assert_string_equal(json_string_value(at(run.facts.latency_tables, 0, "disk")), "vda");
	assert_string_equal(json_string_value(at(run.facts.latency_tables, 0, "at")), "06:20:16");
	assert_true(json_is_null(at(run.facts.latency_tables, 0, "flags")));
	assert_int_equal(json_integer_value(at(run.facts.latency_tables, 0, "n")), 43);
	assert_int_equal(json_integer_value(at(run.facts.latency_tables, 0, "dropped_negative")),
			 2);
	assert_int_equal(json_integer_value(at(run.facts.latency_tables, 0, "mean_ns")), 663000);
	buckets = at(run.facts.latency_tables, 0, "buckets");
	assert_int_equal(json_array_size(buckets), 2);
	assert_int_equal(json_integer_value(at(buckets, 1, "from_ns")), 128000);
	assert_int_equal(json_integer_value(at(buckets, 1, "to_ns")), 256000);
	assert_true(json_is_null(at(run.facts.latency_tables, 1, "disk")));
	assert_string_equal(json_string_value(at(run.facts.latency_tables, 1, "flags")),
			    "Sync-Write");
	assert_string_equal(json_string_value(at(run.facts.latency_tables, 2, "source")),
			    "iolatency");
	assert_int_equal(json_integer_value(
				 at(at(run.facts.latency_tables, 2, "buckets"), 0, "to_ns")),
			 1000000);
	assert_int_equal(json_integer_value(at(run.facts.latency_tables, 3, "dropped_negative")),
			 7);
	assert_int_equal(json_integer_value(
				 at(at(run.facts.latency_tables, 3, "buckets"), 0, "to_ns")),
			 2048000);
	assert_int_equal(run.facts.nr_notes, 2);
	run_end(&run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bcc),
		cmocka_unit_test(queue_times),
		cmocka_unit_test(patterns),
		cmocka_unit_test(without_a_heading),
		cmocka_unit_test(iosnoop),
		cmocka_unit_test(bpftrace),
		cmocka_unit_test(broken_rows),
		cmocka_unit_test(file_systems),
		cmocka_unit_test(tops),
		cmocka_unit_test(histograms),
		cmocka_unit_test(histograms_of_operations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
