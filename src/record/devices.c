/* SPDX-License-Identifier: MIT */
#include "record/devices.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/mem.h"
#include "record/jsontext.h"
#include "record/mounts.h"

#define SMALL       4096
#define MAX_DEVICES 256 /* more than any stack of devices, less than a filter can hold */

bool device_parse(const char *text, uint32_t *dev)
{
	unsigned int major_nr, minor_nr;

	if (!text || sscanf(text, "%u:%u", &major_nr, &minor_nr) != 2 || major_nr >= 1u << 12 ||
	    minor_nr >= 1u << 20)
		return false;
	*dev = major_nr << 20 | minor_nr;
	return true;
}

/* The resolved directory /sys/devices/.../NAME of a device, owned; NULL = there is none. */
static char *device_dir(const struct sysroot *root, uint32_t dev)
{
	char *link = sysroot_path(root, "/sys/dev/block/" DEV_FMT, DEV_ARG(dev));
	char *dir = realpath(link, NULL);

	free(link);
	return dir;
}

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

char *device_sysname(const struct sysroot *root, uint32_t dev)
{
	char *dir = device_dir(root, dev);
	char *name = dir ? mem_strdup(last_part(dir)) : NULL;

	free(dir);
	return name;
}

const char *device_kind(const struct sysroot *root, uint32_t dev)
{
	char *mq = sysroot_path(root, "/sys/dev/block/" DEV_FMT "/mq", DEV_ARG(dev));
	char *queue = sysroot_path(root, "/sys/dev/block/" DEV_FMT "/queue", DEV_ARG(dev));
	const char *kind = !access(mq, F_OK) ? "request" : !access(queue, F_OK) ? "bio" : "unknown";

	free(mq);
	free(queue);
	return kind;
}

static uint64_t read_number(const struct sysroot *root, uint32_t dev, const char *attribute)
{
	char *text =
		sysroot_read(root, SMALL, "/sys/dev/block/" DEV_FMT "/%s", DEV_ARG(dev), attribute);
	uint64_t value = text ? strtoull(text, NULL, 10) : 0;

	free(text);
	return value;
}

/* A whole disk makes entries for its parts needless, and none is listed twice. True = already in. */
static bool already_covered(struct rec_devices *devices, const struct rec_device *new)
{
	size_t kept = 0;

	for (size_t i = 0; i < devices->nr; i++) {
		struct rec_device *old = &devices->list[i];

		if (old->dev == new->dev && (!old->part_dev || old->part_dev == new->part_dev))
			return true;
	}
	for (size_t i = 0; i < devices->nr; i++)
		if (devices->list[i].dev != new->dev || new->part_dev)
			devices->list[kept++] = devices->list[i];
	devices->nr = kept;
	return false;
}

static int add_slaves(struct rec_devices *devices, const struct sysroot *root, uint32_t dev,
		      const char *name, struct error *err)
{
	char *path = sysroot_path(root, "/sys/dev/block/" DEV_FMT "/slaves", DEV_ARG(dev));
	DIR *dir = opendir(path);
	struct dirent *entry;
	int result = 0;

	free(path);
	while (dir && !result && (entry = readdir(dir))) {
		char why[96], *text;
		uint32_t slave;

		if (entry->d_name[0] == '.')
			continue;
		text = sysroot_read(root, SMALL, "/sys/class/block/%s/dev", entry->d_name);
		snprintf(why, sizeof(why), "slave of %.64s", name);
		if (device_parse(text, &slave))
			result = devices_add(devices, root, slave, why, err);
		free(text);
	}
	if (dir)
		closedir(dir);
	return result;
}

/* Fills in the disk of a partition. */
static int as_partition(struct rec_device *device, const struct sysroot *root, const char *dir,
			struct error *err)
{
	char *disk = mem_strndup(dir, (size_t)(last_part(dir) - dir - 1));
	char *attribute = mem_printf("%s/dev", disk);
	char *text = file_read(attribute, SMALL);
	uint32_t part_dev = device->dev;
	int result = 0;

