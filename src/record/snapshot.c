/* SPDX-License-Identifier: MIT */
#include "record/snapshot.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "record/jsontext.h"

#define ATTRIBUTE_MAX 4096
#define PROC_MAX      (256 << 10)

/* Attributes of a disk, below /sys/block/NAME. */
static const char *const disk_files[] = { "dev",
					  "size",
					  "ro",
					  "removable",
					  "inflight",
					  "stat",
					  "range",
					  "alignment_offset",
					  "dm/name",
					  "dm/uuid",
					  "md/level",
					  "md/chunk_size",
					  "md/raid_disks",
					  "md/array_state",
					  "md/stripe_cache_size",
					  "md/bitmap/location",
					  "md/journal_mode",
					  "device/model",
					  "device/vendor",
					  "device/rev",
					  "device/queue_depth",
					  "device/timeout",
					  "bdi/read_ahead_kb",
					  "bdi/min_ratio",
					  "bdi/max_ratio",
					  "bdi/max_bytes",
					  "bdi/strict_limit" };
/* Directories of a disk of which every small file is stored. */
static const char *const disk_dirs[] = { "queue", "queue/iosched", "loop" };
/* Directories of which the names are stored. */
static const char *const disk_lists[] = { "holders", "slaves", "mq" };

static const char *const part_files[] = { "dev", "partition", "start", "size", "ro", "stat" };

/* Of the whole machine. */
static const char *const machine_files[] = {
	"/proc/self/mountinfo",
	"/proc/self/cgroup",
	"/proc/mdstat",
	"/proc/version",
	"/proc/cmdline",
	"/proc/loadavg",
	"/proc/swaps",
	"/proc/pressure/io",
	"/proc/pressure/memory",
	"/proc/sys/vm/dirty_background_bytes",
	"/proc/sys/vm/dirty_background_ratio",
	"/proc/sys/vm/dirty_bytes",
	"/proc/sys/vm/dirty_expire_centisecs",
	"/proc/sys/vm/dirty_ratio",
	"/proc/sys/vm/dirty_writeback_centisecs",
	"/proc/sys/vm/dirtytime_expire_seconds",
	"/proc/sys/vm/laptop_mode",
	"/proc/sys/vm/swappiness",
	"/sys/kernel/security/lockdown",
	"/sys/devices/system/cpu/online",
};

/* Limits of a cgroup and of all above it. */
static const char *const cgroup_files[] = { "io.max",        "io.weight", "io.latency",
					    "io.prio.class", "io.stat",   "memory.max",
					    "memory.high",   "cpu.max",   "io.bfq.weight" };

#define NR(array) (sizeof(array) / sizeof((array)[0]))

static void add_file(json_t *facts, const struct sysroot *root, const char *path, size_t max)
{
	char *text = sysroot_read(root, max, "%s", path);

	if (text && *text)
		json_object_set_new(facts, path, json_text(text));
	free(text);
}

static void add_below(json_t *facts, const struct sysroot *root, const char *dir, const char *file)
{
	char *path = mem_printf("%s/%s", dir, file);

	add_file(facts, root, path, ATTRIBUTE_MAX);
	free(path);
}

/* Names in a directory, one a line; with `files`, the contents of its plain files too. */
static void add_dir(json_t *facts, const struct sysroot *root, const char *dir_path, bool files)
{
	char *real = sysroot_path(root, "%s", dir_path);
	DIR *dir = opendir(real);
	char *names = mem_strdup("");
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		char *more;

		if (entry->d_name[0] == '.')
			continue;
		if (files && entry->d_type == DT_REG)
			add_below(facts, root, dir_path, entry->d_name);
		more = mem_printf("%s%s%s", names, *names ? "\n" : "", entry->d_name);
		free(names);
		names = more;
	}
	if (dir && !files && *names)
		json_object_set_new(facts, dir_path, json_text(names));
	if (dir)
		closedir(dir);
	free(names);
	free(real);
}

static void add_partitions(json_t *facts, const struct sysroot *root, const char *disk)
{
	char *real = sysroot_path(root, "%s", disk);
	DIR *dir = opendir(real);
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		char *part = mem_printf("%s/%s", disk, entry->d_name);
		char *mark = sysroot_path(root, "%s/partition", part);

		if (entry->d_name[0] != '.' && !access(mark, F_OK))
			for (size_t i = 0; i < NR(part_files); i++)
				add_below(facts, root, part, part_files[i]);
		free(mark);
		free(part);
	}
	if (dir)
		closedir(dir);
	free(real);
}

