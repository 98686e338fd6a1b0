/* SPDX-License-Identifier: MIT
 *
 * The tables of times: per process, per device, and of all. Each time is added up once, by process and
 * device; what the tables show are sums of those, so that which devices are bio-based (rows "dm") may be
 * known only at the end. Times of a bio count when it has ended, all at once, so that they are parts of
 * the same Q2C; of a device whose trace has no ends at all, those until D count at D.
 */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "classic/btt_names.h"
#include "classic/btt_parts.h"
#include "classic/btt_tables.h"

#define NS_PER_S 1e9

enum kind { Q2G, S2G, G2I, Q2M, I2D, M2D, NR_UNTIL_D, D2C = NR_UNTIL_D, Q2C, Q2A, Q2Q, NR_KINDS };

/* The rows, in the order of the tables. */
struct row {
	const char *name;
	enum kind kind;
	bool remappers; /* of bio-based devices, as `others` of others */
	bool others;
	bool all_only; /* not by process nor device */
};

static const struct row rows[] = {
	{ "Q2Qdm", Q2Q, .remappers = true },
	{ "Q2Adm", Q2A, .remappers = true },
	{ "Q2Cdm", Q2C, .remappers = true },
	{ "Q2Q", Q2Q, .others = true },
	{ "Q2A", Q2A, .others = true },
	{ "Q2G", Q2G, .remappers = true, .others = true },
	{ "S2G", S2G, .remappers = true, .others = true },
	{ "G2I", G2I, .remappers = true, .others = true },
	{ "Q2M", Q2M, .remappers = true, .others = true },
	{ "I2D", I2D, .remappers = true, .others = true },
	{ "M2D", M2D, .remappers = true, .others = true, .all_only = true },
	{ "D2C", D2C, .remappers = true, .others = true },
	{ "Q2C", Q2C, .others = true },
};
#define NR_ROWS (sizeof(rows) / sizeof(rows[0]))
#define NR_DM   3 /* rows in front of the empty line */

struct process_row {
	struct hnode by_name;
	const char *name;
	uint64_t last_queue_ns; /* TIME_NONE: none yet */
	struct cell *cells;
};

/* Of one process on one device; Q2Q since the process's last Q. */
struct cell {
	struct hnode by_key;
	struct process_row *process;
	const struct btt_device *dev;
	struct cell *of_process, *of_device, *of_all; /* the next ones */
	struct device_row *row;                       /* the device's */
	struct extent times[NR_KINDS];
	struct extent issued[NR_UNTIL_D]; /* of bios that were issued, until the first one ends */
};

/* Of one device: Q2Q since its own last Q, and since the last of all. */
struct device_row {
	uint64_t last_queue_ns;
	bool queued, ended; /* some bio was, some has */
	struct extent since_own, since_any;
	struct cell *cells;
};

struct times {
	struct btt *b;
	struct hash processes, cells;
	struct slab process_slab, cell_slab;
	struct process_row **list; /* owned array */
	size_t nr;
	struct cell *all, *last;  /* all of them; the last one used */
	struct by_device devices; /* struct device_row */
	uint64_t last_queue_ns;
};

static void *times_new(struct btt *b)
{
	struct times *t = mem_zalloc(sizeof(*t));

	*t = (struct times){ .b = b,
			     .devices = { .size = sizeof(struct device_row) },
			     .last_queue_ns = TIME_NONE };
	hash_init(&t->processes);
	hash_init(&t->cells);
	slab_init(&t->process_slab, sizeof(struct process_row));
	slab_init(&t->cell_slab, sizeof(struct cell));
	return t;
}

static void times_free(void *self)
{
	struct times *t = self;

	hash_release(&t->processes);
	hash_release(&t->cells);
	slab_release(&t->process_slab);
	slab_release(&t->cell_slab);
	by_device_release(&t->devices);
	free(t->list);
	free(t);
}

/* ---- counting ---- */

static struct process_row *process_row(struct times *t, const char *name)
{
	struct hnode *node = hash_find(&t->processes, (uintptr_t)name);
	struct process_row *row;

	if (node)
		return container_of(node, struct process_row, by_name);
	row = slab_get(&t->process_slab);
	*row = (struct process_row){ .name = name, .last_queue_ns = TIME_NONE };
	hash_add(&t->processes, &row->by_name, (uintptr_t)name);
	t->list = mem_grow(t->list, t->nr, sizeof(*t->list));
	t->list[t->nr++] = row;
	return row;
}

static struct cell *cell_make(struct times *t, const char *name, const struct btt_device *dev,
			      uint64_t key)
{
	struct cell *cell = slab_get(&t->cell_slab);
	struct process_row *process = process_row(t, name);
	struct device_row *device = by_device(&t->devices, dev);

	*cell = (struct cell){ .process = process,
			       .dev = dev,
			       .row = device,
			       .of_process = process->cells,
			       .of_device = device->cells,
			       .of_all = t->all };
	process->cells = device->cells = t->all = cell;
	hash_add(&t->cells, &cell->by_key, key);
	return cell;
}

