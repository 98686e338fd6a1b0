/* SPDX-License-Identifier: MIT
 *
 * The reader of blktrace's binary files on records made here: versions, byte orders, payloads, notes,
 * and every kind of damage.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "cm.h"
#include "trace/format.h"

extern const struct format format_blktrace_bin;

#define TC(bit) (1ull << ((bit) + 16))
enum {
	READ = 0,
	WRITE = 1,
	FLUSH = 2,
	SYNC = 3,
	QUEUE = 4,
	ISSUE = 6,
	COMPLETE = 7,
	FS = 8,
	PC = 9,
	NOTIFY = 10,
	META = 12,
	DISCARD = 13,
	FUA = 15,
	ZONE_RESET = 17,
	WRITE_ZEROES = 22
};

/* What is written, and where. */
struct out {
	uint8_t bytes[400000];
	size_t len;
	bool swap;
	int version;
	uint32_t cpu, sequence;
	bool timed; /* the next record's time is this one */
	uint64_t time_ns;
};

static void put(struct out *o, uint64_t v, size_t n)
{
	uint8_t raw[8];

	if (o->swap)
		v = __builtin_bswap64(v) >> (64 - 8 * n);
	memcpy(raw, &v, 8); /* little-endian host */
	memcpy(o->bytes + o->len, raw, n);
	o->len += n;
}

/* One record; time is 1000 x its place where it is not set. */
static void record(struct out *o, uint64_t action, uint64_t sector, uint32_t bytes, uint32_t error,
		   const void *pdu, size_t pdu_len)
{
	uint32_t sequence = action & TC(NOTIFY) ? 0x65617407 : ++o->sequence; /* stale memory */

	put(o, 0x65617400u | (uint32_t)o->version, 4);
	put(o, sequence, 4);
	put(o, o->timed ? o->time_ns : 1000 * (o->sequence + 1), 8);
	put(o, sector, 8);
	put(o, bytes, 4);
	if (o->version == 7) {
		put(o, action, 4);
		put(o, 42, 4);
	} else {
		put(o, 42, 4);
		put(o, action, 8);
	}
	put(o, DEVICE(8, 1), 4);
	put(o, o->cpu, 4);
	put(o, error & 0xffff, 2);
	put(o, pdu_len, 2);
	if (o->version == 8) {
		put(o, 0, 8);
		put(o, 0, 4);
	}
	if (pdu_len)
		memcpy(o->bytes + o->len, pdu, pdu_len);
	o->len += pdu_len;
}

struct run {
	struct event events[64];
	char text[64][128]; /* payloads, copied */
	int nr;
	struct source_stats stats;
	struct facts facts;
	struct error err;
	int rc;
};

/* Reads `o` as vda.blktrace.CPU (cpu < 0: as a file of any name). */
static void read_back(struct run *run, const struct out *o, int cpu)
{
	struct input in;
	struct sources sources = { 0 };
	char *name = cpu < 0 ? mem_strdup("dump") : mem_printf("vda.blktrace.%d", cpu);
	uint8_t *copy = malloc(o->len + 1); /* so that the sanitizer sees its end */

	memset(run, 0, sizeof(*run));
	facts_init(&run->facts);
	memcpy(copy, o->bytes, o->len);
	input_memory(&in, name, copy, o->len);
	run->rc = format_blktrace_bin.open(&in, &run->facts, &sources, &run->err);
	if (run->rc == 0) {
		struct source *src = sources.list[0];
		int n;

		while ((n = source_pull(src, run->events + run->nr, 64 - run->nr, &run->err)) > 0) {
			for (int i = run->nr; i < run->nr + n; i++)
				if (run->events[i].payload_len)
					memcpy(run->text[i], run->events[i].payload,
					       run->events[i].payload_len);
			run->nr += n;
		}
		run->rc = n;
		run->stats = src->stats;
	}
	sources_release(&sources);
	input_release(&in);
	free(copy);
	free(name);
}

static void done(struct run *run)
{
	facts_release(&run->facts);
}

