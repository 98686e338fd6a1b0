/* SPDX-License-Identifier: MIT
 *
 * Numbers into text, fast: half a second of every ten million lines is this.
 */
#ifndef BLKLAB_CLASSIC_DIGITS_H
#define BLKLAB_CLASSIC_DIGITS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

extern const char digits_pairs[200]; /* "00" "01" .. "99", not terminated */

/* How many digits v has. */
static inline unsigned int digits_count(uint64_t v)
{
	unsigned int n = 1;

	for (; v >= 10000; v /= 10000)
		n += 4;
	return n + (v >= 10) + (v >= 100) + (v >= 1000);
}

/* v in exactly n digits at p (leading zeros); the end of them. */
static inline char *digits_fixed(char *p, uint64_t v, unsigned int n)
{
	char *end = p + n, *at = end;

	while (at - p >= 2) {
		at -= 2;
		memcpy(at, digits_pairs + 2 * (v % 100), 2);
		v /= 100;
	}
	if (at > p)
		*p = (char)('0' + v % 10);
	return end;
}

static inline char *digits(char *p, uint64_t v)
{
	return digits_fixed(p, v, digits_count(v));
}

/* Right-justified in at least `width`, filled with blanks. */
static inline char *digits_right(char *p, uint64_t v, unsigned int width)
{
	unsigned int n = digits_count(v);

	for (; width > n; width--)
		*p++ = ' ';
	return digits_fixed(p, v, n);
}

#endif
