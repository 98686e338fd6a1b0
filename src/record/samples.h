/* SPDX-License-Identifier: MIT
 *
 * The machine's own counters: /sys/block/DEV/stat, and the lines of vmstat and meminfo that tell of
 * writeback; before, after and ten times a second in between. Also notices devices that vanish.
 */
#ifndef BLKLAB_RECORD_SAMPLES_H
#define BLKLAB_RECORD_SAMPLES_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/sysroot.h"
#include "record/devices.h"
#include "record/outdir.h"

#define SAMPLE_INTERVAL_NS 100000000u
#define SAMPLE_FILE        "samples.jsonl"

struct sampled_device {
	char name[64];
	int stat_fd, size_fd, inflight_fd; /* -1 = cannot be read */
	bool had_size;
	bool gone; /* it had a size and has none any more, or its files are dead */
};

struct sampler {
	struct sampled_device *devices; /* owned array */
	size_t nr_devices;
	int vmstat_fd, meminfo_fd, out_fd;
	struct outdir *out; /* borrowed */
	uint64_t count;     /* samples written */
	bool failed;        /* a sample could not be written: no more are */
};

/* Opens everything; what cannot be read is left out. */
void sampler_open(struct sampler *sampler, const struct sysroot *root,
		  const struct rec_devices *devices, struct outdir *out);
/* The counters now, as in `before` and `after` of meta.json. */
json_t *sampler_snapshot(struct sampler *sampler);
/* Appends one line to samples.jsonl. */
void sampler_take(struct sampler *sampler);
/* Looks for devices that vanished; returns how many are gone, and through `news` the first one that
 * was not known to be gone (borrowed), or NULL. */
size_t sampler_look(struct sampler *sampler, const char **news);
/* I/Os that all devices have completed since they are there; 0 where unknown. */
uint64_t sampler_completed(struct sampler *sampler);

/* Requests in flight on all devices; 0 where unknown. */
uint64_t sampler_inflight(struct sampler *sampler);
void sampler_release(struct sampler *sampler);

#endif
