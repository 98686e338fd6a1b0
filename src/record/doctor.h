/* SPDX-License-Identifier: MIT
 *
 * What can be recorded on this machine, and what a killed recorder left behind.
 */
#ifndef BLKLAB_RECORD_DOCTOR_H
#define BLKLAB_RECORD_DOCTOR_H

#include <jansson.h>

#include "base/error.h"
#include "base/sysroot.h"

/* Removes our own leftovers and describes everything; with a device (a path or name, may be NULL)
 * also that and what lies below it. A new object with "can_record", "backends": [{"name", "what",
 * "can_record", "why", "fix"}], "kernel", "lockdown", "tracefs_mounted", "events", "blk_tracer",
 * "bpf", "leftovers", "devices", and of machine.h "config", "blktrace", "tracers", "capabilities",
 * "memory_available_bytes", "debugfs_mounted"; NULL with err where the device cannot be found. */
json_t *doctor_json(const struct sysroot *root, const char *device, struct error *err);

#endif
