/* SPDX-License-Identifier: MIT
 *
 * blkparse --fix: events as records, and blocks of counters. Whole runs: test/cli/blkparse-fix.
 */
#include "cm.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/bytes.h"
#include "classic/fix.h"

#define TEXT_BYTES 4096

static const char *line_of(const struct event *ev, enum classic classic, char text[TEXT_BYTES])
{
	struct blkparse_options o = { .classic = classic };
	struct line_context context = { .o = &o };
	struct fix_error error = fix_error(ev->error);
	struct comm comm = { .len = 3, .name = "fio" };
	uint8_t pdu[FIX_PDU_BYTES];
	int fd = memfd_create("line", 0);
	struct error err = { 0 };
	struct record r;
	struct out out;
	ssize_t n;

	assert_true(fix_record(&r, ev, 1000, pdu));
	out_init(&out, dup(fd), "line");
	if (ev->action == ACT_MESSAGE)
		line_message(&out, &context, &r);
	else
		line_event(&out, &context, &r, &comm, ELAPSED_NONE, ev->error ? error.text : NULL);
	assert_int_equal(out_close(&out, &err), 0);
	n = pread(fd, text, TEXT_BYTES - 1, 0);
	assert_true(n > 0);
	text[n] = '\0';
	close(fd);
	return text;
}

static void lines(void **state)
{
	static const struct {
		struct event ev;
		const char *text;
	} all[] = {
		{ { .time_ns = 1500,
		    .action = ACT_QUEUE,
		    .class = CLASS_WRITE,
		    .flags = EV_WRITE | EV_SYNC | EV_PREFLUSH | EV_FUA,
		    .sector = 8,
		    .bytes = 4096,
		    .pid = 77,
		    .cpu = 3,
		    .sequence = 12,
		    .device = DEVICE(8, 16) },
		  "  8,16   3       12     0.000000500    77  Q FWFS 8 + 8 [fio]\n" },
		{ { .time_ns = 1000,
		    .action = ACT_COMPLETE,
		    .class = CLASS_READ,
		    .flags = EV_FS,
		    .sector = 8,
		    .bytes = 512,
		    .error = -5,
		    .device = DEVICE(8, 0) },
		  "  8,0    0        0     0.000000000     0  C   R 8 + 1 [-5 EIO]\n" },
		{ { .time_ns = 1000,
		    .action = ACT_BIO_COMPLETE,
		    .class = CLASS_DISCARD,
		    .flags = EV_WRITE,
		    .sector = 8,
		    .bytes = 512,
		    .error = -512,
		    .device = DEVICE(8, 0) },
		  "  8,0    0        0     0.000000000     0  C   D 8 + 1 [-512]\n" },
		{ { .time_ns = 1000,
		    .action = ACT_RQ_MERGE,
		    .class = CLASS_READ,
		    .sector = 8,
		    .bytes = 512,
		    .device = DEVICE(8, 0) },
		  "  8,0    0        0     0.000000000     0  M   R 8 + 1 [fio]\n" },
		{ { .time_ns = 1000,
		    .action = ACT_ISSUE,
		    .class = CLASS_FLUSH,
		    .device = DEVICE(8, 0) },
		  "  8,0    0        0     0.000000000     0  D  FN [fio]\n" },
		{ { .time_ns = 1000,
		    .action = ACT_REMAP,
		    .class = CLASS_READ,
		    .sector = 300,
		    .bytes = 4096,
		    .aux_sector = 5000000000,
		    .aux_device = DEVICE(253, 7),
		    .device = DEVICE(8, 0) },
		  "  8,0    0        0     0.000000000     0  A   R 300 + 8 <- (253,7) "
		  "5000000000\n" },
		{ { .time_ns = 1000,
		    .action = ACT_SPLIT,
		    .class = CLASS_WRITE,
		    .flags = EV_WRITE,
		    .sector = 8,
		    .bytes = 4096,
		    .aux_sector = 12,
		    .device = DEVICE(8, 0) },
		  "  8,0    0        0     0.000000000     0  X   W 8 / 12 [fio]\n" },
		{ { .time_ns = 1000,
		    .action = ACT_UNPLUG_TIMER,
		    .aux_sector = 3,
		    .device = DEVICE(8, 0) },
		  "  8,0    0        0     0.000000000     0 UT   N [fio] 3\n" },
		{ { .time_ns = 1000,
		    .action = ACT_MESSAGE,
		    .payload = (const uint8_t *)"hello",
		    .payload_len = 5,
		    .device = DEVICE(8, 0) },
		  "  8,0    0        0     0.000000000     0  m   N hello\n" },
		{ { .time_ns = 1000,
		    .action = ACT_ISSUE,
		    .class = CLASS_PASSTHROUGH,
		    .bytes = 36,
		    .payload = (const uint8_t *)"\x12\x00\x24",
		    .payload_len = 3,
		    .device = DEVICE(8, 0) },
		  "  8,0    0        0     0.000000000     0  D   R 36 (12 00 24) [fio]\n" },
	};
	char text[TEXT_BYTES];

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		assert_string_equal(line_of(&all[i].ev, CLASSIC_1_2, text), all[i].text);
}

