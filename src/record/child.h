/* SPDX-License-Identifier: MIT
 *
 * The command that is recorded: forked first, let go once the recording is armed, waited for with
 * its times. If the recorder dies before the go, the child ends without running anything.
 */
#ifndef BLKLAB_RECORD_CHILD_H
#define BLKLAB_RECORD_CHILD_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "base/error.h"
#include "record/session.h"

struct child {
	char **argv; /* borrowed */
	pid_t pid;   /* 0 = none */
	/* In the kernel's own count, which events use; 0 = unknown. The same, but in containers. */
	pid_t kernel_pid;
	int go_fd, result_fd;
	bool started, ended;
	int wait_status;
	uint64_t start_ns, end_ns; /* CLOCK_MONOTONIC: of the go and of the end */
	struct rusage before;      /* what the process had used up before the go, as a copy of us */
	uint64_t user_ns, system_ns; /* since the go; its own and its waited-for descendants' */
	uint64_t max_rss_bytes;
	uint64_t major_faults, in_blocks, out_blocks; /* in_, out_: 512-byte units, getrusage(2) */
};

/* Can it be run at all? -1 and one sentence if not. Changes nothing. */
int child_check(const char *name, struct error *err);
int child_fork(struct child *child, char **argv, const struct session *session, struct error *err);
/* Lets it write the mark to the file at that path; 0 or an errno. Before the go. */
int child_mark(struct child *child, const char *path, const char *mark);
/* Runs it; an exec that fails is an error, and the child is gone. */
int child_go(struct child *child, struct error *err);
/* Has it ended? Does not wait. */
bool child_poll(struct child *child);
/* Ends one that has not been let go; closes what is open. */
void child_release(struct child *child);
/* What a shell would say: its status, or 128 + signal. */
int child_status(const struct child *child);
/* The `command` object of meta.json; null where there is none. */
json_t *child_json(const struct child *child);

#endif
