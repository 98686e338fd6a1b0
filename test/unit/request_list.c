// SPDX-License-Identifier: MIT
/* The list of single requests: order, the slowest, what is seen of each, and its letters. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "view/rwbs.h"
#include "view/tree.h"

struct fixture {
	struct request_list *list;
	struct facts facts;
	struct summary sum;
	struct report report;
};

static void begin(struct fixture *f, size_t top)
{
	request_list_free(f->list);
	f->list = request_list_new(top, TIME_NONE, TIME_NONE, &f->sum);
	f->report.requests = f->list;
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	facts_init(&f->facts);
	names_add(&f->facts.names, 7, 0, "dd", 2);
	f->sum.devices = calloc(2, sizeof(struct device_sum));
	f->sum.nr_devices = 2;
	f->sum.devices[0].device = DEVICE(8, 0);
	f->sum.devices[0].have_requests = true;
	f->sum.devices[1].device = DEVICE(9, 0);
	f->sum.last_ns = 100000;
	f->report = (struct report){ .facts = &f->facts, .sum = &f->sum, .genesis_ns = 1000 };
	begin(f, 0);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	request_list_free(f->list);
	facts_release(&f->facts);
	free(f->sum.devices);
	free(f);
	return 0;
}

static struct io request(uint64_t queue_ns, uint64_t took_ns, uint64_t sector)
{
	struct io io = io_unseen();

	io.queue_ns = queue_ns;
	io.get_ns = queue_ns + 1;
	io.insert_ns = queue_ns + 3;
	io.issue_ns = io.last_issue_ns = queue_ns + 6;
	io.complete_ns = io.end_ns = queue_ns + took_ns;
	io.sector = sector;
	io.bytes = 4096;
	io.pid = 7;
	io.nr_bios = io.attempts = 1;
	io.class = CLASS_WRITE;
	io.flags = EV_WRITE | EV_SYNC;
	return io;
}

static void phases_and_order(void **state)
{
	struct fixture *f = *state;
	struct track_sink sink = request_list_sink(f->list);
	struct io late = request(5000, 30, 80), early = request(2000, 90, 8);
	json_t *row;

	early.remap_ns = 1998;
	early.attempts = 2;
	early.last_issue_ns = 2050;
	early.attempt_lost_ns = 4;
	early.requeue_wait_ns = 40;
	sink.request(sink.arg, &late);
	sink.request(sink.arg, &early);
	request_list_finish(f->list);
	assert_int_equal(request_list_nr(f->list), 2);
	row = request_list_row(&f->report, 0);
	assert_int_equal(tree_u64(row, "sector"), 8);
	assert_int_equal(tree_u64(row, "start_ns"), 998);
	assert_string_equal(tree_str(row, "device"), "8,0");
	assert_string_equal(tree_str(row, "flags"), "WS");
	assert_string_equal(tree_str(row, "comm"), "dd");
	assert_string_equal(tree_str(row, "state"), "completed");
	assert_int_equal(tree_u64(row, "phases_ns.a2q"), 2);
	assert_int_equal(tree_u64(row, "phases_ns.q2g"), 1);
	assert_int_equal(tree_u64(row, "phases_ns.g2i"), 2);
	assert_int_equal(tree_u64(row, "phases_ns.i2d"), 3);
	assert_int_equal(tree_u64(row, "phases_ns.q2d"), 6);
	assert_int_equal(tree_u64(row, "phases_ns.attempt_lost"), 4);
	assert_int_equal(tree_u64(row, "phases_ns.requeue_wait"), 40);
	assert_int_equal(tree_u64(row, "phases_ns.d2c"), 40);
	assert_int_equal(tree_u64(row, "phases_ns.r_q2c"), 90);
	assert_int_equal(tree_u64(row, "phases_ns.chain_q2c"), 92);
	assert_null(tree_at(row, "phases_ns.g2d"));
	assert_null(tree_at(row, "parts_ns"));
	json_decref(row);
}

/* What did not end has no end, and an orphan no beginning and no submitter. */
static void halves(void **state)
{
	struct fixture *f = *state;
	struct track_sink sink = request_list_sink(f->list);
	struct io open = request(3000, 0, 8), lost = request(2000, 50, 16);
	struct event ev = { .time_ns = 2500, .device = DEVICE(8, 0), .sector = 24, .bytes = 512 };
	json_t *row;

	lost.lost = true;
	lost.complete_ns = lost.end_ns = TIME_NONE;
	open.complete_ns = open.end_ns = TIME_NONE;
	sink.request(sink.arg, &lost);
	sink.orphan(sink.arg, &ev);
	ev.device = DEVICE(1, 1); /* unknown */
	sink.orphan(sink.arg, &ev);
	sink.open(sink.arg, &open);
	request_list_finish(f->list);
	assert_int_equal(request_list_nr(f->list), 3);
	row = request_list_row(&f->report, 0);
	assert_string_equal(tree_str(row, "state"), "lost");
	assert_null(tree_at(row, "phases_ns.d2c"));
	assert_null(tree_at(row, "end_ns"));
	assert_null(tree_at(row, "errno"));
	json_decref(row);
	row = request_list_row(&f->report, 1);
	assert_string_equal(tree_str(row, "state"), "orphan_completion");
	assert_null(tree_at(row, "start_ns"));
	assert_null(tree_at(row, "pid"));
	json_decref(row);
	row = request_list_row(&f->report, 2);
	assert_string_equal(tree_str(row, "state"), "in_flight");
	assert_int_equal(tree_u64(row, "phases_ns.i2d"), 3);
	assert_null(tree_at(row, "phases_ns.d2c"));
	json_decref(row);
}

