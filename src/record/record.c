/* SPDX-License-Identifier: MIT */
#include "record/record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "record/pidns.h"
#include "record/recording.h"
#include "record/snapshot.h"
#include "record/when.h"

#define KMSG_MAX         (256 << 10)
#define SAME_SECOND_MOST 1000

void recording_say(const struct recording *rec, const char *fmt, ...)
{
	char text[512];
	va_list args;

	if (!rec->options->say)
		return;
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	rec->options->say(rec->options->arg, text);
}

static int resolve_devices(struct recording *rec, struct error *err)
{
	const struct record_options *options = rec->options;
	char found[128];

	for (size_t i = 0; i < options->nr_devices; i++)
		if (devices_add_named(&rec->devices, rec->root, options->devices[i], err))
			return -1;
	for (size_t i = 0; i < options->nr_mounts; i++)
		if (devices_add_mount(&rec->devices, rec->root, options->mounts[i], NULL, err))
			return -1;
	if (options->nr_devices || options->nr_mounts)
		return 0;
	if (devices_add_mount(&rec->devices, rec->root, ".", found, err)) {
		char why[300];

		snprintf(why, sizeof(why), "%.299s", err->text);
		return error_set(err, "no -d DEV or --mount DIR was given, and %s", why);
	}
	recording_say(rec, "recording %s, the device under the current directory", found);
	return 0;
}

/* What would surprise a reader of the numbers. */
static void warn_of_traps(struct recording *rec)
{
	for (size_t i = 0; i < rec->devices.nr; i++) {
		const struct rec_device *device = &rec->devices.list[i];
		char *dio = sysroot_read(rec->root, 64, "/sys/block/%s/loop/dio", device->name);

		if (dio && dio[0] == '0')
			recording_say(rec,
				      "%s is a buffered loop device: its times are those of the "
				      "page cache (losetup --direct-io=on avoids that)",
				      device->name);
		free(dio);
	}
	if (json_is_true(json_object_get(rec->described, "trace_on_recorded_device")))
		recording_say(rec, "%s is on the recorded device: writing it is recorded too",
			      rec->out.path);
}

static void open_kmsg(struct recording *rec)
{
	char *path = sysroot_path(rec->root, "/dev/kmsg");

	rec->kmsg_fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (rec->kmsg_fd >= 0)
		lseek(rec->kmsg_fd, 0, SEEK_END);
	free(path);
}

/* The kernel's messages since open_kmsg, a record per line as /dev/kmsg has them. */
static void store_kmsg(struct recording *rec)
{
	char *text = mem_zalloc(KMSG_MAX);
	size_t len = 0;

	while (rec->kmsg_fd >= 0 && len < KMSG_MAX) {
		ssize_t n = read(rec->kmsg_fd, text + len, KMSG_MAX - len);

		if (n < 0 && errno == EPIPE)
			continue; /* overwritten meanwhile: goes on with the oldest there is */
		if (n <= 0)
			break;
		len += (size_t)n;
	}
	outdir_write(&rec->out, "kmsg", text, len);
	free(text);
}

static void store_facts(struct recording *rec, const char *name)
{
	json_t *facts = snapshot_json(rec->root, &rec->devices);
	char *text = json_dumps(facts, JSON_INDENT(1) | JSON_SORT_KEYS);

	if (text)
		outdir_write(&rec->out, name, text, strlen(text));
	free(text);
	json_decref(facts);
}

static int store_meta(struct recording *rec, bool complete, struct error *err)
{
	json_t *meta = meta_json(rec, complete);
	int result = outdir_write_json(&rec->out, "meta.json", meta, err);

	json_decref(meta);
	return result;
}

/* By the second; of several in one, the later ones get -2, -3 and so on behind it. */
static int make_default_outdir(struct recording *rec, struct error *err)
{
	char name[64] = "blklab", longer[80];
	time_t now = time(NULL);
	struct tm tm;
	int result;

	if (localtime_r(&now, &tm))
		strftime(name, sizeof(name), "blklab-%Y%m%d-%H%M%S", &tm);
	result = outdir_make(&rec->out, name, err);
	for (int i = 2; result == OUTDIR_EXISTS && i < SAME_SECOND_MOST; i++) {
		outdir_release(&rec->out);
		snprintf(longer, sizeof(longer), "%s-%d", name, i);
		result = outdir_make(&rec->out, longer, err);
	}
	return result;
}

static int make_outdir(struct recording *rec, struct error *err)
{
	return rec->options->out ? outdir_make(&rec->out, rec->options->out, err)
				 : make_default_outdir(rec, err);
}

static void undo_recorder(void *arg)
{
	struct recording *rec = arg;

	if (rec->recorder)
		rec->backend->stop(rec->recorder);
	rec->recorder = NULL;
}

/* The recorder runs, the command waits for its go. */
static int arm(struct recording *rec, struct error *err)
{
	struct recorder_plan plan = { .root = rec->root,
				      .devices = &rec->devices,
				      .out = &rec->out,
				      .buffer_bytes = rec->options->buffer_bytes,
				      .filter = rec->options->filter,
				      .no_plug = rec->options->no_plug };

	if (rec->options->command &&
	    child_fork(&rec->child, rec->options->command, &rec->session, err))
		return -1;
	if (rec->options->command)
		plan.child = &rec->child;
	for (const struct backend *const *b = backends; *b; b++)
		if ((*b)->sweep)
			(*b)->sweep(rec->root, NULL, NULL);
	rec->recorder = rec->backend->start(&plan, err);
	if (!rec->recorder)
		return -1;
	if (rec->child.argv && !rec->child.kernel_pid)
		recording_say(rec,
			      "this is a container, and which process of the trace the command is "
			      "could not be told: the report is of all that waited");
	session_push(&rec->session, undo_recorder, rec);
	/* What arming cost the kernel's workers is not the command's. */
	workers_open(&rec->workers, rec->root);
	rec->armed_ns = when_mono();
	return store_meta(rec, false, err);
}

