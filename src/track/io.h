/* SPDX-License-Identifier: MIT
 *
 * What the tracker hands out: one struct per finished bio and per finished request. Rules in
 * doc/model.md; numbers in brackets are its sections.
 */
#ifndef BLKLAB_TRACK_IO_H
#define BLKLAB_TRACK_IO_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/event.h"

#define TIME_NONE UINT64_MAX /* this moment was not seen */

/* A bio that has ended: all of its sectors completed. */
struct io_bio {
	uint64_t remap_ns; /* first A of its chain, or TIME_NONE */
	uint64_t queue_ns; /* Q */
	uint64_t get_ns;   /* G of its first piece, or TIME_NONE */
	uint64_t merge_ns; /* M or F, or TIME_NONE */
	uint64_t sleep_ns; /* S (old kernels: waiting for a request), or TIME_NONE */
	/* Of the request that its first piece is in, or TIME_NONE: I (not of a bio that was merged),
	 * and D of the first and of the last attempt. */
	uint64_t insert_ns, issue_ns, last_issue_ns;
	uint64_t data_ns;     /* its last sector's C */
	uint64_t complete_ns; /* its end: the zero-length C of a flush sequence, else data_ns */
	uint64_t sector;      /* at Q */
	uint64_t mark;        /* the track_sink's own; 0 at Q */
	uint32_t bytes;       /* unknown where flags have EV_NO_BYTES */
	uint32_t pid;         /* at Q */
	uint16_t dev;         /* index into tracker's devices */
	uint16_t cpu;         /* at Q */
	uint8_t class;
	int16_t error;
	bool left_out;  /* ambiguous or across a loss: no latency [2, 13] */
	bool lost;      /* given up: complete_ns is when, not its end */
	uint32_t flags; /* EV_* at Q */
};

/* A request that has ended [3-6]. */
struct io {
	uint64_t remap_ns;  /* first A of its first bio, or TIME_NONE */
	uint64_t queue_ns;  /* first Q among its bios, or TIME_NONE */
	uint64_t get_ns;    /* G */
	uint64_t merge_ns;  /* last M/F */
	uint64_t unplug_ns; /* U or UT of the thread in whose plug it was; TIME_NONE: not seen */
	uint64_t insert_ns; /* I */
	uint64_t issue_ns;  /* first D */
	uint64_t last_issue_ns; /* D of the last attempt */
	uint64_t complete_ns;   /* C of its last byte (of the data part) */
	uint64_t end_ns; /* its end: the zero-length C of a flush sequence, else complete_ns */
	uint64_t attempt_lost_ns; /* sum of R - D [4] */
	uint64_t requeue_wait_ns; /* sum of next D - R [4] */
	uint64_t data_from_ns;    /* when its pre-flush was over, or TIME_NONE: it had none */
	uint64_t preflush_ns, postflush_ns; /* parts of a PREFLUSH/FUA write [6]; 0 where none */
	/* What those parts waited for a flush command to serve them: since G, since the data's C. */
	uint64_t preflush_wait_ns, postflush_wait_ns;
	/* Of a request known only as a whole (a row of a table): D to C, or Q to C where flags have
	 * EV_FROM_QUEUE; else TIME_NONE. */
	uint64_t whole_ns;
	uint64_t sector; /* at first D */
	/* Moved; affected for discards; 0 for flush commands. Unknown where flags have EV_NO_BYTES. */
	uint32_t bytes;
	uint32_t pid;     /* who queued the first bio, else who issued */
	uint32_t nr_bios; /* 0 = none was seen */
	uint32_t attempts;
	uint16_t dev;
	uint16_t cpu;            /* of the first D, else of the first event */
	uint16_t depth_at_issue; /* requests at the device including this one */
	uint8_t class;
	bool ambiguous;    /* joined first in, first out among equals: no latency [2] */
	bool crosses_loss; /* open across a loss window: no latency [13] */
	bool lost;         /* given up, its end was not seen: no complete_ns, no end_ns */
	int16_t error;     /* 0 or negative errno */
	uint32_t flags;    /* EV_* */
};

/* One of which no moment was seen. In hot places the macro: what a function returns goes over
 * the stack, and is read there in other widths than it was written in. */
#define IO_UNSEEN                                                                                 \
	.remap_ns = TIME_NONE, .queue_ns = TIME_NONE, .get_ns = TIME_NONE, .merge_ns = TIME_NONE, \
	.unplug_ns = TIME_NONE, .insert_ns = TIME_NONE, .issue_ns = TIME_NONE,                    \
	.last_issue_ns = TIME_NONE, .complete_ns = TIME_NONE, .end_ns = TIME_NONE,                \
	.data_from_ns = TIME_NONE, .whole_ns = TIME_NONE

static inline struct io io_unseen(void)
{
	return (struct io){ IO_UNSEEN };
}

#endif
