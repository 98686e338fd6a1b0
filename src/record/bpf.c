/* SPDX-License-Identifier: MIT
 *
 * The bpf backend: programs of our own on the block layer's tracepoints. Each event tells which bio or
 * request it is of and the operation with all its flags, and filters run in the kernel. Nothing of it
 * outlives the process.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/mem.h"
#include "record/bpf_hooks.h"
#include "record/bpf_ring.h"
#include "record/bpf_silent.h"
#include "record/cpus.h"
#include "record/instance.h"
#include "record/pidns.h"
#include "record/recorder.h"
#include "record/tracefs_dir.h"
#include "record/when.h"
#include "trace/event.h"

#define BUFFER_MAX ((uint64_t)16 << 20) /* per CPU: as the tracefs backend */
#define BUFFER_MIN ((uint64_t)256 << 10)

struct bpf_recorder {
	struct recorder recorder;   /* first */
	const struct sysroot *root; /* borrowed, as the devices */
	const struct rec_devices *devices;
	struct record_filter filter;
	struct bpf_hooks hooks;
	struct bpf_ring *rings; /* owned array */
	size_t nr_rings;
	int stop_fd; /* eventfd: the readers end */
	uint64_t buffer_bytes;
	uint64_t armed_ns, disarmed_ns;
	uint64_t plugs_until_ns;         /* 0: as long as everything */
	uint64_t before[BPF_RANGES_MAX]; /* requests completed when it was armed, by device */
	uint64_t unnamed, not_held, cut, unseen;
};

static bool blocked(struct obstacle *no, const char *why, const char *fix)
{
	snprintf(no->why, sizeof(no->why), "%.255s", why);
	snprintf(no->fix, sizeof(no->fix), "%s", fix);
	return false;
}

/* Loads the programs as a recording does, without attaching them. */
static bool bpf_probe(const struct sysroot *root, struct obstacle *no)
{
	struct rec_device any = { 0 };
	struct rec_devices devices = { .list = &any, .nr = 1 };
	struct record_filter none = { 0 };
	struct bpf_hooks hooks = { 0 };
	struct error err = { 0 };
	char *lockdown;
	bool can = false;

	if (root->prefix[0])
		return blocked(no, "the real kernel is not below the sysroot", "");
	if (geteuid() != 0)
		return blocked(no, "recording needs root", "sudo blklab ...");
	lockdown = lockdown_state(root);
	if (lockdown && !strcmp(lockdown, "confidentiality"))
		blocked(no,
			"kernel lockdown is in confidentiality mode, which forbids BPF to read the "
			"kernel",
			"");
	else if (bpf_hooks_load(&hooks, &devices, &none, false, &err))
		blocked(no, err.text, "");
	else
		can = true;
	free(lockdown);
	bpf_hooks_release(&hooks);
	return can;
}

/* A power of two: at most a sixteenth of what is free, all CPUs together. */
static uint64_t choose_buffer_bytes(const struct recorder_plan *plan, size_t nr_cpus)
{
	char *text = sysroot_read(plan->root, 1 << 16, "/proc/meminfo");
	const char *at = text ? strstr(text, "MemAvailable:") : NULL;
	uint64_t share = at ? strtoull(at + 13, NULL, 10) * 1024 / 16 / nr_cpus : BUFFER_MAX;
	uint64_t wanted = plan->buffer_bytes   ? plan->buffer_bytes
			  : share > BUFFER_MAX ? BUFFER_MAX
					       : share;
	uint64_t bytes = plan->buffer_bytes ? 64 << 10 : BUFFER_MIN;

	free(text);
	while (bytes * 2 <= wanted)
		bytes *= 2;
	return bytes;
}

/* A CPU that is not online (yet) has no ring of its own; what happens there goes to the first one's. */
static int open_rings(struct bpf_recorder *self, const struct recorder_plan *plan, const int *cpus,
		      size_t nr, struct error *err)
{
	self->rings = mem_zalloc(nr * sizeof(*self->rings));
	for (size_t i = 0; i < nr; i++) {
		self->nr_rings++;
		if (bpf_ring_open(&self->rings[i], cpus[i], plan->out, self->stop_fd,
				  self->buffer_bytes, err))
			return -1;
	}
	for (int cpu = 0; cpu < bpf_hooks_nr_cpus(); cpu++)
		if (bpf_hooks_set_ring(&self->hooks, cpu, self->rings[0].map_fd, err))
			return -1;
	for (size_t i = 0; i < nr; i++)
		if (bpf_hooks_set_ring(&self->hooks, cpus[i], self->rings[i].map_fd, err) ||
		    bpf_ring_start(&self->rings[i], err))
			return -1;
	return 0;
}

static uint64_t completed_by(const struct bpf_recorder *self, const struct rec_device *device)
{
	char *stat = sysroot_read(self->root, 1024, "/sys/class/block/%s/stat",
				  device->part_dev ? device->part_name : device->name);
	uint64_t completed = bpf_completed(stat);

	free(stat);
	return completed;
}

