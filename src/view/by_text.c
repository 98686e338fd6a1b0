// SPDX-License-Identifier: MIT
/* The groups of --by on the text page: for each device what its bios took as a whole, and what its
 * requests took at the device. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "view/num.h"
#include "view/tree.h"

#define LEAST_SHARE 0.005 /* of a tail's phase, to be shown */

/* Which of a row's numbers a table shows. */
struct table {
	const char *of, *count, *phase;
};

static const struct table tables[] = {
	{ "q2c of bios", "bios", "latency_ns.q2c" },
	{ "d2c of requests", "requests", "latency_ns.d2c" },
};

/* The digits behind the point that seconds need to be exact. */
static int digits_of(uint64_t slice_ns)
{
	int digits = 9;

	while (digits && slice_ns % 10 == 0) {
		slice_ns /= 10;
		digits--;
	}
	return digits;
}

static void size_label(char *label, size_t size, uint64_t most)
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB" };
	int unit = 0;

	while (unit < 3 && most >= 1024 && most % 1024 == 0) {
		most /= 1024;
		unit++;
	}
	if (most)
		snprintf(label, size, "to %" PRIu64 " %s", most, units[unit]);
	else
		snprintf(label, size, "no data");
}

static void label_of(char *label, size_t size, const struct report *r, const json_t *row,
		     const struct breakdown_row *group)
{
	const struct breakdown_options *o = breakdown_options(r->by);
	const char *name = tree_str(row, "name"), *number = tree_str(row, "device");
	const char *comm = tree_str(row, "comm");

	if (group->kind != ROW_TOLD)
		snprintf(label, size, group->kind == ROW_UNTOLD ? "unknown" : "others");
	else if (o->key == BY_DEVICE)
		snprintf(label, size, "%.24s", name ? name : number);
	else if (o->key == BY_CLASS)
		snprintf(label, size, "%s", tree_str(row, "class"));
	else if (o->key == BY_PROCESS)
		snprintf(label, size, "%.15s (%u)", comm ? comm : "?",
			 (unsigned int)tree_u64(row, "pid"));
	else if (o->key == BY_SIZE)
		size_label(label, size, group->key);
	else if (o->key == BY_CPU)
		snprintf(label, size, "CPU %u", (unsigned int)group->key);
	else
		snprintf(label, size, "from %.*f s", digits_of(o->slice_ns),
			 tree_num(row, "from_ns") / 1e9);
}

static void print_row(FILE *out, const char *label, const json_t *row, const struct table *table)
{
	static const char *const keys[] = { "mean", "p50", "p99", "max" };
	const json_t *c = tree_at(row, table->count), *h = tree_at(row, table->phase);
	const json_t *bytes = tree_at(c, "bytes"), *affected = tree_at(c, "affected_bytes");

	if (affected && !json_integer_value(bytes))
		bytes = affected; /* of a class that moves nothing */
	fprintf(out, "  %-25s %9s %9s", label, num_count(tree_u64(c, "count")).s,
		bytes ? num_bytes(json_number_value(bytes)).s : "?");
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		double ns = tree_num(h, keys[i]);

		fprintf(out, " %7s", isnan(ns) ? "-" : num_ns(ns).s);
	}
	fputc('\n', out);
}

static void print_head(const struct page *page, const struct table *table)
{
	page_paint(page, PAINT_HEAD);
	fprintf(page->out, "  %-25s %9s %9s %7s %7s %7s %7s\n", table->of, table->count, "bytes",
		"mean", "p50", "p99", "max");
	page_paint(page, PAINT_NONE);
}

/* The rows [from, to) are of one device, or for --by device of all. */
static void print_table(const struct page *page, const struct report *r, const struct table *table,
			size_t from, size_t to)
{
	size_t most = SIZE_MAX, shown = 0, told = 0, hidden = 0;

	if (breakdown_options(r->by)->key == BY_PROCESS)
		most = (size_t)page->look->top;
	for (size_t i = from; i < to; i++) {
		const struct breakdown_row *group = breakdown_row(r->by, i);
		bool bios = table == &tables[0];
		char label[64];
		json_t *row;

		if (!(bios ? group->bios.count : group->requests.count))
			continue;
		if (group->kind == ROW_TOLD && told >= most) {
			hidden++;
			continue;
		}
		if (!shown)
			print_head(page, table);
		row = by_row(r, i);
		label_of(label, sizeof(label), r, row, group);
		print_row(page->out, label, row, table);
		json_decref(row);
		shown++;
		told += group->kind == ROW_TOLD;
	}
	if (hidden)
		page_printf(page, "", "and %zu more (--top %zu)", hidden, told + hidden);
}

