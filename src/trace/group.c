/* SPDX-License-Identifier: MIT */
#include "trace/group.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define NAME_PATTERN ".blktrace."

struct blob *group_blob(struct input *in, char *name)
{
	struct blob *blob;

	in->blobs = mem_grow(in->blobs, in->nr, sizeof(*in->blobs));
	blob = &in->blobs[in->nr++];
	*blob = (struct blob){ .name = name, .fd = -1 };
	return blob;
}

static int by_name(const void *a, const void *b)
{
	return strverscmp(((const struct blob *)a)->name, ((const struct blob *)b)->name);
}

void group_sort(struct input *in)
{
	if (in->nr)
		qsort(in->blobs, in->nr, sizeof(*in->blobs), by_name);
}

struct input *group_new(struct inputs *inputs, char *label, char *base)
{
	struct input *in;

	inputs->list = mem_grow(inputs->list, inputs->nr, sizeof(*inputs->list));
	in = &inputs->list[inputs->nr++];
	*in = (struct input){ .label = label, .base = base };
	return in;
}

struct input *group_find(struct inputs *inputs, const char *label)
{
	for (size_t i = 0; i < inputs->nr; i++) {
		if (!strcmp(inputs->list[i].label, label))
			return &inputs->list[i];
	}
	return NULL;
}

struct input *group_find_set(struct inputs *inputs, const char *label)
{
	for (size_t i = 0; i < inputs->nr; i++) {
		struct input *in = &inputs->list[i];

		if (!strcmp(in->label, label) && in->nr && set_base_len(in->blobs[0].name))
			return in;
	}
	return NULL;
}

void input_release(struct input *in)
{
	for (size_t i = 0; i < in->nr; i++)
		blob_release(&in->blobs[i]);
	free(in->blobs);
	free(in->label);
	free(in->base);
	*in = (struct input){ 0 };
}

void inputs_release(struct inputs *inputs)
{
	for (size_t i = 0; i < inputs->nr; i++)
		input_release(&inputs->list[i]);
	free(inputs->list);
	*inputs = (struct inputs){ 0 };
}

void input_memory(struct input *in, const char *label, const void *mem, size_t len)
{
	struct blob *blob;

	*in = (struct input){ .label = mem_strdup(label), .base = mem_strdup(label) };
	blob = group_blob(in, mem_strdup(label));
	blob->mem = mem ? mem : (const uint8_t *)"";
	blob->mem_len = mem ? len : 0;
}

struct blob *input_blob(const struct input *in, const char *name)
{
	for (size_t i = 0; i < in->nr; i++) {
		if (!strcmp(in->blobs[i].name, name))
			return &in->blobs[i];
	}
	return NULL;
}

void group_move(struct input *in, struct blob *blob, const char *name)
{
	struct blob *to = group_blob(in, mem_strdup(name));
	char *own = to->name;

	free(blob->name);
	*to = *blob;
	to->name = own;
	*blob = (struct blob){ .fd = -1 };
}

const char *path_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

size_t set_base_len(const char *name)
{
	size_t digits = strlen(name), pattern = strlen(NAME_PATTERN), end = digits;

	while (digits && isdigit((unsigned char)name[digits - 1]))
		digits--;
	if (digits == end || end - digits > 9 || digits <= pattern)
		return 0;
	if (memcmp(name + digits - pattern, NAME_PATTERN, pattern))
		return 0;
	return digits - pattern;
}

size_t set_packed_len(const char *name)
{
	static const char *const suffixes[] = {
		"gz", "xz", "zst", "bz2", "lz4", "lzma", "lz", "Z"
	};
	const char *dot = strrchr(name, '.');
	char *plain;
	size_t len = 0;

	for (size_t i = 0; dot && i < sizeof(suffixes) / sizeof(*suffixes); i++)
		if (!strcmp(dot + 1, suffixes[i]))
			len = (size_t)(dot - name);
	plain = mem_strndup(name, len);
	if (!set_base_len(plain))
		len = 0;
	free(plain);
	return len;
}

char *path_clean(const char *path)
{
	size_t len;

	while (path[0] == '.' && path[1] == '/') {
		path += 2;
		while (*path == '/')
			path++;
	}
	len = strlen(path);
	while (len > 1 && path[len - 1] == '/')
		len--;
	return len ? mem_strndup(path, len) : mem_strdup(".");
}
