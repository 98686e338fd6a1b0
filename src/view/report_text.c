// SPDX-License-Identifier: MIT
/* The text page, from the tree. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "view/num.h"
#include "view/tree.h"

#define MAX_INPUTS  8
#define MAX_COMMAND 1000 /* bytes of a command line that are shown */

static void losses_known(const struct page *page, const json_t *losses)
{
	uint64_t dropped = tree_u64(losses, "dropped"), gaps = tree_u64(losses, "sequence_gaps");
	uint64_t damaged = tree_u64(losses, "damaged_bytes");
	uint64_t damages = tree_u64(losses, "damages");
	uint64_t unwritten = tree_u64(losses, "unwritten_bytes");
	size_t windows = json_array_size(tree_at(losses, "windows"));
	char *parts[5], *text;
	size_t nr = 0;

	if (dropped)
		parts[nr++] = mem_printf("%s events were dropped", num_count(dropped).s);
	if (windows)
		parts[nr++] = mem_printf("%zu windows with lost events", windows);
	if (gaps)
		parts[nr++] = mem_printf("%s sequence numbers are missing", num_count(gaps).s);
	if (damaged || damages)
		parts[nr++] = mem_printf("%s damaged, skipped or cut in %s",
					 damaged ? num_bytes((double)damaged).s : "some bytes",
					 num_of(damages, "place").s);
	if (unwritten)
		parts[nr++] = mem_printf("%s could not be written while recording",
					 num_bytes((double)unwritten).s);
	text = mem_strdup("");
	for (size_t i = 0; i < nr; i++) {
		char *longer = mem_printf("%s%s%s", text, i ? "; " : "", parts[i]);

		free(text);
		free(parts[i]);
		text = longer;
	}
	page_para(page, PAINT_BAD, "losses:", text);
	free(text);
}

static bool any_loss(const json_t *losses)
{
	return tree_u64(losses, "dropped") || tree_u64(losses, "sequence_gaps") ||
	       tree_u64(losses, "damaged_bytes") || tree_u64(losses, "damages") ||
	       tree_u64(losses, "unwritten_bytes") || json_array_size(tree_at(losses, "windows"));
}

static void list_line(const struct page *page, enum paint paint, const char *label,
		      const json_t *list, const char *before)
{
	char *text = mem_strdup(before);
	json_t *word;
	size_t i;

	json_array_foreach((json_t *)list, i, word)
	{
		char *longer = mem_printf("%s%s%s", text, i ? ", " : "", json_string_value(word));

		free(text);
		text = longer;
	}
	page_para(page, paint, label, text);
	free(text);
}

/* Nothing but results and tables: nothing was recorded, so nothing could be lost or waited for. */
static bool only_facts(const json_t *tree)
{
	json_t *in;
	size_t i;

	if (tree_u64(tree, "events.count"))
		return false;
	json_array_foreach((json_t *)tree_at(tree, "inputs"), i, in)
	{
		if (!tree_at(in, "lines_used"))
			return false;
	}
	return true;
}

static void losses(const struct page *page, const json_t *tree)
{
	const json_t *losses = tree_at(tree, "losses"), *hints = tree_at(losses, "hints");
	const char *why = tree_str(losses, "lost_events_why");
	json_t *hint;
	size_t i;

	if (any_loss(losses)) {
		losses_known(page, losses);
		if (why)
			page_printf(page, "", "whether more events were lost is unknown: %s", why);
		list_line(page, PAINT_NONE, "  unsafe", tree_at(losses, "unsafe"), "");
	} else if (only_facts(tree)) {
		/* see there */
	} else if (why) {
		page_printf(page, "losses:", "unknown: %s", why);
	} else {
		page_para(page, PAINT_GOOD,
			  "losses:", "none: 0 events were dropped, 0 bytes damaged");
	}
	if (!any_loss(losses) && json_array_size(tree_at(losses, "unsafe")))
		list_line(page, PAINT_NONE, "  unsafe", tree_at(losses, "unsafe"),
			  "in an excerpt: ");
	json_array_foreach((json_t *)hints, i, hint)
		page_printf(page, i ? "" : "  hint", "%s", json_string_value(hint));
}

/* ", 312 of 340 lines used (28 ignored: --show-ignored), 9 numbers missing" of a text; owned by the
 * caller. */
