/* SPDX-License-Identifier: MIT
 *
 * Which CPUs a set of blktrace files, or one stream of records, tells of: what is missing is said.
 */
#ifndef BLKLAB_READ_BLKTRACE_CPUS_H
#define BLKLAB_READ_BLKTRACE_CPUS_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/facts.h"
#include "trace/input.h"

#define BLKTRACE_CPUS_MAX 8192 /* as many as the kernel can have; higher numbers are not kept */

struct blktrace_cpus {
	uint64_t bits[BLKTRACE_CPUS_MAX / 64];
	unsigned int nr, highest;
};

static inline void blktrace_cpus_add(struct blktrace_cpus *cpus, uint32_t cpu)
{
	uint64_t bit = UINT64_C(1) << (cpu % 64);

	if (cpu >= BLKTRACE_CPUS_MAX || (cpus->bits[cpu / 64] & bit))
		return;
	cpus->bits[cpu / 64] |= bit;
	cpus->nr++;
	cpus->highest = cpu > cpus->highest ? cpu : cpus->highest;
}

/* N of "NAME.blktrace.N", or -1. */
int blktrace_cpu_of_name(const char *name);

/* The CPU that records of each file of the set must have, -1: any; owned, NULL for a set without files. It is
 * that of the name, or another where the records at the file's start agree on one and no other file is
 * of that CPU: the file was renamed, which is noted. */
int *blktrace_cpus_of_set(struct input *in, struct facts *facts);

/* Notes that files between the first and the last of these CPUs are not there. */
void blktrace_say_holes(struct facts *facts, const struct input *in, const int *cpu_of);

/* At the end of a stream of any CPU's records: what it was, as a part of the dialect and, where only
 * one CPU's records came, as a note. `mixed`: the CPUs' records were not in order of time. */
void blktrace_say_stream(struct facts *facts, size_t input, const struct blktrace_cpus *cpus,
			 bool mixed);

#endif
