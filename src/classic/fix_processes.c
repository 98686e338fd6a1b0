/* SPDX-License-Identifier: MIT
 *
 * -s of --fix: a block per process, or per name with -h.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "classic/fix.h"
#include "classic/statistics.h"

#define NS_PER_US 1000u

struct entry {
	const char *name; /* borrowed */
	uint32_t pid;
	bool more_pids;
	struct fix_rows rows;
	uint64_t longest_ns[NR_TIMED][2];
};

static int by_name(const void *va, const void *vb)
{
	const struct entry *a = va, *b = vb;
	int way = strverscmp(a->name, b->name);

	return way ? way : (a->pid > b->pid) - (a->pid < b->pid);
}

/* -S: in lower case by number, in upper case by size; r of reads, w of writes queued, q both, c
 * completed. */
static uint64_t sort_value(const struct entry *e, char key)
{
	char letter = (char)tolower((unsigned char)key);
	const struct class_count *c =
		letter == 'c' ? e->rows.counts.completed : e->rows.counts.bios;
	uint64_t sum = 0;

	for (int i = 0; i < CLASS_NR; i++)
		if ((letter != 'r' || i == CLASS_READ) && (letter != 'w' || i == CLASS_WRITE))
			sum += letter == key ? c[i].count : c[i].bytes;
	return sum;
}

static int by_value(const void *va, const void *vb, void *vkey)
{
	char key = *(const char *)vkey;
	uint64_t a = sort_value(va, key), b = sort_value(vb, key);

	return a != b ? (a > b) - (a < b) : by_name(va, vb);
}

static bool is_idle(const struct io_counts *c)
{
	static const struct io_counts none;

	return !memcmp(c, &none, sizeof(none));
}

static void set_waits(struct entry *e, const struct hash *waits)
{
	const struct hnode *node = hash_find(waits, e->pid);

	if (node)
		memcpy(e->longest_ns, container_of(node, struct fix_waits, by_pid)->longest_ns,
		       sizeof(e->longest_ns));
}

static struct entry entry_of(const struct fix_result *result, const struct process_sum *p)
{
	const char *name = names_get(&result->facts->names, p->pid, p->last_ns);
	struct entry e = { .name = name ? name : "unknown", .pid = p->pid };

	e.rows.counts = *p->counts;
	e.rows.known = (struct fix_known){
		.bios = true, .requests = true, .merges = true, .bytes = !p->bytes_unknown
	};
	set_waits(&e, result->waits);
	return e;
}

/* In order of names: the lowest pid stays. */
static size_t join_names(struct entry *list, size_t nr)
{
	size_t left = 0;

	for (size_t i = 0; i < nr; i++) {
		struct entry *last = left ? &list[left - 1] : NULL;

		if (!last || strcmp(last->name, list[i].name)) {
			list[left++] = list[i];
			continue;
		}
		last->more_pids = true;
		last->rows.known.bytes &= list[i].rows.known.bytes;
		io_counts_add(&last->rows.counts, &list[i].rows.counts);
		for (int w = 0; w < NR_TIMED; w++)
			for (int d = 0; d < 2; d++)
				if (last->longest_ns[w][d] < list[i].longest_ns[w][d])
					last->longest_ns[w][d] = list[i].longest_ns[w][d];
	}
	return left;
}

static void print_entry(struct out *out, const struct entry *e, bool grouped)
{
	out_printf(out, "%s (%u%s)\n", e->name, e->pid, e->more_pids ? ", ..." : "");
	fix_rows(out, &e->rows, grouped);
	statistics_waits(out, e->longest_ns, grouped);
}

void fix_processes(struct out *out, const struct fix_result *result, bool grouped)
{
	const struct summary *sum = result->sum;
	char key = result->o->sort;
	struct entry *list = NULL;
	size_t nr = 0;

	for (size_t i = 0; i < sum->nr_processes; i++) {
		if (is_idle(sum->processes[i]->counts))
			continue;
		list = mem_grow(list, nr, sizeof(*list));
		list[nr++] = entry_of(result, sum->processes[i]);
	}
	if (nr > 1)
		qsort(list, nr, sizeof(*list), by_name);
	if (result->o->by_name)
		nr = join_names(list, nr);
	if (nr > 1 && key && key != 'N')
		qsort_r(list, nr, sizeof(*list), by_value, &key);
	for (size_t i = 0; i < nr; i++)
		print_entry(out, &list[i], grouped);
	out_printf(out, "\n");
	free(list);
}
