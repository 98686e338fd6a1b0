/* SPDX-License-Identifier: MIT */
#include "trace/decode.h"

#include <errno.h>
#include <lzma.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/mem.h"
#include "trace/archive.h"

#define IN_BYTES    65536u
#define XZ_MEMORY   (UINT64_C(1) << 30) /* a dictionary may not need more */
#define WINDOW_GZIP (16 + MAX_WBITS)

enum kind {
	KIND_OTHER,
	KIND_GZIP,
	KIND_XZ,
	KIND_BZIP2,
	KIND_COMPRESS,
	KIND_ZSTD,
	KIND_LZ4,
	KIND_LZIP
};

struct decoder {
	enum kind kind;
	const char *label; /* borrowed */
	struct decode_input input;
	bool in_ended;  /* no more compressed bytes */
	bool ended;     /* no more bytes come out */
	bool between;   /* gzip: one member has ended, another may follow */
	bool failed;    /* told when what came before it was given */
	bool in_failed; /* the compressed bytes could not be read; in `why` */
	struct error why;
	z_stream gz;
	lzma_stream xz;
	struct libarchive lib;   /* of the other kinds */
	struct archive *archive; /* owned; of the other kinds */
	const uint8_t *block;    /* borrowed from archive: what is left of its last block */
	size_t block_left;
	uint8_t in[IN_BYTES];
};

static enum kind kind_of(const uint8_t *head, size_t len)
{
	static const struct {
		const char *magic;
		size_t len;
		enum kind kind;
	} magics[] = {
		{ "\x1f\x8b", 2, KIND_GZIP },
		{ "\x1f\x9d", 2, KIND_COMPRESS },
		{ "\xfd"
		  "7zXZ\0",
		  6, KIND_XZ },
		{ "\x28\xb5\x2f\xfd", 4, KIND_ZSTD },
		{ "\x04\x22\x4d\x18", 4, KIND_LZ4 },
		{ "LZIP", 4, KIND_LZIP },
	};

	for (size_t i = 0; i < sizeof(magics) / sizeof(*magics); i++) {
		if (len >= magics[i].len && !memcmp(head, magics[i].magic, magics[i].len))
			return magics[i].kind;
	}
	/* bzip2: the level, then a block or the end of the stream. */
	if (len >= 10 && !memcmp(head, "BZh", 3) && head[3] >= '1' && head[3] <= '9' &&
	    (!memcmp(head + 4, "1AY&SY", 6) || !memcmp(head + 4, "\x17rE8P\x90", 6)))
		return KIND_BZIP2;
	return KIND_OTHER;
}

bool decode_probe(const uint8_t *head, size_t len)
{
	return kind_of(head, len) != KIND_OTHER;
}

int decode_error(const char *label, const char *why, struct error *err)
{
	return error_set(err, "%s: cannot be unpacked, it is cut or damaged (%s)", label,
			 why ? why : "no reason given");
}

/* Fails, now or behind what has come out already. */
static void fail(struct decoder *d, const char *why)
{
	if (!d->in_failed)
		decode_error(d->label, why, &d->why);
	d->failed = true;
}

/* More compressed bytes into d->in; how many, 0 at the end or on failure. */
static size_t feed(struct decoder *d)
{
	ssize_t r;

	if (d->in_ended)
		return 0;
	r = d->input.read(d->input.arg, d->in, sizeof(d->in), &d->why);
	d->in_ended = r <= 0;
	d->in_failed = d->failed = r < 0;
	return r > 0 ? (size_t)r : 0;
}

/* Behind a member of a gzip file: true if another begins. Zeros (of tapes) may follow the last. */
static bool next_member(struct decoder *d)
{
	z_stream *z = &d->gz;

	while (z->avail_in && !*z->next_in) {
		z->next_in++;
		z->avail_in--;
	}
	if (!z->avail_in) {
		d->ended = d->in_ended;
		return false;
	}
	if (*z->next_in != 0x1f) {
		fail(d, "something else follows");
		return false;
	}
	d->between = false;
	inflateReset(z);
	return true;
}

static size_t gzip_some(struct decoder *d, void *buf, size_t n)
{
	z_stream *z = &d->gz;
	int r;

	z->next_out = buf;
	z->avail_out = (uInt)n;
	while (z->avail_out == n && !d->ended && !d->failed) {
		if (!z->avail_in) {
			z->avail_in = (uInt)feed(d);
			z->next_in = d->in;
		}
		if (d->failed || (d->between && !next_member(d)))
			continue;
		r = inflate(z, Z_NO_FLUSH);
		if (r == Z_STREAM_END)
			d->between = true;
		else if (r == Z_BUF_ERROR && d->in_ended)
			fail(d, "it ends too early");
		else if (r != Z_OK && r != Z_BUF_ERROR)
			fail(d, z->msg ? z->msg : "not gzip");
	}
	return n - z->avail_out;
}

static const char *xz_why(lzma_ret r)
{
	switch (r) {
	case LZMA_BUF_ERROR:
		return "it ends too early";
	case LZMA_MEMLIMIT_ERROR:
		return "it needs more than 1 GiB of memory";
	case LZMA_MEM_ERROR:
		return "out of memory";
	case LZMA_FORMAT_ERROR:
		return "not xz";
	case LZMA_OPTIONS_ERROR:
		return "an unknown kind of xz";
	default:
		return "its compressed data is corrupt";
	}
}