static char *lines_words(const json_t *in)
{
	uint64_t used = tree_u64(in, "lines_used"), ignored = tree_u64(in, "lines_ignored");
	uint64_t missing = tree_u64(in, "missing_numbers");
	char *more, *cut, *text;

	if (!tree_at(in, "lines_used"))
		return mem_strdup("");
	more = ignored ? mem_printf(" (%s ignored: --show-ignored)", num_count(ignored).s)
		       : mem_strdup("");
	cut = missing ? mem_printf(", %s missing", num_of(missing, "number").s) : mem_strdup("");
	text = mem_printf(", %s of %s used%s%s", num_count(used).s,
			  num_of(used + ignored, "line").s, more, cut);
	free(more);
	free(cut);
	return text;
}

static void inputs(const struct page *page, const json_t *tree)
{
	const json_t *list = tree_at(tree, "inputs");
	const char *label = "read:";
	size_t i, shown = 0, hidden = 0;
	json_t *in;

	json_array_foreach((json_t *)list, i, in)
	{
		const char *dialect = tree_str(in, "dialect"), *kernel = tree_str(in, "kernel");
		const char *ignored = tree_str(in, "ignored");
		char *lines;

		if (shown >= MAX_INPUTS && !(ignored && page->look->show_ignored)) {
			hidden++;
			continue;
		}
		lines = lines_words(in);
		if (ignored)
			page_printf(page, label, "%s: nothing used: %s", tree_str(in, "path"),
				    ignored);
		else
			page_printf(page, label, "%s: %s%s%s%s%s%s, %s", tree_str(in, "path"),
				    tree_str(in, "format"), dialect ? ", " : "",
				    dialect ? dialect : "", kernel ? ", Linux " : "",
				    kernel ? kernel : "", lines,
				    num_of(tree_u64(in, "events"), "event").s);
		free(lines);
		label = "";
		shown++;
	}
	if (hidden)
		page_printf(page, label, "and %zu more inputs (all of them: --json)", hidden);
}

static void span(const struct page *page, const json_t *tree)
{
	uint64_t wall = tree_u64(tree, "start_wall_ns");
	char when[64] = "", *recorded = NULL;

	if (wall) {
		time_t seconds = (time_t)(wall / 1000000000u);
		struct tm tm;

		if (gmtime_r(&seconds, &tm))
			strftime(when, sizeof(when), ", from %Y-%m-%d %H:%M:%S UTC on", &tm);
	}
	if (tree_at(tree, "recorded_ns"))
		recorded = mem_printf(" of %s recorded", num_ns(tree_num(tree, "recorded_ns")).s);
	if (tree_at(tree, "start_text_ns") && tree_num(tree, "start_text_ns") > 0)
		snprintf(when, sizeof(when), ", from %.9g s on in the text",
			 tree_num(tree, "start_text_ns") / 1e9);
	if (tree_at(tree, "span_ns"))
		page_printf(page, "span:", "%s%s%s", num_ns(tree_num(tree, "span_ns")).s,
			    recorded ? recorded : "", when);
	else if (recorded)
		page_printf(page, "span:", "no event%s%s", recorded, when);
	free(recorded);
	if (tree_at(tree, "window"))
		page_printf(page, "window:", "only %s to %s after the first event is counted",
			    num_ns(tree_num(tree, "window.from_ns")).s,
			    num_ns(tree_num(tree, "window.to_ns")).s);
}

/* As it can be pasted to a shell; owned by the caller. */
static char *quoted(const char *arg)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				    "0123456789%+,-./:=@_";
	char *text, *out;

	if (*arg && !arg[strspn(arg, plain)])
		return mem_strdup(arg);
	out = text = mem_zalloc(strlen(arg) * 4 + 3);
	*out++ = '\'';
	for (; *arg; arg++) {
		if (*arg == '\'')
			out = stpcpy(out, "'\\''");
		else
			*out++ = *arg;
	}
	*out = '\'';
	return text;
}

static char *command_line(const json_t *argv)
{
	char *text = mem_strdup("");
	json_t *arg;
	size_t i;

	json_array_foreach((json_t *)argv, i, arg)
	{
		char *word = quoted(json_string_value(arg));
		char *longer = mem_printf("%s%s%s", text, i ? " " : "", word);

		free(word);
		free(text);
		text = longer;
	}
	if (strlen(text) > MAX_COMMAND) {
		size_t cut = MAX_COMMAND;
		char *shorter;

		while (((unsigned char)text[cut] & 0xc0) == 0x80)
			cut--; /* not inside of a character */
		shorter = mem_printf("%.*s... (cut; all of it: --json)", (int)cut, text);
		free(text);
		text = shorter;
	}
	return text;
}

