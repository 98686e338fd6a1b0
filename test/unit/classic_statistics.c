/* SPDX-License-Identifier: MIT
 *
 * Whole blocks of text; all were printed by blkparse 1.2.0 for the same records.
 */
#include "cm.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/mem.h"
#include "classic/statistics.h"

#define TEXT_BYTES 16384

struct row {
	uint64_t time_ns;
	uint32_t number, categories;
	uint64_t sector;
	uint32_t bytes, pid, cpu;
};

static const struct row rows[] = {
	{ 0, ACT_QUEUE, TC_WRITE | TC_SYNC, 2048, 4096, 101, 0 },
	{ 1000, ACT_GETRQ, TC_WRITE | TC_SYNC, 2048, 4096, 101, 0 },
	{ 3500, ACT_INSERT, TC_WRITE | TC_SYNC | TC_FS, 2048, 4096, 101, 0 },
	{ 10000, ACT_ISSUE, TC_WRITE | TC_SYNC | TC_FS, 2048, 4096, 7, 1 },
	{ 2510000, ACT_COMPLETE, TC_WRITE | TC_FS, 2048, 4096, 0, 1 },
	{ 2600000, ACT_QUEUE, TC_READ, 0, 9000, 102, 0 },
	{ 2601000, ACT_FRONTMERGE, TC_READ, 0, 1536, 102, 0 },
	{ 2602000, ACT_BACKMERGE, TC_WRITE, 9, 700, 102, 1 },
	{ 2700000, ACT_QUEUE, TC_READ | TC_PC, 0, 5220, 103, 1 },
	{ 2701000, ACT_ISSUE, TC_READ | TC_PC, 0, 5220, 103, 1 },
	{ 2702000, ACT_REQUEUE, TC_READ | TC_PC, 0, 5220, 103, 1 },
	{ 2703000, ACT_ISSUE, TC_READ | TC_PC, 0, 96, 103, 1 },
	{ 2704000, ACT_COMPLETE, TC_READ | TC_PC, 0, 96, 103, 1 },
	{ 3000000, ACT_REQUEUE, TC_WRITE | TC_FS, 512, 8192, 7, 0 },
	{ 3100000, ACT_ISSUE, TC_WRITE | TC_FS, 512, 2048, 7, 0 },
	{ 3200000, ACT_UNPLUG, TC_READ, 0, 0, 101, 0 },
	{ 3300000, ACT_UNPLUG_TIMER, TC_READ, 0, 0, 0, 1 },
	{ 900000000, ACT_COMPLETE, TC_WRITE | TC_FS, 512, 2147484160, 0, 1 },
	{ 1000000000, ACT_COMPLETE, TC_READ, 0, 123456789, 9, 0 },
	{ 2000000000, ACT_PLUG, TC_READ, 0, 0, 55, 0 },
};

static const struct {
	uint32_t pid;
	const char *name;
} names[] = { { 101, "fio" }, { 102, "fio" }, { 103, "sg10" }, { 7, "sg9" } };

#define NR(array) (sizeof(array) / sizeof(*(array)))

