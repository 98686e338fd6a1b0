/* SPDX-License-Identifier: MIT */
#include "cmd/report_options.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "view/alignment.h"
#include "view/request_list.h"

#define LEAST_TOP 1
#define MOST_TOP  REQUEST_LIST_MAX

int parse_top(struct report_options *o, const char *text, struct error *err)
{
	char *end;
	long n = strtol(text, &end, 10);

	if (!*text || *end || n < LEAST_TOP || n > (long)MOST_TOP)
		return error_usage(err, "--top takes a number from 1 to %u, not \"%s\"", MOST_TOP,
				   text);
	o->top = (int)n;
	return 0;
}

int parse_align(struct report_options *o, const char *text, struct error *err)
{
	char *end;
	long n = strtol(text, &end, 10);

	if (!*text || *end || n < 1 || n > (long)ALIGN_MAX_SECTORS)
		return error_usage(err,
				   "--align takes a stripe's length in sectors of 512 bytes, not "
				   "\"%s\"",
				   text);
	o->align = (uint32_t)n;
	return 0;
}

/* "a:b" in seconds after the first event; either may be left out. */
int parse_window(struct report_options *o, const char *text, struct error *err)
{
	const char *colon = strchr(text, ':');
	char *end;

	o->window = true;
	o->from_s = 0;
	o->to_s = (double)INFINITY;
	if (!colon)
		goto bad;
	if (colon != text) {
		o->from_s = strtod(text, &end);
		if (end != colon)
			goto bad;
	}
	if (colon[1]) {
		o->to_s = strtod(colon + 1, &end);
		if (*end)
			goto bad;
	}
	if (o->from_s >= 0 && o->from_s < o->to_s && o->from_s < 1e9)
		return 0;
bad:
	return error_usage(err, "--window takes FROM:TO in seconds, FROM before TO, not \"%s\"",
			   text);
}

int parse_colour(struct report_options *o, const char *text, struct error *err)
{
	static const char *const words[] = { "auto", "always", "never" };

	for (int i = 0; i < 3; i++) {
		if (strcmp(text, words[i]))
			continue;
		o->colour = (enum colour)i;
		return 0;
	}
	return error_usage(err, "--color takes auto, always or never, not \"%s\"", text);
}

/* "100ms" in ns; 0 where it is none. */
static uint64_t duration_ns(const char *text)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = { { "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 }, { "min", 60e9 } };
	char *end;
	double n;

	if (!isdigit((unsigned char)*text))
		return 0;
	n = strtod(text, &end);
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (!strcmp(end, units[i].name) && n * units[i].ns >= 1 && n * units[i].ns < 1e18)
			return (uint64_t)llround(n * units[i].ns);
	return 0;
}

int parse_by(struct report_options *o, const char *text, struct error *err)
{
	o->grouped = true;
	for (int key = 0; key < BY_WINDOW; key++) {
		if (strcmp(text, breakdown_key_name((enum breakdown_key)key)) != 0)
			continue;
		o->by = (enum breakdown_key)key;
		return 0;
	}
	if (strncmp(text, "window", 6) != 0 || (text[6] && text[6] != '='))
		return error_usage(err,
				   "--by takes device, class, process, size, cpu or "
				   "window=DURATION, not \"%s\"",
				   text);
	o->by = BY_WINDOW;
	o->slice_ns = text[6] ? duration_ns(text + 7) : 0;
	if (!o->slice_ns)
		return error_usage(err,
				   "--by window=DURATION takes a number with its unit (ns, us, ms, "
				   "s, min), such as window=100ms, not \"%s\"",
				   text);
	return 0;
}

int check_options(struct report_options *o, struct error *err)
{
	if (!o->csv)
		return 0;
	if (o->json)
		return error_usage(err, "--csv and --json are two formats: choose one");
	if (o->grouped && o->requests)
		return error_usage(err, "--csv prints one table: choose --by or --requests");
	if (!o->requests && !o->grouped) {
		o->grouped = true;
		o->by = BY_DEVICE;
	}
	return 0;
}
