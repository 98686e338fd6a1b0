/* SPDX-License-Identifier: MIT
 *
 * The tracefs backend: block events in a private trace instance. Works under kernel lockdown
 * (integrity), where the ioctl of classic blktrace does not.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/mem.h"
#include "record/block_events.h"
#include "record/cpus.h"
#include "record/instance.h"
#include "record/machine.h"
#include "record/pidns.h"
#include "record/recorder.h"
#include "record/ring.h"
#include "record/tracefs_dir.h"
#include "record/when.h"

#define BUFFER_MAX ((uint64_t)16 << 20) /* per CPU: 0.8 s of 325,000 events/s */
#define BUFFER_MIN ((uint64_t)1 << 20)
#define FORMAT_MAX (1 << 16)

struct tracefs_recorder {
	struct recorder recorder; /* first */
	struct tracefs_dir dir;
	struct instance instance;
	struct ring *rings; /* owned array */
	size_t nr_rings;
	int stop_fd; /* eventfd: the readers end */
	uint64_t buffer_bytes;
	uint64_t page_bytes;
	int long_size;
	int leftovers; /* of killed recorders, removed */
	uint64_t armed_ns, disarmed_ns;
	uint64_t plugs_until_ns;        /* 0: as long as everything */
	json_t *events, *events_absent; /* owned */
};

static bool tracefs_probe(const struct sysroot *root, struct obstacle *no)
{
	struct tracefs_dir dir;
	char *issue;
	bool can;

	if (!tracefs_dir_open(&dir, root, no))
		return false;
	issue = mem_printf("%s/events/block/block_rq_issue", dir.path);
	can = !access(issue, F_OK);
	if (!can)
		snprintf(no->why, sizeof(no->why),
			 "this kernel has no block trace events (%.120s is missing)", issue);
	free(issue);
	tracefs_dir_close(&dir);
	return can;
}

/* Writes a control file of the instance. */
static int set(struct tracefs_recorder *self, const char *file, const char *value,
	       struct error *err)
{
	char *path = mem_printf("%s/%s", self->instance.path, file);
	int result = file_write(path, value, err);

	free(path);
	return result;
}

static uint64_t choose_buffer_bytes(const struct recorder_plan *plan, size_t nr_cpus)
{
	/* At most a sixteenth of what is free, all CPUs together. */
	uint64_t share = machine_memory_bytes(plan->root) / 16 / nr_cpus;

	if (plan->buffer_bytes)
		return plan->buffer_bytes;
	return !share || share > BUFFER_MAX ? BUFFER_MAX : share < BUFFER_MIN ? BUFFER_MIN : share;
}

/* Copies a text file of tracefs to formats/NAME. */
static char *store_format(const struct recorder_plan *plan, const char *from, const char *name)
{
	char *text = file_read(from, FORMAT_MAX);
	char *to = mem_printf("formats/%s", name);

	if (text)
		outdir_write(plan->out, to, text, strlen(text));
	free(to);
	return text;
}

static long field_number(const char *text, const char *field, const char *key)
{
	const char *at = text ? strstr(text, field) : NULL;

	at = at ? strstr(at, key) : NULL;
	return at ? strtol(at + strlen(key), NULL, 10) : 0;
}

static int store_headers(struct tracefs_recorder *self, const struct recorder_plan *plan,
			 struct error *err)
{
	char *path = mem_printf("%s/events/header_page", self->dir.path);
	char *text = store_format(plan, path, "header_page");
	long bytes =
		field_number(text, " data;", "offset:") + field_number(text, " data;", "size:");

	self->long_size = (int)field_number(text, " commit;", "size:");
	free(text);
	free(path);
	if (bytes < 1024 || bytes > 1 << 20)
		return error_set(err, "cannot understand %s/events/header_page", self->dir.path);
	self->page_bytes = (uint64_t)bytes;
	path = mem_printf("%s/events/header_event", self->dir.path);
	free(store_format(plan, path, "header_event"));
	free(path);
	return 0;
}

