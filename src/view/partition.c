// SPDX-License-Identifier: MIT
/* Disks of which only partitions were recorded: the I/O of the others is not in the trace. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "view/tree.h"

static json_t *one_partition(const json_t *meta)
{
	static const char *const texts[] = { "device", "name" };
	static const char *const numbers[] = { "start_sector", "sectors" };
	json_t *obj = json_object();

	for (int i = 0; i < 2; i++) {
		const char *text = tree_str(meta, texts[i]);

		tree_text(obj, texts[i], text ? text : "?");
	}
	for (int i = 0; i < 2; i++)
		tree_count(obj, numbers[i], tree_u64(meta, numbers[i]));
	return obj;
}

json_t *device_partitions(const struct facts *facts, uint32_t device)
{
	const json_t *devices = tree_at(facts->meta, "devices");
	json_t *list = json_array(), *entry;
	bool whole = false;
	char number[24];
	size_t i;

	snprintf(number, sizeof(number), "%u,%u", DEVICE_MAJOR(device), DEVICE_MINOR(device));
	json_array_foreach((json_t *)devices, i, entry)
	{
		const json_t *partition = tree_at(entry, "partition");
		const char *text = tree_str(entry, "device");

		if (!text || strcmp(text, number))
			continue;
		whole |= !json_is_object(partition);
		if (!whole)
			json_array_append_new(list, one_partition(partition));
	}
	if (!whole && json_array_size(list))
		return list;
	json_decref(list);
	return NULL;
}

char *partition_words(const json_t *partitions)
{
	size_t nr = json_array_size(partitions), i;
	char *text = mem_strdup(nr == 1 ? "its partition" : "its partitions");
	json_t *entry;

	json_array_foreach((json_t *)partitions, i, entry)
	{
		const char *between = !i ? " " : i + 1 == nr ? " and " : ", ";
		char *longer = mem_printf("%s%s%s", text, between, tree_str(entry, "name"));

		free(text);
		text = longer;
	}
	return text;
}