/* The mask of -a sees what the kernel would have set. */
static void categories(void **state)
{
	static const struct {
		uint8_t action;
		uint32_t category;
	} all[] = {
		{ ACT_QUEUE, TC_QUEUE },
		{ ACT_BACKMERGE, TC_QUEUE },
		{ ACT_INSERT, TC_QUEUE },
		{ ACT_ISSUE, TC_ISSUE },
		{ ACT_REQUEUE, TC_REQUEUE },
		{ ACT_REMAP, TC_QUEUE },
		{ ACT_COMPLETE, TC_COMPLETE },
		{ ACT_BIO_COMPLETE, TC_COMPLETE },
		{ ACT_SPLIT, 0 },
		{ ACT_BOUNCE, 0 },
	};
	const uint32_t actions = TC_QUEUE | TC_ISSUE | TC_REQUEUE | TC_COMPLETE | TC_NOTIFY;
	uint8_t pdu[FIX_PDU_BYTES];
	struct record r;

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		struct event ev = { .action = all[i].action, .class = CLASS_READ };

		assert_true(fix_record(&r, &ev, 0, pdu));
		assert_int_equal(r.h.categories & actions, all[i].category);
		assert_true(r.h.categories & TC_READ);
	}
}

/* A row of a table, and what only annotates, are no lines. */
static void no_lines(void **state)
{
	static const uint8_t actions[] = { ACT_IO, ACT_RQ_ERROR, ACT_UNKNOWN };
	uint8_t pdu[FIX_PDU_BYTES];
	struct record r;

	(void)state;
	for (size_t i = 0; i < sizeof(actions); i++) {
		struct event ev = { .action = actions[i] };

		assert_false(fix_record(&r, &ev, 0, pdu));
	}
}

static void rows_equal(const struct fix_rows *rows, bool grouped, const char *want)
{
	int fd = memfd_create("rows", 0);
	char text[TEXT_BYTES];
	struct error err = { 0 };
	struct out out;
	ssize_t n;

	out_init(&out, dup(fd), "rows");
	fix_rows(&out, rows, grouped);
	assert_int_equal(out_close(&out, &err), 0);
	n = pread(fd, text, sizeof(text) - 1, 0);
	assert_true(n > 0);
	text[n] = '\0';
	assert_string_equal(text, want);
	close(fd);
}

#define ALL_KNOWN                                  \
	{                                          \
		true, true, true, true, true, true \
	}

/* KiB are 1024 bytes, MiB 1024 KiB; the next unit above a million. */
static void sizes(void **state)
{
	struct fix_rows rows = { .known = ALL_KNOWN };

	(void)state;
	rows.counts.bios[CLASS_READ] = (struct class_count){ 1000000, 1000000 * 1024ull };
	rows.counts.bios[CLASS_WRITE] = (struct class_count){ 1000001, 1000001 * 1024ull };
	rows.counts.requests[CLASS_READ] = (struct class_count){ 1, 1023 };
	rows.counts.requests[CLASS_WRITE] = (struct class_count){ 1, 1000001ull << 30 };
	rows.counts.completed[CLASS_WRITE] = (struct class_count){ 1, 3ull << 50 };
	rows_equal(&rows, true,
		   " Reads Queued:    1,000,000, 1,000,000KiB\t Writes Queued:       1,000K,      "
		   "976MiB\n"
		   " Read Dispatches:        1,        0KiB\t Write Dispatches:        1,      "
		   "976TiB\n"
		   " Reads Requeued:         0\t\t Writes Requeued:         0\n"
		   " Reads Completed:        0,        0KiB\t Writes Completed:        1,    "
		   "3,072TiB\n"
		   " Read Merges:            0,        0KiB\t Write Merges:            0,        "
		   "0KiB\n"
		   " IO unplugs:             0        \t Timer unplugs:           0\n");
}

