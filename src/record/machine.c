/* SPDX-License-Identifier: MIT */
#include "record/machine.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <zlib.h>

#include "base/mem.h"
#include "record/debugfs_dir.h"
#include "record/jsontext.h"

#define CONFIG_BYTES  (4u << 20)
#define CAP_SYS_ADMIN 21
#define CAP_PERFMON   38
#define CAP_BPF       39

/* Plain files pass through zlib as they are. Owned; NULL = it is not there. */
static char *read_config(const char *path)
{
	gzFile file = gzopen(path, "rb");
	char *text;
	int n;

	if (!file)
		return NULL;
	text = mem_zalloc(CONFIG_BYTES + 1);
	n = gzread(file, text, CONFIG_BYTES);
	gzclose(file);
	text[n > 0 ? n : 0] = '\0';
	return text;
}

static const char *config_value(const char *text, const char *key)
{
	size_t len = strlen(key);

	for (const char *at = text; (at = strstr(at, key)) != NULL; at += len) {
		if ((at != text && at[-1] != '\n') || at[len] != '=')
			continue;
		return at[len + 1] == 'y' ? "y" : at[len + 1] == 'm' ? "m" : "other";
	}
	return "n";
}

json_t *machine_config(const struct sysroot *root)
{
	static const char *const keys[] = { "CONFIG_BLK_DEV_IO_TRACE", "CONFIG_DEBUG_FS",
					    "CONFIG_FTRACE",           "CONFIG_BPF_SYSCALL",
					    "CONFIG_DEBUG_INFO_BTF",   "CONFIG_CGROUPS",
					    "CONFIG_BLK_CGROUP" };
	char *path = sysroot_path(root, "/proc/config.gz"), *text = read_config(path);
	struct utsname uts;
	json_t *config;

	free(path);
	if (!text && !uname(&uts)) {
		path = sysroot_path(root, "/boot/config-%s", uts.release);
		text = read_config(path);
		free(path);
	}
	config = text ? json_object() : json_null();
	for (size_t i = 0; text && i < sizeof(keys) / sizeof(keys[0]); i++)
		json_object_set_new(config, keys[i], json_string(config_value(text, keys[i])));
	free(text);
	return config;
}

/* Calls see() for every disk until it returns true. */
static bool any_disk(const struct sysroot *root,
		     bool (*see)(const struct sysroot *, const char *, void *), void *arg,
		     bool *disks)
{
	char *path = sysroot_path(root, "/sys/block");
	DIR *list = opendir(path);
	struct dirent *entry;
	bool found = false;

	free(path);
	while (list && !found && (entry = readdir(list))) {
		if (entry->d_name[0] == '.')
			continue;
		*disks = true;
		found = see(root, entry->d_name, arg);
	}
	if (list)
		closedir(list);
	return found;
}

static bool has_trace(const struct sysroot *root, const char *name, void *arg)
{
	char *path = sysroot_path(root, "/sys/block/%s/trace/enable", name);
	bool has = !access(path, F_OK);

	free(path);
	return has;
}

json_t *machine_blktrace(const struct sysroot *root)
{
	bool disks = false, has = any_disk(root, has_trace, NULL, &disks);

	return disks ? json_boolean(has) : json_null();
}

static void add_tracer(json_t *list, const char *what, const char *name)
{
	json_array_append_new(list, json_pack("{s:s, s:o}", "what", what, "name", json_text(name)));
}

/* By blktrace the relay files are there; by ftrace's blk tracer the attribute says so. */
static bool traced(const struct sysroot *root, const char *name, void *arg)
{
	char *relay = sysroot_path(root, "/sys/kernel/debug/block/%s/trace0", name);
	char *enable = sysroot_read(root, 16, "/sys/block/%s/trace/enable", name);

	if (!access(relay, F_OK))
		add_tracer(arg, "blktrace of a device", name);
	else if (enable && enable[0] == '1')
		add_tracer(arg, "the blk tracer, of a device", name);
	free(enable);
	free(relay);
	return false;
}

static void add_instances(json_t *list, const struct tracefs_dir *dir)
{
	char *path = mem_printf("%s/instances", dir->path);
	DIR *instances = opendir(path);
	struct dirent *entry;

	while (instances && (entry = readdir(instances)))
		if (entry->d_name[0] != '.')
			add_tracer(list, "a trace instance", entry->d_name);
	if (instances)
		closedir(instances);
	free(path);
}

json_t *machine_tracers(const struct sysroot *root, const struct tracefs_dir *dir)
{
	json_t *list = json_array();
	bool disks = false;
	char *path, *text;

	any_disk(root, traced, list, &disks);
	if (!dir)
		return list;
	path = mem_printf("%s/current_tracer", dir->path);
	text = file_read(path, 256);
	if (text && *text && strcmp(text, "nop") != 0)
		add_tracer(list, "a tracer in the global buffer", text);
	free(text);
	free(path);
	add_instances(list, dir);
	return list;
}

json_t *machine_capabilities(const struct sysroot *root)
{
	char *text = sysroot_read(root, 1 << 16, "/proc/self/status");
	const char *at = text ? strstr(text, "CapEff:") : NULL;
	unsigned long long caps = at ? strtoull(at + 7, NULL, 16) : 0;
	json_t *all;

	free(text);
	if (!at)
		return json_null();
	all = json_object();
	json_object_set_new(all, "root", json_boolean(geteuid() == 0));
	json_object_set_new(all, "sys_admin", json_boolean(caps >> CAP_SYS_ADMIN & 1));
	json_object_set_new(all, "bpf", json_boolean(caps >> CAP_BPF & 1));
	json_object_set_new(all, "perfmon", json_boolean(caps >> CAP_PERFMON & 1));
	return all;
}

uint64_t machine_memory_bytes(const struct sysroot *root)
{
	char *text = sysroot_read(root, 1 << 16, "/proc/meminfo");
	const char *at = text ? strstr(text, "MemAvailable:") : NULL;
	uint64_t bytes = at ? strtoull(at + 13, NULL, 10) * 1024 : 0;

	free(text);
	return bytes;
}

json_t *machine_debugfs(const struct sysroot *root)
{
	return json_boolean(debugfs_dir_is_mounted(root));
}
