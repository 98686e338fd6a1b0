// SPDX-License-Identifier: MIT
/* devices[] of the report. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "view/tree.h"

static bool moves_no_data(enum io_class class)
{
	return class == CLASS_DISCARD || class == CLASS_WRITE_ZEROES || class == CLASS_ZONE;
}

static json_t *class_counts(enum io_class class, const struct class_count *c, bool with_mean,
			    const struct device_sum *dev)
{
	const char *key = moves_no_data(class) ? "affected_bytes" : "bytes";
	json_t *obj = json_object();

	tree_count(obj, "count", c->count);
	if (class == CLASS_FLUSH)
		return obj;
	if (dev->bytes_unknown && c->count) {
		tree_unknown(obj, key, "this input does not tell the length of %s of the I/Os",
			     c->bytes ? "some" : "any");
		return obj;
	}
	tree_count(obj, key, c->bytes);
	if (with_mean && c->count)
		tree_real(obj, "mean_bytes", (double)c->bytes / (double)c->count);
	return obj;
}

/* Reads and writes always, other classes where there are any. */
static json_t *counts(const struct class_count *list, bool with_mean, const struct device_sum *dev)
{
	json_t *obj = json_object();

	for (int c = CLASS_READ; c < CLASS_NR; c++)
		if (list[c].count || c == CLASS_READ || c == CLASS_WRITE)
			json_object_set_new(obj, class_name((enum io_class)c),
					    class_counts((enum io_class)c, &list[c], with_mean,
							 dev));
	return obj;
}

static void set_kind(json_t *obj, const struct device_sum *dev, const json_t *meta)
{
	const char *kind = tree_str(meta, "kind");

	if (!kind || !strcmp(kind, "unknown"))
		kind = dev->have_requests ? "request" : "unknown";
	tree_text(obj, "kind", kind);
}

/* Why no request can be counted, or NULL. They are counted at their first D. */
static const char *no_requests_why(const struct report *r, const struct device_sum *dev)
{
	if (saw_issue(dev) || dev->whole_ios)
		return NULL;
	if (report_is_text(r))
		return dev->have_requests ? "no D events in this excerpt"
					  : "no request events (G, I, D) in this excerpt";
	return dev->have_requests ? NULL
				  : "no request of this device was seen: it is bio-based, or "
				    "request events were not recorded";
}

/* Reads and writes were not counted at Q where no Q was seen: bios came remapped, or were cut. */
static void hide_bios(json_t *bios, const struct device_sum *dev)
{
	static const char *const keys[] = { "read", "write" };

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		tree_unknown(bios, keys[i], "no Q of this device was seen%s",
			     dev->remapped_in ? ": its bios came remapped, without one" : "");
}

static void set_counts(json_t *obj, const struct report *r, const struct device_sum *dev)
{
	json_t *bios = counts(dev->bios, false, dev), *merges;
	const char *why = no_requests_why(r, dev);

	if (!saw_queue(dev) && report_is_text(r))
		hide_bios(bios, dev);
	tree_count(bios, "nowait_retries", dev->nowait_retries);
	tree_count(bios, "remapped_in", dev->remapped_in);
	json_object_set_new(obj, "bios", bios);
	if (why)
		tree_unknown(obj, "requests", "%s", why);
	else
		json_object_set_new(obj, "requests", counts(dev->requests, true, dev));
	if (!dev->have_requests) {
		tree_unknown(obj, "merges", "merges make requests, and none was seen");
		return;
	}
	merges = json_object();
	tree_count(merges, "back", dev->back_merges);
	tree_count(merges, "front", dev->front_merges);
	tree_count(merges, "requests", dev->rq_merges);
	json_object_set_new(obj, "merges", merges);
}

static void set_flush(json_t *obj, const struct device_sum *dev)
{
	uint64_t commands = dev->requests[CLASS_FLUSH].count;
	json_t *flush = json_object();

	tree_count(flush, "commands", commands);
	tree_count(flush, "parts_served", dev->flush_stages);
	tree_count(flush, "writes_with_parts", dev->flush_writes);
	tree_count(flush, "empty_bios", dev->empty_flush_bios);
	json_object_set_new(obj, "flush", flush);
	if (commands && dev->flush_stages)
		tree_real(obj, "flush_sharing", (double)dev->flush_stages / (double)commands);
	else
		tree_unknown(obj, "flush_sharing", "%s",
			     commands ? "no write that they served was seen"
				      : "no flush command was seen");
}

