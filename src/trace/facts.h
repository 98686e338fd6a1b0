/* SPDX-License-Identifier: MIT
 *
 * What readers learn beside events. Filled while events are pulled, complete after the end. A reader
 * may give only facts (a capture log).
 */
#ifndef BLKLAB_TRACE_FACTS_H
#define BLKLAB_TRACE_FACTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/mem.h"
#include "trace/names.h"
#include "trace/source.h"

/* A window in which events of one CPU were lost. */
struct loss {
	uint32_t cpu;
	bool count_known;
	uint64_t events;         /* lost, where count_known */
	uint64_t from_ns, to_ns; /* on the input's clock: last event before, first after */
};

/* One input as the report lists it. */
struct input_info {
	char *path;                 /* owned, as the user named it (members: path:member) */
	const char *format;         /* static */
	char dialect[160];          /* "" = none to tell; e.g. "v7, little-endian, 2 CPUs" */
	char tells_drops_of[4][32]; /* device names whose drop count it carries (a capture log) */
	char lacks_drops_of[32];    /* the name of its device, where it carries no drop count */
	char *ignored;              /* owned; why nothing of it was used, or NULL */
	uint64_t events;            /* filled at the end */

	/* Of a text: its lines (blank ones are not counted), and numbers that its per-CPU counters
	 * skip (lines were cut or selected: no loss). */
	bool is_text;
	uint64_t lines_used, lines_ignored, missing_numbers;
	uint64_t resolution_ns; /* of its times; 0 = nanoseconds or no times */
};

/* A line of a text that was of no use. */
struct ignored_line {
	size_t input; /* in facts->inputs */
	uint64_t nr;  /* from 1 */
	char *text;   /* owned; its beginning */
	char *why;    /* owned; one sentence */
};

/* Numbers that the sequences of a device skip: source_stats.sequence_gaps by device. */
struct skips {
	uint32_t device;
	uint64_t gaps, missing; /* places, and numbers missing there; fewer once they come late */
};

/* A device's name as the input knows it. */
struct device_name {
	uint32_t device;
	char name[32];
};

/* A device of which two inputs hold events: two recordings of it, or one given twice. Their counts may
 * not be added up. */
struct device_twice {
	bool found;
	uint32_t device;
	size_t first, second; /* in facts->inputs */
};

struct facts {
	struct names names;
	struct input_info *inputs; /* owned array */
	size_t nr_inputs;
	struct loss *losses; /* owned array */
	size_t nr_losses;
	struct skips *skips; /* owned array; only devices that have some */
	size_t nr_skips;
	struct device_name *devices; /* owned array */
	size_t nr_devices;
	struct hash held; /* device -> the input that holds its events */
	struct slab held_slab;
	struct device_twice twice; /* the first one found */
	char **notes;              /* owned array of owned sentences, shown in the report */
	size_t nr_notes;
	struct ignored_line *ignored; /* owned array; the first IGNORED_MAX of all inputs */
	size_t nr_ignored;

	/* What was pasted beside events, each an array of objects in the shape of the report's JSON
	 * (doc/spec.md), owned, NULL = there was none. Values that the text does not give are null
	 * with a "..._why". */
	json_t *metrics;        /* results of benchmarks and timed commands */
	json_t *summary_blocks; /* counters that blkparse prints at its end */
	json_t *latency_tables; /* btt's tables, latency histograms: of somebody else's making */
	json_t *snapshots;      /* /proc/diskstats, meminfo, sysctl values */
	json_t *findings; /* what a line itself proves (a start that failed, I/O that is stuck) */

	/* Dropped events that a counter told of (kernel, recorder, capture log), and whether each
	 * event-bearing input had one: the sum is known only if no input is without. */
	uint64_t dropped;
	bool dropped_told;         /* some input told */
	char *dropped_unknown_why; /* owned; why an input cannot tell (one sentence), or NULL */

	/* Wall clock: at input time wall_at_ns it was wall_ns since the epoch. */
	bool have_wall;
	uint64_t wall_at_ns, wall_ns;

	/* Texts (and kinds of events inside one) that have a clock of their own; with more than one,
	 * or one beside a recording, times cannot be compared. */
	unsigned int text_clocks;
	uint64_t text_bias_ns; /* what was added to the times that a text prints */

	char kernel[96];      /* release, "" = unknown */
	json_t *meta;         /* meta.json of a trace directory, owned, or NULL */
	bool meta_incomplete; /* the recorder was killed before it could finish meta.json */
};

void facts_init(struct facts *facts);
void facts_release(struct facts *facts);

/* Adds an input; returns its index (pointers into the array move). Copies path. */
size_t facts_input(struct facts *facts, const char *path, const char *format);
void facts_note(struct facts *facts, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void facts_loss(struct facts *facts, const struct loss *loss);
/* `missing` more numbers are, at one more place. */
void facts_skipped(struct facts *facts, uint32_t device, uint64_t missing);
/* One of them came late. */
void facts_skipped_late(struct facts *facts, uint32_t device);
struct skips facts_skips(const struct facts *facts, uint32_t device);
void facts_device(struct facts *facts, uint32_t device, const char *name);
/* NULL where no input named it. */
const char *facts_device_name(const struct facts *facts, uint32_t device);
/* That input (an index) holds I/O events of the device. Readers tell when the device changes. */
void facts_device_held(struct facts *facts, uint32_t device, size_t input);
/* Keeps a line of which nothing was used (at most IGNORED_MAX) and counts it. */
#define IGNORED_MAX 10000u
void facts_ignored(struct facts *facts, size_t input, uint64_t nr, const char *text,
		   const char *why);
/* Appends an object (taken) to one of the arrays above: facts_append(&facts->metrics, obj). No more
 * than FACTS_MAX are kept; then false, and obj is gone. */
#define FACTS_MAX 100000u
bool facts_append(json_t **array, json_t *obj);
/* The first reason given stays. */
void facts_dropped_unknown(struct facts *facts, const char *why);

/* What was lost, complete after the end; `stats` are those of all sources together. */

/* Events that some counter says were dropped. The recorder's own and the marks inside the data count the
 * same losses: the larger one. */
uint64_t facts_dropped(const struct facts *facts, const struct source_stats *stats);
/* Bytes that the recorder could not write. */
uint64_t facts_unwritten_bytes(const struct facts *facts);
/* Are events known to be lost, or bytes damaged (STATUS_LOSSES)? */
bool facts_have_losses(const struct facts *facts, const struct source_stats *stats);

#endif
