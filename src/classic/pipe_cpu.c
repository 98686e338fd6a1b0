/* SPDX-License-Identifier: MIT */
#include "classic/pipe_cpu.h"

#include <inttypes.h>
#include <string.h>

#include "base/mem.h"

#define NO_SKIP UINT32_MAX

static size_t bytes_for(uint32_t room)
{
	return sizeof(struct pipe_cpu) + room * sizeof(struct pipe_skip);
}

/* How many numbers: -1 for the remains of a gap that the classic has cut in two. */
static uint64_t numbers_in(const struct pipe_skip *skip)
{
	return (uint64_t)skip->to - skip->from + 1;
}

/* Room for one more; the older half of too many stays counted but is forgotten. */
static struct pipe_cpu *make_room(struct cpu *cpu)
{
	struct pipe_cpu *p = cpu->pipe;

	if (p->nr < p->room)
		return p;
	if (p->room < PIPE_SKIPS) {
		p->room = p->room ? 2 * p->room : 16;
		p = cpu->pipe = mem_resize(p, bytes_for(p->room), 1);
	} else {
		p->nr /= 2;
		memmove(p->skips, p->skips + p->room / 2, p->nr * sizeof(*p->skips));
	}
	return p;
}

/* Beside the latest gap that it touches, else as a gap of its own. */
static void add(struct device *device, struct cpu *cpu, uint32_t from, uint32_t to)
{
	struct pipe_cpu *p = cpu->pipe;

	device->skipped += numbers_in(&(struct pipe_skip){ from, to });
	for (uint32_t i = p->nr; from <= (uint64_t)p->top + 1 && i--;) {
		struct pipe_skip *skip = &p->skips[i];

		if ((uint64_t)to + 1 == skip->from) {
			skip->from = from;
			return;
		}
		if (from == (uint64_t)skip->to + 1) {
			skip->to = to;
			if (to > p->top)
				p->top = to;
			return;
		}
	}
	p = make_room(cpu);
	p->skips[p->nr++] = (struct pipe_skip){ from, to };
	device->skips++;
	if (to > p->top)
		p->top = to;
}

/* The latest gap with that number. */
static uint32_t find(const struct cpu *cpu, uint32_t sequence)
{
	const struct pipe_cpu *p = cpu->pipe;

	for (uint32_t i = p->nr; sequence <= p->top && i--;)
		if (p->skips[i].from <= sequence && sequence <= p->skips[i].to)
			return i;
	return NO_SKIP;
}

static void take_out(struct device *device, struct cpu *cpu, uint32_t i, uint32_t sequence,
		     enum pipe_rules rules)
{
	struct pipe_cpu *p = cpu->pipe;
	struct pipe_skip *skip = &p->skips[i], was = *skip;

	device->skipped -= numbers_in(&was);
	if (was.from == was.to) {
		p->nr--;
		memmove(skip, skip + 1, (p->nr - i) * sizeof(*skip));
		device->skips--;
		return;
	}
	if (was.from == sequence)
		skip->from++;
	else
		skip->to = sequence - 1;
	device->skipped += numbers_in(skip);
	if (was.from < sequence && sequence < was.to)
		add(device, cpu, sequence + 1, rules == PIPE_RIGHT ? was.to : sequence - 1);
}

void pipe_cpu_start(struct cpu *cpu, uint32_t sequence)
{
	cpu->pipe = mem_zalloc(bytes_for(0));
	cpu->pipe->last = sequence;
}

bool pipe_cpu_is_late(const struct cpu *cpu, uint32_t sequence)
{
	return cpu->pipe && find(cpu, sequence) != NO_SKIP;
}

void pipe_cpu_skip_to(struct device *device, struct cpu *cpu, uint32_t sequence,
		      enum pipe_rules rules)
{
	uint64_t expected = (uint64_t)cpu->pipe->last + 1;
	uint32_t late = find(cpu, sequence);

	if (late != NO_SKIP)
		take_out(device, cpu, late, sequence, rules);
	else if (expected < sequence)
		add(device, cpu, (uint32_t)expected, sequence - 1);
	if (late == NO_SKIP || rules == PIPE_CLASSIC)
		cpu->pipe->last = sequence;
}

void pipe_cpu_print(FILE *f, const struct device *device, const struct cpu *cpu)
{
	for (uint32_t i = 0; cpu->pipe && i < cpu->pipe->nr; i++)
		fprintf(f, "(%s): skipping %" PRIu32 " -> %" PRIu32 "\n", device->name,
			cpu->pipe->skips[i].from, cpu->pipe->skips[i].to);
}
