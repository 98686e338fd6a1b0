// SPDX-License-Identifier: MIT
/* devices[].depth_over_time, its line on the page, and devices[].hazards with their finding. */
#include <math.h>
#include <stdlib.h>

#include "view/num.h"
#include "view/over_time.h"
#include "view/tree.h"

json_t *tree_depth_over_time(const struct report *r, const struct device_sum *dev)
{
	const struct steps *steps = &dev->depth_steps;
	uint64_t from = steps->origin_ns;
	json_t *obj = json_object(), *mean = json_array(), *max = json_array();

	tree_count(obj, "step_ns", steps->step_ns);
	tree_count(obj, "from_ns", from > r->genesis_ns ? from - r->genesis_ns : 0);
	for (size_t i = 0; i < steps->nr; i++) {
		const struct step *step = &steps->steps[i];

		json_array_append_new(mean, step->ns ? json_real(step->area / (double)step->ns)
						     : json_null());
		json_array_append_new(max, step->ns ? json_integer(step->max) : json_null());
	}
	json_object_set_new(obj, "mean", mean);
	json_object_set_new(obj, "max", max);
	return obj;
}

void page_depth_over_time(const struct page *page, const json_t *dev)
{
	const json_t *over = tree_at(dev, "depth_over_time"), *mean = tree_at(over, "mean");
	double values[STEPS_MAX], full = 0;
	size_t nr = json_array_size(mean), each;
	char line[OVER_TIME_MOST + 1];
	uint64_t step_ns = tree_u64(over, "step_ns");

	if (nr < 2 || nr > STEPS_MAX)
		return;
	for (size_t i = 0; i < nr; i++) {
		const json_t *value = json_array_get(mean, i);

		values[i] = json_is_number(value) ? json_number_value(value) : (double)NAN;
	}
	each = over_time_draw(values, nr, &full, line);
	if (full <= 0)
		return;
	fprintf(page->out, "  depth(t) |%s|\n", line);
	page_printf(page, "", "each character is %s, from %s on; \"@\" is a mean depth of %s",
		    num_ns((double)(step_ns * each)).s, num_ns(tree_num(over, "from_ns")).s,
		    num_real(full).s);
}

json_t *tree_hazards(const struct report *r, const struct device_sum *dev)
{
	const struct hazards *h = &dev->hazards;
	uint64_t first = h->first_ns;
	const char *comm;
	json_t *obj = json_object();

	tree_count(obj, "count", h->count);
	tree_count(obj, "bytes", h->bytes);
	if (!h->count)
		return obj;
	comm = names_get(&r->facts->names, h->first_pid, first);
	tree_count(obj, "first_ns", first > r->genesis_ns ? first - r->genesis_ns : 0);
	tree_count(obj, "first_sector", h->first_sector);
	tree_count(obj, "first_pid", h->first_pid);
	if (comm)
		tree_text(obj, "first_comm", comm);
	else
		tree_unknown(obj, "first_comm", "no input names this thread");
	return obj;
}

void find_hazards(json_t *list, const struct report *r, const struct device_sum *dev,
		  const char *name)
{
	const struct hazards *h = &dev->hazards;
	json_t *ev, *seen;
	const char *comm, *key;
	json_t *value;

	if (!h->count)
		return;
	seen = tree_hazards(r, dev);
	comm = tree_str(seen, "first_comm");
	ev = tree_finding(
		list, "read-during-write", "warning",
		"Reads were issued while the same sectors were being written",
		tree_printf("%s: %s went to the device while a write of some of the same sectors "
			    "was there (%s in all; the first at %s, sector %s, for %s): the device "
			    "may answer with the old data or the new.",
			    name, num_of(h->count, "read").s, num_bytes((double)h->bytes).s,
			    num_ns(tree_num(seen, "first_ns")).s, num_count(h->first_sector).s,
			    comm ? comm : "an unnamed thread"),
		json_string("Two programs, or a program and the page cache, use the same place "
			    "without waiting for each other: direct I/O beside buffered I/O, or a "
			    "file system that is mounted twice."));
	tree_text(ev, "device", name);
	json_object_foreach(seen, key, value) json_object_set(ev, key, value);
	json_decref(seen);
}
