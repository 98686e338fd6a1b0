/* SPDX-License-Identifier: MIT */
#include "record/doctor.h"

#include <errno.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/mem.h"
#include "record/block_events.h"
#include "record/devices.h"
#include "record/instance.h"
#include "record/jsontext.h"
#include "record/machine.h"
#include "record/recorder.h"
#include "record/tracefs_dir.h"

static json_t *backends_json(const struct sysroot *root, bool *any)
{
	json_t *list = json_array();

	*any = false;
	for (const struct backend *const *b = backends; *b; b++) {
		struct obstacle no = { "", "" };
		bool can = (*b)->probe(root, &no);
		json_t *one = json_object();

		*any = *any || can;
		json_object_set_new(one, "name", json_text((*b)->name));
		json_object_set_new(one, "what", json_text((*b)->what));
		json_object_set_new(one, "can_record", json_boolean(can));
		json_object_set_new(one, "why", can ? json_null() : json_text(no.why));
		json_object_set_new(one, "fix", no.fix[0] ? json_text(no.fix) : json_null());
		json_array_append_new(list, one);
	}
	return list;
}

static bool event_exists(const struct tracefs_dir *dir, const struct event_row *row)
{
	bool exists = false;

	for (size_t i = 0; i < 2 && row->names[i] && !exists; i++) {
		char *path = mem_printf("%s/events/%s", dir->path, row->names[i]);

		exists = !access(path, F_OK);
		free(path);
	}
	return exists;
}

static json_t *events_json(const struct tracefs_dir *dir)
{
	json_t *present = json_array(), *absent = json_array();

	for (size_t i = 0; i < nr_event_rows; i++) {
		const struct event_row *row = &event_rows[i];
		bool exists = event_exists(dir, row);
		json_t *one = json_object();

		json_object_set_new(one, "name", json_text(row->names[0]));
		json_object_set_new(one, "what", json_text(row->what));
		json_array_append_new(exists ? present : absent, one);
	}
	return json_pack("{s:o, s:o}", "present", present, "absent", absent);
}

/* The tracer behind /sys/block/DEV/trace; it prints like blkparse, but into the one global buffer. */
static json_t *blk_tracer_json(const struct tracefs_dir *dir)
{
	char *path = mem_printf("%s/available_tracers", dir->path);
	char *text = file_read(path, 4096);
	json_t *value = text ? json_boolean(strstr(text, "blk") != NULL) : json_null();

	free(text);
	free(path);
	return value;
}

static void leftover_add(json_t *list, const char *kind, const char *name, int errnum)
{
	json_array_append_new(list, json_pack("{s:s, s:s, s:b, s:o}", "kind", kind, "name", name,
					      "removed", !errnum, "why",
					      errnum ? json_text(strerror(errnum)) : json_null()));
}

static void instance_found(void *arg, const char *name, int errnum)
{
	leftover_add(arg, "instance", name, errnum);
}

static void trace_found(void *arg, const char *name, int errnum)
{
	leftover_add(arg, "trace", name, errnum);
}

static void add_tracefs(json_t *doc, const struct sysroot *root)
{
	json_t *leftovers = json_array();
	struct obstacle no = { "", "" };
	struct tracefs_dir dir;

	json_object_set_new(doc, "tracefs_mounted", json_boolean(tracefs_dir_is_mounted(root)));
	if (!tracefs_dir_open(&dir, root, &no)) {
		json_object_set_new(doc, "events", json_null());
		json_object_set_new(doc, "blk_tracer", json_null());
		json_object_set_new(doc, "leftovers", json_null());
		json_object_set_new(doc, "leftovers_why", json_text(no.why));
		json_object_set_new(doc, "tracers", machine_tracers(root, NULL));
		json_decref(leftovers);
		return;
	}
	json_object_set_new(doc, "events", events_json(&dir));
	json_object_set_new(doc, "blk_tracer", blk_tracer_json(&dir));
	instance_sweep(&dir, root, instance_found, leftovers);
	for (const struct backend *const *b = backends; *b; b++)
		if ((*b)->sweep)
			(*b)->sweep(root, trace_found, leftovers);
	json_object_set_new(doc, "leftovers", leftovers);
	json_object_set_new(doc, "tracers", machine_tracers(root, &dir));
	tracefs_dir_close(&dir);
}

