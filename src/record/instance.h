/* SPDX-License-Identifier: MIT
 *
 * Our trace instances: tracefs' instances/blklab-PID, in a pid namespace of its own (a container)
 * blklab-PID-NAMESPACE, since the numbers there are others; ".2" and so on behind it where that is taken.
 * A file of the instance is open as long as its recorder lives, so that nobody can remove it.
 */
#ifndef BLKLAB_RECORD_INSTANCE_H
#define BLKLAB_RECORD_INSTANCE_H

#include <stdbool.h>

#include "base/error.h"
#include "base/sysroot.h"
#include "record/child.h"
#include "record/tracefs_dir.h"

struct instance {
	char *path; /* owned; NULL = none */
	int hold_fd;
};

int instance_make(struct instance *instance, const struct tracefs_dir *dir,
		  const struct sysroot *root, struct error *err);
/* Every other file of it must be closed. Twice is fine. */
void instance_remove(struct instance *instance);

/* Finds the child's number in the initial pid namespace, which is the one in the events: it writes a
 * mark, and the kernel's own text of that tells. 0 = not to be had. To be called before any event is
 * switched on; empties the buffer. */
pid_t instance_kernel_pid(const struct instance *instance, struct child *child);

/* Removes instances that a killed blklab left: those of this pid namespace where no process PID lives
 * that was there when the instance was made, and from the initial namespace also those of namespaces
 * without processes. One of which a file is open stays. Returns how many. With `report`, calls it for
 * each with its name and how it went (0 or an errno). */
int instance_sweep(const struct tracefs_dir *dir, const struct sysroot *root,
		   void (*report)(void *arg, const char *name, int errnum), void *arg);

#endif