	device->part_dev = part_dev;
	device->part_start = read_number(root, part_dev, "start");
	device->part_sectors = read_number(root, part_dev, "size");
	snprintf(device->part_name, sizeof(device->part_name), "%s", device->name);
	snprintf(device->name, sizeof(device->name), "%s", last_part(disk));
	if (!strcmp(device->why, "asked"))
		snprintf(device->why, sizeof(device->why), "disk of %.64s", device->part_name);
	if (!device_parse(text, &device->dev))
		result = error_set(err, "cannot find the disk of partition %s", device->part_name);
	free(text);
	free(attribute);
	free(disk);
	return result;
}

/* "nvme0c1n2" is a path of the head "nvme0n2". */
static bool is_path_of(const char *name, const char *head)
{
	unsigned int subsystem, path, space;
	char made[64];

	if (sscanf(name, "nvme%uc%un%u", &subsystem, &path, &space) != 3)
		return false;
	snprintf(made, sizeof(made), "nvme%un%u", subsystem, space);
	return !strcmp(made, head);
}

static bool has_hidden_path(const struct sysroot *root, const char *head)
{
	char *path = sysroot_path(root, "/sys/block");
	DIR *dir = opendir(path);
	struct dirent *entry;
	bool found = false;

	free(path);
	while (dir && !found && (entry = readdir(dir))) {
		char *hidden =
			is_path_of(entry->d_name, head)
				? sysroot_read(root, SMALL, "/sys/block/%s/hidden", entry->d_name)
				: NULL;

		found = hidden && hidden[0] == '1';
		free(hidden);
	}
	if (dir)
		closedir(dir);
	return found;
}

static void list_visible(struct rec_devices *devices, const struct sysroot *root)
{
	char *path = sysroot_path(root, "/sys/dev/block");
	DIR *dir = opendir(path);
	struct dirent *entry;
	uint32_t dev;

	free(path);
	while (dir && (entry = readdir(dir))) {
		if (!device_parse(entry->d_name, &dev) || dev >> 20 != DEVICE_HIDDEN_MAJOR)
			continue;
		devices->visible = mem_grow(devices->visible, devices->nr_visible, sizeof(dev));
		devices->visible[devices->nr_visible++] = dev;
	}
	if (dir)
		closedir(dir);
}

static void note_hidden_paths(struct rec_devices *devices, const struct sysroot *root,
			      const char *name)
{
	if (devices->hidden_paths || strncmp(name, "nvme", 4) || !has_hidden_path(root, name))
		return;
	devices->hidden_paths = true;
	list_visible(devices, root);
}

int devices_add(struct rec_devices *devices, const struct sysroot *root, uint32_t dev,
		const char *why, struct error *err)
{
	struct rec_device device = { .dev = dev };
	char *dir = device_dir(root, dev), *mark;
	int result = 0;

	if (!dir)
		return error_set(err, "no such device: " DEV_FMT, DEV_ARG(dev));
	snprintf(device.name, sizeof(device.name), "%s", last_part(dir));
	snprintf(device.why, sizeof(device.why), "%s", why);
	mark = mem_printf("%s/partition", dir);
	if (!access(mark, F_OK))
		result = as_partition(&device, root, dir, err);
	free(mark);
	free(dir);
	if (result || already_covered(devices, &device))
		return result;
	if (devices->nr == MAX_DEVICES)
		return error_set(err, "more than %d devices lie below what was named", MAX_DEVICES);
	devices->list = mem_grow(devices->list, devices->nr, sizeof(*devices->list));
	devices->list[devices->nr++] = device;
	note_hidden_paths(devices, root, device.name);
	return add_slaves(devices, root, device.dev, device.name, err);
}

/* The number of a bare name, by sysfs. */
static bool number_of_name(const struct sysroot *root, const char *name, uint32_t *dev)
{
	char *text;
	bool found;

	if (!*name || strchr(name, '/') || name[0] == '.')
		return false;
	text = sysroot_read(root, SMALL, "/sys/class/block/%s/dev", name);
	found = device_parse(text, dev);
	free(text);
	return found;
}

int devices_add_named(struct rec_devices *devices, const struct sysroot *root, const char *name,
		      struct error *err)
{
	struct stat st;
	uint32_t dev;
	char *dir;

