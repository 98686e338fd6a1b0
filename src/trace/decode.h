/* SPDX-License-Identifier: MIT
 *
 * Decompression, told by the first bytes: gzip by zlib and xz by liblzma, which give all that can be
 * had of a file that is cut; the others by libarchive, which keeps up to 128 KiB before the damage to
 * itself (nothing of note: zstd, lz4 and bzip2 have blocks of that size or more).
 */
#ifndef BLKLAB_TRACE_DECODE_H
#define BLKLAB_TRACE_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

#define DECODE_LOOK 16u /* bytes that tell what it is */

/* Is it compressed? What has no magic (.lzma) is not known here, but can be decoded. */
bool decode_probe(const uint8_t *head, size_t len);

/* Where compressed bytes come from: up to n of them, 0 at the end, -1 with err. */
struct decode_input {
	ssize_t (*read)(void *arg, void *buf, size_t n, struct error *err);
	void *arg;
};

struct decoder;

/* Begins; `head` are the first bytes, which `input` gives again. `label` (borrowed) is for messages.
 * Never NULL: what cannot be decoded says so when it is read. */
struct decoder *decoder_new(const uint8_t *head, size_t len, const struct decode_input *input,
			    const char *label);
/* Up to n bytes, as soon as there are any: >0, 0 at the end, -1 with err. */
ssize_t decoder_read(struct decoder *d, void *buf, size_t n, struct error *err);
void decoder_free(struct decoder *d); /* NULL is none */

/* Fills err: "LABEL: cannot be unpacked, it is cut or damaged (WHY)". Always -1. */
int decode_error(const char *label, const char *why, struct error *err);

#endif
