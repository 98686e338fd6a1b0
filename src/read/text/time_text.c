/* SPDX-License-Identifier: MIT */
#include "read/text/time_text.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/printable.h"

#define BUSY_SHARE 0.9 /* system time of elapsed, from which on the kernel computed all the time */
#define BUSY_MIN_S 0.1
#define TIME_BLOCK 512u /* unit of "File system inputs" */
#define KIB        1024u

enum form {
	FORM_NONE,
	FORM_SHELL,   /* real, user, sys: a line each */
	FORM_VERBOSE, /* /usr/bin/time -v */
};

static const struct times untold = { NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN };

/* ---- giving ---- */

static json_t *give(struct text *text, const char *name, double value, const char *unit,
		    const char *better, const char *command, const char *context)
{
	json_t *obj;

	if (!isfinite(value))
		return NULL;
	obj = result_one(text, "time", name, value, unit, better);
	if (command[0])
		result_key(obj, "command", result_string(command, strlen(command)));
	if (context[0])
		result_context(obj, context, strlen(context));
	return obj;
}

static void note_busy(struct time_state *st, const struct times *t, const char *command)
{
	double share = t->system / t->elapsed;

	/* more than one CPU's worth says nothing about a single thread */
	if (!(share >= BUSY_SHARE && share <= 1.05 && t->elapsed >= BUSY_MIN_S))
		return;
	if (!st->busy.nr++ || t->elapsed > st->busy.elapsed) {
		memcpy(st->busy.command, command, strlen(command) + 1);
		st->busy.elapsed = t->elapsed;
		st->busy.system = t->system;
	}
}

static void give_all(struct time_state *st, struct shell *shell, struct text *text,
		     const struct times *t)
{
	const char *command = st->command;
	const char *context = shell->mount[0] ? shell->mount : st->context;
	json_t *obj;

	if (!command[0] && (!shell->time_used || shell->loops))
		command = shell->command;
	obj = give(text, "throughput", t->bytes_per_s, "bytes_per_s", "higher", command, context);
	result_key(obj, "assumed", obj ? json_string("MB is 1000000 bytes") : json_null());
	obj = give(text, "elapsed", t->elapsed, "s", "lower", command, context);
	if (t->elapsed > 0 && isfinite(t->system))
		result_put(obj, "system_share", t->system / t->elapsed, "it took no time");
	st->last = obj;
	give(text, "user", t->user, "s", "lower", command, context);
	give(text, "system", t->system, "s", "lower", command, context);
	give(text, "cpu_share", t->cpu_share, "1", "neutral", command, context);
	give(text, "peak_resident", t->peak_bytes, "bytes", "lower", command, context);
	give(text, "file_system_inputs", t->read_bytes, "bytes", "neutral", command, context);
	give(text, "file_system_outputs", t->written_bytes, "bytes", "neutral", command, context);
	note_busy(st, t, command);
	shell->time_used = true;
	shell_result(shell);
	st->command[0] = st->context[0] = 0;
}

/* A form of several lines has ended, whole or not. */
static void close_form(struct time_state *st, struct shell *shell, struct text *text)
{
	if (st->form != FORM_NONE)
		give_all(st, shell, text, &st->got);
	st->form = FORM_NONE;
	st->got = untold;
}

static void open_form(struct time_state *st, struct shell *shell, struct text *text, enum form form)
{
	const char *heading = text_heading(text);
	size_t len = strnlen(heading, sizeof(st->context) - 1);

	close_form(st, shell, text);
	st->got = untold;
	st->form = (int)form;
	memcpy(st->context, heading, len);
	st->context[len] = 0;
}

/* ---- forms of one line ---- */

/* "71%CPU", "?%CPU" */
static bool percent(struct scan *s, const char *unit, double *share)
{
	scan_blanks(s);
	if (!scan_text(s, "?") && !scan_real(s, share))
		return false;
	*share /= 100;
	scan_blanks(s);
	return scan_text(s, "%") && scan_next(s, unit);
}

