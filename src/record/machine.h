/* SPDX-License-Identifier: MIT
 *
 * What doctor says of the machine beside the backends; each a new object, null where it cannot be told.
 */
#ifndef BLKLAB_RECORD_MACHINE_H
#define BLKLAB_RECORD_MACHINE_H

#include <jansson.h>
#include <stdint.h>

#include "base/sysroot.h"
#include "record/tracefs_dir.h"

/* Options of the kernel's build that recording may need: {"CONFIG_...": "y"|"m"|"n"}, from
 * /proc/config.gz or /boot/config-RELEASE. Null with neither. */
json_t *machine_config(const struct sysroot *root);
/* Does the kernel have blktrace? By a disk's attributes in sysfs; null: there is no disk. */
json_t *machine_blktrace(const struct sysroot *root);
/* Tracing that somebody has switched on: [{"what", "name"}]; ours is not told apart. dir may be NULL: only
 * traces of devices are seen then. */
json_t *machine_tracers(const struct sysroot *root, const struct tracefs_dir *dir);
/* {"root", "sys_admin", "bpf", "perfmon"}: effective capabilities of this process. */
json_t *machine_capabilities(const struct sysroot *root);
uint64_t machine_memory_bytes(const struct sysroot *root); /* MemAvailable; 0: it cannot be told */
json_t *machine_debugfs(const struct sysroot *root);       /* is it mounted? */

#endif
