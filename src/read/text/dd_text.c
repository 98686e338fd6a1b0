/* SPDX-License-Identifier: MIT
 *
 * The results of dd, of many makes, with the command and the mount options they belong to, and the times
 * of commands (time_text.c): doc/formats/dd_text.md.
 */
#include <inttypes.h>
#include <string.h>

#include "read/text/dd_rules.h"
#include "read/text/shell_text.h"
#include "read/text/time_text.h"

#define RATE_AGREES 0.06 /* of a printed rate of two digits */

struct dd {
	struct shell shell;
	struct time_state times;
	struct dd_rules rules;
	struct dd_result now; /* records seen so far */

	/* A result without records may be the progress of a dd that still runs. */
	bool waiting;
	struct dd_result held;
	double held_rate;
	bool held_rate_told;
	char held_context[200];
};

/* ---- giving a result ---- */

static void add_evidence(json_t *obj, const struct dd_result *r, const char *command)
{
	result_key(obj, "bytes", json_integer((json_int_t)r->bytes));
	result_key(obj, "seconds", json_real(r->seconds));
	if (r->have_out) {
		result_key(obj, "records", json_integer((json_int_t)r->out_whole));
		result_key(obj, "partial_records", json_integer((json_int_t)r->out_part));
	}
	if (r->block)
		result_key(obj, "block_bytes", json_integer((json_int_t)r->block));
	if (command[0])
		result_key(obj, "command", result_string(command, strlen(command)));
}

/* The command that made this result, "" = not known. */
static const char *command_of(const struct dd *dd)
{
	if (!shell_has_dd(dd->shell.command) || (dd->shell.result_used && !dd->shell.loops))
		return "";
	return dd->shell.command;
}

/* Numbers of a mangled line would go unnoticed. Busybox's MB are of 1024 KiB. */
static void check_rate(struct text *text, const struct dd_result *r, double printed, double value)
{
	double ratio = printed / value;

	if (fabs(ratio - 1) > RATE_AGREES && fabs(ratio * 1.024 - 1) > RATE_AGREES &&
	    fabs(ratio * 1.024 * 1.024 - 1) > RATE_AGREES && r->seconds > 0.001)
		facts_note(text_facts(text),
			   "dd's rate (%.4g bytes/s) is not its %" PRIu64
			   " bytes by its %g seconds; the latter is used",
			   printed, r->bytes, r->seconds);
}

static void block_size(struct dd_result *r, uint64_t told)
{
	if (told)
		r->block = told;
	else if (r->have_out && r->out_whole && !r->out_part && r->bytes % r->out_whole == 0)
		r->block = r->bytes / r->out_whole;
}

static void give(struct dd *dd, struct text *text, struct dd_result *r, double rate, bool rate_told,
		 const char *context)
{
	const char *command = command_of(dd);
	double value = r->seconds > 0 ? (double)r->bytes / r->seconds : NAN;
	uint64_t told = 0;
	struct scan bs;
	json_t *obj;

	if (shell_dd_operand(command, "bs=", &bs) && !shell_dd_size(bs, &told))
		told = 0;
	block_size(r, told);
	if (dd->shell.mount[0])
		context = dd->shell.mount;
	for (int i = 0; i < 2; i++) {
		obj = i ? result_one(text, "dd", "elapsed", r->seconds, "s", "lower")
			: text_metric(text, "dd", "throughput", value, "bytes_per_s", "higher", 1,
				      NAN, isfinite(value) ? NULL : "dd took no time");
		add_evidence(obj, r, command);
		if (rate_told && !i)
			result_key(obj, "printed_bytes_per_s", result_real(rate));
		if (context && context[0])
			result_context(obj, context, strlen(context));
	}
	if (rate_told && isfinite(value) && value > 0)
		check_rate(text, r, rate, value);
	dd_rules_look(&dd->rules, r, command, told);
	dd->shell.result_used = true;
	shell_result(&dd->shell);
}

static void give_held(struct dd *dd, struct text *text)
{
	if (!dd->waiting)
		return;
	dd->waiting = false;
	give(dd, text, &dd->held, dd->held_rate, dd->held_rate_told, dd->held_context);
}

/* ---- lines ---- */

/* "10240+0 records in", "1 truncated record" (also of dcfldd) */
static bool records_line(struct dd *dd, struct scan s)
{
	uint64_t whole, part;

	if (!scan_u64(&s, &whole))
		return false;
	if (scan_next(&s, "truncated record"))
		return scan_ended(&s) || scan_ends(&s, "s");
	if (!scan_text(&s, "+") || !scan_u64(&s, &part) || !scan_next(&s, "records ") ||
	    whole > UINT32_MAX * UINT64_C(1000000) || part > UINT32_MAX * UINT64_C(1000000))
		return false;
	if (scan_next(&s, "in") && scan_ended(&s)) {
		dd->now = (struct dd_result){ .have_in = true, .in_whole = whole, .in_part = part };
	} else if (scan_next(&s, "out") && scan_ended(&s)) {
		if (dd->now.have_out)
			dd->now = (struct dd_result){ 0 };
		dd->now.have_out = true;
		dd->now.out_whole = whole;
		dd->now.out_part = part;
	} else {
		return false;
	}

	return true;
}

