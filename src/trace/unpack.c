/* SPDX-License-Identifier: MIT
 *
 * Archives and compressed files: unpacked to a temporary file that has no name.
 */
#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "trace/group.h"

#define TAR_BLOCK   512u
#define SPOOL_MAX   (64ull << 30) /* bytes that one archive may unpack to */
#define SPOOL_CHUNK 65536u

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

bool packed_probe(const uint8_t *head, size_t len)
{
	static const struct {
		const char *magic;
		size_t len;
	} magics[] = {
		{ "\x1f\x8b", 2 }, /* gzip */
		{ "\x1f\x9d", 2 }, /* compress */
		{ "\xfd"
		  "7zXZ\0",
		  6 },                     /* xz */
		{ "\x28\xb5\x2f\xfd", 4 }, /* zstd */
		{ "\x04\x22\x4d\x18", 4 }, /* lz4 */
		{ "LZIP", 4 },
		{ "PK\003\004", 4 }, /* zip */
	};

	for (size_t i = 0; i < sizeof(magics) / sizeof(*magics); i++) {
		if (len >= magics[i].len && !memcmp(head, magics[i].magic, magics[i].len))
			return true;
	}
	/* bzip2: the level, then a block or the end of the stream. */
	if (len >= 10 && !memcmp(head, "BZh", 3) && head[3] >= '1' && head[3] <= '9')
		return !memcmp(head + 4, "1AY&SY", 6) || !memcmp(head + 4, "\x17rE8P\x90", 6);
	return is_tar(head, len);
}

static struct spool *spool_new(const char *label, struct error *err)
{
	const char *dir = getenv("TMPDIR");
	struct spool *spool;
	int fd;

	if (!dir || !*dir)
		dir = "/tmp";
	fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC | O_EXCL, 0600);
	if (fd < 0) {
		char *name = mem_printf("%s/blklab-XXXXXX", dir);

		fd = mkostemp(name, O_CLOEXEC);
		if (fd >= 0)
			unlink(name);
		free(name);
	}
	if (fd < 0) {
		error_errno(err, errno, "%s: cannot be unpacked to %s", label, dir);
		return NULL;
	}
	spool = mem_zalloc(sizeof(*spool));
	*spool = (struct spool){ .fd = fd, .refs = 1, .dir = mem_strdup(dir) };
	return spool;
}

static int spool_write(struct spool *spool, const void *bytes, size_t n, const char *label,
		       struct error *err)
{
	const char *at = bytes;

	if (n > SPOOL_MAX - spool->size)
		return error_set(err, "%s: unpacks to more than %llu GiB", label, SPOOL_MAX >> 30);
	while (n) {
		ssize_t r = write(spool->fd, at, n);

		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0)
			return error_errno(
				err, errno,
				"%s: cannot be unpacked to %s (set TMPDIR to a roomier place)",
				label, spool->dir);
		at += r;
		n -= (size_t)r;
		spool->size += (uint64_t)r;
	}
	return 0;
}

/* Where libarchive gets its bytes from: a blob, so that standard input works too. */
struct packed {
	struct blob *blob;
	struct error *err;
	uint8_t buf[SPOOL_CHUNK];
};

static la_ssize_t packed_read(struct archive *a, void *data, const void **bytes)
{
	struct packed *packed = data;

	*bytes = packed->buf;
	return blob_read(packed->blob, packed->buf, sizeof(packed->buf), packed->err);
}

static int unpack_error(struct archive *a, const char *label, struct error *err)
{
	const char *why = archive_error_string(a);

	return error_set(err, "%s: cannot be unpacked, it is cut or damaged (%s)", label,
			 why ? why : "no reason given");
}

static struct archive *archive_open(struct packed *packed, const char *label, struct error *err)
{
	struct archive *a = archive_read_new();

	if (!a) {
		error_set(err, "%s: out of memory", label);
		return NULL;
	}
	archive_read_support_filter_gzip(a);
	archive_read_support_filter_bzip2(a);
	archive_read_support_filter_compress(a);
	archive_read_support_filter_xz(a);
	archive_read_support_filter_lzma(a);
	archive_read_support_filter_lzip(a);
	archive_read_support_filter_zstd(a);
	archive_read_support_filter_lz4(a);
	archive_read_support_format_tar(a);
	archive_read_support_format_zip(a);
	archive_read_support_format_raw(a);
	archive_read_support_format_empty(a);
	if (archive_read_open(a, packed, NULL, packed_read, NULL) != ARCHIVE_OK) {
		unpack_error(a, label, err);
		archive_read_free(a);
		return NULL;
	}
	return a;
}

/* The name of the only member of a compressed file: its own without the last suffix; owned. */
static char *raw_name(const char *label)
{
	const char *name = path_base_name(label);
	const char *dot = strrchr(name, '.');

	return dot > name ? mem_strndup(name, (size_t)(dot - name)) : mem_strdup(name);
}

static int spool_member(struct archive *a, struct spool *spool, const char *label,
			struct error *err)
{
	const void *bytes;
	la_int64_t at;
	size_t n;
	uint64_t start = spool->size;
	int r;

