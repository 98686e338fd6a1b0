/* SPDX-License-Identifier: MIT
 *
 * All values of a stream, exactly, in little memory: what median and mode need. They are gathered, sorted
 * when there are enough of them, and kept as runs of differences (two or three bytes for each distinct
 * value where there are many); runs of like size are merged.
 */
#ifndef BLKLAB_CLASSIC_BTT_VALUES_H
#define BLKLAB_CLASSIC_BTT_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct values_run {
	uint8_t *bytes; /* owned */
	size_t len;
	unsigned int level; /* how often it was merged */
};

struct values {
	uint64_t *fresh; /* owned array: not sorted yet */
	size_t nr_fresh;
	struct values_run *runs; /* owned array; the smaller the later */
	size_t nr_runs;
	uint64_t zeros; /* these are only counted */
	uint64_t n;
	double sum;
};

void values_add(struct values *v, uint64_t value);
void values_release(struct values *v); /* of {0} too */

/* A walk over the distinct values of several streams together, ascending. All their fresh ones are sorted away
 * first; none may be added to meanwhile. */
struct values_walk {
	struct values_cursor *cursors; /* owned: a heap */
	size_t nr;
	uint64_t value, count; /* the current one */
	uint64_t zeros;
};
void values_walk_begin(struct values_walk *walk, struct values *const *streams, size_t nr);
bool values_walk_next(struct values_walk *walk); /* false: there are no more */
void values_walk_end(struct values_walk *walk);

/* What is told of them; all zero where n is. */
struct values_middle {
	uint64_t n;
	double mean;
	uint64_t median;   /* the least value that at least half of them do not exceed */
	uint64_t mode[2];  /* the least two of the most frequent values */
	uint64_t nr_modes; /* how many there are */
	uint64_t count;    /* how often each comes */
};
struct values_middle values_middle(struct values *const *streams, size_t nr);

#endif
