/* SPDX-License-Identifier: MIT
 *
 * A cursor over the words and numbers of a line. Every step returns whether it was made; where it was not,
 * nothing moved. Numbers that overflow are refused. No locale.
 */
#ifndef BLKLAB_READ_TEXT_TEXT_SCAN_H
#define BLKLAB_READ_TEXT_TEXT_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct scan {
	const char *at, *end; /* borrowed */
};

static inline struct scan scan_over(const char *s, size_t len)
{
	return (struct scan){ s, s + len };
}

static inline bool scan_is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static inline bool scan_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static inline bool scan_is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static inline size_t scan_left(const struct scan *s)
{
	return (size_t)(s->end - s->at);
}

static inline bool scan_end(const struct scan *s)
{
	return s->at == s->end;
}

static inline void scan_blanks(struct scan *s)
{
	while (s->at < s->end && scan_is_blank(*s->at))
		s->at++;
}

static inline bool scan_char(struct scan *s, char c)
{
	if (s->at == s->end || *s->at != c)
		return false;
	s->at++;
	return true;
}

static inline bool scan_text(struct scan *s, const char *text)
{
	size_t len = strlen(text);

	if (scan_left(s) < len || memcmp(s->at, text, len))
		return false;
	s->at += len;
	return true;
}

static inline bool scan_u64(struct scan *s, uint64_t *value)
{
	const char *p = s->at;
	uint64_t n = 0;

	for (; p < s->end && scan_is_digit(*p); p++) {
		uint64_t digit = (uint64_t)(*p - '0');

		if (n > (UINT64_MAX - digit) / 10)
			return false;
		n = n * 10 + digit;
	}
	if (p == s->at)
		return false;
	s->at = p;
	*value = n;
	return true;
}

/* No more than max. */
static inline bool scan_u32(struct scan *s, uint32_t max, uint32_t *value)
{
	const char *before = s->at;
	uint64_t n;

	if (!scan_u64(s, &n))
		return false;
	if (n > max) {
		s->at = before;
		return false;
	}
	*value = (uint32_t)n;
	return true;
}

static inline bool scan_i64(struct scan *s, int64_t *value)
{
	const char *before = s->at;
	bool negative = scan_char(s, '-');
	uint64_t n;

	if (!scan_u64(s, &n) || n > INT64_MAX) {
		s->at = before;
		return false;
	}
	*value = negative ? -(int64_t)n : (int64_t)n;
	return true;
}

/* "8,0" to a device number; the mark stands between the two. (4095 is DEVICE_NAMED_MAJOR.) */
static inline bool scan_device(struct scan *s, char mark, uint32_t *device)
{
	const char *before = s->at;
	uint32_t major, minor;

	if (!scan_u32(s, 4094, &major) || !scan_char(s, mark) || !scan_u32(s, 0xfffff, &minor)) {
		s->at = before;
		return false;
	}
	*device = major << 20 | minor;
	return true;
}

/* A number with at most 18 digits behind its point, in units of 10^-digits; digits = how many there
 * were. "12" has none. */
static inline bool scan_decimal(struct scan *s, uint64_t *value, unsigned int *digits)
{
	const char *before = s->at;
	uint64_t n;

	*digits = 0;
	if (!scan_u64(s, &n))
		return false;
	if (s->at + 1 < s->end && *s->at == '.' && scan_is_digit(s->at[1])) {
		for (s->at++; s->at < s->end && scan_is_digit(*s->at); s->at++) {
			uint64_t digit = (uint64_t)(*s->at - '0');

			if (++*digits > 18 || n > (UINT64_MAX - digit) / 10) {
				s->at = before;
				return false;
			}
			n = n * 10 + digit;
		}
	}
	*value = n;
	return true;
}

static inline uint64_t scan_power_of_10(unsigned int n)
{
	uint64_t p = 1;

	while (n--)
		p *= 10;
	return p;
}

/* A decimal in units of 10^unit ns ("0.74" ms: unit 6) to ns, digits beyond that are cut. The finest step
 * that is printed goes to *step_ns. No more than INT64_MAX ns. */
static inline bool scan_time(struct scan *s, unsigned int unit, uint64_t *ns, uint64_t *step_ns)
{
	const char *before = s->at;
	unsigned int digits;
	uint64_t value, factor;

	if (!scan_decimal(s, &value, &digits))
		return false;
	if (digits > unit) {
		value /= scan_power_of_10(digits - unit);
		digits = unit;
	}
	factor = scan_power_of_10(unit - digits);
	if (value > INT64_MAX / factor) {
		s->at = before;
		return false;
	}
	*ns = value * factor;
	*step_ns = factor;
	return true;
}

/* The next word; it ends at a blank. */
static inline bool scan_word(struct scan *s, const char **word, size_t *len)
{
	const char *p;

	scan_blanks(s);
	for (p = s->at; p < s->end && !scan_is_blank(*p); p++)
		;
	if (p == s->at)
		return false;
	*word = s->at;
	*len = (size_t)(p - s->at);
	s->at = p;
	return true;
}

static inline bool scan_word_is(const char *word, size_t len, const char *text)
{
	return len == strlen(text) && !memcmp(word, text, len);
}

#endif
