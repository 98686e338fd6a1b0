/* SPDX-License-Identifier: MIT
 *
 * Snapshots of /proc/diskstats (kernel: Documentation/admin-guide/iostats.rst): what they show, and what
 * did not move between the first and the last one. doc/formats/diskstats_text.md
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/container.h"
#include "base/hash.h"
#include "base/mem.h"
#include "read/text/result.h"

#define DEVICES_MAX   4096u
#define SNAPSHOTS_MAX 10000u
#define COUNTERS      17u
#define NS_PER_MS     1000000u
#define LABEL_MAX     200u
#define MAJOR_MAX     511u /* the kernel's own */

/* The counters behind the name, in the kernel's order. */
enum counter {
	READS,
	READS_MERGED,
	READ_SECTORS,
	READ_MS,
	WRITES,
	WRITES_MERGED,
	WRITE_SECTORS,
	WRITE_MS,
	IN_FLIGHT,
	IO_MS,
	WEIGHTED_MS, /* the last one before 4.18 */
	DISCARDS,
	DISCARDS_MERGED,
	DISCARD_SECTORS,
	DISCARD_MS, /* the last one before 5.5 */
	FLUSHES,
	FLUSH_MS,
};

/* How each is shown: the key and the factor to the key's unit. */
static const struct {
	const char *key;
	uint32_t factor;
} shown[COUNTERS] = {
	[READS] = { "reads", 1 },
	[READS_MERGED] = { "reads_merged", 1 },
	[READ_SECTORS] = { "read_bytes", SECTOR_SIZE },
	[READ_MS] = { "read_ns", NS_PER_MS },
	[WRITES] = { "writes", 1 },
	[WRITES_MERGED] = { "writes_merged", 1 },
	[WRITE_SECTORS] = { "write_bytes", SECTOR_SIZE },
	[WRITE_MS] = { "write_ns", NS_PER_MS },
	[IN_FLIGHT] = { "in_flight", 1 },
	[IO_MS] = { "io_ns", NS_PER_MS },
	[WEIGHTED_MS] = { "weighted_ns", NS_PER_MS },
	[DISCARDS] = { "discards", 1 },
	[DISCARDS_MERGED] = { "discards_merged", 1 },
	[DISCARD_SECTORS] = { "discard_bytes", SECTOR_SIZE },
	[DISCARD_MS] = { "discard_ns", NS_PER_MS },
	[FLUSHES] = { "flushes", 1 },
	[FLUSH_MS] = { "flush_ns", NS_PER_MS },
};

struct row {
	uint32_t device;
	char name[32];
	uint64_t counter[COUNTERS];
	unsigned int nr; /* counters that are there: 11, 15 or 17 */
};

/* A device over all snapshots. */
struct disk {
	struct hnode node; /* key: device */
	struct row first, last;
	uint64_t snapshots, in_snapshot; /* number of the last one it was in */
	bool in_flight_moved;
};

struct diskstats {
	bool inited;
	struct hash disks;
	struct slab slab;
	uint32_t *order; /* owned: devices in the order of their first row */
	size_t nr_disks;
	json_t *devices; /* owned: of the snapshot that is open, or NULL */
	uint64_t snapshots;
	char label[LABEL_MAX + 1]; /* the heading above the snapshot */
};

static bool read_row(struct scan s, struct row *row)
{
	uint32_t major, minor;
	struct scan name;

	if (!scan_u32(&s, MAJOR_MAX, &major) || s.at == s.end || !scan_is_blank(*s.at))
		return false;
	scan_blanks(&s);
	if (!scan_u32(&s, 0xfffff, &minor) || !scan_token(&s, &name) ||
	    scan_left(&name) >= sizeof(row->name) || scan_is_digit(*name.at))
		return false;
	for (const char *p = name.at; p < name.end; p++)
		if (!scan_is_letter(*p) && !scan_is_digit(*p) && !strchr("!._-/", *p))
			return false;
	*row = (struct row){ .device = DEVICE(major, minor) };
	memcpy(row->name, name.at, scan_left(&name));
	for (; row->nr < COUNTERS; row->nr++) {
		scan_blanks(&s);
		if (!scan_u64(&s, &row->counter[row->nr]))
			break;
		if (s.at < s.end && !scan_is_blank(*s.at))
			return false;
	}
	return scan_ended(&s);
}