static size_t xz_some(struct decoder *d, void *buf, size_t n)
{
	lzma_stream *z = &d->xz;

	z->next_out = buf;
	z->avail_out = n;
	while (z->avail_out == n && !d->ended && !d->failed) {
		lzma_ret r;

		if (!z->avail_in) {
			z->avail_in = feed(d);
			z->next_in = d->in;
		}
		if (d->failed)
			break;
		r = lzma_code(z, d->in_ended ? LZMA_FINISH : LZMA_RUN);
		if (r == LZMA_STREAM_END)
			d->ended = true;
		else if (r != LZMA_OK)
			fail(d, xz_why(r));
	}
	return n - z->avail_out;
}

static size_t other_some(struct decoder *d, void *buf, size_t n)
{
	la_int64_t at;
	const void *bytes;

	while (!d->block_left && !d->ended && !d->failed) {
		int r = d->lib.archive_read_data_block(d->archive, &bytes, &d->block_left, &at);

		d->block = bytes;
		if (r == ARCHIVE_OK || r == ARCHIVE_WARN)
			continue;
		d->block_left = 0;
		d->ended = r == ARCHIVE_EOF;
		if (!d->ended)
			fail(d, d->lib.archive_error_string(d->archive));
	}
	if (n > d->block_left)
		n = d->block_left;
	if (!n)
		return 0; /* there may be no block at all */
	memcpy(buf, d->block, n);
	d->block += n;
	d->block_left -= n;
	return n;
}

ssize_t decoder_read(struct decoder *d, void *buf, size_t n, struct error *err)
{
	size_t got = 0;

	if (!d->failed && !d->ended && n) {
		if (d->kind == KIND_GZIP)
			got = gzip_some(d, buf, n);
		else if (d->kind == KIND_XZ)
			got = xz_some(d, buf, n);
		else
			got = other_some(d, buf, n);
	}
	if (got || !d->failed)
		return (ssize_t)got;
	*err = d->why;
	return -1;
}

static la_ssize_t archive_feed(struct archive *a, void *data, const void **bytes)
{
	struct decoder *d = data;
	size_t n = feed(d);

	if (d->in_failed) {
		d->lib.archive_set_error(a, EIO, "it cannot be read");
		return -1;
	}
	*bytes = d->in;
	return (la_ssize_t)n;
}

/* Only the one filter that the first bytes ask for: others would see filters in what comes out. */
static void add_filter(const struct decoder *d, struct archive *a)
{
	switch (d->kind) {
	case KIND_BZIP2:
		d->lib.archive_read_support_filter_bzip2(a);
		break;
	case KIND_COMPRESS:
		d->lib.archive_read_support_filter_compress(a);
		break;
	case KIND_ZSTD:
		d->lib.archive_read_support_filter_zstd(a);
		break;
	case KIND_LZ4:
		d->lib.archive_read_support_filter_lz4(a);
		break;
	case KIND_LZIP:
		d->lib.archive_read_support_filter_lzip(a);
		break;
	default:
		d->lib.archive_read_support_filter_lzma(a);
		break;
	}
}

static void open_other(struct decoder *d)
{
	struct archive_entry *entry;
	struct archive *a;
	int r;

	if (libarchive_load(&d->lib, d->label, &d->why) < 0) {
		d->failed = true;
		return;
	}
	a = d->lib.archive_read_new();
	if (!a) {
		fail(d, "out of memory");
		return;
	}
	d->archive = a;
	add_filter(d, a);
	d->lib.archive_read_support_format_raw(a);
	d->lib.archive_read_support_format_empty(a);
	r = d->lib.archive_read_open(a, d, NULL, archive_feed, NULL);
	if (r == ARCHIVE_OK)
		r = d->lib.archive_read_next_header(a, &entry);
	if (r == ARCHIVE_EOF)
		d->ended = true;
	else if (r != ARCHIVE_OK && r != ARCHIVE_WARN)
		fail(d, d->lib.archive_error_string(a));
}

struct decoder *decoder_new(const uint8_t *head, size_t len, const struct decode_input *input,
			    const char *label)
{
	struct decoder *d = mem_zalloc(sizeof(*d));

	d->kind = kind_of(head, len);
	d->label = label;
	d->input = *input;
	d->xz = (lzma_stream)LZMA_STREAM_INIT;
	if (d->kind == KIND_GZIP) {
		if (inflateInit2(&d->gz, WINDOW_GZIP) != Z_OK)
			fail(d, "out of memory");
	} else if (d->kind == KIND_XZ) {
		if (lzma_stream_decoder(&d->xz, XZ_MEMORY, LZMA_CONCATENATED) != LZMA_OK)
			fail(d, "out of memory");
	} else {
		open_other(d);
	}
	return d;
}

void decoder_free(struct decoder *d)
{
	if (!d)
		return;
	if (d->kind == KIND_GZIP)
		inflateEnd(&d->gz);
	lzma_end(&d->xz);
	if (d->archive)
		d->lib.archive_read_free(d->archive);
	free(d);
}
