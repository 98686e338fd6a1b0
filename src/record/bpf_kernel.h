/* SPDX-License-Identifier: MIT
 *
 * For programs in the kernel only: as much of the kernel's types as they use. Where the members really
 * lie is filled in when the program is loaded, from the kernel's own description (BTF).
 */
#ifndef BLKLAB_RECORD_BPF_KERNEL_H
#define BLKLAB_RECORD_BPF_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the helpers' declarations are written in. */
typedef uint8_t __u8;
typedef uint16_t __u16;
typedef uint32_t __u32;
typedef uint64_t __u64;
typedef int32_t __s32;
typedef int64_t __s64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;

#include <bpf/bpf_helpers.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

/* Of the kernel's interface (linux/bpf.h): fixed. */
enum {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_ARRAY_OF_MAPS = 12,
	BPF_MAP_TYPE_RINGBUF = 27,
};
#define BPF_ANY          0
#define BPF_RB_NO_WAKEUP 1

#define KERNEL_TYPE __attribute__((preserve_access_index))

struct gendisk {
	int major;
	int first_minor;
} KERNEL_TYPE;

struct block_device {
	struct gendisk *bd_disk;
} KERNEL_TYPE;

struct request_queue {
	struct gendisk *disk;
} KERNEL_TYPE;

struct bvec_iter {
	uint64_t bi_sector;
	unsigned int bi_size;
} KERNEL_TYPE;

struct bio {
	struct bio *bi_next;
	struct block_device *bi_bdev;
	unsigned int bi_opf;
	uint8_t bi_status;
	struct bvec_iter bi_iter;
	void *bi_private;
	struct blkcg_gq *bi_blkg;
} KERNEL_TYPE;

struct request {
	struct request_queue *q;
	unsigned int cmd_flags;
	uint32_t rq_flags;
	unsigned int __data_len;
	uint64_t __sector;
	struct bio *bio;
} KERNEL_TYPE;

struct kernfs_node {
	uint64_t id;
} KERNEL_TYPE;

struct cgroup_subsys_state {
	struct cgroup *cgroup;
	struct cgroup_subsys_state *parent;
} KERNEL_TYPE;

struct cgroup {
	struct cgroup_subsys_state self;
	struct kernfs_node *kn;
} KERNEL_TYPE;

struct blkcg {
	struct cgroup_subsys_state css;
} KERNEL_TYPE;

struct blkcg_gq {
	struct blkcg *blkcg;
} KERNEL_TYPE;

struct css_set {
	struct cgroup *dfl_cgrp;
} KERNEL_TYPE;

struct task_struct {
	int pid;
	int tgid;
	char comm[16];
	struct css_set *cgroups;
} KERNEL_TYPE;

#endif
