/* SPDX-License-Identifier: MIT
 *
 * The debugfs directory, in which the relay files of blktrace appear.
 */
#ifndef BLKLAB_RECORD_DEBUGFS_DIR_H
#define BLKLAB_RECORD_DEBUGFS_DIR_H

#include <stdbool.h>

#include "base/sysroot.h"
#include "record/recorder.h"

struct debugfs_dir {
	char *path;   /* owned */
	bool mounted; /* by us: debugfs_dir_close unmounts it, if no one else uses it meanwhile */
};

/* Finds debugfs and mounts it where it is missing. False with the obstacle; then nothing is left to
 * close. */
bool debugfs_dir_open(struct debugfs_dir *dir, const struct sysroot *root, struct obstacle *no);
void debugfs_dir_close(struct debugfs_dir *dir);
/* Is it mounted anyway? */
bool debugfs_dir_is_mounted(const struct sysroot *root);

#endif
