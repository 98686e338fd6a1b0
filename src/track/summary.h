/* SPDX-License-Identifier: MIT
 *
 * Everything `report` counts, per device and per process, filled by the tracker while events stream
 * by; complete after the tracker's finish.
 */
#ifndef BLKLAB_TRACK_SUMMARY_H
#define BLKLAB_TRACK_SUMMARY_H

#include "stat/hist.h"
#include "stat/steps.h"
#include "track/io.h"
#include "track/wait.h"

/* Phases, each of bios or of requests (spec, "Phases"). */
enum phase {
	PHASE_A2Q,       /* bio: first A to Q (on this device's level) */
	PHASE_Q2G,       /* bio: Q to G of its first piece */
	PHASE_Q2M,       /* bio: Q to M/F */
	PHASE_BIO_Q2C,   /* bio: Q to the C of its last sector: "q2c" */
	PHASE_CHAIN_Q2C, /* bio: first A of a chain to its end */
	PHASE_G2I,       /* request */
	PHASE_PLUG,      /* request: first Q of its bios to its thread's unplug */
	PHASE_G2D,       /* request, where no I was seen */
	PHASE_I2D,
	PHASE_M2D,
	PHASE_Q2D,            /* first Q of its bios to the first D */
	PHASE_D2C,            /* last attempt */
	PHASE_ATTEMPT_LOST,   /* request, only if it was requeued: sum of D to R */
	PHASE_REQUEUE_WAIT,   /* request, only if it was requeued: sum of R to the next D */
	PHASE_PREFLUSH_WAIT,  /* request: G to the D of the flush command that is its pre-flush */
	PHASE_PREFLUSH,       /* request: its pre-flush at the device */
	PHASE_POSTFLUSH_WAIT, /* request: C of its data to the D of the flush command */
	PHASE_POSTFLUSH,      /* request: its post-flush at the device */
	PHASE_R_Q2C,          /* first Q to the end */
	PHASE_NR
};

const char *phase_key(enum phase phase);  /* "q2g", ...: the JSON key */
const char *phase_what(enum phase phase); /* "bio: Q to G", for people */
bool phase_of_bios(enum phase phase);

struct class_count {
	uint64_t count;
	uint64_t bytes; /* moved; for discard and write_zeroes: affected, not moved */
};

/* What is counted by class, of one CPU of a device or of one process. */
struct io_counts {
	struct class_count bios[CLASS_NR];     /* at Q */
	struct class_count merges[CLASS_NR];   /* of bios: M, F */
	struct class_count requests[CLASS_NR]; /* at first D */
	/* Requests that ended, or where a device has none, bios; what of them moved, at each C. */
	struct class_count completed[CLASS_NR];
	uint64_t requeues_busy[CLASS_NR], requeues_failed[CLASS_NR];
	uint64_t front_merges; /* of merges */
	uint64_t rq_merges, nowait_retries;
};

void io_counts_add(struct io_counts *sum, const struct io_counts *c);

enum depth_kind { DEPTH_ALL, DEPTH_READ, DEPTH_WRITE, DEPTH_KINDS };

/* Requests at a device: of all classes, and of two of them. */
struct depths {
	uint32_t now[DEPTH_KINDS], max[DEPTH_KINDS];
};

#define CPU_UNTOLD UINT32_MAX

/* One CPU of a device: a bio is counted where its Q was, a request where its first D, a
 * completion where its C, depth where the D. */
struct cpu_sum {
	/* Or CPU_UNTOLD: not told, or beyond the 4,096 of a device or 65,536 in all. */
	uint32_t cpu;
	uint64_t events;
	struct io_counts counts;
	/* Part of counts.completed until the end: bios that ended while no request of the device had
	 * been seen. Should there be any, they are what is counted. */
	struct class_count early[CLASS_NR];
	uint64_t unplugs, timer_unplugs, splits;
	struct depths depths; /* of requests that it issued */
};

struct io_error {
	int error; /* positive errno */
	uint8_t class;
	uint64_t count, first_sector;
};

/* Completions of one split bio that were printed cumulatively: same start, growing length [17]. */
struct cumulative {
	uint64_t sector, first_ns, last_ns;
	uint64_t first_bytes, last_bytes; /* what its first and last line covered */
	uint64_t lines;
	uint64_t whole_ns, whole_bytes; /* at the last line that added a common increment */
	/* Increments from line to line: the smallest, and the most common where one is in the
	 * majority (votes: how strongly). */
	uint32_t smallest_bytes, common_bytes, votes;
	uint8_t class;
	bool issued; /* their D were seen: each line completed a request */
};
#define CUMULATIVE_MAX 64u

/* How many pieces the lines stand for; 0 = cannot be told. */
uint64_t cumulative_pieces(const struct cumulative *c);

#define DEPTH_LEVELS 65 /* 0..63, and 64 for "64 or more" */

struct device_sum {
	uint32_t device;
	uint32_t parents[8]; /* where remaps onto it came from */
	uint8_t nr_parents;
	uint64_t events;
	struct cpu_sum **cpus; /* owned array of owned, by CPU; NULL: it has no event */
	size_t nr_cpus;
	struct cpu_sum *cpu_untold; /* owned; NULL as above */

