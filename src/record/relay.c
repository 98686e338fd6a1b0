/* SPDX-License-Identifier: MIT
 *
 * The relay backend: the kernel's own blktrace, by ioctl, into ordinary NAME.blktrace.N files that the classic tools
 * read as well. Needs debugfs files that can be opened: not under kernel lockdown. Where it can be
 * used it also sees what trace events have not: messages of the scheduler and of md, passthrough
 * with its category, the device of plugs.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/mem.h"
#include "record/cpus.h"
#include "record/debugfs_dir.h"
#include "record/machine.h"
#include "record/recorder.h"
#include "record/relay_cpu.h"
#include "record/relay_dev.h"
#include "record/tracefs_dir.h"
#include "record/when.h"

#define SUB_BUFFER_BYTES   (512u << 10)
#define LEAST_BYTES        (16u << 10)
#define LEAST_BUFFERS      4u
#define TASKS_BUFFER_BYTES (1u << 20)
#define USUAL_BUFFERS      16u /* 8 MiB per CPU and device: 0.5 s of 325,000 events/s */

struct relay_recorder {
	struct recorder recorder; /* first */
	struct debugfs_dir dir;
	struct relay_dev *devs; /* owned array */
	size_t nr_devs;
	struct relay_cpu *cpus; /* owned array: 0 to the highest that is online */
	size_t nr_cpus;
	int stop_fd; /* eventfd: the readers end */
	uint32_t buffer_bytes, nr_buffers;
	uint64_t armed_ns, disarmed_ns;
	int leftovers; /* traces of killed recorders, torn down */
	/* Who started whom, which blktrace does not tell: from trace events, where there are any; owned, or
	 * NULL. */
	struct recorder *tasks;
	json_t *untraced; /* owned: names of devices that this backend cannot record */
};

static bool blocked(struct obstacle *no, const char *why, const char *fix)
{
	snprintf(no->why, sizeof(no->why), "%s", why);
	snprintf(no->fix, sizeof(no->fix), "%s", fix);
	return false;
}

/* Lockdown forbids to open debugfs files that can be read by root only; so a trace could be made but not
 * read. */
static bool is_locked_down(const struct sysroot *root)
{
	char *state = lockdown_state(root);
	bool locked = state && strcmp(state, "none") != 0;

	free(state);
	return locked;
}

static bool relay_probe(const struct sysroot *root, struct obstacle *no)
{
	char *trace;
	bool has;

	if (root->prefix[0])
		return blocked(no, "the real kernel is not below the sysroot", "");
	if (geteuid() != 0)
		return blocked(no, "recording needs root", "sudo blklab ...");
	if (is_locked_down(root))
		return blocked(no,
			       "kernel lockdown (secure boot) forbids opening the relay files in "
			       "debugfs, as for blktrace(8)",
			       "blklab record --backend tracefs");
	trace = sysroot_path(root, "/sys/kernel/debug");
	has = !access(trace, F_OK);
	free(trace);
	return has ? true : blocked(no, "this kernel has no debugfs (CONFIG_DEBUG_FS)", "");
}

/* The paths below an NVMe head of several: nobody can open them, so no ioctl reaches them. */
static bool is_hidden(const struct sysroot *root, const struct rec_device *device)
{
	char *text = sysroot_read(root, 16, "/sys/block/%s/hidden", device->name);
	bool hidden = text && text[0] == '1';

	free(text);
	return hidden;
}

static int set_up_devices(struct relay_recorder *self, const struct recorder_plan *plan,
			  struct error *err)
{
	const struct rec_devices *devices = plan->devices;

	self->devs = mem_zalloc(devices->nr * sizeof(*self->devs));
	for (size_t i = 0; i < devices->nr; i++) {
		struct relay_dev *dev;

		if (is_hidden(plan->root, &devices->list[i])) {
			json_array_append_new(self->untraced, json_string(devices->list[i].name));
			continue;
		}
		dev = &self->devs[self->nr_devs++];
		if (relay_dev_setup(dev, plan->root, self->dir.path, &devices->list[i],
				    self->buffer_bytes, self->nr_buffers, err))
			return -1;
		self->leftovers += dev->cleared;
	}
	return 0;
}

