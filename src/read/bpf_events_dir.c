/* SPDX-License-Identifier: MIT
 *
 * The events of the bpf backend in their trace directory: what meta.json tells of them.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "read/bpf_events.h"
#include "trace/bpf_ops.h"

/* "cpu3.bpf" -> 3, or -1. */
static int cpu_of(const char *name)
{
	const char *at = name + 3;
	int cpu = 0;

	if (strncmp(name, "cpu", 3) != 0 || !isdigit((unsigned char)*at))
		return -1;
	for (; isdigit((unsigned char)*at) && cpu <= UINT16_MAX; at++)
		cpu = cpu * 10 + (*at - '0');
	return cpu > UINT16_MAX || strcmp(at, ".bpf") != 0 ? -1 : cpu;
}

static uint64_t get_u64(const json_t *object, const char *key)
{
	json_int_t value = json_integer_value(json_object_get(object, key));

	return value > 0 ? (uint64_t)value : 0;
}

void bpf_meaning_read(struct bpf_meaning *meaning, const json_t *meta)
{
	const json_t *bpf = json_object_get(meta, "bpf"), *filter = json_object_get(meta, "filter");
	const char *name;
	json_t *value;

	*meaning = (struct bpf_meaning){ 0 };
	memset(meaning->class_of, CLASS_OTHER, sizeof(meaning->class_of));
	json_object_foreach(json_object_get(bpf, "ops"), name, value)
	{
		json_int_t op = json_is_integer(value) ? json_integer_value(value) : -1;

		if (op < 0 || op > 255)
			continue;
		meaning->class_of[op] = (uint8_t)bpf_op_class(name);
		meaning->flags_of[op] = bpf_op_flags(name);
	}
	json_object_foreach(json_object_get(bpf, "flags"), name, value)
	{
		json_int_t bit = json_is_integer(value) ? json_integer_value(value) : -1;

		if (bit >= 8 && bit < 32)
			meaning->flag_of[bit] = bpf_flag(name);
	}
	meaning->held =
		get_u64(filter, "slower_ns") || get_u64(filter, "pid") || get_u64(filter, "cgroup");
}

static void add_word(char *text, size_t size, const char *word)
{
	size_t len = strlen(text);

	snprintf(text + len, size - len, "%s%s", len ? ", " : "", word);
}

/* A trace of a part of the I/O: no share of time or of requests in it is one of the device's. */
static void note_filter(struct input *in, const json_t *filter, struct facts *facts)
{
	char text[256] = "", word[80];
	const json_t *classes = json_object_get(filter, "classes"), *class;
	size_t i;

	if (!json_is_object(filter))
		return;
	if (get_u64(filter, "slower_ns")) {
		snprintf(word, sizeof(word), "requests that took %g ms or more",
			 (double)get_u64(filter, "slower_ns") / 1e6);
		add_word(text, sizeof(text), word);
	}
	json_array_foreach(classes, i, class)
	{
		snprintf(word, sizeof(word), "class %.32s",
			 json_is_string(class) ? json_string_value(class) : "?");
		add_word(text, sizeof(text), word);
	}
	if (get_u64(filter, "pid")) {
		snprintf(word, sizeof(word), "submitted by process %" PRIu64,
			 get_u64(filter, "pid"));
		add_word(text, sizeof(text), word);
	}
	if (get_u64(filter, "cgroup")) {
		snprintf(word, sizeof(word), "submitted in cgroup %" PRIu64,
			 get_u64(filter, "cgroup"));
		add_word(text, sizeof(text), word);
	}
	facts_note(
		facts,
		"%s: only a part of the I/O was recorded (%s): shares of time, rates, depths and "
		"counts are of that part, not of the device",
		in->label, text[0] ? text : "by a filter that is not known");
}

static const json_t *ring_of(const json_t *meta, const char *file)
{
	const json_t *ring;
	size_t i;

	json_array_foreach(json_object_get(meta, "ring"), i, ring)
	{
		const char *name = json_string_value(json_object_get(ring, "file"));

		if (name && !strcmp(name, file))
			return ring;
	}
	return NULL;
}

static void take_drops(struct input *in, const json_t *meta, const json_t *ring,
		       struct bpf_file *file, struct facts *facts)
{
	file->drops_told = json_is_integer(json_object_get(ring, "dropped_events"));
	if (file->drops_told) {
		facts->dropped += get_u64(ring, "dropped_events");
		facts->dropped_told = true;
	} else if (!json_is_true(json_object_get(meta, "complete"))) {
		facts_dropped_unknown(facts, "the recorder did not finish, so what the kernel "
					     "lost was not asked for");
	} else {
		facts_dropped_unknown(facts, "meta.json does not tell what was lost");
	}
}

/* Losses that have no place in the files. */
static void take_losses(struct input *in, const json_t *meta, struct facts *facts)
{
	const json_t *bpf = json_object_get(meta, "bpf");
	uint64_t room = get_u64(bpf, "not_held") + get_u64(bpf, "cut");
	uint64_t unseen = get_u64(bpf, "unseen");

	facts->dropped += room + unseen;
	if (unseen)
		facts_note(facts,
			   "%s: by the disk's own count %" PRIu64
			   " requests more completed than the recorder was told of: their "
			   "completions are missing",
			   in->label, unseen);
	if (room)
		facts_note(facts,
			   "%s: %" PRIu64 " events had no room while it was not known yet whether "
			   "they belong to what was asked for",
			   in->label, room);
	if (get_u64(bpf, "runs_missed"))
		facts_note(
			facts,
			"%s: the kernel left out %" PRIu64 " runs of the recorder's programs, on "
			"CPUs that were just in the same one: so many events, of any device, may "
			"be missing",
			in->label, get_u64(bpf, "runs_missed"));
}

int bpf_events_open(struct input *in, const json_t *meta, struct facts *facts,
		    struct sources *sources, struct error *err)
{
	struct input_info *info = &facts->inputs[facts->nr_inputs - 1];
	struct bpf_meaning meaning;
	unsigned int nr = 0;

	bpf_meaning_read(&meaning, meta);
	for (size_t i = 0; i < in->nr; i++) {
		const json_t *ring = ring_of(meta, in->blobs[i].name);
		struct bpf_file file = { .stored_bytes = get_u64(ring, "bytes_written"),
					 .lost_bytes = get_u64(ring, "lost_bytes"),
					 .input = facts->nr_inputs - 1 };

		if (cpu_of(in->blobs[i].name) < 0)
			continue;
		take_drops(in, meta, ring, &file, facts);
		sources_add(sources, bpf_source_new(&meaning, &in->blobs[i], &file, facts));
		nr++;
	}
	if (!nr)
		return error_set(err, "%s: holds no cpuN.bpf", in->label);
	take_losses(in, meta, facts);
	note_filter(in, json_object_get(meta, "filter"), facts);
	snprintf(info->dialect, sizeof(info->dialect), "bpf, %u CPU%s", nr, nr == 1 ? "" : "s");
	return 0;
}
