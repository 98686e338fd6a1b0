/* SPDX-License-Identifier: MIT
 *
 * The comparison tables of mmtests: a row per statistic, a value per kernel, each with its change against
 * the first in parentheses, or between stars where it is significant. Positive changes are improvements,
 * which tells the direction of the metric. doc/formats/results_text.md
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "read/text/result.h"

#define COLUMNS_MAX 8u
#define LINE_KEPT   200u
#define LABEL_MAX   80u
#define ABOVE       6u /* lines among which the names of the columns are looked for */

struct mmtests {
	char above[ABOVE][LINE_KEPT + 1]; /* the last lines of no kind, the newest first */
};

struct row {
	char label[LABEL_MAX + 1];
	double values[COLUMNS_MAX], changes[COLUMNS_MAX];
	bool significant[COLUMNS_MAX];
	unsigned int nr;
};

static void remember(struct mmtests *m, const struct text_line *line)
{
	size_t len = line->len < LINE_KEPT ? line->len : LINE_KEPT;

	memmove(m->above[1], m->above[0], sizeof(m->above) - sizeof(m->above[0]));
	memcpy(m->above[0], line->s, len);
	m->above[0][len] = 0;
}

/* "11.11 (   9.97%)", "11.11 *   9.97%*" */
static bool read_cell(struct scan *s, struct row *row)
{
	struct scan try = *s;
	double value, change;
	bool star = false;

	scan_blanks(&try);
	if (!scan_real(&try, &value) || try.at == try.end)
		return false;
	if (!scan_next(&try, "(")) {
		if (!scan_next(&try, "*"))
			return false;
		star = true;
	}
	scan_blanks(&try);
	if (!scan_real(&try, &change) || !scan_next(&try, "%") ||
	    !scan_text(&try, star ? "*" : ")"))
		return false;
	row->values[row->nr] = value;
	row->changes[row->nr] = change / 100;
	row->significant[row->nr++] = star;
	*s = try;
	return true;
}

/* The label is one word or more, up to the first number with a change behind it. */
static bool read_row(struct scan s, struct row *row)
{
	struct scan token, look = s;
	size_t len = 0;

	row->nr = 0;
	if (s.at == s.end || !scan_is_letter(*s.at))
		return false;
	for (unsigned int words = 0; words < 5; words++) {
		if (!scan_token(&look, &token) || scan_left(&token) + len + 2 > LABEL_MAX)
			return false;
		if (len)
			row->label[len++] = ' ';
		memcpy(row->label + len, token.at, scan_left(&token));
		len += scan_left(&token);
		row->label[len] = 0;
		while (row->nr < COLUMNS_MAX && read_cell(&look, row))
			;
		if (row->nr)
			break;
	}
	return row->nr >= 2 && row->changes[0] == 0 && scan_ended(&look);
}

/* The words of a line, if there are as many as columns. */
static bool column_name(const char *line, unsigned int nr, unsigned int column, struct scan *name)
{
	struct scan s = scan_string(line), token;
	unsigned int words = 0;

	while (scan_token(&s, &token)) {
		if (words++ == column)
			*name = token;
	}
	return words == nr;
}

/* The names stand in the nearest lines with as many words as there are columns: the kernel's name, and
 * often its release above it. Prose between is of no matter. */
static json_t *variant(const struct mmtests *m, unsigned int nr, unsigned int column)
{
	struct scan found[2];
	unsigned int names = 0;
	char text[2 * LINE_KEPT + 2];

	for (unsigned int i = 0; i < ABOVE && names < 2; i++)
		if (column_name(m->above[i], nr, column, &found[names]))
			names++;
	if (!names)
		snprintf(text, sizeof(text), "column %u", column + 1);
	else if (names == 1)
		snprintf(text, sizeof(text), "%.*s", (int)scan_left(&found[0]), found[0].at);
	else
		snprintf(text, sizeof(text), "%.*s-%.*s", (int)scan_left(&found[1]), found[1].at,
			 (int)scan_left(&found[0]), found[0].at);
	return result_string(text, strlen(text));
}

static const char *direction(const struct row *row)
{
	for (unsigned int i = 1; i < row->nr; i++) {
		double up = row->values[i] - row->values[0];

		if (up != 0 && row->changes[i] != 0)
			return (up > 0) == (row->changes[i] > 0) ? "higher" : "lower";
	}
	if (!strncmp(row->label, "Hmean", 5))
		return "higher";
	return !strncmp(row->label, "Amean", 5) ? "lower" : "neutral";
}

/* (new - old) / old where more is better, (old - new) / old where less is. */
static bool agrees(const struct row *row, unsigned int i)
{
	double base = row->values[0], change = fabs(row->values[i] - base) / fabs(base);

	/* two digits behind the point, and percentages of two */
	return base == 0 || fabs(change - fabs(row->changes[i])) <=
				    0.0002 + 0.01 / fabs(base) * (1 + fabs(row->values[i] / base));
}

static void give(struct mmtests *m, struct text *text, const struct row *row)
{
	for (unsigned int i = 0; i < row->nr; i++) {
		json_t *obj = text_metric(text, "mmtests", row->label, row->values[i], "1",
					  direction(row), 0, NAN, NULL);

		result_key(obj, "unit_why", json_string("the table does not say it"));
		result_key(obj, "variant", variant(m, row->nr, i));
		if (!i)
			continue;
		result_key(obj, "improvement_printed", result_real(row->changes[i]));
		result_key(obj, "significant", json_boolean(row->significant[i]));
		if (!agrees(row, i))
			facts_note(text_facts(text),
				   "%s: the table says a change of %+.2f %%, its values (%g and "
				   "%g) another one",
				   row->label, row->changes[i] * 100, row->values[0],
				   row->values[i]);
	}
}

static enum text_answer take(void *state, struct text *text, const struct text_line *line)
{
	struct mmtests *m = state;
	struct row row;

	if (line->len < 1000 && memchr(line->s, '%', line->len) &&
	    read_row(scan_line(line), &row)) {
		give(m, text, &row);
		return TEXT_USED;
	}
	remember(m, line);
	return TEXT_NO;
}

const struct text_kind text_mmtests = {
	.name = "mmtests",
	.what = "a comparison of mmtests",
	.state_size = sizeof(struct mmtests),
	.take = take,
};
