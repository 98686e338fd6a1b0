// SPDX-License-Identifier: MIT
/* Findings that the sums alone can show; ids and meanings in doc/findings.md. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "view/num.h"
#include "view/tree.h"

#define SILENCE_NS   500000000u           /* half a second without any completion */
#define SMALL_BYTES  (16 * 1024)          /* a small request ... */
#define SMALL_MANY   1000                 /* ... when there are many of them */
#define CACHED_BYTES (8ull * 1024 * 1024) /* left in the page cache when the command ended */

json_t *tree_finding(json_t *list, const char *id, const char *severity, const char *title,
		     json_t *sentence, json_t *advice)
{
	json_t *obj = json_object(), *evidence = json_object(), *all = json_array();

	tree_text(obj, "id", id);
	tree_text(obj, "severity", severity);
	tree_text(obj, "title", title);
	json_object_set_new(obj, "sentence", sentence);
	json_object_set_new(obj, "evidence", evidence);
	if (advice)
		json_array_append_new(all, advice);
	json_object_set_new(obj, "advice", all);
	json_array_append_new(list, obj);
	return evidence;
}

const json_t *find_finding(const json_t *list, const char *id)
{
	const char *has;
	json_t *f;
	size_t i;

	json_array_foreach((json_t *)list, i, f)
	{
		has = tree_str(f, "id");
		if (has && !strcmp(has, id))
			return f;
	}
	return NULL;
}

static void losses(json_t *list, const struct report *r)
{
	uint64_t dropped = facts_dropped(r->facts, r->stats);
	json_t *ev;

	if (dropped) {
		ev = tree_finding(
			list, "lost-events", "warning", "Events were lost",
			tree_printf("%s events were dropped: counts, depth, shares and maxima are "
				    "estimates.",
				    num_count(dropped).s),
			json_string("Record again with larger buffers (blktrace: -b and -n)."));
		tree_count(ev, "dropped", dropped);
	}
	if (r->stats->sequence_gaps) {
		ev = tree_finding(
			list, "sequence-gap", "warning", "Event numbers are missing",
			tree_printf("%s sequence numbers are missing from the binary trace.",
				    num_count(r->stats->sequence_gaps).s),
			NULL);
		tree_count(ev, "sequence_gaps", r->stats->sequence_gaps);
	}
	if (r->stats->damaged_bytes || r->stats->damages) {
		ev = tree_finding(list, "damaged-bytes", "warning",
				  "Part of the trace cannot be read",
				  tree_printf("%s in %s were cut, skipped or unreadable.",
					      r->stats->damaged_bytes
						      ? num_bytes((double)r->stats->damaged_bytes).s
						      : "Some bytes",
					      num_of(r->stats->damages, "place").s),
				  NULL);
		tree_count(ev, "damaged_bytes", r->stats->damaged_bytes);
		tree_count(ev, "damages", r->stats->damages);
	}
	if (r->facts->meta_incomplete)
		tree_finding(
			list, "recording-incomplete", "warning", "The recorder was killed",
			json_string(
				"The recorder was killed before it could finish: the end of the "
				"trace, CPU times and ring statistics are missing."),
			NULL);
}

static void io_errors(json_t *list, const struct device_sum *dev, const char *name)
{
	uint64_t count = 0;
	json_t *ev;

	for (uint64_t i = 0; i < dev->nr_errors; i++)
		count += dev->errors[i].count;
	if (!count)
		return;
	ev = tree_finding(
		list, "io-errors", "critical", "I/O failed",
		tree_printf("%s: %s ended with an error.", name, num_of(count, "request").s),
		json_string("See the errors of the device, and the kernel's messages (dmesg)."));
	tree_text(ev, "device", name);
	tree_count(ev, "count", count);
}

static void requeues(json_t *list, const struct device_sum *dev, const char *name)
{
	json_t *ev;

	if (!dev->requeues_failed)
		return;
	ev = tree_finding(
		list, "timeout-retry", "warning", "Requests failed and were tried again",
		tree_printf("%s: %s attempts took 1 ms or more and were then given back; the time "
			    "of lost attempts is not in d2c.",
			    name, num_count(dev->requeues_failed).s),
		NULL);
	tree_text(ev, "device", name);
	tree_count(ev, "requeues_failed", dev->requeues_failed);
}

static void silence(json_t *list, const struct device_sum *dev, const char *name,
		    const struct report *r)
{
	uint64_t at = dev->longest_silence_at_ns;
	json_t *ev;

	if (!dev->have_requests || dev->longest_silence_ns < SILENCE_NS)
		return;
	at = at > r->genesis_ns ? at - r->genesis_ns : 0;
	ev = tree_finding(list, "long-silence", "notice",
			  "The device completed nothing for a while",
			  tree_printf("%s: no completion for %s from %s on, while I/O was open.",
				      name, num_ns((double)dev->longest_silence_ns).s,
				      num_ns((double)at).s),
			  NULL);
	tree_text(ev, "device", name);
	tree_count(ev, "duration_ns", dev->longest_silence_ns);
	tree_count(ev, "at_ns", at);
}

