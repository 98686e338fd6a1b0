/* SPDX-License-Identifier: MIT
 *
 * A cursor over untrusted bytes. Reading past the end sets `bad`, returns 0 and moves nothing; check
 * once after a group of reads. No struct is ever laid over file bytes.
 */
#ifndef BLKLAB_BASE_BYTES_H
#define BLKLAB_BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct cursor {
	const uint8_t *at, *end; /* borrowed */
	bool swap;               /* the bytes are in the other byte order than the host */
	bool bad;                /* something was asked for that is not there; sticky */
};

static inline struct cursor cursor_over(const void *bytes, size_t len, bool swap)
{
	const uint8_t *at = bytes;

	return (struct cursor){ .at = at, .end = at + len, .swap = swap };
}

static inline size_t cursor_left(const struct cursor *c)
{
	return (size_t)(c->end - c->at);
}

/* Borrows n bytes and moves on, or NULL. */
static inline const uint8_t *cursor_take(struct cursor *c, size_t n)
{
	const uint8_t *at = c->at;

	if (c->bad || cursor_left(c) < n) {
		c->bad = true;
		return NULL;
	}
	c->at += n;
	return at;
}

/* Integers at any alignment, in host order or swapped. */
static inline uint16_t bytes_u16(const void *p, bool swap)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return swap ? __builtin_bswap16(v) : v;
}

static inline uint32_t bytes_u32(const void *p, bool swap)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return swap ? __builtin_bswap32(v) : v;
}

static inline uint64_t bytes_u64(const void *p, bool swap)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return swap ? __builtin_bswap64(v) : v;
}

static inline uint32_t bytes_be32(const void *p)
{
	return bytes_u32(p, __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
}

static inline uint64_t bytes_be64(const void *p)
{
	return bytes_u64(p, __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
}

static inline uint32_t cursor_u32(struct cursor *c)
{
	const uint8_t *p = cursor_take(c, 4);

	return p ? bytes_u32(p, c->swap) : 0;
}

static inline uint64_t cursor_u64(struct cursor *c)
{
	const uint8_t *p = cursor_take(c, 8);

	return p ? bytes_u64(p, c->swap) : 0;
}

#endif