static const char by_pid[] =
	"fio (101)\n"
	" Reads Queued:           0,        0KiB\t Writes Queued:           1,        4KiB\n"
	" Read Dispatches:        0,        0KiB\t Write Dispatches:        0,        0KiB\n"
	" Reads Requeued:         0\t\t Writes Requeued:         0\n"
	" Reads Completed:        0,        0KiB\t Writes Completed:        0,        0KiB\n"
	" Read Merges:            0,        0KiB\t Write Merges:            0,        0KiB\n"
	" IO unplugs:             1        \t Timer unplugs:           0\n"
	" Allocation wait:        0        \t Allocation wait:         2\n"
	" Dispatch wait:          0        \t Dispatch wait:           6\n"
	" Completion wait:        0        \t Completion wait:      2500\n"
	"fio (102)\n"
	" Reads Queued:           1,        8KiB\t Writes Queued:           0,        0KiB\n"
	" Read Dispatches:        0,        0KiB\t Write Dispatches:        0,        0KiB\n"
	" Reads Requeued:         0\t\t Writes Requeued:         0\n"
	" Reads Completed:        0,        0KiB\t Writes Completed:        0,        0KiB\n"
	" Read Merges:            1,        1KiB\t Write Merges:            1,        0KiB\n"
	" IO unplugs:             0        \t Timer unplugs:           0\n"
	" Allocation wait:        0        \t Allocation wait:         0\n"
	" Dispatch wait:          0        \t Dispatch wait:           0\n"
	" Completion wait:        0        \t Completion wait:         0\n"
	"sg9 (7)\n"
	" Reads Queued:           0,        0KiB\t Writes Queued:           0,        0KiB\n"
	" Read Dispatches:        0,        0KiB\t Write Dispatches:        2, 18446744073PiB\n"
	" Reads Requeued:         0\t\t Writes Requeued:         1\n"
	" Reads Completed:        0,        0KiB\t Writes Completed:        0,        0KiB\n"
	" Read Merges:            0,        0KiB\t Write Merges:            0,        0KiB\n"
	" IO unplugs:             0        \t Timer unplugs:           0\n"
	" Allocation wait:        0        \t Allocation wait:         0\n"
	" Dispatch wait:          0        \t Dispatch wait:           0\n"
	" Completion wait:        0        \t Completion wait:         0\n"
	"sg10 (103)\n"
	" Reads Queued:           0,        5KiB\t Writes Queued:           0,        0KiB\n"
	" Read Dispatches:        0,        0KiB\t Write Dispatches:        0,        0KiB\n"
	" Reads Requeued:         0\t\t Writes Requeued:         0\n"
	" Reads Completed:        0,        0KiB\t Writes Completed:        0,        0KiB\n"
	" Read Merges:            0,        0KiB\t Write Merges:            0,        0KiB\n"
	" PC Reads Queued:        1,        0KiB\t PC Writes Queued:        0,        0KiB\n"
	" PC Read Disp.:          2,        0KiB\t PC Write Disp.:          0,        0KiB\n"
	" PC Reads Req.:          1\t\t PC Writes Req.:          0\n"
	" PC Reads Compl.:        1\t\t PC Writes Compl.:        0\n"
	" IO unplugs:             0        \t Timer unplugs:           0\n"
	" Allocation wait:        0        \t Allocation wait:         0\n"
	" Dispatch wait:          0        \t Dispatch wait:           0\n"
	" Completion wait:        0        \t Completion wait:         0\n"
	"unknown (0)\n"
	" Reads Queued:           0,        0KiB\t Writes Queued:           0,        0KiB\n"
	" Read Dispatches:        0,        0KiB\t Write Dispatches:        0,        0KiB\n"
	" Reads Requeued:         0\t\t Writes Requeued:         0\n"
	" Reads Completed:        0,        0KiB\t Writes Completed:        2, 18446744073PiB\n"
	" Read Merges:            0,        0KiB\t Write Merges:            0,        0KiB\n"
	" IO unplugs:             0        \t Timer unplugs:           1\n"
	" Allocation wait:        0        \t Allocation wait:         0\n"
	" Dispatch wait:          0        \t Dispatch wait:           0\n"
	" Completion wait:        0        \t Completion wait:         0\n"
	"unknown (9)\n"
	" Reads Queued:           0,        0KiB\t Writes Queued:           0,        0KiB\n"
	" Read Dispatches:        0,        0KiB\t Write Dispatches:        0,        0KiB\n"
	" Reads Requeued:         0\t\t Writes Requeued:         0\n"
	" Reads Completed:        1,   120563KiB\t Writes Completed:        0,        0KiB\n"
	" Read Merges:            0,        0KiB\t Write Merges:            0,        0KiB\n"
	" IO unplugs:             0        \t Timer unplugs:           0\n"
	" Allocation wait:        0        \t Allocation wait:         0\n"
	" Dispatch wait:          0        \t Dispatch wait:           0\n"
	" Completion wait:        0        \t Completion wait:         0\n"
	"\n";

