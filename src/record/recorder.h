/* SPDX-License-Identifier: MIT
 *
 * What a backend is: one const struct in its own file, one row in backends.c. A backend moves bytes
 * from the kernel to files and decodes nothing.
 */
#ifndef BLKLAB_RECORD_RECORDER_H
#define BLKLAB_RECORD_RECORDER_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/sysroot.h"
#include "record/child.h"
#include "record/devices.h"
#include "record/outdir.h"

/* Why a backend cannot run here, and what would help. */
struct obstacle {
	char why[256]; /* one sentence */
	char fix[160]; /* one command, "" = there is none */
};

/* What of the devices' I/O to record, decided in the kernel; all 0 = everything. */
struct record_filter {
	uint64_t
		slower_ns; /* requests of that latency or more: from Q to C, without a Q from D to C */
	uint64_t cgroup;  /* id of a cgroup: what it and those below it submit */
	uint32_t pid;     /* of a process: what its threads submit */
	uint32_t classes; /* 1 << enum io_class */
};

static inline bool record_filter_is_set(const struct record_filter *filter)
{
	return filter->slower_ns || filter->cgroup || filter->pid || filter->classes;
}

/* What to record; borrowed while the recorder lives. */
struct recorder_plan {
	const struct sysroot *root;
	const struct rec_devices *devices;
	struct outdir *out;
	uint64_t buffer_bytes; /* per CPU; 0 = the backend's own choice */
	bool no_plug;          /* leave out plug and unplug, which know no device */
	bool tasks_only; /* only who forks, execs and is renamed, beside another backend (tracefs) */
	struct record_filter filter; /* only for a backend with `filters` */
	/* The command, waiting for its go; NULL = none. start() sets its kernel_pid. */
	struct child *child;
};

/* What happened so far, cheap enough to ask ten times a second. */
struct recorder_progress {
	uint64_t bytes;  /* in the files */
	int write_errno; /* of the first failed write, 0 = none: no more is stored */
};

/* At the end. */
struct recorder_losses {
	uint64_t events; /* dropped or overwritten before they could be stored */
	uint64_t bytes;  /* taken from the kernel, but not stored (full disk) */
};

struct backend;

struct recorder {
	const struct backend *backend;
};

struct backend {
	const char *name;
	bool filters;     /* can do what struct record_filter says */
	const char *what; /* for people: "kernel trace events (tracefs)" */

	/* Can it record here? False with the obstacle. Changes nothing. */
	bool (*probe)(const struct sysroot *root, struct obstacle *no);

	/* Recording when it returns. NULL with err, and nothing is left behind. */
	struct recorder *(*start)(const struct recorder_plan *plan, struct error *err);

	struct recorder_progress (*progress)(const struct recorder *self);

	/* From now on plug and unplug are not recorded: the most frequent events and the least
	 * needed where I/O is fast. Once. NULL: this backend cannot leave them out. */
	void (*shed_plugs)(struct recorder *self);
	/* Stops recording; then everything the kernel still holds is in the files. Once. */
	int (*drain)(struct recorder *self, struct recorder_losses *losses, struct error *err);

	/* Adds the backend's keys to meta.json: "clock", "cpus", "events", "ring", ... */
	void (*describe)(const struct recorder *self, json_t *meta);

	/* Clears what killed recorders of ours left in the kernel; as instance_sweep (instance.h). NULL:
	 * start() does, or nothing can be left. */
	int (*sweep)(const struct sysroot *root,
		     void (*report)(void *arg, const char *name, int errnum), void *arg);

	/* Gives everything back to the kernel (also without a drain) and frees. */
	void (*stop)(struct recorder *self);
};

extern const struct backend backend_tracefs;
extern const struct backend backend_relay;
extern const struct backend backend_bpf;

/* All backends, best first, NULL at the end. */
extern const struct backend *const backends[];

/* The named one, or with NULL the first that can run here; NULL with err. */
const struct backend *backend_choose(const struct sysroot *root, const char *name,
				     struct error *err);

#endif
