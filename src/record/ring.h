/* SPDX-License-Identifier: MIT
 *
 * One CPU's ring buffer: a thread that moves its whole pages to a file, untouched. The thread polls:
 * the kernel then never has to wake anyone from within an event, and pages move by the hundred.
 */
#ifndef BLKLAB_RECORD_RING_H
#define BLKLAB_RECORD_RING_H

#include <jansson.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "record/outdir.h"

struct ring {
	int cpu;
	char *dir;     /* owned; per_cpu/cpuN of the instance */
	char file[24]; /* "cpuN.pages" */
	int raw_fd, out_fd, pipe_fds[2], stop_fd;
	size_t page_bytes;
	uint64_t buffer_bytes;
	uint8_t *page; /* owned; for partly filled pages, which cannot be spliced */
	pthread_t thread;
	bool running;
	bool no_splice; /* the output file system cannot */
	_Atomic uint64_t written_bytes;
	_Atomic int write_errno; /* of the first failed write; from then on nothing is stored */
	uint64_t lost_bytes;     /* taken from the kernel, not stored */
	/* After ring_stats. */
	bool have_stats;
	uint64_t entries, overrun, commit_overrun, dropped_events, read_events;
};

/* Opens both sides; `dir` is the instance's path. stop_fd (borrowed) becomes readable when the
 * thread shall end. */
int ring_open(struct ring *ring, const char *instance, int cpu, const struct outdir *out,
	      int stop_fd, size_t page_bytes, uint64_t buffer_bytes, struct error *err);
int ring_start(struct ring *ring, struct error *err);
/* Waits for the thread; stop_fd must be readable. */
void ring_join(struct ring *ring);
/* Moves all that is left, the last partly filled page too. After the join and tracing_on = 0. */
void ring_drain(struct ring *ring);
/* Reads per_cpu/cpuN/stats. */
void ring_stats(struct ring *ring);
/* One element of `ring` in meta.json. */
json_t *ring_json(const struct ring *ring);
void ring_release(struct ring *ring);

#endif