static void pieces(json_t *list, const struct device_sum *dev, const char *name)
{
	const struct class_count *w = &dev->requests[CLASS_WRITE];
	double sequential = dev->seeks ? (double)dev->sequential / (double)dev->seeks : 0;
	uint64_t queued = 0;
	json_t *ev;

	for (int c = CLASS_READ; c < CLASS_NR; c++)
		queued += dev->bios[c].count;
	if (dev->have_requests && w->count >= SMALL_MANY && w->bytes / w->count <= SMALL_BYTES &&
	    sequential >= 0.5) {
		ev = tree_finding(
			list, "small-pieces", "notice", "Neighbouring writes go in small pieces",
			tree_printf("%s: %s writes of %s on average, though %s of all requests "
				    "continue where the last one ended.",
				    name, num_count(w->count).s,
				    num_bytes((double)w->bytes / (double)w->count).s,
				    num_share(sequential).s),
			NULL);
		tree_text(ev, "device", name);
		tree_count(ev, "writes", w->count);
		tree_real(ev, "sequential_share", sequential);
	}
	if (queued && dev->splits > queued / 2) {
		ev = tree_finding(list, "split-bios", "info",
				  "Bios are larger than the device takes",
				  tree_printf("%s: %s %s split %s.", name, num_of(queued, "bio").s,
					      queued == 1 ? "was" : "were",
					      num_of(dev->splits, "time").s),
				  NULL);
		tree_text(ev, "device", name);
		tree_count(ev, "splits", dev->splits);
	}
}

static uint64_t dirty(const json_t *meminfo)
{
	return tree_u64(meminfo, "Dirty_bytes") + tree_u64(meminfo, "Writeback_bytes");
}

/* What was written to the recorded devices, at the lowest level that was recorded. */
static uint64_t written(const struct summary *sum)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < sum->nr_devices; i++)
		if (!sum->devices[i].mapped)
			bytes += sum->devices[i].bios[CLASS_WRITE].bytes;
	return bytes;
}

/* Data that the command left behind in the page cache: its run time does not include their writing.
 * Two things must agree: the command's own account (ru_oublock: what it and its children dirtied or
 * wrote directly) is larger than what reached the devices, and the machine holds more dirty data than
 * before. Each alone is also true when other programs write. */
static void page_cache(json_t *list, const struct report *r)
{
	const json_t *meta = r->facts->meta;
	uint64_t made = tree_u64(command_meta(r->facts), "out_blocks") * SECTOR_SIZE;
	uint64_t before = dirty(tree_at(meta, "before.meminfo"));
	uint64_t after = dirty(tree_at(meta, "after.meminfo"));
	uint64_t reached = written(r->sum), left;
	json_t *ev;
	char *name;

	if (r->window == REPORT_ASKED || made <= reached || after <= before)
		return;
	left = made - reached < after - before ? made - reached : after - before;
	if (left < CACHED_BYTES)
		return;
	name = command_name(r->facts);
	ev = tree_finding(
		list, "page-cache", "warning", "Not everything was written when the command ended",
		tree_printf("%s and what it started wrote %s, of which at least %s were still in "
			    "the page cache at the end: its time does not include writing them.",
			    name, num_bytes((double)made).s, num_bytes((double)left).s),
		json_string("End the command with sync -f FILE, or write with conv=fsync."));
	tree_count(ev, "command_bytes", made);
	tree_count(ev, "reached_devices_bytes", reached);
	tree_count(ev, "dirty_before_bytes", before);
	tree_count(ev, "dirty_after_bytes", after);
	free(name);
}

json_t *tree_findings(const struct report *r)
{
	json_t *list = json_array(), *told;
	size_t i;

	losses(list, r);
	find_excerpt(list, r);
	for (i = 0; i < r->sum->nr_devices; i++) {
		const struct device_sum *dev = &r->sum->devices[i];
		char *name = device_label(r->facts, dev->device);

		io_errors(list, dev, name);
		requeues(list, dev, name);
		find_hazards(list, r, dev, name);
		find_completions(list, r, dev, name);
		silence(list, dev, name, r);
		pieces(list, dev, name);
		find_misaligned(list, r, dev->device, name);
		free(name);
	}
	find_proxies(list, r);
	find_cross_checks(list, r);
	page_cache(list, r);
	json_array_foreach(r->facts->findings, i, told) json_array_append(list, told);
	return list;
}
