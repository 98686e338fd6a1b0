/* SPDX-License-Identifier: MIT
 *
 * What btt's tables and sections have in common: numbers by device, the order of rows, labels and heads.
 */
#ifndef BLKLAB_CLASSIC_BTT_TABLES_H
#define BLKLAB_CLASSIC_BTT_TABLES_H

#include "classic/btt.h"

/* A thing of `size` bytes for each device, zero at first, at a stable address. Begin with { .size = ... }. */
struct by_device {
	size_t size;
	void **list; /* owned array of owned, by btt_device.index; NULL: none yet */
	size_t nr;
};

void *by_device_make(struct by_device *things, const struct btt_device *dev);
void by_device_release(struct by_device *things);

/* Made if new. */
static inline void *by_device(struct by_device *things, const struct btt_device *dev)
{
	if (dev->index < things->nr && things->list[dev->index])
		return things->list[dev->index];
	return by_device_make(things, dev);
}

/* NULL: that device has none. */
static inline void *by_device_known(const struct by_device *things, const struct btt_device *dev)
{
	return dev->index < things->nr ? things->list[dev->index] : NULL;
}

/* The devices that have rows, in the order of rows: of -D, else of appearance. Begin with *at = 0; NULL at
 * the end. */
const struct btt_device *btt_shown(const struct btt *b, size_t *at);

/* A device's label in rows: "(  8,  0)", or the name in the map of -M, cut. */
struct btt_row_label {
	char text[24];
};
struct btt_row_label btt_row_label(const struct btt *b, const struct btt_device *dev);

void btt_title(FILE *out, const char *title);

/* Least, greatest, sum and number of some times or sizes. */
struct extent {
	uint64_t min, max, sum, n;
};

static inline void extent_add(struct extent *e, uint64_t value)
{
	if (!e->n || value < e->min)
		e->min = value;
	if (value > e->max)
		e->max = value;
	e->sum += value;
	e->n++;
}

void extent_merge(struct extent *into, const struct extent *from);

#endif