/* GNU: "0.01user 12.49system 0:17.56elapsed 71%CPU (0avgtext+0avgdata 0maxresident)k" */
static enum text_answer gnu_line(struct scan s, const struct text_line *line, struct times *t)
{
	uint64_t text_kb, data_kb, max_kb;

	if (!scan_real_comma(&s, &t->user) || !scan_text(&s, "user") || scan_ended(&s))
		return TEXT_NO;
	scan_blanks(&s);
	if (!scan_real_comma(&s, &t->system) || !scan_text(&s, "system"))
		return TEXT_NO;
	scan_blanks(&s);
	if (!scan_clock(&s, &t->elapsed) || !scan_text(&s, "elapsed"))
		return line->joined || line->last_try ? TEXT_NO : TEXT_MORE;
	if (!percent(&s, "CPU", &t->cpu_share))
		t->cpu_share = NAN;
	if (!scan_next(&s, "("))
		return TEXT_USED;
	if (scan_u64(&s, &text_kb) && scan_text(&s, "avgtext+") && scan_u64(&s, &data_kb) &&
	    scan_text(&s, "avgdata") && (scan_blanks(&s), scan_u64(&s, &max_kb)) &&
	    scan_text(&s, "maxresident)k")) {
		if (max_kb)
			t->peak_bytes = (double)max_kb * KIB;
		return TEXT_USED;
	}
	if (line->joined)
		return TEXT_NO;
	return line->last_try ? TEXT_USED : TEXT_MORE;
}

/* GNU's second line: "0inputs+0outputs (0major+212minor)pagefaults 0swaps" */
static bool gnu_faults(struct time_state *st, struct scan s)
{
	uint64_t in, out;

	if (!scan_u64(&s, &in) || !scan_text(&s, "inputs+") || !scan_u64(&s, &out) ||
	    !scan_text(&s, "outputs"))
		return false;
	if (st->last) {
		result_key(st->last, "file_system_input_bytes",
			   result_real((double)in * TIME_BLOCK));
		result_key(st->last, "file_system_output_bytes",
			   result_real((double)out * TIME_BLOCK));
		st->last = NULL;
	}
	return true;
}

/* "248 MB/s  real = 86.74, user = 0.01, sys = 21.65, 24% cpu"; the speed and the share may be missing */
static bool harness_line(struct scan s, struct times *t)
{
	double speed, factor;

	if (scan_real(&s, &speed)) {
		if (!scan_bytes_unit(&s, 1000, &factor) || !(scan_text(&s, "/s")))
			return false;
		t->bytes_per_s = speed * factor;
		scan_next(&s, ",");
	}
	if (!scan_next(&s, "real") || !scan_next(&s, "="))
		return false;
	scan_blanks(&s);
	if (!scan_clock(&s, &t->elapsed))
		return false;
	scan_next(&s, ",");
	if (scan_next(&s, "user") && scan_next(&s, "=") &&
	    (scan_blanks(&s), !scan_real(&s, &t->user)))
		return false;
	scan_next(&s, ",");
	if (scan_next(&s, "sys") && scan_next(&s, "=") &&
	    (scan_blanks(&s), !scan_real(&s, &t->system)))
		return false;
	scan_next(&s, ",");
	if (!scan_ended(&s) && !percent(&s, "cpu", &t->cpu_share))
		return false;
	return scan_ended(&s);
}

/* zsh, the command in front (SHELL_COMMAND_MAX bytes): "0.01s user 12.49s system 71% cpu 17.560 total" */
static bool zsh_line(struct scan s, struct times *t, char *in_front)
{
	struct scan at = s, command = s;

	if (!scan_past(&at, "s user "))
		return false;
	/* back to the number in front of it */
	command.end = at.at - strlen("s user ");
	while (command.end > s.at &&
	       (command.end[-1] == '.' || (command.end[-1] >= '0' && command.end[-1] <= '9')))
		command.end--;
	s.at = command.end;
	if (!scan_real(&s, &t->user) || !scan_text(&s, "s user "))
		return false;
	scan_blanks(&s);
	if (!scan_real(&s, &t->system) || !scan_text(&s, "s system") ||
	    !percent(&s, "cpu", &t->cpu_share))
		return false;
	scan_blanks(&s);
	if (!scan_clock(&s, &t->elapsed) || !scan_next(&s, "total") || !scan_ended(&s))
		return false;
	if (command.at < command.end) {
		size_t len = scan_left(&command);

		len = len < SHELL_COMMAND_MAX - 1 ? len : SHELL_COMMAND_MAX - 1;
		memcpy(in_front, command.at, len);
		in_front[len] = 0;
	}
	return true;
}

