// SPDX-License-Identifier: MIT
/* The list of single requests on the text page. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "view/num.h"
#include "view/tree.h"

#define PAGE_COLUMNS 80
#define PAGE_INDENT  11

/* In all digits that the input has: lists are for looking closely. */
struct num exact_ns(uint64_t ns, uint64_t resolution_ns)
{
	static const struct {
		uint64_t unit_ns;
		int digits;
		const char *name;
	} units[] = { { 1000000000, 9, "s" }, { 1000000, 6, "ms" }, { 1000, 3, "us" } };
	struct num out;

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		int digits = units[i].digits;

		if (ns < units[i].unit_ns)
			continue;
		for (uint64_t r = resolution_ns; r >= 10 && digits; r /= 10)
			digits--;
		snprintf(out.s, sizeof(out.s), "%" PRIu64 ".%0*" PRIu64, ns / units[i].unit_ns,
			 units[i].digits, ns % units[i].unit_ns);
		out.s[strlen(out.s) - (size_t)(units[i].digits - digits) - !digits] = '\0';
		strcat(out.s, " ");
		strcat(out.s, units[i].name);
		return out;
	}
	if (resolution_ns > 1 && ns < resolution_ns)
		snprintf(out.s, sizeof(out.s), "<%.28s", num_ns((double)resolution_ns).s);
	else
		snprintf(out.s, sizeof(out.s), "%" PRIu64 " ns", ns);
	return out;
}

/* One phase more; its name and number stay on one line. */
static char *joined(char *text, size_t *column, const char *key, uint64_t ns,
		    uint64_t resolution_ns)
{
	char *phase = mem_printf("%s %s", key, exact_ns(ns, resolution_ns).s), *longer;
	bool wrap = *column + strlen(phase) + 3 > PAGE_COLUMNS;

	longer = mem_printf("%s%s%s", text, !*text ? "" : wrap ? ",\n           " : ", ", phase);
	*column = (wrap ? PAGE_INDENT : *column + 2) + strlen(phase);
	free(phase);
	free(text);
	return longer;
}

static char *phases(const json_t *row, uint64_t resolution_ns)
{
	char *text = mem_strdup("");
	size_t column = PAGE_INDENT;
	const char *key;
	json_t *ns;

	json_object_foreach((json_t *)tree_at(row, "phases_ns"), key, ns)
	{
		text = joined(text, &column, key, (uint64_t)json_integer_value(ns), resolution_ns);
	}
	json_object_foreach((json_t *)tree_at(row, "parts_ns"), key, ns)
	{
		if (strcmp(key, "data") != 0)
			text = joined(text, &column, key, (uint64_t)json_integer_value(ns),
				      resolution_ns);
	}
	return text;
}

/* What else there is to say of it; owned by the caller. */
static char *remarks(const json_t *row)
{
	const char *state = tree_str(row, "state"), *doubt = tree_str(row, "doubt");
	const char *error = tree_str(row, "errno_name");
	uint64_t number = tree_u64(row, "errno"), attempts = tree_u64(row, "attempts");
	char *text = mem_strdup(""), *longer;

	if (strcmp(state, "completed") != 0) {
		free(text);
		text = mem_printf("; %s", !strcmp(state, "in_flight") ? "in flight at the end"
					  : !strcmp(state, "lost")
						  ? "its completion was lost"
						  : "a completion without its beginning");
	}
	if (attempts > 1) {
		longer = mem_printf("%s; %" PRIu64 " attempts", text, attempts);
		free(text);
		text = longer;
	}
	if (number) {
		longer = error ? mem_printf("%s; failed with %s", text, error)
			       : mem_printf("%s; failed with errno %" PRIu64, text, number);
		free(text);
		text = longer;
	}
	if (doubt) {
		longer = mem_printf("%s; no latency: %s", text, doubt);
		free(text);
		text = longer;
	}
	return text;
}

/* As the text printed it, where it was one text: people look for the line. */
static void print_start(FILE *out, const json_t *row, int digits, int64_t base_ns)
{
	int64_t start = (int64_t)tree_u64(row, "start_ns") + base_ns;
	uint64_t ns = (uint64_t)(start < 0 ? -start : start);
	char text[40];

	if (!tree_at(row, "start_ns")) {
		fprintf(out, "  %15s", "?");
		return;
	}
	snprintf(text, sizeof(text), "%s%" PRIu64 ".%09" PRIu64, start < 0 ? "-" : "",
		 ns / 1000000000, ns % 1000000000);
	text[strlen(text) - (size_t)(9 - digits)] = '\0';
	fprintf(out, "  %15s", text);
}

/* "fio (123)"; where nobody queued it here, who issued it. */
static void who_text(char *who, size_t size, const json_t *row)
{
	bool issuer = !tree_at(row, "pid") && tree_at(row, "issuer_pid");
	const char *comm = tree_str(row, issuer ? "issuer_comm" : "comm");
	unsigned int pid = (unsigned int)tree_u64(row, issuer ? "issuer_pid" : "pid");
	const char *by = issuer ? "D by " : "";

	if (!issuer && !tree_at(row, "pid"))
		snprintf(who, size, "?");
	else if (comm)
		snprintf(who, size, "%s%.16s (%u)", by, comm, pid);
	else
		snprintf(who, size, "%spid %u", by, pid);
}

