// SPDX-License-Identifier: MIT
/*
 * What blktrace prints when it ends, or when it cannot start: doc/formats/blktrace_log.md. The number of
 * dropped events stands nowhere else.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "read/text/finding.h"
#include "read/text/line_scan.h"
#include "read/text/text.h"
#include "trace/blktrace_errors.h"

#define FAILURES_MAX 256u /* different ones */

struct failure {
	enum blktrace_call call;
	int errnum; /* 0 = not told */
	char device[64], what[128];
	bool has_cpu;
	uint32_t cpu; /* the first one's */
	uint64_t lines;
};

struct log {
	bool any, told, told_overall;
	uint64_t totals;  /* dropped, summed over the devices' "Total:" lines */
	uint64_t overall; /* "You have N ... dropped events" */
	uint64_t events, kib;
	unsigned int devices;
	char names[4][32];        /* of the first devices */
	struct failure *failures; /* owned */
	size_t nr_failures;
	uint64_t more_failures;
};

static void add(uint64_t *sum, uint64_t n)
{
	if (__builtin_add_overflow(*sum, n, sum) || *sum > INT64_MAX)
		*sum = INT64_MAX;
}

/* ---- the summary ---- */

/* "=== nullb0 ===", "Device: /dev/sdb": the name, and *s behind it. */
static bool scan_device_head(struct scan *s, struct scan *name)
{
	struct scan at = *s;
	bool ruled = scan_words(&at, "=== ");
	const char *word;
	size_t len;

	if (!ruled && !scan_words(&at, "Device: "))
		return false;
	if (!scan_word(&at, &word, &len) || (ruled && !scan_words(&at, "===")))
		return false;
	*name = scan_over(word, len);
	*s = at;
	return true;
}

static void keep_device(struct log *log, struct scan name)
{
	scan_text(&name, "/dev/");
	if (log->devices < sizeof(log->names) / sizeof(*log->names))
		scan_copy(log->names[log->devices], sizeof(*log->names), name);
	log->devices++;
}

static bool scan_data(struct scan *s)
{
	uint64_t kib;

	return scan_mark(s, ',') && (scan_blanks(s), scan_u64(s, &kib)) &&
	       scan_words(s, "KiB data");
}

/* "CPU  0:   144926 events,   6794 KiB data" */
static bool is_cpu_row(struct scan s)
{
	uint64_t cpu, events;

	return scan_words(&s, "CPU ") && (scan_blanks(&s), scan_u64(&s, &cpu)) &&
	       scan_mark(&s, ':') && (scan_blanks(&s), scan_u64(&s, &events)) &&
	       scan_words(&s, "events") && scan_data(&s) && scan_done(&s);
}

/* "Total:   280010 events (dropped 6550),    13126 KiB data" */
static bool take_total(struct log *log, struct scan s)
{
	uint64_t events, dropped, kib = 0;

	if (!scan_words(&s, "Total:") || (scan_blanks(&s), !scan_u64(&s, &events)) ||
	    !scan_words(&s, "events (dropped ") || !scan_u64(&s, &dropped) || !scan_mark(&s, ')'))
		return false;
	if (scan_mark(&s, ',')) {
		scan_blanks(&s);
		scan_u64(&s, &kib);
	}
	log->told = true;
	add(&log->totals, dropped);
	add(&log->events, events);
	add(&log->kib, kib);
	return true;
}

/* "You have 6550 (  2.3%) dropped events" */
static bool take_overall(struct log *log, struct scan s)
{
	struct scan share;
	uint64_t n;

	if (!scan_words(&s, "You have ") || !scan_u64(&s, &n))
		return false;
	scan_parens(&s, &share);
	if (!scan_words(&s, "dropped events"))
		return false;
	log->told = log->told_overall = true;
	add(&log->overall, n);
	return true;
}

/* bpftrace's and bcc's own: "Lost 42 events". */
static bool take_lost(struct log *log, struct scan s)
{
	uint64_t n;

	scan_words(&s, "WARNING:");
	if (!scan_words(&s, "Lost ") || !scan_u64(&s, &n) ||
	    !(scan_words(&s, "events") || scan_words(&s, "event")) || !scan_done(&s))
		return false;
	log->told = true;
	add(&log->totals, n);
	return true;
}