	while ((r = archive_read_data_block(a, &bytes, &n, &at)) == ARCHIVE_OK) {
		static const char zeros[4096];

		/* A sparse member's holes. */
		while (at > 0 && (uint64_t)at > spool->size - start) {
			uint64_t hole = (uint64_t)at - (spool->size - start);

			if (spool_write(spool, zeros, hole < sizeof(zeros) ? hole : sizeof(zeros),
					label, err))
				return -1;
		}
		if (spool_write(spool, bytes, n, label, err))
			return -1;
	}
	if (r != ARCHIVE_EOF)
		return unpack_error(a, label, err);
	return 0;
}

/* Unpacks every regular member into `all`, a group that holds them flat by their names. */
static int spool_members(struct archive *a, struct input *all, struct spool *spool,
			 const char *label, struct error *err)
{
	struct archive_entry *entry;
	int r;

	while ((r = archive_read_next_header(a, &entry)) == ARCHIVE_OK || r == ARCHIVE_WARN) {
		bool raw = (archive_format(a) & ARCHIVE_FORMAT_BASE_MASK) == ARCHIVE_FORMAT_RAW;
		const char *name = archive_entry_pathname(entry);
		struct blob *blob;

		if (!raw && (archive_entry_filetype(entry) != AE_IFREG || !name || !*name ||
			     archive_entry_hardlink(entry)))
			continue;
		if (all->nr == BLOBS_MAX)
			return error_set(err, "%s: holds more than %u files", label, BLOBS_MAX);
		blob = group_blob(all, raw ? raw_name(label) : path_clean(name));
		blob->spool = spool;
		spool->refs++;
		blob->spool_at = spool->size;
		if (spool_member(a, spool, label, err))
			return -1;
		blob->spool_end = spool->size;
	}
	if (r != ARCHIVE_EOF)
		return unpack_error(a, label, err);
	return 0;
}

/* "DIR/" of a trace directory: each DIR/meta.json takes everything below DIR. */
static void take_trace_dirs(struct inputs *inputs, struct input *all, const char *label)
{
	static const char meta[] = "meta.json";

	for (size_t i = 0; i < all->nr; i++) {
		const char *name = all->blobs[i].name;
		size_t len;
		char *dir;
		struct input *in;

		if (!name || strcmp(path_base_name(name), meta))
			continue;
		len = strlen(name) - strlen(meta);
		dir = mem_strndup(name, len);
		in = group_new(inputs,
			       len ? mem_printf("%s:%.*s", label, (int)len - 1, dir)
				   : mem_strdup(label),
			       mem_strdup(path_base_name(label)));
		for (size_t j = 0; j < all->nr; j++) {
			struct blob *blob = &all->blobs[j];

			if (blob->name && !strncmp(blob->name, dir, len))
				group_move(in, blob, blob->name + len);
		}
		group_sort(in);
		free(dir);
	}
}

/* The rest: sets of per-CPU files, everything else alone. A compressed per-CPU file has its set
 * beside it under the same label. */
static void take_members(struct inputs *inputs, struct input *all, const char *label, bool raw)
{
	for (size_t i = 0; i < all->nr; i++) {
		struct blob *blob = &all->blobs[i];
		const char *name, *last;
		size_t len;
		struct input *in;
		char *group;

		if (!blob->name)
			continue;
		name = blob->name;
		last = path_base_name(name);
		len = set_base_len(last);
		if (raw)
			group = len ? mem_printf("%.*s%.*s", (int)(path_base_name(label) - label),
						 label, (int)len, last)
				    : mem_strdup(label);
		else
			group = mem_printf("%s:%.*s%.*s", label, (int)(last - name), name,
					   (int)(len ? len : strlen(last)), last);
		in = len ? group_find_set(inputs, group) : group_find(inputs, group);
		if (!in)
			in = group_new(inputs, mem_strdup(group),
				       len ? mem_strndup(last, len) : mem_strdup(last));
		if (!input_blob(in, last))
			group_move(in, blob, last);
		group_sort(in);
		free(group);
	}
}

/* Unpacks what the blob holds. */
int packed_add(struct inputs *inputs, struct blob *blob, const char *label, struct error *err)
{
	struct spool *spool = spool_new(label, err);
	struct packed *packed = mem_zalloc(sizeof(*packed));
	struct input all = { 0 };
	struct archive *a = NULL;
	bool raw;
	int r = -1;

	packed->blob = blob;
	packed->err = err;
	if (spool)
		a = archive_open(packed, label, err);
	if (!a)
		goto out;
	r = spool_members(a, &all, spool, label, err);
	raw = (archive_format(a) & ARCHIVE_FORMAT_BASE_MASK) == ARCHIVE_FORMAT_RAW;
	if (!r && !all.nr)
		r = error_set(err, "%s: an archive without files", label);
	if (!r) {
		group_sort(&all);
		take_trace_dirs(inputs, &all, label);
		take_members(inputs, &all, label, raw);
	}
	archive_read_free(a);
out:
	input_release(&all);
	spool_put(spool);
	free(packed);
	return r;
}
