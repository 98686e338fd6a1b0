/* SPDX-License-Identifier: MIT
 *
 * The trace directory that `blklab record` writes: doc/formats/trace_dir.md.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "read/blktrace_cpus.h"
#include "read/bpf_events.h"
#include "read/formats.h"
#include "read/ftrace_page.h"
#include "trace/format.h"

#define META            "meta.json"
#define META_MAX        (16u << 20)
#define PID_FILE_MAX    (8u << 20)
#define PROBE_BYTES     4096
#define LONG_NAME       96
#define PAGE_SIZE_USUAL 4096

/* A directory that we began and whose meta.json never came, or was left behind. */
static bool looks_begun(const struct input *in)
{
	for (size_t i = 0; i < in->nr; i++)
		if (page_blob_cpu(in->blobs[i].name) >= 0)
			return true;
	return input_blob(in, "facts/start.json") || input_blob(in, ".reserve");
}

static int dir_probe(struct input *in, struct error *err)
{
	struct blob *blob = input_blob(in, META);
	const uint8_t *head;
	size_t len;

	if (!blob)
		return looks_begun(in) ? 5 : 0;
	len = blob_head(blob, PROBE_BYTES, &head, err);
	if (len && memmem(head, len, "\"trace_version\"", 15))
		return 110; /* files of blktrace in it are not to be read without it */
	/* Another program's, or ours with its keys in another order or damaged: others may want it,
	 * but if nobody does, the sentence should be about meta.json. */
	return 10;
}

/* ---- meta.json ------------------------------------------------------------------------------ */

/* Unknown (absent, of another type or negative) is `otherwise`. */
static uint64_t get_u64(const json_t *object, const char *key, uint64_t otherwise)
{
	const json_t *value = json_object_get(object, key);

	if (!json_is_integer(value) || json_integer_value(value) < 0)
		return otherwise;
	return (uint64_t)json_integer_value(value);
}

static json_t *read_meta(struct input *in, struct error *err)
{
	struct blob *blob = input_blob(in, META);
	json_error_t where;
	json_t *meta;
	char *text;
	size_t len;

	if (!blob) {
		error_set(err,
			  "%s: meta.json is missing: the recorder was killed before it could "
			  "record, or not all files are here",
			  in->label);
		return NULL;
	}
	text = blob_text(blob, META_MAX, &len, err);
	blob_close(blob);
	if (!text)
		return NULL;
	meta = json_loadb(text, len, 0, &where);
	free(text);
	if (!meta) {
		error_set(err, "%s: meta.json line %d: %s", in->label, where.line, where.text);
		return NULL;
	}
	if (get_u64(meta, "trace_version", 0) != 1) {
		error_set(err, "%s: meta.json tells no trace_version that is known (1 is)",
			  in->label);
		json_decref(meta);
		return NULL;
	}
	return meta;
}

static void read_machine(const json_t *meta, struct page_machine *machine)
{
	const json_t *order = json_object_get(meta, "little_endian");

	machine->little_endian =
		order ? json_is_true(order) : __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
	machine->long_size = get_u64(meta, "long_size", 8) == 4 ? 4 : 8;
	machine->page_size = (uint32_t)get_u64(meta, "page_size", PAGE_SIZE_USUAL);
}

static void read_device_name(struct facts *facts, const json_t *device)
{
	const char *number = json_string_value(json_object_get(device, "device"));
	const char *name = json_string_value(json_object_get(device, "name"));
	unsigned int major, minor;

	if (number && name && sscanf(number, "%u,%u", &major, &minor) == 2 && major < 1u << 12 &&
	    minor < 1u << 20)
		facts_device(facts, DEVICE(major, minor), name);
}

static void read_devices(struct facts *facts, const json_t *meta)
{
	const json_t *device;
	size_t i;

	json_array_foreach(json_object_get(meta, "devices"), i, device)
	{
		read_device_name(facts, device);
		read_device_name(facts, json_object_get(device, "partition"));
	}
}

static void read_wall_clock(struct facts *facts, const json_t *meta)
{
	const json_t *wall = json_object_get(meta, "wall_clock");

	if (facts->have_wall || !json_is_integer(json_object_get(wall, "at_ns")) ||
	    !json_is_integer(json_object_get(wall, "wall_ns")))
		return;
	facts->have_wall = true;
	facts->wall_at_ns = get_u64(wall, "at_ns", 0);
	facts->wall_ns = get_u64(wall, "wall_ns", 0);
}

