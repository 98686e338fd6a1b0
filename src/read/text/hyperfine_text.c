/* SPDX-License-Identifier: MIT
 *
 * hyperfine's report for people and its --export-json: doc/formats/results_text.md.
 */
#include <string.h>

#include "read/text/fio.h"
#include "read/text/result.h"
#include "stat/series.h"

#define COMMAND_MAX 200u
#define RESULTS_MAX 10000u
#define TIMES_MAX   100000u

struct hyperfine {
	char command[COMMAND_MAX + 1];
	bool open; /* a "Time" line was read; its "Range" line follows */
	double mean, sd, user, system;
};

static json_t *give(struct text *text, const char *command, const char *name, double value,
		    const char *better, uint64_t n, double sd)
{
	json_t *obj;

	if (!isfinite(value))
		return NULL;
	obj = text_metric(text, "hyperfine", name, value, "s", better, n, sd, NULL);
	if (command[0])
		result_context(obj, command, strlen(command));
	return obj;
}

static void give_open(struct hyperfine *h, struct text *text, double min, double max, uint64_t n)
{
	json_t *obj;

	if (!h->open)
		return;
	h->open = false;
	obj = give(text, h->command, "elapsed", h->mean, "lower", n, h->sd);
	result_put(obj, "min", min, "one run has no range");
	result_put(obj, "max", max, "one run has no range");
	give(text, h->command, "user", h->user, "lower", 0, NAN);
	give(text, h->command, "system", h->system, "lower", 0, NAN);
}

/* "310.4 ms" */
static bool with_unit(struct scan *s, double *seconds)
{
	double factor;

	scan_blanks(s);
	if (!scan_real(s, seconds) || !scan_time_unit(s, &factor))
		return false;
	*seconds *= factor;
	return true;
}

/* "Benchmark 1: sleep 0.3", "Benchmark #1: ..." */
static bool head_line(struct hyperfine *h, struct text *text, struct scan s)
{
	uint64_t nr;
	size_t len;

	if (!scan_text(&s, "Benchmark "))
		return false;
	scan_text(&s, "#");
	if (!scan_u64(&s, &nr) || !scan_text(&s, ":"))
		return false;
	give_open(h, text, NAN, NAN, 1); /* of one run there is no range */
	scan_blanks(&s);
	len = scan_left(&s) < COMMAND_MAX ? scan_left(&s) : COMMAND_MAX;
	memcpy(h->command, s.at, len);
	h->command[len] = 0;
	return true;
}

/* "Time (mean ± σ):     310.4 ms ±   4.1 ms    [User: 1.2 ms, System: 0.8 ms]", "Time (abs ≡): ..." */
static bool time_line(struct hyperfine *h, struct text *text, struct scan s)
{
	struct hyperfine got = *h;

	if (!scan_text(&s, "Time (") || !(scan_starts(&s, "mean") || scan_starts(&s, "abs")) ||
	    !scan_past(&s, "):") || !with_unit(&s, &got.mean))
		return false;
	got.sd = got.user = got.system = NAN;
	if (scan_next(&s, "\xc2\xb1") && !with_unit(&s, &got.sd))
		return false;
	if (scan_next(&s, "[User:") && with_unit(&s, &got.user) && scan_next(&s, ",") &&
	    scan_next(&s, "System:"))
		with_unit(&s, &got.system);
	give_open(h, text, NAN, NAN, 1);
	*h = got;
	h->open = true;
	return true;
}

/* "Range (min … max):   305.0 ms … 318.2 ms    10 runs" */
static bool range_line(struct hyperfine *h, struct text *text, struct scan s)
{
	double min, max;
	uint64_t n;

	if (!h->open || !scan_text(&s, "Range (") || !scan_past(&s, "):") || !with_unit(&s, &min) ||
	    !(scan_next(&s, "\xe2\x80\xa6") || scan_next(&s, "...")) || !with_unit(&s, &max))
		return false;
	scan_blanks(&s);
	give_open(h, text, min, max, scan_u64(&s, &n) ? n : 0);
	return true;
}

static enum text_answer take(void *state, struct text *text, const struct text_line *line)
{
	struct hyperfine *h = state;
	struct scan s = scan_line(line);

	if (s.at == s.end)
		return TEXT_NO;
	if (*s.at == 'R' && range_line(h, text, s))
		return TEXT_USED;
	if (*s.at != 'B' && *s.at != 'T')
		return TEXT_NO;
	return head_line(h, text, s) || time_line(h, text, s) ? TEXT_USED : TEXT_NO;
}

static void end(void *state, struct text *text)
{
	if (text)
		give_open(state, text, NAN, NAN, 1);
}

const struct text_kind text_hyperfine = {
	.name = "hyperfine",
	.what = "results of hyperfine",
	.state_size = sizeof(struct hyperfine),
	.take = take,
	.end = end,
};

/* ---- JSON ---- */

static void one_result(struct text *text, const json_t *result)
{
	const char *command = json_string_value(json_object_get(result, "command"));
	const json_t *times = json_object_get(result, "times");
	struct series s = { 0 };
	json_t *obj, *time, *values = json_array();
	size_t i;

	json_array_foreach(times, i, time)
	{
		if (json_is_number(time) && fabs(json_number_value(time)) < 1e18 && i < TIMES_MAX)
			series_add(&s, json_number_value(time));
	}
	for (i = 0; i < series_kept(&s); i++)
		json_array_append_new(values, json_real(s.kept[i]));
	command = command ? command : "";
	obj = give(text, command, "elapsed", result_number(result, "mean"), "lower", s.n,
		   result_number(result, "stddev"));
	result_put(obj, "min", result_number(result, "min"), "not in this document");
	result_put(obj, "max", result_number(result, "max"), "not in this document");
	result_put(obj, "median", result_number(result, "median"), "not in this document");
	result_key(obj, "values", values);
	give(text, command, "user", result_number(result, "user"), "lower", 0, NAN);
	give(text, command, "system", result_number(result, "system"), "lower", 0, NAN);
	series_release(&s);
}

bool hyperfine_json(struct text *text, const json_t *document)
{
	const json_t *results = json_object_get(document, "results");
	const json_t *first = json_array_get(results, 0);
	size_t i;
	json_t *one;

	if (!json_object_get(first, "command") || !json_object_get(first, "mean"))
		return false;
	text_dialect(text, "hyperfine JSON");
	json_array_foreach(results, i, one)
	{
		if (i < RESULTS_MAX)
			one_result(text, one);
	}
	return true;
}