static void be64(uint8_t *at, uint64_t v)
{
	v = __builtin_bswap64(v);
	memcpy(at, &v, 8);
}

static void everything(struct out *o)
{
	static const uint8_t unplug[8] = { 0, 0, 0, 0, 0, 0, 0, 5 };
	uint8_t remap[16] = { 0, 0x80, 0, 2, 0, 0x80, 0, 0 }, split[8], clock[8],
		cgroup[16] = { 1 };
	uint32_t sec = o->swap ? __builtin_bswap32(1700000000) : 1700000000;
	uint32_t nsec = o->swap ? __builtin_bswap32(7) : 7;

	be64(remap + 8, 999);
	be64(split, 2056);
	memcpy(clock, &sec, 4);
	memcpy(clock + 4, &nsec, 4);
	memcpy(cgroup + 8, "message", 7);
	record(o, TC(NOTIFY) | 1, 1, 0x65617407, 9, clock, 8);
	record(o, TC(NOTIFY) | 0, 1, 0x65617407, 9, "dd\0stale memory\0", 16);
	record(o, TC(WRITE) | TC(QUEUE) | 15, 2048, 4096, 0, remap, 16);
	record(o, TC(WRITE) | TC(FLUSH) | TC(FUA) | TC(SYNC) | TC(META) | TC(QUEUE) | 1, 2048, 4096,
	       0, NULL, 0);
	record(o, TC(WRITE) | 13, 2048, 4096, 0, split, 8);
	record(o, TC(READ) | TC(QUEUE) | 10, 0, 0, 0, unplug, 8);
	record(o, TC(READ) | TC(FLUSH) | TC(FS) | TC(ISSUE) | 7, 0, 0, 0, NULL, 0);
	record(o, TC(WRITE) | TC(FS) | TC(QUEUE) | 2, 4096, 512, 0, NULL, 0);
	record(o, TC(READ) | TC(FS) | TC(COMPLETE) | 8, 4096, 512, (uint32_t)-61, NULL, 0);
	record(o, TC(READ) | TC(COMPLETE) | 8, 4096, 512, 0, NULL, 0);
	record(o, TC(READ) | TC(PC) | TC(ISSUE) | 7, 0, 96, 0, "\x12\0\0\0", 4);
	record(o, TC(WRITE) | TC(DISCARD) | TC(FS) | TC(ISSUE) | 7, 0, 1 << 30, 0, NULL, 0);
	record(o, TC(NOTIFY) | 0x100 | 2, 0, 0, 0, cgroup, 15);
	record(o, TC(NOTIFY) | 2, 0, 0, 0, "plain", 5);
}

static void check_everything(const struct run *r)
{
	const struct event *e = r->events;

	assert_int_equal(r->rc, 0);
	assert_int_equal(r->nr, 12);
	assert_int_equal(r->stats.damaged_bytes, 0);
	assert_int_equal(r->stats.sequence_gaps, 0);
	assert_true(r->facts.have_wall);
	assert_int_equal(r->facts.wall_ns, 1700000000000000007);
	assert_string_equal(names_get(&r->facts.names, 42, 5000), "dd");
	assert_int_equal(e[0].action, ACT_REMAP);
	assert_int_equal(e[0].device, DEVICE(8, 0));
	assert_int_equal(e[0].aux_device, DEVICE(8, 2));
	assert_int_equal(e[0].aux_sector, 999);
	assert_int_equal(e[1].action, ACT_QUEUE);
	assert_int_equal(e[1].class, CLASS_WRITE);
	assert_int_equal(e[1].flags, EV_WRITE | EV_PREFLUSH | EV_FUA | EV_SYNC | EV_META);
	assert_int_equal(e[1].sector, 2048);
	assert_int_equal(e[1].bytes, 4096);
	assert_int_equal(e[1].pid, 42);
	assert_int_equal(e[1].device, DEVICE(8, 1));
	assert_int_equal(e[1].cpu, 3);
	assert_int_equal(e[1].sequence, 2);
	assert_int_equal(e[1].time_ns, 3000);
	assert_int_equal(e[2].action, ACT_SPLIT);
	assert_int_equal(e[2].aux_sector, 2056);
	assert_int_equal(e[3].action, ACT_UNPLUG);
	assert_int_equal(e[3].aux_sector, 5);
	assert_int_equal(e[3].class, CLASS_NONE);
	assert_int_equal(e[4].class, CLASS_FLUSH);
	assert_int_equal(e[4].flags & (EV_PREFLUSH | EV_FS), EV_PREFLUSH | EV_FS);
	assert_int_equal(e[5].action, ACT_RQ_MERGE);
	assert_int_equal(e[6].action, ACT_COMPLETE);
	assert_int_equal(e[6].error, -61);
	assert_int_equal(e[7].action, ACT_BIO_COMPLETE);
	assert_int_equal(e[8].class, CLASS_PASSTHROUGH);
	assert_int_equal(e[8].payload_len, 4);
	assert_int_equal(r->text[8][0], 0x12);
	assert_int_equal(e[9].class, CLASS_DISCARD);
	assert_int_equal(e[10].action, ACT_MESSAGE);
	assert_string_equal(r->text[10], "message");
	assert_int_equal(e[10].flags, EV_CGROUP);
	assert_int_equal(e[10].bytes, 0);
	assert_string_equal(r->text[11], "plain");
}

