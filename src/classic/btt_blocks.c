/* SPDX-License-Identifier: MIT
 *
 * BASE_DEV_r.dat, _w.dat and _c.dat (-B): which sectors were read, written and either, at each D.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"
#include "classic/btt_parts.h"
#include "classic/btt_tables.h"

struct block_files {
	struct btt_file *read, *write, *both;
};

struct blocks {
	struct btt *b;
	struct by_device devices; /* struct block_files */
};

static bool blocks_wanted(const struct btt_options *o)
{
	return o->block_numbers != NULL;
}

static void *blocks_new(struct btt *b)
{
	struct blocks *k = mem_zalloc(sizeof(*k));

	*k = (struct blocks){ .b = b, .devices = { .size = sizeof(struct block_files) } };
	return k;
}

static struct block_files *files_of(struct blocks *k, const struct btt_device *dev)
{
	struct block_files *files = by_device(&k->devices, dev);
	const char *base = k->b->o->block_numbers;

	if (!files->both) {
		files->read = btt_file_new(k->b, false, "%s_%s_r.dat", base, dev->label);
		files->write = btt_file_new(k->b, false, "%s_%s_w.dat", base, dev->label);
		files->both = btt_file_new(k->b, false, "%s_%s_c.dat", base, dev->label);
	}
	return files;
}

static void put(struct btt_file *file, uint64_t now_ns, const struct event *ev)
{
	btt_file_printf(file, "%15.9f %" PRIu64 " %" PRIu64 "\n", btt_seconds(now_ns), ev->sector,
			ev->sector + ev->bytes / SECTOR_SIZE);
}

static void blocks_event(void *self, struct btt_device *dev, const struct event *ev)
{
	struct blocks *k = self;
	struct block_files *files;

	if (!dev)
		return;
	files = files_of(k, dev);
	if (ev->action != ACT_ISSUE || k->b->again)
		return;
	put(ev->flags & EV_WRITE ? files->write : files->read, k->b->now_ns, ev);
	put(files->both, k->b->now_ns, ev);
}

static void blocks_free(void *self)
{
	struct blocks *k = self;

	for (size_t i = 0; i < k->devices.nr; i++) {
		struct block_files *files = k->devices.list[i];

		if (!files)
			continue;
		btt_file_free(files->read);
		btt_file_free(files->write);
		btt_file_free(files->both);
	}
	by_device_release(&k->devices);
	free(k);
}

const struct btt_part btt_block_numbers = {
	.name = "block numbers",
	.wanted = blocks_wanted,
	.new = blocks_new,
	.event = blocks_event,
	.free = blocks_free,
};
