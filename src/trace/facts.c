/* SPDX-License-Identifier: MIT */
#include "trace/facts.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/container.h"
#include "base/mem.h"

/* Hostile input could ask for one note per byte; nobody reads more than this. */
#define NOTES_MAX    200
#define DEVICES_MAX  65536
#define SKIPS_MAX    4096
#define IGNORED_TEXT 200 /* bytes that are kept of an ignored line */

struct held {
	struct hnode node; /* key: device */
	size_t input;
};

void facts_init(struct facts *facts)
{
	*facts = (struct facts){ 0 };
	names_init(&facts->names);
	hash_init(&facts->held);
	slab_init(&facts->held_slab, sizeof(struct held));
}

void facts_release(struct facts *facts)
{
	names_release(&facts->names);
	hash_release(&facts->held);
	slab_release(&facts->held_slab);
	for (size_t i = 0; i < facts->nr_inputs; i++) {
		free(facts->inputs[i].path);
		free(facts->inputs[i].ignored);
	}
	for (size_t i = 0; i < facts->nr_notes; i++)
		free(facts->notes[i]);
	for (size_t i = 0; i < facts->nr_ignored; i++) {
		free(facts->ignored[i].text);
		free(facts->ignored[i].why);
	}
	free(facts->ignored);
	json_decref(facts->metrics);
	json_decref(facts->summary_blocks);
	json_decref(facts->latency_tables);
	json_decref(facts->snapshots);
	json_decref(facts->findings);
	free(facts->inputs);
	free(facts->losses);
	free(facts->skips);
	free(facts->devices);
	free(facts->notes);
	free(facts->dropped_unknown_why);
	json_decref(facts->meta);
	*facts = (struct facts){ 0 };
}

size_t facts_input(struct facts *facts, const char *path, const char *format)
{
	facts->inputs = mem_grow(facts->inputs, facts->nr_inputs, sizeof(*facts->inputs));
	facts->inputs[facts->nr_inputs] =
		(struct input_info){ .path = mem_strdup(path), .format = format };
	return facts->nr_inputs++;
}

void facts_note(struct facts *facts, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	if (facts->nr_notes == NOTES_MAX)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	for (size_t i = 0; i < facts->nr_notes; i++) {
		if (!strcmp(facts->notes[i], text))
			return;
	}
	facts->notes = mem_grow(facts->notes, facts->nr_notes, sizeof(*facts->notes));
	facts->notes[facts->nr_notes++] = mem_strdup(text);
}

void facts_loss(struct facts *facts, const struct loss *loss)
{
	facts->losses = mem_grow(facts->losses, facts->nr_losses, sizeof(*facts->losses));
	facts->losses[facts->nr_losses++] = *loss;
}

static struct skips *find_skips(const struct facts *facts, uint32_t device)
{
	for (size_t i = 0; i < facts->nr_skips; i++)
		if (facts->skips[i].device == device)
			return &facts->skips[i];
	return NULL;
}

void facts_skipped(struct facts *facts, uint32_t device, uint64_t missing)
{
	struct skips *skips = find_skips(facts, device);

	if (!skips) {
		if (facts->nr_skips == SKIPS_MAX)
			return;
		facts->skips = mem_grow(facts->skips, facts->nr_skips, sizeof(*facts->skips));
		skips = &facts->skips[facts->nr_skips++];
		*skips = (struct skips){ .device = device };
	}
	skips->gaps++;
	skips->missing += missing;
}

void facts_skipped_late(struct facts *facts, uint32_t device)
{
	struct skips *skips = find_skips(facts, device);

	if (!skips || !skips->missing)
		return;
	skips->missing--;
	if (skips->gaps > skips->missing)
		skips->gaps = skips->missing;
}

struct skips facts_skips(const struct facts *facts, uint32_t device)
{
	const struct skips *skips = find_skips(facts, device);

	return skips ? *skips : (struct skips){ .device = device };
}

void facts_device(struct facts *facts, uint32_t device, const char *name)
{
	struct device_name *d;

	if (facts_device_name(facts, device) || facts->nr_devices == DEVICES_MAX)
		return;
	facts->devices = mem_grow(facts->devices, facts->nr_devices, sizeof(*facts->devices));
	d = &facts->devices[facts->nr_devices++];
	*d = (struct device_name){ .device = device };
	snprintf(d->name, sizeof(d->name), "%s", name);
}

const char *facts_device_name(const struct facts *facts, uint32_t device)
{
	for (size_t i = 0; i < facts->nr_devices; i++) {
		if (facts->devices[i].device == device)
			return facts->devices[i].name;
	}
	return NULL;
}

void facts_device_held(struct facts *facts, uint32_t device, size_t input)
{
	struct hnode *node = hash_find(&facts->held, device);
	struct held *held;

	if (node) {
		held = container_of(node, struct held, node);
		if (held->input != input && !facts->twice.found)
			facts->twice = (struct device_twice){ true, device, held->input, input };
		return;
	}
	if (facts->held.nr == DEVICES_MAX)
		return;
	held = slab_get(&facts->held_slab);
	held->input = input;
	hash_add(&facts->held, &held->node, device);
}

void facts_ignored(struct facts *facts, size_t input, uint64_t nr, const char *text,
		   const char *why)
{
	facts->inputs[input].lines_ignored++;
	if (facts->nr_ignored == IGNORED_MAX)
		return;
	facts->ignored = mem_grow(facts->ignored, facts->nr_ignored, sizeof(*facts->ignored));
	facts->ignored[facts->nr_ignored++] =
		(struct ignored_line){ .input = input,
				       .nr = nr,
				       .text = mem_strndup(text, IGNORED_TEXT),
				       .why = mem_strdup(why) };
}

bool facts_append(json_t **array, json_t *obj)
{
	if (!*array)
		*array = json_array();
	if (json_array_size(*array) >= FACTS_MAX) {
		json_decref(obj);
		return false;
	}
	return !json_array_append_new(*array, obj);
}

void facts_dropped_unknown(struct facts *facts, const char *why)
{
	if (!facts->dropped_unknown_why)
		facts->dropped_unknown_why = mem_strdup(why);
}

uint64_t facts_dropped(const struct facts *facts, const struct source_stats *stats)
{
	uint64_t told = facts->dropped_told ? facts->dropped : 0;

	return told > stats->lost ? told : stats->lost;
}

uint64_t facts_unwritten_bytes(const struct facts *facts)
{
	const json_t *list = json_object_get(facts->meta, "write_errors");
	uint64_t sum = 0;

	for (size_t i = 0; i < json_array_size(list); i++)
		sum += (uint64_t)json_integer_value(
			json_object_get(json_array_get(list, i), "lost_bytes"));
	return sum;
}

bool facts_have_losses(const struct facts *facts, const struct source_stats *stats)
{
	return facts_dropped(facts, stats) || facts->nr_losses || stats->sequence_gaps ||
	       stats->damaged_bytes || stats->damages || facts_unwritten_bytes(facts);
}
