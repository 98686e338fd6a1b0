/* SPDX-License-Identifier: MIT
 *
 * What the commands that read traces have in common: the inputs that the arguments name, and choosing
 * among them.
 */
#ifndef BLKLAB_CMD_LOAD_H
#define BLKLAB_CMD_LOAD_H

#include <stddef.h>

#include "trace/event.h"
#include "trace/facts.h"
#include "trace/input.h"

/* Names given with --only; empty: everything. */
struct only {
	const char **names; /* owned array of borrowed names */
	size_t nr;
};

void only_add(struct only *only, const char *name);
void only_release(struct only *only);

/* Adds what the paths name, and drops all but what `only` names; what archives hold and nobody reads is
 * noted in facts. -1 with err. */
int load_inputs(struct inputs *inputs, char **paths, int nr, const struct only *only,
		struct facts *facts, struct error *err);

/* The shortest end of the input's label, in whole parts of the path, that no other input ends with: "o.txt",
 * or "run1/o.txt" beside "run2/o.txt". A part of the label. */
const char *member_name(const struct inputs *inputs, const char *label);

/* -1 with err where two inputs are recordings of one device: what they count would be added up.
 * `inputs`: all came from one archive or folder, so that --only can choose; else NULL. */
int load_check_twice(const struct facts *facts, const struct inputs *inputs, struct error *err);

#endif
