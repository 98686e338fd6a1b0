/* SPDX-License-Identifier: MIT
 *
 * fio --output-format=json, of 2.x (us, KiB) and 3.x (ns, bytes): doc/formats/fio_text.md.
 */
#include <stdio.h>
#include <string.h>

#include "read/text/fio.h"
#include "read/text/result.h"

#define JOBS_MAX        10000u
#define PERCENTILES_MAX 64u

struct place {
	struct text *text;
	const char *job;       /* borrowed */
	const char *direction; /* "write" */
};

static json_t *give(const struct place *at, const char *name, double value, const char *unit,
		    const char *better, double n, double sd)
{
	char full[80];
	json_t *obj;

	if (!isfinite(value))
		return NULL;
	snprintf(full, sizeof(full), "%s_%s", at->direction, name);
	obj = text_metric(at->text, "fio", full, value, unit, better,
			  n >= 1 && n < 1e18 ? (uint64_t)n : 0, sd, NULL);
	if (at->job[0])
		result_context(obj, at->job, strlen(at->job));
	return obj;
}

static void percentiles(const struct place *at, const char *of, const json_t *block, double unit)
{
	json_t *table = json_object_get(block, "percentile"), *value;
	const char *key;
	unsigned int nr = 0;

	json_object_foreach(table, key, value)
	{
		struct scan s = scan_string(key);
		double percent;
		char name[48];

		if (!scan_real(&s, &percent) || !scan_ended(&s) || percent < 0 || percent > 100 ||
		    !json_is_number(value) || fabs(json_number_value(value)) > 1e18 ||
		    nr++ == PERCENTILES_MAX)
			continue;
		fio_percentile_name(name, sizeof(name), of, percent);
		give(at, name, json_number_value(value) * unit, "s", "lower", 0, NAN);
	}
}

/* "clat_ns": {...} of fio 3, "clat": {...} in us of fio 2 */
static void latency(const struct place *at, const json_t *side, const char *of)
{
	char key[16];
	const json_t *block;
	double unit = 1e-9, n;
	json_t *obj;

	snprintf(key, sizeof(key), "%s_ns", of);
	block = json_object_get(side, key);
	if (!json_is_object(block)) {
		block = json_object_get(side, of);
		unit = 1e-6;
	}
	if (!json_is_object(block))
		return;
	n = result_number(block, "N");
	if (n == 0 || (!isfinite(n) && result_number(block, "max") == 0))
		return; /* nothing was measured: not a latency of 0 */
	obj = give(at, of, result_number(block, "mean") * unit, "s", "lower", n,
		   result_number(block, "stddev") * unit);
	result_put(obj, "min", result_number(block, "min") * unit, "not in this document");
	result_put(obj, "max", result_number(block, "max") * unit, "not in this document");
	percentiles(at, of, block, unit);
}

static void side_of_job(const struct place *at, const json_t *side, bool version2)
{
	double bytes = result_number(side, "io_bytes"), rate = result_number(side, "bw_bytes");
	double run = result_number(side, "runtime"), iops = result_number(side, "iops");
	json_t *obj;

	if (!json_is_object(side) || (!(bytes > 0) && !(iops > 0)))
		return;
	if (version2) /* its io_bytes are KiB */
		bytes *= 1024;
	if (!isfinite(rate))
		rate = result_number(side, "bw") * 1024;
	give(at, "iops", iops, "per_s", "higher", 1, NAN);
	obj = give(at, "bandwidth", rate, "bytes_per_s", "higher", 1, NAN);
	result_put(obj, "bytes", bytes, "not in this document");
	result_put(obj, "seconds", run / 1e3, "not in this document");
	fio_issued_json(at->text, at->job, at->direction, side);
	latency(at, side, "slat");
	latency(at, side, "clat");
	latency(at, side, "lat");
}

static void job(struct text *text, const json_t *job, bool version2)
{
	static const char *const sides[] = { "read", "write", "trim", "mixed", NULL };
	const char *name = json_string_value(json_object_get(job, "jobname"));
	struct place at = { .text = text, .job = name ? name : "" };
	double err = result_number(job, "error");

	for (const char *const *side = sides; *side; side++) {
		at.direction = *side;
		side_of_job(&at, json_object_get(job, *side), version2);
	}
	fio_issued_json(text, at.job, "sync", json_object_get(job, "sync"));
	at.direction = "fsync";
	latency(&at, json_object_get(job, "sync"), "lat");
	if (err > 0) {
		json_t *obj = text_metric(text, "fio", "error", err, "1", "lower", 1, NAN, NULL);

		result_context(obj, at.job, strlen(at.job));
	}
}

bool fio_json(struct text *text, const json_t *document)
{
	const char *version = json_string_value(json_object_get(document, "fio version"));
	const json_t *jobs = json_object_get(document, "jobs");
	size_t i;
	json_t *one;

	if (!json_is_array(jobs))
		jobs = json_object_get(document, "client_stats");
	if (!version || !json_is_array(jobs))
		return false;
	text_dialect(text, "fio JSON");
	json_array_foreach(jobs, i, one)
	{
		if (i == JOBS_MAX) {
			facts_note(text_facts(text), "fio: only the first %u jobs are used",
				   JOBS_MAX);
			break;
		}
		job(text, one, !strncmp(version, "fio-2", 5) || !strncmp(version, "fio-1", 5));
	}
	fio_disks_json(text, document);
	return true;
}
