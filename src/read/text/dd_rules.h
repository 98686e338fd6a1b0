/* SPDX-License-Identifier: MIT
 *
 * What the results of dd say about themselves: what they cannot measure. One finding of a kind for the
 * whole text, with the number of results and the first of them as evidence.
 */
#ifndef BLKLAB_READ_TEXT_DD_RULES_H
#define BLKLAB_READ_TEXT_DD_RULES_H

#include "read/text/result.h"

/* One result; unknown numbers are 0 with their `have_`. */
struct dd_result {
	uint64_t bytes;
	double seconds;
	bool have_in, have_out;
	uint64_t in_whole, in_part, out_whole, out_part; /* records */
	uint64_t block;                                  /* bytes per record, 0 = not known */
};

enum dd_rule {
	DD_RECORDS_MISMATCH,
	DD_TOO_SHORT,
	DD_SMALL_BLOCKS,
	DD_PAGE_CACHE,       /* its command shows that nothing was flushed */
	DD_PAGE_CACHE_MAYBE, /* its command is not known */
	DD_RULES
};

struct dd_rules {
	struct {
		uint64_t nr;
		struct dd_result first;
		char command[200];
	} hit[DD_RULES];
};

/* `command`: "" = not known; `block_told`: bs= of the command, 0 = not told. */
void dd_rules_look(struct dd_rules *rules, const struct dd_result *result, const char *command,
		   uint64_t block_told);
void dd_rules_give(const struct dd_rules *rules, struct text *text);

#endif