static void versions_and_orders(void **state)
{
	(void)state;
	for (int version = 7; version <= 8; version++) {
		for (int swap = 0; swap < 2; swap++) {
			struct out o = { .version = version, .swap = swap, .cpu = 3 };
			struct run r;

			everything(&o);
			read_back(&r, &o, 3);
			check_everything(&r);
			done(&r);
			read_back(&r, &o, -1); /* a merged dump */
			check_everything(&r);
			done(&r);
		}
	}
}

static void version_8_classes(void **state)
{
	struct out o = { .version = 8, .cpu = 0 };
	struct run r;

	(void)state;
	record(&o, TC(WRITE) | TC(WRITE_ZEROES) | TC(QUEUE) | 1, 0, 4096, 0, NULL, 0);
	record(&o, TC(WRITE) | TC(ZONE_RESET) | TC(QUEUE) | 1, 0, 4096, 0, NULL, 0);
	record(&o, TC(WRITE) | TC(QUEUE) | 18, 0, 4096, 0, NULL, 0);
	read_back(&r, &o, 0);
	assert_int_equal(r.nr, 3);
	assert_int_equal(r.events[0].class, CLASS_WRITE_ZEROES);
	assert_int_equal(r.events[1].class, CLASS_ZONE);
	assert_int_equal(r.events[2].action, ACT_ZONE_PLUG);
	done(&r);
}

static void ten(struct out *o)
{
	for (uint32_t i = 0; i < 10; i++)
		record(o, TC(WRITE) | TC(QUEUE) | 1, 8 * i, 4096, 0, i & 1 ? "abcd" : NULL,
		       i & 1 ? 4 : 0);
}

/* Wherever the file is cut, all whole records are read and the rest is counted. */
static void cut_anywhere(void **state)
{
	(void)state;
	for (int version = 7; version <= 8; version++) {
		struct out whole = { .version = version };
		size_t size = version == 7 ? 48 : 64;

		ten(&whole);
		for (size_t len = 0; len <= whole.len; len++) {
			struct out o = whole;
			size_t at = 0;
			struct run r;
			int nr = 0;

			while (nr < 10 && at + size + (nr & 1) * 4 <= len)
				at += size + (size_t)(nr++ & 1) * 4;
			o.len = len;
			read_back(&r, &o, 0);
			if (len < 4 && len) { /* not even a magic */
				assert_int_equal(r.nr, 0);
			} else {
				assert_int_equal(r.nr, nr);
				assert_int_equal(r.stats.damaged_bytes, len - at);
				assert_int_equal(r.stats.damages, len > at);
			}
			done(&r);
		}
	}
}

