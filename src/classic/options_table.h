/* SPDX-License-Identifier: MIT
 *
 * The one table of blkparse's options, and what is written from it: usage, help, the list for scripts.
 */
#ifndef BLKLAB_CLASSIC_OPTIONS_TABLE_H
#define BLKLAB_CLASSIC_OPTIONS_TABLE_H

#include <getopt.h>
#include <stdio.h>

#include "classic/record.h"

/* Ours have no letter. */
enum own_option { OWN_NONE, OWN_FIX, OWN_CLASSIC, OWN_GROUP, OWN_LIST, OWN_HELP };

struct option_row {
	char letter;        /* 0: one of ours */
	const char *name;   /* the long one */
	const char *value;  /* what it takes, "<file>"; NULL: nothing */
	const char *help;   /* lines */
	enum classic since; /* the first one that has it */
	enum own_option own;
};

#define MOST_OPTIONS 32 /* rows of the table, and one more */

/* What getopt_long() wants: only the options that this classic has. */
struct getopt_table {
	char letters[2 * MOST_OPTIONS];
	struct option longs[MOST_OPTIONS];
};
struct getopt_table options_getopt(enum classic classic);

/* By letter; NULL: none. */
const struct option_row *options_by_letter(char letter);
/* The one of the classic's whose long name is or only begins with that; NULL: none, or more than one. */
const struct option_row *options_by_prefix(const char *name, size_t len);
/* One of ours, by its whole long name; NULL: none. */
const struct option_row *options_ours(const char *name, size_t len);

/* The classic's usage text, byte for byte. */
void options_usage(FILE *out, const char *program, enum classic classic);
/* That and our own options. */
void options_help(FILE *out, const char *program, enum classic classic);
void options_list(FILE *out);

#endif
