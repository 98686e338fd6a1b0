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

/* Adds what the paths name, and drops all but what `only` names. -1 with err. */
int load_inputs(struct inputs *inputs, char **paths, int nr, const struct only *only,
		struct error *err);

/* What stands behind the archive's or directory's name in an input's label. */
const char *member_name(const char *label);

/* -1 with err where two inputs are recordings of one device: what they count would be added up.
 * *several (may be NULL) is set where both are in one archive or folder, so that --only can choose. */
int load_check_twice(const struct facts *facts, bool *several, struct error *err);

#endif
