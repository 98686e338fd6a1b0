// SPDX-License-Identifier: MIT
/* blkparse's summary blocks on the text page: one compact table each. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "view/num.h"
#include "view/tree.h"

#define MAX_BLOCKS 20

static const char *str(const json_t *obj, const char *key)
{
	const char *text = tree_str(obj, key);

	return text ? text : "";
}

/* A total with the same name says what the blocks of the CPUs say. */
static bool has_total(const json_t *list, const char *name)
{
	json_t *block;
	size_t i;

	json_array_foreach((json_t *)list, i, block)
	{
		if (!strcmp(str(block, "kind"), "total") && !strcmp(str(block, "name"), name))
			return true;
	}
	return false;
}

static void cell(FILE *out, const json_t *block, const char *key)
{
	const json_t *c = tree_at(block, key);
	double bytes = tree_num(c, "bytes"), count = tree_num(c, "count");
	bool counted = tree_at(c, "count") != NULL;

	fprintf(out, " %10s %10s %10s", counted ? num_count(tree_u64(c, "count")).s : "?",
		isnan(bytes) ? "?" : num_bytes(bytes).s,
		isnan(bytes) || isnan(count) || count <= 0 ? "-" : num_bytes(bytes / count).s);
}

static void rows(const struct page *page, const json_t *block)
{
	static const struct {
		const char *label, *read, *write;
	} lines[] = {
		{ "queued", "reads_queued", "writes_queued" },
		{ "dispatched", "read_dispatches", "write_dispatches" },
		{ "completed", "reads_completed", "writes_completed" },
		{ "merges", "read_merges", "write_merges" },
	};

	page_paint(page, PAINT_HEAD);
	fprintf(page->out, "  %-10s %10s %10s %10s %10s %10s %10s\n", "", "reads", "bytes", "mean",
		"writes", "bytes", "mean");
	page_paint(page, PAINT_NONE);
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		fprintf(page->out, "  %-10s", lines[i].label);
		cell(page->out, block, lines[i].read);
		cell(page->out, block, lines[i].write);
		fputc('\n', page->out);
	}
}

static char *with(char *text, char *more)
{
	char *longer = mem_printf("%s%s%s", text, *text ? ", " : "", more);

	free(text);
	free(more);
	return longer;
}

/* What follows from the counters; owned by the caller. */
static char *derived(const json_t *block)
{
	const json_t *d = tree_at(block, "derived"), *unplugs = tree_at(block, "io_unplugs");
	char *text = mem_strdup("");
	double v;

	if (tree_at(d, "span_ns"))
		text = with(text, mem_printf("span %s", num_ns(tree_num(d, "span_ns")).s));
	if (tree_at(d, "dispatches_per_s"))
		text = with(text, mem_printf("%s dispatches/s",
					     num_real(tree_num(d, "dispatches_per_s")).s));
	v = tree_num(d, "mean_read_request_bytes");
	if (!isnan(v))
		text = with(text, mem_printf("mean read request %s", num_bytes(v).s));
	v = tree_num(d, "mean_write_request_bytes");
	if (!isnan(v))
		text = with(text, mem_printf("mean write request %s", num_bytes(v).s));
	v = tree_num(d, "read_merge_ratio");
	if (!isnan(v))
		text = with(text, mem_printf("%s of the reads merged", num_share(v).s));
	v = tree_num(d, "write_merge_ratio");
	if (!isnan(v))
		text = with(text, mem_printf("%s of the writes merged", num_share(v).s));
	if (unplugs)
		text = with(text, mem_printf("%s unplugs by I/O and %s by timer",
					     num_count(tree_u64(block, "io_unplugs")).s,
					     tree_at(block, "timer_unplugs")
						     ? num_count(tree_u64(block, "timer_unplugs")).s
						     : "?"));
	if (tree_at(block, "events"))
		text = with(text, mem_printf("%s events", num_count(tree_u64(block, "events")).s));
	return text;
}

static char *heading(const json_t *block)
{
	const char *kind = str(block, "kind"), *name = str(block, "name");
	const char *context = str(block, "context");
	char *what, *out;

	if (!strcmp(kind, "cpu"))
		what = mem_printf("CPU %u of %s", (unsigned int)tree_u64(block, "cpu"), name);
	else if (!strcmp(kind, "process"))
		what = mem_printf("%s (%u)", str(block, "comm"),
				  (unsigned int)tree_u64(block, "pid"));
	else
		what = mem_printf("%s", *name ? name : "a device without a name");
	out = *context ? mem_printf("SUMMARY %s, below \"%.60s\"", what, context)
		       : mem_printf("SUMMARY %s", what);
	free(what);
	return out;
}

static void print_block(const struct page *page, const json_t *block)
{
	char *head = heading(block), *more = derived(block);

	page_heading(page, head);
	rows(page, block);
	if (*more)
		page_para(page, PAINT_NONE, "", more);
	free(head);
	free(more);
}

void page_summaries(const struct page *page, const json_t *list)
{
	size_t i, shown = 0, hidden = 0;
	json_t *block;

	json_array_foreach((json_t *)list, i, block)
	{
		bool part =
			!strcmp(str(block, "kind"), "cpu") && has_total(list, str(block, "name"));

		if (part || shown == MAX_BLOCKS) {
			hidden++;
			continue;
		}
		print_block(page, block);
		shown++;
	}
	if (hidden)
		page_printf(page, "", "and %zu more block%s (of CPUs, or many): --json", hidden,
			    hidden == 1 ? "" : "s");
}
