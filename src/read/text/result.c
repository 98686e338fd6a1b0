/* SPDX-License-Identifier: MIT */
#include "read/text/result.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/printable.h"
#include "read/text/finding.h"

#define REAL_MAX   1e100 /* larger ones measure nothing, and would overflow in another unit */
#define STRING_MAX 400   /* bytes of a command or label that are kept */

struct scan scan_line(const struct text_line *line)
{
	struct scan s = { line->s, line->s + line->len };

	scan_blanks(&s);
	return s;
}

struct scan scan_string(const char *text)
{
	return (struct scan){ text, text + strlen(text) };
}

bool scan_ended(const struct scan *s)
{
	struct scan rest = *s;

	scan_blanks(&rest);
	return rest.at == rest.end;
}

bool scan_starts(const struct scan *token, const char *start)
{
	size_t len = strlen(start);

	return scan_left(token) >= len && !memcmp(token->at, start, len);
}

bool scan_ends(const struct scan *token, const char *end)
{
	size_t len = strlen(end);

	return scan_left(token) >= len && !memcmp(token->end - len, end, len);
}

bool scan_is(const struct scan *token, const char *word)
{
	return scan_left(token) == strlen(word) && scan_starts(token, word);
}

bool scan_next(struct scan *s, const char *lit)
{
	struct scan try = *s;

	scan_blanks(&try);
	if (!scan_text(&try, lit))
		return false;
	*s = try;
	return true;
}

bool scan_past(struct scan *s, const char *lit)
{
	size_t len = strlen(lit);
	const char *hit = scan_left(s) ? memmem(s->at, scan_left(s), lit, len) : NULL;

	if (!hit)
		return false;
	s->at = hit + len;
	return true;
}

bool scan_token(struct scan *s, struct scan *token)
{
	struct scan try = *s;

	scan_blanks(&try);
	if (try.at == try.end)
		return false;
	token->at = try.at;
	while (try.at < try.end && !scan_is_blank(*try.at))
		try.at++;
	token->end = try.at;
	*s = try;
	return true;
}

/* An exponent, if one is there; false where it is absurd. */
static bool exponent(const char **at, const char *end, int *exp)
{
	const char *p = *at;
	bool minus = false;
	int e = 0;

	if (p == end || (*p != 'e' && *p != 'E'))
		return true;
	if (++p < end && (*p == '-' || *p == '+'))
		minus = *p++ == '-';
	if (p == end || !scan_is_digit(*p))
		return true; /* a word, not an exponent */
	for (; p < end && scan_is_digit(*p); p++)
		if ((e = e * 10 + (*p - '0')) > 400)
			return false;
	*exp += minus ? -e : e;
	*at = p;
	return true;
}

/* Exactly rounded for up to 15 digits and 22 places, which is all that anybody prints. */
static double scale(uint64_t mantissa, int exp)
{
	double power = 1, base = 10;

	for (unsigned int e = (unsigned int)abs(exp); e; e >>= 1, base *= base)
		if (e & 1)
			power *= base;
	return exp < 0 ? (double)mantissa / power : (double)mantissa * power;
}

static bool real(struct scan *s, double *value, bool comma)
{
	const char *at = s->at;
	bool minus = at < s->end && *at == '-', point = false;
	uint64_t mantissa = 0;
	int exp = 0, digits = 0;

	at += minus || (at < s->end && *at == '+');
	for (; at < s->end; at++) {
		if (scan_is_digit(*at)) {
			digits++;
			if (mantissa > UINT64_MAX / 10 - 1) {
				exp += !point; /* beyond what a double holds */
				continue;
			}
			mantissa = mantissa * 10 + (uint64_t)(*at - '0');
			exp -= point;
		} else if (!point && (*at == '.' || (comma && *at == ',')) && at + 1 < s->end &&
			   scan_is_digit(at[1])) {
			point = true;
		} else {
			break;
		}
	}
	if (!digits || !exponent(&at, s->end, &exp))
		return false;
	*value = scale(mantissa, exp) * (minus ? -1 : 1);
	if (fabs(*value) > REAL_MAX)
		return false;
	s->at = at;
	return true;
}

bool scan_real(struct scan *s, double *value)
{
	return real(s, value, false);
}

bool scan_real_comma(struct scan *s, double *value)
{
	return real(s, value, true);
}

bool scan_bytes_unit(struct scan *s, unsigned int kilo, double *factor)
{
	static const char prefixes[] = "kMGTP";
	struct scan try = *s;
	double f = 1, base = kilo;
	const char *prefix;

	scan_blanks(&try);
	prefix = try.at < try.end && *try.at ? strchr(prefixes, *try.at == 'K' ? 'k' : *try.at)
					     : NULL;
	if (prefix) {
		try.at++;
		base = scan_text(&try, "i") ? 1024 : base;
		for (long i = 0; i <= prefix - prefixes; i++)
			f *= base;
	}
	if (!scan_text(&try, "bytes") && !scan_text(&try, "B"))
		return false;
	*s = try;
	*factor = f;
	return true;
}

