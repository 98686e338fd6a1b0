/* SPDX-License-Identifier: MIT
 *
 * The tables of fs_mark, and its figures as people quote them: doc/formats/fs_mark_text.md.
 */
#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "read/text/result.h"
#include "stat/series.h"

#define CALLS_MAX    6u
#define CONTEXT_MAX  200u
#define COMMAND_MAX  400u
#define VALUES_MAX   10000u /* of a pasted list */
#define FALLS_Z      -1.96  /* Mann-Kendall, 5 % */
#define FALLS_SHARE  -0.02
#define FINDINGS_MAX 100u

/* The columns of a verbose table; each is a least, a mean and a largest time in us. */
static const char *const calls[CALLS_MAX] = {
	"CREAT", "WRITE", "FSYNC", "SYNC", "CLOSE", "UNLINK"
};
static const char *const call_names[CALLS_MAX] = { "creat_call", "write_call", "fsync_call",
						   "sync_call",  "close_call", "unlink_call" };

struct call {
	struct series mean; /* of the rows' means */
	double min, max;
};

struct fs_mark {
	bool banner; /* lines that begin with # belong to it */
	char command[COMMAND_MAX + 1];

	/* the table that is open */
	bool table, overhead_column;
	unsigned int call_columns[CALLS_MAX], nr_calls;
	char context[CONTEXT_MAX + 1];
	uint64_t last_count, size;
	struct series rate, overhead;
	struct call call[CALLS_MAX];
	double printed_average;

	uint64_t rows; /* of all tables */
	unsigned int findings;
};

static void set_context(struct fs_mark *fm, struct text *text)
{
	const char *heading = text_heading(text);
	size_t len = strnlen(heading, CONTEXT_MAX);

	memcpy(fm->context, heading, len);
	fm->context[len] = 0;
}

/* ---- a run has ended ---- */

static json_t *give_series(struct text *text, const char *name, const struct series *s,
			   const char *unit, const char *better, const char *context)
{
	json_t *obj =
		text_metric(text, "fs_mark", name, s->mean, unit, better, s->n, series_sd(s), NULL);

	result_key(obj, "min", result_real(s->min));
	result_key(obj, "max", result_real(s->max));
	if (context && context[0])
		result_context(obj, context, strlen(context));
	return obj;
}

static void add_values(json_t *obj, const struct series *s)
{
	json_t *values = json_array();

	for (size_t i = 0; i < series_kept(s); i++)
		json_array_append_new(values, json_real(s->kept[i]));
	result_key(obj, "values", values);
}

static void falling(struct fs_mark *fm, struct text *text, const struct series *s, double z)
{
	static const char *const advice[] = { "compare runs, not the intervals of one run",
					      "find what grows meanwhile (memory, journal, "
					      "directory size) before rating the mean",
					      NULL };
	double share = series_trend(s);

	if (!(z < FALLS_Z && share < FALLS_SHARE) || fm->findings++ >= FINDINGS_MAX)
		return;
	result_finding(
		text, "falling-trend", "notice", "files/s fall during the run",
		mem_printf("files/s fall by %.0f %% of their mean from the first to the last "
			   "of %" PRIu64 " intervals: the points of one run "
			   "are not independent, and its mean depends on its length",
			   -share * 100, s->n),
		json_pack("{s:f, s:f, s:I, s:f, s:f}", "trend_share", share, "kendall_z", z, "n",
			  (json_int_t)s->n, "mean_per_s", s->mean, "sd_per_s", series_sd(s)),
		advice);
}

static json_t *give_rate(struct fs_mark *fm, struct text *text, const struct series *s,
			 const char *context)
{
	json_t *obj = give_series(text, "files_per_sec", s, "per_s", "higher", context);
	double z = series_kendall_z(s);

	result_put(obj, "trend_share", series_trend(s), "fewer than three values");
	result_put(obj, "kendall_z", z, "fewer than eight values");
	add_values(obj, s);
	falling(fm, text, s, z);
	return obj;
}

static void close_table(struct fs_mark *fm, struct text *text)
{
	if (fm->rate.n && text) {
		json_t *obj = give_rate(fm, text, &fm->rate, fm->context);

		result_key(obj, "file_bytes", json_integer((json_int_t)fm->size));
		if (fm->command[0])
			result_key(obj, "command", result_string(fm->command, strlen(fm->command)));
		if (isfinite(fm->printed_average))
			result_key(obj, "printed_average", result_real(fm->printed_average));
		if (fm->overhead.n)
			give_series(text, "app_overhead", &fm->overhead, "s", "lower", fm->context);
		for (unsigned int i = 0; i < fm->nr_calls; i++) {
			struct call *call = &fm->call[i];

			if (!call->mean.n)
				continue;
			obj = give_series(text, call_names[fm->call_columns[i]], &call->mean, "s",
					  "lower", fm->context);
			result_key(obj, "min", result_real(call->min));
			result_key(obj, "max", result_real(call->max));
		}
	}
	series_release(&fm->rate);
	series_release(&fm->overhead);
	for (unsigned int i = 0; i < CALLS_MAX; i++) {
		series_release(&fm->call[i].mean);
		fm->call[i] = (struct call){ 0 };
	}
	fm->printed_average = NAN;
	fm->last_count = 0;
}