	/* Of these, what struct cpu_sum has is the sum over the CPUs. */
	struct class_count bios[CLASS_NR];     /* at Q */
	struct class_count requests[CLASS_NR]; /* at first D; CLASS_FLUSH: flush commands */
	uint64_t completed_bytes[CLASS_NR];    /* at C */
	bool have_requests;                    /* any G, I or D was seen */
	bool mapped;               /* its bios were seen remapped onto devices of this trace */
	uint64_t empty_flush_bios; /* bios that are nothing but a flush */
	uint64_t flush_writes;     /* writes with PREFLUSH or FUA that went through flush parts */
	uint64_t flush_stages;     /* flush parts that flush commands served */
	uint64_t zero_ends;        /* zero-length completions: ends of flush sequences */
	uint64_t partial_completions; /* C that ended nothing or only a part */
	uint64_t nowait_retries, remapped_in, splits, bounces;
	uint64_t back_merges, front_merges, rq_merges;
	uint64_t requeues_busy, requeues_failed;
	uint64_t ambiguous_joins, double_completions, class_mismatches;
	uint64_t cumulative_completions; /* C that told again of what had completed before it */
	struct cumulative *cumulative;   /* owned array; the first CUMULATIVE_MAX series */
	size_t nr_cumulative;
	/* Ends without a D: requests or bios that ended although no D (flush bios: no flush command)
	 * of theirs is in the input, on a device with requests. Where they waited cannot be told: the
	 * time lines and the wait call it held. */
	uint64_t unissued_ends;
	uint64_t unissued_ends_ns; /* sum of their times from Q (or G) to the end */
	uint64_t whole_ios; /* known only as a whole (rows of a table): no depth, no shares */
	/* Q, D and whole I/Os whose length the input does not tell: where there are any, bytes of this
	 * device are a lower bound. */
	uint64_t bytes_unknown;
	uint64_t getrqs;           /* G, for the conservation laws */
	uint64_t orphan_issues;    /* issued, never completed, key used again */
	uint64_t orphan_completes; /* completed, never seen issued */
	uint64_t aged_out; /* bios whose end can only have been lost: no longer waited for */
	uint64_t orphan_merges;
	uint64_t in_flight;      /* at the end: requests and bios still open */
	struct io_error *errors; /* owned array */
	uint64_t nr_errors;
	struct depths depths; /* max[DEPTH_ALL] is depth_max */

	struct hist latency[PHASE_NR];
	struct hist class_d2c[CLASS_NR]; /* of requests, by class */
	struct hist class_r_q2c[CLASS_NR];
	uint64_t left_out; /* requests left out of latencies: retried, ambiguous, lossy */

	/* The device time line [10]: sums over the summary's window. */
	uint64_t busy_ns, held_ns, idle_ns;
	uint64_t wait_ns[WAIT_NR]; /* the part of wait.place_ns spent on I/O of this device */
	/* By data depth (without flush commands): time, and what completed meanwhile. */
	struct depth_level {
		uint64_t time_ns, completions, bytes, reads;
	} levels[DEPTH_LEVELS];
	double open_area; /* sum of open bios x ns while data was at the device */
	uint64_t depth_max;
	double depth_area; /* sum of depth x ns: / window = mean depth */
	uint64_t longest_silence_ns, longest_silence_at_ns; /* no completion while I/O was open */

	/* Seeks at D (at Q on bio-based devices): distance from the end of the last one. */
	uint64_t seeks, sequential;
	double seek_sum_sectors; /* of absolute distances */
	struct hist seek_sectors;

	/* Reads that were issued while a write of some of their sectors was at the device. */
	struct hazards {
		uint64_t count, bytes; /* the bytes that overlap */
		uint64_t first_ns, first_sector;
		uint32_t first_pid; /* who queued that read */
	} hazards;
	struct steps depth_steps; /* depth over time, in the summary's window */
};

/* What a thread did, by its pid at Q. */
struct process_sum {
	uint32_t pid;
	uint64_t last_ns; /* of its last I/O: names_get's time */
	uint64_t bios, requests;
	uint64_t read_bytes, write_bytes;
	uint64_t bytes_unknown; /* of its I/Os: those whose length the input does not tell */
	uint64_t flushes, discards;
	struct hist q2c; /* its bios, Q to the end */
	/* owned; NULL: not asked for (track_options.count_processes). Bios of the topmost level, as
	 * above; a request is whoever's who queued its first bio. */
	struct io_counts *counts;
};

struct summary {
	struct device_sum *devices; /* owned array, in order of appearance */
	size_t nr_devices;
	struct process_sum **processes; /* owned array of owned, in order of appearance */
	size_t nr_processes;
	uint64_t first_ns, last_ns;                /* of all events; first > last: there was none */
	uint64_t first_queue_ns, last_complete_ns; /* TIME_NONE = none */
	uint64_t events, messages, unknown_events, time_backwards;
	uint64_t uncounted_events; /* of devices beyond the 4,096 that are counted */
	struct wait_sum wait;      /* its window is also the time lines' */
	uint64_t plugs, unplugs;   /* have no device in ftrace */
	uint64_t actions[ACT_NR];
};

void summary_release(struct summary *sum);

#endif