static void take_meta(struct facts *facts, struct input *in, const json_t *meta)
{
	const char *kernel = json_string_value(json_object_get(meta, "kernel"));

	if (kernel && !facts->kernel[0])
		snprintf(facts->kernel, sizeof(facts->kernel), "%s", kernel);
	read_wall_clock(facts, meta);
	read_devices(facts, meta);
	if (!json_is_true(json_object_get(meta, "complete"))) {
		facts->meta_incomplete = true;
		facts_note(facts,
			   "%s: the recording is incomplete (the recorder was killed); it is read "
			   "as far as it goes",
			   in->label);
	}
}

/* ---- names ---------------------------------------------------------------------------------- */

/* Calls take for every "NUMBER REST" line of a file that need not be there. */
static int each_pid(struct facts *facts, struct input *in, const char *name, uint64_t time_ns,
		    void (*take)(struct facts *, uint32_t pid, const char *rest, uint64_t time_ns),
		    struct error *err)
{
	struct blob *blob = input_blob(in, name);
	char *text, *line, *next;

	if (!blob)
		return 0;
	text = blob_text(blob, PID_FILE_MAX, NULL, err);
	blob_close(blob);
	if (!text)
		return -1;
	for (line = text; line && *line; line = next) {
		char *rest;
		unsigned long pid = strtoul(line, &rest, 10);

		next = strchr(line, '\n');
		if (next)
			*next++ = 0;
		if (rest != line && *rest == ' ' && pid <= UINT32_MAX)
			take(facts, (uint32_t)pid, rest + 1, time_ns);
	}
	free(text);
	return 0;
}

/* The kernel's table as it was at the end: what a pid was called last. */
static void take_cmdline(struct facts *facts, uint32_t pid, const char *name, uint64_t time_ns)
{
	names_add(&facts->names, pid, time_ns, name, strlen(name));
}

/* A thread is a child of its process, for the question who descends from whom. */
static void take_tgid(struct facts *facts, uint32_t pid, const char *tgid, uint64_t time_ns)
{
	unsigned long leader = strtoul(tgid, NULL, 10);

	if (leader && leader != pid && leader <= UINT32_MAX)
		names_fork(&facts->names, (uint32_t)leader, pid);
}

static int read_names(struct facts *facts, struct input *in, uint64_t end_ns, struct error *err)
{
	if (each_pid(facts, in, "saved_tgids", 0, take_tgid, err))
		return -1;
	return each_pid(facts, in, "saved_cmdlines", end_ns, take_cmdline, err);
}

/* ---- losses --------------------------------------------------------------------------------- */

/* What meta.json says of a CPU's ring, or NULL. */
static const json_t *ring_of(const json_t *meta, uint32_t cpu)
{
	const json_t *ring;
	size_t i;

	json_array_foreach(json_object_get(meta, "ring"), i, ring)
	{
		if (get_u64(ring, "cpu", UINT64_MAX) == cpu)
			return ring;
	}
	return NULL;
}

/* What the kernel lost on that CPU; false where it was not told, or not for all kinds of it. */
static bool ring_lost(const json_t *ring, uint64_t *lost)
{
	static const char *const keys[] = { "overrun", "commit_overrun", "dropped_events" };
	bool told = true;

	*lost = 0;
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		told = told && json_is_integer(json_object_get(ring, keys[i]));
		*lost += get_u64(ring, keys[i], 0);
	}
	return told;
}

static uint64_t write_lost(struct facts *facts, struct input *in, const json_t *meta,
			   const char *file)
{
	const json_t *error;
	uint64_t lost = 0;
	size_t i;

	json_array_foreach(json_object_get(meta, "write_errors"), i, error)
	{
		const char *name = json_string_value(json_object_get(error, "file"));
		uint64_t bytes = get_u64(error, "lost_bytes", 0);
		int errnum = (int)get_u64(error, "errno", 0);

		if (!name || strcmp(name, file))
			continue;
		lost += bytes;
		facts_note(facts,
			   "%s: %" PRIu64 " bytes of %s could not be written while recording: %s",
			   in->label, bytes, file, strerror(errnum));
	}
	return lost;
}

