/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "read/formats.h"
#include "read/text/text.h"

extern const struct format format_text;

#define MAX 2048

/* A text that was read to its end. */
struct result {
	struct facts facts;
	struct event events[MAX];
	char messages[MAX][64]; /* payloads, of the events at the same place */
	int nr;
};

static struct result *read_text(const char *text)
{
	struct result *r = mem_zalloc(sizeof(*r));
	struct sources sources = { 0 };
	struct error err = { 0 };
	struct event batch[64];
	struct input in;
	int got;

	facts_init(&r->facts);
	input_memory(&in, "log", text, strlen(text));
	format_text.open(&in, &r->facts, &sources, &err);
	while (sources.nr && (got = source_pull(sources.list[0], batch, 64, &err)) > 0) {
		for (int i = 0; i < got && r->nr < MAX; i++, r->nr++) {
			struct event *ev = &r->events[r->nr];

			*ev = batch[i];
			ev->time_ns -= TEXT_BIAS;
			if (ev->action != ACT_MESSAGE)
				continue;
			snprintf(r->messages[r->nr], sizeof(r->messages[0]), "%.*s",
				 (int)ev->payload_len, (const char *)ev->payload);
			ev->payload = NULL;
		}
	}
	sources_release(&sources);
	input_release(&in);
	return r;
}

static void release(struct result *r)
{
	facts_release(&r->facts);
	free(r);
}

static const char *finding(const struct result *r, size_t i)
{
	return json_string_value(json_object_get(json_array_get(r->facts.findings, i), "id"));
}

static bool has_word(const struct result *r, const char *word)
{
	return strstr(r->facts.inputs[0].dialect, word) != NULL;
}

#define SYNCED EV_WRITE | EV_SYNC
#define DONE   EV_UNTOLD_KIND
#define GIB32  0xfffffe00u /* 8388607 sectors */

struct line {
	const char *text;
	struct event ev;
	const char *comm; /* NULL = none is known afterwards */
};

