/* SPDX-License-Identifier: MIT */
#include "record/debugfs_dir.h"

#include <errno.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/vfs.h>

#define PLACE "/sys/kernel/debug"

static bool is_debugfs(const char *path)
{
	struct statfs fs;

	return !statfs(path, &fs) && fs.f_type == DEBUGFS_MAGIC;
}

bool debugfs_dir_is_mounted(const struct sysroot *root)
{
	char *path = sysroot_path(root, PLACE);
	bool mounted = is_debugfs(path);

	free(path);
	return mounted;
}

bool debugfs_dir_open(struct debugfs_dir *dir, const struct sysroot *root, struct obstacle *no)
{
	*dir = (struct debugfs_dir){ .path = sysroot_path(root, PLACE) };
	if (is_debugfs(dir->path))
		return true;
	if (!mount("debugfs", dir->path, "debugfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL)) {
		dir->mounted = true;
		return true;
	}
	if (errno == ENODEV || errno == ENOENT) {
		snprintf(no->why, sizeof(no->why), "this kernel has no debugfs (CONFIG_DEBUG_FS)");
	} else {
		snprintf(no->why, sizeof(no->why),
			 "debugfs is not mounted and mounting it failed: %s", strerror(errno));
		snprintf(no->fix, sizeof(no->fix), "mount -t debugfs debugfs " PLACE);
	}
	debugfs_dir_close(dir);
	return false;
}

void debugfs_dir_close(struct debugfs_dir *dir)
{
	if (dir->mounted)
		umount(dir->path); /* EBUSY: someone else uses it by now */
	free(dir->path);
	*dir = (struct debugfs_dir){ 0 };
}