/* ---- the sources ---------------------------------------------------------------------------- */

static void add_cpu(struct input *in, struct facts *facts, struct sources *sources,
		    struct page_layout *layout, const json_t *meta, size_t i, uint32_t cpu)
{
	struct page_cpu of = { .cpu = cpu,
			       .start_ns = get_u64(meta, "start_ns", 0),
			       .input = facts->nr_inputs - 1 };
	const json_t *ring = ring_of(meta, cpu);
	char why[LONG_NAME + 64];

	of.write_lost = write_lost(facts, in, meta, in->blobs[i].name);
	of.stored_bytes = get_u64(ring, "bytes_written", 0);
	if (ring_lost(ring, &of.ring_lost)) {
		facts->dropped_told = true;
	} else if (!json_is_true(json_object_get(meta, "complete"))) {
		facts_dropped_unknown(facts, "the recorder did not finish, so what the kernel "
					     "lost was not asked for");
	} else {
		snprintf(why, sizeof(why), "%.*s holds no ring statistics of CPU %u", LONG_NAME,
			 in->label, cpu);
		facts_dropped_unknown(facts, why);
	}
	facts->dropped += of.ring_lost;
	sources_add(sources, page_source_new(layout, &in->blobs[i], &of, facts));
}

/* The pages of a CPU that are not there: nothing to read, but damage. */
static int missing_pull(struct source *self, struct event *events, int max, struct error *err)
{
	return 0;
}

static void missing_release(struct source *self)
{
	free(self);
}

static const struct source_ops missing_ops = { .pull = missing_pull, .release = missing_release };

/* CPUs that were recorded, by meta.json, and whose file was not handed on. A killed recorder's
 * meta.json does not know how much there was. */
static void add_missing(struct input *in, struct facts *facts, struct sources *sources,
			const json_t *meta)
{
	bool complete = json_is_true(json_object_get(meta, "complete"));
	const json_t *ring;
	size_t i;

	json_array_foreach(json_object_get(meta, "ring"), i, ring)
	{
		const char *file = json_string_value(json_object_get(ring, "file"));
		uint64_t bytes = get_u64(ring, "bytes_written", 0);
		struct source *source;

		if (!file || input_blob(in, file) || (complete && !bytes))
			continue;
		source = mem_zalloc(sizeof(*source));
		source->ops = &missing_ops;
		source->stats.damaged_bytes = bytes;
		source->stats.damages = 1;
		sources_add(sources, source);
		facts_note(facts, "%.*s: %.64s is missing, so the events of that CPU are not there",
			   LONG_NAME, in->label, file);
	}
}

static int add_cpus(struct input *in, struct facts *facts, struct sources *sources,
		    const json_t *meta, struct error *err)
{
	struct input_info *info = &facts->inputs[facts->nr_inputs - 1];
	struct page_machine machine;
	struct page_layout *layout;
	unsigned int nr = 0;

	read_machine(meta, &machine);
	layout = page_layout_new(in, &machine, err);
	if (!layout)
		return -1;
	for (size_t i = 0; i < in->nr; i++) {
		int cpu = page_blob_cpu(in->blobs[i].name);

		if (cpu < 0)
			continue;
		add_cpu(in, facts, sources, layout, meta, i, (uint32_t)cpu);
		nr++;
	}
	page_layout_put(layout);
	if (!nr)
		return error_set(err, "%s: holds no cpuN.pages", in->label);
	add_missing(in, facts, sources, meta);
	snprintf(info->dialect, sizeof(info->dialect), "tracefs, %u CPU%s", nr, nr == 1 ? "" : "s");
	return 0;
}

static bool has_pages(const struct input *in)
{
	for (size_t i = 0; i < in->nr; i++)
		if (page_blob_cpu(in->blobs[i].name) >= 0)
			return true;
	return false;
}

/* ---- recorded by the relay backend: the files of blktrace, one group per device --------------- */

/* What the kernel dropped of that device while it was recorded, or NULL. */
static const json_t *dropped_of(const json_t *meta, const char *base)
{
	const json_t *one;
	size_t i;

	json_array_foreach(json_object_get(meta, "relay"), i, one)
	{
		const char *file = json_string_value(json_object_get(one, "file"));
		const json_t *dropped = json_object_get(one, "dropped");

		if (file && !strcmp(file, base))
			return json_is_integer(dropped) ? dropped : NULL;
	}
	return NULL;
}