/* What every column means, by action. The device is 8,16 and the time 1.5 s unless the line has others. */
static const struct line lines[] = {
	{ "  8,16   1     2188     0.000533331  4188  A   W 51200008 + 8 <- (8,17) 51197960",
	  { .time_ns = 533331,
	    .sector = 51200008,
	    .bytes = 4096,
	    .action = ACT_REMAP,
	    .class = CLASS_WRITE,
	    .flags = EV_WRITE,
	    .device = DEVICE(8, 16),
	    .pid = 4188,
	    .cpu = 1,
	    .sequence = 2188,
	    .aux_device = DEVICE(8, 17),
	    .aux_sector = 51197960 },
	  NULL },
	{ "  8,16   1     2189     0.000533444  4188  Q   W 51200008 + 8 [pdflush]",
	  { .time_ns = 533444,
	    .sector = 51200008,
	    .bytes = 4096,
	    .action = ACT_QUEUE,
	    .class = CLASS_WRITE,
	    .flags = EV_WRITE,
	    .device = DEVICE(8, 16),
	    .pid = 4188,
	    .cpu = 1,
	    .sequence = 2189 },
	  "pdflush" },
	{ "8,16 1 2190 0.000533999 4188 M W 51200008 + 8 [pdflush]",
	  { .time_ns = 533999,
	    .sector = 51200008,
	    .bytes = 4096,
	    .action = ACT_BACKMERGE,
	    .class = CLASS_WRITE,
	    .flags = EV_WRITE,
	    .device = DEVICE(8, 16),
	    .pid = 4188,
	    .cpu = 1,
	    .sequence = 2190 },
	  "pdflush" },
#define HEAD "  8,16   3        7     1.500000000    10 "
#define EVENT(...)                                                                   \
	{                                                                            \
		.time_ns = 1500000000, .device = DEVICE(8, 16), .pid = 10, .cpu = 3, \
		.sequence = 7, __VA_ARGS__                                           \
	}
	{ HEAD " F RAM 100 + 16 [x y]",
	  EVENT(.sector = 100, .bytes = 8192, .action = ACT_FRONTMERGE, .class = CLASS_READ,
		.flags = EV_AHEAD | EV_META),
	  "x y" },
	{ HEAD " G   R 0 + 1 [a]b]", EVENT(.bytes = 512, .action = ACT_GETRQ, .class = CLASS_READ),
	  "a]b" },
	{ HEAD " S  WS 8 + 8 [fio/thread1:2]",
	  EVENT(.sector = 8, .bytes = 4096, .action = ACT_SLEEPRQ, .class = CLASS_WRITE,
		.flags = SYNCED),
	  "fio/thread1:2" },
	{ HEAD " B  WS 8 + 8 [x]",
	  EVENT(.sector = 8, .bytes = 4096, .action = ACT_BOUNCE, .class = CLASS_WRITE,
		.flags = SYNCED),
	  "x" },
	/* the 2.6 kernels' barrier */
	{ HEAD " Q WBS 8 + 8 [x]",
	  EVENT(.sector = 8, .bytes = 4096, .action = ACT_QUEUE, .class = CLASS_WRITE,
		.flags = SYNCED),
	  "x" },
	/* D and R, as actions and as RWBS */
	{ HEAD " D   D 2048 + 8388607 [blkdiscard]",
	  EVENT(.sector = 2048, .bytes = GIB32, .action = ACT_ISSUE, .class = CLASS_DISCARD,
		.flags = EV_WRITE),
	  "blkdiscard" },
	{ HEAD " R   R 2048 + 8 [0]",
	  EVENT(.sector = 2048, .bytes = 4096, .action = ACT_REQUEUE, .class = CLASS_READ), NULL },
	{ HEAD " D   R 2048 + 8 [R]",
	  EVENT(.sector = 2048, .bytes = 4096, .action = ACT_ISSUE, .class = CLASS_READ), "R" },
	{ HEAD " R  WS 0 + 8 [65531]",
	  EVENT(.bytes = 4096, .action = ACT_REQUEUE, .class = CLASS_WRITE, .flags = SYNCED,
		.error = -5),
	  NULL },
	/* completions */
	{ HEAD " C  WS 8 + 8 [0]",
	  EVENT(.sector = 8, .bytes = 4096, .action = ACT_COMPLETE, .class = CLASS_WRITE,
		.flags = SYNCED | DONE),
	  NULL },
	{ HEAD " C   D 8 + 8 [65415]",
	  EVENT(.sector = 8, .bytes = 4096, .action = ACT_COMPLETE, .class = CLASS_DISCARD,
		.flags = EV_WRITE | DONE, .error = -121),
	  NULL },
	{ HEAD " C   R 8 + 8 [-61]",
	  EVENT(.sector = 8, .bytes = 4096, .action = ACT_COMPLETE, .class = CLASS_READ,
		.flags = DONE, .error = -61),
	  NULL },
	{ HEAD " C   R 8 + 8 [EREMOTEIO]",
	  EVENT(.sector = 8, .bytes = 4096, .action = ACT_COMPLETE, .class = CLASS_READ,
		.flags = DONE, .error = -121),
	  NULL },
	{ HEAD " C   R 8 + 8 [4294967291]",
	  EVENT(.sector = 8, .bytes = 4096, .action = ACT_COMPLETE, .class = CLASS_READ,
		.flags = DONE, .error = -5),
	  NULL },
	/* without a length: the end of a flush machine's write, a flush, flush bios */
	{ HEAD " C WSM 52000005 [0]",
	  EVENT(.sector = 52000005, .action = ACT_COMPLETE, .class = CLASS_WRITE,
		.flags = SYNCED | EV_META | DONE),
	  NULL },
	{ HEAD " C  WS 0 [0]",
	  EVENT(.action = ACT_COMPLETE, .class = CLASS_WRITE, .flags = SYNCED | DONE), NULL },
	{ HEAD " C  FN 0 [0]",
	  EVENT(.action = ACT_COMPLETE, .class = CLASS_FLUSH, .flags = EV_PREFLUSH | DONE), NULL },
	{ HEAD " C  FF 18446744073709551615 [0]",
	  EVENT(.sector = SECTOR_NONE, .action = ACT_COMPLETE, .class = CLASS_FLUSH,
		.flags = EV_WRITE | EV_PREFLUSH | DONE),
	  NULL },
	{ HEAD " D  FN [kworker/3:1H]",
	  EVENT(.action = ACT_ISSUE, .class = CLASS_FLUSH, .flags = EV_PREFLUSH), "kworker/3:1H" },
	{ HEAD " Q FWS [jbd2/dm-0-8]",
	  EVENT(.action = ACT_QUEUE, .class = CLASS_FLUSH, .flags = SYNCED | EV_PREFLUSH),
	  "jbd2/dm-0-8" },
	{ HEAD " A FWS 0 + 0 <- (252,0) 0",
	  EVENT(.action = ACT_REMAP, .class = CLASS_FLUSH, .flags = SYNCED | EV_PREFLUSH,
		.aux_device = DEVICE(252, 0)),
	  NULL },
	{ HEAD " Q FWFSM 52000005 + 17 [(null)]",
	  EVENT(.sector = 52000005, .bytes = 8704, .action = ACT_QUEUE, .class = CLASS_WRITE,
		.flags = SYNCED | EV_PREFLUSH | EV_FUA | EV_META),
	  NULL },
	/* elapsed times */
	{ HEAD " C  WS 8 + 8 (   10) [0]",
	  EVENT(.sector = 8, .bytes = 4096, .action = ACT_COMPLETE, .class = CLASS_WRITE,
		.flags = SYNCED | DONE),
	  NULL },
	{ HEAD " I FWS (     852) [x]",
	  EVENT(.action = ACT_INSERT, .class = CLASS_FLUSH, .flags = SYNCED | EV_PREFLUSH), "x" },
	{ HEAD " D   W 8 + 8 (15027837494429050311) [x]",
	  EVENT(.sector = 8, .bytes = 4096, .action = ACT_ISSUE, .class = CLASS_WRITE,
		.flags = EV_WRITE),
	  "x" },
	/* passthrough: bytes, not sectors, and command bytes */
	{ HEAD " D   R 4 [dmraid]",
	  EVENT(.bytes = 4, .action = ACT_ISSUE, .class = CLASS_PASSTHROUGH, .flags = EV_PC),
	  "dmraid" },
	{ HEAD " D   R 36 (12 00 00 00 24 00 ..) [x]",
	  EVENT(.bytes = 36, .action = ACT_ISSUE, .class = CLASS_PASSTHROUGH, .flags = EV_PC),
	  "x" },
	{ HEAD " I   W 36 (2a) [x]",
	  EVENT(.bytes = 36, .action = ACT_INSERT, .class = CLASS_PASSTHROUGH,
		.flags = EV_PC | EV_WRITE),
	  "x" },
	{ HEAD " Q   N 0 [x]",
	  EVENT(.action = ACT_QUEUE, .class = CLASS_PASSTHROUGH, .flags = EV_PC), "x" },
	{ HEAD " C   R [0]",
	  EVENT(.action = ACT_COMPLETE, .class = CLASS_PASSTHROUGH,
		.flags = EV_PC | DONE | EV_NO_BYTES),
	  NULL },
	{ HEAD " C   N (12 00 00 00 24 01) [0]",
	  EVENT(.action = ACT_COMPLETE, .class = CLASS_PASSTHROUGH,
		.flags = EV_PC | DONE | EV_NO_BYTES),
	  NULL },
	/* splits, whose second number is cut to 32 bits */
	{ HEAD " X   W 2000 / 2008 [x]",
	  EVENT(.sector = 2000, .aux_sector = 2008, .action = ACT_SPLIT, .class = CLASS_WRITE,
		.flags = EV_WRITE | EV_NO_BYTES),
	  "x" },
	{ HEAD " X  DS 4 / 0 [x]",
	  EVENT(.sector = 4, .action = ACT_SPLIT, .class = CLASS_DISCARD,
		.flags = SYNCED | EV_NO_BYTES),
	  "x" },
	{ HEAD " X   D 4294967290 / 5 [x]",
	  EVENT(.sector = 4294967290, .aux_sector = 5, .action = ACT_SPLIT, .class = CLASS_DISCARD,
		.flags = EV_WRITE | EV_NO_BYTES),
	  "x" },
	{ HEAD " X   D 8589934600 / 108 [x]",
	  EVENT(.sector = 8589934600, .aux_sector = 8589934700, .action = ACT_SPLIT,
		.class = CLASS_DISCARD, .flags = EV_WRITE | EV_NO_BYTES),
	  "x" },
	{ HEAD " X   D 12884901880 / 8 [x]",
	  EVENT(.sector = 12884901880, .aux_sector = 12884901896, .action = ACT_SPLIT,
		.class = CLASS_DISCARD, .flags = EV_WRITE | EV_NO_BYTES),
	  "x" },
	/* plugs */
	{ HEAD " P   N [x]", EVENT(.action = ACT_PLUG), "x" },
	{ HEAD " U   N [kworker/u96:0] 14", EVENT(.action = ACT_UNPLUG, .aux_sector = 14),
	  "kworker/u96:0" },
	{ HEAD "UT   N [a] 3] 4", EVENT(.action = ACT_UNPLUG_TIMER, .aux_sector = 4), "a] 3" },
	{ HEAD "UT   R [fio/thread1] 4", EVENT(.action = ACT_UNPLUG_TIMER, .aux_sector = 4),
	  "fio/thread1" },
	{ HEAD "ZP ZAS [x]", EVENT(.action = ACT_ZONE_PLUG), "x" },
	{ HEAD "ZU ZAS [x] 2", EVENT(.action = ACT_ZONE_UNPLUG, .aux_sector = 2), "x" },
	/* zone append, priorities */
	{ HEAD " Q ZAS N 786432 + 8 [dd]",
	  EVENT(.sector = 786432, .bytes = 4096, .action = ACT_QUEUE, .class = CLASS_WRITE,
		.flags = SYNCED | EV_ZONE_APPEND),
	  "dd" },
	{ HEAD " C ZAS N 786432 + 8 [0] <786448>",
	  EVENT(.sector = 786448, .bytes = 4096, .action = ACT_COMPLETE, .class = CLASS_WRITE,
		.flags = SYNCED | EV_ZONE_APPEND | EV_LANDED | DONE),
	  NULL },
	{ HEAD " C ZAS 786432 + 8 [0]",
	  EVENT(.sector = 786432, .bytes = 4096, .action = ACT_COMPLETE, .class = CLASS_WRITE,
		.flags = SYNCED | EV_ZONE_APPEND | DONE),
	  NULL },
	{ HEAD " D   W be/4 8 + 8 [x]",
	  EVENT(.sector = 8, .bytes = 4096, .action = ACT_ISSUE, .class = CLASS_WRITE,
		.flags = EV_WRITE),
	  "x" },
	{ HEAD " D   W 16388 8 + 8 [x]",
	  EVENT(.sector = 8, .bytes = 4096, .action = ACT_ISSUE, .class = CLASS_WRITE,
		.flags = EV_WRITE),
	  "x" },
	{ HEAD " D   W idle 8 + 8 [x]",
	  EVENT(.sector = 8, .bytes = 4096, .action = ACT_ISSUE, .class = CLASS_WRITE,
		.flags = EV_WRITE),
	  "x" },
	{ HEAD " D  FN N [x]",
	  EVENT(.action = ACT_ISSUE, .class = CLASS_FLUSH, .flags = EV_PREFLUSH), "x" },
	{ HEAD " Q  ZR 524288 + 0 [x]",
	  EVENT(.sector = 524288, .action = ACT_QUEUE, .class = CLASS_ZONE, .flags = EV_WRITE),
	  "x" },
	/* cgroups: a column behind the pid */
	{ HEAD "1,0  Q   W 8 + 8 [x]",
	  EVENT(.sector = 8, .bytes = 4096, .action = ACT_QUEUE, .class = CLASS_WRITE,
		.flags = EV_WRITE | EV_CGROUP),
	  "x" },
	{ HEAD "a1f3,2  C   W 8 + 8 [0]",
	  EVENT(.sector = 8, .bytes = 4096, .action = ACT_COMPLETE, .class = CLASS_WRITE,
		.flags = EV_WRITE | EV_CGROUP | DONE),
	  NULL },
	/* behind and in front */
	{ HEAD " C  WS 8 + 8 [0]  <- here it hangs",
	  EVENT(.sector = 8, .bytes = 4096, .action = ACT_COMPLETE, .class = CLASS_WRITE,
		.flags = SYNCED | DONE),
	  NULL },
	{ HEAD " Q  WS 8 + 8 [dd] # [why?]",
	  EVENT(.sector = 8, .bytes = 4096, .action = ACT_QUEUE, .class = CLASS_WRITE,
		.flags = SYNCED),
	  "dd" },
	{ "c    0 -- " HEAD " Q  WS 8 + 8 [dd]",
	  EVENT(.sector = 8, .bytes = 4096, .action = ACT_QUEUE, .class = CLASS_WRITE,
		.flags = SYNCED),
	  "dd" },
	{ "1,2 3,4 " HEAD " Q  WS 8 + 8 [dd]",
	  EVENT(.sector = 8, .bytes = 4096, .action = ACT_QUEUE, .class = CLASS_WRITE,
		.flags = SYNCED),
	  "dd" },
	{ "log.txt:" HEAD " Q  WS 8 + 8 [dd]",
	  EVENT(.sector = 8, .bytes = 4096, .action = ACT_QUEUE, .class = CLASS_WRITE,
		.flags = SYNCED),
	  "dd" },
	/* times of other precision */
	{ "  8,16   3        7     1.500000    10  P   N [x]", EVENT(.action = ACT_PLUG), "x" },
	{ "  8,16   3        7     1.5    10  P   N [x]", EVENT(.action = ACT_PLUG), "x" },
	/* live pipes: 2^64 ns less a little, its seconds cut to 32 bits, or not */
	{ "259,0    3        1 1266874889.709333333 9417  P   N [x]",
	  { .time_ns = (uint64_t)-218283,
	    .device = DEVICE(259, 0),
	    .pid = 9417,
	    .cpu = 3,
	    .sequence = 1,
	    .action = ACT_PLUG },
	  "x" },
	{ "259,0    3        1 18446744073.709333333 9417  P   N [x]",
	  { .time_ns = (uint64_t)-218283,
	    .device = DEVICE(259, 0),
	    .pid = 9417,
	    .cpu = 3,
	    .sequence = 1,
	    .action = ACT_PLUG },
	  "x" },
	{ "259,0    3        1 1266871290.000000000 9417  P   N [x]",
	  { .time_ns = (uint64_t)-3599709551616,
	    .device = DEVICE(259, 0),
	    .pid = 9417,
	    .cpu = 3,
	    .sequence = 1,
	    .action = ACT_PLUG },
	  "x" },
	/* more than an hour before: nobody's trace begins like that */
	{ "259,0    3        1 1266870000.000000000 9417  P   N [x]",
	  { .time_ns = 1266870000000000000,
	    .device = DEVICE(259, 0),
	    .pid = 9417,
	    .cpu = 3,
	    .sequence = 1,
	    .action = ACT_PLUG },
	  "x" },
	{ "259,0    3        1 1266874889.709551616 9417  P   N [x]",
	  { .time_ns = 1266874889709551616,
	    .device = DEVICE(259, 0),
	    .pid = 9417,
	    .cpu = 3,
	    .sequence = 1,
	    .action = ACT_PLUG },
	  "x" },
};

