/* SPDX-License-Identifier: MIT
 *
 * One block of counters in the classic's columns.
 */
#include <stddef.h>
#include <stdio.h>

#include "classic/fix.h"
#include "classic/statistics.h"

#define NR(array) (sizeof(array) / sizeof(*(array)))

#define LEFT_WIDTH  18 /* of the labels */
#define RIGHT_WIDTH 19

static struct shown unknown(void)
{
	return (struct shown){ "     n/a" };
}

/* The classic's rule: above a million the next unit. The suffix, as wide for all. */
static struct shown scaled(uint64_t n, unsigned int step, const char *units, const char *suffix,
			   bool grouped)
{
	struct shown shown, number;

	while (n > 1000000 && units[1]) {
		n /= step;
		units++;
	}
	number = statistics_number(n, COLUMNS, grouped);
	snprintf(shown.text, sizeof(shown.text), "%.40s%.1s%s", number.text,
		 *units == ' ' ? "" : units, suffix);
	return shown;
}

static struct shown count_text(bool known, uint64_t n, bool grouped)
{
	return known ? scaled(n, 1000, " KMGTP", "", grouped) : unknown();
}

static struct shown size_text(bool known, uint64_t bytes, bool grouped)
{
	return known ? scaled(bytes >> 10, 1024, "KMGTP", "iB", grouped) : unknown();
}

/* A class of its own, or the left or right half of a row. */
struct half {
	char label[24];
	bool known, sized, bytes_known;
	uint64_t count, bytes;
};

static void print_half(struct out *out, const struct half *half, int width, bool grouped)
{
	out_printf(out, "%-*s%s", width, half->label,
		   count_text(half->known, half->count, grouped).text);
	if (half->sized)
		out_printf(out, ", %s",
			   size_text(half->known && half->bytes_known, half->bytes, grouped).text);
}

/* `filler` keeps the right half in its column where the left one has no size. */
static void print_halves(struct out *out, const struct half *left, const char *filler,
			 const struct half *right, bool grouped)
{
	print_half(out, left, LEFT_WIDTH, grouped);
	out_printf(out, "%s\t", left->sized ? "" : filler);
	print_half(out, right, RIGHT_WIDTH, grouped);
	out_printf(out, "\n");
}

#define TABS   "\t"
#define BLANKS "        "

/* The label is of two words. */
static struct half counted(const char *a, const char *b, bool known, uint64_t count)
{
	struct half half = { .known = known, .count = count };

	snprintf(half.label, sizeof(half.label), " %s %s:", a, b);
	return half;
}

static struct half sized(const char *a, const char *b, bool known, bool bytes_known,
			 const struct class_count *c)
{
	struct half half = counted(a, b, known, c->count);

	half.sized = true;
	half.bytes_known = bytes_known;
	half.bytes = c->bytes;
	return half;
}

static void print_pair(struct out *out, const struct half *left, const struct half *right,
		       bool grouped)
{
	print_halves(out, left, BLANKS, right, grouped);
}

static uint64_t requeues(const struct io_counts *c, enum io_class class)
{
	return c->requeues_busy[class] + c->requeues_failed[class];
}

/* Completed are bios where there are no requests. */
static bool completed_known(const struct fix_known *known, const struct io_counts *c,
			    enum io_class class)
{
	return known->requests || known->bios || c->completed[class].count;
}

/* ---- reads and writes ---- */

static void print_two(struct out *out, const char *reads, const char *writes, const char *what,
		      const struct class_count *c, bool known, bool bytes_known, bool grouped)
{
	struct half left = sized(reads, what, known, bytes_known, &c[CLASS_READ]);
	struct half right = sized(writes, what, known, bytes_known, &c[CLASS_WRITE]);

	print_halves(out, &left, "", &right, grouped);
}

static void print_reads_and_writes(struct out *out, const struct fix_rows *rows, bool grouped)
{
	const struct fix_known *known = &rows->known;
	const struct io_counts *c = &rows->counts;
	struct half left = counted("Reads", "Requeued", known->requests, requeues(c, CLASS_READ));
	struct half right =
		counted("Writes", "Requeued", known->requests, requeues(c, CLASS_WRITE));

	print_two(out, "Reads", "Writes", "Queued", c->bios, known->bios, known->bytes, grouped);
	print_two(out, "Read", "Write", "Dispatches", c->requests, known->requests, known->bytes,
		  grouped);
	print_halves(out, &left, TABS, &right, grouped);
	print_two(out, "Reads", "Writes", "Completed", c->completed,
		  completed_known(known, c, CLASS_READ), known->bytes, grouped);
	print_two(out, "Read", "Write", "Merges", c->merges, known->merges, known->bytes, grouped);
}

