/* SPDX-License-Identifier: MIT
 *
 * The file of -M: a line per device, "NAME MAJOR,MINOR".
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "classic/btt_names.h"

#define NAME_BYTES 128 /* longer ones are cut */

struct btt_map {
	struct mapped {
		uint32_t device;
		char name[NAME_BYTES];
	} * list; /* owned array */
	size_t nr;
};

/* A line that says something else is skipped; the classic would read no further. */
static void take_line(struct btt_map *map, const char *line)
{
	struct mapped *m;
	unsigned int major, minor;
	char name[NAME_BYTES];

	if (sscanf(line, "%127s %u,%u", name, &major, &minor) != 3)
		return;
	map->list = mem_grow(map->list, map->nr, sizeof(*map->list));
	m = &map->list[map->nr++];
	m->device = DEVICE(major, minor);
	memcpy(m->name, name, sizeof(name));
}

struct btt_map *btt_map_read(const char *path, struct error *err)
{
	FILE *file = fopen(path, "r");
	struct btt_map *map;
	char *line = NULL;
	size_t size = 0;

	if (!file) {
		error_errno(err, errno, "%s", path);
		return NULL;
	}
	map = mem_zalloc(sizeof(*map));
	while (getline(&line, &size, file) > 0)
		take_line(map, line);
	if (ferror(file)) {
		error_errno(err, errno, "%s", path);
		btt_map_free(map);
		map = NULL;
	}
	free(line);
	fclose(file);
	return map;
}

void btt_map_free(struct btt_map *map)
{
	if (!map)
		return;
	free(map->list);
	free(map);
}

const char *btt_map_name(const struct btt_map *map, uint32_t device)
{
	for (size_t i = 0; map && i < map->nr; i++)
		if (map->list[i].device == device)
			return map->list[i].name;
	return NULL;
}
