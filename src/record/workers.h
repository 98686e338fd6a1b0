/* SPDX-License-Identifier: MIT
 *
 * What the kernel's workers spent their CPU time on. Any kworker takes any work, so a look at the end
 * would book everything on the last one. Here each is looked at with every sample, and what its CPU
 * time grew by since is booked on the work that it does, or did last, at that moment: sampled, not
 * counted. Machine-wide: the kernel does not say for which device a worker worked.
 */
#ifndef BLKLAB_RECORD_WORKERS_H
#define BLKLAB_RECORD_WORKERS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/sysroot.h"

struct worker_share {
	char work[64]; /* "flush-7:0", "loop0"; "" = unknown */
	uint64_t cpu_ns;
};

/* A child of kthreadd. */
struct worker {
	int pid;
	int cpu_fd;                  /* its schedstat; -1 = no kworker, or ended, or not readable */
	bool ended;                  /* its number may come again as another's */
	char comm[32];               /* without the work: "kworker/u8:2" */
	uint64_t cpu_ns;             /* at the last look */
	struct worker_share *shares; /* owned array */
	size_t nr_shares;
};

struct workers {
	const struct sysroot *root; /* borrowed */
	struct worker *list;        /* owned array, in the order of their appearance */
	size_t nr, nr_open, most_open;
	int children_fd;          /* of kthreadd; -1 = who is there cannot be told */
	char *text, *text_before; /* owned: the children, now and at the last look */
};

/* Finds the workers and takes their CPU times as the beginning. */
void workers_open(struct workers *workers, const struct sysroot *root);
/* Books what each worked since the last look. Cheap: a read per worker, more only for those that ran. */
void workers_look(struct workers *workers);
/* Is its time booked here? */
bool workers_has(const struct workers *workers, int pid);
/* Appends {"pid", "comm", "kernel", "cpu_ns", "work", "sampled": true} for each worker and work. */
void workers_add_json(const struct workers *workers, json_t *list);
void workers_release(struct workers *workers);

#endif