static void zero_tail(void **state)
{
	struct out o = { .version = 7 };
	struct run r;

	(void)state;
	ten(&o);
	memset(o.bytes + o.len, 0, 1000);
	o.len += 1000;
	read_back(&r, &o, 0);
	assert_int_equal(r.nr, 10);
	assert_int_equal(r.stats.damaged_bytes, 1000);
	assert_int_equal(r.stats.damages, 1);
	done(&r);
}

/* One record damaged in the middle, in each of the fields that show it: it alone is lost. */
static void damaged_record(void **state)
{
	static const struct {
		size_t at;
		uint8_t value;
	} hits[] = { { 0, 0xff } /* magic */, { 40, 9 } /* cpu */, { 46, 77 } /* pdu_len */ };

	(void)state;
	for (size_t i = 0; i < sizeof(hits) / sizeof(*hits); i++) {
		struct out o = { .version = 7 };
		size_t third = 48 + 52 + 0;
		struct run r;

		ten(&o);
		o.bytes[third + hits[i].at] = hits[i].value;
		read_back(&r, &o, 0);
		assert_int_equal(r.nr, 9);
		assert_int_equal(r.events[2].sector, 24);
		assert_int_equal(r.stats.damaged_bytes, 48);
		assert_int_equal(r.stats.damages, 1);
		assert_int_equal(r.stats.sequence_gaps, 1); /* its number is missing */
		assert_int_equal(r.facts.nr_notes, 0);
		done(&r);
	}
}

/* Damage larger than any buffer is one damage, and what was lent before it stays whole. */
static void long_damage(void **state)
{
	struct out *o = calloc(1, sizeof(*o));
	struct run r;

	(void)state;
	o->version = 7;
	record(o, TC(NOTIFY) | 2, 0, 0, 0, "before", 6);
	memset(o->bytes + o->len, 0xaa, 300000);
	o->len += 300000;
	record(o, TC(NOTIFY) | 2, 0, 0, 0, "behind", 6);
	read_back(&r, o, 0);
	assert_int_equal(r.nr, 2);
	assert_string_equal(r.text[0], "before");
	assert_string_equal(r.text[1], "behind");
	assert_int_equal(r.stats.damaged_bytes, 300000);
	assert_int_equal(r.stats.damages, 1);
	done(&r);
	free(o);
}

/* A payload that holds a whole record does not catch the resynchronisation: its cpu is another. */
static void no_false_record(void **state)
{
	struct out inner = { .version = 7, .cpu = 5 }, o = { .version = 7 };
	struct run r;

	(void)state;
	record(&inner, TC(WRITE) | TC(QUEUE) | 1, 1, 512, 0, NULL, 0);
	record(&o, TC(WRITE) | TC(QUEUE) | 1, 8, 512, 0, NULL, 0);
	record(&o, TC(NOTIFY) | 2, 0, 0, 0, inner.bytes, inner.len);
	record(&o, TC(WRITE) | TC(QUEUE) | 1, 16, 512, 0, NULL, 0);
	o.bytes[48] = 0; /* the message's magic */
	read_back(&r, &o, 0);
	assert_int_equal(r.nr, 2);
	assert_int_equal(r.events[1].sector, 16);
	assert_int_equal(r.stats.damaged_bytes, 96);
	done(&r);
}

static void missing_numbers(void **state)
{
	struct out o = { .version = 7 };
	struct run r;

	(void)state;
	o.sequence = 3; /* 1..3 are missing */
	record(&o, TC(WRITE) | TC(QUEUE) | 1, 8, 512, 0, NULL, 0);
	o.sequence = 9; /* 5..9 too */
	record(&o, TC(WRITE) | TC(QUEUE) | 1, 8, 512, 0, NULL, 0);
	read_back(&r, &o, 0);
	assert_int_equal(r.nr, 2);
	assert_int_equal(r.stats.sequence_gaps, 3 + 5);
	done(&r);
}

#define SECOND UINT64_C(1000000000)

static void note_clock(struct out *o, uint64_t time_ns)
{
	static const uint32_t clock[2] = { 1700000000, 0 };

	o->time_ns = time_ns;
	record(o, TC(NOTIFY) | 1, 0, 0, 0, clock, 8);
}

