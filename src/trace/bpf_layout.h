/* SPDX-License-Identifier: MIT
 *
 * The records of the bpf backend as they are stored, in the byte order of the machine that recorded:
 * doc/formats/bpf_events.md. Shared by the program in the kernel, which fills them, and the reader,
 * which takes offsets from here and lays no struct over a file.
 */
#ifndef BLKLAB_TRACE_BPF_LAYOUT_H
#define BLKLAB_TRACE_BPF_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

#define BPF_FILE_MAGIC     "blklabEV"
#define BPF_FILE_MAGIC_LEN 8u
#define BPF_FILE_VERSION   1u
#define BPF_FILE_HEAD      16u /* magic, version (4 bytes), CPU (4 bytes) */

/* Numbers of the format: never given to something else. */
enum bpf_kind {
	KIND_QUEUE = 1,
	KIND_GETRQ = 2,
	KIND_BACKMERGE = 3,
	KIND_FRONTMERGE = 4,
	KIND_INSERT = 5,
	KIND_ISSUE = 6,
	KIND_REQUEUE = 7,
	KIND_COMPLETE = 8,
	KIND_RQ_MERGE = 9,
	KIND_SPLIT = 10,
	KIND_BIO_REMAP = 11,
	KIND_RQ_REMAP = 12,
	KIND_RQ_ERROR = 13,
	KIND_BIO_COMPLETE = 14,
	KIND_PLUG = 15,
	KIND_UNPLUG = 16,
	KIND_UNPLUG_TIMER = 17, /* by the scheduler, when the task went to sleep */
	KIND_ZONE_PLUG = 18,
	KIND_ZONE_UNPLUG = 19,
	KIND_ZONE_APPEND = 20,
	KIND_BLOCK_END = 21, /* one behind the last of struct bpf_rec */

	KIND_FORK = 32,
	KIND_NAME = 33,
	KIND_LOST = 34,
};

/* An event of the block layer. `aux` is there where words says so. */
struct bpf_rec {
	uint8_t kind;
	uint8_t words; /* of 8 bytes, this one included: 6 or 7 */
	uint16_t cpu;  /* where it happened */
	uint32_t pid;  /* thread that was running, of the initial namespace */
	uint64_t time_ns;
	uint64_t sector;
	uint64_t id; /* of the bio or request, never used again; 0 = not known */
	uint32_t bytes;
	uint32_t device; /* major << 20 | minor */
	uint32_t opf;    /* bi_opf or cmd_flags; what the bits mean is in meta.json */
	uint32_t more;   /* negative errno (C, bio_complete, rq_error), device (A), requests (U) */
	uint64_t aux;    /* A: sector before; X: id of the bio that it was split from */
};

#define BPF_REC_LEAST 48u /* bytes, without aux */

/* A new thread (pid is its parent) or a thread's name. */
struct bpf_task {
	uint8_t kind, words; /* 5 */
	uint16_t cpu;
	uint32_t pid;
	uint64_t time_ns;
	uint32_t child; /* fork: the new thread */
	uint32_t tgid;  /* of the new thread, of the named one */
	char comm[16];
};

/* Records that found no room, on this CPU. */
struct bpf_lost {
	uint8_t kind, words; /* 4 */
	uint16_t cpu;
	uint32_t unused;
	uint64_t time_ns; /* when there was room again */
	uint64_t count;
	uint64_t from_ns; /* when the first was lost */
};

_Static_assert(sizeof(struct bpf_rec) == 56, "7 words");
_Static_assert(offsetof(struct bpf_rec, aux) == BPF_REC_LEAST, "aux is last");
_Static_assert(sizeof(struct bpf_task) == 40, "5 words");
_Static_assert(sizeof(struct bpf_lost) == 32, "4 words");

#endif
