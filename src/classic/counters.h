/* SPDX-License-Identifier: MIT
 *
 * What blkparse counts, with its rules (doc/blkparse-differences.md says where they mislead): per device and
 * CPU, and per process.
 */
#ifndef BLKLAB_CLASSIC_COUNTERS_H
#define BLKLAB_CLASSIC_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "classic/comms.h"
#include "classic/record.h"
#include "classic/timing.h"

enum counted {
	COUNT_QUEUED,
	COUNT_DISPATCHED,
	COUNT_REQUEUED,
	COUNT_COMPLETED,
	COUNT_MERGED,
	NR_COUNTED
};

/* Two accumulators of a size: KiB, and the bytes below; shown is kib + (bytes >> 10). */
struct count {
	uint64_t nr, kib, bytes;
};

/* [..][0] reads, [..][1] writes. */
struct counters {
	struct count fs[NR_COUNTED][2], pc[NR_COUNTED][2];
	uint64_t unplugs, timer_unplugs;
};

struct cpu {
	uint32_t number;
	uint64_t events; /* shown ones: a CPU without any gets no block */
	struct counters counters;
	struct pipe_cpu *pipe; /* owned; NULL in file mode */
};

struct device {
	uint32_t number;  /* 0 in file mode: the program does not know it */
	char *name;       /* owned; "vda", or "8,16" in pipe mode */
	struct cpu *cpus; /* owned array by CPU number */
	size_t nr_cpus;   /* numbers 0..nr-1 */
	uint64_t depth[2], most_depth[2];
	uint64_t events; /* shown */
	uint64_t first_shown_ns, last_read_ns;
	uint64_t skips, skipped; /* gaps, and numbers missing in them: pipe mode only */
	struct timing timing;    /* -t */
};

/* CPU `number` of the device; the array grows and moves. */
struct cpu *device_cpu(struct device *device, uint32_t number);
void device_release(struct device *device);

/* -s: what each process did, by pid, or by name with -h. */
struct process {
	struct hnode node;
	uint32_t pid;
	uint32_t *more_pids; /* owned: with -h, the other ones of that name */
	size_t nr_more_pids;
	char name[COMM_BYTES]; /* "unknown": no note was read */
	struct counters counters;
	uint64_t longest_ns[NR_TIMED][2]; /* -t */
};

struct processes {
	bool by_name;
	struct hash by_key; /* of owned struct process */
	struct process *last;
};

void processes_init(struct processes *processes, bool by_name);
void processes_release(struct processes *processes);
/* The one a record is charged to. */
struct process *processes_get(struct processes *processes, struct comms *comms, uint32_t pid);

/* Adds one record that was shown (of a known action) to the counters; the depth of the device follows
 * with device_depth. */
void counters_take(struct counters *c, const struct record *r);
void device_depth(struct device *device, const struct record *r);
void counters_add(struct counters *sum, const struct counters *c);

#endif
