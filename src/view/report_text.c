// SPDX-License-Identifier: MIT
/* The text page, from the tree. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "view/num.h"
#include "view/tree.h"

#define BAR_WIDTH   40
#define MAX_INPUTS  8
#define MAX_WORKERS 6
#define MAX_WHO     4

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
		parts[nr++] = mem_printf("%s damaged, skipped or cut in %s places",
					 num_bytes((double)damaged).s, num_count(damages).s);
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
	} else if (why) {
		page_printf(page, "losses:", "unknown: %s", why);
	} else {
		page_para(page, PAINT_GOOD,
			  "losses:", "none: 0 events were dropped, 0 bytes damaged");
	}
	json_array_foreach((json_t *)hints, i, hint)
		page_printf(page, i ? "" : "  hint", "%s", json_string_value(hint));
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

		if (shown >= MAX_INPUTS && !(ignored && page->look->show_ignored)) {
			hidden++;
			continue;
		}
		if (ignored)
			page_printf(page, label, "%s: nothing used: %s", tree_str(in, "path"),
				    ignored);
		else
			page_printf(page, label, "%s: %s%s%s%s%s, %s events", tree_str(in, "path"),
				    tree_str(in, "format"), dialect ? ", " : "",
				    dialect ? dialect : "", kernel ? ", Linux " : "",
				    kernel ? kernel : "", num_count(tree_u64(in, "events")).s);
		label = "";
		shown++;
	}
	if (hidden)
		page_printf(page, label, "and %zu more inputs (all of them: --json)", hidden);
}

static void span(const struct page *page, const json_t *tree)
{
	uint64_t wall = tree_u64(tree, "start_wall_ns");
	char when[64] = "";

	if (wall) {
		time_t seconds = (time_t)(wall / 1000000000u);
		struct tm tm;

		if (gmtime_r(&seconds, &tm))
			strftime(when, sizeof(when), ", from %Y-%m-%d %H:%M:%S UTC on", &tm);
	}
	if (tree_at(tree, "span_ns"))
		page_printf(page, "span:", "%s%s", num_ns(tree_num(tree, "span_ns")).s, when);
	if (tree_at(tree, "window"))
		page_printf(page, "window:", "only %s to %s after the first event is counted",
			    num_ns(tree_num(tree, "window.from_ns")).s,
			    num_ns(tree_num(tree, "window.to_ns")).s);
}

static void command(const struct page *page, const json_t *tree)
{
	const json_t *command = tree_at(tree, "command"), *argv = tree_at(command, "argv");
	char *text = mem_strdup(""), *ended;
	json_t *arg;
	size_t i;

	if (!command) {
		free(text);
		return;
	}
	json_array_foreach((json_t *)argv, i, arg)
	{
		char *longer = mem_printf("%s%s%s", text, i ? " " : "", json_string_value(arg));

		free(text);
		text = longer;
	}
	if (strlen(text) > 200)
		memcpy(text + 197, "...", 4);
	if (tree_at(command, "signal"))
		ended = mem_printf("killed by signal %u",
				   (unsigned int)tree_u64(command, "signal"));
	else if (tree_at(command, "exit_status"))
		ended = mem_printf("status %u", (unsigned int)tree_u64(command, "exit_status"));
	else
		ended = mem_strdup("status unknown");
	page_printf(page, "command:", "%s", text);
	page_printf(page, "", "%s, %s wall, CPU %s user + %s system", ended,
		    num_ns(tree_num(command, "wall_ns")).s, num_ns(tree_num(command, "user_ns")).s,
		    num_ns(tree_num(command, "system_ns")).s);
	free(text);
	free(ended);
}

static void bar(const struct page *page, const char *label, double part)
{
	int full = (int)lround(part * BAR_WIDTH);

	if (!full && part >= 0.001)
		full = 1;
	fprintf(page->out, "  %-14s %7s  ", label, num_share(part).s);
	for (int i = 0; i < BAR_WIDTH; i++)
		fputc(i < full ? '#' : '.', page->out);
	fputc('\n', page->out);
}

static void workers(const struct page *page, const json_t *verdict)
{
	const json_t *list = tree_at(verdict, "cpu_ns");
	char *text = mem_strdup("");
	size_t i, shown = 0;
	double rest = 0;
	json_t *w;

	if (!list) {
		free(text);
		return;
	}
	json_array_foreach((json_t *)list, i, w)
	{
		char *longer;

		if (shown >= MAX_WORKERS) {
			rest += tree_num(w, "ns");
			continue;
		}
		longer = mem_printf("%s%s%s %s", text, i ? ", " : "", tree_str(w, "who"),
				    num_ns(tree_num(w, "ns")).s);
		free(text);
		text = longer;
		shown++;
	}
	if (rest > 0)
		page_printf(page, "  CPU time", "%s, %zu others together %s", text, i - shown,
			    num_ns(rest).s);
	else
		page_printf(page, "  CPU time", "%s", text);
	free(text);
}

/* Bytes read and written by thread name, since one program often has many threads. */
static json_t *bytes_by_name(const json_t *processes)
{
	json_t *names = json_object(), *p, *both;
	size_t i;

	json_array_foreach((json_t *)processes, i, p)
	{
		uint64_t read = tree_u64(p, "read_bytes"), written = tree_u64(p, "write_bytes");
		const char *comm = tree_str(p, "comm");
		char *name = comm ? mem_strdup(comm)
				  : mem_printf("pid %u", (unsigned int)tree_u64(p, "pid"));

		both = json_object_get(names, name);
		read += tree_u64(both, "read");
		written += tree_u64(both, "written");
		if (!both) {
			both = json_object();
			json_object_set_new(names, name, both);
		}
		tree_count(both, "read", read);
		tree_count(both, "written", written);
		free(name);
	}
	return names;
}

