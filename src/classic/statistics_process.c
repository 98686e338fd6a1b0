/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "classic/statistics.h"

#define NS_PER_US 1000u

static int by_name(const void *va, const void *vb)
{
	const struct process *a = *(struct process *const *)va, *b = *(struct process *const *)vb;
	int way = strverscmp(a->name, b->name);

	if (way)
		return way;
	/* the classic's pids have a sign */
	return ((int32_t)a->pid > (int32_t)b->pid) - ((int32_t)a->pid < (int32_t)b->pid);
}

/* ---- -S, of 1.3 ---- */

static uint64_t sort_value(const struct process *p, char key)
{
	bool completed = key == 'C' || key == 'c';
	const struct count *c = p->counters.fs[completed ? COUNT_COMPLETED : COUNT_QUEUED];
	uint64_t of[2];

	for (int i = 0; i < 2; i++)
		of[i] = islower((unsigned char)key) ? c[i].nr : c[i].kib + (c[i].bytes >> 10);
	switch (toupper((unsigned char)key)) {
	case 'R':
		return of[0];
	case 'W':
		return of[1];
	default:
		return of[0] + of[1];
	}
}

static int by_value(const void *va, const void *vb, void *vkey)
{
	char key = *(const char *)vkey;
	uint64_t a = sort_value(*(struct process *const *)va, key);
	uint64_t b = sort_value(*(struct process *const *)vb, key);

	return a != b ? (a > b) - (a < b) : by_name(va, vb);
}

static void sort(struct processes *processes, char key)
{
	if (processes->nr < 2)
		return;
	if (!key || key == 'N')
		qsort(processes->all, processes->nr, sizeof(*processes->all), by_name);
	else
		qsort_r(processes->all, processes->nr, sizeof(*processes->all), by_value, &key);
}

/* ---- blocks ---- */

void statistics_waits(struct out *out, const uint64_t (*longest_ns)[2], bool grouped)
{
	static const char *const labels[NR_TIMED][2] = {
		[TIMED_ALLOCATION] = { " Allocation wait: ", " Allocation wait:  " },
		[TIMED_DISPATCH] = { " Dispatch wait:   ", " Dispatch wait:    " },
		[TIMED_COMPLETION] = { " Completion wait: ", " Completion wait:  " },
	};

	for (int i = 0; i < NR_TIMED; i++) {
		const uint64_t *ns = longest_ns[i];

		out_printf(out, "%s%s        \t%s%s\n", labels[i][0],
			   statistics_number(ns[0] / NS_PER_US, COLUMNS, grouped).text,
			   labels[i][1],
			   statistics_number(ns[1] / NS_PER_US, COLUMNS, grouped).text);
	}
}

void statistics_processes(struct out *out, struct processes *processes, struct comms *comms,
			  const struct blkparse_options *o, bool grouped)
{
	sort(processes, o->sort);
	for (size_t i = 0; i < processes->nr; i++) {
		const struct process *p = processes->all[i];

		out_printf(out, "%s (%u%s)\n", p->name, p->pid, p->more_pids ? ", ..." : "");
		statistics_counters(out, &p->counters, NULL, grouped);
		statistics_waits(out, p->longest_ns, grouped);
	}
	out_printf(out, "\n");
}
