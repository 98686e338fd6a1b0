// SPDX-License-Identifier: MIT
/* The block of one device on the text page. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "view/num.h"
#include "view/tree.h"

static struct num share(const json_t *dev, const char *path)
{
	return num_share(tree_num(dev, path));
}

static void partitions(const struct page *page, const json_t *list)
{
	char *words = partition_words(list);

	fprintf(page->out, " (only %s %s recorded)\n", words,
		json_array_size(list) == 1 ? "was" : "were");
	free(words);
}

/* "request-based, write cache: write back, 4,321 events"; owned by the caller. */
static char *description(const json_t *dev)
{
	const char *kind = tree_str(dev, "kind"), *cache = tree_str(dev, "write_cache");
	bool known = kind && strcmp(kind, "unknown");

	return mem_printf("%s%s%s%s%s", known ? kind : "", known ? "-based, " : "",
			  cache ? "write cache: " : "", cache ? cache : "", cache ? ", " : "");
}

static void heading(const struct page *page, const json_t *dev)
{
	const char *name = tree_str(dev, "name"), *number = tree_str(dev, "device");
	const json_t *list = tree_at(dev, "partitions");
	char *text = description(dev);

	page_paint(page, PAINT_HEAD);
	fprintf(page->out, "\nDEVICE %s", name ? name : number);
	page_paint(page, PAINT_NONE);
	if (name && number)
		fprintf(page->out, " (%s)", number);
	if (list)
		partitions(page, list);
	fprintf(page->out, "%s%s%s\n", list ? "           " : ", ", text,
		num_of(tree_u64(dev, "events"), "event").s);
	free(text);
}

static void shares(const struct page *page, const json_t *dev)
{
	if (tree_at(dev, "busy_share"))
		page_printf(page, "  time",
			    "busy %s, held %s (I/O waits, device does nothing), idle %s",
			    share(dev, "busy_share").s, share(dev, "held_share").s,
			    share(dev, "idle_share").s);
	else if (tree_at(dev, "recorded_busy_share"))
		page_printf(page, "  time",
			    "recorded I/O at the device %s; how busy the device was is unknown: %s",
			    share(dev, "recorded_busy_share").s, tree_str(dev, "busy_share_why"));
	else
		page_printf(page, "  time", "unknown: %s", tree_str(dev, "busy_share_why"));
}

static void time_line(const struct page *page, const json_t *dev)
{
	double while_busy = tree_num(dev, "depth.mean_while_busy");
	uint64_t silence = tree_u64(dev, "longest_without_completion.duration_ns");
	char *text;

	shares(page, dev);
	if (!tree_at(dev, "depth.mean"))
		return;
	text = isnan(while_busy) ? mem_strdup("")
				 : mem_printf(", %s while busy", num_real(while_busy).s);
	page_printf(page, "  depth", "mean %s%s, max %s%s; no completion for up to %s",
		    num_real(tree_num(dev, "depth.mean")).s, text,
		    num_count(tree_u64(dev, "depth.max")).s,
		    tree_at(dev, "partitions") ? " (of what was recorded)" : "",
		    num_ns((double)silence).s);
	free(text);
	page_depth_over_time(page, dev);
}

/* count, bytes and mean of one class in three columns; "-" for what has no bytes. */
static void three(FILE *out, const json_t *c, bool known)
{
	uint64_t count = tree_u64(c, "count");
	const json_t *bytes = tree_at(c, "bytes");

	if (!bytes)
		bytes = tree_at(c, "affected_bytes");
	if (!known || !tree_at(c, "count")) {
		fprintf(out, " %9s %10s %10s", "-", "-", "-");
		return;
	}
	fprintf(out, " %9s", num_count(count).s);
	if (bytes && count)
		fprintf(out, " %10s %10s", num_bytes(json_number_value(bytes)).s,
			num_bytes(json_number_value(bytes) / (double)count).s);
	else
		fprintf(out, " %10s %10s", "-", "-");
}

static void class_table(const struct page *page, const json_t *dev)
{
	const json_t *bios = tree_at(dev, "bios"), *requests = tree_at(dev, "requests");

	page_paint(page, PAINT_HEAD);
	fprintf(page->out, "  %-12s %9s %10s %10s  %10s %10s %10s\n", "", "bios", "bytes", "mean",
		"requests", "bytes", "mean");
	page_paint(page, PAINT_NONE);
	for (int c = CLASS_READ; c < CLASS_NR; c++) {
		const char *key = class_name((enum io_class)c);
		const json_t *b = tree_at(bios, key), *q = tree_at(requests, key);

		if (!tree_u64(b, "count") && !tree_u64(q, "count"))
			continue;
		fprintf(page->out, "  %-12s", key);
		three(page->out, b, b || !tree_at(bios, "read_why"));
		fputs("  ", page->out);
		three(page->out, q, requests != NULL);
		fputc('\n', page->out);
	}
	if (!requests)
		page_printf(page, "  requests", "unknown: %s", tree_str(dev, "requests_why"));
}

