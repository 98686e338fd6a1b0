/* SPDX-License-Identifier: MIT
 *
 * The options of blkparse, from one table.
 */
#ifndef BLKLAB_CLASSIC_OPTIONS_H
#define BLKLAB_CLASSIC_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "classic/own_format.h"
#include "classic/record.h"

enum group_digits { GROUP_LOCALE, GROUP_YES, GROUP_NO };

struct blkparse_options {
	char **inputs; /* owned array of owned: -i and arguments, in order, as given */
	size_t nr_inputs;
	char *input_dir;            /* owned; -D, or NULL */
	const char *output, *dump;  /* borrowed of argv; -o, -d; NULL = not given */
	bool no_text, no_messages;  /* -O, -M */
	uint32_t mask;              /* category bits that are shown: -a, -A */
	unsigned int batch;         /* -b: records read at a time; a negative one is the largest */
	struct own_formats formats; /* -f, -F */
	bool by_name, quiet, per_program, track, verbose; /* -h -q -s -t -v */
	char sort;                                        /* -S, or 0 */
	uint64_t from_ns, to_ns;                          /* -w; 0, UINT64_MAX */
	/* ours */
	bool fix;                /* --fix */
	enum classic classic;    /* --classic */
	enum group_digits group; /* --group */
};

/* What is left to do after parsing. */
enum options_next { OPTIONS_RUN, OPTIONS_EXIT_OK, OPTIONS_EXIT_FAILED };

/* argv[0] is the name to use in messages. Prints what the classic prints (version, usage, what is wrong) where
 * the classic prints it, and says how to go on. options_release either way. */
enum options_next options_parse(struct blkparse_options *o, int argc, char **argv);
void options_release(struct blkparse_options *o);

/* `blklab blkparse --list-options`: a line per option of the table, "LETTER\tLONG\tARGUMENT" (ARGUMENT is "-"
 * for a switch, LETTER "-" for one that has only a long name), so that a test can cover all. Handled by options_parse. */

#endif
