/* SPDX-License-Identifier: MIT
 *
 * The statistics of --fix: the classic's blocks, from the tracker's summary.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "classic/fix.h"
#include "classic/statistics.h"

#define NS_PER_S UINT64_C(1000000000)

/* Only text: what is not there may have been cut. */
static bool is_text(const struct facts *facts)
{
	bool text = false;

	for (size_t i = 0; i < facts->nr_inputs; i++) {
		const struct input_info *in = &facts->inputs[i];

		if (!in->is_text && in->events)
			return false;
		text |= in->is_text && in->events;
	}
	return text;
}

static bool any_count(const struct class_count *c)
{
	for (int i = 0; i < CLASS_NR; i++)
		if (c[i].count)
			return true;
	return false;
}

static void add_cpu(struct fix_rows *rows, const struct cpu_sum *cpu)
{
	io_counts_add(&rows->counts, &cpu->counts);
	rows->unplugs += cpu->unplugs;
	rows->timer_unplugs += cpu->timer_unplugs;
	rows->splits += cpu->splits;
}

static struct fix_rows total_of(const struct device_sum *dev)
{
	struct fix_rows rows = { .depths = dev->depths, .with_depth = true };

	for (size_t i = 0; i < dev->nr_cpus; i++)
		if (dev->cpus[i])
			add_cpu(&rows, dev->cpus[i]);
	if (dev->cpu_untold)
		add_cpu(&rows, dev->cpu_untold);
	return rows;
}

/* A partition that remaps of this trace go through has no I/O of its own. */
static bool only_led_through(const struct device_sum *dev, const struct fix_rows *total)
{
	return dev->nr_parents && !dev->have_requests && !dev->in_flight && !dev->remapped_in &&
	       !total->splits && !any_count(total->counts.bios) &&
	       !any_count(total->counts.completed) && !dev->orphan_completes;
}

/* ftrace's unplugs have no device. */
static bool unplugs_known(const struct summary *sum)
{
	uint64_t told = 0;

	for (size_t i = 0; i < sum->nr_devices; i++) {
		struct fix_rows total = total_of(&sum->devices[i]);

		told += total.unplugs + total.timer_unplugs;
	}
	return told || !sum->unplugs;
}

/* As `report` does where it prints null. */
static struct fix_known known_of(const struct fix_result *result, const struct device_sum *dev,
				 const struct fix_rows *total, bool unplugs)
{
	bool text = is_text(result->facts);
	bool queued = any_count(total->counts.bios) || dev->nowait_retries;
	bool issued = any_count(total->counts.requests) || dev->whole_ios;

	return (struct fix_known){
		.bios = !text || queued,
		.requests = issued || (!text && dev->have_requests),
		.merges = dev->have_requests && !dev->whole_ios,
		.bytes = !dev->bytes_unknown,
		.unplugs = unplugs,
		.depth = issued && !dev->whole_ios && (!text || any_count(total->counts.completed)),
	};
}

struct device_text {
	char text[32];
};

static struct device_text name_of(const struct facts *facts, uint32_t device)
{
	const char *name = facts_device_name(facts, device);
	struct device_text shown;

	if (name)
		snprintf(shown.text, sizeof(shown.text), "%s", name);
	else
		snprintf(shown.text, sizeof(shown.text), "%u,%u", DEVICE_MAJOR(device),
			 DEVICE_MINOR(device));
	return shown;
}

/* ---- below the blocks of a device ---- */

static struct shown rate(const struct fix_result *result, const struct fix_rows *total,
			 enum io_class class, bool grouped)
{
	const struct wait_sum *window = &result->sum->wait;
	double ns = (double)(window->to_ns - window->from_ns);
	double kib = (double)total->counts.completed[class].bytes / 1024;
	struct shown shown;

	if (window->to_ns <= window->from_ns || !total->known.bytes)
		return (struct shown){ "n/a" };
	snprintf(shown.text, sizeof(shown.text), "%.40sKiB/s",
		 statistics_number((uint64_t)(kib * NS_PER_S / ns), 0, grouped).text);
	return shown;
}

static bool numbered(const struct fix_result *result)
{
	return result->numbered && !is_text(result->facts);
}

static void print_skips(struct out *out, const struct fix_result *result,
			const struct device_sum *dev, bool grouped)
{
	struct skips skips = facts_skips(result->facts, dev->device);
	struct shown gaps = statistics_number(skips.gaps, 0, grouped);
	struct shown missing = statistics_number(skips.missing, 0, grouped);
	double percent = 0;

	if (!numbered(result)) {
		out_printf(out, "Skips: n/a forward (n/a -   n/a%%)\n");
		return;
	}
	if (skips.missing)
		percent = 100.0 * (double)skips.missing / (double)(skips.missing + dev->events);
	out_printf(out, "Skips: %s forward (%s - %5.1f%%)\n", gaps.text, missing.text, percent);
}