/* By trying: a small map is made and dropped. */
static const char *bpf_obstacle(void)
{
	union bpf_attr attr = { 0 };
	long fd;

	attr.map_type = BPF_MAP_TYPE_ARRAY;
	attr.key_size = attr.value_size = 4;
	attr.max_entries = 1;
	fd = syscall(SYS_bpf, BPF_MAP_CREATE, &attr, sizeof(attr));
	if (fd < 0)
		return strerror(errno);
	close((int)fd);
	return NULL;
}

static json_t *bpf_json(const struct sysroot *root, const char *lockdown)
{
	char *btf = sysroot_path(root, "/sys/kernel/btf/vmlinux");
	const char *why = bpf_obstacle();
	json_t *bpf;

	if (!why && lockdown && !strcmp(lockdown, "confidentiality"))
		why = "kernel lockdown is in confidentiality mode";
	if (!why && access(btf, F_OK))
		why = "this kernel describes no types of its own (CONFIG_DEBUG_INFO_BTF)";
	bpf = json_pack("{s:b, s:o}", "possible", !why, "why", json_text(why));
	free(btf);
	return bpf;
}

static void add_attribute(json_t *object, const struct sysroot *root, uint32_t dev, const char *key,
			  const char *attribute)
{
	char *text =
		sysroot_read(root, 4096, "/sys/dev/block/" DEV_FMT "/%s", DEV_ARG(dev), attribute);

	/* "none [bfq] " */
	for (size_t len = text ? strlen(text) : 0; len && text[len - 1] == ' '; len--)
		text[len - 1] = '\0';
	json_object_set_new(object, key, json_text(text));
	free(text);
}

/* What meta.json says of it, and the queue's settings as they are. */
static json_t *devices_doc(const struct sysroot *root, const char *name, struct error *err)
{
	static const char *const settings[][2] = {
		{ "scheduler", "queue/scheduler" },
		{ "nr_requests", "queue/nr_requests" },
		{ "max_sectors_kb", "queue/max_sectors_kb" },
		{ "rotational", "queue/rotational" },
		{ "wbt_lat_usec", "queue/wbt_lat_usec" },
		{ "zoned", "queue/zoned" },
		{ "size_sectors", "size" },
	};
	struct rec_devices devices = { 0 };
	json_t *list = NULL;

	if (!devices_add_named(&devices, root, name, err)) {
		list = devices_json(&devices, root);
		for (size_t i = 0; i < devices.nr; i++)
			for (size_t j = 0; j < sizeof(settings) / sizeof(settings[0]); j++)
				add_attribute(json_array_get(list, i), root, devices.list[i].dev,
					      settings[j][0], settings[j][1]);
	}
	devices_release(&devices);
	return list;
}

json_t *doctor_json(const struct sysroot *root, const char *device, struct error *err)
{
	uint64_t memory = machine_memory_bytes(root);
	json_t *devices = NULL, *doc;
	struct utsname uts;
	char *lockdown;
	bool any;

	if (device) {
		devices = devices_doc(root, device, err);
		if (!devices)
			return NULL;
	}
	doc = json_object();
	lockdown = lockdown_state(root);
	json_object_set_new(doc, "schema_version", json_integer(1));
	json_object_set_new(doc, "tool", json_string("blklab " BLKLAB_VERSION));
	json_object_set_new(doc, "backends", backends_json(root, &any));
	json_object_set_new(doc, "can_record", json_boolean(any));
	json_object_set_new(doc, "kernel", uname(&uts) ? json_null() : json_text(uts.release));
	json_object_set_new(doc, "lockdown", json_text(lockdown));
	add_tracefs(doc, root);
	json_object_set_new(doc, "bpf", bpf_json(root, lockdown));
	json_object_set_new(doc, "config", machine_config(root));
	json_object_set_new(doc, "blktrace", machine_blktrace(root));
	json_object_set_new(doc, "debugfs_mounted", machine_debugfs(root));
	json_object_set_new(doc, "capabilities", machine_capabilities(root));
	json_object_set_new(doc, "memory_available_bytes",
			    memory ? json_integer((json_int_t)memory) : json_null());
	if (devices)
		json_object_set_new(doc, "devices", devices);
	free(lockdown);
	return doc;
}
