/* SPDX-License-Identifier: MIT
 *
 * What the program in the kernel is told before it is loaded (constants then: what is not asked for
 * is not even there), and the counters it keeps. Shared by block.bpf.c and bpf.c.
 */
#ifndef BLKLAB_RECORD_BPF_CONFIG_H
#define BLKLAB_RECORD_BPF_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/bpf_layout.h"

#define BPF_RANGES_MAX 128 /* devices and partitions; the search is linear */
#define BPF_STATUS_MAX 32
#define BPF_OPS_MAX    256 /* REQ_OP_MASK */
#define BPF_NAMES_SEEN 64

/* A disk, or a range of it: a partition. */
struct bpf_range {
	uint32_t dev;
	uint32_t part_dev;   /* 0 = the whole disk */
	uint64_t start, end; /* sectors, where there is a part_dev */
};

struct bpf_config {
	uint32_t nr_ranges;
	bool hidden_paths; /* of an NVMe head: learnt from what is moved to them */
	bool hold;         /* events wait until their request has ended; then it is decided */
	uint64_t slower_ns;
	uint64_t cgroup;
	uint32_t tgid;                     /* 0 = whoever */
	uint32_t classes;                  /* 1 << enum io_class */
	uint32_t preflush, fua, flush_seq; /* masks, as this kernel has them */
	uint8_t op_class[BPF_OPS_MAX];     /* enum io_class of an operation */
	int16_t errno_of[BPF_STATUS_MAX];  /* negative, of a blk_status_t */
	struct bpf_range ranges[BPF_RANGES_MAX];
};

/* What the hooks saw, of one entry of `ranges`, before filters by class and so on. */
struct bpf_seen {
	uint64_t queued, issued, completed;
	uint64_t
		ended; /* requests that completed for good, as the disk's own counters count them */
	uint64_t moved; /* completed with bytes and without an error: surely issued before */
};

/* Of one CPU. */
struct bpf_cpu {
	uint64_t records; /* stored */
	uint64_t lost;    /* in all */
	uint64_t pending; /* lost, and not told in a record yet */
	uint64_t lost_from_ns;
	uint64_t unnamed;  /* requests that got no id */
	uint64_t not_held; /* bios and requests that there was no room to hold */
	uint64_t cut;      /* events of a held one beyond its room */
	uint32_t names[BPF_NAMES_SEEN];
	struct bpf_seen seen[BPF_RANGES_MAX];
};

#define BPF_HELD_BIO   5  /* A A Q G, and the merge of its request */
#define BPF_HELD_RQ    12 /* I, and D R for each attempt */
#define BPF_HELD_FLUSH 3

struct bpf_held_bio {
	uint64_t first_ns; /* of Q */
	uint32_t nr;
	uint8_t queued, done, unused[2];
	struct bpf_rec at[BPF_HELD_BIO];
};

struct bpf_held_rq {
	uint64_t first_ns;
	uint32_t nr;
	uint32_t must; /* what belongs to it is stored already */
	struct bpf_rec at[BPF_HELD_RQ];
};

#endif