static int open_cpus(struct relay_recorder *self, const struct recorder_plan *plan,
		     struct error *err)
{
	int *online = mem_zalloc(CPU_MAX * sizeof(*online));
	size_t nr = (size_t)online[online_cpus(plan->root, online) - 1] + 1;
	int any = 0;

	free(online);
	self->cpus = mem_zalloc(nr * sizeof(*self->cpus));
	for (size_t cpu = 0; cpu < nr; cpu++) {
		int opened;

		self->nr_cpus++;
		opened = relay_cpu_open(&self->cpus[cpu], (int)cpu, self->devs, self->nr_devs,
					plan->out, self->stop_fd, self->buffer_bytes, err);
		if (opened < 0)
			return -1;
		any |= opened;
	}
	return any ? 0 : error_set(err, "no relay file appeared in %s/block", self->dir.path);
}

static void start_tasks(struct relay_recorder *self, const struct recorder_plan *plan)
{
	struct recorder_plan tasks = *plan;
	struct error ignored;

	tasks.tasks_only = true;
	tasks.buffer_bytes = TASKS_BUFFER_BYTES;
	self->tasks = backend_tracefs.start(&tasks, &ignored);
}

static int start_all(struct relay_recorder *self, struct error *err)
{
	for (size_t i = 0; i < self->nr_cpus; i++)
		if (self->cpus[i].buffer && relay_cpu_start(&self->cpus[i], err))
			return -1;
	self->armed_ns = when_mono();
	for (size_t i = 0; i < self->nr_devs; i++)
		if (relay_dev_start(&self->devs[i], err))
			return -1;
	return 0;
}

static void stop_readers(struct relay_recorder *self)
{
	if (self->stop_fd >= 0)
		eventfd_write(self->stop_fd, 1);
	for (size_t i = 0; i < self->nr_cpus; i++)
		relay_cpu_join(&self->cpus[i]);
}

static void relay_stop(struct recorder *recorder)
{
	struct relay_recorder *self = (struct relay_recorder *)recorder;

	if (self->tasks)
		backend_tracefs.stop(self->tasks);
	stop_readers(self);
	/* A trace cannot go completely while a file of it is open. */
	for (size_t i = 0; i < self->nr_cpus; i++)
		relay_cpu_release(&self->cpus[i]);
	for (size_t i = 0; i < self->nr_devs; i++)
		relay_dev_release(&self->devs[i]);
	if (self->stop_fd >= 0)
		close(self->stop_fd);
	debugfs_dir_close(&self->dir);
	json_decref(self->untraced);
	free(self->cpus);
	free(self->devs);
	free(self);
}

/* Per CPU and device: what was asked for, else at most a sixteenth of what is free, all together. */
static void choose_buffers(struct relay_recorder *self, const struct recorder_plan *plan)
{
	int *online = mem_zalloc(CPU_MAX * sizeof(*online));
	size_t users = online_cpus(plan->root, online) * plan->devices->nr;
	uint64_t share = machine_memory_bytes(plan->root) / 16 / (users ? users : 1);
	uint64_t most = (uint64_t)USUAL_BUFFERS * SUB_BUFFER_BYTES;
	uint64_t bytes = plan->buffer_bytes      ? plan->buffer_bytes
			 : share && share < most ? share
						 : most;

	free(online);
	self->buffer_bytes = SUB_BUFFER_BYTES;
	if (bytes < (uint64_t)LEAST_BUFFERS * SUB_BUFFER_BYTES)
		self->buffer_bytes = (uint32_t)(bytes / LEAST_BUFFERS);
	if (self->buffer_bytes < LEAST_BYTES)
		self->buffer_bytes = LEAST_BYTES;
	self->nr_buffers = (uint32_t)(bytes / self->buffer_bytes);
	if (self->nr_buffers < LEAST_BUFFERS)
		self->nr_buffers = LEAST_BUFFERS;
}

static struct recorder *relay_start(const struct recorder_plan *plan, struct error *err)
{
	struct relay_recorder *self = mem_zalloc(sizeof(*self));
	struct obstacle no = { "", "" };

