/* SPDX-License-Identifier: MIT
 *
 * What fio prints for people, from 1.x to 3.x: doc/formats/fio_text.md. Its JSON is fio_json.c.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "read/text/fio.h"
#include "read/text/result.h"

#define JOB_MAX     200u
#define PERCENTILES 64u

struct fio {
	bool version3; /* "fio-3.x" was seen: KB is 1000 bytes there, KiB has its own name */
	char job[JOB_MAX + 1];
	char direction[16];      /* "read", "write", "trim", "sync"; "" = no job is open */
	char percentiles_of[16]; /* "clat" while a block of them is read */
	double percentile_unit;  /* s */
	bool summary;            /* "Run status group" */
	bool disks;              /* "Disk stats" */
};

static const char *const directions[] = { "read", "write", "trim", "mixed", NULL };

static json_t *give(struct fio *fio, struct text *text, const char *name, double value,
		    const char *unit, const char *better, uint64_t n, double sd)
{
	char full[80];
	json_t *obj;

	snprintf(full, sizeof(full), "%s_%s", fio->direction, name);
	obj = text_metric(text, "fio", full, value, unit, better, n, sd, NULL);
	if (fio->job[0])
		result_context(obj, fio->job, strlen(fio->job));
	return obj;
}

/* ---- numbers ---- */

/* "12.3k", "1.5M": counts are in thousands, never in 1024ths. */
static bool short_count(struct scan *s, double *value)
{
	if (!scan_real(s, value))
		return false;
	if (scan_text(s, "k") || scan_text(s, "K"))
		*value *= 1e3;
	else if (scan_text(s, "M") || scan_text(s, "m"))
		*value *= 1e6;
	return true;
}

/* "48.1MiB", "5872.2KB", "352192KB": fio 2 and older means 1024 by K, and 3 where it says KiB. */
static bool fio_bytes(const struct fio *fio, struct scan *s, double *bytes, bool *assumed)
{
	double factor;
	const char *unit;

	scan_blanks(s);
	if (!scan_real(s, bytes))
		return false;
	scan_blanks(s);
	unit = s->at;
	if (!scan_bytes_unit(s, fio->version3 ? 1000 : 1024, &factor))
		return false;
	if (assumed && !fio->version3 && s->at - unit >= 2 && unit[1] != 'i')
		*assumed = true;
	*bytes *= factor;
	return true;
}

static void say_assumed(json_t *obj, bool assumed)
{
	if (assumed)
		result_key(obj, "assumed",
			   json_string("KB is 1024 bytes, as fio up to 2.x means it"));
}

/* ---- a direction of a job ---- */

/* " IOPS=12.3k, BW=48.1MiB/s (50.4MB/s)(2885MiB/60001msec)" behind "read:" */
static bool new_direction(struct fio *fio, struct text *text, struct scan s)
{
	double iops, rate, bytes, run, factor;
	json_t *obj;

	if (!scan_next(&s, "IOPS="))
		return false;
	if (!short_count(&s, &iops) || !scan_next(&s, ",") || !scan_next(&s, "BW="))
		return false;
	if (!fio_bytes(fio, &s, &rate, NULL) || !scan_text(&s, "/s"))
		return false;
	give(fio, text, "iops", iops, "per_s", "higher", 1, NAN);
	obj = give(fio, text, "bandwidth", rate, "bytes_per_s", "higher", 1, NAN);
	if (scan_next(&s, "(") && scan_past(&s, ")"))
		scan_next(&s, "(");
	if (fio_bytes(fio, &s, &bytes, NULL) && scan_text(&s, "/") && scan_real(&s, &run) &&
	    scan_time_unit(&s, &factor)) {
		result_key(obj, "bytes", result_real(bytes));
		result_key(obj, "seconds", result_real(run * factor));
	}
	return true;
}

