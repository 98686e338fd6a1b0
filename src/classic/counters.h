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

/* Two accumulators of a size: KiB, and the bytes below; shown is kib + (bytes >> 10). They wrap: a requeue
 * takes off what may never have been added. */
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
	uint64_t
		events; /* and messages that were read, shown or not: without any there is no block */
	struct counters counters;
	struct pipe_cpu
		*pipe; /* the memory is owned, what it refers to is not; NULL in file mode */
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

#define CPUS_MAX 8192u /* the most that a kernel can be built for */

/* CPU `number` of the device; the array grows and moves. NULL: no machine has a CPU of that number. */
struct cpu *device_cpu(struct device *device, uint32_t number);
void device_release(struct device *device);

/* -s: what each process did, by pid, or by name with -h. */
struct process {
	struct hnode node;
	uint32_t pid;          /* the first one that was counted */
	bool more_pids;        /* with -h: others of that name were looked for */
	char name[COMM_BYTES]; /* "unknown": no note had been read */
	struct counters counters;
	uint64_t longest_ns[NR_TIMED][2]; /* -t */
};

struct processes {
	bool by_name;
	struct hash by_key;   /* of them, but of those of one name only the newest */
	struct process **all; /* owned array of owned, in the order they came */
	size_t nr;
	struct process *last; /* that was looked for, and by which pid */
	uint32_t last_pid;
};

void processes_init(struct processes *processes, bool by_name);
void processes_release(struct processes *processes); /* {0} is fine */
/* The one that a pid is charged to, added if new. */
struct process *processes_get(struct processes *processes, struct comms *comms, uint32_t pid);
/* Charges one record that was shown (of a known action), and the wait it ends, to their processes. Of the
 * actions that no counter is for (P G S I X B A) nobody becomes a process. The classic does this before it
 * prints the line, except for Q of pc type: a pid without a name is "unknown" from here on, in lines too. */
void processes_take(struct processes *processes, struct comms *comms, const struct record *r,
		    const struct timed *timed);
/* The name of a pid; without a note it is "unknown" for ever after. */
const struct comm *processes_name(struct comms *comms, uint32_t pid);

/* Adds one record that was shown (of a known action) to the counters; the depth of the device follows
 * with device_depth. */
void counters_take(struct counters *c, const struct record *r);
void device_depth(struct device *device, const struct record *r);
void counters_add(struct counters *sum, const struct counters *c);

#endif
