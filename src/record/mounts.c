/* SPDX-License-Identifier: MIT */
#include "record/mounts.h"

#include <dirent.h>
#include <errno.h>
#include <libmount/libmount.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/mem.h"
#include "record/jsontext.h"

/* Owned by the caller, mnt_unref_table; NULL where mountinfo cannot be read. */
static struct libmnt_table *mount_table(const struct sysroot *root)
{
	char *path = sysroot_path(root, "/proc/self/mountinfo");
	struct libmnt_table *table = mnt_new_table_from_file(path);

	free(path);
	return table;
}

static bool is_block_device(const struct sysroot *root, uint32_t dev)
{
	char *path = sysroot_path(root, "/sys/dev/block/" DEV_FMT, DEV_ARG(dev));
	bool is = !access(path, F_OK);

	free(path);
	return is;
}

/* All devices of the btrfs that has this one among its own: /sys/fs/btrfs/UUID/devices/NAME. */
static int btrfs_devices_in(const struct sysroot *root, const char *uuid, const char *member,
			    uint32_t *devs, int max)
{
	char *path = sysroot_path(root, "/sys/fs/btrfs/%s/devices", uuid);
	char *mark = mem_printf("%s/%s", path, member);
	DIR *dir = access(mark, F_OK) ? NULL : opendir(path);
	struct dirent *entry;
	int nr = 0;

	while (dir && nr < max && (entry = readdir(dir))) {
		char *text =
			entry->d_name[0] == '.'
				? NULL
				: sysroot_read(root, 64, "/sys/class/block/%s/dev", entry->d_name);

		if (device_parse(text, &devs[nr]))
			nr++;
		free(text);
	}
	if (dir)
		closedir(dir);
	free(mark);
	free(path);
	return nr;
}

static int btrfs_devices(const struct sysroot *root, uint32_t member, uint32_t *devs, int max)
{
	char *path = sysroot_path(root, "/sys/fs/btrfs");
	char *name = device_sysname(root, member);
	DIR *dir = name ? opendir(path) : NULL;
	struct dirent *entry;
	int nr = 0;

	while (dir && !nr && (entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			nr = btrfs_devices_in(root, entry->d_name, name, devs, max);
	if (dir)
		closedir(dir);
	free(name);
	free(path);
	if (!nr) {
		devs[0] = member;
		nr = 1;
	}
	return nr;
}

/* Where st_dev is no device's number (btrfs): by the mount's source. */
static int devices_of_mount(const struct sysroot *root, struct libmnt_fs *fs, const char *dir,
			    uint32_t *devs, int max, struct error *err)
{
	const char *type = fs ? mnt_fs_get_fstype(fs) : NULL;
	const char *source = fs ? mnt_fs_get_source(fs) : NULL;
	struct stat st;
	uint32_t dev;

	if (!source || stat(source, &st) || !S_ISBLK(st.st_mode))
		return error_set(err, "%s is on %s, which has no block device of its own", dir,
				 type ? type : "a file system");
	dev = major(st.st_rdev) << 20 | minor(st.st_rdev);
	if (!is_block_device(root, dev))
		return error_set(err, "%s is on %s, which the kernel does not know", dir, source);
	if (!strcmp(type ? type : "", "btrfs"))
		return btrfs_devices(root, dev, devs, max);
	devs[0] = dev;
	return 1;
}

int mount_devices(const struct sysroot *root, const char *dir, uint32_t *devs, int max,
		  struct error *err)
{
	struct libmnt_table *table;
	struct libmnt_fs *fs;
	struct stat st;
	char *path;
	int nr;

	if (stat(dir, &st))
		return error_errno(err, errno, "%s", dir);
	devs[0] = major(st.st_dev) << 20 | minor(st.st_dev);
	if (is_block_device(root, devs[0]))
		return 1;
	path = realpath(dir, NULL);
	table = mount_table(root);
	fs = table && path ? mnt_table_find_mountpoint(table, path, MNT_ITER_BACKWARD) : NULL;
	nr = devices_of_mount(root, fs, dir, devs, max, err);
	mnt_unref_table(table);
	free(path);
	return nr;
}

/* Is the mount with this device number (or, for btrfs, this source) on the recorded device? */
static bool mount_is_on(const struct sysroot *root, struct libmnt_fs *fs,
			const struct rec_device *device, uint32_t *on)
{
	uint32_t dev = major(mnt_fs_get_devno(fs)) << 20 | minor(mnt_fs_get_devno(fs));
	const char *source = mnt_fs_get_source(fs);
	struct stat st;
	char *text;
	bool is;

	if (!is_block_device(root, dev)) {
		if (!source || source[0] != '/' || stat(source, &st) || !S_ISBLK(st.st_mode))
			return false;
		dev = major(st.st_rdev) << 20 | minor(st.st_rdev);
	}
	*on = dev;
	if (device->part_dev)
		return dev == device->part_dev;
	if (dev == device->dev)
		return true;
	/* A partition of it: its directory lies in the disk's. */
	text = sysroot_read(root, 64, "/sys/dev/block/" DEV_FMT "/../dev", DEV_ARG(dev));
	is = device_parse(text, &dev) && dev == device->dev;
	free(text);
	return is;
}

json_t *mounts_json(const struct sysroot *root, const struct rec_device *device)
{
	struct libmnt_table *table = mount_table(root);
	struct libmnt_iter *iter = mnt_new_iter(MNT_ITER_FORWARD);
	struct libmnt_fs *fs;
	json_t *list = json_array();
	uint32_t on;

	while (table && iter && !mnt_table_next_fs(table, iter, &fs)) {
		json_t *one;

		if (!mount_is_on(root, fs, device, &on))
			continue;
		one = json_object();
		json_object_set_new(one, "dir", json_text(mnt_fs_get_target(fs)));
		json_object_set_new(one, "fstype", json_text(mnt_fs_get_fstype(fs)));
		json_object_set_new(one, "options", json_text(mnt_fs_get_options(fs)));
		json_object_set_new(one, "device", json_sprintf("%u,%u", DEV_ARG(on)));
		json_array_append_new(list, one);
	}
	mnt_free_iter(iter);
	mnt_unref_table(table);
	return list;
}