static const char by_name[] =
	"fio (101, ...)\n"
	" Reads Queued:           1,        8KiB\t Writes Queued:           1,        4KiB\n"
	" Read Dispatches:        0,        0KiB\t Write Dispatches:        0,        0KiB\n"
	" Reads Requeued:         0\t\t Writes Requeued:         0\n"
	" Reads Completed:        0,        0KiB\t Writes Completed:        0,        0KiB\n"
	" Read Merges:            1,        1KiB\t Write Merges:            1,        0KiB\n"
	" IO unplugs:             1        \t Timer unplugs:           0\n"
	" Allocation wait:        0        \t Allocation wait:         2\n"
	" Dispatch wait:          0        \t Dispatch wait:           6\n"
	" Completion wait:        0        \t Completion wait:      2500\n"
	"sg9 (7)\n"
	" Reads Queued:           0,        0KiB\t Writes Queued:           0,        0KiB\n"
	" Read Dispatches:        0,        0KiB\t Write Dispatches:        2, 18446744073PiB\n"
	" Reads Requeued:         0\t\t Writes Requeued:         1\n"
	" Reads Completed:        0,        0KiB\t Writes Completed:        0,        0KiB\n"
	" Read Merges:            0,        0KiB\t Write Merges:            0,        0KiB\n"
	" IO unplugs:             0        \t Timer unplugs:           0\n"
	" Allocation wait:        0        \t Allocation wait:         0\n"
	" Dispatch wait:          0        \t Dispatch wait:           0\n"
	" Completion wait:        0        \t Completion wait:         0\n"
	"sg10 (103)\n"
	" Reads Queued:           0,        5KiB\t Writes Queued:           0,        0KiB\n"
	" Read Dispatches:        0,        0KiB\t Write Dispatches:        0,        0KiB\n"
	" Reads Requeued:         0\t\t Writes Requeued:         0\n"
	" Reads Completed:        0,        0KiB\t Writes Completed:        0,        0KiB\n"
	" Read Merges:            0,        0KiB\t Write Merges:            0,        0KiB\n"
	" PC Reads Queued:        1,        0KiB\t PC Writes Queued:        0,        0KiB\n"
	" PC Read Disp.:          2,        0KiB\t PC Write Disp.:          0,        0KiB\n"
	" PC Reads Req.:          1\t\t PC Writes Req.:          0\n"
	" PC Reads Compl.:        1\t\t PC Writes Compl.:        0\n"
	" IO unplugs:             0        \t Timer unplugs:           0\n"
	" Allocation wait:        0        \t Allocation wait:         0\n"
	" Dispatch wait:          0        \t Dispatch wait:           0\n"
	" Completion wait:        0        \t Completion wait:         0\n"
	"unknown (0)\n"
	" Reads Queued:           0,        0KiB\t Writes Queued:           0,        0KiB\n"
	" Read Dispatches:        0,        0KiB\t Write Dispatches:        0,        0KiB\n"
	" Reads Requeued:         0\t\t Writes Requeued:         0\n"
	" Reads Completed:        0,        0KiB\t Writes Completed:        2, 18446744073PiB\n"
	" Read Merges:            0,        0KiB\t Write Merges:            0,        0KiB\n"
	" IO unplugs:             0        \t Timer unplugs:           1\n"
	" Allocation wait:        0        \t Allocation wait:         0\n"
	" Dispatch wait:          0        \t Dispatch wait:           0\n"
	" Completion wait:        0        \t Completion wait:         0\n"
	"unknown (9)\n"
	" Reads Queued:           0,        0KiB\t Writes Queued:           0,        0KiB\n"
	" Read Dispatches:        0,        0KiB\t Write Dispatches:        0,        0KiB\n"
	" Reads Requeued:         0\t\t Writes Requeued:         0\n"
	" Reads Completed:        1,   120563KiB\t Writes Completed:        0,        0KiB\n"
	" Read Merges:            0,        0KiB\t Write Merges:            0,        0KiB\n"
	" IO unplugs:             0        \t Timer unplugs:           0\n"
	" Allocation wait:        0        \t Allocation wait:         0\n"
	" Dispatch wait:          0        \t Dispatch wait:           0\n"
	" Completion wait:        0        \t Completion wait:         0\n"
	"\n";

