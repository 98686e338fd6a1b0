// SPDX-License-Identifier: MIT
/* Findings about completions: told twice, told cumulatively, of another class than what was issued. */
#include <math.h>

#include "view/num.h"
#include "view/tree.h"

static void doubles(json_t *list, const struct device_sum *dev, const char *name)
{
	json_t *ev;

	if (!dev->double_completions)
		return;
	ev = tree_finding(list, "double-completion", "info", "Completions were printed twice",
			  tree_printf("%s: %s completions ended nothing new (bios beside their "
				      "request); they are not counted.",
				      name, num_count(dev->double_completions).s),
			  NULL);
	tree_text(ev, "device", name);
	tree_count(ev, "count", dev->double_completions);
}

static void mismatches(json_t *list, const struct device_sum *dev, const char *name)
{
	json_t *ev;

	if (!dev->class_mismatches)
		return;
	ev = tree_finding(list, "class-mismatch", "warning", "Classes disagree",
			  tree_printf("%s: %s met an I/O of another class at their sector, so "
				      "events were lost between; they were not joined, and make no "
				      "latency.",
				      name, num_of(dev->class_mismatches, "event").s),
			  NULL);
	tree_text(ev, "device", name);
	tree_count(ev, "count", dev->class_mismatches);
}

/* Between whole pieces: the last one may be a small rest, which takes less. 0 = there is none. */
static uint64_t interval_ns(const struct cumulative *c)
{
	uint64_t pieces = c->common_bytes ? (c->whole_bytes - c->first_bytes) / c->common_bytes : 0;

	return pieces ? (c->whole_ns - c->first_ns) / pieces : 0;
}

static json_t *series(const struct cumulative *c, const struct report *r)
{
	json_t *obj = json_object();
	uint64_t pieces = cumulative_pieces(c);

	tree_text(obj, "class", class_name((enum io_class)c->class));
	tree_count(obj, "sector", c->sector);
	tree_count(obj, "from_ns", c->first_ns > r->genesis_ns ? c->first_ns - r->genesis_ns : 0);
	tree_count(obj, "lines", c->lines);
	tree_count(obj, "first_bytes", c->first_bytes);
	tree_count(obj, "bytes", c->last_bytes);
	if (pieces)
		tree_count(obj, "pieces", pieces);
	else
		tree_unknown(obj, "pieces", "the growing lengths have no common step");
	if (c->common_bytes)
		tree_count(obj, "piece_bytes", c->common_bytes);
	else
		tree_unknown(obj, "piece_bytes", "there is only one line of it");
	if (c->lines > 1)
		tree_count(obj, "mean_interval_ns", interval_ns(c));
	else
		tree_unknown(obj, "mean_interval_ns", "there is only one line of it");
	json_object_set_new(obj, "issued", json_boolean(c->issued));
	return obj;
}

/* The one with the most lines stands for all. */
static const struct cumulative *longest(const struct device_sum *dev)
{
	const struct cumulative *most = NULL;

	for (size_t i = 0; i < dev->nr_cumulative; i++)
		if (!most || dev->cumulative[i].lines > most->lines)
			most = &dev->cumulative[i];
	return most;
}

static json_t *cumulative_sentence(const struct device_sum *dev, const struct cumulative *c,
				   const char *name)
{
	uint64_t pieces = cumulative_pieces(c);
	struct num bytes = num_bytes((double)c->last_bytes);

	if (c->issued || !pieces || c->lines < 2)
		return tree_printf("%s: %s told again of bytes that had completed before (one %s "
				   "from sector %s on grew to %s over %s); only what was new "
				   "counts.",
				   name, num_of(dev->cumulative_completions, "completion").s,
				   class_name((enum io_class)c->class), num_count(c->sector).s,
				   bytes.s, num_of(c->lines, "line").s);
	return tree_printf("%s: %s told again of bytes that had completed before: one %s from "
			   "sector %s on finished in %s of %s sectors, one every %s, %s in all; "
			   "only what was new counts.",
			   name, num_of(dev->cumulative_completions, "completion").s,
			   class_name((enum io_class)c->class), num_count(c->sector).s,
			   num_of(pieces, "piece").s, num_count(c->common_bytes / SECTOR_SIZE).s,
			   num_ns((double)interval_ns(c)).s, bytes.s);
}

static void cumulative(json_t *list, const struct report *r, const struct device_sum *dev,
		       const char *name)
{
	const struct cumulative *c = longest(dev);
	json_t *ev, *all;

	if (!c || !dev->cumulative_completions)
		return;
	ev = tree_finding(list, "cumulative-completion", "warning",
			  "Completions of split bios were printed cumulatively",
			  cumulative_sentence(dev, c, name), NULL);
	json_object_update_new(ev, series(c, r));
	tree_text(ev, "device", name);
	tree_count(ev, "count", dev->cumulative_completions);
	all = json_array();
	for (size_t i = 0; i < dev->nr_cumulative; i++)
		json_array_append_new(all, series(&dev->cumulative[i], r));
	json_object_set_new(ev, "series", all);
}

static void too_much(json_t *list, const struct device_sum *dev, const char *name)
{
	static const enum io_class moving[] = { CLASS_READ, CLASS_WRITE };

	for (int i = 0; dev->have_requests && i < 2; i++) {
		uint64_t in = dev->requests[moving[i]].bytes;
		uint64_t out = dev->completed_bytes[moving[i]];
		json_t *ev;

		if (out <= in)
			continue;
		ev = tree_finding(list, "cumulative-completion", "warning",
				  "More was completed than dispatched",
				  tree_printf("%s: %s of %ss completed, only %s dispatched.", name,
					      num_bytes((double)out).s, class_name(moving[i]),
					      num_bytes((double)in).s),
				  NULL);
		tree_text(ev, "device", name);
		tree_count(ev, "completed_bytes", out);
		tree_count(ev, "dispatched_bytes", in);
	}
}

void find_completions(json_t *list, const struct report *r, const struct device_sum *dev,
		      const char *name)
{
	doubles(list, dev, name);
	mismatches(list, dev, name);
	cumulative(list, r, dev, name);
	too_much(list, dev, name);
}
