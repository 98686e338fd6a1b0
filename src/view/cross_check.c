// SPDX-License-Identifier: MIT
/* Events against the summary block that was pasted with them: which is to be trusted for what. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "view/num.h"
#include "view/tree.h"

/* blkparse estimates its number of events from bytes: a little too high. */
#define SAME_EVENTS 0.95

struct pair {
	uint64_t count, bytes;
	bool known;
};

static struct pair block_pair(const json_t *block, const char *key)
{
	const json_t *cell = tree_at(block, key);

	return (struct pair){
		.count = tree_u64(cell, "count"),
		.bytes = tree_u64(cell, "bytes"),
		.known = tree_at(cell, "count") && tree_at(cell, "bytes"),
	};
}

/* blkparse knows reads, and everything else as writes. */
static struct pair events_pair(const struct class_count *list, bool write)
{
	struct pair sum = { .known = true };

	for (int c = CLASS_READ; c <= CLASS_FLUSH; c++) {
		if ((c != CLASS_READ) != write)
			continue;
		sum.count += list[c].count;
		sum.bytes += list[c].bytes;
	}
	return sum;
}

static bool is_name_of(const struct report *r, const struct device_sum *dev, const char *name)
{
	const char *known = facts_device_name(r->facts, dev->device);
	char number[24];

	snprintf(number, sizeof(number), "%u,%u", DEVICE_MAJOR(dev->device),
		 DEVICE_MINOR(dev->device));
	return !strcmp(name, number) || (known && !strcmp(name, known));
}

/* Of one device in one text the block needs no name; a name that is known to be another's is one. */
static bool is_block_of(const struct report *r, const struct device_sum *dev, const json_t *block)
{
	const char *kind = tree_str(block, "kind"), *name = tree_str(block, "name");
	size_t texts = 0;

	if (!kind || !strcmp(kind, "process"))
		return false;
	if (name && is_name_of(r, dev, name))
		return true;
	for (size_t i = 0; i < r->facts->nr_inputs; i++)
		texts += r->facts->inputs[i].is_text;
	if (r->sum->nr_devices != 1 || texts != 1)
		return false;
	return !name || !strchr(name, ',');
}

/* The block that covers the most: the total, or that of the only CPU. */
static const json_t *block_of(const struct report *r, const struct device_sum *dev)
{
	const json_t *found = NULL;
	size_t i, cpus = 0;
	json_t *block;

	json_array_foreach(r->facts->summary_blocks, i, block)
	{
		if (!is_block_of(r, dev, block))
			continue;
		if (strcmp(tree_str(block, "kind"), "cpu") != 0)
			return block;
		cpus++;
		found = block;
	}
	return cpus == 1 ? found : NULL;
}

static uint64_t both(const json_t *block, const char *read, const char *write)
{
	return block_pair(block, read).count + block_pair(block, write).count;
}

static bool any_known(const json_t *block)
{
	return tree_at(block, "events") || (block_pair(block, "reads_queued").known &&
					    block_pair(block, "writes_queued").known);
}

/* "19 of 39,850 events" and the like where the block covers more, else NULL; owned by the caller. */
static char *excerpt_words(const struct device_sum *dev, const json_t *block)
{
	uint64_t queued = both(block, "reads_queued", "writes_queued");
	uint64_t issued = both(block, "read_dispatches", "write_dispatches");
	uint64_t here = events_pair(dev->bios, false).count + events_pair(dev->bios, true).count;
	uint64_t issued_here = events_pair(dev->requests, false).count +
			       events_pair(dev->requests, true).count + dev->requeues_busy +
			       dev->requeues_failed;

	if (tree_at(block, "events")) {
		uint64_t all = tree_u64(block, "events");

		if ((double)dev->events >= SAME_EVENTS * (double)all)
			return NULL;
		return mem_printf("%s of %s", num_count(dev->events).s, num_of(all, "event").s);
	}
	if (here != queued)
		return mem_printf("%s of %s queued I/Os", num_count(here).s, num_count(queued).s);
	if (issued_here != issued)
		return mem_printf("%s of %s dispatches", num_count(issued_here).s,
				  num_count(issued).s);
	return NULL;
}

static void compare(json_t *differences, const json_t *block, const char *key, struct pair events)
{
	struct pair told = block_pair(block, key);
	json_t *obj;

	if (!told.known || (told.count == events.count && told.bytes == events.bytes))
		return;
	obj = json_object();
	tree_text(obj, "what", key);
	tree_count(obj, "block_count", told.count);
	tree_count(obj, "block_bytes", told.bytes);
	tree_count(obj, "events_count", events.count);
	tree_count(obj, "events_bytes", events.bytes);
	json_array_append_new(differences, obj);
}

