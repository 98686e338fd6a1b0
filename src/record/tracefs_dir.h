/* SPDX-License-Identifier: MIT
 *
 * The tracefs directory. Nothing in it but our own trace instances (instance.h) is ever changed; whoever
 * else traces on this machine is not disturbed.
 */
#ifndef BLKLAB_RECORD_TRACEFS_DIR_H
#define BLKLAB_RECORD_TRACEFS_DIR_H

#include <stdbool.h>

#include "base/error.h"
#include "base/sysroot.h"
#include "record/recorder.h"

struct tracefs_dir {
	char *path;   /* owned */
	bool mounted; /* by us: tracefs_dir_close unmounts it, if no one else uses it meanwhile */
};

/* Finds tracefs and mounts it where it is missing. False with the obstacle; then nothing is left
 * to close. */
bool tracefs_dir_open(struct tracefs_dir *dir, const struct sysroot *root, struct obstacle *no);
void tracefs_dir_close(struct tracefs_dir *dir);
/* Is it mounted anyway? */
bool tracefs_dir_is_mounted(const struct sysroot *root);

/* "integrity", "confidentiality", "none"; NULL = the kernel has no lockdown. Owned. */
char *lockdown_state(const struct sysroot *root);

#endif