/* 1 = recorded from now on, 0 = this kernel has no such event, -1 with err. */
static int enable_event(struct tracefs_recorder *self, const struct recorder_plan *plan,
			const char *name, enum event_place place, struct error *err)
{
	char *dir = mem_printf("%s/events/%s", self->instance.path, name);
	char *format = mem_printf("%s/format", dir);
	char *filter_file = mem_printf("events/%s/filter", name);
	char *enable_file = mem_printf("events/%s/enable", name);
	char *filter = event_filter(place, plan->devices);
	json_t *entry;
	int result = access(dir, F_OK) ? 0 : 1;

	if (result &&
	    ((filter && set(self, filter_file, filter, err)) || set(self, enable_file, "1", err)))
		result = -1;
	if (result > 0) {
		free(store_format(plan, format, name));
		entry = json_object();
		json_object_set_new(entry, "name", json_string(name));
		json_object_set_new(entry, "filter", filter ? json_string(filter) : json_null());
		json_array_append_new(self->events, entry);
	}
	free(filter);
	free(enable_file);
	free(filter_file);
	free(format);
	free(dir);
	return result;
}

static int enable_row(struct tracefs_recorder *self, const struct recorder_plan *plan,
		      const struct event_row *row, struct error *err)
{
	int done = 0;

	if ((row->place == PLACE_PLUG && plan->no_plug) ||
	    (row->place != PLACE_NONE && plan->tasks_only))
		return 0;
	for (size_t i = 0; i < 2 && row->names[i] && !done; i++)
		done = enable_event(self, plan, row->names[i], row->place, err);
	if (done < 0)
		return -1;
	if (!done && row->needed)
		return error_set(err, "this kernel has no trace event %s", row->names[0]);
	if (!done)
		json_array_append_new(self->events_absent, json_string(row->names[0]));
	return 0;
}

/* Numbers from another pid namespace say nothing of the events. */
static void find_child(const struct tracefs_recorder *self, const struct recorder_plan *plan)
{
	if (plan->child && pidns_own(plan->root) != PIDNS_INITIAL)
		plan->child->kernel_pid = instance_kernel_pid(&self->instance, plan->child);
}

static int set_up_instance(struct tracefs_recorder *self, const struct recorder_plan *plan,
			   struct error *err)
{
	char kib[32];

	snprintf(kib, sizeof(kib), "%llu", (unsigned long long)(self->buffer_bytes >> 10));
	if (set(self, "tracing_on", "0", err) || set(self, "trace_clock", "mono", err) ||
	    set(self, "buffer_size_kb", kib, err))
		return -1;
	for (size_t i = 0; i < nr_event_rows; i++)
		if (enable_row(self, plan, &event_rows[i], err))
			return -1;
	return 0;
}

static int start_readers(struct tracefs_recorder *self, const struct recorder_plan *plan,
			 const int *cpus, size_t nr, struct error *err)
{
	self->stop_fd = eventfd(0, EFD_CLOEXEC);
	if (self->stop_fd < 0)
		return error_errno(err, errno, "cannot make an eventfd");
	self->rings = mem_zalloc(nr * sizeof(*self->rings));
	for (size_t i = 0; i < nr; i++) {
		self->nr_rings++;
		if (ring_open(&self->rings[i], self->instance.path, cpus[i], plan->out,
			      self->stop_fd, self->page_bytes, self->buffer_bytes, err))
			return -1;
	}
	for (size_t i = 0; i < nr; i++)
		if (ring_start(&self->rings[i], err))
			return -1;
	return 0;
}

static int arm(struct tracefs_recorder *self, const struct recorder_plan *plan, struct error *err)
{
	int *cpus = mem_zalloc(CPU_MAX * sizeof(*cpus));
	size_t nr = online_cpus(plan->root, cpus);
	int result = -1;

	self->buffer_bytes = choose_buffer_bytes(plan, nr);
	self->leftovers = instance_sweep(&self->dir, plan->root, NULL, NULL);
	if (instance_make(&self->instance, &self->dir, plan->root, err))
		goto out;
	find_child(self, plan);
	if (!store_headers(self, plan, err) && !set_up_instance(self, plan, err) &&
	    !start_readers(self, plan, cpus, nr, err)) {
		self->armed_ns = when_mono();
		result = set(self, "tracing_on", "1", err);
	}
out:
	free(cpus);
	return result;
}

static void stop_readers(struct tracefs_recorder *self)
{
	if (self->stop_fd >= 0)
		eventfd_write(self->stop_fd, 1);
	for (size_t i = 0; i < self->nr_rings; i++)
		ring_join(&self->rings[i]);
}

