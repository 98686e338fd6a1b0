/* SPDX-License-Identifier: MIT
 *
 * Text of the kernel's tracing, shared by the files that read it: ftrace_text.c (the line in front of
 * the event), ftrace_text_block.c (events of the block layer), ftrace_text_raw.c (the same as KEY=VALUE),
 * ftrace_text_blk.c (the blk tracer), ftrace_text_wbt.c, ftrace_text_notes.c (comments and losses).
 */
#ifndef BLKLAB_READ_TEXT_FTRACE_TEXT_H
#define BLKLAB_READ_TEXT_FTRACE_TEXT_H

#include "read/text/text.h"
#include "read/text/text_scan.h"

/* How the rest of an event's line was understood. */
enum ftrace_body {
	BODY_EVENT,   /* *ev is filled */
	BODY_NOTHING, /* of a form that adds nothing (block_io_start) */
	BODY_MESSAGE, /* not of the block layer: to be kept as text */
	BODY_CUT,     /* breaks off */
	BODY_BAD,     /* text_why() said why */
};

/* What the line says beside the event. */
struct ftrace_names {
	const char
		*comm; /* "[dd]" inside the event: the running thread; NULL where there is none */
	size_t comm_len;
};

/* An event of the block layer: `s` stands behind "NAME: ". Fills everything but time, cpu and pid. May
 * take what is there of a line that breaks off where last_try. */
enum ftrace_body ftrace_block_body(struct text *text, const char *name, size_t name_len,
				   struct scan s, bool last_try, struct event *ev,
				   struct ftrace_names *names);

/* "dev=8388608 sector=..." of the event with that action. */
enum ftrace_body ftrace_raw_body(struct text *text, struct scan s, struct event *ev,
				 struct ftrace_names *names);

/* "Q  WS 1234 + 8 [dd]" of the blk tracer, behind the device, which is in *ev already. */
enum ftrace_body ftrace_blk_body(struct text *text, struct scan s, bool last_try, struct event *ev,
				 struct ftrace_names *names);

/* The parts of a block event that both print alike. Behind the sector: "+ NR [comm]", "+ NR [error]", "+ NR <-
 * (M,m) SECTOR", "/ SECTOR [comm]", by the action of *ev. */
enum ftrace_body ftrace_range(struct scan *s, bool last_try, struct event *ev, uint64_t *sectors,
			      struct ftrace_names *names);
/* "[comm]" or "[error]" to the line's end, and what stands in front of it. */
enum ftrace_body ftrace_tail(struct scan *s, bool last_try, struct event *ev,
			     struct ftrace_names *names);
/* "[comm]", "[comm] NR" */
enum ftrace_body ftrace_plug(struct scan *s, struct event *ev, struct ftrace_names *names);
uint32_t ftrace_bytes(uint64_t sectors);
/* 0 or a negative errno; 65531 is one that was cut to 16 bits. */
int16_t ftrace_error(int64_t error);

/* ---- writeback throttling ---- */

struct ftrace_wbt_device {
	uint32_t device;
	bool have_latency, have_timer;
	uint64_t latency_ns, at_ns; /* at_ns: on the trace's clock, without TEXT_BIAS */
	uint64_t first_latency_ns;
	uint64_t samples;
	int64_t step, status, inflight;
};

struct ftrace_wbt {
	struct ftrace_wbt_device *devices; /* owned */
	size_t nr;
};

/* A wbt_* event; returns the device, or 0 where it has none. time_ns without TEXT_BIAS. */
uint32_t ftrace_wbt_take(struct ftrace_wbt *wbt, const char *name, size_t name_len, struct scan s,
			 uint64_t time_ns);
/* One finding per device with I/O that never ended. */
void ftrace_wbt_end(struct ftrace_wbt *wbt, struct text *text);
void ftrace_wbt_release(struct ftrace_wbt *wbt);

/* ---- comments and losses ---- */

/* Times of one CPU, for the window in which it lost events. */
struct ftrace_cpu {
	uint64_t last_ns; /* with TEXT_BIAS; 0 = none yet */
	bool lost;        /* a loss waits for its end */
	bool count_known;
	uint64_t events;
};

#define FTRACE_CPU_PAGE  64u
#define FTRACE_CPU_PAGES 1024u

struct ftrace_notes {
	struct ftrace_cpu *pages[FTRACE_CPU_PAGES]; /* owned */
	uint64_t last_ns;                           /* of any event, with TEXT_BIAS */
	bool in_header, in_perf_header, in_stack;
};

/* A line that is no event: a comment of the kernel, a loss, a stack, perf's header. */
enum text_answer ftrace_notes_take(struct ftrace_notes *notes, struct text *text,
				   const struct text_line *line);
/* An event of that CPU: ends its loss. */
void ftrace_notes_event(struct ftrace_notes *notes, struct text *text, uint16_t cpu,
			uint64_t time_ns);
void ftrace_notes_end(struct ftrace_notes *notes, struct text *text);

#endif