/* What else there is has lines of its own, in the same columns. */
static void classes(void **state)
{
	struct fix_rows rows = { .known = ALL_KNOWN, .with_depth = true, .splits = 2 };
	struct io_counts *c = &rows.counts;

	(void)state;
	rows.depths = (struct depths){ .max = { 5, 3, 4 } };
	c->bios[CLASS_FLUSH].count = 1;
	c->requests[CLASS_FLUSH].count = 7;
	c->completed[CLASS_FLUSH].count = 6;
	c->bios[CLASS_DISCARD] = (struct class_count){ 2, 8192 };
	c->merges[CLASS_DISCARD] = (struct class_count){ 1, 4096 };
	c->requests[CLASS_PASSTHROUGH] = (struct class_count){ 1, 36 };
	c->requeues_busy[CLASS_WRITE] = 2;
	c->requeues_failed[CLASS_READ] = 1;
	c->rq_merges = 9;
	rows_equal(&rows, false,
		   " Reads Queued:           0,        0KiB\t Writes Queued:           0,        "
		   "0KiB\n"
		   " Read Dispatches:        0,        0KiB\t Write Dispatches:        0,        "
		   "0KiB\n"
		   " Reads Requeued:         1\t\t Writes Requeued:         2\n"
		   " Reads Completed:        0,        0KiB\t Writes Completed:        0,        "
		   "0KiB\n"
		   " Read Merges:            0,        0KiB\t Write Merges:            0,        "
		   "0KiB\n"
		   " Read depth:             3        \t Write depth:             4\n"
		   " Whole depth:            5\n"
		   " Flushes Queued:         1        \t Flushes Disp.:           7\n"
		   " Flushes Req.:           0\t\t Flushes Compl.:          6\n"
		   " Discards Queued:        2,        8KiB\t Discards Disp.:          0,        "
		   "0KiB\n"
		   " Discards Req.:          0\t\t Discards Compl.:         0,        0KiB\n"
		   " Discards Merged:        1,        4KiB\n"
		   " PC Queued:              0,        0KiB\t PC Disp.:                1,        "
		   "0KiB\n"
		   " PC Req.:                0\t\t PC Compl.:               0\n"
		   " Requeued, busy:         2        \t Requeued, failed:        1\n"
		   " NOWAIT retries:         0        \t Request merges:          9\n"
		   " Bio splits:             2\n"
		   " IO unplugs:             0        \t Timer unplugs:           0\n");
}

static void unknown(void **state)
{
	struct fix_rows rows = { .with_depth = true, .known = { .bios = true } };

	(void)state;
	rows.counts.bios[CLASS_READ] = (struct class_count){ 3, 0 };
	rows_equal(&rows, false,
		   " Reads Queued:           3,      n/a\t Writes Queued:           0,      n/a\n"
		   " Read Dispatches:      n/a,      n/a\t Write Dispatches:      n/a,      n/a\n"
		   " Reads Requeued:       n/a\t\t Writes Requeued:       n/a\n"
		   " Reads Completed:        0,      n/a\t Writes Completed:        0,      n/a\n"
		   " Read Merges:          n/a,      n/a\t Write Merges:          n/a,      n/a\n"
		   " Read depth:           n/a        \t Write depth:           n/a\n"
		   " Whole depth:          n/a\n"
		   " IO unplugs:           n/a        \t Timer unplugs:         n/a\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines), cmocka_unit_test(categories), cmocka_unit_test(no_lines),
		cmocka_unit_test(sizes), cmocka_unit_test(classes),    cmocka_unit_test(unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