static json_t *errors(const struct device_sum *dev)
{
	json_t *list = json_array();

	for (uint64_t i = 0; i < dev->nr_errors; i++) {
		const struct io_error *e = &dev->errors[i];
		const char *name = strerrorname_np(e->error);
		json_t *obj = json_object();

		tree_count(obj, "errno", (uint64_t)e->error);
		if (name)
			tree_text(obj, "name", name);
		else
			tree_unknown(obj, "name", "the kernel's own number, without a name");
		tree_text(obj, "class", class_name((enum io_class)e->class));
		tree_count(obj, "count", e->count);
		if (e->first_sector != SECTOR_NONE)
			tree_count(obj, "first_sector", e->first_sector);
		else
			tree_unknown(obj, "first_sector", "the command has no sector");
		json_array_append_new(list, obj);
	}
	return list;
}

static void set_troubles(json_t *obj, const struct device_sum *dev)
{
	json_t *requeues = json_object(), *orphans = json_object();

	tree_count(obj, "splits", dev->splits);
	tree_count(requeues, "busy", dev->requeues_busy);
	tree_count(requeues, "failed", dev->requeues_failed);
	json_object_set_new(obj, "requeues", requeues);
	tree_count(obj, "ambiguous_joins", dev->ambiguous_joins);
	json_object_set_new(obj, "errors", errors(dev));
	tree_count(orphans, "issue_without_complete", dev->orphan_issues);
	tree_count(orphans, "complete_without_issue", dev->orphan_completes);
	tree_count(orphans, "merge_without_request", dev->orphan_merges);
	tree_count(orphans, "aged_out", dev->aged_out);
	json_object_set_new(obj, "orphans", orphans);
	tree_count(obj, "in_flight_at_end", dev->in_flight);
	tree_count(obj, "partial_completions", dev->partial_completions);
	tree_count(obj, "double_completions", dev->double_completions);
	tree_count(obj, "cumulative_completions", dev->cumulative_completions);
	tree_count(obj, "class_mismatches", dev->class_mismatches);
}

static void set_latency(json_t *obj, const struct report *r, const struct device_sum *dev)
{
	json_t *phases = json_object(), *classes = json_object();

	for (int p = 0; p < PHASE_NR; p++) {
		const char *key = phase_key((enum phase)p);

		if (!dev->latency[p].n) {
			tree_unknown(phases, key, "not seen here: %s", phase_what((enum phase)p));
			continue;
		}
		json_object_set_new(phases, key, tree_latency(&dev->latency[p], (enum phase)p));
	}
	/* What everybody looks for is there, or why it is not. */
	if (!dev->latency[PHASE_BIO_Q2C].n)
		tree_unknown(phases, "q2c", "%s", no_latency_why(r, dev, 'Q'));
	if (!dev->latency[PHASE_D2C].n)
		tree_unknown(phases, "d2c", "%s", no_latency_why(r, dev, 'D'));
	json_object_set_new(obj, "latency_ns", phases);
	for (int c = CLASS_READ; c < CLASS_NR; c++) {
		json_t *one;

		if (!dev->class_d2c[c].n && !dev->class_r_q2c[c].n)
			continue;
		one = json_object();
		if (dev->class_d2c[c].n)
			json_object_set_new(one, "d2c",
					    tree_latency(&dev->class_d2c[c], PHASE_D2C));
		if (dev->class_r_q2c[c].n)
			json_object_set_new(one, "r_q2c",
					    tree_latency(&dev->class_r_q2c[c], PHASE_R_Q2C));
		json_object_set_new(classes, class_name((enum io_class)c), one);
	}
	json_object_set_new(obj, "latency_by_class_ns", classes);
	tree_count(obj, "left_out_of_latencies", dev->left_out);
}