static void merges(const struct page *page, const json_t *dev)
{
	uint64_t retries = tree_u64(dev, "bios.nowait_retries");
	char *more = retries ? mem_printf("; %s NOWAIT retries (no bios)", num_count(retries).s)
			     : mem_strdup("");

	if (tree_at(dev, "merges"))
		page_printf(page, "  merges",
			    "bios: %s back, %s front; whole requests: %s; splits: %s%s",
			    num_count(tree_u64(dev, "merges.back")).s,
			    num_count(tree_u64(dev, "merges.front")).s,
			    num_count(tree_u64(dev, "merges.requests")).s,
			    num_count(tree_u64(dev, "splits")).s, more);
	else
		page_printf(page, "  splits", "%s%s", num_count(tree_u64(dev, "splits")).s, more);
	free(more);
}

static void flush(const struct page *page, const json_t *dev)
{
	uint64_t commands = tree_u64(dev, "flush.commands");
	uint64_t empty = tree_u64(dev, "flush.empty_bios");
	double sharing = tree_num(dev, "flush_sharing");
	const char *cache = tree_str(dev, "write_cache");

	if (!tree_at(dev, "requests"))
		return;
	if (!commands && cache && !strcmp(cache, "write through")) {
		page_para(page, PAINT_NONE, "  flushes",
			  "none seen: with write cache \"write through\" the kernel drops them "
			  "before "
			  "they are queued; fsync may still have been called");
		return;
	}
	if (!commands)
		return;
	page_printf(page, "  flushes",
		    "%s for %s with flush parts and %s flush-only bio%s; parts per command: %s",
		    num_of(commands, "command").s,
		    num_of(tree_u64(dev, "flush.writes_with_parts"), "write").s, num_count(empty).s,
		    empty == 1 ? "" : "s", isnan(sharing) ? "unknown" : num_real(sharing).s);
}

static void requeues(const struct page *page, const json_t *dev)
{
	uint64_t busy = tree_u64(dev, "requeues.busy"), failed = tree_u64(dev, "requeues.failed");

	if (busy || failed)
		page_printf(page, "  requeues", "%s because the driver was busy, %s failed",
			    num_count(busy).s, num_of(failed, "attempt").s);
}

static void errors(const struct page *page, const json_t *dev)
{
	const json_t *list = tree_at(dev, "errors");
	json_t *e;
	size_t i;

	json_array_foreach((json_t *)list, i, e)
	{
		char *text = error_words(e);

		page_para(page, PAINT_BAD, i ? "" : "  errors", text);
		free(text);
	}
}

static void quantile(FILE *out, const json_t *h, const char *key)
{
	double v = tree_num(h, key);

	fprintf(out, " %7s", isnan(v) ? "-" : num_ns(v).s);
}

static void latency_row(FILE *out, const char *key, const json_t *h)
{
	static const char *const keys[] = { "min", "mean", "p50", "p90", "p99", "p999", "max" };

	/* A long label takes from the blanks before n. */
	int width = (int)strlen(key) < 13 ? 13 : (int)strlen(key);

	fprintf(out, "  %-*s %*s", width, key, 21 - width, num_count(tree_u64(h, "n")).s);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		quantile(out, h, keys[i]);
	fputc('\n', out);
}

static void latency_head(const struct page *page, const char *of)
{
	page_paint(page, PAINT_HEAD);
	fprintf(page->out, "  %-13s %8s %7s %7s %7s %7s %7s %7s %7s\n", of, "n", "min", "mean",
		"p50", "p90", "p99", "p99.9", "max");
	page_paint(page, PAINT_NONE);
}

static void latencies_of(const struct page *page, const json_t *dev, bool bios)
{
	bool headed = false;

	for (int p = 0; p < PHASE_NR; p++) {
		const char *key = phase_key((enum phase)p);
		const json_t *h = tree_at(tree_at(dev, "latency_ns"), key);

		if (!h || phase_of_bios((enum phase)p) != bios)
			continue;
		if (!headed)
			latency_head(page, bios ? "of bios" : "of requests");
		headed = true;
		latency_row(page->out, key, h);
	}
}

