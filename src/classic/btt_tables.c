/* SPDX-License-Identifier: MIT */
#include "classic/btt_tables.h"

#include <stdlib.h>

#include "base/mem.h"
#include "classic/btt_names.h"

#define LABEL_CHARS 14

void *by_device_make(struct by_device *things, const struct btt_device *dev)
{
	while (things->nr <= dev->index) {
		things->list = mem_grow(things->list, things->nr, sizeof(*things->list));
		things->list[things->nr++] = NULL;
	}
	things->list[dev->index] = mem_zalloc(things->size);
	return things->list[dev->index];
}

void by_device_release(struct by_device *things)
{
	for (size_t i = 0; i < things->nr; i++)
		free(things->list[i]);
	free(things->list);
	*things = (struct by_device){ 0 };
}

static const struct btt_device *find(const struct btt *b, uint32_t number)
{
	for (size_t i = 0; i < b->nr_devices; i++)
		if (b->devices[i]->number == number)
			return b->devices[i];
	return NULL;
}

const struct btt_device *btt_shown(const struct btt *b, size_t *at)
{
	const struct btt_device *dev = NULL;

	if (!b->o->nr_devices)
		return *at < b->nr_devices ? b->devices[(*at)++] : NULL;
	while (!dev && *at < b->o->nr_devices)
		dev = find(b, b->o->devices[(*at)++]); /* it may not be in the trace */
	return dev;
}

struct btt_row_label btt_row_label(const struct btt *b, const struct btt_device *dev)
{
	const char *name = btt_map_name(b->map, dev->number);
	struct btt_row_label label;

	if (name)
		snprintf(label.text, sizeof(label.text), "%.*s", LABEL_CHARS, name);
	else
		snprintf(label.text, sizeof(label.text), "(%3u,%3u)", DEVICE_MAJOR(dev->number),
			 DEVICE_MINOR(dev->number));
	return label;
}

void btt_title(FILE *out, const char *title)
{
	fprintf(out, "==================== %s ====================\n\n", title);
}

void extent_merge(struct extent *into, const struct extent *from)
{
	if (!from->n)
		return;
	if (!into->n || from->min < into->min)
		into->min = from->min;
	if (from->max > into->max)
		into->max = from->max;
	into->sum += from->sum;
	into->n += from->n;
}