/* Of the thread as it was called then. One for all where no table is by process. */
static struct cell *cell_of(struct times *t, const struct btt_device *dev, uint32_t pid,
			    uint64_t time_ns)
{
	const char *name = t->b->o->all_data ? btt_process(t->b, pid, time_ns) : "";
	uint64_t key = (uintptr_t)name ^ (uint64_t)dev->index << 48;
	struct hnode *node;

	if (t->last && t->last->process->name == name && t->last->dev == dev)
		return t->last;
	for (node = hash_find(&t->cells, key); node; node = hash_next(node)) {
		struct cell *cell = container_of(node, struct cell, by_key);

		if (cell->process->name == name && cell->dev == dev) {
			t->last = cell;
			return cell;
		}
	}
	t->last = cell_make(t, name, dev, key);
	return t->last;
}

static void add(struct extent *e, uint64_t from_ns, uint64_t to_ns)
{
	if (from_ns != TIME_NONE && to_ns != TIME_NONE)
		extent_add(e, btt_elapsed(from_ns, to_ns));
}

static void times_event(void *self, struct btt_device *dev, const struct event *ev)
{
	struct times *t = self;
	uint64_t now_ns = t->b->now_ns;
	struct device_row *row;
	struct cell *cell;

	if (ev->action != ACT_QUEUE)
		return;
	row = by_device(&t->devices, dev);
	cell = cell_of(t, dev, ev->pid, now_ns);
	add(&row->since_any, t->last_queue_ns, now_ns);
	add(&row->since_own, row->queued ? row->last_queue_ns : TIME_NONE, now_ns);
	add(&cell->times[Q2Q], cell->process->last_queue_ns, now_ns);
	row->queued = true;
	row->last_queue_ns = cell->process->last_queue_ns = t->last_queue_ns = now_ns;
}

static struct cell *cell_of_bio(struct times *t, const struct btt_device *dev,
				const struct io_bio *bio)
{
	return cell_of(t, dev, bio->pid, btt_ns(t->b, bio->queue_ns));
}

static void times_remapped(void *self, struct btt_device *dev, struct io_bio *bio,
			   const struct event *ev)
{
	struct times *t = self;

	add(&cell_of_bio(t, dev, bio)->times[Q2A], bio->queue_ns, ev->time_ns);
}

/* What comes before its D. */
static void add_beginning(struct extent *times, const struct io_bio *bio)
{
	uint64_t insert_ns = bio->insert_ns;

	add(&times[Q2G], bio->queue_ns, bio->get_ns);
	add(&times[S2G], bio->sleep_ns, bio->get_ns);
	add(&times[G2I], bio->get_ns, insert_ns);
	add(&times[Q2M], bio->queue_ns, bio->merge_ns);
	add(&times[I2D], insert_ns, bio->issue_ns);
	if (insert_ns == TIME_NONE)
		add(&times[M2D], bio->merge_ns, bio->issue_ns);
}

static void times_issued(void *self, struct btt_device *dev, struct io_bio *bio,
			 const struct event *ev)
{
	struct times *t = self;
	const struct device_row *row = by_device(&t->devices, dev);

	if (!row->ended)
		add_beginning(cell_of_bio(t, dev, bio)->issued, bio);
}

static void times_ended(void *self, struct btt_device *dev, const struct io_bio *bio,
			const struct event *ev)
{
	struct times *t = self;
	struct cell *cell;

	if (bio->left_out)
		return; /* which completion is its own is not known */
	cell = cell_of_bio(t, dev, bio);
	cell->row->ended = true;
	add_beginning(cell->times, bio);
	add(&cell->times[D2C], bio->last_issue_ns, bio->data_ns);
	add(&cell->times[Q2C], bio->queue_ns, bio->complete_ns);
}

/* ---- tables ---- */

static void print_head(FILE *out, const char *name)
{
	fprintf(out, "%15s %13s %13s %13s %11s\n", name, "MIN", "AVG", "MAX", "N");
	fputs("--------------- ------------- ------------- ------------- -----------\n", out);
}

/* Divided in the classic's order, so that the last digit is rounded as there. */
static double mean_s(const struct extent *e)
{
	return (double)e->sum / NS_PER_S / (double)e->n;
}

static void print_row(FILE *out, const char *label, const struct extent *e)
{
	if (!e->n)
		return;
	fprintf(out, "%-15.14s %13.9f %13.9f %13.9f %11llu\n", label, (double)e->min / NS_PER_S,
		mean_s(e), (double)e->max / NS_PER_S, (unsigned long long)e->n);
}

