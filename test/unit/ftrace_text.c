/* SPDX-License-Identifier: MIT */
#include "cm.h"

#include <jansson.h>
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
	int opened;
};

static void append(char **all, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void append(char **all, const char *fmt, ...)
{
	char line[400], *longer;
	va_list args;

	va_start(args, fmt);
	vsnprintf(line, sizeof(line), fmt, args);
	va_end(args);
	longer = mem_printf("%s%s", *all, line);
	free(*all);
	*all = longer;
}

/* "TIME cpuN PID ACTION DEVICE SECTOR/BYTES CLASS FLAGS ERROR" */
static void print_event(char **all, const struct event *ev)
{
	append(all, "%llu cpu%u %u %s", (unsigned long long)(ev->time_ns - TEXT_BIAS), ev->cpu,
	       ev->pid,
	       ev->action == ACT_BIO_COMPLETE  ? "bioC"
	       : ev->action == ACT_RQ_MERGE    ? "rqM"
	       : ev->action == ACT_RQ_REMAP    ? "rqA"
	       : ev->action == ACT_RQ_ERROR    ? "rqE"
	       : ev->action == ACT_ZONE_APPEND ? "append"
					       : action_letter(ev->action));
	if (ev->device)
		append(all, " %u,%u", DEVICE_MAJOR(ev->device), DEVICE_MINOR(ev->device));
	if (ev->class != CLASS_NONE)
		append(all, " %lld+%u %s", (long long)ev->sector, ev->bytes, class_name(ev->class));
	for (unsigned int bit = 0; bit < 18; bit++)
		if (ev->flags & 1u << bit & ~EV_WRITE)
			append(all, " %c", "wsmfpagcbnu.zex?ql"[bit]);
	if (ev->error)
		append(all, " err%d", ev->error);
	if (ev->action == ACT_REMAP || ev->action == ACT_RQ_REMAP)
		append(all, " from %u,%u %llu", DEVICE_MAJOR(ev->aux_device),
		       DEVICE_MINOR(ev->aux_device), (unsigned long long)ev->aux_sector);
	else if (ev->action == ACT_SPLIT || ev->action == ACT_UNPLUG ||
		 ev->action == ACT_UNPLUG_TIMER)
		append(all, " %llu", (unsigned long long)ev->aux_sector);
	else if (ev->payload_len)
		append(all, " \"%.*s\"", ev->payload_len, (const char *)ev->payload);
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
	run->opened = format_text.open(&in, &run->facts, &sources, &err);
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

static void expect(const char *text, const char *events)
{
	struct run run;

	run_text(&run, text);
	assert_string_equal(run.events, events);
	run_end(&run);
}

static void expect_lines(const struct run *run, unsigned int used, unsigned int ignored)
{
	assert_int_equal(run->facts.inputs[0].lines_used, used);
	assert_int_equal(run->facts.inputs[0].lines_ignored, ignored);
}

static const char *name_of(const struct run *run, uint32_t pid)
{
	return names_get(&run->facts.names, pid, TEXT_BIAS + (UINT64_C(1) << 50));
}

/* ---- dialects ---- */

static void kernels_of_all_ages(void **state)
{
	expect(/* 2.6.3x: no flags column */
	       "     nb_7-5402  [002]  8018.233161: block_rq_issue: 65,192 WS 0 () 1000 + 16 "
	       "[nb_7]\n"
	       "     nb_7-5402  [002]  8018.233162: block_rq_issue: 65,192 WS 0  1000 + 16 [nb_7]\n"
	       /* 3.x to 6.9 */
	       "     nb_7-5402  [002] d..1  8018.233163: block_rq_issue: 65,192 WS 8192 () 1000 + "
	       "16 [nb_7]\n"
	       "   <idle>-0     [002] d.h1  8018.233164: block_rq_complete: 65,192 WS () 1000 + 16 "
	       "[0]\n"
	       "   <idle>-0     [002] d.h1  8018.233165: block_rq_complete: 65,192 WS  1000 + 16 "
	       "[-5]\n"
	       /* 6.10 and later: priority; five flags */
	       "     nb_7-5402  [002] d..1.  8018.233166: block_rq_issue: 65,192 WFSU 8192 () 1000 "
	       "+ 16 be,0,4 [nb_7]\n"
	       "   <idle>-0     [002] d.H1.  8018.233167: block_rq_complete: 65,192 RA () 1000 + "
	       "16 none,0,0 [0]\n"
	       "   <idle>-0     [002] d.H1.  8018.233168: block_rq_complete: 65,192 W 1000 + 16 "
	       "rt,3,1 [65531]\n",
	       "8018233161000 cpu2 5402 D 65,192 1000+8192 write s\n"
	       "8018233162000 cpu2 5402 D 65,192 1000+8192 write s\n"
	       "8018233163000 cpu2 5402 D 65,192 1000+8192 write s\n"
	       "8018233164000 cpu2 0 C 65,192 1000+8192 write s\n"
	       "8018233165000 cpu2 0 C 65,192 1000+8192 write s err-5\n"
	       "8018233166000 cpu2 5402 D 65,192 1000+8192 write s f u\n"
	       "8018233167000 cpu2 0 C 65,192 1000+8192 read a\n"
	       "8018233168000 cpu2 0 C 65,192 1000+8192 write err-5\n");
}

static void every_event(void **state)
{
	expect("x-1 [000] ..... 1.000001: block_bio_queue: 8,0 FWS 0 + 0 [x]\n"
	       "x-1 [000] ..... 1.000002: block_getrq: 8,0 R 8 + 8 [x y]\n"
	       "x-1 [000] ..... 1.000003: block_bio_backmerge: 8,0 R 16 + 8 [x]\n"
	       "x-1 [000] ..... 1.000004: block_bio_frontmerge: 8,0 R 0 + 8 [x]\n"
	       "x-1 [000] ..... 1.000005: block_rq_insert: 8,0 R 12288 () 0 + 24 [x]\n"
	       "x-1 [000] ..... 1.000006: block_rq_merge: 8,0 R 4096 () 24 + 8 [x]\n"
	       "x-1 [000] ..... 1.000007: block_rq_requeue: 8,0 R () 0 + 24 [0]\n"
	       "x-1 [000] ..... 1.000008: block_rq_error: 8,0 R () 0 + 24 [-121]\n"
	       "x-1 [000] ..... 1.000009: block_split: 8,0 R 0 / 8 [x]\n"
	       "x-1 [000] ..... 1.000010: block_bio_remap: 8,0 R 2056 + 8 <- (8,1) 8\n"
	       "x-1 [000] ..... 1.000011: block_rq_remap: 8,0 R 2056 + 8 <- (253,0) 8 2\n"
	       "x-1 [000] ..... 1.000012: block_bio_complete: 8,0 R 2056 + 8 [-11]\n"
	       "x-1 [000] ..... 1.000013: block_bio_bounce: 8,0 R 2056 + 8 [x]\n"
	       "x-1 [000] ..... 1.000014: block_sleeprq: 8,0 R 2056 + 8 [x]\n"
	       "x-1 [000] ..... 1.000015: block_plug: [x]\n"
	       "x-1 [000] ..... 1.000016: block_unplug: [x] 3\n"
	       "x-1 [000] ..... 1.000017: block_unplug_timer: [x] 2\n"
	       "x-1 [000] ..... 1.000018: block_io_start: 8,0 R 4096 () 0 + 8 none,0,0 [x]\n"
	       "x-1 [000] ..... 1.000019: block_io_done: 8,0 R 0 () 0 + 0 none,0,0 [x]\n"
	       "x-1 [000] ..... 1.000020: disk_zone_wplug_add_bio: 8,0 zone 3, BIO 1024 + 8\n"
	       "x-1 [000] ..... 1.000021: blk_zone_wplug_bio: 8,0 zone 3, BIO 1024 + 8\n"
	       "x-1 [000] ..... 1.000022: blk_zone_append_update_request_bio: 8,0 ZAS 4096 () 1032 "
	       "+ 8 none,0,0 [x]\n"
	       "x-1 [000] ..... 1.000023: block_rq_issue: 8,0 FF 0 () 0 + 0 none,0,0 [x]\n"
	       "x-1 [000] ..... 1.000024: block_rq_complete: 8,0 FF () 18446744073709551615 + 0 "
	       "none,0,0 [0]\n"
	       "x-1 [000] ..... 1.000025: block_rq_issue: 8,0 N 36 (12 00 00 00 24 00) 0 + 0 [x]\n"
	       "x-1 [000] ..... 1.000026: block_rq_complete: 8,0 N (12 00 00 00 24 00) "
	       "18446744073709551615 + 0 [0]\n"
	       "x-1 [000] ..... 1.000027: block_rq_issue: 8,0 DS 65536 () 4096 + 128 [x]\n",
	       "1000001000 cpu0 1 Q 8,0 0+0 flush s p\n"
	       "1000002000 cpu0 1 G 8,0 8+4096 read\n"
	       "1000003000 cpu0 1 M 8,0 16+4096 read\n"
	       "1000004000 cpu0 1 F 8,0 0+4096 read\n"
	       "1000005000 cpu0 1 I 8,0 0+12288 read\n"
	       "1000006000 cpu0 1 rqM 8,0 24+4096 read\n"
	       "1000007000 cpu0 1 R 8,0 0+12288 read\n"
	       "1000008000 cpu0 1 rqE 8,0 0+12288 read err-121\n"
	       "1000009000 cpu0 1 X 8,0 0+4096 read x 8\n"
	       "1000010000 cpu0 1 A 8,0 2056+4096 read from 8,1 8\n"
	       "1000011000 cpu0 1 rqA 8,0 2056+4096 read from 253,0 8\n"
	       "1000012000 cpu0 1 bioC 8,0 2056+4096 read err-11\n"
	       "1000013000 cpu0 1 B 8,0 2056+4096 read\n"
	       "1000014000 cpu0 1 S 8,0 2056+4096 read\n"
	       "1000015000 cpu0 1 P\n"
	       "1000016000 cpu0 1 U 3\n"
	       "1000017000 cpu0 1 UT 2\n"
	       "1000020000 cpu0 1 ZP 8,0 1024+4096 other\n"
	       "1000021000 cpu0 1 ZU 8,0 1024+4096 other\n"
	       "1000022000 cpu0 1 append 8,0 1032+4096 write s z\n"
	       "1000023000 cpu0 1 D 8,0 0+0 flush p\n"
	       "1000024000 cpu0 1 C 8,0 -1+0 flush p\n"
	       "1000025000 cpu0 1 D 8,0 0+36 passthrough\n"
	       "1000026000 cpu0 1 C 8,0 -1+0 passthrough\n"
	       "1000027000 cpu0 1 D 8,0 4096+65536 discard s\n");
}

static void tasks_of_all_names(void **state)
{
	struct run run;

	run_text(&run,
		 "kworker/u8:2-ev-44 (  44) [000] ..... 1.000001: block_plug: [kworker/u8:2]\n"
		 "jbd2/mmcblk0p23-572 (-----) [000] ..... 1.000002: block_bio_remap: 8,0 W 1 + 8 "
		 "<- (8,1) 2\n"
		 "Web Content-7 [000] ..... 1.000003: block_bio_remap: 8,0 W 1 + 8 <- (8,1) 2\n"
		 "<...>-8 [000] ..... 1.000004: block_plug: [a.out]\n"
		 "<...>-9 [000] ..... 1.000005: block_bio_remap: 8,0 W 1 + 8 <- (8,1) 2\n"
		 "# cron-10 [000] ..... 1.000006: block_plug: [cron]\n"
		 "x[1] [y-11 (-------) [000] ..... 1.000007: block_bio_remap: 8,0 W 1 + 8 <- (8,1) "
		 "2\n"
		 "a: b-12 [000] ..... 1.000008: block_plug: [a [b] c]\n"
		 "  <redacted>   [003] ..s.. 1.000009: block_plug: [x]\n"
		 "sh-13 [000] ..... 1.000010: block_plug: [sh]\n"
		 "dd-13 [000] ..... 1.000011: block_bio_remap: 8,0 W 1 + 8 <- (8,1) 2\n");
	assert_string_equal(run.events, "1000001000 cpu0 44 P\n"
					"1000002000 cpu0 572 A 8,0 1+4096 write from 8,1 2\n"
					"1000003000 cpu0 7 A 8,0 1+4096 write from 8,1 2\n"
					"1000004000 cpu0 8 P\n"
					"1000005000 cpu0 9 A 8,0 1+4096 write from 8,1 2\n"
					"1000006000 cpu0 10 P\n"
					"1000007000 cpu0 11 A 8,0 1+4096 write from 8,1 2\n"
					"1000008000 cpu0 12 P\n"
					"1000009000 cpu3 0 P\n"
					"1000010000 cpu0 13 P\n"
					"1000011000 cpu0 13 A 8,0 1+4096 write from 8,1 2\n");
	assert_string_equal(name_of(&run, 44), "kworker/u8:2");
	assert_string_equal(name_of(&run, 572), "jbd2/mmcblk0p23");
	assert_string_equal(name_of(&run, 7), "Web Content");
	assert_string_equal(name_of(&run, 8), "a.out");
	assert_null(name_of(&run, 9));
	assert_string_equal(name_of(&run, 10), "cron");
	assert_string_equal(name_of(&run, 11), "x[1] [y");
	assert_string_equal(name_of(&run, 12), "a [b] c");
	assert_null(name_of(&run, 0));
	assert_string_equal(name_of(&run, 13), "sh"); /* the column has the latest name */
	run_end(&run);
}

static void perf_and_trace_cmd(void **state)
{
	struct run run;

	run_text(&run,
		 "   Web Content  4242 [001]   456.000001:  block:block_rq_issue: 8,0 R 4096 () 8 "
		 "+ 8 0x2,0,4 [Web Content]\n"
		 "   swapper     0/0     [001]   456.000002345:    block:block_rq_complete: 8,0 R "
		 "() 8 + 8 [0]\n"
		 "   fio  77/78    [002]   456.000002346:          1 block:block_plug: [fio]\n"
		 "\tffffffff81a submit_bio+0x12 ([kernel.kallsyms])\n"
		 "cpus=4\n"
		 "   dd-9   [003]   456.000004: block_rq_issue:       8,0 W 0 () 8 + 8 [dd]\n"
		 "   dd-9   [003]   456.000005: block_rq_insert:      dev=8388625 sector=0x1000 "
		 "nr_sector=8 bytes=4096 rwbs=WSM comm=Web Content cmd=\n"
		 "   dd-9   [003]   456.000006: block_rq_complete:    dev=0x800011 sector=4096 "
		 "nr_sector=8 error=-5 rwbs=ARRAY[57, 53, 00, 00] cmd=\n"
		 "   dd-9   [003]   456.000007: block_unplug:         nr_rq=3 comm=dd\n");
	assert_string_equal(run.events, "456000001000 cpu1 4242 D 8,0 8+4096 read\n"
					"456000002345 cpu1 0 C 8,0 8+4096 read\n"
					"456000002346 cpu2 78 P\n"
					"456000004000 cpu3 9 D 8,0 8+4096 write\n"
					"456000005000 cpu3 9 I 8,17 4096+4096 write s m\n"
					"456000006000 cpu3 9 C 8,17 4096+4096 write s err-5\n"
					"456000007000 cpu3 9 U 3\n");
	expect_lines(&run, 9, 0);
	assert_string_equal(name_of(&run, 4242), "Web Content");
	assert_int_equal(run.facts.inputs[0].resolution_ns, 1000);
	run_end(&run);
}

static void the_blk_tracer(void **state)
{
	struct run run;

	run_text(&run, "# tracer: blk\n#\n"
		       "dd-1234  [001] ....   1.000001:   8,0    Q  WS 1234 + 8 [dd]\n"
		       "dd-1234  [001] ....   1.000002:   8,0    A  WS 1234 + 8 <- (8,1) 10\n"
		       "dd-1234  [001] ....   1.000003:   8,0    m   N cfq1234S / alloced\n"
		       "dd-1234  [001] ....   1.000004:   8,0  b6,1  D  WS 1234 + 8 [dd]\n"
		       "dd-1234  [001] ....   1.000005:   8,0   unplug_io   N [dd] 4\n"
		       "dd-1234  [001] ....   1.000006:   8,0    Q FWS [dd]\n"
		       "dd-1234  [001] ....   1.000007:   8,0    C  FN 0 [0]\n"
		       "dd-1234  [001] ....   1.000008:   8,0    X   R 0 / 8 [dd]\n"
		       "dd-1234  [001] ....   1.000009:   8,0    D   R 36 (12 00 00 00 24 00 ..) "
		       "[scsi_id]\n"
		       "dd-1234  [001] ....   1.000010:   8,0    C   R (12 00 00) [0]\n"
		       "  8,16   1     1.000011000  1234  C   R 64 + 8 [0]\n");
	assert_string_equal(run.events, "1000001000 cpu1 1234 Q 8,0 1234+4096 write s\n"
					"1000002000 cpu1 1234 A 8,0 1234+4096 write s from 8,1 10\n"
					"1000003000 cpu1 1234 m 8,0 \"cfq1234S / alloced\"\n"
					"1000004000 cpu1 1234 D 8,0 1234+4096 write s\n"
					"1000005000 cpu1 1234 U 8,0 4\n"
					"1000006000 cpu1 1234 Q 8,0 0+0 flush s p\n"
					"1000007000 cpu1 1234 C 8,0 0+0 flush p ?\n"
					"1000008000 cpu1 1234 X 8,0 0+4096 read x 8\n"
					"1000009000 cpu1 1234 D 8,0 0+36 passthrough c\n"
					"1000010000 cpu1 1234 C 8,0 -1+0 passthrough c\n"
					"1000011000 cpu1 1234 C 8,16 64+4096 read ?\n");
	expect_lines(&run, 13, 0);
	run_end(&run);
}

/* ---- between the events ---- */

static void losses_are_told(void **state)
{
	struct run run;

	run_text(&run,
		 "# tracer: nop\n#\n# entries-in-buffer/entries-written: 140080/250280   #P:4\n#\n"
		 "#                              _-----=> irqs-off\n"
		 "#           TASK-PID   CPU#  ||||    TIMESTAMP  FUNCTION\n"
		 "#              | |       |   ||||       |         |\n"
		 "x-1 [003] ....     1.000001: block_plug: [x]\n"
		 "CPU:3 [LOST 123 EVENTS]\n"
		 "x-1 [002] ....     1.000002: block_plug: [x]\n"
		 "x-1 [003] ....     1.000003: block_plug: [x]\n"
		 "CPU:2 [7 EVENTS DROPPED]\n"
		 "CPU:1 [LOST EVENTS]\n");
	expect_lines(&run, 13, 0);
	assert_true(run.facts.dropped_told);
	assert_int_equal(run.facts.dropped, 250280 - 140080 + 123 + 7);
	assert_int_equal(run.facts.nr_losses, 3);
	assert_int_equal(run.facts.losses[0].cpu, 3);
	assert_int_equal(run.facts.losses[0].events, 123);
	assert_int_equal(run.facts.losses[0].from_ns, TEXT_BIAS + 1000001000);
	assert_int_equal(run.facts.losses[0].to_ns, TEXT_BIAS + 1000003000);
	assert_false(run.facts.losses[1].count_known);
	assert_true(run.facts.losses[2].count_known);
	run_end(&run);
}

static void other_events_are_messages(void **state)
{
	struct run run;

	run_text(&run, "x-1 [000] .... 1.000001: jbd2_start_commit: dev 8,1 transaction 7 sync 0\n"
		       "x-1 [000] .... 1.000002: sched_switch: prev_comm=x ==> next_comm=y\n"
		       "x-1 [000] .... 1.000003: block_touch_buffer: 8,0 sector=1 size=4096\n"
		       "x-1 [000] .... 1.000004: submit_bio <-ext4_io_submit\n"
		       "x-1 [000] .... 1.000005: <stack trace>\n"
		       " => submit_bio\n => ext4_io_submit\n"
		       "x-1 [000] .... 1.000006: blkdev_zone_mgmt: 8,0 ZR 0 + 8\n");
	assert_string_equal(
		run.events,
		"1000001000 cpu0 1 m 8,1 \"jbd2_start_commit: dev 8,1 transaction 7 sync 0\"\n"
		"1000002000 cpu0 1 m \"sched_switch: prev_comm=x ==> next_comm=y\"\n"
		"1000003000 cpu0 1 m 8,0 \"block_touch_buffer: 8,0 sector=1 size=4096\"\n"
		"1000004000 cpu0 1 m \"submit_bio <-ext4_io_submit\"\n"
		"1000005000 cpu0 1 m \"<stack trace>\"\n"
		"1000006000 cpu0 1 m 8,0 \"blkdev_zone_mgmt: 8,0 ZR 0 + 8\"\n");
	expect_lines(&run, 8, 0);
	run_end(&run);
}

static void broken_lines(void **state)
{
	struct run run;

	run_text(&run,
		 "x-1 [000] .... 1.000001: block_rq_issue: 8,0 W 4096 () 8 +\n"
		 "8 none,0,0 [x]\n"
		 "x-1 [000] .... 1.000002:\nblock_plug: [x]\n"
		 "x-1 [000] ....\n1.000003: block_plug: [x]\n"
		 "x-1 [000] .... 1.000004: block_rq_issue: 8,0 W 4096 () 8 + 8\n" /* no [comm] */
		 "x-1 [000] .... 1.000005: block_rq_issue: 8,0 W 4096 () 8 + 8\n"
		 "x-1 [000] .... 1.000006: block_rq_issue: 8,0 W 4096 () 99999999999999999999 + 8 "
		 "[x]\n"
		 "x-1 [000] .... 1.000007: block_rq_issue: 8,0 what 4096 () 8 + 8 [x]\n"
		 "x-1 [000] .... 1.000008: block_rq_complete: 8,0 W () 8 + 8 [x]\n"
		 "x-1 [000] .... 12345: block_plug: [x]\n"
		 "block_rq_issue: 8,0 W 4096 () 8 + 8 [x]\n"
		 "some prose [1] and [2] more\n"
		 "x-1 [000] .... 1.000009: block_rq_complete: 8,0 W ()");
	assert_string_equal(run.events, "1000001000 cpu0 1 D 8,0 8+4096 write\n"
					"1000002000 cpu0 1 P\n"
					"1000003000 cpu0 1 P\n"
					"1000004000 cpu0 1 D 8,0 8+4096 write\n"
					"1000005000 cpu0 1 D 8,0 8+4096 write\n");
	expect_lines(&run, 8, 7);
	run_end(&run);
}

/* ---- what people had ---- */

/* A write issued, a read completed 90 s later: the events say so, nothing pairs them. */
static void completion_of_another_request(void **state)
{
	expect("      nb_truck_1-5402  [002]  8018.233160: block_rq_insert: 65,192 WS 0  184067232 "
	       "+ 16 [nb_truck_1]\n"
	       "      nb_truck_1-5402  [002]  8018.233161: block_rq_issue: 65,192 WS 0  184067232 "
	       "+ 16 [nb_truck_1]\n"
	       "      nb_truck_3-5404  [004]  8108.333833: block_rq_complete: 65,192 R  184067232 "
	       "+ 16 [0]\n",
	       "8018233160000 cpu2 5402 I 65,192 184067232+8192 write s\n"
	       "8018233161000 cpu2 5402 D 65,192 184067232+8192 write s\n"
	       "8108333833000 cpu4 5404 C 65,192 184067232+8192 read\n");
}

static void ordered_by_time(void **state)
{
	struct run run;

	run_text(&run, "xfs_io-4238    [009] .....  4148.126843: block_rq_issue: 259,0 WFSU 16384  "
		       "768 + 32 none,0,0 [xfs_io]\n"
		       "<idle>-0       [009] d.h1.  4148.129864: block_rq_complete: 259,0 WFSU  "
		       "768 + 32 none,0,0 [0]\n"
		       "xfs_io-4237    [010] .....  4143.325616: block_rq_issue: 259,0 WS 16384  "
		       "768 + 32 none,0,0 [xfs_io]\n"
		       "<idle>-0       [010] d.H1.  4143.329138: block_rq_complete: 259,0 WS  768 "
		       "+ 32 none,0,0 [0]\n");
	assert_string_equal(run.events, "4143325616000 cpu10 4237 D 259,0 768+16384 write s\n"
					"4143329138000 cpu10 0 C 259,0 768+16384 write s\n"
					"4148126843000 cpu9 4238 D 259,0 768+16384 write s f u\n"
					"4148129864000 cpu9 0 C 259,0 768+16384 write s f u\n");
	assert_int_equal(run.facts.inputs[0].resolution_ns, 1000);
	expect_lines(&run, 4, 0);
	run_end(&run);
}

static void phones(void **state)
{
	struct run run;

	run_text(&run,
		 "mmcqd/0-80 [000] ...1   65.317000: block_rq_issue: 179,0 WS 0  9182248 + 8 "
		 "[mmcqd/0]\n"
		 "jbd2/mmcblk0p23-572   [002] ...1    65.318175: block_bio_remap: 179,0 WS 3198552 "
		 "+ 8 <- (179,23) 20056\n"
		 "jbd2/mmcblk0p23-572   [002] ...1    65.318175: block_bio_queue: 179,0 WS 3198552 "
		 "+ 8 [jbd2/mmcblk0p23]\n"
		 "mmcqd/0-80 [000] ...1   65.318900: block_rq_complete: 179,0 WS  9182248 + 8 [0]\n"
		 "mmcqd/0-80 [000] ...1   65.319000: block_rq_complete: 179,0 WASM  6455304 + 8 "
		 "[0]\n");
	assert_string_equal(run.events,
			    "65317000000 cpu0 80 D 179,0 9182248+4096 write s\n"
			    "65318175000 cpu2 572 A 179,0 3198552+4096 write s from 179,23 20056\n"
			    "65318175000 cpu2 572 Q 179,0 3198552+4096 write s\n"
			    "65318900000 cpu0 80 C 179,0 9182248+4096 write s\n"
			    "65319000000 cpu0 80 C 179,0 6455304+4096 write s m a\n");
	assert_string_equal(name_of(&run, 80), "mmcqd/0");
	run_end(&run);
}

static json_int_t evidence(const struct run *run, size_t i, const char *key)
{
	return json_integer_value(json_object_get(
		json_object_get(json_array_get(run->facts.findings, i), "evidence"), key));
}

static void stuck_in_wbt(void **state)
{
	struct run run;
	json_t *finding;

	run_text(&run,
		 "    <redacted>    [005] ..s.. 166350.485548: wbt_lat: 259:1: latency "
		 "3144231651us\n"
		 "    <redacted>    [005] ..s.. 166350.485549: wbt_timer: 259:1: status=4, step=4, "
		 "inflight=10\n"
		 "          <idle>-0       [016] ..s.. 166350.493550: wbt_lat: 259:0: latency "
		 "166251680941us\n"
		 "          <idle>-0       [016] ..s.. 166350.493551: wbt_timer: 259:0: status=4, "
		 "step=-1, inflight=3\n"
		 "          <idle>-0       [016] ..s.. 166350.600000: wbt_lat: 8:0: latency 29us\n"
		 "          <idle>-0       [016] ..s.. 1.600000: wbt_lat: 8:16: latency "
		 "99000000us\n");
	expect_lines(&run, 6, 0);
	assert_int_equal(json_array_size(run.facts.findings), 3);
	finding = json_array_get(run.facts.findings, 1);
	assert_string_equal(json_string_value(json_object_get(finding, "id")), "stuck-io");
	assert_string_equal(json_string_value(json_object_get(finding, "severity")), "critical");
	assert_int_equal(evidence(&run, 0, "inflight"), 10);
	assert_int_equal(evidence(&run, 0, "step"), 4);
	assert_int_equal(evidence(&run, 1, "latency_ns"), 166251680941000);
	assert_int_equal(evidence(&run, 1, "at_uptime_ns"), 166350493550000);
	assert_int_equal(evidence(&run, 1, "began_uptime_ns"), 98812609000); /* after boot */
	assert_true(json_is_null(json_object_get(
		json_object_get(json_array_get(run.facts.findings, 2), "evidence"), "inflight")));
	assert_true(json_is_null(
		json_object_get(json_object_get(json_array_get(run.facts.findings, 2), "evidence"),
				"began_uptime_ns")));
	assert_non_null(strstr(json_string_value(json_object_get(finding, "sentence")),
			       "98.812609 s after boot"));
	assert_non_null(
		strstr(json_string_value(json_object_get(finding, "sentence")), "never finished"));
	run_end(&run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kernels_of_all_ages),
		cmocka_unit_test(every_event),
		cmocka_unit_test(tasks_of_all_names),
		cmocka_unit_test(perf_and_trace_cmd),
		cmocka_unit_test(the_blk_tracer),
		cmocka_unit_test(losses_are_told),
		cmocka_unit_test(other_events_are_messages),
		cmocka_unit_test(broken_lines),
		cmocka_unit_test(completion_of_another_request),
		cmocka_unit_test(ordered_by_time),
		cmocka_unit_test(phones),
		cmocka_unit_test(stuck_in_wbt),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