/* Bios are listed where there are no requests; elsewhere only flushes that are nothing else. */
static void bios(void **state)
{
	struct fixture *f = *state;
	struct track_sink sink = request_list_sink(f->list);
	struct io_bio bio = { .remap_ns = TIME_NONE,
			      .queue_ns = 2000,
			      .get_ns = TIME_NONE,
			      .merge_ns = TIME_NONE,
			      .complete_ns = 2700,
			      .sector = 8,
			      .bytes = 4096,
			      .pid = 7,
			      .dev = 1,
			      .class = CLASS_WRITE };
	json_t *row;

	sink.bio(sink.arg, &bio);
	bio.dev = 0;
	sink.bio(sink.arg, &bio);
	bio.class = CLASS_FLUSH;
	bio.bytes = 0;
	bio.queue_ns = 2100;
	bio.flags = EV_PREFLUSH | EV_WRITE | EV_SYNC;
	sink.bio(sink.arg, &bio);
	request_list_finish(f->list);
	assert_int_equal(request_list_nr(f->list), 2);
	row = request_list_row(&f->report, 0);
	assert_string_equal(tree_str(row, "kind"), "bio");
	assert_int_equal(tree_u64(row, "phases_ns.q2c"), 700);
	json_decref(row);
	row = request_list_row(&f->report, 1);
	assert_string_equal(tree_str(row, "flags"), "FWS");
	assert_null(tree_at(row, "sector"));
	json_decref(row);
}

static void only_the_slowest(void **state)
{
	struct fixture *f = *state;
	struct track_sink sink;
	json_t *row;

	begin(f, 3);
	sink = request_list_sink(f->list);
	for (unsigned int i = 0; i < 1000; i++) {
		struct io io = request(1000 + i * 10, 100 + (i * 7919) % 1000, i);

		sink.request(sink.arg, &io);
	}
	request_list_finish(f->list);
	assert_int_equal(request_list_nr(f->list), 3);
	for (size_t i = 0; i < 3; i++) {
		row = request_list_row(&f->report, i);
		assert_true(tree_u64(row, "phases_ns.r_q2c") >= 1097);
		json_decref(row);
	}
}

/* Of the slowest it is said what ran while it waited, by name; of all of them it is not. */
static void what_ran_meanwhile(void **state)
{
	struct fixture *f = *state;
	struct io slow = request(2000, 900, 8), fast = request(2100, 60, 16);
	struct track_sink sink;
	json_t *row;

	slow.issue_ns = slow.last_issue_ns = 2500; /* waits for 500 */
	slow.depth_at_issue = 1;
	slow.pid = 8;
	begin(f, 1);
	sink = request_list_sink(f->list);
	sink.request(sink.arg, &fast); /* at the device from 2106 to 2160 */
	sink.request(sink.arg, &slow);
	request_list_finish(f->list);
	assert_int_equal(request_list_nr(f->list), 1);
	row = request_list_row(&f->report, 0);
	assert_int_equal(tree_u64(row, "meanwhile.wait_ns"), 500);
	assert_int_equal(tree_u64(row, "meanwhile.requests"), 1);
	assert_int_equal(tree_u64(row, "meanwhile.device_ns"), 54);
	assert_int_equal(tree_u64(row, "meanwhile.idle_ns"), 446);
	assert_string_equal(
		tree_str(json_array_get(tree_at(row, "meanwhile.processes"), 0), "comm"), "dd");
	json_decref(row);
	begin(f, 0);
	sink = request_list_sink(f->list);
	sink.request(sink.arg, &slow);
	request_list_finish(f->list);
	row = request_list_row(&f->report, 0);
	assert_null(json_object_get(row, "meanwhile"));
	json_decref(row);
}