bool scan_time_unit(struct scan *s, double *factor)
{
	static const struct {
		const char *name;
		double factor;
	} units[] = {
		/* longer names first */
		{ "nsec", 1e-9 }, { "usec", 1e-6 }, { "msec", 1e-3 },      { "seconds", 1 },
		{ "secs", 1 },    { "sec", 1 },     { "ns", 1e-9 },        { "us", 1e-6 },
		{ "ms", 1e-3 },   { "min", 60 },    { "\xc2\xb5s", 1e-6 }, { "\xce\xbcs", 1e-6 },
		{ "s", 1 },       { "h", 3600 },    { "m", 60 },
	};
	struct scan try = *s;

	scan_blanks(&try);
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
		struct scan after = try;

		if (!scan_text(&after, units[i].name) ||
		    (after.at < after.end &&
		     ((*after.at | 0x20) >= 'a' && (*after.at | 0x20) <= 'z')))
			continue;
		*factor = units[i].factor;
		*s = after;
		return true;
	}
	return false;
}

bool scan_clock(struct scan *s, double *seconds)
{
	struct scan try = *s;
	double sum = 0, part;
	uint64_t whole;
	int colons = 0;

	for (;;) {
		struct scan look = try;

		if (colons < 2 && scan_u64(&look, &whole) && scan_text(&look, ":")) {
			sum = (sum + (double)whole) * 60;
			colons++;
			try = look;
			continue;
		}
		if (try.at == try.end || !scan_is_digit(*try.at) || !scan_real_comma(&try, &part) ||
		    (colons && part >= 60))
			return false;
		*s = try;
		*seconds = sum + part;
		return true;
	}
}

/* ---- shapes ---- */

json_t *result_string(const char *s, size_t len)
{
	char *copy, *clean;
	json_t *string;

	while (len && scan_is_blank(s[len - 1]))
		len--;
	copy = mem_strndup(s, len < STRING_MAX ? len : STRING_MAX);
	clean = printable(copy);
	string = json_string(clean);
	free(clean);
	free(copy);
	return string ? string : json_null();
}

json_t *result_real(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

void result_context(json_t *obj, const char *s, size_t len)
{
	if (!obj || !len)
		return;
	json_object_set_new(obj, "context", result_string(s, len));
	json_object_del(obj, "context_why");
}

double result_number(const json_t *obj, const char *key)
{
	const json_t *value = json_object_get(obj, key);
	double number = json_is_number(value) ? json_number_value(value) : NAN;

	return fabs(number) <= REAL_MAX ? number : NAN;
}

void result_put(json_t *obj, const char *key, double value, const char *why)
{
	char why_key[64];

	result_key(obj, key, result_real(value));
	if (isfinite(value))
		return;
	snprintf(why_key, sizeof(why_key), "%s_why", key);
	result_key(obj, why_key, json_string(why));
}

void result_key(json_t *obj, const char *key, json_t *value)
{
	if (obj)
		json_object_set_new(obj, key, value);
	else
		json_decref(value);
}

json_t *result_one(struct text *text, const char *source, const char *name, double value,
		   const char *unit, const char *better)
{
	return text_metric(text, source, name, value, unit, better, 1, NAN,
			   isfinite(value) ? NULL : "this text does not give it");
}

void result_finding(struct text *text, const char *id, const char *severity, const char *title,
		    char *sentence, json_t *evidence, const char *const *advice)
{
	json_t *own = finding_add(text_facts(text), id, severity, title, sentence, NULL), *list;

	if (own) {
		json_t *findings = text_facts(text)->findings;

		json_object_update(own, evidence);
		list = json_object_get(json_array_get(findings, json_array_size(findings) - 1),
				       "advice");
		for (; advice && *advice; advice++)
			json_array_append_new(list, json_string(*advice));
	}
	json_decref(evidence);
}

const char *result_better(const char *name, size_t len)
{
	static const struct {
		const char *word, *better;
	} table[] = {
		/* the first one that is found decides */
		{ "percent_of_cpu", "neutral" },
		{ "stddev", "neutral" },
		{ "per_sec", "higher" },
		{ "per-sec", "higher" },
		{ "per_min", "higher" },
		{ "per-min", "higher" },
		{ "/sec", "higher" },
		{ "mb/s", "higher" },
		{ "ops/s", "higher" },
		{ "operations/s", "higher" },
		{ "time", "lower" },
		{ "elapsed", "lower" },
		{ "overhead", "lower" },
		{ "latency", "lower" },
		{ "lat_", "lower" },
		{ "_lat", "lower" },
		{ "major_", "lower" },
		{ "stall", "lower" },
		{ "duration", "lower" },
		{ "iops", "higher" },
		{ "throughput", "higher" },
		{ "bandwidth", "higher" },
		{ "_bw", "higher" },
		{ "bw_", "higher" },
		{ "mbps", "higher" },
		{ "_ops", "higher" },
		{ "ops_", "higher" },
		{ "workload", "higher" },
		{ "score", "higher" },
		{ "speed", "higher" },
	};
	size_t last = 0, nr = 0;
	char small[64];

	/* "fsmark.time.file_system_outputs" is no time, but "clat_99.9%_us" has no part "9%_us" */
	for (size_t i = 0; i + 1 < len; i++)
		if (name[i] == '.' && !scan_is_digit(name[i + 1]))
			last = i + 1;
	for (size_t i = last; i < len && nr < sizeof(small); i++, nr++)
		small[nr] = name[i] >= 'A' && name[i] <= 'Z' ? (char)(name[i] | 0x20) : name[i];
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++)
		if (memmem(small, nr, table[i].word, strlen(table[i].word)))
			return table[i].better;
	return nr == 3 && !memcmp(small, "ops", 3) ? "higher" : "neutral";
}
