/* SPDX-License-Identifier: MIT */
#include "read/blktrace_cpus.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "read/blktrace_record.h"
#include "read/blktrace_walk.h"

#define LOOK_BYTES 65536u /* of a file whose first record is of another CPU than its name says */
#define LISTED_MAX 8      /* missing CPUs that are named one by one */

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

/* The CPU on which all records at the start agree, or `named`. */
static int cpu_of_records(struct blob *blob, int named)
{
	struct blktrace_header h = { .cpu = (uint32_t)named };
	struct error ignored = { 0 };
	const uint8_t *head;
	size_t len = blob_head(blob, BLKTRACE_V8_BYTES, &head, &ignored), size, at = 0;
	uint32_t first;
	bool swap;

	if (!blktrace_version(head, len, &swap))
		return named;
	size = blktrace_header_size(head, swap);
	if (size && len >= size)
		blktrace_header_decode(&h, head, size, swap);
	first = h.cpu;
	if (first == (uint32_t)named || first >= BLKTRACE_CPUS_MAX)
		return named;
	len = blob_head(blob, LOOK_BYTES, &head, &ignored);
	while (len - at >= 4) {
		size = blktrace_header_size(head + at, swap);
		if (!size)
			return named;
		if (len - at < size)
			break;
		blktrace_header_decode(&h, head + at, size, swap);
		if (h.cpu != first)
			return named;
		size += h.pdu_len;
		at += size < len - at ? size : len - at;
	}
	return (int)first;
}

int *blktrace_cpus_of_set(struct input *in, struct facts *facts)
{
	int *says = mem_zalloc((in->nr + 1) * sizeof(*says));
	int *cpu_of = mem_zalloc((in->nr + 1) * sizeof(*cpu_of));

	for (size_t i = 0; i < in->nr; i++) {
		cpu_of[i] = says[i] = blktrace_cpu_of_name(in->blobs[i].name);
		if (says[i] >= 0)
			says[i] = cpu_of_records(&in->blobs[i], cpu_of[i]);
	}
	for (size_t i = 0; i < in->nr; i++) {
		bool taken = false;

		if (says[i] == cpu_of[i])
			continue;
		for (size_t k = 0; k < in->nr; k++)
			taken |= k != i && says[k] == says[i];
		if (taken)
			continue;
		cpu_of[i] = says[i];
		facts_note(facts,
			   "%.200s: %.100s holds records of CPU %d (was it renamed?) and was read "
			   "as the file of that CPU",
			   in->label, in->blobs[i].name, says[i]);
	}
	free(says);
	return cpu_of;
}

void blktrace_say_holes(struct facts *facts, const struct input *in, const int *cpu_of)
{
	struct blktrace_cpus cpus = { 0 };
	unsigned int missing, listed = 0;
	char list[128] = "", more[32] = "";
	size_t used = 0;

	for (size_t i = 0; i < in->nr; i++) {
		if (cpu_of[i] >= 0)
			blktrace_cpus_add(&cpus, (uint32_t)cpu_of[i]);
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
