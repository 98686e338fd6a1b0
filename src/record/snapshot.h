/* SPDX-License-Identifier: MIT
 *
 * The facts of model.md 14 as they are now: {"PATH": "TEXT", ...}. Recorded devices in full, other
 * disks by size and counters only.
 */
#ifndef BLKLAB_RECORD_SNAPSHOT_H
#define BLKLAB_RECORD_SNAPSHOT_H

#include <jansson.h>

#include "base/sysroot.h"
#include "record/devices.h"

json_t *snapshot_json(const struct sysroot *root, const struct rec_devices *devices);

#endif