static void note_name(struct out *o, uint64_t time_ns, const char *name)
{
	o->time_ns = time_ns;
	record(o, TC(NOTIFY) | 0, 0, 0, 0, name, strlen(name));
}

static void queue_at(struct out *o, uint64_t time_ns)
{
	o->time_ns = time_ns;
	record(o, TC(WRITE) | TC(QUEUE) | 1, 8, 512, 0, NULL, 0);
}

/* blkparse -d lets events begin at 0 and leaves the notes: the thread's own note tells where names
 * belong, but no wall clock. */
static void a_dump_of_blkparse(void **state)
{
	struct out o = { .version = 7, .timed = true };
	struct run r;

	(void)state;
	note_clock(&o, 12 * SECOND);
	note_name(&o, 13 * SECOND, "sh");
	note_name(&o, 15 * SECOND, "dd");
	queue_at(&o, 0);
	queue_at(&o, 3 * SECOND);
	o.time_ns = 17 * SECOND;
	record(&o, TC(NOTIFY) | 2, 0, 0, 0, "plain", 5);
	note_name(&o, 18 * SECOND, "late");
	queue_at(&o, 6 * SECOND);
	read_back(&r, &o, -1);
	assert_false(r.facts.have_wall);
	assert_non_null(strstr(r.facts.notes[0], "the wall clock is not known"));
	assert_int_equal(r.events[2].action, ACT_MESSAGE);
	assert_int_equal(r.events[2].time_ns, 4 * SECOND);
	assert_string_equal(names_get(&r.facts.names, 42, 0), "sh");
	assert_string_equal(names_get(&r.facts.names, 42, 2 * SECOND - 1), "sh");
	assert_string_equal(names_get(&r.facts.names, 42, 3 * SECOND), "dd");
	assert_string_equal(names_get(&r.facts.names, 42, 6 * SECOND), "late");
	done(&r);
}

/* Without the event at 0 (filters) nothing tells how the clocks lie. */
static void a_filtered_dump_of_blkparse(void **state)
{
	struct out o = { .version = 7, .timed = true };
	struct run r;

	(void)state;
	note_clock(&o, 12 * SECOND);
	note_name(&o, 13 * SECOND, "dd");
	queue_at(&o, SECOND);
	read_back(&r, &o, -1);
	assert_false(r.facts.have_wall);
	assert_non_null(strstr(r.facts.notes[0], "the wall clock is not known"));
	assert_string_equal(names_get(&r.facts.names, 42, SECOND), "dd");
	done(&r);
}

/* Events on the notes' clock, by whatever tool they were put together. */
static void a_dump_with_one_clock(void **state)
{
	struct out o = { .version = 7, .timed = true };
	struct run r;

	(void)state;
	note_clock(&o, 12 * SECOND);
	note_name(&o, 13 * SECOND, "dd");
	queue_at(&o, 13 * SECOND);
	read_back(&r, &o, -1);
	assert_int_equal(r.facts.wall_at_ns, 12 * SECOND);
	assert_int_equal(r.facts.wall_ns, 1700000000 * SECOND);
	done(&r);
	o = (struct out){ .version = 7, .timed = true };
	note_clock(&o, 12 * SECOND);
	note_name(&o, 13 * SECOND, "dd");
	read_back(&r, &o, -1); /* not one event */
	assert_int_equal(r.facts.wall_at_ns, 12 * SECOND);
	assert_string_equal(names_get(&r.facts.names, 42, 13 * SECOND), "dd");
	done(&r);
}