static void check_event(const struct line *want, const struct event *got)
{
	struct event a = want->ev, b = *got;

	if (!memcmp(&a, &b, sizeof(a)))
		return;
	fail_msg(
		"%s:\n time %lld sector %llu bytes %u aux %llu %x device %x pid %u seq %u flags %x "
		"cpu %u error %d action %s class %s, wanted\n time %lld sector %llu bytes %u aux "
		"%llu %x device %x pid %u seq %u flags %x cpu %u error %d action %s class %s",
		want->text, (long long)b.time_ns, (unsigned long long)b.sector, b.bytes,
		(unsigned long long)b.aux_sector, b.aux_device, b.device, b.pid, b.sequence,
		b.flags, b.cpu, b.error, action_letter(b.action), class_name(b.class),
		(long long)a.time_ns, (unsigned long long)a.sector, a.bytes,
		(unsigned long long)a.aux_sector, a.aux_device, a.device, a.pid, a.sequence,
		a.flags, a.cpu, a.error, action_letter(a.action), class_name(a.class));
}

static void every_line(void **state)
{
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		struct result *r = read_text(lines[i].text);
		const char *comm;

		if (r->nr != 1)
			fail_msg("%s: %d events", lines[i].text, r->nr);
		check_event(&lines[i], &r->events[0]);
		comm = names_get(&r->facts.names, lines[i].ev.pid,
				 r->events[0].time_ns + TEXT_BIAS);
		if (lines[i].comm)
			assert_string_equal(comm, lines[i].comm);
		else
			assert_null(comm);
		assert_int_equal(r->facts.inputs[0].lines_used, 1);
		assert_int_equal(r->facts.inputs[0].lines_ignored, 0);
		assert_string_equal(r->facts.inputs[0].format, "blkparse");
		release(r);
	}
}