static const char of_device[] =
	"CPU0 (vda):\n"
	" Reads Queued:           1,        8KiB\t Writes Queued:           1,        4KiB\n"
	" Read Dispatches:        0,        0KiB\t Write Dispatches:        1, 18,446,744,073PiB\n"
	" Reads Requeued:         0\t\t Writes Requeued:         1\n"
	" Reads Completed:        1,  120,563KiB\t Writes Completed:        0,        0KiB\n"
	" Read Merges:            1,        1KiB\t Write Merges:            0,        0KiB\n"
	" Read depth:             1        \t Write depth:             1\n"
	" IO unplugs:             1        \t Timer unplugs:           0\n"
	"CPU1 (vda):\n"
	" Reads Queued:           0,        5KiB\t Writes Queued:           0,        0KiB\n"
	" Read Dispatches:        0,        0KiB\t Write Dispatches:        1,        4KiB\n"
	" Reads Requeued:         0\t\t Writes Requeued:         0\n"
	" Reads Completed:        0,        0KiB\t Writes Completed:        2, 18,446,744,073PiB\n"
	" Read Merges:            0,        0KiB\t Write Merges:            1,        0KiB\n"
	" Read depth:             1        \t Write depth:             1\n"
	" PC Reads Queued:        1,        0KiB\t PC Writes Queued:        0,        0KiB\n"
	" PC Read Disp.:          2,        0KiB\t PC Write Disp.:          0,        0KiB\n"
	" PC Reads Req.:          1\t\t PC Writes Req.:          0\n"
	" PC Reads Compl.:        1\t\t PC Writes Compl.:        0\n"
	" IO unplugs:             0        \t Timer unplugs:           1\n"
	"\n"
	"Total (vda):\n"
	" Reads Queued:           1,       13KiB\t Writes Queued:           1,        4KiB\n"
	" Read Dispatches:        0,        0KiB\t Write Dispatches:        2, 18,446,744,073PiB\n"
	" Reads Requeued:         0\t\t Writes Requeued:         1\n"
	" Reads Completed:        1,  120,563KiB\t Writes Completed:        2, 18,446,744,073PiB\n"
	" Read Merges:            1,        1KiB\t Write Merges:            1,        0KiB\n"
	" PC Reads Queued:        1,        0KiB\t PC Writes Queued:        0,        0KiB\n"
	" PC Read Disp.:          2,        0KiB\t PC Write Disp.:          0,        0KiB\n"
	" PC Reads Req.:          1\t\t PC Writes Req.:          0\n"
	" PC Reads Compl.:        1\t\t PC Writes Compl.:        0\n"
	" IO unplugs:             1        \t Timer unplugs:           1\n"
	"\n"
	"Throughput (R/W): 60,281KiB/s / 9,223,372,035,806,202KiB/s\n"
	"Events (vda): 20 entries\n"
	"Skips: 0 forward (0 -   0.0%)\n";

/* What statistics_* prints goes to a file in memory. */
struct capture {
	struct out out;
	int fd;
	char text[TEXT_BYTES];
};

static void capture_begin(struct capture *c)
{
	*c = (struct capture){ .fd = memfd_create("statistics", MFD_CLOEXEC) };
	assert_true(c->fd >= 0);
	out_init(&c->out, dup(c->fd), "statistics");
}

static void capture_end(struct capture *c)
{
	struct error err = { 0 };
	ssize_t n;

	assert_int_equal(out_close(&c->out, &err), 0);
	n = pread(c->fd, c->text, sizeof(c->text) - 1, 0);
	assert_true(n >= 0);
	c->text[n] = '\0';
	close(c->fd);
}

static struct device device_new(const char *name)
{
	return (struct device){ .name = mem_strdup(name) };
}

static void play(struct device *d, struct processes *p, struct comms *comms)
{
	for (size_t i = 0; i < NR(names); i++)
		comms_note(comms, names[i].pid, (const uint8_t *)names[i].name,
			   strlen(names[i].name));
	for (size_t i = 0; i < NR(rows); i++) {
		const struct row *row = &rows[i];
		struct record r = { .h = { .time_ns = row->time_ns,
					   .number = row->number,
					   .categories = row->categories,
					   .sector = row->sector,
					   .bytes = row->bytes,
					   .pid = row->pid } };
		struct cpu *cpu = device_cpu(d, row->cpu);
		struct timed timed = timing_take(&d->timing, &r, 0, false);

		cpu->events++;
		d->events++;
		d->last_read_ns = row->time_ns;
		counters_take(&cpu->counters, &r);
		device_depth(d, &r);
		processes_take(p, comms, &r, &timed);
	}
}

static void check_processes(const struct blkparse_options *o, const char *text)
{
	struct capture *c = malloc(sizeof(*c));
	struct device d = device_new("vda");
	struct processes p;
	struct comms comms;

	comms_init(&comms);
	processes_init(&p, o->by_name);
	play(&d, &p, &comms);
	capture_begin(c);
	statistics_processes(&c->out, &p, &comms, o, false);
	capture_end(c);
	assert_string_equal(c->text, text);
	processes_release(&p);
	comms_release(&comms);
	device_release(&d);
	free(c);
}

