// SPDX-License-Identifier: MIT
/* Where a latency gathers around several values, the mean and the median say little: the modes of
 * latency_ns, and their lines on the page. */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "stat/modes.h"
#include "view/num.h"
#include "view/tree.h"

#define MOST_MODES 8

static void set_modes(json_t *obj, const struct hist *hist)
{
	struct mode modes[MOST_MODES];
	size_t nr = modes_find(hist, modes, MOST_MODES);
	json_t *list;

	if (!nr) {
		tree_unknown(obj, "modes", "needs at least %u values", MODES_NEED);
		return;
	}
	list = json_array();
	for (size_t i = 0; i < nr; i++) {
		json_t *mode = json_object();

		tree_count(mode, "from", modes[i].from);
		tree_count(mode, "to", modes[i].to);
		tree_count(mode, "peak", modes[i].peak);
		tree_real(mode, "share", modes[i].share);
		json_array_append_new(list, mode);
	}
	json_object_set_new(obj, "modes", list);
}

json_t *tree_latency(const struct hist *hist, enum phase phase)
{
	json_t *obj = tree_hist(hist);

	tree_text(obj, "of", phase_of_bios(phase) ? "bios" : "requests");
	if (phase == PHASE_BIO_Q2C || phase == PHASE_D2C)
		set_modes(obj, hist);
	return obj;
}

/* "d2c write has 2 modes: 96.0 us (62.0 %), 2.10 ms (31.0 %)" where there are several. */
static void print_modes(const struct page *page, const char **label, const char *of,
			const json_t *latency)
{
	const json_t *list = tree_at(latency, "modes");
	char *text, *longer;
	json_t *mode;
	size_t i;

	if (json_array_size(list) < 2)
		return;
	text = mem_printf("%s has %zu modes:", of, json_array_size(list));
	json_array_foreach((json_t *)list, i, mode)
	{
		longer = mem_printf("%s%s %s (%s)", text, i ? "," : "",
				    num_ns(tree_num(mode, "peak")).s,
				    num_share(tree_num(mode, "share")).s);
		free(text);
		text = longer;
	}
	page_para(page, PAINT_NONE, *label, text);
	*label = "";
	free(text);
}

void page_modes(const struct page *page, const json_t *dev)
{
	const json_t *classes = tree_at(dev, "latency_by_class_ns");
	const char *label = "  modes", *key;
	json_t *class;

	print_modes(page, &label, "q2c", tree_at(dev, "latency_ns.q2c"));
	print_modes(page, &label, "d2c", tree_at(dev, "latency_ns.d2c"));
	if (json_object_size(classes) < 2)
		return; /* it would be said twice */
	json_object_foreach((json_t *)classes, key, class)
	{
		char *of = mem_printf("d2c %s", key);

		print_modes(page, &label, of, tree_at(class, "d2c"));
		free(of);
	}
}