static void messages(void **state)
{
	static const char *const texts[] = {
		"cfq4711S / alloced",
		"cfq workload slice:300",
		"cfq4711S / fifo=(null)",
		"md md_update_sb",
		"raid5 rcw 15000576 1 1 0",
		"cfq4712S  /user.slice alloced",
		"wbt: lat 1 > 2 [x] (3)",
		"throtl / [R] bio. bdisp=8",
		"8,0 1 2 + 3",
	};
	char line[256];

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		struct result *r;

		snprintf(line, sizeof(line),
			 "  8,64   3        0     0.000013131     0  m   N %s\n", texts[i]);
		r = read_text(line);
		assert_int_equal(r->nr, 1);
		assert_int_equal(r->events[0].action, ACT_MESSAGE);
		assert_int_equal(r->events[0].class, CLASS_NONE);
		assert_int_equal(r->events[0].sequence, 0);
		assert_string_equal(r->messages[0], texts[i]);
		release(r);
	}
}

static void message_with_cgroup(void **state)
{
	struct result *r = read_text(
		"  8,0    2        0     0.000000000 40111 1,0  m   N bfq [bfq_limit_depth] "
		"wr_busy 0 sync 0 depth 8\n"
		"  8,0    2        0     0.000000001 40111 1,0  m   N\n");

	assert_int_equal(r->nr, 2);
	assert_int_equal(r->events[0].pid, 40111);
	assert_int_equal(r->events[0].flags, EV_CGROUP);
	assert_string_equal(r->messages[0], "bfq [bfq_limit_depth] wr_busy 0 sync 0 depth 8");
	assert_int_equal(r->events[1].payload_len, 0);
	assert_true(has_word(r, "cgroup column"));
	release(r);
}

