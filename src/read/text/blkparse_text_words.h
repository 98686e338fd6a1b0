/* SPDX-License-Identifier: MIT
 *
 * The words of a line whose columns are not known, and what each could be.
 */
#ifndef BLKLAB_READ_TEXT_BLKPARSE_TEXT_WORDS_H
#define BLKLAB_READ_TEXT_BLKPARSE_TEXT_WORDS_H

#include "read/text/blkparse_text.h"

#define WORD_TIME   (1u << 0)
#define WORD_NUMBER (1u << 1)
#define WORD_ACTION (1u << 2)
#define WORD_RWBS   (1u << 3)
#define WORD_TEXT   (1u << 4)

struct word {
	const char *s;
	uint32_t len, kind; /* WORD_* */
	uint64_t number;
	bool comma; /* "8,16": the next word touches it */
};

struct words {
	struct word of[BLKPARSE_COLUMNS];
	int nr;
};

/* At most BLKPARSE_COLUMNS words; they borrow from the line. Blanks, punctuation and parentheses
 * separate; what stands in brackets is one word. */
void blkparse_split(const char *line, struct words *words);

#endif