/* ---- the table ---- */

/* "FSUse%        Count         Size    Files/sec     App Overhead        CREAT (Min/Avg/Max) ..." */
static enum text_answer header_line(struct fs_mark *fm, struct text *text,
				    const struct text_line *line, struct scan s)
{
	unsigned int columns[CALLS_MAX], nr = 0;
	bool overhead = false;

	if (!scan_text(&s, "FSUse%") || !scan_next(&s, "Count") || !scan_next(&s, "Size"))
		return TEXT_NO;
	if (!scan_next(&s, "Files/sec"))
		return line->joined || line->last_try ? TEXT_NO : TEXT_MORE;
	if (scan_next(&s, "App") && scan_next(&s, "Overhead"))
		overhead = true;
	else if (!line->last_try)
		return line->joined ? TEXT_NO : TEXT_MORE;
	while (overhead && nr < CALLS_MAX && !scan_ended(&s)) {
		unsigned int i = 0;

		while (i < CALLS_MAX && !scan_next(&s, calls[i]))
			i++;
		if (i == CALLS_MAX || !scan_next(&s, "(Min/Avg/Max)"))
			break;
		columns[nr++] = i;
	}
	if (!scan_ended(&s) && !line->last_try)
		return line->joined ? TEXT_NO : TEXT_MORE;
	close_table(fm, text);
	set_context(fm, text);
	fm->table = true;
	fm->banner = false;
	fm->overhead_column = overhead;
	fm->nr_calls = nr;
	memcpy(fm->call_columns, columns, nr * sizeof(*columns));
	return TEXT_USED;
}

struct row {
	uint64_t used, count, size;
	double rate, overhead, times[CALLS_MAX][3];
};

/* How many of the columns are there; a row with other things in it has none. */
static unsigned int read_row(const struct fs_mark *fm, struct scan s, struct row *row)
{
	unsigned int nr = 4;

	if (!scan_u64(&s, &row->used) || row->used > 100 ||
	    (scan_blanks(&s), !scan_u64(&s, &row->count)) ||
	    (scan_blanks(&s), !scan_u64(&s, &row->size)))
		return 0;
	if (scan_ended(&s))
		return 3;
	scan_blanks(&s);
	if (!scan_real(&s, &row->rate) || row->rate < 0)
		return 0;
	scan_blanks(&s);
	if (fm->overhead_column && scan_real(&s, &row->overhead))
		nr++;
	for (unsigned int i = 0; i < 3 * fm->nr_calls; i++) {
		scan_blanks(&s);
		if (!scan_real(&s, &row->times[i / 3][i % 3]))
			break;
		nr++;
	}
	return scan_ended(&s) ? nr : 0;
}

static void add_row(struct fs_mark *fm, const struct row *row)
{

	fm->rows++;
	fm->last_count = row->count;
	fm->size = row->size;
	series_add(&fm->rate, row->rate);
	if (fm->overhead_column)
		series_add(&fm->overhead, row->overhead / 1e6);
	for (unsigned int i = 0; i < fm->nr_calls; i++) {
		struct call *call = &fm->call[i];
		double min = row->times[i][0] / 1e6, max = row->times[i][2] / 1e6;

		call->min = call->mean.n && call->min < min ? call->min : min;
		call->max = call->mean.n && call->max > max ? call->max : max;
		series_add(&call->mean, row->times[i][1] / 1e6);
	}
}

static enum text_answer table_row(struct fs_mark *fm, struct text *text,
				  const struct text_line *line, struct scan s)
{
	struct row row = { 0 };
	unsigned int want = 4 + fm->overhead_column + 3 * fm->nr_calls;
	unsigned int got = read_row(fm, s, &row);

	if (!got)
		return TEXT_NO;
	if (got < want) {
		if (!line->joined && !line->last_try)
			return TEXT_MORE;
		if (line->last_try)
			text_why(text, "a row of fs_mark that breaks off");
		return line->last_try ? TEXT_BAD : TEXT_NO;
	}
	if (row.count > INT64_MAX || row.size > INT64_MAX) {
		text_why(text, "a number of fs_mark's that is too large");
		return TEXT_BAD;
	}
	if (fm->rate.n && row.count <= fm->last_count) { /* counts only grow within a run */
		close_table(fm, text);
		set_context(fm, text);
	}
	add_row(fm, &row);
	return TEXT_USED;
}

/* ---- figures in lines of their own ---- */