static enum text_answer take_summary(struct log *log, const struct text_line *line, struct scan s)
{
	struct scan name, row = s;

	if (scan_device_head(&row, &name)) {
		/* Titles of other tables look alike: a CPU's row must stand below. */
		if (is_cpu_row(row)) {
			keep_device(log, name);
			log->any = true;
			return TEXT_USED;
		}
		return scan_done(&row) && !line->joined && !line->last_try ? TEXT_MORE : TEXT_NO;
	}
	if (!is_cpu_row(s) && !take_total(log, s) && !take_overall(log, s) && !take_lost(log, s) &&
	    !scan_words(&s, "Consider using a larger buffer size"))
		return TEXT_NO;
	log->any = true;
	return TEXT_USED;
}

/* ---- what failed ---- */

/* "25/Inappropriate ioctl for device" or the words alone, up to the line's end. */
static bool scan_errno(struct scan s, int *errnum)
{
	char text[80];
	uint32_t n;

	scan_blanks(&s);
	if (scan_u32(&s, 4095, &n) && scan_char(&s, '/')) {
		*errnum = (int)n;
		return true;
	}
	scan_copy(text, sizeof(text), s);
	*errnum = blktrace_errno_of(text);
	return *errnum != 0;
}

/* Cuts the errno off the line's end: what stands before its colon stays in *s. */
static bool cut_errno(struct scan *s, int *errnum)
{
	for (const char *p = s->end; p > s->at; p--) {
		if (p[-1] == ':' && scan_errno((struct scan){ p, s->end }, errnum)) {
			s->end = p - 1;
			return true;
		}
	}
	return false;
}

/* The disk's name in ".../block/md1/trace0"; "(null)" is none. */
static void device_of_path(char *to, size_t room, struct scan path)
{
	static const char block[] = "/block/";
	const char *at = memmem(path.at, scan_left(&path), block, sizeof(block) - 1), *slash;

	if (!at)
		return;
	at += sizeof(block) - 1;
	slash = memchr(at, '/', (size_t)(path.end - at));
	scan_copy(to, room, (struct scan){ at, slash ? slash : path.end });
	if (!strcmp(to, "(null)"))
		*to = 0;
}

static bool same(const struct failure *a, const struct failure *b)
{
	return a->call == b->call && a->errnum == b->errnum && !strcmp(a->device, b->device) &&
	       (a->device[0] || a->call != CALL_ANY || !strcmp(a->what, b->what));
}

/* One line per CPU says the same: one finding, with their number. */
static void keep_failure(struct log *log, const struct failure *found)
{
	for (size_t i = 0; i < log->nr_failures; i++) {
		if (same(&log->failures[i], found)) {
			log->failures[i].lines++;
			return;
		}
	}
	if (log->nr_failures == FAILURES_MAX) {
		log->more_failures++;
		return;
	}
	log->failures = mem_grow(log->failures, log->nr_failures, sizeof(*log->failures));
	log->failures[log->nr_failures] = *found;
	log->failures[log->nr_failures++].lines = 1;
}

static enum blktrace_call ioctl_call(struct scan name)
{
	if (scan_text(&name, "BLKTRACESETUP"))
		return CALL_SETUP;
	return scan_text(&name, "BLKTRACESTART") ? CALL_START : CALL_STOP;
}

/* "BLKTRACESETUP(2) /dev/nbd0 failed" */
static bool parse_ioctl(struct scan s, struct failure *f)
{
	const char *word;
	size_t len;

	if (!scan_word(&s, &word, &len) || len < 12 || memcmp(word, "BLKTRACE", 8) != 0)
		return false;
	f->call = ioctl_call(scan_over(word, len));
	scan_copy(f->what, sizeof(f->what), scan_over(word, len));
	if (scan_word(&s, &word, &len) && !scan_word_is(word, len, "failed"))
		scan_copy(f->device, sizeof(f->device), scan_over(word, len));
	return true;
}