/* A mailer breaks lines at any blank; together they are the line that it was. */
static void broken_lines(void **state)
{
	static const char *const whole[] = {
		HEAD " Q   D 2048 + 8388607 [blkdiscard]",
		HEAD " A  WS 30001152 + 8 <- (259,0) 29999104",
		HEAD " X   D 270336 / 532479 [blkdiscard]",
		HEAD " U   N [jbd2/md3p1-8] 2",
		HEAD " C  WS 30001152 + 8 [0]",
		HEAD " C ZAS N 786432 + 8 [0] <786448>",
		HEAD " I FWS (     852) [jbd2/dm-0-8]",
		HEAD " D   R 36 (12 00 00 00 24 00 ..) [x y]",
		HEAD " P   N [x y]",
	};
	const char *after = "  8,16   3        8     1.600000000    10  P   N [y]\n";

	for (size_t i = 0; i < sizeof(whole) / sizeof(*whole); i++) {
		struct result *r = read_text(whole[i]);
		struct event want = r->events[0];
		const char *from = strstr(whole[i], "    10") + 1;

		release(r);
		/* From behind the time on. */
		for (const char *at = from; (at = strchr(at + 1, ' '));) {
			char text[512];

			/* What looks whole is: a landing sector alone on a line is of no use. */
			if (at[1] == '<' && at[2] != '-')
				continue;
			if (at[-1] == ' ')
				continue;
			snprintf(text, sizeof(text), "%.*s\n%s\n%s", (int)(at - whole[i]), whole[i],
				 at + 1, after);
			r = read_text(text);
			if (r->nr != 2 || memcmp(&r->events[0], &want, sizeof(want)) != 0)
				fail_msg("%d events of\n%s", r->nr, text);
			assert_int_equal(r->facts.inputs[0].lines_used, 3);
			release(r);
		}
	}
}

struct cut {
	const char *text;
	bool used;
	uint32_t bytes;
};

/* The last line of a paste; what is not whole must not become a number. */
static void cut_lines(void **state)
{
	static const struct cut cuts[] = {
		{ HEAD " Q   W 2048 + 83 [blkd", true, 83 * 512 },
		{ HEAD " Q   W 2048 + 83 [", true, 83 * 512 },
		{ HEAD " Q   W 2048 + 83", false, 0 },
		{ HEAD " Q   W 2048 +", false, 0 },
		{ HEAD " Q   W 2048", false, 0 },
		{ HEAD " Q   W", false, 0 },
		{ HEAD " Q", false, 0 },
		{ HEAD, false, 0 },
		{ "  8,16   3        7     1.500000000", false, 0 },
		{ HEAD " C   W 2048 + 8 [0", true, 4096 },
		{ HEAD " C   W 2048 + 8 [6553", false, 0 },
		{ HEAD " C   W 2048 + 8", false, 0 },
		{ HEAD " A   W 2048 + 8 <- (8,1)", false, 0 },
		{ HEAD " A   W 2048 + 8 <- (8,", false, 0 },
		{ HEAD " A   W 2048 + 8 <", false, 0 },
		{ HEAD " X   W 2048 / 20", false, 0 },
		{ HEAD " X   W 2048 / 4096 [x", true, 0 },
		{ HEAD " P   N [x", true, 0 },
		{ HEAD " D   R 36 (12 00", false, 0 },
		{ HEAD " D   R 36 [x", true, 36 },
		{ HEAD " I FWS (     8", false, 0 },
	};

	for (size_t i = 0; i < sizeof(cuts) / sizeof(*cuts); i++) {
		char text[512];
		struct result *r;

		/* With and without a line behind it, which must not be swallowed. */
		for (int more = 0; more < 2; more++) {
			snprintf(text, sizeof(text), "%s%s\n%s",
				 "  9,9    9        1     0.000000001     7  P   N [x]\n",
				 cuts[i].text, more ? HEAD " C   W 4096 + 8 [0]\n" : "");
			r = read_text(text);
			if (r->nr != 1 + cuts[i].used + more)
				fail_msg("%d events of\n%s", r->nr, text);
			if (cuts[i].used)
				assert_int_equal(r->events[1].bytes, cuts[i].bytes);
			if (r->facts.inputs[0].lines_ignored != !cuts[i].used)
				fail_msg("%d lines ignored of\n%s",
					 (int)r->facts.inputs[0].lines_ignored, text);
			release(r);
		}
	}
}

/* Wherever a line is cut: no event, or one with the numbers of the whole line. A last number of A, U, UT
 * and ZU has nothing behind it that could tell. */
static void every_cut(void **state)
{
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		const struct event *want = &lines[i].ev;

		if (want->action == ACT_REMAP || want->action == ACT_UNPLUG ||
		    want->action == ACT_UNPLUG_TIMER || want->action == ACT_ZONE_UNPLUG)
			continue;
		for (size_t len = 1; len < strlen(lines[i].text); len++) {
			char text[512];
			struct result *r;
			const struct event *ev;

			snprintf(text, sizeof(text), HEAD " P   N [x]\n%.*s\n", (int)len,
				 lines[i].text);
			r = read_text(text);
			ev = &r->events[r->nr > 1 && r->events[0].sequence == 7 &&
					r->events[0].action == ACT_PLUG];
			if (r->nr > 1 && want->action != ACT_PLUG &&
			    ((ev->sector != want->sector && !(want->flags & EV_LANDED)) ||
			     ev->bytes != want->bytes || ev->error != want->error ||
			     ev->action != want->action || ev->class != want->class))
				fail_msg("sector %llu bytes %u error %d of\n%s",
					 (unsigned long long)ev->sector, ev->bytes, ev->error,
					 text);
			release(r);
		}
	}
}

