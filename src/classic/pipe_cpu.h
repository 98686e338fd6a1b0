/* SPDX-License-Identifier: MIT
 *
 * The sequence numbers of one CPU of a device in pipe mode: which one follows, and which were skipped.
 */
#ifndef BLKLAB_CLASSIC_PIPE_CPU_H
#define BLKLAB_CLASSIC_PIPE_CPU_H

#include <stdbool.h>
#include <stdio.h>

#include "classic/counters.h"

#define PIPE_SKIPS 4096u /* the latest gaps, in which a late number is looked for */

struct pipe_skip {
	uint32_t from, to;
};

/* From the first number on; one allocation, that whoever releases the CPU frees. */
struct pipe_cpu {
	uint32_t last; /* the number taken last */
	uint32_t top;  /* the highest one in a gap */
	uint32_t nr, room;
	struct pipe_skip skips[]; /* in the order they were made */
};

/* How numbers out of turn are counted. The classic takes some only at the end of its input, and counts them
 * wrongly: a number that comes late makes those behind it, already shown, a gap again; a gap that it falls
 * into the middle of loses its rear part, and a number on top. */
enum pipe_rules { PIPE_CLASSIC, PIPE_RIGHT };

/* Any may be the first: the classic has a rule for that one that never applies. Nothing follows the highest
 * number: it waits for 2^32. */
static inline bool pipe_cpu_follows(const struct cpu *cpu, uint32_t sequence)
{
	return !cpu->pipe || (uint64_t)cpu->pipe->last + 1 == sequence;
}

/* The first number of a CPU. */
void pipe_cpu_start(struct cpu *cpu, uint32_t sequence);
/* Was it skipped before? */
bool pipe_cpu_is_late(const struct cpu *cpu, uint32_t sequence);
/* Takes a number that does not follow, and counts in device->skips and ->skipped. */
void pipe_cpu_skip_to(struct device *device, struct cpu *cpu, uint32_t sequence,
		      enum pipe_rules rules);
/* A line per gap, for -v. */
void pipe_cpu_print(FILE *f, const struct device *device, const struct cpu *cpu);

#endif