	if (number_of_name(root, name, &dev))
		return devices_add(devices, root, dev, "asked", err);
	if (stat(name, &st)) {
		if (errno == ENOENT)
			return error_set(err, "%s: no such device", name);
		return error_errno(err, errno, "%s", name);
	}
	if (!S_ISBLK(st.st_mode))
		return error_set(err, "%s is not a block device%s", name,
				 S_ISDIR(st.st_mode) ? " (for a directory use --mount)" : "");
	dev = major(st.st_rdev) << 20 | minor(st.st_rdev);
	dir = device_dir(root, dev);
	if (!dir)
		return error_set(err, "%s: no such device (the kernel knows no disk " DEV_FMT ")",
				 name, DEV_ARG(dev));
	free(dir);
	return devices_add(devices, root, dev, "asked", err);
}

int devices_add_mount(struct rec_devices *devices, const struct sysroot *root, const char *dir,
		      char found[128], struct error *err)
{
	uint32_t devs[64];
	int nr = mount_devices(root, dir, devs, 64, err);
	size_t used = 0;

	if (found)
		found[0] = '\0';
	for (int i = 0; i < nr; i++) {
		char *name = device_sysname(root, devs[i]);

		if (devices_add(devices, root, devs[i], "asked", err)) {
			free(name);
			return -1;
		}
		if (found && name && used < 100)
			used += (size_t)snprintf(found + used, 128 - used, "%s%s", i ? ", " : "",
						 name);
		free(name);
	}
	return nr < 0 ? -1 : 0;
}

void devices_release(struct rec_devices *devices)
{
	free(devices->list);
	free(devices->visible);
	*devices = (struct rec_devices){ 0 };
}

static json_t *dev_json(uint32_t dev)
{
	return json_sprintf("%u,%u", DEV_ARG(dev));
}

static json_t *attribute_json(const struct sysroot *root, uint32_t dev, const char *attribute)
{
	char *text =
		sysroot_read(root, SMALL, "/sys/dev/block/" DEV_FMT "/%s", DEV_ARG(dev), attribute);
	json_t *value = text ? json_text(text) : json_null();

	free(text);
	return value;
}

static json_t *fua_json(const struct sysroot *root, uint32_t dev)
{
	char *text =
		sysroot_read(root, SMALL, "/sys/dev/block/" DEV_FMT "/queue/fua", DEV_ARG(dev));
	json_t *value = text ? json_boolean(text[0] == '1') : json_null();

	free(text);
	return value;
}

/* What a loop device stands on, and whether past the page cache; null where it is none, or empty. */
static json_t *loop_json(const struct sysroot *root, uint32_t dev)
{
	char *file = sysroot_read(root, SMALL, "/sys/dev/block/" DEV_FMT "/loop/backing_file",
				  DEV_ARG(dev));
	char *dio = sysroot_read(root, SMALL, "/sys/dev/block/" DEV_FMT "/loop/dio", DEV_ARG(dev));
	json_t *loop = json_null();

	if (file) {
		loop = json_object();
		json_object_set_new(loop, "backing_file", json_text(file));
		json_object_set_new(loop, "direct_io",
				    dio ? json_boolean(dio[0] == '1') : json_null());
	}
	free(file);
	free(dio);
	return loop;
}

static json_t *partition_json(const struct rec_device *device)
{
	json_t *part;

	if (!device->part_dev)
		return json_null();
	part = json_object();
	json_object_set_new(part, "device", dev_json(device->part_dev));
	json_object_set_new(part, "name", json_text(device->part_name));
	json_object_set_new(part, "start_sector", json_integer((json_int_t)device->part_start));
	json_object_set_new(part, "sectors", json_integer((json_int_t)device->part_sectors));
	return part;
}

json_t *devices_json(const struct rec_devices *devices, const struct sysroot *root)
{
	json_t *list = json_array();

	for (size_t i = 0; i < devices->nr; i++) {
		const struct rec_device *device = &devices->list[i];
		json_t *one = json_object();

		json_object_set_new(one, "device", dev_json(device->dev));
		json_object_set_new(one, "name", json_text(device->name));
		json_object_set_new(one, "kind", json_text(device_kind(root, device->dev)));
		json_object_set_new(one, "why", json_text(device->why));
		json_object_set_new(one, "partition", partition_json(device));
		json_object_set_new(one, "mounts", mounts_json(root, device));
		json_object_set_new(one, "write_cache",
				    attribute_json(root, device->dev, "queue/write_cache"));
		json_object_set_new(one, "fua", fua_json(root, device->dev));
		json_object_set_new(one, "loop", loop_json(root, device->dev));
		json_array_append_new(list, one);
	}
	return list;
}
