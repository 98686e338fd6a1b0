/* SPDX-License-Identifier: MIT */
#include "stat/steps.h"

#include <stdlib.h>

#include "base/mem.h"

static void join_pairs(struct steps *s)
{
	for (size_t i = 0; i < STEPS_MAX / 2; i++) {
		const struct step *a = &s->steps[2 * i], *b = a + 1;

		s->steps[i] = (struct step){ .area = a->area + b->area,
					     .ns = a->ns + b->ns,
					     .max = a->max > b->max ? a->max : b->max };
	}
	for (size_t i = STEPS_MAX / 2; i < STEPS_MAX; i++)
		s->steps[i] = (struct step){ 0 };
	s->nr = (s->nr + 1) / 2;
	s->step_ns *= 2;
}

/* Times are told from the origin on: there the end of a step never passes 64 bits. */
static void add(struct steps *s, uint64_t from_ns, uint64_t to_ns, uint32_t value)
{
	while (from_ns < to_ns) {
		size_t i = (size_t)(from_ns / s->step_ns);
		uint64_t ns = s->step_ns - from_ns % s->step_ns;
		struct step *step = &s->steps[i];

		ns = to_ns - from_ns < ns ? to_ns - from_ns : ns;
		step->area += (double)ns * value;
		step->ns += ns;
		if (value > step->max)
			step->max = value;
		if (i >= s->nr)
			s->nr = i + 1;
		from_ns += ns;
	}
}

void steps_add(struct steps *s, uint64_t from_ns, uint64_t to_ns, uint32_t value)
{
	if (s->steps && from_ns < s->origin_ns)
		from_ns = s->origin_ns;
	if (to_ns <= from_ns)
		return;
	if (!s->steps) {
		s->steps = mem_zalloc(STEPS_MAX * sizeof(*s->steps));
		s->origin_ns = from_ns;
		s->step_ns = STEPS_FIRST_NS;
	}
	while ((to_ns - 1 - s->origin_ns) / s->step_ns >= STEPS_MAX)
		join_pairs(s);
	add(s, from_ns - s->origin_ns, to_ns - s->origin_ns, value);
}

void steps_release(struct steps *s)
{
	free(s->steps);
	*s = (struct steps){ 0 };
}