/* The files themselves carry no count; meta.json does. */
static void take_dropped(struct facts *facts, const json_t *meta, const char *base)
{
	const json_t *dropped = dropped_of(meta, base);

	facts->inputs[facts->nr_inputs - 1].lacks_drops_of[0] = 0;
	free(facts->dropped_unknown_why);
	facts->dropped_unknown_why = NULL;
	if (dropped) {
		facts->dropped_told = true;
		facts->dropped += (uint64_t)json_integer_value(dropped);
	} else if (!json_is_true(json_object_get(meta, "complete"))) {
		facts_dropped_unknown(facts, "the recorder did not finish, so what the kernel "
					     "lost was not asked for");
	} else {
		facts_dropped_unknown(facts,
				      "the kernel's count of dropped events could not be read");
	}
}

/* Of a device's files, which lie side by side: the first one's place; *nr = how many, 0: no more. */
static size_t next_set(const struct input *in, size_t from, size_t *nr)
{
	size_t len;

	*nr = 0;
	while (from < in->nr && blktrace_cpu_of_name(in->blobs[from].name) < 0)
		from++;
	if (from == in->nr)
		return from;
	len = (size_t)(strrchr(in->blobs[from].name, '.') - in->blobs[from].name);
	while (from + *nr < in->nr && blktrace_cpu_of_name(in->blobs[from + *nr].name) >= 0 &&
	       !strncmp(in->blobs[from + *nr].name, in->blobs[from].name, len + 1))
		++*nr;
	return from;
}

static int add_relay(struct input *in, struct facts *facts, struct sources *sources,
		     const json_t *meta, struct error *err)
{
	size_t nr, at = next_set(in, 0, &nr);

	if (!nr)
		return error_set(err, "%s: holds no NAME.blktrace.N", in->label);
	for (; nr; at = next_set(in, at + nr, &nr)) {
		struct input set = { .label = in->label, .blobs = &in->blobs[at], .nr = nr };
		const char *name = in->blobs[at].name;
		int r;

		set.base = mem_strndup(name, (size_t)(strstr(name, ".blktrace.") - name));
		r = format_blktrace_bin.open(&set, facts, sources, err);
		if (!r)
			take_dropped(facts, meta, set.base);
		free(set.base);
		if (r)
			return -1;
	}
	return 0;
}

static int dir_open(struct input *in, struct facts *facts, struct sources *sources,
		    struct error *err)
{
	json_t *meta = read_meta(in, err);
	const char *backend = json_string_value(json_object_get(meta, "backend"));
	int r = 0;

	if (!meta)
		return -1;
	if (backend && !strcmp(backend, "relay"))
		r = add_relay(in, facts, sources, meta, err);
	if (backend && !strcmp(backend, "bpf")) {
		facts_input(facts, in->label, "trace");
		r = bpf_events_open(in, meta, facts, sources, err);
		if (!r)
			add_missing(in, facts, sources, meta);
	} else if (!r && (!backend || strcmp(backend, "relay") != 0 || has_pages(in))) {
		/* Beside blktrace's files, pages tell only who started whom. */
		facts_input(facts, in->label, "trace");
		r = add_cpus(in, facts, sources, meta, err);
	}
	if (!r) {
		take_meta(facts, in, meta);
		r = read_names(facts, in, get_u64(meta, "end_ns", UINT64_MAX), err);
	}
	/* With several directories the first one's facts stand for all. */
	if (!r && !facts->meta)
		facts->meta = json_incref(meta);
	json_decref(meta);
	return r;
}

const struct format format_trace_dir = {
	.name = "trace",
	.what = "blklab trace directory",
	.probe = dir_probe,
	.open = dir_open,
};

int ftrace_page_dump(struct input *in, FILE *out, struct error *err)
{
	struct page_machine machine;
	json_t *meta;

	if (!input_blob(in, META))
		return error_set(err, "%s: holds no meta.json", in->label);
	meta = read_meta(in, err);
	if (!meta)
		return -1;
	read_machine(meta, &machine);
	json_decref(meta);
	return page_dump(in, &machine, out, err);
}
