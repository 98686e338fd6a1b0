/* SPDX-License-Identifier: MIT */
#include "classic/timing.h"

#include <inttypes.h>
#include <stdio.h>

#define TIME_NONE UINT64_MAX

/* A request; its node's key is the sector it starts at, and no two have the same. */
struct entry {
	struct hnode node;
	/* TIME_NONE: none; there the classic has stale memory */
	uint64_t allocation_ns, insert_ns, dispatch_ns;
	uint32_t pid; /* of the record that made it */
};

static const struct timed nothing = { .elapsed_ns = ELAPSED_NONE };

static struct entry *entry_at(const struct timing *timing, uint64_t sector)
{
	struct hnode *node = hash_find(&timing->by_sector, sector);

	return node ? container_of(node, struct entry, node) : NULL;
}

static struct entry *entry_make(struct timing *timing, const struct record *r, struct timed *timed)
{
	struct entry *entry = entry_at(timing, r->h.sector);

	if (entry)
		return entry;
	entry = slab_get(&timing->entries);
	*entry = (struct entry){ .allocation_ns = TIME_NONE,
				 .insert_ns = TIME_NONE,
				 .dispatch_ns = TIME_NONE,
				 .pid = r->h.pid };
	hash_add(&timing->by_sector, &entry->node, r->h.sector);
	timed->created = true;
	return entry;
}

static void entry_drop(struct timing *timing, struct entry *entry)
{
	hash_del(&timing->by_sector, &entry->node);
	slab_put(&timing->entries, entry);
}

static void not_found(const char *what, uint64_t sector, uint32_t device, bool verbose)
{
	if (verbose)
		fprintf(stderr, "%s not found for (%u,%u): %" PRIu64 "\n", what,
			DEVICE_MAJOR(device), DEVICE_MINOR(device), sector);
}

/* Of md and device mapper, the latter in the days when its major was 253: a bio there never becomes
 * a request, its time in the device starts with Q. */
static bool passes_on(uint32_t device)
{
	return DEVICE_MAJOR(device) == 9 || DEVICE_MAJOR(device) == 253;
}

static void ended(struct timed *timed, enum timed_wait wait, const struct entry *entry,
		  uint64_t from_ns, uint64_t to_ns)
{
	timed->found = true;
	timed->wait = wait;
	timed->owner = entry->pid;
	if (from_ns != TIME_NONE)
		timed->elapsed_ns = to_ns - from_ns;
}

static void insert(struct timing *timing, const struct record *r, struct timed *timed)
{
	struct entry *entry = entry_make(timing, r, timed);

	entry->insert_ns = r->h.time_ns;
	if (entry->allocation_ns) /* of 0 the classic thinks that there was no G */
		ended(timed, TIMED_ALLOCATION, entry, entry->allocation_ns, r->h.time_ns);
}

static void dispatch(struct timing *timing, const struct record *r, struct timed *timed,
		     uint32_t device, bool verbose)
{
	struct entry *entry;

	if (!(r->h.categories & TC_FS))
		return;
	entry = entry_at(timing, r->h.sector);
	if (!entry) {
		not_found("issue", r->h.sector, device, verbose);
		return;
	}
	entry->dispatch_ns = r->h.time_ns;
	ended(timed, TIMED_DISPATCH, entry, entry->insert_ns, r->h.time_ns);
}

static void complete(struct timing *timing, const struct record *r, struct timed *timed,
		     uint32_t device, bool verbose)
{
	struct entry *entry = entry_at(timing, r->h.sector);

	if (!entry) {
		not_found("complete", r->h.sector, device, verbose);
		return;
	}
	ended(timed, TIMED_COMPLETION, entry, entry->dispatch_ns, r->h.time_ns);
	entry_drop(timing, entry);
}

/* The request starts earlier now. Where another one starts already, the classic says so and loses this one. */
static void front_merge(struct timing *timing, const struct record *r, uint32_t device,
			bool verbose)
{
	uint32_t sectors = r->h.bytes / SECTOR_SIZE;
	struct entry *entry = entry_at(timing, r->h.sector + sectors);

	if (!entry) {
		not_found("merge", r->h.sector + sectors, device, verbose);
		return;
	}
	if (sectors && entry_at(timing, r->h.sector)) {
		fprintf(stderr, "sector alias (%" PRIu64 ") on device %u,%u!\n", r->h.sector,
			DEVICE_MAJOR(device), DEVICE_MINOR(device));
		entry_drop(timing, entry);
		return;
	}
	hash_del(&timing->by_sector, &entry->node);
	hash_add(&timing->by_sector, &entry->node, r->h.sector);
}

static void prepare(struct timing *timing)
{
	if (timing->ready)
		return;
	hash_init(&timing->by_sector);
	slab_init(&timing->entries, sizeof(struct entry));
	timing->ready = true;
}

struct timed timing_take(struct timing *timing, const struct record *r, uint32_t device,
			 bool verbose)
{
	struct timed timed = nothing;

	if (r->h.categories & TC_PC)
		return timed;
	prepare(timing);
	switch (r->h.number) {
	case ACT_QUEUE:
		if (passes_on(device))
			entry_make(timing, r, &timed)->dispatch_ns = r->h.time_ns;
		break;
	case ACT_GETRQ:
		entry_make(timing, r, &timed)->allocation_ns = r->h.time_ns;
		break;
	case ACT_INSERT:
		insert(timing, r, &timed);
		break;
	case ACT_ISSUE:
		dispatch(timing, r, &timed, device, verbose);
		break;
	case ACT_COMPLETE:
		complete(timing, r, &timed, device, verbose);
		break;
	case ACT_FRONTMERGE:
		front_merge(timing, r, device, verbose);
		break;
	}
	return timed;
}

void timing_release(struct timing *timing)
{
	if (timing->ready) {
		hash_release(&timing->by_sector);
		slab_release(&timing->entries);
	}
	*timing = (struct timing){ 0 };
}
