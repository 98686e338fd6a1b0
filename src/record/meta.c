/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "record/jsontext.h"
#include "record/pidns.h"
#include "record/recording.h"
#include "record/when.h"

static const char *stop_name(enum stop_reason reason)
{
	switch (reason) {
	case STOP_COMMAND:
		return "command";
	case STOP_SIGNAL:
		return "signal";
	case STOP_TIME:
		return "time";
	case STOP_DEVICE_GONE:
		return "device-gone";
	case STOP_DISK_FULL:
		return "disk-full";
	case STOP_ERROR:
		return "error";
	case STOP_NOT:
		break;
	}
	return NULL;
}

/* One pair of readings, the wall clock's taken between two of the other. */
static json_t *wall_clock_json(void)
{
	uint64_t before = when_mono(), wall = when_wall(), after = when_mono();

	return json_pack("{s:I, s:I}", "at_ns", (json_int_t)(before + (after - before) / 2),
			 "wall_ns", (json_int_t)wall);
}

/* Does writing the trace make I/O on a recorded device? */
static bool trace_is_recorded(const struct recording *rec)
{
	struct rec_devices below = { 0 };
	struct error none;
	bool is = false;

	/* tmpfs and the like have no device: then it does not. */
	devices_add_mount(&below, rec->root, rec->out.path, NULL, &none);
	for (size_t i = 0; i < below.nr; i++)
		for (size_t j = 0; j < rec->devices.nr; j++) {
			const struct rec_device *a = &below.list[i], *b = &rec->devices.list[j];

			is = is || (a->dev == b->dev &&
				    (!a->part_dev || !b->part_dev || a->part_dev == b->part_dev));
		}
	devices_release(&below);
	return is;
}

json_t *meta_describe(const struct recording *rec)
{
	json_t *meta = json_object();
	struct utsname uts;

	json_object_set_new(meta, "trace_version", json_integer(1));
	json_object_set_new(meta, "tool", json_string("blklab " BLKLAB_VERSION));
	json_object_set_new(meta, "complete", json_false());
	json_object_set_new(meta, "backend", json_string(rec->backend->name));
	if (!uname(&uts)) {
		json_object_set_new(meta, "kernel", json_text(uts.release));
		json_object_set_new(meta, "machine", json_text(uts.machine));
		json_object_set_new(meta, "host", json_text(uts.nodename));
	}
	json_object_set_new(meta, "little_endian",
			    json_boolean(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__));
	json_object_set_new(meta, "wall_clock", wall_clock_json());
	json_object_set_new(meta, "devices", devices_json(&rec->devices, rec->root));
	json_object_set_new(meta, "pid_namespace",
			    json_pack("{s:I, s:b}", "inode", (json_int_t)pidns_own(rec->root),
				      "initial", pidns_own(rec->root) == PIDNS_INITIAL));
	json_object_set_new(meta, "trace_on_recorded_device", json_boolean(trace_is_recorded(rec)));
	return meta;
}

static json_t *samples_json(const struct sampler *sampler)
{
	return json_pack("{s:s, s:I, s:I}", "file", SAMPLE_FILE, "interval_ns",
			 (json_int_t)SAMPLE_INTERVAL_NS, "count", (json_int_t)sampler->count);
}

static json_t *gone_json(const struct sampler *sampler)
{
	json_t *list = json_array();

	for (size_t i = 0; i < sampler->nr_devices; i++)
		if (sampler->devices[i].gone)
			json_array_append_new(list, json_text(sampler->devices[i].name));
	return list;
}

json_t *meta_json(const struct recording *rec, bool complete)
{
	json_t *meta = json_copy(rec->described);
	const char *stop = stop_name(rec->stopped_by);

	json_object_set_new(meta, "complete", json_boolean(complete));
	if (rec->recorder)
		rec->backend->describe(rec->recorder, meta);
	json_object_set_new(meta, "command", child_json(&rec->child));
	if (rec->before)
		json_object_set(meta, "before", rec->before);
	if (!complete)
		return meta;
	if (!rec->pids_differ) /* else the kernel's threads are not to be seen */
		json_object_set_new(meta, "threads",
				    threads_grown_json(&rec->threads_start, &rec->threads_end,
						       &rec->workers));
	if (rec->after)
		json_object_set(meta, "after", rec->after);
	json_object_set_new(meta, "samples", samples_json(&rec->sampler));
	json_object_set_new(meta, "stopped_by", stop ? json_string(stop) : json_null());
	json_object_set_new(meta, "devices_gone", gone_json(&rec->sampler));
	json_object_set(meta, "write_errors", rec->out.problems);
	return meta;
}
