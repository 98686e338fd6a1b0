/* SPDX-License-Identifier: MIT
 *
 * Which devices to record: what the user named, closed over partition -> disk and slaves/ down to
 * the leaves (model.md 9). A partition has no events of its own: it becomes its disk and a range of
 * sectors.
 */
#ifndef BLKLAB_RECORD_DEVICES_H
#define BLKLAB_RECORD_DEVICES_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/sysroot.h"

#define DEV_FMT      "%u:%u" /* as sysfs writes it */
#define DEV_ARG(dev) ((dev) >> 20), ((dev)&0xfffffu)

struct rec_device {
	uint32_t dev; /* of the whole disk: major << 20 | minor */
	char name[64];
	char why[96]; /* "asked", "disk of sda1", "slave of dm-0" */
	/* Only this partition of it, where part_dev is not 0. */
	uint32_t part_dev;
	char part_name[64];
	uint64_t part_start, part_sectors; /* 512-byte units */
};

struct rec_devices {
	struct rec_device *list; /* owned; the ones asked for come before what lies below them */
	size_t nr;
	/* The paths below an NVMe head of several are hidden: their events carry numbers (of the major
	 * below) that sysfs does not tell. Those it does tell are others' and stand here. */
	bool hidden_paths;
	uint32_t *visible; /* owned array */
	size_t nr_visible;
};

#define DEVICE_HIDDEN_MAJOR \
	259u /* block/genhd.c gives paths the numbers of partitions beyond a disk's own */

/* Adds the block device at a path, or with that bare name ("sda"). */
int devices_add_named(struct rec_devices *devices, const struct sysroot *root, const char *name,
		      struct error *err);
/* Adds the device or devices under the file system that holds a directory. `found`, if not NULL,
 * gets their names for people: "loop0" or "sda1, sdb". */
int devices_add_mount(struct rec_devices *devices, const struct sysroot *root, const char *dir,
		      char found[128], struct error *err);
/* Adds by number. */
int devices_add(struct rec_devices *devices, const struct sysroot *root, uint32_t dev,
		const char *why, struct error *err);
void devices_release(struct rec_devices *devices);

/* "request" (blk-mq), "bio" (a mapping driver) or "unknown". Static. */
const char *device_kind(const struct sysroot *root, uint32_t dev);
/* "MAJOR:MINOR" in a sysfs file -> number; false where it is none. */
bool device_parse(const char *text, uint32_t *dev);
/* The kernel's name of a device number; owned by the caller, NULL = there is none. */
char *device_sysname(const struct sysroot *root, uint32_t dev);

/* The `devices` array of meta.json. */
json_t *devices_json(const struct rec_devices *devices, const struct sysroot *root);

#endif