/* tcsh: "0.010u 12.490s 0:17.56 71.1%	0+0k 0+0io 0pf+0w" */
static bool tcsh_line(struct scan s, struct times *t)
{
	uint64_t a, b;

	if (!scan_real(&s, &t->user) || !scan_text(&s, "u "))
		return false;
	scan_blanks(&s);
	if (!scan_real(&s, &t->system) || !scan_text(&s, "s "))
		return false;
	scan_blanks(&s);
	if (!scan_clock(&s, &t->elapsed) || !percent(&s, "", &t->cpu_share))
		return false;
	scan_blanks(&s);
	return scan_u64(&s, &a) && scan_text(&s, "+") && scan_u64(&s, &b) && scan_text(&s, "k");
}

/* ---- forms of several lines ---- */

/* "0m12.490s", "12.49" */
static bool shell_value(struct scan s, double *seconds)
{
	struct scan try;
	uint64_t part;
	double sum = 0, rest;

	scan_blanks(&s);
	try = s;
	if (scan_u64(&try, &part) && scan_text(&try, "h")) {
		sum = (double)part * 3600;
		s = try;
	}
	try = s;
	if (scan_u64(&try, &part) && scan_text(&try, "m")) {
		sum += (double)part * 60;
		s = try;
	}
	if (!scan_real_comma(&s, &rest))
		return false;
	scan_text(&s, "s");
	*seconds = sum + rest;
	return scan_ended(&s);
}

static bool shell_line(struct time_state *st, struct shell *shell, struct text *text, struct scan s)
{
	struct scan word;
	double seconds;

	if (!scan_token(&s, &word) || scan_left(&word) > 4 || !shell_value(s, &seconds))
		return false;
	if (scan_is(&word, "real")) {
		open_form(st, shell, text, FORM_SHELL);
		st->got.elapsed = seconds;
		return true;
	}
	if (st->form != FORM_SHELL)
		return false;
	if (scan_is(&word, "user") && !isfinite(st->got.user))
		st->got.user = seconds;
	else if (scan_is(&word, "sys") && !isfinite(st->got.system))
		st->got.system = seconds;
	else
		return false;
	if (isfinite(st->got.user) && isfinite(st->got.system))
		close_form(st, shell, text);
	return true;
}

/* The other lines of time -v: known, of no use here. */
static bool verbose_other(const struct scan *s)
{
	static const char *const names[] = {
		"Average shared text size",
		"Average unshared data size",
		"Average stack size",
		"Average total size",
		"Average resident set size",
		"Major (requiring I/O)",
		"Minor (reclaiming a frame)",
		"Voluntary context",
		"Involuntary context",
		"Swaps:",
		"Socket messages",
		"Signals delivered",
		"Page size (bytes)",
		NULL,
	};

	for (const char *const *name = names; *name; name++)
		if (scan_starts(s, *name))
			return true;
	return false;
}

static bool verbose_first(struct time_state *st, struct shell *shell, struct text *text,
			  struct scan *s)
{
	size_t len;

	if (!scan_text(s, "Command being timed:"))
		return false;
	open_form(st, shell, text, FORM_VERBOSE);
	scan_blanks(s);
	scan_text(s, "\"");
	len = scan_left(s);
	len = len < sizeof(st->command) - 1 ? len : sizeof(st->command) - 1;
	len -= len && s->at[len - 1] == '"';
	memcpy(st->command, s->at, len);
	st->command[len] = 0;
	return true;
}