/* "Thread 0 failed open /sys/kernel/debug/block/md1/trace0", "FAILED to start thread on CPU 1" */
static bool parse_thread(struct scan s, struct failure *f)
{
	if (scan_words(&s, "FAILED to start thread on CPU ")) {
		f->call = CALL_THREAD;
		f->has_cpu = scan_u32(&s, UINT32_MAX, &f->cpu);
		return f->has_cpu;
	}
	if (!scan_words(&s, "Thread ") || !scan_u32(&s, UINT32_MAX, &f->cpu) ||
	    !scan_words(&s, "failed open "))
		return false;
	f->call = CALL_BUFFER;
	f->has_cpu = true;
	scan_copy(f->what, sizeof(f->what), s);
	device_of_path(f->device, sizeof(f->device), s);
	return true;
}

/* "Invalid debug path /sys/kernel/debug", "Invalid path /dev/sdx specified", and what else blktrace and
 * the shell say of the files it needs. */
static bool parse_path(struct scan s, struct failure *f)
{
	struct scan all = s;

	scan_copy(f->what, sizeof(f->what), s);
	if (scan_words(&s, "Invalid debug path ")) {
		f->call = CALL_DEBUGFS;
		return true;
	}
	if (scan_words(&s, "Invalid path ")) {
		const char *word;
		size_t len;

		f->call = CALL_DEVICE;
		if (scan_word(&s, &word, &len))
			scan_copy(f->device, sizeof(f->device), scan_over(word, len));
		return true;
	}
	if (memmem(all.at, scan_left(&all), "/sys/kernel/debug/block/", 24)) {
		f->call = CALL_BUFFER;
		device_of_path(f->device, sizeof(f->device), all);
		return true;
	}
	f->call =
		memmem(all.at, scan_left(&all), "/sys/kernel/debug", 17) ? CALL_DEBUGFS : CALL_ANY;
	return f->call == CALL_DEBUGFS || scan_words(&all, "blktrace:") ||
	       scan_words(&all, "btrace:");
}

static bool contains(struct scan s, const char *text)
{
	return memmem(s.at, scan_left(&s), text, strlen(text)) != NULL;
}

static bool parse_failure(struct scan s, struct failure *f)
{
	*f = (struct failure){ 0 };
	if (contains(s, "Lockdown: ") && contains(s, "restricted")) {
		f->call = CALL_LOCKDOWN;
		scan_copy(f->what, sizeof(f->what), s);
		return true;
	}
	if (contains(s, " is not a debug filesystem")) {
		f->call = CALL_DEBUGFS;
		scan_copy(f->what, sizeof(f->what), s);
		return true;
	}
	return cut_errno(&s, &f->errnum) &&
	       (parse_ioctl(s, f) || parse_thread(s, f) || parse_path(s, f));
}

/* Cheap: which lines can be one at all. */
static bool may_have_failed(const struct text_line *line)
{
	return line->len < 1024 && memchr(line->s, ':', line->len) &&
	       (memmem(line->s, line->len, "BLKTRACE", 8) ||
		memmem(line->s, line->len, "ailed open", 10) ||
		memmem(line->s, line->len, "FAILED to start", 15) ||
		memmem(line->s, line->len, "Invalid ", 8) ||
		memmem(line->s, line->len, "Lockdown: ", 10) ||
		memmem(line->s, line->len, "/sys/kernel/debug", 17) ||
		memmem(line->s, line->len, "trace:", 6));
}

static bool is_debugfs_line(const struct text_line *line)
{
	return line->len < 1024 && memmem(line->s, line->len, "not a debug filesystem", 22);
}

static enum text_answer take(void *state, struct text *text, const struct text_line *line)
{
	struct log *log = state;
	struct scan s = scan_over(line->s, line->len);
	struct failure found;

	if (scan_done(&s))
		return TEXT_NO;
	if (*s.at && strchr("=DCTYLW", *s.at)) {
		enum text_answer answer = take_summary(log, line, s);

		if (answer != TEXT_NO)
			return answer;
	}
	if ((*s.at >= '0' && *s.at <= '9') || (!may_have_failed(line) && !is_debugfs_line(line)) ||
	    !parse_failure(s, &found))
		return TEXT_NO;
	keep_failure(log, &found);
	return TEXT_USED;
}

/* ---- the end ---- */

