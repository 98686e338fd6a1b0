// SPDX-License-Identifier: MIT
/* Findings about what is not there: lines that were cut, I/O of which only a part was seen. */
#include <stdlib.h>

#include "base/mem.h"
#include "view/num.h"
#include "view/tree.h"

static void numbers_missing(json_t *list, const struct report *r)
{
	uint64_t nr = report_missing_numbers(r);
	json_t *ev;

	if (!nr)
		return;
	ev = tree_finding(list, "numbers-missing", "info", "Lines were left out of the text",
			  tree_printf("%s of the CPUs' event counters %s missing: lines were cut "
				      "or selected; that is no loss of events.",
				      num_of(nr, "number").s, nr == 1 ? "is" : "are"),
			  NULL);
	tree_count(ev, "numbers", nr);
}

static void several_clocks(json_t *list, const struct report *r)
{
	json_t *ev;

	if (!report_mixed_clocks(r))
		return;
	ev = tree_finding(list, "several-clocks", "warning", "Several traces in one",
			  tree_printf(
				  "There are events of several traces, each with a clock of its "
				  "own: what happened at the same time cannot be told."),
			  json_string("Report them one by one."));
	tree_count(ev, "clocks", r->facts->text_clocks);
}

/* "no D events", "no C events", ...: what the excerpt lacks as a whole; NULL = nothing. */
static const char *lacks(const struct device_sum *dev)
{
	bool queued = saw_queue(dev), issued = saw_issue(dev), ended = saw_complete(dev);

	if (!ended && !issued)
		return queued || dev->have_requests ? "there are no D and no C events" : NULL;
	if (!ended)
		return "there are no C events";
	if (dev->have_requests && !issued)
		return "there are no D events";
	return queued || issued ? NULL : "there is nothing but completions";
}

/* "3 completions without a beginning"; appended to text, which is taken. */
static char *part(char *text, uint64_t nr, const char *one, const char *many)
{
	char *longer;

	if (!nr)
		return text;
	longer = mem_printf("%s%s%s %s", text, *text ? "; " : "", num_count(nr).s,
			    nr == 1 ? one : many);
	free(text);
	return longer;
}

static char *words(const struct device_sum *dev, bool text)
{
	const char *no = text && !dev->whole_ios ? lacks(dev) : NULL;
	char *out = mem_strdup(no ? no : "");

	out = part(out, dev->orphan_completes, "completion has no beginning here",
		   "completions have no beginning here");
	out = part(out, dev->orphan_merges, "merge joined a request that is not here",
		   "merges joined requests that are not here");
	if (text) {
		out = part(out, dev->unissued_ends, "I/O ended whose D is not here",
			   "I/Os ended whose D is not here");
		out = part(out, dev->in_flight, "I/O has no end here", "I/Os have no end here");
	}
	return out;
}

static void partial(json_t *list, const struct report *r, const struct device_sum *dev)
{
	bool text = report_is_text(r);
	uint64_t nr = dev->orphan_completes + dev->orphan_merges;
	char *what = words(dev, text), *name;
	json_t *ev;

	if (!*what) {
		free(what);
		return;
	}
	name = device_label(r->facts, dev->device);
	if (text)
		ev = tree_finding(list, "partial-excerpt", "info", "The text shows only a part",
				  tree_printf("%s: %s. Such I/O makes no latency.", name, what),
				  NULL);
	else
		ev = tree_finding(list, "partial-excerpt", "info", "The trace starts in the middle",
				  tree_printf("%s: %s events belong to I/O whose beginning was not "
					      "recorded; they make no latency.",
					      name, num_count(nr).s),
				  NULL);
	tree_text(ev, "device", name);
	tree_count(ev, "events", nr);
	tree_count(ev, "in_flight", dev->in_flight);
	free(name);
	free(what);
}

void find_excerpt(json_t *list, const struct report *r)
{
	several_clocks(list, r);
	numbers_missing(list, r);
	for (size_t i = 0; i < r->sum->nr_devices; i++)
		partial(list, r, &r->sum->devices[i]);
}
