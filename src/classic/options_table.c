/* SPDX-License-Identifier: MIT */
#include "classic/options_table.h"

#include <string.h>

/* In the order of the classic's table: where a long name is ambiguous, getopt lists them so. Letters, names and
 * the synopsis made of them are the classic's, the explanations are our own. */
static const struct option_row rows[] = {
	{ 'a', "act-mask", "<action field>",
	  "Show events of this category only; more of them add up", CLASSIC_1_2, OWN_NONE },
	{ 'A', "set-mask", "<action mask>",
	  "Show events of these categories only, as one hexadecimal number", CLASSIC_1_2,
	  OWN_NONE },
	{ 'b', "batch", "<traces>", "How many records are read at a time (512)", CLASSIC_1_2,
	  OWN_NONE },
	{ 'D', "input-directory", "<dir>", "Where the files of the inputs are", CLASSIC_1_2,
	  OWN_NONE },
	{ 'd', "dump-binary", "<file>",
	  "Also write the records in display order to this file, for btt", CLASSIC_1_2, OWN_NONE },
	{ 'f', "format", "<format>",
	  "How events are printed: text with %letters (blklab help blkparse)", CLASSIC_1_2,
	  OWN_NONE },
	{ 'F', "format-spec", "<spec>", "The same for the events of one letter: LETTER,FORMAT",
	  CLASSIC_1_2, OWN_NONE },
	{ 'h', "hash-by-name", NULL, "With -s: by command name instead of pid", CLASSIC_1_2,
	  OWN_NONE },
	{ 'i', "input", "<file>", "Device whose per-CPU files are read; - or a FIFO: a live stream",
	  CLASSIC_1_2, OWN_NONE },
	{ 'M', "no-msgs", NULL, "Leave messages out of the file of -d", CLASSIC_1_2, OWN_NONE },
	{ 'o', "output", "<file>", "Write the text to this file instead of standard output",
	  CLASSIC_1_2, OWN_NONE },
	{ 'O', "no-text-output", NULL, "Write no text", CLASSIC_1_2, OWN_NONE },
	{ 'q', "quiet", NULL, "Print no statistics of devices", CLASSIC_1_2, OWN_NONE },
	{ 's', "per-program-stats", NULL, "Print statistics of processes", CLASSIC_1_2, OWN_NONE },
	{ 'S', "sort-program-stats", "<event>",
	  "As -s, in ascending order of: N name; Q, R, W, C KiB that were\n"
	  "queued, read, written, completed; q, r, w, c the numbers of these",
	  CLASSIC_1_3, OWN_NONE },
	{ 't', "track-ios", NULL,
	  "Print how long requests waited to be queued and dispatched,\n"
	  "and how long they took",
	  CLASSIC_1_2, OWN_NONE },
	{ 'w', "stopwatch", "<time>",
	  "Show only what lies in [start:]end, in seconds from the first\n"
	  "event on; start is 0 where it is not given",
	  CLASSIC_1_2, OWN_NONE },
	{ 'v', "verbose", NULL, "Say more on standard error", CLASSIC_1_2, OWN_NONE },
	{ 'V', "version", NULL, "Print the version and end", CLASSIC_1_2, OWN_NONE },

	{ 0, "fix", NULL, "Same layout, right numbers: what the classic counts wrongly",
	  CLASSIC_1_2, OWN_FIX },
	{ 0, "classic", "1.2|1.3|8",
	  "Which blkparse to stand in for: 1.2.0 (default), 1.3.0, or\n"
	  "the one that reads records of version 8",
	  CLASSIC_1_2, OWN_CLASSIC },
	{ 0, "group", "yes|no",
	  "Thousands separators in statistics. Default: as the classic,\n"
	  "if there is a locale en_US",
	  CLASSIC_1_2, OWN_GROUP },
	{ 0, "list-options", NULL, "Print all options as a table, for scripts", CLASSIC_1_2,
	  OWN_LIST },
	{ 0, "help", NULL, "Print this", CLASSIC_1_2, OWN_HELP },
};
#define NR_ROWS (sizeof(rows) / sizeof(rows[0]))
_Static_assert(NR_ROWS < MOST_OPTIONS, "room for getopt's end marker");

