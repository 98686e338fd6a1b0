// SPDX-License-Identifier: MIT
/* What was pasted beside events, on the text page: results, tables, snapshots, lines of no use. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/printable.h"
#include "view/num.h"
#include "view/tree.h"

#define MAX_METRICS 100 /* of each section that is printed; the rest: --json */
#define MAX_ROWS    40

void page_heading(const struct page *page, const char *text)
{
	page_paint(page, PAINT_HEAD);
	fprintf(page->out, "\n%s\n", text);
	page_paint(page, PAINT_NONE);
}

static bool ends_with(const char *text, const char *end)
{
	size_t len = strlen(text), tail = strlen(end);

	return len >= tail && !strcmp(text + len - tail, end);
}

/* A number as people read it; the unit is known from the key's end. */
static struct num by_key(const char *key, const json_t *value)
{
	double v = json_number_value(value);
	struct num out;

	if (ends_with(key, "_ns"))
		return num_ns(v);
	if (ends_with(key, "bytes"))
		return num_bytes(v);
	if (ends_with(key, "bytes_per_s")) {
		snprintf(out.s, sizeof(out.s), "%.20s/s", num_bytes(v).s);
		return out;
	}
	if (ends_with(key, "_share"))
		return num_share(v);
	if (json_is_integer(value) && v >= 0)
		return num_count((uint64_t)json_integer_value(value));
	snprintf(out.s, sizeof(out.s), "%.6g", v);
	return out;
}

/* What the key says without its unit. */
static int words_len(const char *key)
{
	static const char *const units[] = { "_ns", "_bytes", "_bytes_per_s" };
	size_t len = strlen(key);

	for (size_t i = sizeof(units) / sizeof(units[0]); i-- > 0;)
		if (ends_with(key, units[i]))
			return (int)(len - strlen(units[i]));
	return (int)len;
}

static char *append(char *text, const char *between, char *more)
{
	char *longer = mem_printf("%s%s%s", text, *text ? between : "", more);

	free(text);
	free(more);
	return longer;
}

/* read_ns beside read_bytes: both without their unit would have one name. */
static bool is_time_beside_bytes(const json_t *obj, const char *key)
{
	char *bytes;
	bool is;

	if (!ends_with(key, "_ns"))
		return false;
	bytes = mem_printf("%.*s_bytes", words_len(key), key);
	is = json_object_get(obj, bytes) != NULL;
	free(bytes);
	return is;
}

/* "n 62,151, mean 779 us, ...": all plain values of an object, but for one; owned by the caller. */
static char *plain_values(const json_t *obj, const char *but, bool shares)
{
	char *text = mem_strdup("");
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)obj, key, value)
	{
		int len = words_len(key);

		if ((but && !strcmp(key, but)) || ends_with(key, "_why"))
			continue;
		if (json_is_number(value))
			text = append(text, ", ",
				      mem_printf("%.*s%s %s", len, key,
						 is_time_beside_bytes(obj, key) ? " time" : "",
						 shares && json_is_real(value)
							 ? num_share(json_real_value(value)).s
							 : by_key(key, value).s));
		else if (json_is_string(value))
			text = append(text, ", ",
				      mem_printf("%.*s %s", len, key, json_string_value(value)));
		else if (json_is_true(value))
			text = append(text, ", ", mem_strdup(key));
	}
	return text;
}

static const char *label_of(const json_t *obj)
{
	static const char *const keys[] = { "name", "phase", "device", "label", "kind", "source" };

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (json_is_string(json_object_get(obj, keys[i])))
			return keys[i];
	return NULL;
}

/* "  name: values"; wrapped below itself. */
static void print_object(const struct page *page, const json_t *obj, bool shares)
{
	const char *key = label_of(obj);
	char *values = plain_values(obj, key, shares);

	page_printf(page, "", "%s%s%s", key ? tree_str(obj, key) : "", key && *values ? ": " : "",
		    values);
	free(values);
}

static void print_list(const struct page *page, const json_t *list, bool shares)
{
	json_t *item;
	size_t i;

	json_array_foreach((json_t *)list, i, item)
	{
		if (i == MAX_ROWS) {
			page_printf(page, "", "and %zu more (all of them: --json)",
				    json_array_size(list) - i);
			return;
		}
		if (json_is_object(item))
			print_object(page, item, shares);
	}
}

/* Objects in an object ("values": {...}, "d2c": {...}) and lists of them, one level deep. */
static void print_inner(const struct page *page, const json_t *obj, bool shares)
{
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)obj, key, value)
	{
		char *values;

		if (json_is_array(value))
			print_list(page, value, shares);
		if (!json_is_object(value))
			continue;
		values = plain_values(value, NULL, shares);
		if (*values)
			page_printf(page, "", "%s: %s", key, values);
		free(values);
	}
}

