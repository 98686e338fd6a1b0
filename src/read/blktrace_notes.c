/* SPDX-License-Identifier: MIT */
#include "read/blktrace_notes.h"

#define LITTLE_NS 100000000u /* a note stands before its first event, by far less than this */

void blktrace_notes_init(struct blktrace_notes *notes, struct facts *facts, size_t input,
			 bool stream)
{
	*notes = (struct blktrace_notes){
		.facts = facts, .input = input, .settled = !stream, .earliest_ns = UINT64_MAX
	};
}

/* The earliest note in sight that names `pid`; UINT64_MAX = none. */
static uint64_t named_at(const struct blktrace_walk *walk, uint32_t pid)
{
	struct source_stats uncounted = { 0 };
	struct blktrace_walk look = *walk;
	struct blktrace_header h;
	uint64_t first = UINT64_MAX;

	look.stats = &uncounted;
	for (; blktrace_walk_next(&look, &h) == 1; look.at += h.size + h.pdu_len)
		if ((h.categories & TC_NOTIFY) && !(h.number & ~BLKTRACE_CGROUP) && h.pid == pid &&
		    h.time_ns < first)
			first = h.time_ns;
	return first;
}

/* All notes are later than the first event: blkparse -d moved the events and left the notes. The
 * kernel names a thread at its first event on any traced device, so the note of the thread whose event
 * is at time 0 is near that time, or before it by an unknown while: good enough to put notes in order,
 * and no wall clock. */
static void join_clocks(struct blktrace_notes *notes, const struct blktrace_walk *walk,
			const struct blktrace_header *first)
{
	uint64_t named_ns = first->time_ns ? UINT64_MAX : named_at(walk, first->pid);

	notes->moved = true;
	notes->zero_ns = named_ns != UINT64_MAX ? named_ns : notes->earliest_ns;
	facts_note(
		notes->facts,
		"%.200s: blkparse -d wrote it and let time begin at the first event, so the wall "
		"clock is not known",
		notes->facts->inputs[notes->input].path);
}

void blktrace_notes_look(struct blktrace_notes *notes, const struct blktrace_walk *walk)
{
	struct source_stats uncounted = { 0 };
	struct blktrace_walk look = *walk;
	struct blktrace_header h;
	bool moved;

	look.stats = &uncounted;
	for (; blktrace_walk_next(&look, &h) == 1; look.at += h.size + h.pdu_len) {
		if (h.categories & TC_NOTIFY) {
			if (h.time_ns < notes->earliest_ns)
				notes->earliest_ns = h.time_ns;
			continue;
		}
		moved = notes->earliest_ns != UINT64_MAX && notes->earliest_ns > LITTLE_NS &&
			h.time_ns < notes->earliest_ns - LITTLE_NS;
		/* To join them takes all the notes that can be in sight. */
		if (moved && !walk->at_end && walk->at + (walk->size - walk->len) > 0)
			return;
		notes->settled = true;
		if (moved)
			join_clocks(notes, walk, &h);
		return;
	}
}

void blktrace_note_name(struct blktrace_notes *notes, uint32_t pid, uint64_t time_ns,
			const char *comm, size_t len)
{
	names_add(&notes->facts->names, pid, blktrace_notes_time(notes, time_ns), comm, len);
}

void blktrace_note_clock(struct blktrace_notes *notes, uint64_t time_ns, uint64_t wall_ns)
{
	if (notes->have_clock)
		return;
	notes->have_clock = true;
	notes->clock_at_ns = time_ns;
	notes->clock_wall_ns = wall_ns;
}

void blktrace_notes_end(struct blktrace_notes *notes)
{
	struct facts *facts = notes->facts;

	if (facts->have_wall || !notes->have_clock || notes->moved)
		return;
	facts->have_wall = true;
	facts->wall_at_ns = notes->clock_at_ns;
	facts->wall_ns = notes->clock_wall_ns;
}