/* "of the slowest, 13 requests of 26.6 ms or more, d2c has 60.0 %, ..."; the largest shares. */
static void print_tail(const struct page *page, const char *label, const json_t *row)
{
	const json_t *tail = tree_at(row, "tail");
	char *text = mem_strdup(""), *longer;
	const char *key;
	json_t *share;

	json_object_foreach((json_t *)tree_at(tail, "shares"), key, share)
	{
		double part = json_number_value(share);

		if (part < LEAST_SHARE)
			continue;
		longer = mem_printf("%s%s%s %s", text, *text ? ", " : "", key, num_share(part).s);
		free(text);
		text = longer;
	}
	if (tail)
		page_printf(page, "  tail", "%s, %s of %s or more: %s", label,
			    num_of(tree_u64(tail, "n"), "request").s,
			    num_ns(tree_num(tail, "from_ns")).s, text);
	free(text);
}

static void print_tails(const struct page *page, const struct report *r, size_t from, size_t to)
{
	for (size_t i = from; i < to && breakdown_has_tails(r->by); i++) {
		const struct breakdown_row *group = breakdown_row(r->by, i);
		json_t *row = by_row(r, i);
		char label[64];

		label_of(label, sizeof(label), r, row, group);
		print_tail(page, label, row);
		json_decref(row);
	}
}

static void print_groups(const struct page *page, const struct report *r, size_t from, size_t to)
{
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		print_table(page, r, &tables[i], from, to);
	print_tails(page, r, from, to);
}

static void print_heading(const struct page *page, const struct report *r, const char *name)
{
	static const char *const headings[BY_NR] = {
		[BY_DEVICE] = "BY DEVICE", [BY_CLASS] = "BY CLASS", [BY_PROCESS] = "BY PROCESS",
		[BY_SIZE] = "BY SIZE",     [BY_CPU] = "BY CPU",     [BY_WINDOW] = "BY WINDOW",
	};
	const struct breakdown_options *o = breakdown_options(r->by);

	page_paint(page, PAINT_HEAD);
	fprintf(page->out, "\n%s%s%s", headings[o->key], name ? ", DEVICE " : "", name ? name : "");
	page_paint(page, PAINT_NONE);
	if (o->key == BY_WINDOW)
		fprintf(page->out, ", of %s, by when the I/O was queued",
			num_ns((double)o->slice_ns).s);
	if (o->key == BY_CPU)
		fputs(", of Q and of the first D", page->out);
	fputc('\n', page->out);
}

static void legend(const struct page *page, const struct report *r)
{
	static const char *const untold[BY_NR] = {
		[BY_PROCESS] = "unknown: flush commands, and requests whose bios were not seen",
		[BY_SIZE] = "unknown: this input does not tell the length",
		[BY_CPU] = "unknown: this input does not tell the CPU",
		[BY_WINDOW] = "unknown: when they began was not seen",
	};
	bool kinds[ROW_OTHERS + 1] = { false };

	for (size_t i = 0; i < breakdown_nr(r->by); i++)
		kinds[breakdown_row(r->by, i)->kind] = true;
	if (kinds[ROW_UNTOLD])
		page_para(page, PAINT_NONE, "", untold[breakdown_options(r->by)->key]);
	if (kinds[ROW_OTHERS])
		page_printf(page, "", "others: all that came after the first %s groups",
			    num_count(BREAKDOWN_ROWS).s);
	if (breakdown_has_tails(r->by) && breakdown_nr(r->by))
		page_para(page, PAINT_NONE, "",
			  "tail: of the slowest 1 % of the requests (r_q2c) the mean share of each "
			  "phase");
	if (!breakdown_nr(r->by))
		page_para(page, PAINT_NONE, "", "no I/O was seen to end");
}

void page_by(const struct page *page, const json_t *tree)
{
	const struct report *r = page->look->report;
	size_t nr = r && r->by ? breakdown_nr(r->by) : 0, from = 0;
	bool whole = r && r->by && breakdown_options(r->by)->key == BY_DEVICE;

	if (!r || !r->by)
		return;
	if (whole || !nr) {
		print_heading(page, r, NULL);
		print_groups(page, r, 0, nr);
	}
	for (size_t i = 1; !whole && i <= nr; i++) {
		uint16_t dev = breakdown_row(r->by, from)->dev;
		char *name;

		if (i < nr && breakdown_row(r->by, i)->dev == dev)
			continue;
		name = device_label(r->facts, r->sum->devices[dev].device);
		print_heading(page, r, name);
		print_groups(page, r, from, i);
		free(name);
		from = i;
	}
	legend(page, r);
}