/* Lines that are nearly like one, and what is said of them. */
static void refused(void **state)
{
	static const char *const bad[] = {
		HEAD " Q   W 2048 + 8388608 [x]",
		HEAD " Q   W 99999999999999999999 + 8 [x]",
		HEAD " Q   W 18446744073709551616 + 8 [x]",
		HEAD " C   W 2048 + 8 [zero]",
		HEAD " C   W 2048 + 8 [70000]",
		HEAD " D   W 2048 + 8 (12 0) [x]",
		HEAD " A   W 2048 + 8 <- (99999,1) 7",
		HEAD " D   W 2048 + 8x [x]",
		"...+ 8 [ceph-osd]",
		"... 302 + 8 [ceph-osd]",
	};
	static const char *const other[] = {
		"8,16 3 7 1.500000000 10 Y W 2048 + 8 [x]",
		"8,16 3 7 1.500000000 10 Q Y 2048 + 8 [x]",
		"8,16 70000 7 1.500000000 10 Q W 2048 + 8 [x]",
		"8,16 3 7 1.5000000000 10 Q W 2048 + 8 [x]",
		"8,16 3 7 1. 10 Q W 2048 + 8 [x]",
		"8,16 3 7 99999999999.0 10 Q W 2048 + 8 [x]",
		"8,16 3 7 18446744073.709551616 10 Q W 2048 + 8 [x]",
		"8,16 3 4294967296 1.500000000 10 Q W 2048 + 8 [x]",
		"4095,16 3 7 1.500000000 10 Q W 2048 + 8 [x]",
		"8,16 3 7 1 10 Q W 2048 + 8 [x]",
		"0.000004 supervise 1950 xvda1 W 13092560 4096 0.74",
		"Q2Q 0.000000001 0.000159747 0.025292639 62150",
		"1,2,3,4,5,6,7,8,9",
	};
	const char *first = HEAD " P   N [x]\n";
	char text[512];

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct result *r;

		snprintf(text, sizeof(text), "%s%s\n", first, bad[i]);
		r = read_text(text);
		if (r->nr != 1 || r->facts.nr_ignored != 1)
			fail_msg("%d events of\n%s", r->nr, text);
		assert_null(strstr(r->facts.ignored[0].why, "no line of an event"));
		release(r);
	}
	for (size_t i = 0; i < sizeof(other) / sizeof(*other); i++) {
		struct result *r;

		snprintf(text, sizeof(text), "%s%s\n", first, other[i]);
		r = read_text(text);
		for (int k = 0; k < r->nr; k++)
			if (r->events[k].sector == 2048 && r->events[k].device == DEVICE(8, 16))
				fail_msg("an event of\n%s", text);
		release(r);
	}
}

static void wrapped_times(void **state)
{
	struct result *r =
		read_text("259,0   12        2     0.000004444 9418  G  WS 512008 + 8 [fio]\n"
			  "259,0    3        2 1266874889.709411111 9417  G  WS 512008 + 8 [fio]\n"
			  "259,0    8        1 1266874889.709533333     0  C  WS 512008 + 8 [0]\n");
	const json_t *evidence;

	assert_int_equal(r->nr, 3);
	assert_int_equal((int64_t)r->events[0].time_ns, -140505);
	assert_int_equal((int64_t)r->events[1].time_ns, -18283);
	assert_int_equal(json_array_size(r->facts.findings), 1);
	assert_string_equal(finding(r, 0), "wrapped-time");
	evidence = json_object_get(json_array_get(r->facts.findings, 0), "evidence");
	assert_int_equal(json_integer_value(json_object_get(evidence, "lines")), 2);
	assert_int_equal(json_integer_value(json_object_get(evidence, "earliest_before_ns")),
			 140505);
	assert_int_equal(json_integer_value(json_object_get(evidence, "span_ns")), 122222);
	release(r);
}

static void wrong_elapsed(void **state)
{
	/* As long as the trace is old: the time of D was not known. */
	struct result *r =
		read_text("  8,0   58       85     3.160068386   771  Q FWS [x]\n"
			  "  8,0   58       88     3.179253365     0  C  WS 0 (3179253365) [0]\n");

	assert_int_equal(json_array_size(r->facts.findings), 1);
	assert_string_equal(finding(r, 0), "wrong-elapsed");
	assert_true(has_word(r, "elapsed times (-t)"));
	assert_int_equal(r->facts.nr_notes, 1);
	release(r);
	/* The same where its D was the first event of all. */
	r = read_text("  8,0   58       85     0.000000000   771  D  WS 8 + 8 [x]\n"
		      "  8,0   58       88     0.179253365     0  C  WS 8 + 8 (179253365) [0]\n");
	assert_int_equal(json_array_size(r->facts.findings), 0);
	release(r);
}

static void words_of_dialects(void **state)
{
	static const char *const texts[][2] = {
		{ HEAD " C ZAS N 8 + 8 [0]", "priority column" },
		{ HEAD " C ZAS 8 + 8 [0] <16>", "landing sector" },
		{ "  8,16   3        7     1.500000    10  P   N [x]", "6-digit times" },
		{ "x -- " HEAD " P   N [x]", "prefixed lines" },
		{ HEAD "1,0  P   N [x]", "cgroup column" },
		{ HEAD " P   N [x]  note", "annotated lines" },
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		struct result *r = read_text(texts[i][0]);

		assert_true(has_word(r, texts[i][1]));
		if (i == 2)
			assert_int_equal(r->facts.inputs[0].resolution_ns, 1000);
		release(r);
	}
}

/* Numbers of lines that are there, but of no use, are not missing. */
static void missing_numbers(void **state)
{
	struct result *r =
		read_text("  8,16   3        7     1.500000000    10  P   N [x]\n"
			  "  8,16   3        8     1.500000001    10  Q   W 8 + 99999999 [x]\n"
			  "  8,16   3        0     1.500000001     0  m   N hello\n"
			  "  8,17   3        9     1.500000002    10  A   W 8 + 8 <- (8,16) 0\n"
			  "  8,16   3       12     1.500000003    10  Q   W 8 + 8 [x]\n");

	assert_int_equal(r->nr, 4);
	assert_int_equal(r->facts.inputs[0].missing_numbers, 2);
	release(r);
}

/* ---- formats of somebody's own ---- */

