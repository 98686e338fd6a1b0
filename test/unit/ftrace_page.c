/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../ftrace_build.h"
#include "read/ftrace_page.h"

#define PAGE 4096

/* A writer of pages in either byte order. */
struct maker {
	bool big;
	unsigned int long_size;
	uint8_t bytes[4 * PAGE];
	size_t page, at; /* start of the current page; where the next byte goes */
};

static void put(struct maker *m, size_t at, uint64_t value, unsigned int size)
{
	for (unsigned int i = 0; i < size; i++)
		m->bytes[at + (m->big ? size - 1 - i : i)] = (uint8_t)(value >> (8 * i));
}

static void add(struct maker *m, uint64_t value, unsigned int size)
{
	put(m, m->at, value, size);
	m->at += size;
}

static void maker_init(struct maker *m, bool big, unsigned int long_size)
{
	memset(m, 0, sizeof(*m));
	m->big = big;
	m->long_size = long_size;
}

static void page_begin(struct maker *m, uint64_t time)
{
	put(m, m->page, time, 8);
	m->at = m->page + 8 + m->long_size;
}

/* `missed` < 0: none; 0: some, not counted. */
static void page_end(struct maker *m, int missed)
{
	uint64_t commit = m->at - m->page - 8 - m->long_size;

	if (missed >= 0)
		commit |= 0xffffffff80000000; /* the kernel's int of bit 31, extended */
	if (missed > 0) {
		commit |= 1u << 30;
		add(m, (uint64_t)missed, m->long_size);
	}
	put(m, m->page + 8, commit, m->long_size);
	m->page += PAGE;
	m->at = m->page;
}

static void header(struct maker *m, uint32_t type, uint32_t delta)
{
	add(m, m->big ? type << 27 | delta : type | delta << 5, 4);
}

static void text(struct maker *m, size_t at, const char *s, size_t room)
{
	memset(m->bytes + at, 0, room);
	memcpy(m->bytes + at, s, strlen(s));
}

/* Common fields and device 7,0. */
static size_t fields(struct maker *m, uint32_t id, uint32_t pid, uint64_t sector, size_t size)
{
	size_t at = m->at;

	memset(m->bytes + at, 0, size);
	put(m, at, id, 2);
	put(m, at + 4, pid, 4);
	put(m, at + 8, 7u << 20, 4);
	put(m, at + 16, sector, 8);
	m->at += size;
	return at;
}

static void queue(struct maker *m, uint32_t delta, uint64_t sector, uint32_t nr, const char *rwbs)
{
	size_t at;

	header(m, 56 / 4, delta);
	at = fields(m, 10, 77, sector, 56);
	put(m, at + 24, nr, 4);
	text(m, at + 28, rwbs, 10);
	text(m, at + 38, "dd", 16);
}

static void issue(struct maker *m, uint32_t delta, uint64_t sector, uint32_t nr, uint32_t bytes,
		  const char *rwbs)
{
	size_t at;

	header(m, 64 / 4, delta);
	at = fields(m, 11, 78, sector, 64);
	put(m, at + 24, nr, 4);
	put(m, at + 28, bytes, 4);
	text(m, at + 34, rwbs, 10);
	text(m, at + 44, "kworker/0:1", 16);
}

static void complete(struct maker *m, uint32_t delta, uint64_t sector, uint32_t nr, int error,
		     const char *rwbs)
{
	size_t at;

	header(m, 44 / 4, delta);
	at = fields(m, 12, 0, sector, 44);
	put(m, at + 24, nr, 4);
	put(m, at + 28, (uint32_t)error, 4);
	text(m, at + 34, rwbs, 10);
}

/* What came out. */
struct result {
	struct facts facts;
	struct source_stats stats;
	struct event events[64];
	int nr;
};

static void read_pages(struct result *r, const struct maker *m, size_t len, uint64_t ring_lost)
{
	struct page_machine machine = { !m->big, m->long_size, PAGE };
	struct page_cpu cpu = { .cpu = 3, .start_ns = 10, .ring_lost = ring_lost };
	struct error err = { 0 };
	struct page_layout *layout;
	struct source *src;
	struct input in;
	int got;

	memset(r, 0, sizeof(*r));
	facts_init(&r->facts);
	r->facts.dropped = ring_lost;
	facts_input(&r->facts, "test", "trace");
	build_group(&in, "test");
	build_blob(&in, "cpu3.pages", m->bytes, len);
	layout = page_layout_new(&in, &machine, &err);
	assert_non_null(layout);
	src = page_source_new(layout, input_blob(&in, "cpu3.pages"), &cpu, &r->facts);
	page_layout_put(layout);
	while ((got = source_pull(src, r->events + r->nr, 2, &err)) > 0)
		r->nr += got;
	assert_int_equal(got, 0);
	r->stats = src->stats;
	assert_int_equal(r->facts.inputs[0].events, r->nr);
	source_release(src);
	input_release(&in);
}

