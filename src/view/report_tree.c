// SPDX-License-Identifier: MIT
/* The trunk of the report, its inputs and losses; other branches: device_tree.c, verdict_tree.c,
 * findings.c. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "view/num.h"
#include "view/tree.h"

/* The recorder's own counter and the loss marks inside the data count the same losses: the larger
 * of the two is what is known. */
bool report_has_losses(const struct report *r)
{
	return facts_have_losses(r->facts, r->stats);
}

static void set_lines(json_t *obj, const struct input_info *info)
{
	static const char *const keys[] = { "lines_used", "lines_ignored", "missing_numbers" };
	const uint64_t values[] = { info->lines_used, info->lines_ignored, info->missing_numbers };

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (info->is_text)
			tree_count(obj, keys[i], values[i]);
		else
			tree_unknown(obj, keys[i], "not a text");
	}
	if (!info->events)
		tree_unknown(obj, "resolution_ns", "it has no events");
	else
		tree_count(obj, "resolution_ns", info->resolution_ns ? info->resolution_ns : 1);
}

static json_t *input(const struct report *r, const struct input_info *info)
{
	json_t *obj = json_object();

	tree_text(obj, "path", info->path);
	tree_text(obj, "format", info->format ? info->format : "unknown");
	if (info->dialect[0])
		tree_text(obj, "dialect", info->dialect);
	else
		tree_unknown(obj, "dialect",
			     info->is_text ? "nothing special about it"
					   : "this format has only one");
	if (r->facts->kernel[0])
		tree_text(obj, "kernel", r->facts->kernel);
	else
		tree_unknown(obj, "kernel", "this %s does not name the kernel",
			     info->is_text ? "text" : "format");
	tree_count(obj, "events", info->events);
	set_lines(obj, info);
	if (info->ignored)
		tree_text(obj, "ignored", info->ignored);
	return obj;
}

static json_t *inputs(const struct report *r)
{
	json_t *list = json_array();

	for (size_t i = 0; i < r->facts->nr_inputs; i++)
		json_array_append_new(list, input(r, &r->facts->inputs[i]));
	return list;
}

static json_t *windows(const struct report *r)
{
	json_t *list = json_array();

	for (size_t i = 0; i < r->facts->nr_losses; i++) {
		const struct loss *loss = &r->facts->losses[i];
		uint64_t from = loss->from_ns > r->genesis_ns ? loss->from_ns - r->genesis_ns : 0;
		uint64_t to = loss->to_ns > r->genesis_ns ? loss->to_ns - r->genesis_ns : 0;
		json_t *obj = json_object();

		tree_count(obj, "cpu", loss->cpu);
		tree_count(obj, "from_ns", from);
		tree_count(obj, "to_ns", to);
		if (loss->count_known)
			tree_count(obj, "events", loss->events);
		else
			tree_unknown(obj, "events", "the ring buffer does not say how many");
		json_array_append_new(list, obj);
	}
	return list;
}

/* Q + X = G + bio merges + NOWAIT retries + bios still waiting (model.md 1). Multi-range discards
 * have one G for many Q, so a surplus up to their number says nothing. */
static void hint_conservation(json_t *hints, const struct report *r, const struct device_sum *dev)
{
	uint64_t queued = dev->splits, merged = dev->back_merges + dev->front_merges;
	uint64_t into = dev->getrqs + merged + dev->nowait_retries;
	char *name;

	if (!dev->have_requests || !dev->getrqs)
		return;
	for (int c = CLASS_READ; c < CLASS_NR; c++)
		queued += dev->bios[c].count;
	queued += dev->nowait_retries;
	if (queued >= into && queued - into <= dev->in_flight + dev->bios[CLASS_DISCARD].count)
		return;
	name = device_label(r->facts, dev->device);
	json_array_append_new(
		hints, tree_printf("%s: %s bios and splits went in, %s got or joined a request; "
				   "the difference is more than what was still waiting",
				   name, num_count(queued).s, num_count(into).s));
	free(name);
}

static void hint_orphans(json_t *hints, const struct report *r, const struct device_sum *dev)
{
	char *name;

	if (!dev->orphan_issues)
		return;
	name = device_label(r->facts, dev->device);
	json_array_append_new(hints,
			      tree_printf("%s: %s requests were issued and never seen to complete",
					  name, num_count(dev->orphan_issues).s));
	free(name);
}

static json_t *hints(const struct report *r)
{
	json_t *list = json_array();

	for (size_t i = 0; i < r->sum->nr_devices; i++) {
		if (!report_is_text(r)) /* excerpts have any ratio */
			hint_conservation(list, r, &r->sum->devices[i]);
		hint_orphans(list, r, &r->sum->devices[i]);
	}
	return list;
}

/* Lines were cut, or I/O is half there. */
static bool is_part_only(const struct report *r)
{
	if (!report_is_text(r))
		return false;
	for (size_t i = 0; i < r->sum->nr_devices; i++) {
		const struct device_sum *dev = &r->sum->devices[i];

		if (dev->orphan_completes || dev->orphan_issues || dev->orphan_merges ||
		    dev->in_flight)
			return true;
	}
	return report_missing_numbers(r) > 0;
}

