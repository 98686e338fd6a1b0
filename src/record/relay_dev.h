/* SPDX-License-Identifier: MIT
 *
 * The kernel's blktrace of one device: set up by ioctl, read through debugfs' relay files (reader:
 * relay_cpu.h). One device can be traced once only, whoever does it; a trace of somebody else is left
 * alone. One of ours whose recorder was killed is recognised by its claim and cleared: a file in /run
 * that the recorder keeps locked, with the inode number of the trace's own debugfs file in it, so
 * that a later trace of somebody else is never taken for ours.
 */
#ifndef BLKLAB_RECORD_RELAY_DEV_H
#define BLKLAB_RECORD_RELAY_DEV_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/sysroot.h"
#include "record/devices.h"

struct relay_dev {
	const struct rec_device *device; /* borrowed */
	const struct sysroot *root;      /* borrowed */
	int fd;                          /* of the block device, -1 = none */
	int claim_fd;
	char *claim;          /* owned: path of the claim */
	char *dir;            /* owned: debugfs' block/NAME */
	int version;          /* of the records: 7 or 8 */
	bool set_up, cleared; /* cleared: a killed recorder's trace was in the way */
	bool have_dropped;
	uint64_t dropped; /* after relay_dev_stop */
};

/* Set up and not yet started: the relay files are there. -1 with err; then nothing is left behind,
 * but relay_dev_release is still to be called. */
int relay_dev_setup(struct relay_dev *dev, const struct sysroot *root, const char *debugfs,
		    const struct rec_device *device, uint32_t buffer_bytes, uint32_t nr_buffers,
		    struct error *err);
int relay_dev_start(struct relay_dev *dev, struct error *err);
/* No event comes from now on, and what was dropped is known, if it can be. Once; relay files can still
 * be read. */
void relay_dev_stop(struct relay_dev *dev);
/* Every relay file must be closed. Twice is fine. */
void relay_dev_release(struct relay_dev *dev);

/* Tears down traces of ours whose recorder is gone; returns how many. With `report`, calls it for each
 * with the device's name and how it went (0 or an errno). */
int relay_dev_sweep(const struct sysroot *root,
		    void (*report)(void *arg, const char *name, int errnum), void *arg);

#endif