static void add_disk(json_t *facts, const struct sysroot *root, const char *disk)
{
	for (size_t i = 0; i < NR(disk_files); i++)
		add_below(facts, root, disk, disk_files[i]);
	for (size_t i = 0; i < NR(disk_dirs); i++) {
		char *dir = mem_printf("%s/%s", disk, disk_dirs[i]);

		add_dir(facts, root, dir, true);
		free(dir);
	}
	for (size_t i = 0; i < NR(disk_lists); i++) {
		char *dir = mem_printf("%s/%s", disk, disk_lists[i]);

		add_dir(facts, root, dir, false);
		free(dir);
	}
	add_partitions(facts, root, disk);
}

static bool is_recorded(const struct rec_devices *devices, const char *name)
{
	for (size_t i = 0; i < devices->nr; i++)
		if (!strcmp(devices->list[i].name, name))
			return true;
	return false;
}

static void add_disks(json_t *facts, const struct sysroot *root, const struct rec_devices *devices)
{
	char *real = sysroot_path(root, "/sys/block");
	DIR *dir = opendir(real);
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		char *disk = mem_printf("/sys/block/%s", entry->d_name);

		if (entry->d_name[0] != '.' && is_recorded(devices, entry->d_name)) {
			add_disk(facts, root, disk);
		} else if (entry->d_name[0] != '.') {
			add_below(facts, root, disk, "dev");
			add_below(facts, root, disk, "size");
			add_below(facts, root, disk, "stat");
		}
		free(disk);
	}
	if (dir)
		closedir(dir);
	free(real);
}

/* The cgroup of this process, which the command inherits: the "0::/PATH" line. */
static void add_cgroup(json_t *facts, const struct sysroot *root)
{
	char *text = sysroot_read(root, PROC_MAX, "/proc/self/cgroup");
	char *at = text ? strstr(text, "0::/") : NULL;
	char *path, *slash;

	if (at && (at == text || at[-1] == '\n')) {
		path = mem_strndup(at + 3, strcspn(at + 3, "\n"));
		while ((slash = strrchr(path, '/'))) {
			char *dir = mem_printf("/sys/fs/cgroup%s", strcmp(path, "/") ? path : "");

			for (size_t i = 0; i < NR(cgroup_files); i++)
				add_below(facts, root, dir, cgroup_files[i]);
			free(dir);
			*slash = '\0';
		}
		free(path);
	}
	free(text);
}

/* Ext4: where the journal is and what it costs: fs options in effect, by device name. */
static void add_filesystems(json_t *facts, const struct sysroot *root,
			    const struct rec_devices *devices)
{
	for (size_t i = 0; i < devices->nr; i++) {
		const struct rec_device *device = &devices->list[i];
		const char *name = device->part_dev ? device->part_name : device->name;
		char *path = mem_printf("/proc/fs/ext4/%s/options", name);
		char *jbd2 = sysroot_path(root, "/proc/fs/jbd2");
		DIR *dir = opendir(jbd2);
		struct dirent *entry;
		size_t len = strlen(name);

		add_file(facts, root, path, PROC_MAX);
		free(path);
		/* "sda1-8" (journal inode) or "sdb1" (a journal device). */
		while (dir && (entry = readdir(dir))) {
			if (strncmp(entry->d_name, name, len) ||
			    (entry->d_name[len] && entry->d_name[len] != '-'))
				continue;
			path = mem_printf("/proc/fs/jbd2/%s/info", entry->d_name);
			add_file(facts, root, path, PROC_MAX);
			free(path);
		}
		if (dir)
			closedir(dir);
		free(jbd2);
	}
}

/* `dmsetup table`, only where a mapped device is among them. */
static void add_dm_tables(json_t *facts, const struct rec_devices *devices)
{
	char text[16384];
	bool any = false;
	size_t len;
	FILE *pipe;

	for (size_t i = 0; i < devices->nr; i++)
		any = any || !strncmp(devices->list[i].name, "dm-", 3);
	pipe = any ? popen("dmsetup table 2>/dev/null", "re") : NULL;
	if (!pipe)
		return;
	len = fread(text, 1, sizeof(text) - 1, pipe);
	text[len] = '\0';
	pclose(pipe);
	if (len)
		json_object_set_new(facts, "dmsetup table", json_text(text));
}

json_t *snapshot_json(const struct sysroot *root, const struct rec_devices *devices)
{
	json_t *facts = json_object();

	for (size_t i = 0; i < NR(machine_files); i++)
		add_file(facts, root, machine_files[i], PROC_MAX);
	add_disks(facts, root, devices);
	add_cgroup(facts, root);
	add_filesystems(facts, root, devices);
	add_dm_tables(facts, devices);
	return facts;
}