/* Numbers from another pid namespace say nothing of the events; a trace instance tells (instance.h). */
static void find_child(const struct recorder_plan *plan)
{
	struct instance instance = { .hold_fd = -1 };
	struct tracefs_dir dir = { 0 };
	struct obstacle ignored = { "", "" };
	struct error err;

	if (!plan->child || pidns_own(plan->root) == PIDNS_INITIAL ||
	    !tracefs_dir_open(&dir, plan->root, &ignored))
		return;
	if (!instance_make(&instance, &dir, plan->root, &err)) {
		plan->child->kernel_pid = instance_kernel_pid(&instance, plan->child);
		instance_remove(&instance);
	}
	tracefs_dir_close(&dir);
}

static int arm(struct bpf_recorder *self, const struct recorder_plan *plan, struct error *err)
{
	int *cpus = mem_zalloc(CPU_MAX * sizeof(*cpus));
	size_t nr = online_cpus(plan->root, cpus);
	int result = -1;

	self->buffer_bytes = choose_buffer_bytes(plan, nr);
	find_child(plan);
	if (!bpf_hooks_load(&self->hooks, plan->devices, &plan->filter, plan->no_plug, err) &&
	    !open_rings(self, plan, cpus, nr, err)) {
		self->armed_ns = when_mono();
		result = bpf_hooks_attach(&self->hooks, err);
	}
	free(cpus);
	for (size_t i = 0; i < plan->devices->nr && !result; i++)
		self->before[i] = completed_by(self, &plan->devices->list[i]);
	return result;
}

static void stop_readers(struct bpf_recorder *self)
{
	if (self->stop_fd >= 0)
		eventfd_write(self->stop_fd, 1);
	for (size_t i = 0; i < self->nr_rings; i++)
		bpf_ring_join(&self->rings[i]);
}

static void bpf_stop(struct recorder *recorder)
{
	struct bpf_recorder *self = (struct bpf_recorder *)recorder;

	stop_readers(self);
	bpf_hooks_release(&self->hooks);
	for (size_t i = 0; i < self->nr_rings; i++)
		bpf_ring_release(&self->rings[i]);
	if (self->stop_fd >= 0)
		close(self->stop_fd);
	free(self->rings);
	free(self);
}

static struct recorder *bpf_start(const struct recorder_plan *plan, struct error *err)
{
	struct bpf_recorder *self = mem_zalloc(sizeof(*self));

	self->recorder.backend = &backend_bpf;
	self->root = plan->root;
	self->devices = plan->devices;
	self->filter = plan->filter;
	self->stop_fd = eventfd(0, EFD_CLOEXEC);
	if (self->stop_fd < 0)
		error_errno(err, errno, "cannot make an eventfd");
	else if (!arm(self, plan, err))
		return &self->recorder;
	bpf_stop(&self->recorder);
	return NULL;
}

static struct recorder_progress bpf_progress(const struct recorder *recorder)
{
	const struct bpf_recorder *self = (const struct bpf_recorder *)recorder;
	struct recorder_progress progress = { 0 };

	for (size_t i = 0; i < self->nr_rings; i++) {
		progress.bytes += atomic_load(&self->rings[i].written_bytes);
		if (!progress.write_errno)
			progress.write_errno = atomic_load(&self->rings[i].write_errno);
	}
	return progress;
}

static void bpf_shed_plugs(struct recorder *recorder)
{
	struct bpf_recorder *self = (struct bpf_recorder *)recorder;

	bpf_hooks_detach_plugs(&self->hooks);
	self->plugs_until_ns = when_mono();
}

static struct bpf_seen seen_by_all(const struct bpf_cpu *counters, size_t device)
{
	struct bpf_seen sum = { 0 };

	for (int cpu = 0; cpu < bpf_hooks_nr_cpus(); cpu++) {
		const struct bpf_seen *one = &counters[cpu].seen[device];

		sum.queued += one->queued;
		sum.issued += one->issued;
		sum.completed += one->completed;
		sum.ended += one->ended;
		sum.moved += one->moved;
	}
	return sum;
}

static int check_hooks(struct bpf_recorder *self, const uint64_t *after,
		       const struct bpf_cpu *counters, struct error *err)
{
	for (size_t i = 0; i < self->devices->nr; i++) {
		const struct rec_device *device = &self->devices->list[i];
		struct bpf_seen seen = seen_by_all(counters, i);
		uint64_t completed = after[i] > self->before[i] ? after[i] - self->before[i] : 0;
		const char *kind = device_kind(self->root, device->dev);
		uint64_t slack = (uint64_t)bpf_hooks_nr_cpus();
		const char *silent = bpf_silent_hook(&seen, kind, completed, slack);

		self->unseen += bpf_unseen(&seen, kind, completed, slack);
		if (silent)
			return error_set(
				err, "bpf: %s gave no events though %llu requests completed on %s",
				silent, (unsigned long long)completed, device->name);
	}
	return 0;
}