static json_t *differences(const struct device_sum *dev, const json_t *block)
{
	struct pair issued[2] = { events_pair(dev->requests, false),
				  events_pair(dev->requests, true) };
	json_t *list = json_array();

	compare(list, block, "reads_queued", events_pair(dev->bios, false));
	compare(list, block, "writes_queued", events_pair(dev->bios, true));
	if (!dev->requeues_busy && !dev->requeues_failed) { /* blkparse counts each D */
		compare(list, block, "read_dispatches", issued[0]);
		compare(list, block, "write_dispatches", issued[1]);
	}
	return list;
}

static void cross_check(json_t *list, const struct report *r, const struct device_sum *dev,
			const json_t *block, const char *name)
{
	char *part = excerpt_words(dev, block);
	json_t *ev, *diff;

	if (part) {
		ev = tree_finding(
			list, "summary-cross-check", "info", "The summary covers more",
			tree_printf("%s: the events are an excerpt (%s): the summary block covers "
				    "more, or another run, and is to be trusted for totals, the "
				    "events for latencies.",
				    name, part),
			NULL);
		free(part);
		tree_unknown(ev, "agrees", "they do not cover the same");
	} else {
		diff = differences(dev, block);
		ev = tree_finding(
			list, "summary-cross-check", json_array_size(diff) ? "notice" : "info",
			"Events and summary side by side",
			json_array_size(diff)
				? tree_printf("%s: the summary block and the events, which cover "
					      "the same, count differently (%s); the events are to "
					      "be trusted.",
					      name, tree_str(json_array_get(diff, 0), "what"))
				: tree_printf("%s: the summary block and the events agree on what "
					      "was queued and dispatched.",
					      name),
			NULL);
		json_object_set_new(ev, "agrees", json_boolean(!json_array_size(diff)));
		json_object_set_new(ev, "differences", diff);
	}
	tree_text(ev, "device", name);
	tree_count(ev, "events", dev->events);
}

/* The classic's double count, proved by both: more completed than dispatched, and completions here
 * that ended nothing. */
static void double_count(json_t *list, const struct device_sum *dev, const json_t *block,
			 const char *name)
{
	static const char *const keys[][2] = { { "reads_completed", "read_dispatches" },
					       { "writes_completed", "write_dispatches" } };
	json_t *f = (json_t *)find_finding(list, "double-completion");

	for (size_t i = 0; f && i < 2; i++) {
		struct pair done = block_pair(block, keys[i][0]);
		struct pair issued = block_pair(block, keys[i][1]);
		json_t *ev = json_object_get(f, "evidence");

		if (!done.known || !issued.known || done.bytes <= issued.bytes ||
		    strcmp(tree_str(ev, "device"), name) != 0)
			continue;
		tree_text(f, "severity", "warning");
		tree_text(f, "title", "The summary counts completions twice");
		json_object_set_new(
			f, "sentence",
			tree_printf("%s: completed %s > dispatched %s; counting requests: "
				    "%s/%s. %s completions ended nothing new (bios beside their "
				    "request).",
				    name, num_bytes((double)done.bytes).s,
				    num_bytes((double)issued.bytes).s, num_count(issued.count).s,
				    num_bytes((double)issued.bytes).s,
				    num_count(dev->double_completions).s));
		tree_count(ev, "block_completed_bytes", done.bytes);
		tree_count(ev, "block_dispatched_bytes", issued.bytes);
	}
}

/* blkparse's sums file a zone append under reads. */
static void zone_appends(json_t *list, const struct report *r, const struct device_sum *dev,
			 const json_t *block, const char *name)
{
	struct pair queued = block_pair(block, "reads_queued");
	struct pair issued = block_pair(block, "read_dispatches");
	struct pair most = queued.count > issued.count ? queued : issued;
	json_t *ev;

	if (!(r->flags_seen & EV_ZONE_APPEND) || !most.count || dev->bios[CLASS_READ].count ||
	    dev->requests[CLASS_READ].count)
		return;
	ev = tree_finding(
		list, "zone-append-counted-as-read", "info", "The summary calls zone appends reads",
		tree_printf("%s: the summary block files zone appends under reads: its %s "
			    "(%s) are writes, in whole or in part.",
			    name, num_of(most.count, "read").s, num_bytes((double)most.bytes).s),
		NULL);
	tree_text(ev, "device", name);
	tree_count(ev, "reads", most.count);
	tree_count(ev, "bytes", most.bytes);
}

void find_cross_checks(json_t *list, const struct report *r)
{
	for (size_t i = 0; i < r->sum->nr_devices; i++) {
		const struct device_sum *dev = &r->sum->devices[i];
		const json_t *block = block_of(r, dev);
		char *name;

		if (!block || !any_known(block))
			continue;
		name = device_label(r->facts, dev->device);
		cross_check(list, r, dev, block, name);
		double_count(list, dev, block, name);
		zone_appends(list, r, dev, block, name);
		free(name);
	}
}