static void print_errors(struct out *out, const struct device_sum *dev, const char *name,
			 bool grouped)
{
	uint64_t sum = 0;

	for (uint64_t i = 0; i < dev->nr_errors; i++)
		sum += dev->errors[i].count;
	out_printf(out, "Errors (%s): %s", name, statistics_number(sum, 0, grouped).text);
	for (uint64_t i = 0; i < dev->nr_errors; i++) {
		const struct io_error *e = &dev->errors[i];

		out_printf(out, "%s%s %s [%s]", i ? ", " : " (",
			   statistics_number(e->count, 0, grouped).text,
			   class_name((enum io_class)e->class), fix_error(-e->error).text);
	}
	out_printf(out, dev->nr_errors ? ")\n" : "\n");
}

static void print_end(struct out *out, const struct fix_result *result,
		      const struct device_sum *dev, const struct fix_rows *total, const char *name,
		      bool grouped)
{
	struct shown reads = rate(result, total, CLASS_READ, grouped);
	struct shown writes = rate(result, total, CLASS_WRITE, grouped);

	out_printf(out, "\nThroughput (R/W): %s / %s\n", reads.text, writes.text);
	out_printf(out, "Events (%s): %s entries\n", name,
		   statistics_number(dev->events, 0, grouped).text);
	print_skips(out, result, dev, grouped);
	print_errors(out, dev, name, grouped);
	if (dev->in_flight)
		out_printf(out, "Open at the end (%s): %s\n", name,
			   statistics_number(dev->in_flight, 0, grouped).text);
}

/* ---- blocks ---- */

static void print_cpu(struct out *out, const struct cpu_sum *cpu, const struct fix_known *known,
		      const char *name, bool grouped)
{
	struct fix_rows rows = { .depths = cpu->depths, .with_depth = true, .known = *known };

	add_cpu(&rows, cpu);
	if (cpu->cpu == CPU_UNTOLD)
		out_printf(out, "CPU n/a (%s):\n", name);
	else
		out_printf(out, "CPU%u (%s):\n", cpu->cpu, name);
	fix_rows(out, &rows, grouped);
}

static bool is_shown(const struct cpu_sum *cpu)
{
	return cpu && (cpu->events || cpu->unplugs || cpu->timer_unplugs);
}

static void print_device(struct out *out, const struct fix_result *result,
			 const struct device_sum *dev, const struct fix_rows *total, bool grouped)
{
	struct device_text name = name_of(result->facts, dev->device);
	unsigned int blocks = 0;

	for (size_t i = 0; i <= dev->nr_cpus; i++) {
		const struct cpu_sum *cpu = i < dev->nr_cpus ? dev->cpus[i] : dev->cpu_untold;

		if (!is_shown(cpu))
			continue;
		print_cpu(out, cpu, &total->known, name.text, grouped);
		blocks++;
	}
	if (blocks > 1) {
		out_printf(out, "\nTotal (%s):\n", name.text);
		fix_rows(out, total, grouped);
	}
	print_end(out, result, dev, total, name.text, grouped);
}

static void print_losses(struct out *out, const struct fix_result *result, bool grouped)
{
	uint64_t nr = facts_dropped(result->facts, result->stats);
	uint64_t unwritten = facts_unwritten_bytes(result->facts);
	bool known = nr || result->facts->dropped_told;

	out_printf(out, "\nLosses: %s events dropped; %s bytes damaged in %s places",
		   known ? statistics_number(nr, 0, grouped).text : "n/a",
		   statistics_number(result->stats->damaged_bytes, 0, grouped).text,
		   statistics_number(result->stats->damages, 0, grouped).text);
	if (unwritten)
		out_printf(out, "; %s bytes could not be written",
			   statistics_number(unwritten, 0, grouped).text);
	out_printf(out, "\nCounted by blklab's rules (--fix): bios when queued, requests at their "
			"first dispatch, completions\nonce; flushes, discards and the like apart; "
			"KiB = 1024 bytes. Without --fix: as blkparse counts.\n");
}

void fix_devices(struct out *out, const struct fix_result *result, bool grouped)
{
	bool first = true, unplugs = unplugs_known(result->sum);

	for (size_t i = 0; i < result->sum->nr_devices; i++) {
		const struct device_sum *dev = &result->sum->devices[i];
		struct fix_rows total = total_of(dev);

		if (only_led_through(dev, &total))
			continue;
		if (!first)
			out_printf(out, "\n");
		first = false;
		total.known = known_of(result, dev, &total, unplugs);
		print_device(out, result, dev, &total, grouped);
	}
	print_losses(out, result, grouped);
}
