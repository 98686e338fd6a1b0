/* SPDX-License-Identifier: MIT
 *
 * One event of the block layer, from whatever input, in host byte order: one cache line.
 */
#ifndef BLKLAB_TRACE_EVENT_H
#define BLKLAB_TRACE_EVENT_H

#include <stddef.h>
#include <stdint.h>

#define SECTOR_SIZE 512u
#define SECTOR_NONE UINT64_MAX /* "no sector": the kernel's own -1 of a flush completion */

/* Device numbers are kept as the kernel has them: major << 20 | minor. */
#define DEVICE(major, minor) ((uint32_t)(major) << 20 | (uint32_t)(minor))
#define DEVICE_MAJOR(dev)    ((dev) >> 20)
#define DEVICE_MINOR(dev)    ((dev)&0xfffffu)

/* What happened. 1..19 are blktrace's own numbers (doc/formats/blktrace_bin.md); the rest
 * are ours, for things that blktrace folds into those or does not have. */
enum action {
	ACT_UNKNOWN = 0,
	ACT_QUEUE = 1,         /* Q  bio queued */
	ACT_BACKMERGE = 2,     /* M  bio merged at the end of a request */
	ACT_FRONTMERGE = 3,    /* F  bio merged at the front of a request */
	ACT_GETRQ = 4,         /* G  request allocated for a bio */
	ACT_SLEEPRQ = 5,       /* S  old kernels: waiting for a request */
	ACT_REQUEUE = 6,       /* R  request given back by the driver */
	ACT_ISSUE = 7,         /* D  request issued to the driver */
	ACT_COMPLETE = 8,      /* C  request (part) completed */
	ACT_PLUG = 9,          /* P */
	ACT_UNPLUG = 10,       /* U  aux_sector = number of requests */
	ACT_UNPLUG_TIMER = 11, /* UT aux_sector = number of requests */
	ACT_INSERT = 12,       /* I  request given to the scheduler */
	ACT_SPLIT = 13,       /* X  sector.. is the front piece, aux_sector the start of the rest */
	ACT_BOUNCE = 14,      /* B */
	ACT_REMAP = 15,       /* A  device, sector: where to; aux_device, aux_sector: from where */
	ACT_ABORT = 16,       /* defined by blktrace, never produced */
	ACT_DRV_DATA = 17,    /* driver's own binary payload */
	ACT_ZONE_PLUG = 18,   /* ZP */
	ACT_ZONE_UNPLUG = 19, /* ZU */
	ACT_MESSAGE = 32,     /* m  payload: text, not terminated */
	ACT_RQ_MERGE,         /* request absorbed by the request that ends where it starts
	                     * (blktrace: M with category fs) */
	ACT_RQ_REMAP,         /* request moved to another device */
	ACT_RQ_ERROR,         /* annotates the C just before; never counted (model.md 3) */
	ACT_BIO_COMPLETE,     /* a bio ended without a request's completion
	                     * (blktrace: C without category fs or pc) */
	ACT_ZONE_APPEND,      /* where a zone append landed */
	/* A request that a table tells only as a whole (a row of biosnoop): ended at time_ns
	 * (TIME_UNTOLD: no time either), aux_sector = ns from D to C, or from Q to C
	 * (EV_FROM_QUEUE); no other event tells of it. */
	ACT_IO,
	ACT_NR
};

/* Classes (model.md 8): joins never cross them. */
enum io_class {
	CLASS_NONE = 0, /* plug, message: not an I/O */
	CLASS_READ,
	CLASS_WRITE,
	CLASS_DISCARD,
	CLASS_WRITE_ZEROES,
	CLASS_FLUSH, /* flush command, or a bio that is nothing but a flush */
	CLASS_ZONE,  /* zone management */
	CLASS_PASSTHROUGH,
	CLASS_OTHER, /* this input cannot tell */
	CLASS_NR
};

/* Flags, from whatever the input shows. */
#define EV_WRITE       (1u << 0) /* the direction bit: set for write, discard, zone ops, ... */
#define EV_SYNC        (1u << 1)
#define EV_META        (1u << 2)
#define EV_FUA         (1u << 3)
#define EV_PREFLUSH    (1u << 4) /* F before the operation letter */
#define EV_AHEAD       (1u << 5)
#define EV_FS          (1u << 6) /* request event of file-system I/O (blktrace only) */
#define EV_PC          (1u << 7) /* request event of passthrough */
#define EV_BACKGROUND  (1u << 8)
#define EV_NOWAIT      (1u << 9)
#define EV_ATOMIC      (1u << 10)
#define EV_CGROUP      (1u << 11) /* the record carried a cgroup id (blktrace only) */
#define EV_ZONE_APPEND (1u << 12)
#define EV_SECURE      (1u << 13) /* secure erase */
#define EV_NO_BYTES    (1u << 14) /* this input does not say the length of this event: bytes is 0 */
#define EV_UNTOLD_KIND (1u << 15) /* C: a request's, a bio's, cumulative? Not told */
#define EV_FROM_QUEUE  (1u << 16) /* ACT_IO: its latency began at Q */
#define EV_SUBMITTER   (1u << 18) /* D: its pid is the submitter's, not whoever issued it */
#define EV_LANDED      (1u << 17) /* C of a zone append: sector is where it landed */

/* Devices that an input knows by name only ("sda" in a table) get these numbers, in order. No real
 * device has this major (the kernel's are below 512). */
#define DEVICE_NAMED_MAJOR 4095u
#define TIME_UNTOLD        UINT64_MAX /* of ACT_IO */

struct event {
	uint64_t time_ns; /* the input's own clock, absolute */
	uint64_t sector;  /* 512-byte units on `device` */
	union {
		uint64_t aux_sector;    /* A, X: see enum action; U, UT: number of requests */
		const uint8_t *payload; /* every other action: borrowed until the next pull of
		                         * the source that lent it; NULL where payload_len = 0 */
	};
	uint64_t id; /* identity of the bio or request; 0 = none in this input */
	uint32_t bytes;
	uint32_t device;
	uint32_t aux_device; /* A: from which device */
	uint32_t pid;        /* the thread that was running */
	uint32_t sequence;   /* 0 = none in this input */
	uint32_t flags;      /* EV_* */
	uint16_t cpu;
	int16_t error;        /* C, bio_complete, rq_error: 0 or negative errno */
	uint16_t payload_len; /* bytes */
	uint8_t action;       /* enum action */
	uint8_t class;        /* enum io_class */
};

_Static_assert(sizeof(struct event) == 64, "an event is one cache line");

/* The one-letter (or two-letter) name that blkparse prints: "Q", "UT", "ZP", "?" ... */
const char *action_letter(enum action action);

/* "read", "write", ...: the key in JSON. */
const char *class_name(enum io_class class);

/* Fills class and the operation flags from an RWBS text of the kernel's ftrace events ("FWFSM",
 * "RA", "FF", "N", "DE", ...), model.md 8. `sectors`, `bytes` decide what an N is. */
void event_set_rwbs(struct event *ev, const char *rwbs, size_t len, uint32_t sectors);

#endif