/* Of an excerpt it must be said; of a trace the rows that are there tell enough. */
static void no_latencies(const struct page *page, const json_t *dev)
{
	const char *q2c = tree_str(dev, "latency_ns.q2c_why");
	const char *d2c = tree_str(dev, "latency_ns.d2c_why");

	if (q2c && d2c && !strcmp(q2c, d2c))
		page_printf(page, "  latencies", "q2c and d2c %s", q2c);
	else if (q2c && !strncmp(q2c, "n/a", 3))
		page_printf(page, "  q2c", "%s", q2c);
	if (d2c && !strncmp(d2c, "n/a", 3) && (!q2c || strcmp(q2c, d2c) != 0))
		page_printf(page, "  d2c", "%s", d2c);
}

/* Only where there is more than one class: else it repeats the row above. */
static void latencies_by_class(const struct page *page, const json_t *dev)
{
	const json_t *classes = tree_at(dev, "latency_by_class_ns");

	if (json_object_size(classes) < 2)
		return;
	for (int c = CLASS_READ; c < CLASS_NR; c++) {
		const char *key = class_name((enum io_class)c);
		const json_t *h = tree_at(tree_at(classes, key), "d2c");
		char *label;

		if (!h)
			continue;
		label = mem_printf("d2c %.9s", key);
		latency_row(page->out, label, h);
		free(label);
	}
}

/* ", 90 % within 1.00 MiB" where that is known. */
static struct num within(const json_t *dev, const char *path, int percent)
{
	double sectors = tree_num(dev, path);
	struct num out = { "" };

	if (!isnan(sectors))
		snprintf(out.s, sizeof(out.s), ", %d %% within %.12s", percent,
			 num_bytes(sectors * SECTOR_SIZE).s);
	return out;
}

static void seeks(const struct page *page, const json_t *dev)
{
	double median = tree_num(dev, "seeks.p50_sectors");

	if (!tree_at(dev, "seeks"))
		return;
	page_printf(page, "  seeks", "%s sequential; distance: mean %s, median %s%s%s",
		    share(dev, "seeks.sequential_share").s,
		    num_bytes(tree_num(dev, "seeks.mean_sectors") * SECTOR_SIZE).s,
		    isnan(median) ? "-" : num_bytes(median * SECTOR_SIZE).s,
		    within(dev, "seeks.p90_sectors", 90).s, within(dev, "seeks.p99_sectors", 99).s);
}

static void ends(const struct page *page, const json_t *dev)
{
	uint64_t issued = tree_u64(dev, "orphans.issue_without_complete");
	uint64_t completed = tree_u64(dev, "orphans.complete_without_issue");
	uint64_t aged = tree_u64(dev, "orphans.aged_out");
	uint64_t open = tree_u64(dev, "in_flight_at_end"),
		 out = tree_u64(dev, "left_out_of_latencies");

	if (issued || completed || open)
		page_printf(page, "  ends",
			    "%s issued but never completed, %s completed but never seen issued, %s "
			    "in flight at the end",
			    num_count(issued).s, num_count(completed).s, num_count(open).s);
	if (aged)
		page_printf(page, "  given up",
			    "%s that can only have lost the end: the verdict waits for them no "
			    "longer",
			    num_of(aged, "bio").s);
	if (out)
		page_printf(page, "  left out",
			    "%s from the latencies: retried, ambiguous (%s) or across a loss",
			    num_of(out, "request").s,
			    num_of(tree_u64(dev, "ambiguous_joins"), "join").s);
}

/* Which row holds the flush of a write that asks for one. */
static void flush_legend(const struct page *page, const json_t *dev)
{
	if (tree_at(dev, "latency_ns.preflush"))
		page_printf(page, "",
			    "preflush, postflush: flush commands of writes that ask for them; "
			    "g2i, g2d and q2d of such a write begin when its pre-flush has ended, "
			    "r_q2c and the bios' rows hold everything");
}

void page_device(const struct page *page, const json_t *dev)
{
	heading(page, dev);
	time_line(page, dev);
	class_table(page, dev);
	merges(page, dev);
	flush(page, dev);
	requeues(page, dev);
	errors(page, dev);
	latencies_of(page, dev, true);
	latencies_of(page, dev, false);
	latencies_by_class(page, dev);
	page_modes(page, dev);
	no_latencies(page, dev);
	flush_legend(page, dev);
	seeks(page, dev);
	page_alignment(page, dev);
	ends(page, dev);
}
