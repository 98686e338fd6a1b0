// SPDX-License-Identifier: MIT
#include "cmd/load.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limit.h"
#include "base/mem.h"

void only_add(struct only *only, const char *name)
{
	only->names = mem_grow(only->names, only->nr, sizeof(*only->names));
	only->names[only->nr++] = name;
}

void only_release(struct only *only)
{
	free(only->names);
	*only = (struct only){ 0 };
}

/* Is it the label, or its end behind a slash or the archive's colon? */
static bool ends_with(const char *label, const char *name)
{
	size_t all = strlen(label), len = strlen(name);

	if (!len || len > all || strcmp(label + all - len, name))
		return false;
	return len == all || strchr("/:", label[all - len - 1]);
}

static size_t nr_ending_with(const struct inputs *inputs, const char *name)
{
	size_t nr = 0;

	for (size_t i = 0; i < inputs->nr; i++)
		nr += ends_with(inputs->list[i].label, name);
	return nr;
}

const char *member_name(const struct inputs *inputs, const char *label)
{
	for (const char *at = label + strlen(label); at > label; at--)
		if (strchr("/:", at[-1]) && nr_ending_with(inputs, at) == 1)
			return at;
	return label;
}

int load_check_twice(const struct facts *facts, const struct inputs *inputs, struct error *err)
{
	const struct device_twice *twice = &facts->twice;
	const char *a, *b;
	char hint[400] = "";

	if (!twice->found)
		return 0;
	a = facts->inputs[twice->first].path;
	b = facts->inputs[twice->second].path;
	if (inputs && strcmp(a, b))
		snprintf(hint, sizeof(hint), ", with --only %.100s and with --only %.100s",
			 member_name(inputs, a), member_name(inputs, b));
	return error_set(err,
			 "%.100s and %.100s are two recordings of device %u,%u: report them one by "
			 "one%s",
			 a, b, DEVICE_MAJOR(twice->device), DEVICE_MINOR(twice->device), hint);
}

/* What there is, or what of it ends with that name, as --only wants it. */
static void list_names(const struct inputs *inputs, const char *name, const char *comma, char *list,
		       size_t size)
{
	size_t at = 0;
	bool any = false;

	for (size_t i = 0; i < inputs->nr && at < size; i++) {
		const char *label = inputs->list[i].label;

		if (name && !ends_with(label, name))
			continue;
		at += (size_t)snprintf(list + at, size - at, "%s%s", any ? comma : "",
				       member_name(inputs, label));
		any = true;
	}
	if (at >= size)
		memcpy(list + size - 4, "...", 4);
}

/* Marks what --only NAME names: whatever has that label, else the one that ends with it. */
static int choose(const struct inputs *inputs, const char *name, bool *keep, struct error *err)
{
	size_t ends = nr_ending_with(inputs, name);
	char list[300] = "";
	bool whole = false;

	for (size_t i = 0; i < inputs->nr; i++)
		whole |= !strcmp(inputs->list[i].label, name);
	for (size_t i = 0; i < inputs->nr; i++)
		keep[i] |= whole ? !strcmp(inputs->list[i].label, name)
				 : ends_with(inputs->list[i].label, name);
	if (whole || ends == 1)
		return 0;
	list_names(inputs, ends ? name : NULL, ends ? " or " : ", ", list, sizeof(list));
	return ends ? error_usage(err, "--only: \"%.100s\" may be %s", name, list)
		    : error_usage(err, "--only: nothing is called \"%.100s\"; there is %s", name,
				  list);
}

/* Drops all but what --only names. */
static int keep_only(struct inputs *inputs, const struct only *only, struct error *err)
{
	bool *keep = mem_zalloc(inputs->nr + 1);
	size_t left = 0;

	for (size_t n = 0; n < only->nr; n++) {
		if (choose(inputs, only->names[n], keep, err) < 0) {
			free(keep);
			return -1;
		}
	}
	for (size_t i = 0; i < inputs->nr; i++) {
		if (keep[i])
			inputs->list[left++] = inputs->list[i];
		else
			input_release(&inputs->list[i]);
	}
	inputs->nr = left;
	free(keep);
	return 0;
}

int load_inputs(struct inputs *inputs, char **paths, int nr, const struct only *only,
		struct facts *facts, struct error *err)
{
	struct rlimit old_files;

	limit_raise_files(&old_files); /* there is a file per CPU */
	for (int i = 0; i < nr; i++)
		if (inputs_add(inputs, paths[i], err) < 0)
			return -1;
	for (size_t i = 0; i < inputs->nr_notes; i++)
		facts_note(facts, "%s", inputs->notes[i]);
	return only && only->nr ? keep_only(inputs, only, err) : 0;
}