/* %S + %U (%e) [%C]: what stands for a length is memory. */
static void lengths_that_are_none(void **state)
{
	struct result *r = read_text("  8,16   3        1     0.000000000   3001  A   D          0 "
				     "+    8388625 (   0) [blkdiscard]\n"
				     "  8,16   3        2     0.000002000   3001  Q   D          0 "
				     "+ 1702065440 (   0) [blkdiscard]\n"
				     "  8,16   3        3     0.000003000   3001  X   D          0 "
				     "+    8388607 (   0) [blkdiscard]\n"
				     "  8,16   3        4     0.000004000   3001  G   D          0 "
				     "+       4711 (   0) [blkdiscard]\n"
				     "  8,16   3        5     0.000005000   3001  P   N          0 "
				     "+         13 (   0) [blkdiscard]\n"
				     "  8,16   3        6     0.000006000   3001  U   N          0 "
				     "+          1 (   0) [blkdiscard]\n"
				     "  8,16   3        7     0.000007000   3001  I   D          0 "
				     "+          0 (   0) [blkdiscard]\n"
				     "  8,16   3        8     0.000008000    210  D   D          0 "
				     "+   99887766 (   0) [kworker/3:1H]\n"
				     "  8,16   3        9     0.001008000      0  C   D          0 "
				     "+         77 (65415) [swapper/3]\n");

	assert_int_equal(r->nr, 8); /* an A without its source is of no use */
	for (int i = 0; i < r->nr; i++) {
		assert_int_equal(r->events[i].bytes, 0);
		assert_int_equal(r->events[i].sector, 0);
		if (r->events[i].class != CLASS_NONE)
			assert_true(r->events[i].flags & EV_NO_BYTES);
	}
	assert_int_equal(r->events[1].aux_sector, 8388607);
	assert_int_equal(r->events[4].action, ACT_UNPLUG);
	assert_int_equal(r->events[4].aux_sector, 1);
	assert_int_equal(r->events[7].error, -121);
	assert_int_equal(r->events[7].class, CLASS_DISCARD);
	assert_int_equal(r->facts.inputs[0].lines_used, 8);
	assert_int_equal(r->facts.inputs[0].lines_ignored, 1);
	assert_int_equal(r->facts.inputs[0].missing_numbers, 0);
	assert_int_equal(json_array_size(r->facts.findings), 1);
	assert_string_equal(finding(r, 0), "unreliable-lengths");
	assert_true(has_word(r, "custom format"));
	assert_string_equal(names_get(&r->facts.names, 210, TEXT_BIAS + 9000), "kworker/3:1H");
	release(r);
}

/* The same with %n is good. */
static void own_tail(void **state)
{
	struct result *r = read_text("  8,16   3        1     0.000000000   3001  D   W       2048 "
				     "+          8 (   0) [dd]\n"
				     "  8,16   3        2     0.000002000   3001  Q   W       4096 "
				     "+          8 (   0) [dd]\n"
				     "  8,16   3        3     0.000003000   3001  P   N          0 "
				     "+          0 (   0) [dd]\n"
				     "  8,16   3        4     0.000004000      0  C   W       2048 "
				     "+          8 (   0) [(null)]\n");

	assert_int_equal(r->nr, 4);
	assert_int_equal(r->events[0].bytes, 4096);
	assert_int_equal(r->events[3].bytes, 4096);
	assert_int_equal(r->events[3].flags, EV_WRITE | EV_UNTOLD_KIND);
	assert_int_equal(json_array_size(r->facts.findings), 0);
	assert_null(names_get(&r->facts.names, 0, TEXT_BIAS));
	release(r);
}

/* D and I lines alone may be either; they are blkparse's unless something speaks against it. */
static void elapsed_or_error(void **state)
{
	struct result *r = read_text(HEAD " D   W 2048 + 8 (   17) [dd]\n");

	assert_int_equal(r->nr, 1);
	assert_int_equal(r->events[0].bytes, 4096);
	assert_true(has_word(r, "elapsed times (-t)"));
	release(r);
}