static void blocks_of_processes(void **state)
{
	struct blkparse_options o = { 0 };

	(void)state;
	check_processes(&o, by_pid);
	o.sort = 'N';
	check_processes(&o, by_pid);
	o = (struct blkparse_options){ .by_name = true };
	check_processes(&o, by_name);
}

static void no_processes(void **state)
{
	struct blkparse_options o = { 0 };
	struct capture *c = malloc(sizeof(*c));
	struct processes p;
	struct comms comms;

	(void)state;
	comms_init(&comms);
	processes_init(&p, false);
	capture_begin(c);
	statistics_processes(&c->out, &p, &comms, &o, false);
	capture_end(c);
	assert_string_equal(c->text, "\n");
	processes_release(&p);
	comms_release(&comms);
	free(c);
}

static void block_of_a_device(void **state)
{
	struct capture *c = malloc(sizeof(*c));
	struct device d = device_new("vda");
	struct processes p;
	struct comms comms;

	(void)state;
	comms_init(&comms);
	processes_init(&p, false);
	play(&d, &p, &comms);
	device_cpu(&d, 5); /* had nothing: no block */
	capture_begin(c);
	statistics_devices(&c->out, &d, 1, true);
	capture_end(c);
	assert_string_equal(c->text, of_device);
	processes_release(&p);
	comms_release(&comms);
	device_release(&d);
	free(c);
}

/* blkparse b a, where b has an empty file only and a one CPU; and numbers that a stream left out. */
static void several_devices(void **state)
{
	struct capture *c = malloc(sizeof(*c));
	struct device d[2] = { device_new("b"), device_new("8,0") };

	(void)state;
	device_cpu(&d[1], 3)->events = d[1].events = 4;
	d[1].skips = 2;
	d[1].skipped = 6;
	capture_begin(c);
	statistics_devices(&c->out, d, 2, false);
	capture_end(c);
	assert_string_equal(c->text,
			    "\n"
			    "Throughput (R/W): 0KiB/s / 0KiB/s\n"
			    "Events (b): 0 entries\n"
			    "Skips: 0 forward (0 -   0.0%)\n"
			    "\n"
			    "CPU3 (8,0):\n"
			    " Reads Queued:           0,        0KiB\t Writes Queued:           0, "
			    "       0KiB\n"
			    " Read Dispatches:        0,        0KiB\t Write Dispatches:        0, "
			    "       0KiB\n"
			    " Reads Requeued:         0\t\t Writes Requeued:         0\n"
			    " Reads Completed:        0,        0KiB\t Writes Completed:        0, "
			    "       0KiB\n"
			    " Read Merges:            0,        0KiB\t Write Merges:            0, "
			    "       0KiB\n"
			    " Read depth:             0        \t Write depth:             0\n"
			    " IO unplugs:             0        \t Timer unplugs:           0\n"
			    "\n"
			    "Throughput (R/W): 0KiB/s / 0KiB/s\n"
			    "Events (8,0): 4 entries\n"
			    "Skips: 2 forward (6 -  60.0%)\n");
	device_release(&d[0]);
	device_release(&d[1]);
	free(c);
}

/* Seven million records, in short: blkparse printed this for 1,000,001 Q and so on. */
static void large_numbers(void **state)
{
	struct capture *c = malloc(sizeof(*c));
	struct counters counters = { .unplugs = 1000001 };
	struct count(*fs)[2] = counters.fs;

	(void)state;
	fs[COUNT_QUEUED][0].nr = 1000001;
	fs[COUNT_QUEUED][1].nr = 1000000;
	fs[COUNT_DISPATCHED][0] = (struct count){ .nr = 1000001, .bytes = 512 * 1000001 };
	fs[COUNT_REQUEUED][1].nr = 999999;
	counters.pc[COUNT_COMPLETED][0].nr = 1000001;
	capture_begin(c);
	statistics_counters(&c->out, &counters, (const uint64_t[]){ 1000001, 0 }, false);
	capture_end(c);
	assert_string_equal(c->text,
			    " Reads Queued:        1000K,        0KiB\t Writes Queued:     "
			    "1000000,        0KiB\n"
			    " Read Dispatches:     1000K,   500000KiB\t Write Dispatches:        "
			    "0,        0KiB\n"
			    " Reads Requeued:         0\t\t Writes Requeued:    999999\n"
			    " Reads Completed:        0,        0KiB\t Writes Completed:        0, "
			    "       0KiB\n"
			    " Read Merges:            0,        0KiB\t Write Merges:            0, "
			    "       0KiB\n"
			    " Read depth:       1000001        \t Write depth:             0\n"
			    " PC Reads Queued:        0,        0KiB\t PC Writes Queued:        0, "
			    "       0KiB\n"
			    " PC Read Disp.:          0,        0KiB\t PC Write Disp.:          0, "
			    "       0KiB\n"
			    " PC Reads Req.:          0\t\t PC Writes Req.:          0\n"
			    " PC Reads Compl.:     1000K\t\t PC Writes Compl.:        0\n"
			    " IO unplugs:       1000001        \t Timer unplugs:           0\n");
	free(c);
}