/* "(271 MB, 258 MiB) copied, 4.81622 s, 56.2 MB/s", "copied, 17.5677 seconds, 597 MB/s" */
static bool gnu_tail(struct scan *s, struct dd_result *r, double *rate, bool *rate_told)
{
	static const char *const words[] = { "copied", "kopiert", "copi\xc3\xa9s", "copiados",
					     NULL };
	const char *const *word = words;
	double factor;

	if (scan_next(s, "(") && !scan_past(s, ")"))
		return false;
	while (*word && !scan_next(s, *word))
		word++;
	if (!*word || !scan_next(s, ","))
		return false;
	scan_blanks(s);
	if (s->at == s->end || !scan_real_comma(s, &r->seconds) || r->seconds < 0 ||
	    !scan_time_unit(s, &factor))
		return false;
	r->seconds *= factor;
	*rate_told = false;
	if (!scan_next(s, ","))
		return true;
	scan_blanks(s);
	*rate_told =
		scan_real_comma(s, rate) && scan_bytes_unit(s, 1000, &factor) && scan_text(s, "/s");
	*rate *= factor;
	return true;
}

/* BSD, macOS: "1048576 bytes transferred in 0.001 secs (1048576000 bytes/sec)" */
static bool bsd_tail(struct scan *s, struct dd_result *r, double *rate, bool *rate_told)
{
	double factor;

	if (!scan_next(s, "transferred in"))
		return false;
	scan_blanks(s);
	if (!scan_real(s, &r->seconds) || r->seconds < 0 || !scan_time_unit(s, &factor))
		return false;
	r->seconds *= factor;
	*rate_told = scan_next(s, "(") && scan_real(s, rate) && scan_next(s, "bytes/sec");
	return true;
}

/* Overwrites itself on a terminal: of "1 GB copied...\r2 GB copied..." the last one is meant. */
static struct scan after_returns(const struct text_line *line)
{
	struct scan s = scan_line(line);
	const char *cr;

	while (s.end > s.at && s.end[-1] == '\r')
		s.end--;
	cr = s.end > s.at ? memrchr(s.at, '\r', (size_t)(s.end - s.at)) : NULL;
	if (cr)
		s.at = cr + 1;
	scan_blanks(&s);
	return s;
}

/* Was that, held, only how far the dd of `r` had come? It is printed once a second. */
static bool was_progress(const struct dd_result *held, const struct dd_result *r)
{
	return held->seconds >= 0.9 && fabs(held->seconds - round(held->seconds)) < 0.02 &&
	       held->bytes < r->bytes && held->seconds < r->seconds;
}

/* Nothing but what may stand before the seconds, behind "bytes": a mailer broke the line there. */
static bool breaks_off(const struct text_line *line, struct scan s)
{
	if (line->joined || line->last_try)
		return false;
	if (scan_next(&s, "(") && !scan_past(&s, ")"))
		return scan_left(&s) < 40;
	return scan_ended(&s) || scan_next(&s, "copied") || scan_next(&s, "transferred in");
}

static enum text_answer result_line(struct dd *dd, struct text *text, const struct text_line *line,
				    struct scan s)
{
	struct dd_result r = dd->now;
	const char *heading;
	bool told = false;
	double rate = 0;
	size_t len;

	if (!scan_u64(&s, &r.bytes) || !(scan_next(&s, "bytes") || scan_next(&s, "Bytes") ||
					 scan_next(&s, "octets") || scan_next(&s, "byte")))
		return TEXT_NO;
	if (!gnu_tail(&s, &r, &rate, &told) && !bsd_tail(&s, &r, &rate, &told))
		return breaks_off(line, s) ? TEXT_MORE : TEXT_NO;
	if (!told && !scan_ended(&s) && !line->last_try)
		return line->joined ? TEXT_NO : TEXT_MORE; /* the rate is cut */
	if (r.bytes > INT64_MAX) {
		text_why(text, "more bytes than a file can have");
		return TEXT_BAD;
	}

	dd->now = (struct dd_result){ 0 };
	if (dd->waiting && was_progress(&dd->held, &r))
		dd->waiting = false;
	give_held(dd, text);
	if (r.have_in || r.have_out) {
		give(dd, text, &r, rate, told, NULL);
		return TEXT_USED;
	}
	dd->waiting = true;
	dd->held = r;
	dd->held_rate = rate;
	dd->held_rate_told = told;
	heading = text_heading(text);
	len = strnlen(heading, sizeof(dd->held_context) - 1);
	memcpy(dd->held_context, heading, len);
	dd->held_context[len] = 0;
	return TEXT_USED;
}

static enum text_answer take(void *state, struct text *text, const struct text_line *line)
{
	struct dd *dd = state;
	struct scan s = after_returns(line);
	enum text_answer answer;

	if (s.at == s.end)
		return TEXT_NO;
	if (*s.at >= '0' && *s.at <= '9') {
		if (records_line(dd, s))
			return TEXT_USED;
		answer = result_line(dd, text, line, s);
		if (answer != TEXT_NO)
			return answer;
	}
	give_held(dd, text);
	answer = time_take(&dd->times, &dd->shell, text, line);
	return answer == TEXT_NO ? shell_take(&dd->shell, line) : answer;
}

static void end(void *state, struct text *text)
{
	struct dd *dd = state;

	if (text) {
		give_held(dd, text);
		time_end(&dd->times, &dd->shell, text);
		dd_rules_give(&dd->rules, text);
		shell_end(&dd->shell);
		for (size_t i = 0; dd->shell.mount_results && i < dd->shell.nr_missing; i++) {
			const char *options = dd->shell.missing[i];
			json_t *obj =
				text_metric(text, "dd", "throughput", NAN, "bytes_per_s", "higher",
					    0, NAN, "no result follows in this text");

			result_context(obj, options, strlen(options));
		}
	}
	shell_release(&dd->shell);
}

const struct text_kind text_dd = {
	.name = "dd",
	.what = "results of dd and times of commands",
	.state_size = sizeof(struct dd),
	.take = take,
	.end = end,
};