static json_t *depth_levels(const struct device_sum *dev)
{
	json_t *list = json_array();

	for (int d = 0; d < DEPTH_LEVELS; d++) {
		json_t *level;

		if (!dev->levels[d].time_ns && !dev->levels[d].completions)
			continue;
		level = json_object();
		tree_count(level, "depth", (uint64_t)d);
		tree_count(level, "time_ns", dev->levels[d].time_ns);
		tree_count(level, "completions", dev->levels[d].completions);
		json_array_append_new(list, level);
	}
	return list;
}

static void unknown_shares(json_t *obj, const char *why)
{
	tree_unknown(obj, "busy_share", "%s", why);
	tree_unknown(obj, "held_share", "%s", why);
	tree_unknown(obj, "idle_share", "%s", why);
}

/* Of a disk whose other partitions were not recorded only a lower bound of its busy time is known. */
static void set_shares(json_t *obj, const struct device_sum *dev, double all)
{
	const json_t *partitions = tree_at(obj, "partitions");
	char *words, *why;

	if (!partitions) {
		tree_real(obj, "busy_share", (double)dev->busy_ns / all);
		tree_real(obj, "held_share", (double)dev->held_ns / all);
		tree_real(obj, "idle_share", (double)dev->idle_ns / all);
		return;
	}
	words = partition_words(partitions);
	why = mem_printf("only %s was recorded, not what the device did for others", words);
	unknown_shares(obj, why);
	tree_real(obj, "recorded_busy_share", (double)dev->busy_ns / all);
	free(why);
	free(words);
}

static void set_silence(json_t *obj, const struct device_sum *dev, uint64_t genesis_ns)
{
	uint64_t at = dev->longest_silence_at_ns;
	json_t *silence = json_object();

	tree_count(silence, "duration_ns", dev->longest_silence_ns);
	tree_count(silence, "at_ns", at > genesis_ns ? at - genesis_ns : 0);
	json_object_set_new(obj, "longest_without_completion", silence);
}

/* Why nothing can be said about how busy the device was, or NULL. */
static const char *no_time_line_why(const struct report *r, const struct device_sum *dev)
{
	if (dev->whole_ios)
		return "this input tells I/O only as a whole: not when it was at the device with "
		       "others";
	if (!dev->have_requests)
		return "no request was seen here";
	if (report_is_text(r) && !saw_issue(dev))
		return "no D events in this excerpt";
	if (report_is_text(r) && !saw_complete(dev))
		return "no C events in this excerpt";
	if (report_mixed_clocks(r))
		return "several traces, each with a clock of its own";
	if (report_has_holes(r))
		return "lines are missing between: idle time may be I/O that was cut away";
	if (report_is_text(r) && dev->unissued_ends)
		return "I/O ended whose D is not in this excerpt";
	if (dev->busy_ns + dev->held_ns + dev->idle_ns)
		return NULL;
	return r->window == REPORT_FIRST_TO_LAST ? "there is no time from a first Q to a last C"
						 : "no time passed";
}

/* Where no time passed (no Q was seen to begin with) the maximum may still be known. */
static void set_unknown_depth(json_t *obj, const struct device_sum *dev, const char *why)
{
	json_t *depth;

	if (!dev->depth_max || dev->whole_ios || !saw_issue(dev) || !saw_complete(dev)) {
		tree_unknown(obj, "depth", "%s", why);
		return;
	}
	depth = json_object();
	tree_unknown(depth, "mean", "%s", why);
	tree_count(depth, "max", dev->depth_max);
	json_object_set_new(obj, "depth", depth);
}

static void set_time_line(json_t *obj, const struct report *r, const struct device_sum *dev)
{
	double all = (double)(dev->busy_ns + dev->held_ns + dev->idle_ns);
	const char *why = no_time_line_why(r, dev);
	json_t *depth;

	if (why) {
		set_unknown_depth(obj, dev, why);
		unknown_shares(obj, why);
		tree_unknown(obj, "depth_over_time", "%s", why);
		return;
	}
	depth = json_object();
	tree_real(depth, "mean", dev->depth_area / all);
	if (dev->busy_ns)
		tree_real(depth, "mean_while_busy", dev->depth_area / (double)dev->busy_ns);
	tree_count(depth, "max", dev->depth_max);
	json_object_set_new(depth, "levels", depth_levels(dev));
	json_object_set_new(obj, "depth", depth);
	json_object_set_new(obj, "depth_over_time", tree_depth_over_time(r, dev));
	set_shares(obj, dev, all);
	set_silence(obj, dev, r->genesis_ns);
}