static void numbers(void **state)
{
	(void)state;
	assert_string_equal(statistics_number(0, 0, true).text, "0");
	assert_string_equal(statistics_number(999, 8, true).text, "     999");
	assert_string_equal(statistics_number(1100, 8, true).text, "   1,100");
	assert_string_equal(statistics_number(1000001, 8, true).text, "1,000,001");
	assert_string_equal(statistics_number(123456, 8, true).text, " 123,456");
	assert_string_equal(statistics_number(UINT64_MAX, 8, true).text,
			    "18,446,744,073,709,551,615");
	assert_string_equal(statistics_number(UINT64_MAX, 0, false).text, "18446744073709551615");
}

static void grouping(void **state)
{
	struct blkparse_options o = { .group = GROUP_YES };
	bool there = setlocale(LC_NUMERIC, "en_US") != NULL;

	(void)state;
	setlocale(LC_NUMERIC, "C");
	assert_true(statistics_grouped(&o));
	o.group = GROUP_NO;
	assert_false(statistics_grouped(&o));
	o.group = GROUP_LOCALE;
	assert_int_equal(statistics_grouped(&o), there);
	assert_string_equal(setlocale(LC_NUMERIC, NULL), "C");
}

/* pid 1 queued most in reads, 2 in writes, 3 in all; 4 completed most. */
static void check_order(char key, const char *order)
{
	static const uint64_t kib[4][3] = {
		{ 50, 1, 30 }, { 1, 60, 20 }, { 40, 30, 0 }, { 0, 0, 40 }
	};
	struct blkparse_options o = { .sort = key };
	struct processes p;
	struct comms comms;
	struct capture *c = malloc(sizeof(*c));
	char got[8] = "";

	comms_init(&comms);
	processes_init(&p, false);
	for (uint32_t i = 0; i < 4; i++) {
		struct counters *counters = &processes_get(&p, &comms, i + 1)->counters;

		/* in numbers it is the other way round */
		for (int d = 0; d < 2; d++)
			counters->fs[COUNT_QUEUED][d] =
				(struct count){ .kib = kib[i][d], .nr = 100 - kib[i][d] };
		counters->fs[COUNT_COMPLETED][0] =
			(struct count){ .bytes = 1024 * kib[i][2], .nr = 100 - kib[i][2] };
	}
	capture_begin(c);
	statistics_processes(&c->out, &p, &comms, &o, false);
	capture_end(c);
	for (size_t i = 0; i < p.nr; i++)
		got[i] = (char)('0' + p.all[i]->pid);
	assert_string_equal(got, order);
	processes_release(&p);
	comms_release(&comms);
	free(c);
}

static void sort_keys(void **state)
{
	(void)state;
	check_order(0, "1234");
	check_order('N', "1234");
	check_order('Q', "4123");
	check_order('R', "4231");
	check_order('W', "4132");
	check_order('C', "3214");
	check_order('q', "3214");
	check_order('r', "1324");
	check_order('w', "2314");
	check_order('c', "4123");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blocks_of_processes),
		cmocka_unit_test(no_processes),
		cmocka_unit_test(block_of_a_device),
		cmocka_unit_test(several_devices),
		cmocka_unit_test(large_numbers),
		cmocka_unit_test(numbers),
		cmocka_unit_test(grouping),
		cmocka_unit_test(sort_keys),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
