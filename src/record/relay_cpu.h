/* SPDX-License-Identifier: MIT
 *
 * One CPU's relay files, of every recorded device: a thread that moves their bytes to
 * NAME.blktrace.CPU, untouched.
 */
#ifndef BLKLAB_RECORD_RELAY_CPU_H
#define BLKLAB_RECORD_RELAY_CPU_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "record/outdir.h"
#include "record/relay_dev.h"

struct relay_cpu {
	int cpu, stop_fd;
	struct relay_file {
		int in_fd, out_fd;
		uint64_t written_bytes;
	} * files; /* owned, one per device */
	size_t nr_files;
	uint8_t *buffer; /* owned */
	size_t buffer_bytes;
	pthread_t thread;
	bool running;
	_Atomic uint64_t written_bytes;
	_Atomic int write_errno; /* of the first failed write; from then on nothing is stored */
	uint64_t lost_bytes;     /* taken from the kernel, not stored */
};

/* Opens both sides of every device. stop_fd (borrowed) becomes readable when the thread shall end.
 * 1 = done; 0 = this CPU has no relay files (it was offline at set-up): files that are empty are made,
 * since readers of such traces stop at the first number that is missing; -1 with err. */
int relay_cpu_open(struct relay_cpu *rc, int cpu, const struct relay_dev *devs, size_t nr,
		   const struct outdir *out, int stop_fd, size_t buffer_bytes, struct error *err);
int relay_cpu_start(struct relay_cpu *rc, struct error *err);
/* Waits for the thread; stop_fd must be readable. */
void relay_cpu_join(struct relay_cpu *rc);
/* Moves all that is left. After the join and relay_dev_stop. */
void relay_cpu_drain(struct relay_cpu *rc);
/* Closes the relay files, which relay_dev_release needs. Twice is fine. */
void relay_cpu_release(struct relay_cpu *rc);

#endif
