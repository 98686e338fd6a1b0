/* SPDX-License-Identifier: MIT
 *
 * The program in the kernel (block.bpf.c) from our side: what this kernel has for it, loading, attaching,
 * its counters.
 */
#ifndef BLKLAB_RECORD_BPF_HOOKS_H
#define BLKLAB_RECORD_BPF_HOOKS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/sysroot.h"
#include "record/bpf_config.h"
#include "record/devices.h"
#include "record/recorder.h"

#define BPF_HOOKS_MAX 32

struct bpf_hooks {
	struct block_bpf *skeleton; /* owned; NULL = none */
	struct bpf_link
		*links[BPF_HOOKS_MAX];  /* owned, NULL = not attached; by row of the hooks' table */
	uint64_t runs_missed;           /* after bpf_hooks_detach */
	json_t *events, *events_absent; /* owned; names of tracepoints, as in meta.json */
	json_t *ops, *flags;            /* owned; name -> number, as this kernel has them */
};

/* Looks what this kernel has and loads what is asked for; nothing runs yet. -1 with one sentence. */
int bpf_hooks_load(struct bpf_hooks *hooks, const struct rec_devices *devices,
		   const struct record_filter *filter, bool no_plug, struct error *err);
/* Where events of that CPU go. */
int bpf_hooks_set_ring(struct bpf_hooks *hooks, int cpu, int ring_fd, struct error *err);
int bpf_hooks_nr_cpus(void); /* that there may ever be */
int bpf_hooks_attach(struct bpf_hooks *hooks, struct error *err);
void bpf_hooks_detach_plugs(struct bpf_hooks *hooks);
/* When it returns, nothing runs any more. */
void bpf_hooks_detach(struct bpf_hooks *hooks);
/* The counters of each CPU; an owned array of bpf_hooks_nr_cpus, or NULL. */
struct bpf_cpu *bpf_hooks_counters(const struct bpf_hooks *hooks);
/* What is still held and would be stored if it ended now, as records. */
void bpf_hooks_each_held(const struct bpf_hooks *hooks, uint64_t now_ns,
			 void (*take)(void *arg, const struct bpf_rec *records, uint32_t nr),
			 void *arg);
void bpf_hooks_release(struct bpf_hooks *hooks);

#endif
