/* SPDX-License-Identifier: MIT
 *
 * What is compressed or an archive, in any nesting: a stream over each compression, then the groups of
 * the archive (unpack.c) or one group.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "trace/decode.h"
#include "trace/group.h"
#include "trace/spool.h"
#include "trace/stream.h"

#define TAR_BLOCK  512u
#define DEPTH_MAX  6 /* compressions and archives in one another */
#define COPY_BYTES 65536u

/* POSIX and GNU have a magic; older ones are told by their header's checksum. */
static bool is_tar(const uint8_t *head, size_t len)
{
	unsigned long sum = 0, told;
	char text[9] = { 0 };
	char *end;

	if (len < TAR_BLOCK || !head[0])
		return false;
	memcpy(text, head + 148, 8);
	told = strtoul(text, &end, 8);
	if (end == text)
		return false;
	for (size_t i = 0; i < TAR_BLOCK; i++)
		sum += i >= 148 && i < 156 ? ' ' : head[i];
	return sum == told;
}

static bool is_archive(const uint8_t *head, size_t len)
{
	return (len >= 4 && !memcmp(head, "PK\003\004", 4)) || is_tar(head, len);
}

bool packed_probe(const uint8_t *head, size_t len)
{
	return decode_probe(head, len) || is_archive(head, len);
}

/* The name of what is in it: without the suffix of a compression; owned. */
static char *inner_name(const char *name)
{
	static const char *const suffixes[] = { ".gz",  ".xz",   ".zst", ".bz2",
						".lz4", ".lzma", ".lz",  ".Z" };
	const char *dot = strrchr(name, '.');

	for (size_t i = 0; dot && dot > name && i < sizeof(suffixes) / sizeof(*suffixes); i++)
		if (!strcmp(dot, suffixes[i]))
			return mem_strndup(name, (size_t)(dot - name));
	return mem_strdup(name);
}

void blob_unpack(struct blob *blob, const char *label)
{
	char *name = inner_name(blob->name);
	struct stream *stream = stream_new(blob, label);

	*blob = (struct blob){ .name = name, .fd = -1, .stream = stream };
}

int packed_spool(struct inputs *inputs, struct blob *blob, const char *label, struct error *err)
{
	struct blob out = { .name = mem_strdup(blob->name), .fd = -1 };
	uint8_t *buf = mem_resize(NULL, COPY_BYTES, 1);
	struct error why = { 0 };
	ssize_t n;
	int r = 0;

	if (!inputs->spool)
		inputs->spool = spool_new();
	out.spool = spool_get(inputs->spool);
	out.spool_from = out.spool_at = spool_size(out.spool);
	while (!r && (n = blob_read(blob, buf, COPY_BYTES, &why)) > 0)
		r = spool_append(out.spool, buf, (uint64_t)n, label, err);
	out.spool_end = spool_size(out.spool);
	if (!r && n < 0) {
		out.late = mem_zalloc(sizeof(*out.late));
		*out.late = why;
	}
	free(buf);
	blob_release(blob);
	*blob = out;
	return r;
}

/* A file of a per-CPU set has its set beside it under the same label. There may be one thread for each
 * of hundreds of CPUs if they were streams, so they are not. */
static int add_member(struct inputs *inputs, struct blob *blob, const char *label, size_t base_len,
		      struct error *err)
{
	const char *name = blob->name;
	char *group = mem_printf("%.*s%.*s", (int)(path_base_name(label) - label), label,
				 (int)base_len, name);
	struct input *in = group_find_set(inputs, group);
	int r = 0;

	if (!in || !input_blob(in, name))
		r = packed_spool(inputs, blob, label, err);
	if (!r) {
		if (!in)
			in = group_new(inputs, mem_strdup(group),
				       mem_strndup(blob->name, base_len));
		if (!input_blob(in, blob->name))
			group_move(in, blob, blob->name);
	}
	free(group);
	return r;
}

int packed_add_at(struct inputs *inputs, struct blob *blob, const char *label, bool reopen,
		  int depth, struct error *err)
{
	struct error ignored = { 0 };
	struct input *in;
	size_t base_len;

	for (; depth < DEPTH_MAX; depth++) {
		const uint8_t *head;
		size_t len = blob_head(blob, TAR_BLOCK, &head, &ignored);

		if (is_archive(head, len))
			return archive_add(inputs, blob, label, depth + 1, err);
		if (!decode_probe(head, len) && (depth || !set_packed_len(blob->name)))
			break;
		blob_unpack(blob, label);
	}
	base_len = depth ? set_base_len(blob->name) : 0;
	if (base_len)
		return add_member(inputs, blob, label, base_len, err);
	if (reopen)
		blob_rewind(blob);
	in = group_new(inputs, mem_strdup(label), mem_strdup(blob->name));
	group_move(in, blob, in->base);
	return 0;
}

int packed_add(struct inputs *inputs, struct blob *blob, const char *label, bool reopen,
	       struct error *err)
{
	return packed_add_at(inputs, blob, label, reopen, 0, err);
}
