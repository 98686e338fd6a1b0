/* SPDX-License-Identifier: MIT
 *
 * A recording from beginning to end: devices, directory, command, backend, counters, facts; and all
 * of it undone on every exit (session.h).
 */
#ifndef BLKLAB_RECORD_RECORD_H
#define BLKLAB_RECORD_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/sysroot.h"
#include "record/recorder.h"

/* Everything is borrowed. */
struct record_options {
	const char *const *devices; /* paths or names */
	size_t nr_devices;
	const char *const *mounts; /* directories; with neither: the current directory */
	size_t nr_mounts;
	const char *out;             /* NULL = blklab-YYYYmmdd-HHMMSS */
	const char *backend;         /* NULL = the first that can */
	uint64_t for_ns;             /* stop after this time; 0 = no limit */
	uint64_t buffer_bytes;       /* per CPU; 0 = the backend's choice */
	struct record_filter filter; /* needs a backend with `filters` */
	bool no_plug;                /* never record plug and unplug */
	bool keep_plugs;             /* record them however fast the I/O is */
	char **command;              /* NULL-terminated argv; NULL = until a signal */

	/* One line for the user, now. */
	void (*say)(void *arg, const char *sentence);
	/* About once a second. */
	void (*progress)(void *arg, double elapsed_s, uint64_t bytes);
	void *arg;
};

struct record_result {
	char *dir;            /* owned */
	uint64_t bytes;       /* of trace */
	uint64_t lost_events; /* dropped or overwritten in the kernel's buffers */
	bool damaged; /* the disk filled up, a device vanished, a file could not be written */
	bool command_ended;
	int command_status; /* as a shell says it */
};

/* Records. -1 with err where nothing was recorded: then nothing is left behind. */
int record_run(const struct record_options *options, const struct sysroot *root,
	       struct record_result *result, struct error *err);
void record_result_release(struct record_result *result);

#endif