/* What CPUs without a ring of their own lost is the first one's. */
static void take_counters(struct bpf_recorder *self, const struct bpf_cpu *counters)
{
	for (size_t i = 0; i < self->nr_rings; i++)
		self->rings[i].told = true;
	for (int cpu = 0; cpu < bpf_hooks_nr_cpus(); cpu++) {
		struct bpf_ring *ring = &self->rings[0];

		for (size_t i = 0; i < self->nr_rings; i++)
			if (self->rings[i].cpu == cpu)
				ring = &self->rings[i];
		ring->records += counters[cpu].records;
		ring->lost += counters[cpu].lost;
		self->unnamed += counters[cpu].unnamed;
		self->not_held += counters[cpu].not_held;
		self->cut += counters[cpu].cut;
	}
}

static void store_held(void *arg, const struct bpf_rec *records, uint32_t nr)
{
	bpf_ring_add(arg, records, nr * sizeof(*records));
}

static int bpf_drain(struct recorder *recorder, struct recorder_losses *losses, struct error *err)
{
	struct bpf_recorder *self = (struct bpf_recorder *)recorder;
	uint64_t after[BPF_RANGES_MAX];
	struct bpf_cpu *counters;
	int result = 0;

	*losses = (struct recorder_losses){ 0 };
	/* Before the hooks go: what has completed by now, they have seen. */
	for (size_t i = 0; i < self->devices->nr; i++)
		after[i] = completed_by(self, &self->devices->list[i]);
	bpf_hooks_detach(&self->hooks);
	self->disarmed_ns = when_mono();
	stop_readers(self);
	bpf_hooks_each_held(&self->hooks, self->disarmed_ns, store_held, &self->rings[0]);
	counters = bpf_hooks_counters(&self->hooks);
	if (counters) {
		take_counters(self, counters);
		result = check_hooks(self, after, counters, err);
	}
	free(counters);
	for (size_t i = 0; i < self->nr_rings; i++) {
		bpf_ring_drain(&self->rings[i]);
		losses->events += self->rings[i].lost;
		losses->bytes += self->rings[i].lost_bytes;
	}
	losses->events += self->not_held + self->cut + self->unseen;
	return result;
}

static json_t *filter_json(const struct record_filter *filter)
{
	json_t *classes = json_array();
	json_t *object = json_pack("{s:o}", "classes", classes);

	if (!record_filter_is_set(filter)) {
		json_decref(object);
		return json_null();
	}
	for (int i = 1; i < CLASS_NR; i++)
		if (filter->classes >> i & 1)
			json_array_append_new(classes, json_string(class_name((enum io_class)i)));
	json_object_set_new(object, "slower_ns",
			    filter->slower_ns ? json_integer((json_int_t)filter->slower_ns)
					      : json_null());
	json_object_set_new(object, "pid", filter->pid ? json_integer(filter->pid) : json_null());
	json_object_set_new(object, "cgroup",
			    filter->cgroup ? json_integer((json_int_t)filter->cgroup)
					   : json_null());
	return object;
}

static void bpf_describe(const struct recorder *recorder, json_t *meta)
{
	const struct bpf_recorder *self = (const struct bpf_recorder *)recorder;
	json_t *cpus = json_array(), *rings = json_array();

	for (size_t i = 0; i < self->nr_rings; i++) {
		json_array_append_new(cpus, json_integer(self->rings[i].cpu));
		json_array_append_new(rings, bpf_ring_json(&self->rings[i]));
	}
	json_object_set_new(meta, "clock", json_string("mono"));
	json_object_set_new(meta, "start_ns", json_integer((json_int_t)self->armed_ns));
	json_object_set_new(meta, "end_ns",
			    self->disarmed_ns ? json_integer((json_int_t)self->disarmed_ns)
					      : json_null());
	json_object_set_new(meta, "cpus", cpus);
	json_object_set_new(meta, "buffer_bytes", json_integer((json_int_t)self->buffer_bytes));
	json_object_set(meta, "events", self->hooks.events);
	json_object_set(meta, "events_absent", self->hooks.events_absent);
	json_object_set_new(meta, "plugs_until_ns",
			    self->plugs_until_ns ? json_integer((json_int_t)self->plugs_until_ns)
						 : json_null());
	json_object_set_new(meta, "filter", filter_json(&self->filter));
	json_object_set_new(meta, "ring", rings);
	json_object_set_new(
		meta, "bpf",
		json_pack("{s:O, s:O, s:I, s:I, s:I, s:I, s:I}", "ops", self->hooks.ops, "flags",
			  self->hooks.flags, "runs_missed", (json_int_t)self->hooks.runs_missed,
			  "unnamed", (json_int_t)self->unnamed, "unseen", (json_int_t)self->unseen,
			  "not_held", (json_int_t)self->not_held, "cut", (json_int_t)self->cut));
	json_object_set_new(meta, "leftovers_removed", json_integer(0));
}

const struct backend backend_bpf = {
	.name = "bpf",
	.what = "programs on the kernel's block tracepoints (BPF)",
	.filters = true,
	.probe = bpf_probe,
	.start = bpf_start,
	.progress = bpf_progress,
	.shed_plugs = bpf_shed_plugs,
	.drain = bpf_drain,
	.describe = bpf_describe,
	.stop = bpf_stop,
};