static void set_distance(json_t *seeks, const char *key, const struct hist *h, double q,
			 unsigned int needs)
{
	uint64_t sectors;

	if (hist_quantile(h, q, &sectors))
		tree_count(seeks, key, sectors);
	else
		tree_unknown(seeks, key, "needs at least %u values", needs);
}

static void set_seeks(json_t *obj, const struct device_sum *dev)
{
	json_t *seeks;

	if (!dev->seeks) {
		tree_unknown(obj, "seeks", "fewer than two I/Os with a place on the device");
		return;
	}
	seeks = json_object();
	tree_count(seeks, "count", dev->seeks);
	tree_real(seeks, "sequential_share", (double)dev->sequential / (double)dev->seeks);
	tree_count(seeks, "mean_sectors",
		   (uint64_t)llround(dev->seek_sum_sectors / (double)dev->seeks));
	set_distance(seeks, "p50_sectors", &dev->seek_sectors, 0.5, 2);
	set_distance(seeks, "p90_sectors", &dev->seek_sectors, 0.9, 10);
	set_distance(seeks, "p99_sectors", &dev->seek_sectors, 0.99, 100);
	json_object_set_new(obj, "seeks", seeks);
}

static void set_hazards(json_t *obj, const struct report *r, const struct device_sum *dev)
{
	if (saw_issue(dev))
		json_object_set_new(obj, "hazards", tree_hazards(r, dev));
	else
		tree_unknown(obj, "hazards", "no request was seen to be issued here");
}

static void set_alignment(json_t *obj, const struct report *r, const struct device_sum *dev)
{
	json_t *tree = r->alignment ? alignment_tree(r, dev->device) : NULL;

	if (tree)
		json_object_set_new(obj, "alignment", tree);
	else
		tree_unknown(obj, "alignment", "%s",
			     r->alignment ? "no data write of 4 KiB or more was seen"
					  : "not asked for (--align)");
}

static void set_partitions(json_t *obj, const struct report *r, const struct device_sum *dev,
			   const json_t *meta)
{
	json_t *partitions = device_partitions(r->facts, dev->device);

	if (partitions)
		json_object_set_new(obj, "partitions", partitions);
	else
		tree_unknown(obj, "partitions", "%s",
			     meta ? "the whole device was recorded"
				  : "this input does not tell whether it is of a part only");
}

json_t *tree_device(const struct report *r, const struct device_sum *dev)
{
	const json_t *meta = device_meta(r->facts, dev->device);
	const char *name = facts_device_name(r->facts, dev->device);
	json_t *obj = json_object(), *parents = json_array(), *cache;

	tree_device_number(obj, r->facts, dev->device);
	if (name)
		tree_text(obj, "name", name);
	else if (!json_object_get(obj, "name"))
		tree_unknown(obj, "name", "no input names this device");
	set_kind(obj, dev, meta);
	set_partitions(obj, r, dev, meta);
	for (int i = 0; i < dev->nr_parents; i++)
		json_array_append_new(parents, tree_printf("%u,%u", DEVICE_MAJOR(dev->parents[i]),
							   DEVICE_MINOR(dev->parents[i])));
	json_object_set_new(obj, "parents", parents);
	cache = json_object_get(meta, "write_cache");
	if (json_is_string(cache))
		json_object_set(obj, "write_cache", cache);
	else
		tree_unknown(obj, "write_cache", "not recorded with this trace");
	tree_count(obj, "events", dev->events);
	set_counts(obj, r, dev);
	set_flush(obj, dev);
	set_troubles(obj, dev);
	set_latency(obj, r, dev);
	set_time_line(obj, r, dev);
	set_seeks(obj, dev);
	set_hazards(obj, r, dev);
	set_alignment(obj, r, dev);
	return obj;
}