static void section(const struct page *page, const json_t *list, const char *heading)
{
	json_t *obj;
	size_t i;

	if (!json_array_size(list))
		return;
	page_heading(page, heading);
	json_array_foreach((json_t *)list, i, obj)
	{
		const char *key = label_of(obj);
		bool shares = key && ends_with(tree_str(obj, key), "overhead"); /* btt's */
		char *values = plain_values(obj, key, shares);

		if (i == MAX_METRICS) {
			page_printf(page, "", "and %zu more (all of them: --json)",
				    json_array_size(list) - i);
			free(values);
			return;
		}
		page_printf(page, "  -", "%s%s%s", key ? tree_str(obj, key) : "",
			    key && *values ? ": " : "", values);
		free(values);
		print_inner(page, obj, shares);
	}
}

/* ---- metrics ---- */

static char *metric_value(const json_t *m)
{
	const char *unit = tree_str(m, "unit"), *name = tree_str(m, "name");
	double v = tree_num(m, "value");
	bool bare = !unit || !*unit || !strcmp(unit, "1");

	if (isnan(v))
		return mem_strdup("unknown");
	if (!bare &&
	    (!strcmp(unit, "B/s") || !strcmp(unit, "bytes/s") || !strcmp(unit, "bytes_per_s")))
		return mem_printf("%s/s", num_bytes(v).s);
	if (!bare && (!strcmp(unit, "bytes") || !strcmp(unit, "B")))
		return mem_printf("%s", num_bytes(v).s);
	if (bare && name && ends_with(name, "_share"))
		return mem_printf("%s", num_share(v).s);
	return mem_printf("%.9g%s%s", v, bare ? "" : " ",
			  bare                         ? ""
			  : strcmp(unit, "per_s") != 0 ? unit
						       : "/s");
}

static void print_metric(const struct page *page, const json_t *m)
{
	const char *better = tree_str(m, "better"), *source = tree_str(m, "source");
	const char *variant = tree_str(m, "variant"), *why = tree_str(m, "value_why");
	char *value = metric_value(m), n[24] = "-", sd[24] = "-";

	if (tree_at(m, "n"))
		snprintf(n, sizeof(n), "%" PRIu64, tree_u64(m, "n"));
	if (!isnan(tree_num(m, "sd")))
		snprintf(sd, sizeof(sd), "%.4g", tree_num(m, "sd"));
	fprintf(page->out, "  %-26s %16s %-7s %4s %9s %s%s%s\n", tree_str(m, "name"), value,
		better ? better : "-", n, sd, source ? source : "", variant ? ", " : "",
		variant ? variant : "");
	if (why)
		page_para(page, PAINT_NONE, "", why);
	free(value);
}

/* Below what they stood in the text, said once. */
static void metrics(const struct page *page, const json_t *list)
{
	const char *last = "", *context;
	json_t *m;
	size_t i;

	if (!json_array_size(list))
		return;
	page_paint(page, PAINT_HEAD);
	fprintf(page->out, "\nMETRICS\n  %-26s %16s %-7s %4s %9s %s\n", "", "value", "better", "n",
		"sd", "by");
	page_paint(page, PAINT_NONE);
	json_array_foreach((json_t *)list, i, m)
	{
		if (i == MAX_METRICS) {
			page_printf(page, "", "and %zu more (all of them: --json)",
				    json_array_size(list) - i);
			return;
		}
		context = tree_str(m, "context");
		if (context && strcmp(context, last) != 0)
			page_printf(page, "  below", "\"%s\"", context);
		last = context ? context : "";
		print_metric(page, m);
	}
}

void page_facts(const struct page *page, const json_t *tree)
{
	metrics(page, tree_at(tree, "metrics"));
	page_summaries(page, tree_at(tree, "summary_blocks"));
	section(page, tree_at(tree, "latency_tables"), "TABLES OF LATENCIES");
	section(page, tree_at(tree, "snapshots"), "SNAPSHOTS");
}

/* ---- what was of no use ---- */

void page_ignored(const struct page *page, const json_t *tree)
{
	const struct facts *facts = page->look->report ? page->look->report->facts : NULL;
	uint64_t all = 0;

	if (!page->look->show_ignored || !facts)
		return;
	for (size_t i = 0; i < facts->nr_inputs; i++)
		all += facts->inputs[i].lines_ignored;
	if (!all)
		return;
	page_heading(page, "IGNORED LINES");
	for (size_t i = 0; i < facts->nr_ignored; i++) {
		const struct ignored_line *line = &facts->ignored[i];
		char *text = printable(line->text),
		     *path = printable(facts->inputs[line->input].path);

		fprintf(page->out, "  %s%s%" PRIu64 ": %s\n           %s\n",
			facts->nr_inputs > 1 ? path : "line ", facts->nr_inputs > 1 ? ":" : "",
			line->nr, text, line->why);
		free(text);
		free(path);
	}
	if (all > facts->nr_ignored)
		page_printf(page, "", "and %s more that are not kept",
			    num_count(all - facts->nr_ignored).s);
}