static void print_left(struct out *out, const struct half *half, bool grouped)
{
	print_half(out, half, LEFT_WIDTH, grouped);
	out_printf(out, "\n");
}

static void print_depths(struct out *out, const struct fix_rows *rows, bool grouped)
{
	const uint32_t *max = rows->depths.max;
	bool known = rows->known.depth;
	struct half left = counted("Read", "depth", known, max[DEPTH_READ]);
	struct half right = counted("Write", "depth", known, max[DEPTH_WRITE]);
	struct half all = counted("Whole", "depth", known, max[DEPTH_ALL]);

	if (!rows->with_depth)
		return;
	print_pair(out, &left, &right, grouped);
	print_left(out, &all, grouped);
}

/* ---- what the classic folds into reads and writes ---- */

static const struct {
	enum io_class class;
	const char *name;
	bool sized, completion_sized;
} others[] = {
	{ CLASS_FLUSH, "Flushes", false, false },       { CLASS_DISCARD, "Discards", true, true },
	{ CLASS_WRITE_ZEROES, "W.Zeroes", true, true }, { CLASS_ZONE, "Zone ops", true, true },
	{ CLASS_PASSTHROUGH, "PC", true, false },       { CLASS_OTHER, "Others", true, true },
};

static bool any(const struct io_counts *c, enum io_class class)
{
	return c->bios[class].count || c->requests[class].count || c->completed[class].count ||
	       c->merges[class].count || requeues(c, class);
}

static void print_class(struct out *out, const struct fix_rows *rows, size_t i, bool grouped)
{
	const struct fix_known *known = &rows->known;
	const struct io_counts *c = &rows->counts;
	enum io_class class = others[i].class;
	const char *name = others[i].name;
	struct half queued = sized(name, "Queued", known->bios, known->bytes, &c->bios[class]);
	struct half issued =
		sized(name, "Disp.", known->requests, known->bytes, &c->requests[class]);
	struct half requeued = counted(name, "Req.", known->requests, requeues(c, class));
	struct half ended = sized(name, "Compl.", completed_known(known, c, class), known->bytes,
				  &c->completed[class]);
	struct half merged = sized(name, "Merged", known->merges, known->bytes, &c->merges[class]);

	queued.sized = issued.sized = merged.sized = others[i].sized;
	ended.sized = others[i].completion_sized;
	print_halves(out, &queued, BLANKS, &issued, grouped);
	print_halves(out, &requeued, TABS, &ended, grouped);
	if (!c->merges[class].count)
		return;
	print_left(out, &merged, grouped);
}

/* ---- rarer things, where there are any ---- */

static uint64_t sum_of(const uint64_t *by_class)
{
	uint64_t sum = 0;

	for (int c = 0; c < CLASS_NR; c++)
		sum += by_class[c];
	return sum;
}

static void print_rare(struct out *out, const struct fix_rows *rows, bool grouped)
{
	const struct io_counts *c = &rows->counts;
	struct half busy = counted("Requeued,", "busy", true, sum_of(c->requeues_busy));
	struct half failed = counted("Requeued,", "failed", true, sum_of(c->requeues_failed));
	struct half retries = counted("NOWAIT", "retries", true, c->nowait_retries);
	struct half merged = counted("Request", "merges", true, c->rq_merges);
	struct half splits = counted("Bio", "splits", true, rows->splits);

	if (busy.count || failed.count)
		print_pair(out, &busy, &failed, grouped);
	if (retries.count || merged.count)
		print_pair(out, &retries, &merged, grouped);
	if (splits.count)
		print_left(out, &splits, grouped);
}

void fix_rows(struct out *out, const struct fix_rows *rows, bool grouped)
{
	bool known = rows->known.unplugs;
	struct half io = counted("IO", "unplugs", known, rows->unplugs);
	struct half timer = counted("Timer", "unplugs", known, rows->timer_unplugs);

	print_reads_and_writes(out, rows, grouped);
	print_depths(out, rows, grouped);
	for (size_t i = 0; i < NR(others); i++)
		if (any(&rows->counts, others[i].class))
			print_class(out, rows, i, grouped);
	print_rare(out, rows, grouped);
	print_pair(out, &io, &timer, grouped);
}
