/* SPDX-License-Identifier: MIT */
#include "trace/group.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "trace/spool.h"

#define NAME_PATTERN ".blktrace."

/* A label in use: of the group at that place in the list, or of an archive. */
struct label {
	struct hnode node;
	size_t at;  /* SIZE_MAX = an archive */
	char *text; /* owned */
};

struct index {
	struct hash hash;
	struct slab slab;
};

struct blob *group_blob(struct input *in, char *name)
{
	struct blob *blob;

	in->blobs = mem_grow(in->blobs, in->nr, sizeof(*in->blobs));
	blob = &in->blobs[in->nr++];
	*blob = (struct blob){ .name = name, .fd = -1 };
	return blob;
}

/* Of equal names in an archive, the earlier member first. */
static int by_name(const void *a, const void *b)
{
	const struct blob *x = a, *y = b;
	int r = strverscmp(x->name, y->name);

	return r ? r : (x->spool_from > y->spool_from) - (x->spool_from < y->spool_from);
}

void group_sort(struct input *in)
{
	if (in->nr)
		qsort(in->blobs, in->nr, sizeof(*in->blobs), by_name);
}

/* FNV-1a */
static uint64_t hash_of(const char *text)
{
	uint64_t h = 0xcbf29ce484222325u;

	for (; *text; text++)
		h = (h ^ (uint8_t)*text) * 0x100000001b3u;
	return h;
}

static void label_add(struct inputs *inputs, const char *text, size_t at)
{
	struct label *label;

	if (!inputs->index) {
		inputs->index = mem_zalloc(sizeof(*inputs->index));
		hash_init(&inputs->index->hash);
		slab_init(&inputs->index->slab, sizeof(*label));
	}
	label = slab_get(&inputs->index->slab);
	label->at = at;
	label->text = mem_strdup(text);
	hash_add(&inputs->index->hash, &label->node, hash_of(text));
}

static void index_free(struct index *index)
{
	struct hash_walk walk = { 0 };
	struct hnode *node;

	if (!index)
		return;
	while ((node = hash_walk(&index->hash, &walk)))
		free(container_of(node, struct label, node)->text);
	hash_release(&index->hash);
	slab_release(&index->slab);
	free(index);
}

struct input *group_new(struct inputs *inputs, char *label, char *base)
{
	struct input *in;

	label_add(inputs, label, inputs->nr);
	inputs->list = mem_grow(inputs->list, inputs->nr, sizeof(*inputs->list));
	in = &inputs->list[inputs->nr++];
	*in = (struct input){ .label = label, .base = base };
	return in;
}

static bool is_set(const struct input *in)
{
	return in->nr && set_base_len(in->blobs[0].name);
}

enum want { WANT_ANY, WANT_SET, WANT_ARCHIVE };

static struct label *label_find(struct inputs *inputs, const char *text, enum want want)
{
	struct hnode *node = inputs->index ? hash_find(&inputs->index->hash, hash_of(text)) : NULL;

	for (; node; node = hash_next(node)) {
		struct label *label = container_of(node, struct label, node);
		bool archive = label->at == SIZE_MAX;

		if (archive != (want == WANT_ARCHIVE) || strcmp(label->text, text) ||
		    (!archive && label->at >= inputs->nr))
			continue;
		if (want != WANT_SET || is_set(&inputs->list[label->at]))
			return label;
	}
	return NULL;
}

static struct input *find(struct inputs *inputs, const char *text, enum want want)
{
	const struct label *label = label_find(inputs, text, want);

	return label ? &inputs->list[label->at] : NULL;
}

struct input *group_find(struct inputs *inputs, const char *label)
{
	return find(inputs, label, WANT_ANY);
}

struct input *group_find_set(struct inputs *inputs, const char *label)
{
	return find(inputs, label, WANT_SET);
}

bool group_seen(struct inputs *inputs, const char *label)
{
	bool seen = label_find(inputs, label, WANT_ARCHIVE) != NULL;

	if (!seen)
		label_add(inputs, label, SIZE_MAX);
	return seen;
}

void inputs_note(struct inputs *inputs, char *note)
{
	inputs->notes = mem_grow(inputs->notes, inputs->nr_notes, sizeof(*inputs->notes));
	inputs->notes[inputs->nr_notes++] = note;
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
	for (size_t i = 0; i < inputs->nr_notes; i++)
		free(inputs->notes[i]);
	free(inputs->notes);
	free(inputs->list);
	index_free(inputs->index);
	spool_put(inputs->spool);
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

size_t set_member_len(const char *name)
{
	size_t plain = set_packed_len(name);
	char *unpacked = plain ? mem_strndup(name, plain) : NULL;
	size_t len = set_base_len(unpacked ? unpacked : name);

	free(unpacked);
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