static void in_order(bool big, unsigned int long_size)
{
	struct maker m;
	struct result r;

	maker_init(&m, big, long_size);
	page_begin(&m, 1000);
	queue(&m, 0, 800, 8, "FWFSM");
	issue(&m, 7, 800, 8, 4096, "WS");
	complete(&m, 9, 800, 8, -5, "WS");
	page_end(&m, -1);
	page_begin(&m, 5000);
	queue(&m, 0, 0, 0, "FWS");
	page_end(&m, -1);
	read_pages(&r, &m, 2 * PAGE, 0);
	assert_int_equal(r.nr, 4);
	assert_int_equal(r.events[0].time_ns, 1000);
	assert_int_equal(r.events[0].action, ACT_QUEUE);
	assert_int_equal(r.events[0].class, CLASS_WRITE);
	assert_int_equal(r.events[0].flags, EV_WRITE | EV_PREFLUSH | EV_FUA | EV_SYNC | EV_META);
	assert_int_equal(r.events[0].sector, 800);
	assert_int_equal(r.events[0].bytes, 4096);
	assert_int_equal(r.events[0].device, DEVICE(7, 0));
	assert_int_equal(r.events[0].pid, 77);
	assert_int_equal(r.events[0].cpu, 3);
	assert_int_equal(r.events[1].time_ns, 1007);
	assert_int_equal(r.events[1].action, ACT_ISSUE);
	assert_int_equal(r.events[2].time_ns, 1016);
	assert_int_equal(r.events[2].error, -5);
	assert_int_equal(r.events[3].time_ns, 5000);
	assert_int_equal(r.events[3].class, CLASS_FLUSH);
	assert_string_equal(names_get(&r.facts.names, 77, 1000), "dd");
	assert_string_equal(names_get(&r.facts.names, 78, 1000), "kworker/0:1");
	assert_int_equal(r.stats.damages, 0);
	assert_int_equal(r.stats.bytes, 2 * PAGE);
	facts_release(&r.facts);
}

static void either_order_and_long(void **state)
{
	in_order(false, 8);
	in_order(true, 8);
	in_order(false, 4);
	in_order(true, 4);
}

static void times(void **state)
{
	const uint64_t start = 1ull << 60;
	struct maker m;
	struct result r;

	maker_init(&m, false, 8);
	page_begin(&m, start);
	header(&m, 30, 5); /* time extend */
	add(&m, 2, 4);
	queue(&m, 1, 8, 8, "W");
	header(&m, 29, 1); /* discarded, had no delta */
	add(&m, 12, 4);
	add(&m, 0, 8);
	queue(&m, 1, 16, 8, "W");
	header(&m, 29, 50); /* discarded, its delta counts */
	add(&m, 4, 4);
	queue(&m, 1, 24, 8, "W");
	header(&m, 31, 3); /* absolute, without the upper five bits */
	add(&m, 9, 4);
	queue(&m, 1, 32, 8, "W");
	header(&m, 31, 3);
	add(&m, 1, 4);
	queue(&m, 1, 36, 8, "W");
	header(&m, 29, 0); /* to the page's end */
	queue(&m, 1, 40, 8, "W");
	page_end(&m, -1);
	read_pages(&r, &m, PAGE, 0);
	assert_int_equal(r.nr, 5);
	assert_int_equal(r.events[0].time_ns, start + (2ull << 27) + 5 + 1);
	assert_int_equal(r.events[1].time_ns, r.events[0].time_ns + 1);
	assert_int_equal(r.events[2].time_ns, r.events[1].time_ns + 51);
	assert_int_equal(r.events[3].time_ns, start + (9ull << 27) + 3 + 1);
	/* smaller than the time before: its 59 bits have wrapped */
	assert_int_equal(r.events[4].time_ns, start + (1ull << 59) + (1ull << 27) + 3 + 1);
	assert_int_equal(r.stats.damages, 0);
	facts_release(&r.facts);
}