/* "29938.0, 28023.7, 23704.6" */
static enum text_answer list_line(struct fs_mark *fm, struct text *text,
				  const struct text_line *line, struct scan s)
{
	struct series list = { 0 };
	enum text_answer answer = TEXT_NO;
	bool comma = false;
	double value;

	while (list.n < VALUES_MAX && (scan_blanks(&s), scan_real(&s, &value)) && value >= 0) {
		series_add(&list, value);
		comma = scan_next(&s, ",");
	}
	if (comma && scan_ended(&s) && !line->joined && !line->last_try) {
		answer = TEXT_MORE;
	} else if (list.n && scan_ended(&s)) {

		give_rate(fm, text, &list, NULL);
		answer = TEXT_USED;
	}
	series_release(&list);
	return answer;
}

/* "Average Files/sec:     51724.6 +/- 2.4e+04" */
static enum text_answer average_line(struct fs_mark *fm, struct text *text, struct scan s)
{
	double mean, spread = NAN;
	bool plus;
	json_t *obj;

	scan_blanks(&s);
	if (!scan_real(&s, &mean) || mean < 0)
		return TEXT_NO;
	plus = scan_next(&s, "+/-") || scan_next(&s, "+-") || scan_next(&s, "\xc2\xb1");
	if (plus && (scan_blanks(&s), !scan_real(&s, &spread)))
		return TEXT_NO;
	if (!scan_ended(&s))
		return TEXT_NO;
	if (fm->rate.n && !plus) {
		fm->printed_average = mean;
		return TEXT_USED;
	}
	obj = text_metric(text, "fs_mark", fm->rows ? "files_per_sec_average" : "files_per_sec",
			  mean, "per_s", "higher", 0, spread, NULL);
	if (plus)
		result_key(obj, "assumed",
			   json_string("the number behind +/- is the standard deviation"));
	return TEXT_USED;
}

/* "fs_mark: 307.288 files/sec", "p99 Files/sec: 1234.5", "Files/sec: 1, 2, 3" */
static enum text_answer figure_line(struct fs_mark *fm, struct text *text,
				    const struct text_line *line, struct scan s)
{
	uint64_t percent;
	double value;

	if (scan_text(&s, "Average Files/sec:"))
		return average_line(fm, text, s);
	if (scan_text(&s, "Files/sec:"))
		return list_line(fm, text, line, s);
	if (scan_text(&s, "p") && scan_u64(&s, &percent) && percent < 100 &&
	    scan_next(&s, "Files/sec:")) {
		char name[32];

		scan_blanks(&s);
		if (!scan_real(&s, &value) || !scan_ended(&s))
			return TEXT_NO;
		snprintf(name, sizeof(name), "files_per_sec_p%u", (unsigned int)percent);
		text_metric(text, "fs_mark", name, value, "per_s", "higher", 0, NAN, NULL);
		return TEXT_USED;
	}
	s = scan_line(line);
	if (!scan_text(&s, "fs_mark") || !scan_next(&s, ":"))
		return TEXT_NO;
	scan_blanks(&s);
	if (!scan_real(&s, &value) || value < 0 ||
	    !(scan_next(&s, "files/sec") || scan_next(&s, "Files/sec") ||
	      scan_next(&s, "files/s")) ||
	    !scan_ended(&s))
		return TEXT_NO;
	text_metric(text, "fs_mark", "files_per_sec", value, "per_s", "higher", 0, NAN, NULL);
	return TEXT_USED;
}

/* "#  fs_mark  -D  10000  -S0 ..." and the remarks below it */
static bool banner_line(struct fs_mark *fm, struct scan s)
{
	struct scan word, look;
	size_t len;

	if (!scan_text(&s, "#"))
		return false;
	scan_blanks(&s);
	look = s;
	if (!scan_token(&look, &word))
		return fm->banner;
	if (!scan_is(&word, "fs_mark") && !scan_ends(&word, "/fs_mark"))
		return fm->banner;
	fm->banner = true;
	len = scan_left(&s) < COMMAND_MAX ? scan_left(&s) : COMMAND_MAX;
	memcpy(fm->command, s.at, len);
	fm->command[len] = 0;
	return true;
}

static enum text_answer take(void *state, struct text *text, const struct text_line *line)
{
	struct fs_mark *fm = state;
	struct scan s = scan_line(line);

	if (s.at == s.end)
		return TEXT_NO;
	switch (*s.at) {
	case '#':
		return banner_line(fm, s) ? TEXT_USED : TEXT_NO;
	case 'F':
		if (scan_starts(&s, "FSUse%"))
			return header_line(fm, text, line, s);
		return figure_line(fm, text, line, s);
	case 'A':
	case 'p':
	case 'f':
		return figure_line(fm, text, line, s);
	default:
		return fm->table && scan_is_digit(*s.at) ? table_row(fm, text, line, s) : TEXT_NO;
	}
}

static void end(void *state, struct text *text)
{
	close_table(state, text);
}

const struct text_kind text_fs_mark = {
	.name = "fs_mark",
	.what = "results of fs_mark",
	.state_size = sizeof(struct fs_mark),
	.take = take,
	.end = end,
};