static void a_stream_tells_its_cpus(void **state)
{
	struct out o = { .version = 7 };
	struct run r;

	(void)state;
	ten(&o);
	read_back(&r, &o, 0);
	assert_string_equal(r.facts.inputs[0].dialect, "v7, little-endian, 1 CPU");
	assert_int_equal(r.facts.nr_notes, 0);
	done(&r);
	read_back(&r, &o, -1);
	assert_string_equal(r.facts.inputs[0].dialect, "v7, little-endian, only CPU 0");
	assert_non_null(strstr(r.facts.notes[0], "all its records are of CPU 0"));
	done(&r);
	o.cpu = 7; /* later than those of CPU 0 */
	ten(&o);
	read_back(&r, &o, -1);
	assert_string_equal(r.facts.inputs[0].dialect, "v7, little-endian, merged dump of 2 CPUs");
	done(&r);
	o.sequence = 0; /* and as early */
	o.cpu = 3;
	ten(&o);
	read_back(&r, &o, -1);
	assert_string_equal(r.facts.inputs[0].dialect, "v7, little-endian, live stream of 3 CPUs");
	assert_int_equal(r.facts.nr_notes, 0);
	done(&r);
	read_back(&r, &o, 7); /* CPUs 0..6 have no file */
	assert_non_null(strstr(r.facts.notes[0], "1 per-CPU file (CPU 7): I/O that other CPUs"));
	done(&r);
	read_back(&r, &o, 12);
	assert_non_null(strstr(r.facts.notes[0], "1 per-CPU file (CPU 12)"));
	done(&r);
}

/* A file whose records all are of another CPU was renamed; one that holds several CPUs is damaged. */
static void files_of_another_cpu(void **state)
{
	struct out *o = calloc(1, sizeof(*o));
	struct run r;

	(void)state;
	o->version = 8;
	o->cpu = 4;
	ten(o);
	read_back(&r, o, 0);
	assert_int_equal(r.nr, 10);
	assert_int_equal(r.stats.damages, 0);
	assert_int_equal(r.events[3].cpu, 4);
	assert_string_equal(r.facts.notes[0],
			    "vda.blktrace.0: vda.blktrace.0 holds records of CPU 4 "
			    "(was it renamed?) and was read as the file of that CPU");
	assert_non_null(strstr(r.facts.notes[1], "1 per-CPU file (CPU 4)"));
	done(&r);
	o->cpu = 0;
	ten(o);
	read_back(&r, o, 0);
	assert_int_equal(r.nr, 10); /* the later ones */
	assert_int_equal(r.stats.damages, 1);
	assert_int_equal(r.facts.nr_notes, 1);
	assert_non_null(strstr(r.facts.notes[0], "holds records of CPU 4, which count as damage"));
	done(&r);
	free(o);
}

static void what_is_not_a_trace(void **state)
{
	struct input in;
	struct error err = { 0 };
	struct out o = { .version = 9 };
	struct run r;

	(void)state;
	input_memory(&in, "x", "just some text, long enough to be looked at in full", 51);
	assert_int_equal(format_blktrace_bin.probe(&in, &err), 0);
	input_release(&in);
	ten(&o);
	read_back(&r, &o, 0);
	assert_int_equal(r.rc, -1);
	assert_non_null(strstr(r.err.text, "version 9"));
	done(&r);
}

static void a_drop_count_is_unknown(void **state)
{
	struct out o = { .version = 7 };
	struct run r;

	(void)state;
	ten(&o);
	read_back(&r, &o, 0);
	assert_false(r.facts.dropped_told);
	assert_string_equal(r.facts.dropped_unknown_why, "a v7 trace carries no drop count");
	done(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(versions_and_orders),
		cmocka_unit_test(version_8_classes),
		cmocka_unit_test(cut_anywhere),
		cmocka_unit_test(zero_tail),
		cmocka_unit_test(damaged_record),
		cmocka_unit_test(long_damage),
		cmocka_unit_test(no_false_record),
		cmocka_unit_test(missing_numbers),
		cmocka_unit_test(what_is_not_a_trace),
		cmocka_unit_test(a_drop_count_is_unknown),
		cmocka_unit_test(a_dump_of_blkparse),
		cmocka_unit_test(a_filtered_dump_of_blkparse),
		cmocka_unit_test(a_dump_with_one_clock),
		cmocka_unit_test(a_stream_tells_its_cpus),
		cmocka_unit_test(files_of_another_cpu),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
