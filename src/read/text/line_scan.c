/* SPDX-License-Identifier: MIT */
#include "read/text/line_scan.h"

#include <string.h>

static bool is_digit_at(const struct scan *s)
{
	return s->at < s->end && scan_is_digit(*s->at);
}

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

bool scan_done(struct scan *s)
{
	scan_blanks(s);
	return scan_end(s);
}

/* How far the words go: NULL where something else stands there, else the word at which the line ended
 * (its NUL: all of them were there). */
static const char *match(struct scan *s, const char *words)
{
	scan_blanks(s);
	for (; *words; words++) {
		if (s->at == s->end)
			return words;
		if (*words == ' ') {
			if (!scan_is_blank(*s->at))
				return NULL;
			scan_blanks(s);
			continue;
		}
		if (lower(*s->at) != lower(*words))
			return NULL;
		s->at++;
	}
	return words;
}

bool scan_words(struct scan *s, const char *words)
{
	struct scan at = *s;
	const char *rest = match(&at, words);

	if (!rest || *rest)
		return false;
	*s = at;
	return true;
}

bool scan_is_begun(const struct scan *s, const char *words)
{
	struct scan at = *s;
	const char *rest;

	if (scan_done(&at))
		return false;
	rest = match(&at, words);
	return rest && *rest && rest != words;
}

/* Appends a digit; false where it does not fit. */
static bool add_digit(uint64_t *value, char digit)
{
	return !__builtin_mul_overflow(*value, UINT64_C(10), value) &&
	       !__builtin_add_overflow(*value, (uint64_t)(digit - '0'), value) &&
	       *value <= INT64_MAX;
}

/* All digits that stand here; false where they do not fit (*s has moved over them). */
static bool all_digits(struct scan *s, uint64_t *value)
{
	bool fits = true;

	for (; is_digit_at(s); s->at++)
		fits = fits && add_digit(value, *s->at);
	return fits;
}

static bool is_group(const struct scan *s)
{
	struct scan at = *s;
	const char *from;

	if (!scan_char(&at, ','))
		return false;
	from = at.at;
	while (is_digit_at(&at))
		at.at++;
	return at.at - from == 3;
}

bool scan_grouped(struct scan *s, uint64_t *value, bool *huge)
{
	struct scan at = *s;
	uint64_t v = 0;
	bool fits;

	if (!is_digit_at(&at))
		return false;
	fits = all_digits(&at, &v);
	if (at.at - s->at <= 3 && *s->at != '0') {
		while (is_group(&at)) {
			at.at++;
			fits = all_digits(&at, &v) && fits;
		}
	}
	*huge = !fits;
	*value = fits ? v : 0;
	*s = at;
	return true;
}

bool scan_fixed(struct scan *s, unsigned int nr_digits, uint64_t *value)
{
	struct scan at = *s;
	uint64_t v = 0;

	if (!is_digit_at(&at) || !all_digits(&at, &v))
		return false;
	if (scan_char(&at, '.') && !is_digit_at(&at))
		return false;
	for (unsigned int i = 0; i < nr_digits; i++) {
		char digit = is_digit_at(&at) ? *at.at++ : '0';

		if (!add_digit(&v, digit))
			return false;
	}
	while (is_digit_at(&at))
		at.at++;
	*value = v;
	*s = at;
	return true;
}

bool scan_mark(struct scan *s, char c)
{
	struct scan at = *s;

	scan_blanks(&at);
	if (!scan_char(&at, c))
		return false;
	*s = at;
	return true;
}

static struct scan trimmed(struct scan s)
{
	scan_blanks(&s);
	while (s.at < s.end && scan_is_blank(s.end[-1]))
		s.end--;
	return s;
}

bool scan_parens(struct scan *s, struct scan *inside)
{
	struct scan at = *s;
	const char *close;

	if (!scan_mark(&at, '('))
		return false;
	close = memchr(at.at, ')', scan_left(&at));
	if (!close)
		return false;
	*inside = trimmed((struct scan){ at.at, close });
	s->at = close + 1;
	return true;
}

void scan_copy(char *to, size_t room, struct scan from)
{
	size_t len;

	from = trimmed(from);
	len = scan_left(&from) < room ? scan_left(&from) : room - 1;
	memcpy(to, from.at, len);
	to[len] = 0;
}
