/* SPDX-License-Identifier: MIT
 *
 * The tables of the kernel test robot: a value per commit, the change between them, a metric's name at
 * the end of the row. doc/formats/results_text.md
 */
#include <inttypes.h>
#include <string.h>

#include "read/text/result.h"

#define COLUMNS_MAX     6u
#define COLUMN_NAME_MAX 63u
#define ROUNDED         0.06 /* half of the last digit of a printed percentage, and a little */

struct lkp {
	char names[COLUMNS_MAX][COLUMN_NAME_MAX + 1];
	unsigned int nr_names;
	bool ruled; /* the names have been underlined */
};

/* What one number of a row says. */
struct cell {
	double value, half; /* half: half a unit of its last printed digit */
	double sd;          /* NAN = not printed */
	double change; /* against the first column, as printed: 0.955; NAN = none or no percentage */
};

struct row {
	struct cell cells[COLUMNS_MAX];
	unsigned int nr;
	struct scan name;
};

static bool is_commit(const struct scan *token)
{
	if (scan_left(token) < 12 || scan_left(token) > 40)
		return false;
	for (const char *p = token->at; p < token->end; p++)
		if (!scan_is_digit(*p) && (*p < 'a' || *p > 'f'))
			return false;
	return true;
}

/* "0e822255f95db400 610125ab1e4b1b48dcffe74d9d8" */
static bool names_line(struct lkp *lkp, struct scan s)
{
	struct scan tokens[COLUMNS_MAX], token;
	unsigned int nr = 0;

	while (scan_token(&s, &token)) {
		if (nr == COLUMNS_MAX || !is_commit(&token))
			return false;
		tokens[nr++] = token;
	}
	if (nr < 2)
		return false;
	for (unsigned int i = 0; i < nr; i++) {
		memcpy(lkp->names[i], tokens[i].at, scan_left(&tokens[i]));
		lkp->names[i][scan_left(&tokens[i])] = 0;
	}
	lkp->nr_names = nr;
	lkp->ruled = false;
	return true;
}

/* "---------------- ---------------------------", "%stddev     %change         %stddev", "\  |  \" */
static bool frame_line(struct lkp *lkp, struct scan s)
{
	struct scan token;
	unsigned int rules = 0, words = 0, marks = 0, nr = 0;

	while (scan_token(&s, &token)) {
		nr++;
		rules += scan_starts(&token, "-----") && scan_ends(&token, "-----");
		words += scan_is(&token, "%stddev") || scan_is(&token, "%change") ||
			 scan_is(&token, "%diff");
		marks += scan_is(&token, "\\") || scan_is(&token, "|");
	}
	if (rules >= 2 && rules == nr && lkp->nr_names == nr) {
		lkp->ruled = true;
		return true;
	}
	return (words >= 2 && words == nr) || (marks >= 2 && marks == nr);
}

/* Half a unit of the last digit of the number between the two. */
static double half_digit(const char *from, const char *to)
{
	double half = 0.5, power = 0;
	bool point = false;

	for (; from < to; from++) {
		struct scan exp = { from + 1, to };

		if (*from == '.')
			point = true;
		else if (point && scan_is_digit(*from))
			half /= 10;
		else if ((*from == 'e' || *from == 'E') && scan_real(&exp, &power))
			return half * pow(10, power);
	}
	return half;
}

/* "4711", "6157 ±  2%" */
static bool read_value(struct scan *s, struct cell *cell)
{
	static const char *const marks[] = { "\xc2\xb1", "\xb1", "+/-", "+-", "?", NULL };
	const char *from;
	double percent;

	scan_blanks(s);
	from = s->at;
	if (s->at == s->end || *s->at == '+' || !scan_real(s, &cell->value))
		return false;
	cell->half = half_digit(from, s->at);
	cell->sd = NAN;
	for (const char *const *mark = marks; *mark; mark++) {
		struct scan look = *s;

		if (!scan_next(&look, *mark))
			continue;
		scan_blanks(&look);
		if (!scan_real(&look, &percent) || !scan_text(&look, "%"))
			break;
		cell->sd = fabs(cell->value) * percent / 100;
		*s = look;
		break;
	}
	return s->at < s->end && scan_is_blank(*s->at);
}

