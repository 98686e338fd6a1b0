/* SPDX-License-Identifier: MIT
 *
 * Who lives on this machine: names of all threads, and the CPU times of kernel threads (today's
 * writeback runs in kworkers: model.md 11). /proc is walked once at the start and once at the end.
 */
#ifndef BLKLAB_RECORD_THREADS_H
#define BLKLAB_RECORD_THREADS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/sysroot.h"
#include "record/outdir.h"

struct workers;

struct thread {
	int tid, tgid;
	bool kernel;
	uint64_t started; /* clock ticks since boot: with the tid it makes a thread unique */
	uint64_t cpu_ns;  /* kernel threads only */
	char comm[64];    /* as the scheduler knows it: "kworker/u8:2" */
};

struct threads {
	struct thread *list; /* owned, sorted by tid */
	size_t nr;
};

void threads_scan(struct threads *threads, const struct sysroot *root);
void threads_release(struct threads *threads);

/* /proc shows "kworker/u8:2-flush-7:0" where the scheduler knows "kworker/u8:2"; '+' for '-' while it
 * works. The length of the former's second; and the work, "" = none is told. */
size_t thread_name_len(const char *text);
void thread_work(const char *text, char work[64]);

/* Kernel threads whose CPU time grew, largest first: the `threads` array of meta.json. Those that the
 * workers have are taken from there. */
json_t *threads_grown_json(const struct threads *start, const struct threads *end,
			   const struct workers *workers);

/* Writes saved_cmdlines ("PID NAME" lines) from both walks and the kernel's own list, and saved_tgids
 * ("TID TGID" lines, for threads of processes only). */
void threads_write_names(const struct threads *start, const struct threads *end,
			 const struct sysroot *root, struct outdir *out);

#endif