static void tracefs_stop(struct recorder *recorder)
{
	struct tracefs_recorder *self = (struct tracefs_recorder *)recorder;
	struct error ignored;

	if (self->instance.path)
		set(self, "tracing_on", "0", &ignored);
	stop_readers(self);
	/* The instance cannot go while a file of it is open. */
	for (size_t i = 0; i < self->nr_rings; i++)
		ring_release(&self->rings[i]);
	if (self->stop_fd >= 0)
		close(self->stop_fd);
	instance_remove(&self->instance);
	tracefs_dir_close(&self->dir);
	json_decref(self->events);
	json_decref(self->events_absent);
	free(self->rings);
	free(self);
}

static struct recorder *tracefs_start(const struct recorder_plan *plan, struct error *err)
{
	struct tracefs_recorder *self = mem_zalloc(sizeof(*self));
	struct obstacle no = { "", "" };

	self->recorder.backend = &backend_tracefs;
	self->stop_fd = -1;
	self->events = json_array();
	self->events_absent = json_array();
	if (!tracefs_dir_open(&self->dir, plan->root, &no)) {
		error_set(err, "%s", no.why);
	} else if (!arm(self, plan, err)) {
		return &self->recorder;
	}
	tracefs_stop(&self->recorder);
	return NULL;
}

static struct recorder_progress tracefs_progress(const struct recorder *recorder)
{
	const struct tracefs_recorder *self = (const struct tracefs_recorder *)recorder;
	struct recorder_progress progress = { 0 };

	for (size_t i = 0; i < self->nr_rings; i++) {
		progress.bytes += atomic_load(&self->rings[i].written_bytes);
		if (!progress.write_errno)
			progress.write_errno = atomic_load(&self->rings[i].write_errno);
	}
	return progress;
}

static void tracefs_shed_plugs(struct recorder *recorder)
{
	struct tracefs_recorder *self = (struct tracefs_recorder *)recorder;
	struct error ignored;

	/* Where it does not work, more is recorded than was wished. */
	set(self, "events/block/block_plug/enable", "0", &ignored);
	set(self, "events/block/block_unplug/enable", "0", &ignored);
	self->plugs_until_ns = when_mono();
}

static int tracefs_drain(struct recorder *recorder, struct recorder_losses *losses,
			 struct error *err)
{
	struct tracefs_recorder *self = (struct tracefs_recorder *)recorder;
	int result = set(self, "tracing_on", "0", err);

	self->disarmed_ns = when_mono();
	*losses = (struct recorder_losses){ 0 };
	stop_readers(self);
	for (size_t i = 0; i < self->nr_rings; i++) {
		struct ring *ring = &self->rings[i];

		ring_drain(ring);
		ring_stats(ring);
		losses->events += ring->overrun + ring->commit_overrun + ring->dropped_events;
		losses->bytes += ring->lost_bytes;
	}
	return result;
}

static void tracefs_describe(const struct recorder *recorder, json_t *meta)
{
	const struct tracefs_recorder *self = (const struct tracefs_recorder *)recorder;
	json_t *cpus = json_array(), *rings = json_array();

	for (size_t i = 0; i < self->nr_rings; i++) {
		json_array_append_new(cpus, json_integer(self->rings[i].cpu));
		json_array_append_new(rings, ring_json(&self->rings[i]));
	}
	json_object_set_new(meta, "clock", json_string("mono"));
	json_object_set_new(meta, "start_ns", json_integer((json_int_t)self->armed_ns));
	json_object_set_new(meta, "end_ns",
			    self->disarmed_ns ? json_integer((json_int_t)self->disarmed_ns)
					      : json_null());
	json_object_set_new(meta, "long_size", json_integer(self->long_size));
	json_object_set_new(meta, "page_size", json_integer((json_int_t)self->page_bytes));
	json_object_set_new(meta, "cpus", cpus);
	json_object_set_new(meta, "buffer_bytes", json_integer((json_int_t)self->buffer_bytes));
	json_object_set(meta, "events", self->events);
	json_object_set_new(meta, "plugs_until_ns",
			    self->plugs_until_ns ? json_integer((json_int_t)self->plugs_until_ns)
						 : json_null());
	json_object_set(meta, "events_absent", self->events_absent);
	json_object_set_new(meta, "ring", rings);
	json_object_set_new(meta, "leftovers_removed", json_integer(self->leftovers));
}

const struct backend backend_tracefs = {
	.name = "tracefs",
	.what = "trace events in a private trace instance",
	.probe = tracefs_probe,
	.start = tracefs_start,
	.progress = tracefs_progress,
	.shed_plugs = tracefs_shed_plugs,
	.drain = tracefs_drain,
	.describe = tracefs_describe,
	.stop = tracefs_stop,
};