static json_t *unsafe_numbers(const struct report *r)
{
	static const char *const words[] = { "counts and bytes", "queue depth",
					     "busy, held and idle shares", "the verdict's shares",
					     "maximum latencies" };
	bool unsafe = report_has_losses(r) || is_part_only(r);
	json_t *list = json_array();

	for (size_t i = 0; unsafe && i < sizeof(words) / sizeof(words[0]); i++)
		json_array_append_new(list, json_string(words[i]));
	return list;
}

json_t *tree_losses(const struct report *r)
{
	const char *why = r->facts->dropped_unknown_why;
	json_t *obj = json_object();
	uint64_t dropped = facts_dropped(r->facts, r->stats);

	if (!why && !r->facts->dropped_told && !dropped)
		why = report_is_text(r) ? "a text does not carry it"
					: "no counter of dropped events came with this input";
	if (dropped || r->facts->dropped_told) {
		tree_count(obj, "lost_events", dropped);
		tree_count(obj, "dropped", dropped);
		if (why) /* of several inputs, some told */
			tree_text(obj, "lost_events_why", why);
	} else {
		tree_unknown(obj, "lost_events", "%s", why);
		tree_unknown(obj, "dropped", "%s", why);
	}
	tree_count(obj, "sequence_gaps", r->stats->sequence_gaps);
	tree_count(obj, "damaged_bytes", r->stats->damaged_bytes);
	tree_count(obj, "damages", r->stats->damages);
	tree_count(obj, "unwritten_bytes", facts_unwritten_bytes(r->facts));
	json_object_set_new(obj, "windows", windows(r));
	json_object_set_new(obj, "hints", hints(r));
	json_object_set_new(obj, "unsafe", unsafe_numbers(r));
	return obj;
}

static void set_span(json_t *obj, const struct report *r)
{
	const struct facts *facts = r->facts;
	const struct summary *sum = r->sum;

	if (report_mixed_clocks(r))
		tree_unknown(obj, "span_ns", "several traces, each with a clock of its own");
	else if (sum->first_ns > sum->last_ns || !sum->events)
		tree_unknown(obj, "span_ns", "%s",
			     sum->events ? "no event has a time" : "there is no event");
	else
		tree_count(obj, "span_ns", sum->last_ns - sum->first_ns);
	if (facts->have_wall) {
		int64_t ahead = (int64_t)(r->genesis_ns - facts->wall_at_ns);

		tree_count(obj, "start_wall_ns", facts->wall_ns + (uint64_t)ahead);
	} else {
		tree_unknown(obj, "start_wall_ns", "the trace carries no wall-clock time");
	}
}

/* What the text itself prints at the first event: shown times and this are what stands in it. */
static void set_text_start(json_t *obj, const struct report *r)
{
	const struct summary *sum = r->sum;

	if (r->facts->text_bias_ns && !report_mixed_clocks(r) && sum->first_ns <= sum->last_ns)
		json_object_set_new(obj, "start_text_ns",
				    json_integer(
					    (json_int_t)(r->genesis_ns - r->facts->text_bias_ns)));
	else
		tree_unknown(obj, "start_text_ns", "no text with one clock");
}

/* The recording is longer than from its first to its last event. */
static void set_recorded(json_t *obj, const struct report *r)
{
	uint64_t from = tree_u64(r->facts->meta, "start_ns"),
		 to = tree_u64(r->facts->meta, "end_ns");

	if (from && to > from)
		tree_count(obj, "recorded_ns", to - from);
	else
		tree_unknown(obj, "recorded_ns",
			     "this input does not tell when recording began and "
			     "ended");
}

static void set_stopped_by(json_t *command, const struct report *r)
{
	const char *stopped = tree_str(r->facts->meta, "stopped_by");

	if (stopped)
		tree_text(command, "stopped_by", stopped);
	else
		tree_unknown(command, "stopped_by", "the recording has no end");
}

static void set_command(json_t *obj, const struct report *r)
{
	static const char *const keys[] = { "exit_status", "signal", "wall_ns", "user_ns",
					    "system_ns" };
	const json_t *meta = command_meta(r->facts);
	const char *why = "not so, or not recorded";
	json_t *command, *argv = json_array(), *arg;
	size_t i;

	if (!meta) {
		json_decref(argv);
		tree_unknown(obj, "command", "not recorded around a command");
		return;
	}
	command = json_object();
	if (!json_is_integer(json_object_get(meta, "end_ns")))
		why = tree_str(r->facts->meta, "stopped_by")
			      ? "the command had not ended when the recorder did"
			      : "the command's end was not seen: the recorder was killed, or still "
				"runs";
	json_array_foreach((json_t *)tree_at(meta, "argv"), i, arg) if (json_is_string(arg))
		json_array_append_new(argv, tree_string(json_string_value(arg)));
	json_object_set_new(command, "argv", argv);
	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		json_t *value = json_object_get(meta, keys[i]);

		if (json_is_integer(value))
			json_object_set(command, keys[i], value);
		else
			tree_unknown(command, keys[i], "%s", why);
	}
	set_stopped_by(command, r);
	json_object_set_new(obj, "command", command);
}

