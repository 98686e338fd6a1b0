/* SPDX-License-Identifier: MIT
 *
 * The notes of a blktrace file: what threads are called, and what the wall clock said. In a merged dump
 * that blkparse -d wrote, events count from the first of them while notes keep the machine's clock: there
 * notes are moved to the events' clock, as well as can be, and the wall clock is unknown.
 * doc/formats/blktrace_bin.md.
 */
#ifndef BLKLAB_READ_BLKTRACE_NOTES_H
#define BLKLAB_READ_BLKTRACE_NOTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "read/blktrace_walk.h"
#include "trace/facts.h"

struct blktrace_notes {
	struct facts *facts; /* borrowed */
	size_t input;        /* which of facts->inputs it is part of */
	bool settled;     /* how the clocks lie is known; in the file of one CPU from the start */
	bool moved;       /* events were moved, notes were not */
	uint64_t zero_ns; /* what the notes' clock said at the events' time 0 */
	uint64_t earliest_ns; /* of the notes looked at so far */
	bool have_clock;
	uint64_t clock_at_ns, clock_wall_ns;
};

/* `stream`: not the file of one CPU, so it may have two clocks. */
void blktrace_notes_init(struct blktrace_notes *notes, struct facts *facts, size_t input,
			 bool stream);
/* Whenever the buffer was filled, until settled: looks for the first event among what is unread. */
void blktrace_notes_look(struct blktrace_notes *notes, const struct blktrace_walk *walk);
/* A note's time on the events' clock. */
static inline uint64_t blktrace_notes_time(const struct blktrace_notes *notes, uint64_t time_ns)
{
	return time_ns > notes->zero_ns ? time_ns - notes->zero_ns : 0;
}

void blktrace_note_name(struct blktrace_notes *notes, uint32_t pid, uint64_t time_ns,
			const char *comm, size_t len);
void blktrace_note_clock(struct blktrace_notes *notes, uint64_t time_ns, uint64_t wall_ns);
/* At the end of the file: the wall clock, where it is good. */
void blktrace_notes_end(struct blktrace_notes *notes);

#endif