static void what_is_what(void **state)
{
	struct maker m;
	struct result r;
	size_t at;

	maker_init(&m, false, 8);
	page_begin(&m, 1);
	issue(&m, 1, 0, 0, 4096, "N");           /* passthrough */
	complete(&m, 1, UINT64_MAX, 8, 0, "N");  /* its end */
	issue(&m, 1, 64, 8, 4096, "NS");         /* write zeroes on today's kernels */
	issue(&m, 1, 0, 0, 0, "FF");             /* flush command */
	complete(&m, 1, UINT64_MAX, 0, 0, "FF"); /* its end */
	issue(&m, 1, 8, 16, 4096, "DS");         /* bytes rule, sectors do not */
	header(&m, 60 / 4, 1);
	at = fields(&m, 13, 1, 100, 60);
	put(&m, at + 24, 140, 8);
	text(&m, at + 32, "RA", 10);
	header(&m, 28 / 4, 1);
	at = fields(&m, 15, 1, 0, 28);
	put(&m, at + 8, 11, 4);
	text(&m, at + 12, "sh", 16);
	page_end(&m, -1);
	read_pages(&r, &m, PAGE, 0);
	assert_int_equal(r.nr, 8);
	assert_int_equal(r.events[0].class, CLASS_PASSTHROUGH);
	assert_int_equal(r.events[0].bytes, 4096);
	assert_int_equal(r.events[1].class, CLASS_PASSTHROUGH);
	assert_int_equal(r.events[2].class, CLASS_WRITE_ZEROES);
	assert_int_equal(r.events[3].class, CLASS_FLUSH);
	assert_int_equal(r.events[4].class, CLASS_FLUSH);
	assert_true(r.events[4].sector == SECTOR_NONE);
	assert_int_equal(r.events[5].class, CLASS_DISCARD);
	assert_int_equal(r.events[5].bytes, 4096);
	assert_int_equal(r.events[6].action, ACT_SPLIT);
	assert_int_equal(r.events[6].class, CLASS_READ);
	assert_int_equal(r.events[6].aux_sector, 140);
	assert_int_equal(r.events[6].bytes, 40 * 512);
	assert_true(r.events[6].flags & EV_NO_BYTES);
	assert_true(r.events[6].flags & EV_AHEAD);
	assert_int_equal(r.events[7].action, ACT_UNPLUG);
	assert_int_equal(r.events[7].class, CLASS_NONE);
	assert_int_equal(r.events[7].aux_sector, 11);
	assert_int_equal(r.events[7].device, 0);
	facts_release(&r.facts);
}

static void fork_is_a_fact(void **state)
{
	struct maker m;
	struct result r;
	size_t at;

	maker_init(&m, true, 8);
	page_begin(&m, 100);
	header(&m, 0, 1); /* the long form */
	add(&m, 36 + 4, 4);
	at = m.at;
	memset(m.bytes + at, 0, 36);
	put(&m, at, 14, 2);
	put(&m, at + 4, 50, 4);
	put(&m, at + 8, 3u << 16 | 24, 4);
	put(&m, at + 12, 50, 4);
	put(&m, at + 16, 5u << 16 | 27, 4);
	put(&m, at + 20, 51, 4);
	memcpy(m.bytes + at + 24, "sh\0make", 8);
	m.at += 36;
	page_end(&m, -1);
	read_pages(&r, &m, PAGE, 0);
	assert_int_equal(r.nr, 0);
	assert_int_equal(r.stats.damages, 0);
	assert_true(names_descends(&r.facts.names, 51, 50));
	assert_string_equal(names_get(&r.facts.names, 51, 101), "make");
	facts_release(&r.facts);
}

static void losses(void **state)
{
	struct maker m;
	struct result r;

	maker_init(&m, false, 8);
	page_begin(&m, 100);
	queue(&m, 0, 8, 8, "W");
	page_end(&m, 4);
	page_begin(&m, 200); /* no record: adds to the next */
	page_end(&m, 1);
	page_begin(&m, 300);
	queue(&m, 0, 8, 8, "W");
	page_end(&m, 6);
	page_begin(&m, 400);
	page_end(&m, 0);
	read_pages(&r, &m, 4 * PAGE, 5);
	assert_int_equal(r.facts.nr_losses, 3);
	assert_int_equal(r.facts.losses[0].cpu, 3);
	assert_int_equal(r.facts.losses[0].from_ns, 10); /* start of the recording */
	assert_int_equal(r.facts.losses[0].to_ns, 100);
	assert_int_equal(r.facts.losses[0].events, 4);
	assert_true(r.facts.losses[0].count_known);
	assert_int_equal(r.facts.losses[1].from_ns, 100);
	assert_int_equal(r.facts.losses[1].to_ns, 300);
	assert_int_equal(r.facts.losses[1].events, 7);
	assert_false(r.facts.losses[2].count_known);
	assert_int_equal(r.facts.losses[2].to_ns, 400);
	assert_int_equal(r.stats.lost, 11);
	/* the ring's statistics knew of 5 of them */
	assert_int_equal(r.facts.dropped, 11);
	assert_true(r.facts.dropped_told);
	facts_release(&r.facts);
	read_pages(&r, &m, 4 * PAGE, 500);
	assert_int_equal(r.facts.dropped, 500);
	/* one loss is not counted, so the rest is its number */
	assert_true(r.facts.losses[2].count_known);
	assert_int_equal(r.facts.losses[2].events, 500 - 11);
	assert_int_equal(r.stats.lost, 500);
	facts_release(&r.facts);
}