/* " io=352192KB, bw=5872.2KB/s, iops=1468, runt= 60000msec" */
static bool old_direction(struct fio *fio, struct text *text, struct scan s)
{
	double bytes, rate, iops = NAN, run = NAN, factor;
	bool assumed = false;
	struct scan look;
	json_t *obj;

	if (!scan_next(&s, "io=") || !fio_bytes(fio, &s, &bytes, &assumed) || !scan_next(&s, ",") ||
	    !scan_next(&s, "bw=") || !fio_bytes(fio, &s, &rate, &assumed) || !scan_text(&s, "/s"))
		return false;
	look = s;
	if (scan_next(&look, ",") && scan_next(&look, "iops=") &&
	    (scan_blanks(&look), short_count(&look, &iops)))
		s = look;
	if (scan_next(&s, ",") && scan_next(&s, "runt=") && (scan_blanks(&s), scan_real(&s, &run)))
		run = scan_time_unit(&s, &factor) ? run * factor : NAN;
	if (isfinite(iops))
		give(fio, text, "iops", iops, "per_s", "higher", 1, NAN);
	obj = give(fio, text, "bandwidth", rate, "bytes_per_s", "higher", 1, NAN);
	result_key(obj, "bytes", result_real(bytes));
	result_put(obj, "seconds", run, "not in this line");
	say_assumed(obj, assumed);
	return true;
}

static bool has_direction(struct scan *s, const char **name)
{
	for (const char *const *d = directions; *d; d++) {
		struct scan try = *s;

		if (scan_text(&try, *d) && scan_next(&try, ":")) {
			*name = *d;
			*s = try;
			return true;
		}
	}
	return false;
}

static bool direction_line(struct fio *fio, struct text *text, struct scan s)
{
	char before[sizeof(fio->direction)];
	const char *name;

	if (!has_direction(&s, &name))
		return false;
	memcpy(before, fio->direction, sizeof(before));
	snprintf(fio->direction, sizeof(fio->direction), "%s", name);
	if (new_direction(fio, text, s) || old_direction(fio, text, s)) {
		fio->summary = fio->disks = false;
		return true;
	}
	memcpy(fio->direction, before, sizeof(before));
	return false;
}

/* ---- latencies ---- */

/* "min= 2", "max=12.3k" */
static bool stat(struct scan *s, const char *key, double *value)
{
	if (!scan_next(s, key))
		return false;
	scan_blanks(s);
	if (!short_count(s, value))
		return false;
	scan_next(s, ",");
	return true;
}

/* The latency of syncs stands apart from reads and writes; fio's JSON calls it "lat", too. */
static const char *of_sync(struct fio *fio, const char *name)
{
	if (strcmp(name, "sync") != 0)
		return name;
	snprintf(fio->direction, sizeof(fio->direction), "fsync");
	return "lat";
}

/* "clat (usec): min=29, max=1234, avg=80.80, stdev=11.52", "lat (msec): ...", "sync (nsec): ...".
 * The unit is in the parentheses. */
static bool latency_line(struct fio *fio, struct text *text, struct scan s)
{
	static const char *const names[] = { "slat", "clat", "lat", "sync", NULL };
	const char *const *name = names;
	double unit, min, max, mean, sd;
	json_t *obj;

	while (*name && !scan_text(&s, *name))
		name++;
	if (!*name || !scan_next(&s, "(") || !scan_time_unit(&s, &unit) || !scan_text(&s, ")") ||
	    !scan_next(&s, ":") || !stat(&s, "min=", &min) || !stat(&s, "max=", &max) ||
	    !stat(&s, "avg=", &mean) || !stat(&s, "stdev=", &sd))
		return false;
	obj = give(fio, text, of_sync(fio, *name), mean * unit, "s", "lower", 0, sd * unit);
	result_key(obj, "min", result_real(min * unit));
	result_key(obj, "max", result_real(max * unit));
	return true;
}

/* "clat percentiles (usec):" */
static bool percentiles_head(struct fio *fio, struct scan s)
{
	struct scan word;
	size_t len;

	if (!scan_token(&s, &word) || !scan_next(&s, "percentiles (") ||
	    !scan_time_unit(&s, &fio->percentile_unit) || !scan_text(&s, ")") ||
	    !scan_next(&s, ":"))
		return false;
	len = scan_left(&word) < sizeof(fio->percentiles_of) - 1 ? scan_left(&word) : 0;
	if (!len)
		return false;
	memcpy(fio->percentiles_of, word.at, len);
	fio->percentiles_of[len] = 0;
	return scan_ended(&s);
}

