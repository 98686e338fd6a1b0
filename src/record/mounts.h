/* SPDX-License-Identifier: MIT
 *
 * File systems and the devices below them, from mountinfo (libmount) and sysfs.
 */
#ifndef BLKLAB_RECORD_MOUNTS_H
#define BLKLAB_RECORD_MOUNTS_H

#include <jansson.h>
#include <stdint.h>

#include "base/error.h"
#include "base/sysroot.h"
#include "record/devices.h"

/* The block devices of the file system that holds dir: one, or all of a btrfs. Returns how many
 * (at most max), or -1 and one sentence where there are none (tmpfs, nfs, ...). */
int mount_devices(const struct sysroot *root, const char *dir, uint32_t *devs, int max,
		  struct error *err);

/* The mounts of a device (of its partition, where only that is recorded; else also of all its
 * partitions): [{"dir", "fstype", "options", "device"}]. */
json_t *mounts_json(const struct sysroot *root, const struct rec_device *device);

#endif
