/* SPDX-License-Identifier: MIT
 *
 * One run of btt: events come through our readers (a merged dump, per-CPU files, anything `report`
 * reads), the tracker says which bio each belongs to, and the parts count and write. What differs
 * from the classic, and why, is in doc/btt-differences.md.
 *
 * Times are as in a merged dump: ns since the first event of the input (per-CPU files and others), or as they
 * stand in it (a dump that `blkparse -d` wrote).
 */
#ifndef BLKLAB_CLASSIC_BTT_H
#define BLKLAB_CLASSIC_BTT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "classic/btt_options.h"
#include "trace/event.h"
#include "trace/facts.h"
#include "track/track.h"

/* A device, in the order of its first Q or A; at the tracker's index it may be found too. */
struct btt_device {
	uint32_t number;
	char *label; /* owned: "maj,min", or its name in the map of -M: part of file names */
	bool shown;  /* not left out by -D */
	bool remapper; /* bio-based, maps its I/O to others: known only at the end, in parts' finish */
	uint64_t first_ns, last_ns; /* of its events that count */
	size_t index;               /* in btt.devices */
};

struct btt {
	const struct btt_options *o; /* borrowed */
	const struct facts *facts;   /* borrowed; complete at the end */
	const struct summary *sum;   /* the tracker's; complete at the end */
	struct btt_device **devices; /* owned array of owned */
	size_t nr_devices;
	struct btt_device **by_track; /* owned array: by io_bio.dev; NULL: not counted */
	size_t nr_by_track;
	uint64_t now_ns;   /* the time of the event that is being handled, as parts see it */
	uint64_t shift_ns; /* tracker's and io_bio's times minus this are those */
	uint64_t first_ns, last_ns; /* of the first and the last event that count */
	/* The D that is being handled is of a request that was issued before and came back (R): it
	 * is not counted as another I/O. */
	bool again;
	struct btt_processes *processes; /* owned; btt_process() */
	struct btt_map *map;             /* owned; the names of -M, or NULL */
	FILE *avg, *dat,
		*msg; /* borrowed: where tables, ranges and messages go; all may be stdout */
	FILE *xvg;    /* borrowed; NULL: not wanted */
	bool failed;  /* a file could not be opened or written: said so on stderr */
};

/* A section of the output or a kind of file. Each keeps its own state. Events come only of devices
 * that have begun to count (first Q or A), inside of -t and -T, and not with 0 bytes where the
 * classic leaves those out; times are the parts' (btt.now_ns). Any of the functions but new and free
 * may be NULL.
 *
 * Every other action comes too: of a request-based device the C of a request is ACT_COMPLETE, what
 * ends on a bio-based one ACT_BIO_COMPLETE; a merge of requests is ACT_RQ_MERGE. With -r no A comes,
 * and `remapped` neither. io_bio.mark is the tables'. */
struct btt_part {
	const char *name;
	bool (*wanted)(const struct btt_options *o); /* NULL: always */
	void *(*new)(struct btt *b);
	/* Before the tracker sees it. dev is NULL for what has no device. */
	void (*event)(void *self, struct btt_device *dev, const struct event *ev);
	/* At the A that takes a piece of the bio on to another device; at the first D of a bio; at its
	 * end (not of one that was lost: io_bio.lost is false). Bios of 0 bytes never come. Use
	 * btt_ns() for their times. ev is the event that it is told at. */
	void (*remapped)(void *self, struct btt_device *dev, struct io_bio *bio,
			 const struct event *ev);
	void (*issued)(void *self, struct btt_device *dev, struct io_bio *bio,
		       const struct event *ev);
	void (*ended)(void *self, struct btt_device *dev, const struct io_bio *bio,
		      const struct event *ev);
	/* At the end of a request, which is not one that was lost. Those of 0 bytes (flush commands)
	 * never come, nor those of passthrough. */
	void (*request)(void *self, struct btt_device *dev, const struct io *io);
	/* Of such a bio or request the end was lost: it is given up. */
	void (*bio_lost)(void *self, struct btt_device *dev, const struct io_bio *bio);
	void (*request_lost)(void *self, struct btt_device *dev, const struct io *io);
	void (*finish)(
		void *self); /* after the last event: what is written at the end, in table order */
	void (*free)(void *self);
};

/* All parts, in the order of their finish; btt_parts.c. */
extern const struct btt_part *const btt_parts[];
extern const size_t nr_btt_parts;

/* Runs; the classic's exit status, or -1 with err where the input cannot be read. */
int btt_run(const struct btt_options *o, struct error *err);

/* A time of io_bio as parts show it. TIME_NONE stays. */
static inline uint64_t btt_ns(const struct btt *b, uint64_t ns)
{
	return ns == TIME_NONE ? TIME_NONE : ns - b->shift_ns;
}

/* For output: rounded as the classic does, which adds the parts. */
static inline double btt_seconds(uint64_t ns)
{
	return (double)(ns / 1000000000) + (double)(ns % 1000000000) / 1e9;
}

/* t2 - t1 as the classic has it in its tables: at least 1 ns, also where clocks ran backwards. */
static inline uint64_t btt_elapsed(uint64_t from_ns, uint64_t to_ns)
{
	return to_ns > from_ns ? to_ns - from_ns : 1;
}

/* The name of the thread by which its numbers are added up, as the tables show it; one name is one pointer
 * until the end. time_ns is the parts' (as btt.now_ns). */
const char *btt_process(struct btt *b, uint32_t pid, uint64_t time_ns);
/* Is it wanted by -e: its name, or what stands before a slash in it? True without -e. */
bool btt_process_shown(const struct btt_options *o, const char *name);

/* ---- seek distances (btt_seek.c), of Qs or of Ds of one device ---- */

struct btt_seek {
	uint64_t start, end; /* of the previous one; 0 at first */
};

/* Signed sectors: by -a (absolute) start - previous end; else 0 where it touches the previous one, else
 * from its end forwards or from its start backwards. The state moves on. */
int64_t btt_seek_distance(struct btt_seek *seek, uint64_t start, uint64_t end, bool absolute);

/* ---- when I/O was at the device (btt_live.c): [D, C] of bios, overlapping or touching ones as one ---- */

struct btt_live {
	struct btt_span {
		uint64_t from_ns, to_ns;
	} * spans; /* owned array, by time */
	size_t nr;
};

/* Nearly in order of to_ns; in any order it is only slower. */
void btt_live_add(struct btt_live *live, uint64_t from_ns, uint64_t to_ns);
void btt_live_release(struct btt_live *live);

/* ---- files (btt_files.c) ---- */

/* A file of the user's, which is emptied when it is made, and removed at the end where nothing was written to
 * it and keep_empty is false. Hundreds may be there: none but FIFOs and the like is held open. What cannot be
 * opened or written sets btt.failed; the first time it is told on stderr. */
struct btt_file;
struct btt_file *btt_file_new(struct btt *b, bool keep_empty, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void btt_file_printf(struct btt_file *file, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void btt_file_free(struct btt_file *file); /* writes what is left; NULL is fine */

#endif
