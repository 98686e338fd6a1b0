/* SPDX-License-Identifier: MIT
 *
 * One CPU's BPF ring buffer: a thread that moves its records to cpuN.bpf, untouched. The thread polls,
 * as that of ring.h.
 */
#ifndef BLKLAB_RECORD_BPF_RING_H
#define BLKLAB_RECORD_BPF_RING_H

#include <jansson.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "record/outdir.h"

struct bpf_ring {
	int cpu;
	int map_fd, out_fd, stop_fd;
	struct ring_buffer *reader; /* owned; libbpf's */
	char file[24];              /* "cpuN.bpf" */
	uint64_t buffer_bytes;
	uint8_t *buffer; /* owned; of what goes to the file */
	size_t filled;
	pthread_t thread;
	bool running;
	_Atomic uint64_t written_bytes;
	_Atomic int write_errno; /* of the first failed write; from then on nothing is stored */
	uint64_t lost_bytes;     /* taken from the kernel, not stored */
	uint64_t records, lost;  /* the kernel's counts, where told */
	bool told;
};

/* Makes the ring in the kernel (map_fd: to be put where the programs look for it) and the file with its
 * head. stop_fd (borrowed) becomes readable when the thread shall end. */
int bpf_ring_open(struct bpf_ring *ring, int cpu, const struct outdir *out, int stop_fd,
		  uint64_t buffer_bytes, struct error *err);
int bpf_ring_start(struct bpf_ring *ring, struct error *err);
/* Waits for the thread; stop_fd must be readable. */
void bpf_ring_join(struct bpf_ring *ring);
/* Stores records that did not come through the ring. After the join. */
void bpf_ring_add(struct bpf_ring *ring, const void *records, size_t len);
/* Moves all that is left. After the join. */
void bpf_ring_drain(struct bpf_ring *ring);
/* One element of `ring` in meta.json. */
json_t *bpf_ring_json(const struct bpf_ring *ring);
void bpf_ring_release(struct bpf_ring *ring);

#endif