/* Numbers that JSON's integers and our units hold. */
static bool in_range(const struct row *row)
{
	for (unsigned int i = 0; i < row->nr; i++)
		if (row->counter[i] > (uint64_t)INT64_MAX / shown[i].factor)
			return false;
	return true;
}

/* ---- a snapshot ---- */

static void close_snapshot(struct diskstats *d, struct text *text)
{
	json_t *obj;

	if (!d->devices)
		return;
	obj = json_pack("{s:s, s:o}", "source", "diskstats", "devices", d->devices);
	d->devices = NULL;
	if (d->label[0])
		json_object_set_new(obj, "label", result_string(d->label, strlen(d->label)));
	if (d->snapshots <= SNAPSHOTS_MAX)
		facts_append(&text_facts(text)->snapshots, obj);
	else
		json_decref(obj);
}

static void open_snapshot(struct diskstats *d, const char *label)
{
	size_t len = strnlen(label, LABEL_MAX);

	d->devices = json_array();
	d->snapshots++;
	memcpy(d->label, label, len);
	d->label[len] = 0;
}

static void show_row(struct diskstats *d, const struct row *row)
{
	json_t *obj = json_object();
	char number[24];

	snprintf(number, sizeof(number), "%u,%u", DEVICE_MAJOR(row->device),
		 DEVICE_MINOR(row->device));
	json_object_set_new(obj, "device", json_string(number));
	json_object_set_new(obj, "name", json_string(row->name));
	for (unsigned int i = 0; i < row->nr; i++)
		json_object_set_new(obj, shown[i].key,
				    json_integer((json_int_t)(row->counter[i] * shown[i].factor)));
	json_array_append_new(d->devices, obj);
}

static struct disk *disk_of(struct diskstats *d, const struct row *row)
{
	struct hnode *node = hash_find(&d->disks, row->device);
	struct disk *disk;

	if (node)
		return container_of(node, struct disk, node);
	if (d->nr_disks == DEVICES_MAX)
		return NULL;
	d->order = mem_grow(d->order, d->nr_disks, sizeof(*d->order));
	d->order[d->nr_disks++] = row->device;
	disk = slab_get(&d->slab);
	*disk = (struct disk){ .first = *row, .last = *row };
	hash_add(&d->disks, &disk->node, row->device);
	return disk;
}

/* ---- what did not move ---- */

static uint64_t moved(const struct disk *disk, enum counter counter)
{
	if (counter >= disk->first.nr || counter >= disk->last.nr)
		return 0;
	return disk->last.counter[counter] - disk->first.counter[counter];
}

/* Another machine, or a device that came again. */
static bool went_back(const struct disk *disk)
{
	for (unsigned int i = 0; i < disk->first.nr && i < disk->last.nr; i++)
		if (i != IN_FLIGHT && disk->last.counter[i] < disk->first.counter[i])
			return true;
	return false;
}

/* Requests are open all the time, the same number, and nothing was written. A reader that keeps the number
 * constant completes far more reads than it has in flight. */
static bool is_stuck(const struct disk *disk)
{
	uint64_t in_flight = disk->first.counter[IN_FLIGHT], reads = moved(disk, READS);

	return disk->snapshots >= 2 && in_flight && !disk->in_flight_moved && !went_back(disk) &&
	       !moved(disk, WRITES) && !moved(disk, DISCARDS) && !moved(disk, FLUSHES) &&
	       reads <= in_flight / 4;
}

static json_t *stuck_device(const struct disk *disk)
{
	char number[24];

	snprintf(number, sizeof(number), "%u,%u", DEVICE_MAJOR(disk->first.device),
		 DEVICE_MINOR(disk->first.device));
	return json_pack("{s:s, s:s, s:I, s:I, s:I, s:I, s:I}", "device", number, "name",
			 disk->first.name, "in_flight", (json_int_t)disk->first.counter[IN_FLIGHT],
			 "writes_completed", (json_int_t)moved(disk, WRITES), "reads_completed",
			 (json_int_t)moved(disk, READS), "io_ns_between",
			 (json_int_t)(moved(disk, IO_MS) * NS_PER_MS), "snapshots",
			 (json_int_t)disk->snapshots);
}

