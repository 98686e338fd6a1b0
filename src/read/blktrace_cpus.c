/* SPDX-License-Identifier: MIT */
#include "read/blktrace_cpus.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define LISTED_MAX 8 /* missing CPUs that are named one by one */

int blktrace_cpu_of_name(const char *name)
{
	const char *mark = strstr(name, ".blktrace."), *digits;
	int cpu = 0;

	if (!mark)
		return -1;
	digits = mark + strlen(".blktrace.");
	if (!*digits || strlen(digits) > 5)
		return -1;
	for (; *digits; digits++) {
		if (!isdigit((unsigned char)*digits))
			return -1;
		cpu = cpu * 10 + (*digits - '0');
	}
	return cpu;
}

void blktrace_say_holes(struct facts *facts, const struct input *in)
{
	struct blktrace_cpus cpus = { 0 };
	unsigned int missing, listed = 0;
	char list[128] = "", more[32] = "";
	size_t used = 0;

	for (size_t i = 0; i < in->nr; i++) {
		int cpu = blktrace_cpu_of_name(in->blobs[i].name);

		if (cpu >= 0)
			blktrace_cpus_add(&cpus, (uint32_t)cpu);
	}
	if (!cpus.nr || cpus.nr == cpus.highest + 1)
		return;
	if (cpus.nr == 1) {
		facts_note(facts,
			   "%.200s: 1 per-CPU file (CPU %u): I/O that other CPUs submitted and "
			   "completions that they recorded are missing",
			   in->label, cpus.highest);
		return;
	}
	missing = cpus.highest + 1 - cpus.nr;
	for (unsigned int cpu = 0; cpu < cpus.highest && listed < LISTED_MAX; cpu++) {
		if (cpus.bits[cpu / 64] >> (cpu % 64) & 1)
			continue;
		used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%u",
					 listed ? ", " : "", cpu);
		listed++;
	}
	if (missing > listed)
		snprintf(more, sizeof(more), " and %u more", missing - listed);
	facts_note(facts,
		   "%.200s: there is no file of CPU %s%s (the last is of CPU %u); if they were "
		   "running, their events are missing",
		   in->label, list, more, cpus.highest);
}

void blktrace_say_stream(struct facts *facts, size_t input, const struct blktrace_cpus *cpus,
			 bool mixed)
{
	struct input_info *info = &facts->inputs[input];
	size_t used = strlen(info->dialect);
	unsigned int cpu = cpus->highest;

	if (!cpus->nr || strstr(info->dialect, " CPU"))
		return;
	if (cpus->nr > 1) {
		snprintf(info->dialect + used, sizeof(info->dialect) - used,
			 mixed ? ", live stream of %u CPUs" : ", merged dump of %u CPUs", cpus->nr);
		return;
	}
	snprintf(info->dialect + used, sizeof(info->dialect) - used, ", only CPU %u", cpu);
	facts_note(
		facts,
		"%.200s: all its records are of CPU %u; if it is one file of a set, the events of "
		"other CPUs are not in it",
		info->path, cpu);
}
