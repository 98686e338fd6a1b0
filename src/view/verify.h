/* SPDX-License-Identifier: MIT
 *
 * Is a trace whole (`blklab verify`)? One tree, from which the page is printed too.
 */
#ifndef BLKLAB_VIEW_VERIFY_H
#define BLKLAB_VIEW_VERIFY_H

#include <jansson.h>
#include <stddef.h>
#include <stdio.h>

#include "trace/facts.h"
#include "trace/source.h"

/* One input, read to its end. */
struct verify_input {
	size_t info;                    /* index in facts->inputs */
	struct source_stats stats;      /* of its sources */
	size_t first_loss, behind_loss; /* its part of facts->losses */
	char *error; /* owned by the caller; why reading stopped early, or NULL */
};

/* {"schema_version", "tool", "whole": true | false | null + why, "inputs": [...], "dropped", ...,
 * "unsafe"}; owned by the caller. */
json_t *verify_tree(const struct verify_input *list, size_t nr, const struct facts *facts);
void verify_text(const json_t *tree, FILE *out);

#endif