static void damage(void **state)
{
	struct maker m;
	struct result r;
	size_t len;

	maker_init(&m, false, 8);
	page_begin(&m, 100);
	queue(&m, 0, 8, 8, "W");
	header(&m, 0, 1); /* longer than the page */
	add(&m, 5000, 4);
	page_end(&m, -1);
	page_begin(&m, 200);
	m.at += 5000; /* no such commit */
	page_end(&m, -1);
	m.page = 2 * PAGE; /* page_end went on from the wrong place by nothing */
	m.page += PAGE;    /* a page of zeros */
	page_begin(&m, 300);
	queue(&m, 0, 16, 8, "W");
	header(&m, 4, 1); /* too short for its format */
	add(&m, 10, 2);
	m.at += 14;
	header(&m, 1, 1); /* of no known format */
	add(&m, 999, 4);
	queue(&m, 0, 24, 8, "W");
	len = m.at - 5; /* cut inside the last record */
	page_end(&m, -1);
	read_pages(&r, &m, len, 0);
	assert_int_equal(r.nr, 2);
	assert_int_equal(r.events[1].sector, 16);
	assert_int_equal(r.stats.damaged_bytes, 8 + PAGE + PAGE + 16 + (5 + 60 - 5));
	assert_int_equal(r.facts.nr_notes, 1);
	facts_release(&r.facts);
}

/* Any cut of a trace gives the events before it, and the rest is counted. */
static void every_cut(void **state)
{
	struct maker m;
	struct result r;

	maker_init(&m, false, 8);
	page_begin(&m, 100);
	for (int i = 0; i < 5; i++)
		queue(&m, 1, 8, 8, "W");
	page_end(&m, -1);
	for (size_t len = 0; len <= 400; len++) {
		read_pages(&r, &m, len, 0);
		assert_int_equal(r.nr, len < 16 ? 0 : (len - 16) / 60 > 5 ? 5 : (len - 16) / 60);
		if (len && len < 16 + 300)
			assert_true(r.stats.damages > 0);
		else
			assert_int_equal(r.stats.damages, 0);
		facts_release(&r.facts);
	}
}

static void dump(void **state)
{
	struct page_machine machine = { true, 8, PAGE };
	struct error err = { 0 };
	struct maker m;
	struct input in;
	char *out = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&out, &len);

	maker_init(&m, false, 8);
	page_begin(&m, 1500);
	complete(&m, 5, 64, 8, -5, "W\"S");
	page_end(&m, -1);
	build_group(&in, "test");
	build_blob(&in, "cpu12.pages", m.bytes, PAGE);
	assert_int_equal(page_dump(&in, &machine, f, &err), 0);
	fclose(f);
	assert_string_equal(
		out, "block_rq_complete 1505 12 0 dev=7340032 sector=64 nr_sector=8 error=-5 "
		     "rwbs=\"W\\x22S\"\n");
	free(out);
	input_release(&in);
}

static void bad_layouts(void **state)
{
	static const char far_data[] =
		"\tfield: char data;\toffset:16;\tsize:99999999;\tsigned:0;\n"
		"\tfield: local_t commit;\toffset:4090;\tsize:8;\n";
	struct page_machine machine = { true, 8, PAGE };
	struct error err = { 0 };
	struct input in = { .label = mem_strdup("t"), .base = mem_strdup("t") };

	assert_null(page_layout_new(&in, &machine, &err)); /* no formats */
	assert_non_null(strstr(err.text, "t: "));
	input_release(&in);
	build_group(&in, "t");
	build_blob(&in, "formats/header_page", far_data, strlen(far_data));
	assert_null(page_layout_new(&in, &machine, &err));
	assert_non_null(strstr(err.text, "header_page"));
	input_release(&in);
	build_group(&in, "t");
	build_blob(&in, "formats/block/x", "name: x\nID: 70000\n", 18);
	assert_null(page_layout_new(&in, &machine, &err));
	assert_non_null(strstr(err.text, "formats/block/x"));
	input_release(&in);
}

static void blob_names(void **state)
{
	assert_int_equal(page_blob_cpu("cpu0.pages"), 0);
	assert_int_equal(page_blob_cpu("cpu117.pages"), 117);
	assert_int_equal(page_blob_cpu("cpu.pages"), -1);
	assert_int_equal(page_blob_cpu("cpu1.page"), -1);
	assert_int_equal(page_blob_cpu("cpu99999999999.pages"), -1);
	assert_int_equal(page_blob_cpu("x"), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(either_order_and_long),
		cmocka_unit_test(times),
		cmocka_unit_test(what_is_what),
		cmocka_unit_test(fork_is_a_fact),
		cmocka_unit_test(losses),
		cmocka_unit_test(damage),
		cmocka_unit_test(every_cut),
		cmocka_unit_test(dump),
		cmocka_unit_test(bad_layouts),
		cmocka_unit_test(blob_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
