/* SPDX-License-Identifier: MIT */
#include "classic/statistics.h"

#include <inttypes.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"

#define NS_PER_MS 1000000u

struct row {
	const char *left, *right;
	enum counted what;
	bool sized;
};

static const struct row fs_rows[] = {
	{ " Reads Queued:    ", " Writes Queued:    ", COUNT_QUEUED, true },
	{ " Read Dispatches: ", " Write Dispatches: ", COUNT_DISPATCHED, true },
	{ " Reads Requeued:  ", " Writes Requeued:  ", COUNT_REQUEUED, false },
	{ " Reads Completed: ", " Writes Completed: ", COUNT_COMPLETED, true },
	{ " Read Merges:     ", " Write Merges:     ", COUNT_MERGED, true },
};

static const struct row pc_rows[] = {
	{ " PC Reads Queued: ", " PC Writes Queued: ", COUNT_QUEUED, true },
	{ " PC Read Disp.:   ", " PC Write Disp.:   ", COUNT_DISPATCHED, true },
	{ " PC Reads Req.:   ", " PC Writes Req.:   ", COUNT_REQUEUED, false },
	{ " PC Reads Compl.: ", " PC Writes Compl.: ", COUNT_COMPLETED, false },
};

#define NR(array) (sizeof(array) / sizeof(*(array)))

/* The locale is put back at once: decimal points are printed elsewhere. (newlocale would not touch it, but
 * leaks in glibc 2.36 where LOCPATH is set.) */
static bool locale_groups(void)
{
	char *before = mem_strdup(setlocale(LC_NUMERIC, NULL));
	bool groups = setlocale(LC_NUMERIC, "en_US") && *localeconv()->thousands_sep;

	setlocale(LC_NUMERIC, before);
	free(before);
	return groups;
}

bool statistics_grouped(const struct blkparse_options *o)
{
	return o->group == GROUP_LOCALE ? locale_groups() : o->group == GROUP_YES;
}

struct shown statistics_number(uint64_t n, int width, bool grouped)
{
	char digits[24];
	int len = snprintf(digits, sizeof(digits), "%" PRIu64, n), commas, at = 0;
	struct shown shown;

	commas = grouped ? (len - 1) / 3 : 0;
	while (at + len + commas < width)
		shown.text[at++] = ' ';
	for (int i = 0; i < len; i++) {
		if (grouped && i && (len - i) % 3 == 0)
			shown.text[at++] = ',';
		shown.text[at++] = digits[i];
	}
	shown.text[at] = '\0';
	return shown;
}

/* Behind the number the letter of `units` for it; in thousands, where there is no T. */
static struct shown scaled(uint64_t n, const char *units, bool grouped)
{
	struct shown shown, number;

	while (n > 1000000 && units[1]) {
		n /= 1000;
		units++;
	}
	number = statistics_number(n, COLUMNS, grouped);
	snprintf(shown.text, sizeof(shown.text), "%.40s%.1s", number.text,
		 *units == ' ' ? "" : units);
	return shown;
}

static struct shown number_of(const struct count *c, bool grouped)
{
	return scaled(c->nr, " KMGP", grouped);
}

static struct shown size_of(const struct count *c, bool grouped)
{
	return scaled(c->kib + (c->bytes >> 10), "KMGP", grouped);
}

static void print_row(struct out *out, const struct row *row, const struct count *c, bool grouped)
{
	if (row->sized)
		out_printf(out, "%s%s, %siB\t%s%s, %siB\n", row->left,
			   number_of(&c[0], grouped).text, size_of(&c[0], grouped).text, row->right,
			   number_of(&c[1], grouped).text, size_of(&c[1], grouped).text);
	else
		out_printf(out, "%s%s\t\t%s%s\n", row->left, number_of(&c[0], grouped).text,
			   row->right, number_of(&c[1], grouped).text);
}

static void print_pair(struct out *out, const char *left, uint64_t l, const char *right, uint64_t r,
		       bool grouped)
{
	out_printf(out, "%s%s        \t%s%s\n", left, statistics_number(l, COLUMNS, grouped).text,
		   right, statistics_number(r, COLUMNS, grouped).text);
}

static bool any_pc(const struct counters *c)
{
	for (size_t i = 0; i < NR(pc_rows); i++) {
		const struct count *pc = c->pc[pc_rows[i].what];

		if (pc[0].nr || pc[1].nr)
			return true;
	}
	return false;
}

void statistics_counters(struct out *out, const struct counters *c, const uint64_t *depth,
			 bool grouped)
{
	for (size_t i = 0; i < NR(fs_rows); i++)
		print_row(out, &fs_rows[i], c->fs[fs_rows[i].what], grouped);
	if (depth)
		print_pair(out, " Read depth:      ", depth[0], " Write depth:      ", depth[1],
			   grouped);
	for (size_t i = 0; any_pc(c) && i < NR(pc_rows); i++)
		print_row(out, &pc_rows[i], c->pc[pc_rows[i].what], grouped);
	print_pair(out, " IO unplugs:      ", c->unplugs, " Timer unplugs:    ", c->timer_unplugs,
		   grouped);
}

/* Per second, by the classic's arithmetic: the bytes below a KiB are added as if they were KiB of a
 * millisecond, and what is negative is huge. */
static struct shown rate(const struct count *completed, uint64_t ms, bool grouped)
{
	return statistics_number(ms ? (1000 * completed->kib + completed->bytes) / ms : 0, 0,
				 grouped);
}

static void print_end(struct out *out, const struct device *d, const struct counters *total,
		      bool grouped)
{
	const struct count *completed = total->fs[COUNT_COMPLETED];
	uint64_t ms = (d->last_read_ns - d->first_shown_ns) / NS_PER_MS;
	struct shown reads = rate(&completed[0], ms, grouped),
		     writes = rate(&completed[1], ms, grouped);
	struct shown events = statistics_number(d->events, 0, grouped),
		     skips = statistics_number(d->skips, 0, grouped),
		     skipped = statistics_number(d->skipped, 0, grouped);
	double percent = 0;

	if (d->skipped)
		percent = 100.0 * (double)d->skipped / (double)(d->skipped + d->events);
	out_printf(out, "\nThroughput (R/W): %sKiB/s / %sKiB/s\n", reads.text, writes.text);
	out_printf(out, "Events (%s): %s entries\n", d->name, events.text);
	out_printf(out, "Skips: %s forward (%s - %5.1f%%)\n", skips.text, skipped.text, percent);
}

static void print_device(struct out *out, const struct device *d, bool grouped)
{
	struct counters total = { 0 };
	unsigned int blocks = 0;

	for (size_t i = 0; i < d->nr_cpus; i++) {
		const struct cpu *cpu = &d->cpus[i];

		if (!cpu->events)
			continue;
		counters_add(&total, &cpu->counters);
		blocks++;
		out_printf(out, "CPU%u (%s):\n", cpu->number, d->name);
		statistics_counters(out, &cpu->counters, d->most_depth, grouped);
	}
	if (blocks > 1) {
		out_printf(out, "\nTotal (%s):\n", d->name);
		statistics_counters(out, &total, NULL, grouped);
	}
	print_end(out, d, &total, grouped);
}

void statistics_devices(struct out *out, const struct device *devices, size_t nr, bool grouped)
{
	for (size_t i = 0; i < nr; i++) {
		if (i)
			out_printf(out, "\n");
		print_device(out, &devices[i], grouped);
	}
}
