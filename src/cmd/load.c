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

const char *member_name(const char *label)
{
	const char *colon = strrchr(label, ':'), *slash = strrchr(label, '/');

	if (colon && (!slash || colon > slash))
		return colon + 1;
	return slash ? slash + 1 : label;
}

int load_check_twice(const struct facts *facts, bool *several, struct error *err)
{
	const struct device_twice *twice = &facts->twice;
	const char *a, *b, *member_a, *member_b;
	char hint[400] = "";

	if (!twice->found)
		return 0;
	a = facts->inputs[twice->first].path;
	b = facts->inputs[twice->second].path;
	member_a = member_name(a);
	member_b = member_name(b);
	if (member_a > a && member_a - a == member_b - b &&
	    !strncmp(a, b, (size_t)(member_a - a)) && strcmp(member_a, member_b)) {
		if (several)
			*several = true;
		snprintf(hint, sizeof(hint), ", with --only %.100s and with --only %.100s",
			 member_a, member_b);
	}
	return error_set(err,
			 "%.100s and %.100s are two recordings of device %u,%u: report them one by "
			 "one%s",
			 a, b, DEVICE_MAJOR(twice->device), DEVICE_MINOR(twice->device), hint);
}

static bool is_called(const struct input *in, const char *name)
{
	const char *colon = strrchr(in->label, ':');

	return !strcmp(in->label, name) || !strcmp(member_name(in->label), name) ||
	       (colon && !strcmp(colon + 1, name));
}

static int no_such_member(const struct inputs *inputs, const char *name, struct error *err)
{
	char list[300] = "";
	size_t at = 0;

	for (size_t i = 0; i < inputs->nr && at < sizeof(list); i++)
		at += (size_t)snprintf(list + at, sizeof(list) - at, "%s%s", i ? ", " : "",
				       member_name(inputs->list[i].label));
	return error_usage(err, "--only: nothing is called \"%.100s\"; there is %s%s", name, list,
			   at < sizeof(list) ? "" : "...");
}

/* Drops all but what --only names. */
static int keep_only(struct inputs *inputs, const struct only *only, struct error *err)
{
	bool *keep = mem_zalloc(inputs->nr + 1);
	size_t left = 0;

	for (size_t n = 0; n < only->nr; n++) {
		bool found = false;

		for (size_t i = 0; i < inputs->nr; i++) {
			bool is = is_called(&inputs->list[i], only->names[n]);

			keep[i] |= is;
			found |= is;
		}
		if (!found) {
			free(keep);
			return no_such_member(inputs, only->names[n], err);
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
		struct error *err)
{
	struct rlimit old_files;

	limit_raise_files(&old_files); /* there is a file per CPU */
	for (int i = 0; i < nr; i++)
		if (inputs_add(inputs, paths[i], err) < 0)
			return -1;
	return only && only->nr ? keep_only(inputs, only, err) : 0;
}