static void stuck_io(struct diskstats *d, struct text *text)
{
	static const char *const advice[] = {
		"as a test, disable writeback throttling: echo 0 > "
		"/sys/block/DEV/queue/wbt_lat_usec",
		"collect the queues' state while it hangs: /sys/kernel/debug/block/DEV/hctx*/ "
		"(busy, "
		"tags, dispatch, state) and /sys/kernel/debug/block/DEV/rqos/wbt/",
		"collect the stacks of blocked tasks: echo w > /proc/sysrq-trigger", NULL
	};
	json_t *devices = json_array();
	char names[120] = "";
	size_t nr = 0, len = 0;

	for (size_t i = 0; i < d->nr_disks; i++) {
		struct disk *disk =
			container_of(hash_find(&d->disks, d->order[i]), struct disk, node);

		if (!is_stuck(disk))
			continue;
		json_array_append_new(devices, stuck_device(disk));
		if (nr++ < 3)
			len += (size_t)snprintf(names + len, sizeof(names) - len, "%s%s",
						len ? ", " : "", disk->first.name);
	}
	if (!nr) {
		json_decref(devices);
		return;
	}
	result_finding(
		text, "stuck-io", "critical", "I/O is stuck",
		mem_printf("%s%s: the number of requests in flight is the same in all %" PRIu64
			   " snapshots and no write completed between them: the requests are "
			   "held in the kernel or lost, the device is not saturated, however "
			   "large its I/O time is",
			   names, nr > 3 ? ", ..." : "", d->snapshots),
		json_pack("{s:o, s:I}", "devices", devices, "snapshots", (json_int_t)d->snapshots),
		advice);
}

/* ---- the kind ---- */

static enum text_answer take_row(struct diskstats *d, struct text *text, const struct row *row)
{
	const char *heading = text_heading(text);
	struct disk *disk;

	if (!d->inited) {
		hash_init(&d->disks);
		slab_init(&d->slab, sizeof(struct disk));
		d->inited = true;
	}
	disk = disk_of(d, row);
	if (!disk) {
		text_why(text, "more devices than any machine has");
		return TEXT_BAD;
	}
	if (d->devices &&
	    (disk->in_snapshot == d->snapshots || strncmp(heading, d->label, LABEL_MAX) != 0))
		close_snapshot(d, text);
	if (!d->devices)
		open_snapshot(d, heading);
	show_row(d, row);
	if (row->counter[IN_FLIGHT] != disk->first.counter[IN_FLIGHT])
		disk->in_flight_moved = true;
	disk->last = *row;
	disk->in_snapshot = d->snapshots;
	disk->snapshots++;
	if (row->nr < COUNTERS)
		text_dialect(text,
			     row->nr == 15 ? "diskstats of 4.18 to 5.4" : "diskstats before 4.18");
	if (disk->snapshots == 1)
		facts_device(text_facts(text), row->device, row->name);
	return TEXT_USED;
}

static enum text_answer take(void *state, struct text *text, const struct text_line *line)
{
	struct diskstats *d = state;
	struct scan s = scan_line(line);
	struct row row;

	if (s.at == s.end || line->len > 1000)
		return TEXT_NO;
	if (d->devices && *s.at == '-' && scan_starts(&s, "--")) { /* between two snapshots */
		while (s.at < s.end && *s.at == '-')
			s.at++;
		if (!scan_ended(&s))
			return TEXT_NO;
		close_snapshot(d, text);
		return TEXT_USED;
	}
	if (!scan_is_digit(*s.at) || !read_row(s, &row) || row.nr < 6)
		return TEXT_NO;
	if (row.nr != 11 && row.nr != 15 && row.nr != 17) {
		if (!line->joined && !line->last_try)
			return TEXT_MORE;
		if (line->joined)
			return TEXT_NO;
		text_why(text, "not as many numbers as any kernel's /proc/diskstats has");
		return TEXT_BAD;
	}
	if (!in_range(&row)) {
		text_why(text, "a number that is too large for a counter");
		return TEXT_BAD;
	}
	return take_row(d, text, &row);
}

static void end(void *state, struct text *text)
{
	struct diskstats *d = state;

	if (!d->inited)
		return;
	if (text) {
		close_snapshot(d, text);
		stuck_io(d, text);
	}
	json_decref(d->devices);
	free(d->order);
	hash_release(&d->disks);
	slab_release(&d->slab);
	*d = (struct diskstats){ 0 };
}

const struct text_kind text_diskstats = {
	.name = "diskstats",
	.what = "snapshots of /proc/diskstats",
	.state_size = sizeof(struct diskstats),
	.take = take,
	.end = end,
};
