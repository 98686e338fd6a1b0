/* SPDX-License-Identifier: MIT
 *
 * The table of trace events to record, and the filters that keep them to the chosen devices
 * (model.md 15).
 */
#ifndef BLKLAB_RECORD_BLOCK_EVENTS_H
#define BLKLAB_RECORD_BLOCK_EVENTS_H

#include <stdbool.h>
#include <stddef.h>

#include "record/devices.h"

/* Which fields say where an event belongs. */
enum event_place {
	PLACE_NONE,   /* no device: tasks */
	PLACE_PLUG,   /* no device: plug, unplug */
	PLACE_RANGE,  /* dev, sector, nr_sector; 0 sectors = flush or passthrough, of no range */
	PLACE_START,  /* dev, sector */
	PLACE_DEVICE, /* dev */
	PLACE_REMAP,  /* dev, old_dev: from old_dev to dev */
};

struct event_row {
	const char *names[2]; /* "system/name"; the first that exists is taken */
	enum event_place place;
	bool needed; /* without it there are no requests to speak of */
	const char *what;
};

extern const struct event_row event_rows[];
extern const size_t nr_event_rows;

/* The filter text for an event of such a place; owned, NULL = none is needed. */
char *event_filter(enum event_place place, const struct rec_devices *devices);

#endif