static bool is_in(const struct row *row, const struct btt_device *dev)
{
	return dev->remapper ? row->remappers : row->others;
}

static void merge_cell(struct extent *sum, const struct row *row, const struct cell *cell)
{
	bool of_issued = row->kind < NR_UNTIL_D && !cell->row->ended;

	if (is_in(row, cell->dev))
		extent_merge(sum, of_issued ? &cell->issued[row->kind] : &cell->times[row->kind]);
}

static struct extent of_process(const struct row *row, const struct process_row *process)
{
	struct extent sum = { 0 };

	for (const struct cell *cell = process->cells; cell; cell = cell->of_process)
		merge_cell(&sum, row, cell);
	return sum;
}

static struct extent of_device(const struct times *t, const struct row *row,
			       const struct btt_device *dev)
{
	const struct device_row *d = by_device_known(&t->devices, dev);
	struct extent sum = { 0 };

	if (!d || !is_in(row, dev))
		return sum;
	if (row->kind == Q2Q)
		return d->since_own;
	for (const struct cell *cell = d->cells; cell; cell = cell->of_device)
		merge_cell(&sum, row, cell);
	return sum;
}

static struct extent of_all(const struct times *t, const struct row *row)
{
	struct extent sum = { 0 };

	for (const struct cell *cell = t->all; row->kind != Q2Q && cell; cell = cell->of_all)
		merge_cell(&sum, row, cell);
	for (size_t i = 0; row->kind == Q2Q && i < t->b->nr_devices; i++) {
		const struct btt_device *dev = t->b->devices[i];
		const struct device_row *d = by_device_known(&t->devices, dev);

		if (d && is_in(row, dev))
			extent_merge(&sum, &d->since_any);
	}
	return sum;
}

static void print_process(const struct times *t, const struct row *row,
			  const struct process_row *process)
{
	struct extent sum = of_process(row, process);

	print_row(t->b->avg, process->name, &sum);
}

/* In the order of -e, else by name. */
static void process_table(const struct times *t, const struct row *row)
{
	const struct btt_options *o = t->b->o;

	for (size_t wanted = 0; wanted < o->nr_processes; wanted++)
		for (size_t i = 0; i < t->nr; i++)
			if (btt_process_is(t->list[i]->name, o->processes[wanted]))
				print_process(t, row, t->list[i]);
	for (size_t i = 0; !o->nr_processes && i < t->nr; i++)
		print_process(t, row, t->list[i]);
}

static void device_table(const struct times *t, const struct row *row)
{
	const struct btt_device *dev;

	for (size_t at = 0; (dev = btt_shown(t->b, &at)) != NULL;) {
		struct extent sum = of_device(t, row, dev);

		print_row(t->b->avg, btt_row_label(t->b, dev).text, &sum);
	}
}

static void print_tables(const struct times *t, const char *title,
			 void (*table)(const struct times *t, const struct row *row))
{
	FILE *out = t->b->avg;

	btt_title(out, title);
	for (size_t i = 0; i < NR_ROWS; i++) {
		if (rows[i].all_only)
			continue;
		print_head(out, rows[i].name);
		table(t, &rows[i]);
		fputs(i == NR_DM - 1 ? "\n\n" : "\n", out);
	}
}

static void print_all(const struct times *t)
{
	FILE *out = t->b->avg;

	btt_title(out, "All Devices");
	print_head(out, "ALL");
	for (size_t i = 0; i < NR_ROWS; i++) {
		struct extent sum = of_all(t, &rows[i]);

		if (i == NR_DM)
			fputc('\n', out);
		print_row(out, rows[i].name, &sum);
		if (t->b->xvg && i >= NR_DM && sum.n)
			fprintf(t->b->xvg, "%s %.9f %.9f %.9f %llu\n", rows[i].name,
				(double)sum.min / NS_PER_S, mean_s(&sum),
				(double)sum.max / NS_PER_S, (unsigned long long)sum.n);
	}
	fputc('\n', out);
}

static int by_name(const void *a, const void *b)
{
	const struct process_row *const *x = a, *const *y = b;

	return strcmp((*x)->name, (*y)->name);
}

static void times_finish(void *self)
{
	struct times *t = self;

	if (t->nr)
		qsort(t->list, t->nr, sizeof(struct process_row *), by_name);
	if (t->b->o->all_data) {
		if (!t->b->o->no_processes)
			print_tables(t, "Per Process", process_table);
		print_tables(t, "Per Device", device_table);
	}
	print_all(t);
}

const struct btt_part btt_times = {
	.name = "times",
	.new = times_new,
	.event = times_event,
	.remapped = times_remapped,
	.issued = times_issued,
	.ended = times_ended,
	.finish = times_finish,
	.free = times_free,
};