void fio_percentile_name(char *to, size_t size, const char *of, double percent)
{
	if (fabs(percent - round(percent)) < 1e-9)
		snprintf(to, size, "%s_p%.0f", of, percent);
	else if (fabs(percent * 10 - round(percent * 10)) < 1e-9)
		snprintf(to, size, "%s_p%.0f", of, percent * 10);
	else
		snprintf(to, size, "%s_p%.0f", of, percent * 100);
}

/* " |  1.00th=[   26],  5.00th=[   28], 99.99th=[ 1000]" */
static bool percentile_line(struct fio *fio, struct text *text, struct scan s)
{
	double percent, value;
	char name[40];

	if (!fio->percentiles_of[0] || !scan_text(&s, "|"))
		return false;
	for (unsigned int i = 0; i < PERCENTILES; i++) {
		scan_blanks(&s);
		if (!scan_real(&s, &percent) || percent < 0 || percent > 100 ||
		    !scan_text(&s, "th=[") || (scan_blanks(&s), !scan_real(&s, &value)) ||
		    !scan_next(&s, "]"))
			return i > 0;
		fio_percentile_name(name, sizeof(name), of_sync(fio, fio->percentiles_of), percent);
		give(fio, text, name, value * fio->percentile_unit, "s", "lower", 0, NAN);
		if (!scan_next(&s, ","))
			break;
	}
	return true;
}

/* ---- around the numbers ---- */

/* "randwrite: (groupid=0, jobs=1): err= 0: pid=1234: Tue ..." */
static bool job_line(struct fio *fio, struct text *text, struct scan s)
{
	const char *from = s.at;
	uint64_t group, jobs, err = 0;
	size_t len;
	json_t *obj;

	if (!scan_past(&s, ": (groupid="))
		return false;
	len = (size_t)(s.at - strlen(": (groupid=") - from);
	if (!scan_u64(&s, &group) || !scan_text(&s, ", jobs=") || !scan_u64(&s, &jobs) ||
	    !scan_text(&s, "):"))
		return false;
	len = len < JOB_MAX ? len : JOB_MAX;
	memcpy(fio->job, from, len);
	fio->job[len] = 0;
	fio->direction[0] = fio->percentiles_of[0] = 0;
	fio->summary = fio->disks = false;
	if (scan_next(&s, "err=") && (scan_blanks(&s), scan_u64(&s, &err)) && err) {
		obj = text_metric(text, "fio", "error", (double)err, "1", "lower", 1, NAN, NULL);
		result_context(obj, fio->job, len);
	}
	return true;
}

/* "  WRITE: bw=48.1MiB/s (50.4MB/s), ..., io=..., run=...", "  WRITE: io=352192KB, aggrb=5872KB/s, ..." */
static bool group_line(struct fio *fio, struct text *text, struct scan s)
{
	static const char *const names[] = { "READ", "WRITE", "TRIM", "MIXED", NULL };
	const char *const *name = names;
	bool assumed = false;
	double rate, bytes;
	json_t *obj;

	while (*name && !scan_text(&s, *name))
		name++;
	if (!*name || !scan_text(&s, ":"))
		return false;
	if (scan_next(&s, "io=") && !(fio_bytes(fio, &s, &bytes, &assumed) && scan_next(&s, ",")))
		return false;
	if (!(scan_next(&s, "bw=") || scan_next(&s, "aggrb=")) ||
	    !fio_bytes(fio, &s, &rate, &assumed) || !scan_text(&s, "/s"))
		return false;
	snprintf(fio->direction, sizeof(fio->direction), "%s", directions[name - names]);
	fio->job[0] = 0;
	obj = give(fio, text, "bandwidth_of_group", rate, "bytes_per_s", "higher", 1, NAN);
	say_assumed(obj, assumed);
	return true;
}