static int first_problem(const struct recording *rec)
{
	const json_t *problem = json_array_get(rec->out.problems, 0);

	return (int)json_integer_value(json_object_get(problem, "errno"));
}

/* -1 = nothing was recorded. */
static int record_all(struct recording *rec, struct error *err)
{
	if (make_outdir(rec, err))
		return -1;
	rec->pids_differ = pidns_of_proc(rec->root) != PIDNS_INITIAL;
	rec->described = meta_describe(rec);
	warn_of_traps(rec);
	sampler_open(&rec->sampler, rec->root, &rec->devices, &rec->out);
	store_facts(rec, "facts/start.json");
	open_kmsg(rec);
	threads_scan(&rec->threads_start, rec->root);
	rec->before = sampler_snapshot(&rec->sampler);
	if (json_array_size(rec->out.problems))
		error_errno(err, first_problem(rec), "cannot write in %.300s", rec->out.path);
	else if (!arm(rec, err) && (!rec->child.argv || !child_go(&rec->child, err)))
		return recording_watch(rec, err);
	outdir_remove(&rec->out);
	return -1;
}

/* Where /proc numbers processes otherwise than the events do, only the kernel's own list is right. */
static void store_names(struct recording *rec)
{
	const struct threads none = { 0 };

	if (rec->pids_differ)
		threads_write_names(&none, &none, rec->root, &rec->out);
	else
		threads_write_names(&rec->threads_start, &rec->threads_end, rec->root, &rec->out);
}

/* meta.json comes first: the room set aside is surely enough for it. */
static int store_end(struct recording *rec, struct error *err)
{
	size_t problems;

	outdir_spend_reserve(&rec->out);
	if (rec->losses.bytes)
		outdir_problem(&rec->out, "cpu*.pages",
			       rec->backend->progress(rec->recorder).write_errno,
			       rec->losses.bytes);
	problems = json_array_size(rec->out.problems);
	if (store_meta(rec, true, err))
		return -1;
	store_facts(rec, "facts/end.json");
	store_names(rec);
	store_kmsg(rec);
	if (json_array_size(rec->out.problems) != problems)
		store_meta(rec, true, &(struct error){ 0 }); /* the first one stays, if need be */
	return 0;
}

static void fill_result(struct recording *rec, struct record_result *result)
{
	result->dir = mem_strdup(rec->out.path);
	result->bytes = rec->backend->progress(rec->recorder).bytes;
	result->lost_events = rec->losses.events;
	result->damaged = rec->gone || rec->losses.bytes || rec->stopped_by == STOP_DISK_FULL ||
			  rec->stopped_by == STOP_ERROR || json_array_size(rec->out.problems);
	result->command_ended = rec->child.ended;
	result->command_status = rec->child.ended ? child_status(&rec->child) : 0;
}

static void recording_release(struct recording *rec)
{
	session_end(&rec->session); /* gives the recorder back */
	child_release(&rec->child);
	sampler_release(&rec->sampler);
	threads_release(&rec->threads_start);
	threads_release(&rec->threads_end);
	workers_release(&rec->workers);
	json_decref(rec->described);
	json_decref(rec->before);
	json_decref(rec->after);
	outdir_release(&rec->out);
	devices_release(&rec->devices);
	if (rec->kmsg_fd >= 0)
		close(rec->kmsg_fd);
}

/* Filters decide, where nothing else was asked for. */
static const struct backend *choose_backend(const struct recording *rec, struct error *err)
{
	const struct record_options *options = rec->options;
	bool filtered = record_filter_is_set(&options->filter);
	const struct backend *backend =
		backend_choose(rec->root,
			       filtered && !options->backend ? backend_bpf.name : options->backend,
			       err);

	if (!backend || !filtered || backend->filters)
		return backend;
	error_usage(err, "--slower, --pid, --class and --cgroup need the backend %s, not %s",
		    backend_bpf.name, backend->name);
	return NULL;
}

int record_run(const struct record_options *options, const struct sysroot *root,
	       struct record_result *result, struct error *err)
{
	struct recording rec = { .options = options, .root = root, .kmsg_fd = -1 };
	int done = -1;

	*result = (struct record_result){ 0 };
	rec.out.fd = rec.out.reserve_fd = -1;
	rec.child.go_fd = rec.child.result_fd = -1;
	if (options->command && child_check(options->command[0], err))
		return -1;
	/* What the user got wrong comes before what the machine lacks. */
	if (!resolve_devices(&rec, err))
		rec.backend = choose_backend(&rec, err);
	if (rec.backend) {
		session_begin(&rec.session);
		done = record_all(&rec, err);
		if (!done)
			done = store_end(&rec, err);
		if (!done)
			fill_result(&rec, result);
	}
	recording_release(&rec);
	return done;
}

void record_result_release(struct record_result *result)
{
	free(result->dir);
	*result = (struct record_result){ 0 };
}