/* The order of the usage text, which begins with -i in its first part and has it here in its second. */
#define USAGE_ORDER "aAbdDfFhioOqsStwMvV"

struct getopt_table options_getopt(enum classic classic)
{
	struct getopt_table table = { 0 };
	struct option *next = table.longs;
	char *letter = table.letters;

	for (size_t i = 0; i < NR_ROWS; i++) {
		const struct option_row *row = &rows[i];

		if (!row->letter || row->since > classic)
			continue;
		*letter++ = row->letter;
		if (row->value)
			*letter++ = ':';
		*next++ = (struct option){
			.name = row->name,
			.has_arg = row->value ? required_argument : no_argument,
			.val = row->letter,
		};
	}
	return table;
}

const struct option_row *options_by_letter(char letter)
{
	for (size_t i = 0; i < NR_ROWS; i++)
		if (letter && rows[i].letter == letter)
			return &rows[i];
	return NULL;
}

static bool is_name(const struct option_row *row, const char *name, size_t len)
{
	return strlen(row->name) == len && !memcmp(row->name, name, len);
}

const struct option_row *options_by_prefix(const char *name, size_t len)
{
	const struct option_row *found = NULL;
	size_t nr = 0;

	for (size_t i = 0; i < NR_ROWS; i++) {
		if (!rows[i].letter || strncmp(rows[i].name, name, len))
			continue;
		if (is_name(&rows[i], name, len))
			return &rows[i];
		found = &rows[i];
		nr++;
	}
	return nr == 1 ? found : NULL;
}

const struct option_row *options_ours(const char *name, size_t len)
{
	for (size_t i = 0; i < NR_ROWS; i++)
		if (rows[i].own && is_name(&rows[i], name, len))
			return &rows[i];
	return NULL;
}

/* "[ -d <file>         | --dump-binary=<file> ]" */
static void put_synopsis(FILE *out, const struct option_row *row)
{
	const char *value = row->value ? row->value : "";
	bool needed = row->letter == 'i';

	fprintf(out, "%s-%c %-*s | --%s%s%s%s\n", needed ? "" : "[ ", row->letter, needed ? 16 : 14,
		value, row->name, row->value ? "=" : "", value,
		needed || row->letter == 'M' ? "" : " ]"); /* forgotten by the classic */
}

static void put_help(FILE *out, const char *indent, const char *help)
{
	size_t len = strcspn(help, "\n");

	fprintf(out, "%.*s\n", (int)len, help);
	if (help[len])
		fprintf(out, "%s%s\n", indent, help + len + 1); /* two lines at most */
}

void options_usage(FILE *out, const char *program, enum classic classic)
{
	fprintf(out, "Usage: %s \n\n", program);
	put_synopsis(out, options_by_letter('i'));
	for (const char *letter = USAGE_ORDER; *letter; letter++) {
		const struct option_row *row = options_by_letter(*letter);

		if (*letter != 'i' && row->since <= classic)
			put_synopsis(out, row);
	}
	fputc('\n', out);
	for (const char *letter = USAGE_ORDER; *letter; letter++) {
		const struct option_row *row = options_by_letter(*letter);

		if (row->since > classic)
			continue;
		fprintf(out, "\t-%c ", row->letter);
		put_help(out, "\t   ", row->help);
	}
	fputc('\n', out);
}

void options_help(FILE *out, const char *program, enum classic classic)
{
	options_usage(out, program, classic);
	fputs("Only in this one, to be written in full:\n\n", out);
	for (size_t i = 0; i < NR_ROWS; i++) {
		const struct option_row *row = &rows[i];

		if (row->letter)
			continue;
		fprintf(out, "\t--%s%s%s\n\t   ", row->name, row->value ? "=" : "",
			row->value ? row->value : "");
		put_help(out, "\t   ", row->help);
	}
}

void options_list(FILE *out)
{
	for (size_t i = 0; i < NR_ROWS; i++) {
		const struct option_row *row = &rows[i];

		fprintf(out, "%c\t%s\t%s\n", row->letter ? row->letter : '-', row->name,
			row->value ? row->value : "-");
	}
}
