/* SPDX-License-Identifier: MIT
 *
 * What fio counted: the I/Os of a job and the counters of the disks, in its text and in its JSON. Two runs
 * are told apart by them (was it the same work?), none is better for them: doc/formats/fio_text.md.
 */
#include <stdio.h>
#include <string.h>

#include "read/text/fio.h"
#include "read/text/result.h"

#define DISKS_MAX 1000u

/* A count of 0 says nothing: that direction was not asked for, nothing was short. */
static void count(struct text *text, const char *job, const char *direction, const char *what,
		  double value)
{
	char name[64];

	if (!(value > 0))
		return;
	snprintf(name, sizeof(name), "%s_%s", direction, what);
	result_context(text_metric(text, "fio", name, value, "1", "neutral", 1, NAN, NULL), job,
		       strlen(job));
}

/* ---- of a job ---- */

/* "0,738560,0,0" of fio 3 (read, write, trim, sync), "r=0/w=352192/d=0" of fio 2; 0 = neither. */
static unsigned int counts(struct scan *s, double *values, unsigned int max)
{
	static const char *const letters[] = { "r=", "w=", "d=" };
	unsigned int nr = 0;

	if (scan_starts(s, "r=")) {
		for (; nr < 3 && nr < max; nr++)
			if ((nr && !scan_text(s, "/")) || !scan_text(s, letters[nr]) ||
			    !scan_real(s, &values[nr]))
				break;
		return nr;
	}
	while (nr < max && scan_real(s, &values[nr])) {
		nr++;
		if (!scan_text(s, ","))
			break;
	}
	return nr;
}

bool fio_issued_line(struct text *text, const char *job, struct scan s)
{
	static const char *const directions[] = { "read", "write", "trim", "sync" };
	static const char *const kinds[][2] = {
		{ "total=", "issued" },
		{ "short=", "short" },
		{ "dropped=", "dropped" },
		{ "drop=", "dropped" },
	};

	if (!scan_text(&s, "issued") || !scan_past(&s, ":"))
		return false;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		double values[4];
		unsigned int nr;

		if (!scan_next(&s, kinds[i][0]))
			continue;
		nr = counts(&s, values, 4);
		for (unsigned int k = 0; k < nr; k++)
			count(text, job, directions[k], kinds[i][1], values[k]);
		scan_next(&s, ",");
	}
	return true;
}

void fio_issued_json(struct text *text, const char *job, const char *direction, const json_t *side)
{
	count(text, job, direction, "issued", result_number(side, "total_ios"));
	count(text, job, direction, "short", result_number(side, "short_ios"));
	count(text, job, direction, "dropped", result_number(side, "drop_ios"));
}

/* ---- of a disk ---- */

/* Counters as the text calls them, read and write; `json`: what stands behind "read_" there. Times are in
 * ms, sectors of 512 bytes. */
static const struct disk_counter {
	const char *text, *json, *name, *unit;
	double factor;
} disk_counters[] = {
	{ "ios=", "ios", "ios", "1", 1 },
	{ "sectors=", "sectors", "bytes", "bytes", 512 },
	{ "merge=", "merges", "merges", "1", 1 },
	{ "ticks=", "ticks", "time", "s", 1e-3 },
};

static void disk(struct text *text, const char *name, size_t len, const char *what, double value,
		 const char *unit)
{
	char full[64];

	if (!isfinite(value) || value < 0)
		return;
	snprintf(full, sizeof(full), "disk_%s", what);
	result_context(text_metric(text, "fio", full, value, unit, "neutral", 1, NAN, NULL), name,
		       len);
}

static void disk_pair(struct text *text, const char *name, size_t len,
		      const struct disk_counter *counter, double read, double write)
{
	char what[40];

	snprintf(what, sizeof(what), "read_%s", counter->name);
	disk(text, name, len, what, read * counter->factor, counter->unit);
	snprintf(what, sizeof(what), "write_%s", counter->name);
	disk(text, name, len, what, write * counter->factor, counter->unit);
}

bool fio_disk_line(struct text *text, struct scan s)
{
	struct scan name;
	double read, write;
	size_t len;

	if (!scan_token(&s, &name) || !scan_ends(&name, ":"))
		return false;
	scan_blanks(&s);
	if (!scan_starts(&s, "ios="))
		return false;
	len = scan_left(&name) - 1;
	for (size_t i = 0; i < sizeof(disk_counters) / sizeof(disk_counters[0]); i++) {
		if (!scan_next(&s, disk_counters[i].text))
			continue;
		if (!scan_real(&s, &read) || !scan_text(&s, "/") || !scan_real(&s, &write))
			return true;
		disk_pair(text, name.at, len, &disk_counters[i], read, write);
		scan_next(&s, ",");
	}
	if (scan_next(&s, "in_queue=") && scan_real(&s, &read)) {
		disk(text, name.at, len, "time_in_queue", read / 1e3, "s");
		scan_next(&s, ",");
	}
	if (scan_next(&s, "util=") && scan_real(&s, &read))
		disk(text, name.at, len, "busy_share", read / 100, "1");
	return true;
}

void fio_disks_json(struct text *text, const json_t *document)
{
	const json_t *disks = json_object_get(document, "disk_util");
	json_t *one;
	size_t i;

	json_array_foreach((json_t *)disks, i, one)
	{
		const char *name = json_string_value(json_object_get(one, "name"));
		size_t len = name ? strlen(name) : 0;

		if (i == DISKS_MAX || !len)
			break;
		for (size_t k = 0; k < sizeof(disk_counters) / sizeof(disk_counters[0]); k++) {
			char read[24], write[24];

			snprintf(read, sizeof(read), "read_%s", disk_counters[k].json);
			snprintf(write, sizeof(write), "write_%s", disk_counters[k].json);
			disk_pair(text, name, len, &disk_counters[k], result_number(one, read),
				  result_number(one, write));
		}
		disk(text, name, len, "time_in_queue", result_number(one, "in_queue") / 1e3, "s");
		disk(text, name, len, "busy_share", result_number(one, "util") / 100, "1");
	}
}
