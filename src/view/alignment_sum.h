/* SPDX-License-Identifier: MIT
 *
 * What alignment.c counts and alignment_tree.c shows.
 */
#ifndef BLKLAB_VIEW_ALIGNMENT_SUM_H
#define BLKLAB_VIEW_ALIGNMENT_SUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "view/alignment.h"

#define ALIGN_WINDOWS   1000u
#define ALIGN_PROCESSES 256u

struct align_count {
	uint64_t count, bytes;
};

static inline void align_add(struct align_count *c, uint32_t bytes)
{
	c->count++;
	c->bytes += bytes;
}

/* Writes in a row with one offset inside of the stripe. */
struct align_window {
	uint64_t from_ns, to_ns, count, bytes;
	uint64_t first_sector;
	uint32_t offset;
	bool mixed; /* several runs in one, for there were too many: of different offsets */
};

/* Bytes by time: at most ALIGN_STEPS equal steps, which are joined two by two when they no longer
 * suffice. */
#define ALIGN_STEPS      60u               /* even */
#define ALIGN_FIRST_STEP UINT64_C(1000000) /* ns */

struct align_steps {
	uint64_t origin_ns, step_ns; /* step_ns 0: none yet */
	size_t nr;
	struct align_step {
		uint64_t bytes, misaligned_bytes;
	} list[ALIGN_STEPS];
};

struct align_process {
	uint32_t pid;
	uint64_t last_ns;
	struct align_count all, aligned;
};

struct align_sum {
	struct align_count all, misaligned, straddling;
	struct align_count large_misaligned;   /* of half a stripe or more */
	struct align_count small, meta, flush; /* left out */
	struct align_count unnamed;            /* of more processes than are kept */
	struct align_window *windows;          /* owned, ALIGN_WINDOWS */
	size_t nr_windows;
	bool merged;
	struct align_steps steps;
	struct align_process *processes; /* owned array */
	size_t nr_processes;
};

struct align_device {
	uint32_t device;
	bool have_requests;
	struct align_sum at_queue, at_issue;
};

/* NULL: no event of it was seen. */
const struct align_device *alignment_device(const struct alignment *align, uint32_t device);
uint32_t alignment_stripe(const struct alignment *align);

#endif
