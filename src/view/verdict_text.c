// SPDX-License-Identifier: MIT
/* The verdict on the text page: its sentence, the bars and the CPU times. */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "view/num.h"
#include "view/tree.h"

#define BAR_WIDTH   40
#define MAX_WORKERS 6

static void bar(const struct page *page, const char *label, const json_t *shares, const char *key)
{
	double part = tree_num(shares, key);
	int full;

	if (isnan(part))
		return; /* it cannot be told apart */
	full = (int)lround(part * BAR_WIDTH);
	if (!full && part >= 0.001)
		full = 1;
	fprintf(page->out, "  %-14s %7s  ", label, num_share(part).s);
	for (int i = 0; i < BAR_WIDTH; i++)
		fputc(i < full ? '#' : '.', page->out);
	fputc('\n', page->out);
}

static void bars(const struct page *page, const json_t *shares)
{
	if (!shares)
		return;
	bar(page, "at the device", shares, "device");
	bar(page, "in the queue", shares, "queue");
	bar(page, "behind others", shares, "behind_others");
	bar(page, "held in queue", shares, "held");
	bar(page, "submitter", shares, "submitter");
}

/* The list has the most first. */
static void workers(const struct page *page, const json_t *verdict)
{
	const json_t *list = tree_at(verdict, "cpu_ns");
	char *text = mem_strdup("");
	size_t i, rest = 0;
	double rest_ns = 0;
	json_t *w;

	json_array_foreach((json_t *)list, i, w)
	{
		double ns = tree_num(w, "ns");
		char *longer;

		if (i >= MAX_WORKERS) {
			rest += ns > 0;
			rest_ns += ns;
			continue;
		}
		longer = mem_printf("%s%s%s %s", text, i ? ", " : "", tree_str(w, "who"),
				    num_ns(ns).s);
		free(text);
		text = longer;
	}
	if (rest)
		page_printf(page, "  CPU time", "%s, %zu other%s %s", text, rest,
			    rest == 1 ? "" : "s together", num_ns(rest_ns).s);
	else if (*text)
		page_printf(page, "  CPU time", "%s", text);
	free(text);
}

void page_verdict(const struct page *page, const json_t *tree)
{
	const json_t *verdict = tree_at(tree, "verdict");

	fputc('\n', page->out);
	page_para(page, PAINT_HEAD, "VERDICT", tree_str(verdict, "sentence"));
	bars(page, tree_at(verdict, "shares"));
	workers(page, verdict);
	page_most_io(page, tree);
}