static void free_columns(void **state)
{
	/* The life of two requests in many formats: 4 KiB at 2048, 12 KiB at 9001. */
	static const char *const texts[] = {
		/* "%5T.%9t, %p, %C, %a, %d, %S, %n, %N" */
		"    0.000000000, 117, dd, Q, WS, 2048, 8, 4096\n"
		"    0.000001000, 117, dd, P, N, 0, 0, 0\n"
		"    0.000002000, 117, dd, D, WS, 2048, 8, 4096\n"
		"    0.000003000, 117, dd, D, W, 9001, 24, 12288\n"
		"    0.000004000, 0, swapper/0, C, WS, 2048, 8, 4096\n"
		"    0.000005000, 0, swapper/0, C, W, 9001, 24, 12288\n",
		/* "%M %m %d %a %S %9n %5T.%9t" */
		"8 16 WS Q 2048         8     0.000000000\n"
		"8 16 N P 0         0     0.000001000\n"
		"8 16 WS D 2048         8     0.000002000\n"
		"8 16 W D 9001        24     0.000003000\n"
		"8 16 WS C 2048         8     0.000004000\n"
		"8 16 W C 9001        24     0.000005000\n",
		/* "%M %m %d %a %N %S %5T.%9t" */
		"8 16 WS Q 4096 2048     0.000000000\n"
		"8 16 N P 0 0     0.000001000\n"
		"8 16 WS D 4096 2048     0.000002000\n"
		"8 16 W D 12288 9001     0.000003000\n"
		"8 16 WS C 4096 2048     0.000004000\n"
		"8 16 W C 12288 9001     0.000005000\n",
		/* "%2c,%T.%t,%d,%a,%S,%n" */
		" 3,0.000000000,WS,Q,2048,8\n 3,0.000001000,N,P,0,0\n 3,0.000002000,WS,D,2048,8\n"
		" 3,0.000003000,W,D,9001,24\n 3,0.000004000,WS,C,2048,8\n "
		"3,0.000005000,W,C,9001,24\n",
		/* "%D;%T.%t;%p;%C;%a;%d;%S;%N" */
		"  8,16 ;0.000000000;117;dd;Q;WS;2048;4096\n  8,16 ;0.000001000;117;dd;P;N;0;0\n"
		"  8,16 ;0.000002000;117;dd;D;WS;2048;4096\n  8,16 "
		";0.000003000;117;dd;D;W;9001;12288\n"
		"  8,16 ;0.000004000;0;swapper/0;C;WS;2048;4096\n"
		"  8,16 ;0.000005000;0;swapper/0;C;W;9001;12288\n",
		/* the default without its last column */
		"  8,16   3        1     0.000000000   117  Q  WS 2048 + 8\n"
		"  8,16   3        2     0.000001000   117  P   N 0 + 0\n"
		"  8,16   3        3     0.000002000   117  D  WS 2048 + 8\n"
		"  8,16   3        4     0.000003000   117  D   W 9001 + 24\n"
		"  8,16   3        5     0.000004000     0  C  WS 2048 + 8\n"
		"  8,16   3        6     0.000005000     0  C   W 9001 + 24\n",
		/* words in between */
		"8,16 1 0.000000000 117 oper WS action Q sector 2048 numblks 8 cmd dd\n"
		"8,16 1 0.000001000 117 oper N action P sector 0 numblks 0 cmd dd\n"
		"8,16 1 0.000002000 117 oper WS action D sector 2048 numblks 8 cmd dd\n"
		"8,16 1 0.000003000 117 oper W action D sector 9001 numblks 24 cmd dd\n"
		"8,16 1 0.000004000 0 oper WS action C sector 2048 numblks 8 cmd swapper/0\n"
		"8,16 1 0.000005000 0 oper W action C sector 9001 numblks 24 cmd swapper/0\n",
	};
	static const uint8_t actions[] = { ACT_QUEUE, ACT_PLUG,     ACT_ISSUE,
					   ACT_ISSUE, ACT_COMPLETE, ACT_COMPLETE };
	static const uint64_t sectors[] = { 2048, 0, 2048, 9001, 2048, 9001 };
	static const uint32_t bytes[] = { 4096, 0, 4096, 12288, 4096, 12288 };

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		struct result *r = read_text(texts[i]);

		if (r->nr != 6)
			fail_msg("%d events of\n%s", r->nr, texts[i]);
		for (int k = 0; k < 6; k++) {
			const struct event *ev = &r->events[k];

			if (ev->action != actions[k] || ev->sector != sectors[k] ||
			    ev->bytes != bytes[k] || ev->time_ns != (uint64_t)k * 1000 ||
			    ev->class != (k == 1 ? CLASS_NONE : CLASS_WRITE))
				fail_msg("event %d (%s %llu %u) of\n%s", k,
					 action_letter(ev->action), (unsigned long long)ev->sector,
					 ev->bytes, texts[i]);
		}
		assert_true(has_word(r, "custom format"));
		assert_int_equal(json_array_size(r->facts.findings), 0);
		assert_int_equal(r->facts.inputs[0].lines_used, 6);
		release(r);
	}
}

/* Some that are in no order of other lines go back to be ignored. */
static void fragments_beside_events(void **state)
{
	struct result *r =
		read_text("0.888403047 15555  C   W 350000008 + 8 [0]\n" HEAD " Q   W 8 + 8 [x]\n"
			  "0.888403048 15555  C   W 350000008 + 8 [0]\n");

	assert_int_equal(r->nr, 1);
	assert_int_equal(r->facts.inputs[0].lines_used, 1);
	assert_int_equal(r->facts.inputs[0].lines_ignored, 2);
	release(r);
}

/* A terminal cut all lines at one column. */
static void cut_at_one_column(void **state)
{
	struct result *r =
		read_text("  8,16   3        1     0.000000000   117  Q  WS 20480 + 8\n"
			  "  8,16   3        2     0.000000000   117  Q  WS 2048 + 16\n"
			  "  8,16   3        3     0.000000000   117  Q  WS 204 + 102\n"
			  "  8,16   3        4     0.000000000   117  Q  WS 20480 + 1\n");

	assert_int_equal(r->nr, 0);
	release(r);
}

/* Kept lines are decided from the first few hundred; the others follow. */
static void many_lines(void **state)
{
	char *text = mem_zalloc(128 * 1000), *at = text;
	struct result *r;

	for (int i = 0; i < 1000; i++)
		at += sprintf(at, "%d.%06d000, 117, %c, %s, %d, 8\n", i / 1000, i % 1000,
			      "QGDC"[i % 4], i / 4 % 2 ? "W" : "WS", 9000 + i / 4 * 8);
	r = read_text(text);
	assert_int_equal(r->nr, 1000);
	for (int i = 0; i < 1000; i++) {
		assert_int_equal(r->events[i].sector, 9000 + i / 4 * 8);
		assert_int_equal(r->events[i].bytes, 4096);
		assert_int_equal(r->events[i].device, DEVICE(DEVICE_NAMED_MAJOR, 0));
		assert_int_equal(r->events[i].pid, 117);
	}
	release(r);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_line),
		cmocka_unit_test(messages),
		cmocka_unit_test(message_with_cgroup),
		cmocka_unit_test(broken_lines),
		cmocka_unit_test(cut_lines),
		cmocka_unit_test(every_cut),
		cmocka_unit_test(refused),
		cmocka_unit_test(wrapped_times),
		cmocka_unit_test(wrong_elapsed),
		cmocka_unit_test(words_of_dialects),
		cmocka_unit_test(missing_numbers),
		cmocka_unit_test(lengths_that_are_none),
		cmocka_unit_test(own_tail),
		cmocka_unit_test(elapsed_or_error),
		cmocka_unit_test(free_columns),
		cmocka_unit_test(fragments_beside_events),
		cmocka_unit_test(cut_at_one_column),
		cmocka_unit_test(many_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