static bool verbose_line(struct time_state *st, struct shell *shell, struct text *text,
			 struct scan s)
{
	const struct {
		const char *name;
		double *value, factor;
	} rows[] = {
		{ "User time (seconds):", &st->got.user, 1 },
		{ "System time (seconds):", &st->got.system, 1 },
		{ "Percent of CPU this job got:", &st->got.cpu_share, 0.01 },
		{ "Maximum resident set size (kbytes):", &st->got.peak_bytes, KIB },
		{ "File system inputs:", &st->got.read_bytes, TIME_BLOCK },
		{ "File system outputs:", &st->got.written_bytes, TIME_BLOCK },
		{ "Elapsed (wall clock) time (h:mm:ss or m:ss):", &st->got.elapsed, 1 },
	};

	if (verbose_first(st, shell, text, &s))
		return true;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		double value;

		if (!scan_text(&s, rows[i].name))
			continue;
		scan_blanks(&s);
		if (!scan_clock(&s, &value))
			return false;
		if (st->form != FORM_VERBOSE)
			open_form(st, shell, text, FORM_VERBOSE);
		*rows[i].value = value * rows[i].factor;
		return true;
	}
	if (st->form != FORM_VERBOSE)
		return false;
	if (scan_starts(&s, "Exit status:")) {
		close_form(st, shell, text);
		return true;
	}
	return verbose_other(&s);
}

/* ---- all of them ---- */

static enum text_answer one_line(const struct text_line *line, struct times *t, char *in_front)
{
	struct scan s = scan_line(line);
	bool number = s.at < s.end && *s.at >= '0' && *s.at <= '9';
	enum text_answer answer = TEXT_NO;

	*t = untold;
	if (number)
		answer = gnu_line(s, line, t);
	if (answer == TEXT_NO && (*t = untold, number && tcsh_line(s, t)))
		answer = TEXT_USED;
	if (answer == TEXT_NO && (*t = untold, harness_line(s, t)))
		answer = TEXT_USED;
	if (answer == TEXT_NO && (*t = untold, zsh_line(s, t, in_front)))
		answer = TEXT_USED;
	return answer;
}

enum text_answer time_take(struct time_state *st, struct shell *shell, struct text *text,
			   const struct text_line *line)
{
	struct scan s = scan_line(line);
	char command[SHELL_COMMAND_MAX] = "";
	enum text_answer answer;
	struct times t;

	if (scan_ended(&s) || line->len > 1000)
		return TEXT_NO;
	if (shell_line(st, shell, text, s) || verbose_line(st, shell, text, s))
		return TEXT_USED;
	if (gnu_faults(st, s))
		return TEXT_USED;
	answer = one_line(line, &t, command);
	if (answer == TEXT_USED) {
		close_form(st, shell, text);
		memcpy(st->command, command, sizeof(command));
		give_all(st, shell, text, &t);
	}

	return answer;
}

void time_end(struct time_state *st, struct shell *shell, struct text *text)
{
	static const char *const advice[] = { "profile it (perf record -g -p PID): the time is in "
					      "the kernel's own code, not in I/O",
					      NULL };
	double share;
	char *command;
	json_t *evidence;

	close_form(st, shell, text);
	if (!st->busy.nr)
		return;
	share = st->busy.system / st->busy.elapsed;
	evidence = json_pack("{s:f, s:f, s:f, s:I}", "elapsed_s", st->busy.elapsed, "system_s",
			     st->busy.system, "system_share", share, "commands",
			     (json_int_t)st->busy.nr);
	command = printable(st->busy.command);
	if (command[0])
		json_object_set_new(evidence, "command", json_string(command));
	result_finding(
		text, "cpu-bound-command", "notice",
		"the command computed instead of waiting for the disk",
		mem_printf("system time is %.0f %% of the elapsed time (%.2f of %.2f s%s%s): the "
			   "command computes in the kernel rather than waiting for the disk",
			   share * 100, st->busy.system, st->busy.elapsed, command[0] ? ", " : "",
			   command),
		evidence, advice);
	free(command);
}