/* "-71.2%"; "+5.2" is a difference of values that are percentages themselves. */
static bool read_change(struct scan *s, double *change)
{
	struct scan try = *s;

	scan_blanks(&try);
	if (try.at == try.end || (*try.at != '+' && *try.at != '-') || !scan_real(&try, change))
		return false;
	*change = scan_text(&try, "%") ? *change / 100 : NAN;
	if (try.at == try.end || !scan_is_blank(*try.at))
		return false;
	*s = try;
	return true;
}

static bool is_metric_name(const struct scan *name)
{
	const char *dot = memchr(name->at, '.', scan_left(name));

	return dot && dot > name->at && dot + 1 < name->end && scan_left(name) < 200 &&
	       scan_is_letter(*name->at);
}

static bool read_row(struct scan s, struct row *row)
{
	row->nr = 0;
	do {
		struct cell *cell = &row->cells[row->nr];

		cell->change = NAN;
		if ((row->nr && !read_change(&s, &cell->change)) || !read_value(&s, cell))
			return false;
		row->nr++;
		scan_blanks(&s);
	} while (row->nr < COLUMNS_MAX && s.at < s.end && (*s.at == '+' || *s.at == '-'));
	return row->nr >= 2 && scan_token(&s, &row->name) && scan_ended(&s) &&
	       is_metric_name(&row->name);
}

/* The same as printed, within what rounding may do? */
static bool agrees(const struct cell *base, const struct cell *cell)
{
	double change, slack;

	if (!isfinite(cell->change) || base->value == 0)
		return true;
	change = (cell->value - base->value) / base->value;
	slack = ROUNDED / 100 + fabs(cell->half / base->value) +
		fabs(cell->value / base->value * base->half / base->value);
	return fabs(change - cell->change) <= slack;
}

static const char *unit_of(const char *name)
{
	if (strstr(name, "per_sec"))
		return "per_s";
	if (strstr(name, "elapsed_time") || strstr(name, "system_time") ||
	    strstr(name, "user_time"))
		return "s";
	return "1";
}

static void give(struct lkp *lkp, struct text *text, const struct row *row)
{
	char name[200];
	size_t len = scan_left(&row->name);

	memcpy(name, row->name.at, len);
	name[len] = 0;
	for (unsigned int i = 0; i < row->nr; i++) {
		const struct cell *cell = &row->cells[i];
		json_t *obj = text_metric(text, "lkp", name, cell->value, unit_of(name),
					  result_better(name, len), 0, cell->sd, NULL);
		char column[24];

		snprintf(column, sizeof(column), "column %u", i + 1);
		result_key(obj, "variant", json_string(i < lkp->nr_names ? lkp->names[i] : column));
		if (!strcmp(unit_of(name), "1"))
			result_key(obj, "unit_why", json_string("the table does not say it"));
		if (!i)
			continue;
		result_put(obj, "change_printed", cell->change,
			   "the table has a difference of percentages here");
		if (agrees(&row->cells[0], cell))
			continue;
		result_key(obj, "change_disagrees", json_true());
		facts_note(text_facts(text),
			   "%.*s: the table says a change of %+.1f %%, its values one of %+.1f %%",
			   (int)len, name, cell->change * 100,
			   (cell->value / row->cells[0].value - 1) * 100);
	}
}

static enum text_answer take(void *state, struct text *text, const struct text_line *line)
{
	struct lkp *lkp = state;
	struct scan s = scan_line(line);
	struct row row;

	if (s.at == s.end || line->len > 1000)
		return TEXT_NO;
	if (names_line(lkp, s) || frame_line(lkp, s))
		return TEXT_USED;
	if (!scan_is_digit(*s.at) && *s.at != '-')
		return TEXT_NO;
	if (!read_row(s, &row))
		return TEXT_NO;
	give(lkp, text, &row);
	return TEXT_USED;
}

const struct text_kind text_lkp = {
	.name = "lkp",
	.what = "a table of the kernel test robot",
	.state_size = sizeof(struct lkp),
	.take = take,
};