/* "fio read 30.0 MiB", "fio read + wrote 124 MiB": one direction where it is 95 % or more. */
static char *who_words(const char *name, const json_t *both)
{
	double read = tree_num(both, "read"), written = tree_num(both, "written");
	double all = read + written;
	const char *verb = "read + wrote";

	if (read >= 0.95 * all)
		verb = "read";
	else if (written >= 0.95 * all)
		verb = "wrote";
	return mem_printf("%s %s %s", name, verb, num_bytes(all).s);
}

static const char *most_bytes(const json_t *names)
{
	const char *name, *most = NULL;
	uint64_t most_bytes = 0;
	json_t *both;

	json_object_foreach((json_t *)names, name, both)
	{
		uint64_t bytes = tree_u64(both, "read") + tree_u64(both, "written");

		if (bytes > most_bytes) {
			most_bytes = bytes;
			most = name;
		}
	}
	return most;
}

/* The first screen must say who. */
static void most_io(const struct page *page, const json_t *tree)
{
	json_t *names = bytes_by_name(tree_at(tree, "processes"));
	char *text = mem_strdup("");

	for (int i = 0; i < MAX_WHO; i++) {
		const char *name = most_bytes(names);
		char *words, *longer;

		if (!name)
			break;
		words = who_words(name, json_object_get(names, name));
		longer = mem_printf("%s%s%s", text, i ? ", " : "", words);
		json_object_del(names, name);
		free(words);
		free(text);
		text = longer;
	}
	if (*text)
		page_printf(page, "  most I/O", "%s", text);
	free(text);
	json_decref(names);
}

static void verdict(const struct page *page, const json_t *tree)
{
	static const char *const labels[WAIT_NR] = {
		[WAIT_DEVICE] = "at the device",
		[WAIT_BEHIND_OTHERS] = "behind others",
		[WAIT_HELD] = "held in queue",
		[WAIT_SUBMITTER] = "submitter",
	};
	const json_t *verdict = tree_at(tree, "verdict"), *shares = tree_at(verdict, "shares");

	fputc('\n', page->out);
	page_para(page, PAINT_HEAD, "VERDICT", tree_str(verdict, "sentence"));
	for (int p = 0; shares && p < WAIT_NR; p++)
		bar(page, labels[p], tree_num(shares, wait_key((enum wait_place)p)));
	workers(page, verdict);
	most_io(page, tree);
}

static void process_row(FILE *out, const json_t *p)
{
	const char *comm = tree_str(p, "comm");
	double mean = tree_num(p, "q2c_ns.mean"), p99 = tree_num(p, "q2c_ns.p99");

	fprintf(out, "  %7u %-16s %-9s %8s %8s %8s %7s %7s\n", (unsigned int)tree_u64(p, "pid"),
		comm ? comm : "?", tree_str(p, "role"), num_bytes(tree_num(p, "read_bytes")).s,
		num_bytes(tree_num(p, "write_bytes")).s, num_count(tree_u64(p, "bios")).s,
		isnan(mean) ? "-" : num_ns(mean).s, isnan(p99) ? "-" : num_ns(p99).s);
}

static void processes(const struct page *page, const json_t *tree)
{
	const json_t *list = tree_at(tree, "processes");
	size_t nr = json_array_size(list), i;
	bool worker = false;
	json_t *p;

	if (!nr)
		return;
	page_paint(page, PAINT_HEAD);
	fprintf(page->out, "\nWHO\n  %7s %-16s %-9s %8s %8s %8s %7s %7s\n", "pid", "thread", "role",
		"read", "written", "bios", "q2c", "p99");
	page_paint(page, PAINT_NONE);
	json_array_foreach((json_t *)list, i, p)
	{
		if (i >= (size_t)page->look->top) {
			page_printf(page, "", "and %zu more (--top %zu)", nr - i, nr);
			break;
		}
		worker |= !strcmp(tree_str(p, "role"), "worker");
		process_row(page->out, p);
	}
	if (worker)
		page_para(page, PAINT_NONE, "",
			  "worker: a kernel worker thread, mostly writing dirty pages back for "
			  "others");
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
	inputs(&page, tree);
	span(&page, tree);
	command(&page, tree);
	verdict(&page, tree);
	json_array_foreach((json_t *)devices, i, dev) page_device(&page, dev);
	processes(&page, tree);
	findings(&page, tree);
}