/* RFC 4180: commas and quotes are quoted, quotes doubled, lines end with CR LF; unknown is empty. */
static void csv(void **state)
{
	struct fixture *f = *state;
	struct track_sink sink = request_list_sink(f->list);
	struct io io = request(2000, 90, 8);
	char *text = NULL, *line;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	names_add(&f->facts.names, 9, 0, "a\"b,c", 5);
	io.pid = 9;
	sink.request(sink.arg, &io);
	request_list_finish(f->list);
	report_csv(&f->report, out);
	fclose(out);
	assert_int_equal(strncmp(text, "kind,state,start_ns,end_ns,device,name,sector,", 46), 0);
	line = strstr(text, "\r\n");
	assert_non_null(line);
	assert_string_equal(line + 2, "request,completed,1000,1090,\"8,0\",,8,8,4096,write,WS,9,"
				      "\"a\"\"b,c\",,,1,1,0,,,1,2,,,3,,6,84,,,,,,,,90,,\r\n");
	free(text);
}

static void flush_parts(void **state)
{
	struct fixture *f = *state;
	struct track_sink sink = request_list_sink(f->list);
	struct io io = request(2000, 900, 8);
	json_t *row;

	io.insert_ns = TIME_NONE;
	io.data_from_ns = 2500;
	io.preflush_ns = 400;
	io.issue_ns = io.last_issue_ns = 2510;
	io.complete_ns = 2600;
	io.postflush_ns = 200;
	io.flags |= EV_PREFLUSH | EV_FUA | EV_META;
	sink.request(sink.arg, &io);
	request_list_finish(f->list);
	row = request_list_row(&f->report, 0);
	assert_string_equal(tree_str(row, "flags"), "FWFSM");
	assert_int_equal(tree_u64(row, "parts_ns.preflush"), 400);
	assert_int_equal(tree_u64(row, "parts_ns.data"), 90);
	assert_int_equal(tree_u64(row, "parts_ns.postflush"), 200);
	assert_int_equal(tree_u64(row, "phases_ns.g2d"), 10);
	assert_int_equal(tree_u64(row, "phases_ns.r_q2c"), 900);
	json_decref(row);
}

static void rows_of_tables(void **state)
{
	struct fixture *f = *state;
	struct track_sink sink = request_list_sink(f->list);
	struct io io = io_unseen();
	json_t *row;

	io.whole_ns = 5000;
	io.class = CLASS_READ;
	io.flags = EV_NO_BYTES;
	sink.request(sink.arg, &io);
	request_list_finish(f->list);
	row = request_list_row(&f->report, 0);
	assert_int_equal(tree_u64(row, "phases_ns.d2c"), 5000);
	assert_null(tree_at(row, "start_ns"));
	assert_null(tree_at(row, "bytes"));
	json_decref(row);
}

static void letters(void **state)
{
	static const struct {
		enum io_class class;
		uint32_t flags;
		const char *expect;
	} cases[] = {
		{ CLASS_READ, EV_AHEAD, "RA" },
		{ CLASS_WRITE, EV_WRITE | EV_FUA | EV_SYNC | EV_ATOMIC, "WFSU" },
		{ CLASS_WRITE, EV_WRITE | EV_ZONE_APPEND | EV_SYNC, "ZAS" },
		{ CLASS_DISCARD, EV_WRITE | EV_SECURE, "DE" },
		{ CLASS_DISCARD, EV_WRITE | EV_SYNC, "DS" },
		{ CLASS_WRITE_ZEROES, EV_WRITE, "WZ" },
		{ CLASS_FLUSH, EV_WRITE, "FF" },
		{ CLASS_FLUSH, EV_PREFLUSH, "FN" },
		{ CLASS_PASSTHROUGH, EV_PC, "R" },
		{ CLASS_PASSTHROUGH, 0, "N" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(rwbs_of(cases[i].class, cases[i].flags).s, cases[i].expect);
}

static void exact_times(void **state)
{
	assert_string_equal(exact_ns(850, 1).s, "850 ns");
	assert_string_equal(exact_ns(35006, 1).s, "35.006 us");
	assert_string_equal(exact_ns(23549326, 1).s, "23.549326 ms");
	assert_string_equal(exact_ns(3021000, 1000).s, "3.021 ms");
	assert_string_equal(exact_ns(35000, 1000).s, "35 us");
	assert_string_equal(exact_ns(0, 1000).s, "<1.00 us");
	assert_string_equal(exact_ns(0, 1).s, "0 ns");
	assert_string_equal(exact_ns(32000000001, 1).s, "32.000000001 s");
	assert_string_equal(exact_ns(2900000, 10000).s, "2.90 ms");
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		CASE(phases_and_order),
		CASE(halves),
		CASE(bios),
		CASE(only_the_slowest),
		CASE(what_ran_meanwhile),
		CASE(csv),
		CASE(flush_parts),
		CASE(rows_of_tables),
		cmocka_unit_test(letters),
		cmocka_unit_test(exact_times),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
