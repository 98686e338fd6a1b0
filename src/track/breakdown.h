/* SPDX-License-Identifier: MIT
 *
 * Finished I/O in groups (`report --by`): by device, class, process, size, CPU or slice of time, each
 * with its counts and the whole phase table, and always by device as well: an I/O that goes through a
 * stack of devices is one on each level, and levels are not added up. Memory is bounded: beyond
 * BREAKDOWN_ROWS groups the rest of a device is one group, so that nothing is left out.
 */
#ifndef BLKLAB_TRACK_BREAKDOWN_H
#define BLKLAB_TRACK_BREAKDOWN_H

#include <stddef.h>

#include "base/hash.h"
#include "trace/names.h"
#include "track/summary.h"
#include "track/tail.h"
#include "track/track.h"

#define BREAKDOWN_ROWS  10000u
#define BREAKDOWN_SMALL 4096u /* bytes: smaller classes of size are not told apart */

enum breakdown_key { BY_DEVICE, BY_CLASS, BY_PROCESS, BY_SIZE, BY_CPU, BY_WINDOW, BY_NR };

const char *breakdown_key_name(enum breakdown_key key); /* "device", ... */

struct breakdown_count {
	uint64_t count;
	uint64_t bytes;          /* moved */
	uint64_t affected_bytes; /* of discards and the like, which move nothing */
	uint64_t bytes_unknown;  /* so many whose length the input does not tell */
};

enum breakdown_row_kind {
	ROW_TOLD,
	ROW_UNTOLD, /* the input does not tell the key of these */
	ROW_OTHERS, /* of more groups than are kept */
};

struct breakdown_row {
	struct hnode by_key;
	uint64_t key; /* of ROW_TOLD: class; pid; most bytes; CPU; slice, from 0 */
	uint64_t last_ns;
	uint16_t dev;            /* index into the summary's devices */
	uint8_t kind;            /* enum breakdown_row_kind */
	char comm[COMM_LEN + 1]; /* of a process: its name at the time; "": none is known */
	struct breakdown_count bios, requests; /* that have ended */
	struct hist latency[PHASE_NR];
	struct tail tail; /* of BY_DEVICE and BY_CLASS */
};

struct breakdown;

struct breakdown_options {
	enum breakdown_key key;
	uint64_t slice_ns,
		origin_ns; /* BY_WINDOW: how long a slice is, where the first one begins */
	/* Only what ended in there counts, as everywhere with --window; TIME_NONE: no limit. */
	uint64_t from_ns, to_ns;
};

/* names is borrowed. */
struct breakdown *breakdown_new(const struct breakdown_options *options, const struct names *names);
void breakdown_free(struct breakdown *by);
/* What to give to the tracker. */
struct track_sink breakdown_sink(struct breakdown *by);
/* After the tracker's finish: names that came late, and the order of the rows: by device in the order of
 * appearance; processes with the most bytes first, other keys ascending; then what is not told, then the
 * others. */
void breakdown_finish(struct breakdown *by);

/* Do its rows have a tail? */
bool breakdown_has_tails(const struct breakdown *by);
const struct breakdown_options *breakdown_options(const struct breakdown *by);
size_t breakdown_nr(const struct breakdown *by);
const struct breakdown_row *breakdown_row(const struct breakdown *by, size_t i);

#endif
