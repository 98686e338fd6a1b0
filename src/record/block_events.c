/* SPDX-License-Identifier: MIT */
#include "record/block_events.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* block_io_start and block_io_done add nothing to issue and complete (model.md 15). */
const struct event_row event_rows[] = {
	{ { "block/block_bio_queue" }, PLACE_RANGE, true, "bio queued" },
	{ { "block/block_getrq" }, PLACE_RANGE, false, "request allocated" },
	{ { "block/block_bio_backmerge" }, PLACE_RANGE, false, "bio merged at the end" },
	{ { "block/block_bio_frontmerge" }, PLACE_RANGE, false, "bio merged at the front" },
	{ { "block/block_rq_insert" }, PLACE_RANGE, false, "request given to the scheduler" },
	{ { "block/block_rq_issue" }, PLACE_RANGE, true, "request issued to the driver" },
	{ { "block/block_rq_complete" }, PLACE_RANGE, true, "request completed" },
	{ { "block/block_rq_requeue" }, PLACE_RANGE, false, "request given back by the driver" },
	{ { "block/block_rq_merge" }, PLACE_RANGE, false, "request merged into another" },
	{ { "block/block_rq_error" }, PLACE_RANGE, false, "request failed" },
	{ { "block/block_bio_complete" }, PLACE_RANGE, false, "bio completed without a request" },
	{ { "block/block_split" }, PLACE_START, false, "bio split" },
	{ { "block/block_bio_remap" }, PLACE_REMAP, false, "bio moved to another device" },
	{ { "block/block_rq_remap" }, PLACE_REMAP, false, "request moved to another device" },
	{ { "block/block_plug" }, PLACE_PLUG, false, "task starts to hold its requests back" },
	{ { "block/block_unplug" }, PLACE_PLUG, false, "task gives its requests on" },
	{ { "block/disk_zone_wplug_add_bio" }, PLACE_DEVICE, false, "bio waits for its zone" },
	{ { "block/blk_zone_wplug_bio" }, PLACE_DEVICE, false, "zone gives a bio on" },
	{ { "block/blkdev_zone_mgmt" }, PLACE_DEVICE, false, "zone reset, opened, finished" },
	{ { "block/blk_zone_append_update_request_bio" },
	  PLACE_RANGE,
	  false,
	  "zone append landed" },
	/* Whose process is whose, and what it is called: rare events. */
	{ { "sched/sched_process_fork" }, PLACE_NONE, false, "process or thread started" },
	{ { "sched/sched_process_exec" }, PLACE_NONE, false, "process became a program" },
	{ { "task/task_newtask" }, PLACE_NONE, false, "process or thread (which?) started" },
	{ { "task/task_rename" }, PLACE_NONE, false, "thread named" },
};
const size_t nr_event_rows = sizeof(event_rows) / sizeof(event_rows[0]);

/* What one device lets through, or NULL where this device has nothing to say. */
static char *device_term(enum event_place place, const struct rec_device *device)
{
	uint64_t end = device->part_start + device->part_sectors;

	if (place == PLACE_REMAP && device->part_dev)
		return mem_printf("old_dev == %" PRIu32, device->part_dev);
	if (place == PLACE_REMAP)
		return mem_printf("dev == %" PRIu32 " || old_dev == %" PRIu32, device->dev,
				  device->dev);
	if (!device->part_dev || place == PLACE_DEVICE)
		return mem_printf("dev == %" PRIu32, device->dev);
	if (place == PLACE_START)
		return mem_printf("(dev == %" PRIu32 " && sector >= %" PRIu64
				  " && sector < %" PRIu64 ")",
				  device->dev, device->part_start, end);
	return mem_printf("(dev == %" PRIu32 " && (nr_sector == 0 || (sector >= %" PRIu64
			  " && sector < %" PRIu64 ")))",
			  device->dev, device->part_start, end);
}

static char *joined(char *filter, char *term)
{
	char *longer = filter ? mem_printf("%s || %s", filter, term) : mem_strdup(term);

	free(term);
	free(filter);
	return longer;
}

/* Devices of the major of hidden paths that are not known to be something else. */
static char *hidden_term(const struct rec_devices *devices)
{
	char *term = mem_printf("(dev >= %" PRIu32 " && dev < %" PRIu32, DEVICE_HIDDEN_MAJOR << 20,
				(DEVICE_HIDDEN_MAJOR + 1) << 20);
	char *whole;

	for (size_t i = 0; i < devices->nr_visible; i++) {
		char *longer = mem_printf("%s && dev != %" PRIu32, term, devices->visible[i]);

		free(term);
		term = longer;
	}
	whole = mem_printf("%s)", term);
	free(term);
	return whole;
}

char *event_filter(enum event_place place, const struct rec_devices *devices)
{
	char *filter = NULL;

	if (place == PLACE_NONE || place == PLACE_PLUG)
		return NULL;
	for (size_t i = 0; i < devices->nr; i++)
		filter = joined(filter, device_term(place, &devices->list[i]));
	if (filter && devices->hidden_paths && place != PLACE_REMAP)
		filter = joined(filter, hidden_term(devices));
	return filter;
}