/* "fio: 1234 KB/s": what somebody wrote down */
static bool quoted_line(struct text *text, struct scan s)
{
	double rate, factor;
	const char *unit;
	json_t *obj;

	if (!scan_text(&s, "fio") || !scan_next(&s, ":"))
		return false;
	scan_blanks(&s);
	if (!scan_real(&s, &rate) || rate < 0)
		return false;
	scan_blanks(&s);
	unit = s.at;
	if (scan_next(&s, "iops") || scan_next(&s, "IOPS")) {
		if (scan_ended(&s))
			text_metric(text, "fio", "iops", rate, "per_s", "higher", 0, NAN, NULL);
		return scan_ended(&s);
	}
	if (!scan_bytes_unit(&s, 1024, &factor) || !scan_text(&s, "/s") || !scan_ended(&s))
		return false;
	obj = text_metric(text, "fio", "bandwidth", rate * factor, "bytes_per_s", "higher", 0, NAN,
			  NULL);
	say_assumed(obj, unit[1] != 'i' && unit[0] != 'B');
	return true;
}

/* The rest of its report: counts, and lines that hold nothing that two runs are compared by. Known by what they begin with, and
 * only where a job is open. */
static bool other_line(struct fio *fio, struct text *text, struct scan s)
{
	static const char *const starts[] = {
		"bw (",
		"bw  (",
		"iops        :",
		"lat (",
		"cpu          :",
		"IO depths    :",
		"submit    :",
		"complete  :",
		"latency   :",
		"errors    :",
		"clat (",
		"slat (",
		"fsync/fdatasync",
		"sync percentiles",
		"ios=",
		NULL,
	};

	if (scan_starts(&s, "Run status group")) {
		fio->summary = true;
		fio->percentiles_of[0] = 0;
		return true;
	}
	if (scan_starts(&s, "Disk stats (read/write):")) {
		fio->disks = true;
		return true;
	}
	if (fio->disks)
		return fio_disk_line(text, s);
	if (!fio->job[0])
		return false;
	if (fio_issued_line(text, fio->job, s))
		return true;
	for (const char *const *start = starts; *start; start++)
		if (scan_starts(&s, *start))
			return true;
	return false;
}

/* "fio-3.28", "fio 2.1.10", "Starting 4 processes", "name: (g=0): rw=randwrite, ..." */
static bool head_line(struct fio *fio, struct scan s)
{
	struct scan word;
	uint64_t major, nr;

	if (scan_text(&s, "Jobs: ")) /* progress */
		return scan_u64(&s, &nr) && scan_text(&s, " (f=");
	if (scan_text(&s, "fio-") || scan_text(&s, "fio ")) {
		if (!scan_u64(&s, &major) || !scan_text(&s, "."))
			return false;
		if (!scan_token(&s, &word) || !scan_ended(&s))
			return false;
		fio->version3 = major >= 3;
		return true;
	}
	if (scan_text(&s, "Starting ") && scan_u64(&s, &nr))
		return scan_next(&s, "process") || scan_next(&s, "thread");
	return scan_past(&s, ": (g=") && scan_u64(&s, &nr) && scan_text(&s, "): rw=");
}

static enum text_answer take(void *state, struct text *text, const struct text_line *line)
{
	struct fio *fio = state;
	struct scan s = scan_line(line);

	if (s.at == s.end || line->len > 4096)
		return TEXT_NO;
	switch (*s.at) {
	case '|':
		return percentile_line(fio, text, s) ? TEXT_USED : TEXT_NO;
	case 'R':
	case 'W':
	case 'T':
	case 'M':
		return (fio->summary && group_line(fio, text, s)) || other_line(fio, text, s)
			       ? TEXT_USED
			       : TEXT_NO;
	case 'f':
		if (quoted_line(text, s))
			return TEXT_USED;
		break;
	default:
		break;
	}
	if (direction_line(fio, text, s) || job_line(fio, text, s) || head_line(fio, s))
		return TEXT_USED;
	if ((fio->direction[0] || fio->job[0]) &&
	    (latency_line(fio, text, s) || percentiles_head(fio, s)))
		return TEXT_USED;
	return other_line(fio, text, s) ? TEXT_USED : TEXT_NO;
}

const struct text_kind text_fio = {
	.name = "fio",
	.what = "results of fio",
	.state_size = sizeof(struct fio),
	.take = take,
};
