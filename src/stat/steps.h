/* SPDX-License-Identifier: MIT
 *
 * A value over time as at most STEPS_MAX equal steps, each with its time-weighted mean and its
 * maximum. How long it will all take need not be known: steps are joined two by two when they no
 * longer suffice. Memory is fixed.
 */
#ifndef BLKLAB_STAT_STEPS_H
#define BLKLAB_STAT_STEPS_H

#include <stddef.h>
#include <stdint.h>

#define STEPS_MAX      120u /* even */
#define STEPS_FIRST_NS UINT64_C(1000000)

struct step {
	double area; /* of value x ns */
	uint64_t ns; /* of the step that the value is known for */
	uint32_t max;
};

/* Zero-initialised. */
struct steps {
	uint64_t origin_ns; /* where the first step begins: where the first value was added */
	uint64_t step_ns;   /* length of a step; 0: no value yet */
	size_t nr;          /* steps up to the last with a value */
	struct step *steps; /* owned, STEPS_MAX */
};

/* The value was so in [from_ns, to_ns); an empty or reversed one is nothing, and no first value. Times
 * before the origin are cut off. */
void steps_add(struct steps *steps, uint64_t from_ns, uint64_t to_ns, uint32_t value);
void steps_release(struct steps *steps);

#endif