/* "fio (123) 40 in 10.1 ms"; owned by the caller. */
static char *ran(const json_t *part)
{
	const char *comm = tree_str(part, "comm");
	char *who, *text;

	if (json_is_true(json_object_get(part, "flush")))
		who = mem_strdup("flush commands");
	else if (!tree_at(part, "pid"))
		who = mem_strdup("of unknown threads");
	else
		who = mem_printf("%s (%u)", comm ? comm : "?", (unsigned int)tree_u64(part, "pid"));
	text = mem_printf("%s %s in %s", who, num_count(tree_u64(part, "requests")).s,
			  num_ns(tree_num(part, "device_ns")).s);
	free(who);
	return text;
}

/* ": fio (123) 40 in 10.1 ms, ..."; owned by the caller. */
static char *all_ran(const json_t *m)
{
	const json_t *rest = tree_at(m, "other_processes");
	char *text = mem_strdup(""), *longer, *one;
	json_t *part;
	size_t i;

	json_array_foreach((json_t *)tree_at(m, "processes"), i, part)
	{
		one = ran(part);
		longer = mem_printf("%s%s%s", text, i ? ", " : ": ", one);
		free(one);
		free(text);
		text = longer;
	}
	if (rest) {
		longer = mem_printf("%s, %s more %s in %s", text,
				    num_count(tree_u64(rest, "count")).s,
				    num_count(tree_u64(rest, "requests")).s,
				    num_ns(tree_num(rest, "device_ns")).s);
		free(text);
		text = longer;
	}
	return text;
}

/* What ran while it waited. */
static void print_meanwhile(const struct page *page, const json_t *row)
{
	const json_t *m = tree_at(row, "meanwhile");
	const char *why = tree_str(row, "meanwhile_why");
	uint64_t nr = tree_u64(m, "requests");
	char *who, *idle;

	if (!m) {
		if (why)
			page_printf(page, "", "what ran while it waited is unknown: %s", why);
		return;
	}
	who = all_ran(m);
	idle = tree_at(m, "idle_ns") ? mem_printf("idle %s", num_ns(tree_num(m, "idle_ns")).s)
				     : mem_strdup("idle for an unknown time");
	if (nr)
		page_printf(page, "",
			    "while it waited %s: %s came later and ended first, at the device for "
			    "%s%s; device %s",
			    num_ns(tree_num(m, "wait_ns")).s, num_of(nr, "request").s,
			    num_ns(tree_num(m, "device_ns")).s, who, idle);
	else
		page_printf(page, "",
			    "while it waited %s: no request came later and ended first; device %s",
			    num_ns(tree_num(m, "wait_ns")).s, idle);
	free(who);
	free(idle);
}

static void print_row(const struct page *page, const json_t *row, int digits,
		      uint64_t resolution_ns, int64_t base_ns)
{
	const char *name = tree_str(row, "device");
	char *text = phases(row, resolution_ns), *more = remarks(row), place[64] = "-", who[48];

	if (!name)
		name = tree_str(row, "name");
	if (tree_at(row, "sector"))
		snprintf(place, sizeof(place), "%" PRIu64 " + %s", tree_u64(row, "sector"),
			 tree_at(row, "sectors") ? num_count(tree_u64(row, "sectors")).s : "?");
	else if (tree_u64(row, "bytes"))
		snprintf(place, sizeof(place), "%.30s", num_bytes(tree_num(row, "bytes")).s);
	who_text(who, sizeof(who), row);
	print_start(page->out, row, digits, base_ns);
	fprintf(page->out, " %-7s %-5s %-22s %s\n", name ? name : "?", tree_str(row, "flags"),
		place, who);
	if (*text)
		page_line(page, "", text);
	if (*more)
		page_para(page, PAINT_NONE, "", more + 2);
	print_meanwhile(page, row);
	free(text);
	free(more);
}

void page_requests(const struct page *page, const json_t *tree)
{
	const struct report *r = page->look->report;
	const json_t *base = tree_at(tree, "start_text_ns");
	int64_t base_ns = base ? json_integer_value(base) : 0;
	uint64_t resolution_ns = 1;
	int digits = 9;
	json_t *in;
	size_t i, nr;

	if (!r || !r->requests)
		return;
	nr = request_list_nr(r->requests);
	json_array_foreach((json_t *)tree_at(tree, "inputs"), i, in)
	{
		uint64_t ns = tree_u64(in, "resolution_ns");

		resolution_ns = ns > resolution_ns ? ns : resolution_ns;
	}
	for (uint64_t ns = resolution_ns; ns >= 10 && digits > 1; ns /= 10)
		digits--;
	page_paint(page, PAINT_HEAD);
	fprintf(page->out, "\nREQUESTS\n  %15s %-7s %-5s %-22s %s\n", "start (s)", "device", "rwbs",
		"sector + sectors", "who");
	page_paint(page, PAINT_NONE);
	for (i = 0; i < nr; i++) {
		json_t *row = request_list_row(r, i);

		print_row(page, row, digits, resolution_ns, base_ns);
		json_decref(row);
	}
	if (!nr)
		page_para(page, PAINT_NONE, "", "none was seen");
	if (request_list_truncated(r->requests))
		page_printf(page, "", "and %s more that are not kept (--top N keeps the slowest)",
			    num_count(request_list_truncated(r->requests)).s);
}
