// SPDX-License-Identifier: MIT
/* report --csv: one table, made of the rows that JSON shows, so that the two can never disagree. */
#include <inttypes.h>
#include <string.h>

#include "view/request_entry.h"
#include "view/tree.h"

/* RFC 4180: quoted where it must be, quotes doubled. */
static void put_text(FILE *out, const char *text)
{
	if (!text[strcspn(text, ",\"\r\n")]) {
		fputs(text, out);
		return;
	}
	fputc('"', out);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', out);
		fputc(*text, out);
	}
	fputc('"', out);
}

/* Unknown is an empty field. */
static void put_value(FILE *out, const json_t *value)
{
	if (json_is_string(value))
		put_text(out, json_string_value(value));
	else if (json_is_integer(value))
		fprintf(out, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
	else if (json_is_real(value))
		fprintf(out, "%.9g", json_real_value(value));
}

/* A column: its name, and where its value stands in the row. */
struct column {
	const char *name, *path;
};

static void put_names(FILE *out, const struct column *columns, size_t nr, bool first)
{
	for (size_t i = 0; i < nr; i++)
		fprintf(out, "%s%s", i || !first ? "," : "", columns[i].name);
}

static void put_columns(FILE *out, const json_t *row, const struct column *columns, size_t nr,
			bool first)
{
	for (size_t i = 0; i < nr; i++) {
		if (i || !first)
			fputc(',', out);
		put_value(out, tree_at(row, columns[i].path));
	}
}

#define NR(list) (sizeof(list) / sizeof((list)[0]))

static const struct column device_columns[] = { { "device", "device" }, { "name", "name" } };

static const struct {
	struct column list[2];
	size_t nr;
} key_columns[BY_NR] = {
	[BY_DEVICE] = { { { NULL, NULL } }, 0 },
	[BY_CLASS] = { { { "class", "class" } }, 1 },
	[BY_PROCESS] = { { { "pid", "pid" }, { "comm", "comm" } }, 2 },
	[BY_SIZE] = { { { "over_bytes", "over_bytes" }, { "to_bytes", "to_bytes" } }, 2 },
	[BY_CPU] = { { { "cpu", "cpu" } }, 1 },
	[BY_WINDOW] = { { { "from_ns", "from_ns" }, { "to_ns", "to_ns" } }, 2 },
};

static const struct column count_columns[] = {
	{ "bios", "bios.count" },
	{ "bios_bytes", "bios.bytes" },
	{ "bios_affected_bytes", "bios.affected_bytes" },
	{ "requests", "requests.count" },
	{ "requests_bytes", "requests.bytes" },
	{ "requests_affected_bytes", "requests.affected_bytes" },
};

static const struct column phase_columns[] = {
	{ "of", "of" },        { "n", "n" },          { "min_ns", "min" },
	{ "mean_ns", "mean" }, { "p50_ns", "p50" },   { "p90_ns", "p90" },
	{ "p99_ns", "p99" },   { "p999_ns", "p999" }, { "max_ns", "max" },
};

static const char *const group_words[] = { "one", "unknown", "others" };

static void put_group_row(const struct report *r, FILE *out, const json_t *row,
			  const struct breakdown_row *group, const char *phase, const json_t *h)
{
	enum breakdown_key key = breakdown_options(r->by)->key;

	put_columns(out, row, device_columns, NR(device_columns), true);
	fprintf(out, ",%s", group_words[group->kind]);
	put_columns(out, row, key_columns[key].list, key_columns[key].nr, false);
	put_columns(out, row, count_columns, NR(count_columns), false);
	fprintf(out, ",%s", phase);
	put_columns(out, h, phase_columns, NR(phase_columns), false);
	fputs("\r\n", out);
}

static void put_groups(const struct report *r, FILE *out)
{
	enum breakdown_key key = breakdown_options(r->by)->key;

	put_names(out, device_columns, NR(device_columns), true);
	fputs(",group", out);
	put_names(out, key_columns[key].list, key_columns[key].nr, false);
	put_names(out, count_columns, NR(count_columns), false);
	fputs(",phase", out);
	put_names(out, phase_columns, NR(phase_columns), false);
	fputs("\r\n", out);
	for (size_t i = 0; i < breakdown_nr(r->by); i++) {
		const struct breakdown_row *group = breakdown_row(r->by, i);
		json_t *row = by_row(r, i), *h;
		const json_t *phases = tree_at(row, "latency_ns");
		const char *phase;

		if (!json_object_size(phases)) /* its counts alone */
			put_group_row(r, out, row, group, "", NULL);
		json_object_foreach((json_t *)phases, phase, h)
			put_group_row(r, out, row, group, phase, h);
		json_decref(row);
	}
}

static const struct column request_columns[] = {
	{ "kind", "kind" },
	{ "state", "state" },
	{ "start_ns", "start_ns" },
	{ "end_ns", "end_ns" },
	{ "device", "device" },
	{ "name", "name" },
	{ "sector", "sector" },
	{ "sectors", "sectors" },
	{ "bytes", "bytes" },
	{ "class", "class" },
	{ "flags", "flags" },
	{ "pid", "pid" },
	{ "comm", "comm" },
	{ "issuer_pid", "issuer_pid" },
	{ "issuer_comm", "issuer_comm" },
	{ "attempts", "attempts" },
	{ "bios", "bios" },
	{ "errno", "errno" },
	{ "errno_name", "errno_name" },
	{ "a2q_ns", "phases_ns.a2q" },
	{ "q2g_ns", "phases_ns.q2g" },
	{ "g2i_ns", "phases_ns.g2i" },
	{ "plug_ns", "phases_ns.plug" },
	{ "g2d_ns", "phases_ns.g2d" },
	{ "i2d_ns", "phases_ns.i2d" },
	{ "m2d_ns", "phases_ns.m2d" },
	{ "q2d_ns", "phases_ns.q2d" },
	{ "d2c_ns", "phases_ns.d2c" },
	{ "attempt_lost_ns", "phases_ns.attempt_lost" },
	{ "requeue_wait_ns", "phases_ns.requeue_wait" },
	{ "preflush_wait_ns", "parts_ns.preflush_wait" },
	{ "preflush_ns", "parts_ns.preflush" },
	{ "postflush_wait_ns", "parts_ns.postflush_wait" },
	{ "postflush_ns", "parts_ns.postflush" },
	{ "q2c_ns", "phases_ns.q2c" },
	{ "r_q2c_ns", "phases_ns.r_q2c" },
	{ "chain_q2c_ns", "phases_ns.chain_q2c" },
	{ "doubt", "doubt" },
};

/* Of the slowest. */
static const struct column meanwhile_columns[] = {
	{ "wait_ns", "meanwhile.wait_ns" },
	{ "meanwhile_requests", "meanwhile.requests" },
	{ "meanwhile_device_ns", "meanwhile.device_ns" },
	{ "meanwhile_idle_ns", "meanwhile.idle_ns" },
};

static void put_requests(const struct report *r, FILE *out)
{
	size_t more = request_list_top(r->requests) ? NR(meanwhile_columns) : 0;

	put_names(out, request_columns, NR(request_columns), true);
	put_names(out, meanwhile_columns, more, false);
	fputs("\r\n", out);
	for (size_t i = 0; i < request_list_nr(r->requests); i++) {
		json_t *row = request_list_row(r, i);

		if (!json_object_get(row, "name")) {
			uint16_t dev = request_list_entry(r->requests, i)->io.dev;
			const char *name = facts_device_name(r->facts, r->sum->devices[dev].device);

			if (name)
				tree_text(row, "name", name);
		}
		put_columns(out, row, request_columns, NR(request_columns), true);
		put_columns(out, row, meanwhile_columns, more, false);
		fputs("\r\n", out);
		json_decref(row);
	}
}

void report_csv(const struct report *r, FILE *out)
{
	if (r->requests)
		put_requests(r, out);
	else
		put_groups(r, out);
}