static json_t *notes(const struct report *r)
{
	json_t *list = json_array();

	for (size_t i = 0; i < r->facts->nr_notes; i++)
		json_array_append_new(list, tree_string(r->facts->notes[i]));
	if (r->sum->uncounted_events)
		json_array_append_new(
			list, tree_printf("left out of all numbers: %s of devices beyond the "
					  "first 4,096",
					  num_of(r->sum->uncounted_events, "event").s));
	if (r->requests && request_list_truncated(r->requests))
		json_array_append_new(
			list, tree_printf("requests_list holds the first %s that ended; %s more "
					  "are not kept (--top keeps the slowest)",
					  num_count(REQUEST_LIST_MAX).s,
					  num_count(request_list_truncated(r->requests)).s));
	return list;
}

static void set_events(json_t *obj, const struct summary *sum)
{
	json_t *events = json_object(), *actions = json_object();

	tree_count(events, "count", sum->events);
	tree_count(events, "messages", sum->messages);
	tree_count(events, "unknown", sum->unknown_events);
	tree_count(events, "time_backwards", sum->time_backwards);
	tree_count(events, "plugs", sum->plugs);
	tree_count(events, "unplugs", sum->unplugs);
	for (int a = 0; a < ACT_NR; a++) {
		const char *letter = action_letter((enum action)a);
		uint64_t before = tree_u64(actions, letter);

		if (sum->actions[a])
			tree_count(actions, letter, before + sum->actions[a]);
	}
	json_object_set_new(events, "actions", actions);
	json_object_set_new(obj, "events", events);
}

void tree_facts(json_t *obj, const char *key, const json_t *list, const char *why)
{
	if (json_array_size(list))
		json_object_set(obj, key, (json_t *)list);
	else
		tree_unknown(obj, key, "%s", why);
}

/* What was pasted beside events. */
static void set_facts(json_t *obj, const struct facts *facts)
{
	tree_facts(obj, "metrics", facts->metrics,
		   "not recorded: no benchmark result came with this trace");
	tree_facts(obj, "summary_blocks", facts->summary_blocks,
		   "not recorded: no summary text was given");
	tree_facts(obj, "latency_tables", facts->latency_tables, "no such table was given");
	tree_facts(obj, "snapshots", facts->snapshots, "no such text was given");
}

static void set_window(json_t *obj, const struct report *r)
{
	json_t *window;

	if (r->window != REPORT_ASKED)
		return;
	window = json_object();
	tree_count(window, "from_ns", r->window_from_ns);
	tree_count(window, "to_ns", r->window_to_ns);
	json_object_set_new(obj, "window", window);
}

static void set_by(json_t *obj, const struct report *r)
{
	if (r->by)
		json_object_set_new(obj, "by", tree_by(r));
	else
		tree_unknown(obj, "by", "not asked for (--by)");
}

static void set_requests(json_t *obj, const struct report *r)
{
	uint64_t truncated = r->requests ? request_list_truncated(r->requests) : 0;

	if (!r->requests) {
		tree_unknown(obj, "requests_list", "not asked for (--requests)");
		return;
	}
	json_object_set_new(obj, "requests_list", json_array());
	if (truncated)
		tree_count(obj, "requests_list_truncated", truncated);
}

/* A partition that remaps of this trace go through: it has no I/O of its own. */
static bool only_led_through(const struct device_sum *dev)
{
	return dev->nr_parents && !dev->have_requests && !dev->in_flight && !dev->splits &&
	       !dev->remapped_in && !saw_queue(dev) && !saw_complete(dev);
}

json_t *report_tree(const struct report *r)
{
	json_t *obj = json_object(), *devices = json_array();

	tree_count(obj, "schema_version", 1);
	tree_text(obj, "tool", "blklab " BLKLAB_VERSION);
	json_object_set_new(obj, "inputs", inputs(r));
	json_object_set_new(obj, "losses", tree_losses(r));
	set_span(obj, r);
	set_text_start(obj, r);
	set_recorded(obj, r);
	set_command(obj, r);
	set_window(obj, r);
	set_events(obj, r->sum);
	for (size_t i = 0; i < r->sum->nr_devices; i++)
		if (!only_led_through(&r->sum->devices[i]))
			json_array_append_new(devices, tree_device(r, &r->sum->devices[i]));
	json_object_set_new(obj, "devices", devices);
	json_object_set_new(obj, "processes", tree_processes(r));
	tree_unknown(obj, "files", "not recorded: block events do not name files");
	tree_unknown(obj, "syncs", "not recorded: block events do not show system calls");
	json_object_set_new(obj, "verdict", tree_verdict(r));
	json_object_set_new(obj, "findings", tree_findings(r));
	set_by(obj, r);
	set_requests(obj, r);
	set_facts(obj, r->facts);
	json_object_set_new(obj, "notes", notes(r));
	return obj;
}