/* How the command came to its end: by itself, or because the recording did. */
static char *how_ended(const json_t *command)
{
	static const char *const reasons[][2] = {
		{ "time", "the recorder ended it after the time of --for" },
		{ "signal", "the recorder was interrupted and ended it" },
	};
	const char *stopped = tree_str(command, "stopped_by");
	const char *why = NULL;
	char *status;

	for (int i = 0; stopped && i < 2; i++)
		if (!strcmp(stopped, reasons[i][0]))
			why = reasons[i][1];
	if (stopped && !tree_at(command, "wall_ns"))
		return mem_strdup("it had not ended when the recorder did");
	if (tree_at(command, "signal"))
		status = mem_printf(why ? "signal %u" : "killed by signal %u",
				    (unsigned int)tree_u64(command, "signal"));
	else if (tree_at(command, "exit_status"))
		status = mem_printf("status %u", (unsigned int)tree_u64(command, "exit_status"));
	else
		status = mem_strdup("its end was not seen");
	if (why) {
		char *both = mem_printf("%s (%s)", why, status);

		free(status);
		return both;
	}
	return status;
}

static char *times(const json_t *command)
{
	if (!tree_at(command, "wall_ns"))
		return mem_strdup("so its times are unknown");
	return mem_printf("%s wall, CPU %s user + %s system",
			  num_ns(tree_num(command, "wall_ns")).s,
			  num_ns(tree_num(command, "user_ns")).s,
			  num_ns(tree_num(command, "system_ns")).s);
}

static void command(const struct page *page, const json_t *tree)
{
	const json_t *command = tree_at(tree, "command");
	char *line, *ended, *took;

	if (!command)
		return;
	line = command_line(tree_at(command, "argv"));
	ended = how_ended(command);
	took = times(command);
	page_line(page, "command:", line);
	page_printf(page, "", "%s, %s", ended, took);
	free(line);
	free(ended);
	free(took);
}

static enum paint severity_paint(const char *severity)
{
	if (!strcmp(severity, "critical"))
		return PAINT_BAD;
	return strcmp(severity, "warning") ? PAINT_NONE : PAINT_WARN;
}

static void findings(const struct page *page, const json_t *tree)
{
	const json_t *list = tree_at(tree, "findings"), *said = tree_at(tree, "notes");
	json_t *f, *advice;
	size_t i, j;

	if (!json_array_size(list) && !json_array_size(said))
		return;
	page_paint(page, PAINT_HEAD);
	fputs("\nFINDINGS\n", page->out);
	page_paint(page, PAINT_NONE);
	json_array_foreach((json_t *)list, i, f)
	{
		const char *severity = tree_str(f, "severity");
		char *label = mem_printf("  %s", severity);
		char *text = mem_printf("%s [%s]", tree_str(f, "sentence"), tree_str(f, "id"));

		page_para(page, severity_paint(severity), label, text);
		json_array_foreach(json_object_get(f, "advice"), j, advice)
			page_printf(page, "", "%s", json_string_value(advice));
		free(label);
		free(text);
	}
	json_array_foreach((json_t *)said, i, f)
		page_printf(page, "  note", "%s", json_string_value(f));
}

void report_text(const json_t *tree, FILE *out, const struct report_look *look)
{
	struct page page = { .out = out, .look = look };
	const json_t *devices = tree_at(tree, "devices");
	json_t *dev;
	size_t i;

	losses(&page, tree);
	page_errors(&page, tree);
	inputs(&page, tree);
	span(&page, tree);
	command(&page, tree);
	if (!only_facts(tree) || strcmp(tree_str(tree, "verdict.bound"), "unknown"))
		page_verdict(&page, tree);
	page_facts(&page, tree);
	json_array_foreach((json_t *)devices, i, dev) page_device(&page, dev);
	page_by(&page, tree);
	page_processes(&page, tree);
	findings(&page, tree);
	page_requests(&page, tree);
	page_ignored(&page, tree);
}