	self->recorder.backend = &backend_relay;
	self->untraced = json_array();
	choose_buffers(self, plan);
	self->stop_fd = eventfd(0, EFD_CLOEXEC);
	if (self->stop_fd < 0)
		error_errno(err, errno, "cannot make an eventfd");
	else if (!debugfs_dir_open(&self->dir, plan->root, &no))
		error_set(err, "%s", no.why);
	else if (!set_up_devices(self, plan, err) && !open_cpus(self, plan, err)) {
		start_tasks(self, plan);
		if (!start_all(self, err))
			return &self->recorder;
	}
	relay_stop(&self->recorder);
	return NULL;
}

static struct recorder_progress relay_progress(const struct recorder *recorder)
{
	const struct relay_recorder *self = (const struct relay_recorder *)recorder;
	struct recorder_progress progress = { 0 };

	if (self->tasks)
		progress = backend_tracefs.progress(self->tasks);
	for (size_t i = 0; i < self->nr_cpus; i++) {
		progress.bytes += atomic_load(&self->cpus[i].written_bytes);
		if (!progress.write_errno)
			progress.write_errno = atomic_load(&self->cpus[i].write_errno);
	}
	return progress;
}

static int relay_drain(struct recorder *recorder, struct recorder_losses *losses, struct error *err)
{
	struct relay_recorder *self = (struct relay_recorder *)recorder;

	*losses = (struct recorder_losses){ 0 };
	for (size_t i = 0; i < self->nr_devs; i++)
		relay_dev_stop(&self->devs[i]);
	if (self->tasks && backend_tracefs.drain(self->tasks, losses, err))
		return -1;
	self->disarmed_ns = when_mono();
	stop_readers(self);
	for (size_t i = 0; i < self->nr_cpus; i++) {
		relay_cpu_drain(&self->cpus[i]);
		losses->bytes += self->cpus[i].lost_bytes;
	}
	for (size_t i = 0; i < self->nr_devs; i++)
		losses->events += self->devs[i].dropped;
	return 0;
}

static json_t *dev_json(const struct relay_dev *dev)
{
	json_t *one = json_pack("{s:o, s:s, s:i}", "device",
				json_sprintf("%u,%u", DEV_ARG(dev->device->dev)), "file",
				dev->device->name, "version", dev->version);

	/* Unknown where the recorder was killed, or the counter could not be read: not 0. */
	json_object_set_new(one, "dropped",
			    dev->have_dropped ? json_integer((json_int_t)dev->dropped)
					      : json_null());
	return one;
}

static void relay_describe(const struct recorder *recorder, json_t *meta)
{
	const struct relay_recorder *self = (const struct relay_recorder *)recorder;
	json_t *cpus = json_array(), *devs = json_array();

	if (self->tasks) /* its "events", "ring"; the keys below are those of the block events */
		backend_tracefs.describe(self->tasks, meta);
	for (size_t i = 0; i < self->nr_cpus; i++)
		if (self->cpus[i].buffer)
			json_array_append_new(cpus, json_integer(self->cpus[i].cpu));
	for (size_t i = 0; i < self->nr_devs; i++)
		json_array_append_new(devs, dev_json(&self->devs[i]));
	json_object_set_new(meta, "clock", json_string("mono"));
	json_object_set_new(meta, "start_ns", json_integer((json_int_t)self->armed_ns));
	json_object_set_new(meta, "end_ns",
			    self->disarmed_ns ? json_integer((json_int_t)self->disarmed_ns)
					      : json_null());
	json_object_set_new(meta, "cpus", cpus);
	json_object_set_new(meta, "buffer_bytes",
			    json_integer((json_int_t)self->buffer_bytes * self->nr_buffers));
	json_object_set_new(meta, "relay", devs);
	json_object_set(meta, "untraced", self->untraced);
	json_object_set_new(meta, "leftovers_removed", json_integer(self->leftovers));
}

const struct backend backend_relay = {
	.name = "relay",
	.what = "the kernel's blktrace, through relay files",
	.probe = relay_probe,
	.start = relay_start,
	.progress = relay_progress,
	.drain = relay_drain,
	.describe = relay_describe,
	.sweep = relay_dev_sweep,
	.stop = relay_stop,
};
