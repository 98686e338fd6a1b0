/* SPDX-License-Identifier: MIT
 *
 * The state of a recording, shared by record.c (set-up and end), watch.c (meanwhile) and meta.c.
 */
#ifndef BLKLAB_RECORD_RECORDING_H
#define BLKLAB_RECORD_RECORDING_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "record/child.h"
#include "record/devices.h"
#include "record/outdir.h"
#include "record/record.h"
#include "record/recorder.h"
#include "record/samples.h"
#include "record/session.h"
#include "record/threads.h"
#include "record/workers.h"

enum stop_reason {
	STOP_NOT, /* not yet */
	STOP_COMMAND,
	STOP_SIGNAL,
	STOP_TIME,
	STOP_DEVICE_GONE,
	STOP_DISK_FULL,
	STOP_ERROR,
};

struct recording {
	const struct record_options *options; /* borrowed */
	const struct sysroot *root;           /* borrowed */
	const struct backend *backend;
	struct session session;
	struct rec_devices devices;
	struct outdir out;
	struct sampler sampler;
	struct child child;
	struct recorder *recorder; /* owned; NULL = none runs */
	struct threads threads_start, threads_end;
	struct workers workers;
	json_t *described;      /* owned: meta.json as it was at the start, without the rest */
	json_t *before, *after; /* owned */
	int kmsg_fd;
	struct recorder_losses losses;
	enum stop_reason stopped_by;
	uint64_t armed_ns;
	uint64_t completed; /* I/Os at the last sample */
	int fast_samples;   /* in a row, above the rate at which plugs are shed */
	bool plugs_shed;
	bool pids_differ; /* those of /proc are not those of the events (a container) */
	const char *gone; /* names a device that vanished, NULL = none; borrowed from the sampler */
};

/* watch.c: from the armed recorder to the drained one, and on until the command has ended. */
int recording_watch(struct recording *rec, struct error *err);

/* One line for the user. */
void recording_say(const struct recording *rec, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* meta.c. Describes what does not change; once. */
json_t *meta_describe(const struct recording *rec);
/* The whole meta.json; a new object. */
json_t *meta_json(const struct recording *rec, bool complete);

#endif