static char *failure_sentence(const struct failure *f, const struct blktrace_error *error)
{
	const char *name = blktrace_errno_name(f->errnum);
	char code[48] = "", cpu[32] = "";

	if (f->errnum && name)
		snprintf(code, sizeof(code), " with errno %d (%s)", f->errnum, name);
	else if (f->errnum)
		snprintf(code, sizeof(code), " with errno %d", f->errnum);
	if (f->has_cpu)
		snprintf(cpu, sizeof(cpu), " of CPU %u", f->cpu);
	return mem_printf("%s%s%s%s%s failed%s: %s.", blktrace_call_words(f->call), cpu,
			  f->device[0] ? (f->has_cpu ? " for " : " of ") : "", f->device,
			  f->lines > 1 ? ", and of others," : "", code, error->cause);
}

static void tell_failure(struct facts *facts, const struct failure *f)
{
	const struct blktrace_error *error = blktrace_error(f->call, f->errnum);
	const char *name = blktrace_errno_name(f->errnum);
	char *sentence = failure_sentence(f, error);
	json_t *ev;

	if (*sentence >= 'a' && *sentence <= 'z')
		*sentence = (char)(*sentence - 'a' + 'A');
	ev = finding_add(facts, "capture-failed", "critical", "The capture failed", sentence,
			 error->advice);
	put_text(ev, "call", f->call <= CALL_STOP ? f->what : blktrace_call_words(f->call));
	if (f->device[0])
		put_text(ev, "device", f->device);
	else
		put_unknown(ev, "device", "the line names none");
	if (f->errnum)
		put_u64(ev, "errno", (uint64_t)f->errnum);
	else
		put_unknown(ev, "errno", "the line tells none");
	if (name)
		put_text(ev, "errno_name", name);
	else
		put_unknown(ev, "errno_name",
			    f->errnum ? "not a usual one" : "the line tells none");
	if (f->has_cpu)
		put_u64(ev, "cpu", f->cpu);
	put_u64(ev, "lines", f->lines);
}

/* "capture log of nullb0": notes must be the same however the text was packed, so no path is in them. */
static char *log_words(const struct log *log)
{
	if (!log->devices)
		return mem_strdup("capture log");
	return mem_printf("capture log of %s%s", log->names[0],
			  log->devices > 1 ? " and others" : "");
}

static void tell_drops(const struct log *log, struct text *text, const char *who)
{
	/* Both say the same where the log is whole. */
	uint64_t dropped = log->totals > log->overall ? log->totals : log->overall;

	text_drops_told(text, dropped);
	if (dropped && log->events)
		facts_note(text_facts(text), "%s: %s of %s events were dropped (%.2f %%)", who,
			   grouped(dropped).s, grouped(log->events + dropped).s,
			   100.0 * (double)dropped / ((double)log->events + (double)dropped));
	if (!log->events && log->kib)
		facts_note(text_facts(text),
			   "%s: the blktrace of that time did not count events, only data (%s KiB)",
			   who, grouped(log->kib).s);
}

static void tell_summary(const struct log *log, struct text *text)
{
	static const char *const devices[] = { "1 device", "2 devices", "3 devices", "4 devices" };
	struct facts *facts = text_facts(text);
	struct input_info *info = &facts->inputs[text_input(text)];
	char *who = log_words(log);

	if (log->devices)
		text_dialect(text, log->devices <= 4 ? devices[log->devices - 1] : "many devices");
	if (log->told) {
		memcpy(info->tells_drops_of, log->names, sizeof(log->names));
		tell_drops(log, text, who);
	} else if (log->any) {
		facts_note(facts, "%s: tells no number of dropped events (it was cut?)", who);
	}
	free(who);
}

static void end(void *state, struct text *text)
{
	struct log *log = state;
	struct facts *facts = text_facts(text);

	tell_summary(log, text);
	for (size_t i = 0; i < log->nr_failures; i++)
		tell_failure(facts, &log->failures[i]);
	if (log->more_failures)
		facts_note(facts, "%llu more lines of a failed capture were left out",
			   (unsigned long long)log->more_failures);
	free(log->failures);
	log->failures = NULL;
	log->nr_failures = 0;
}

const struct text_kind text_blktrace_log = {
	.name = "blktrace-log",
	.what = "what blktrace prints when it ends or cannot start",
	.state_size = sizeof(struct log),
	.take = take,
	.end = end,
};
