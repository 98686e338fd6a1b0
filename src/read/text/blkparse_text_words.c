/* SPDX-License-Identifier: MIT */
#include "read/text/blkparse_text_words.h"

#include <string.h>

#define CANDIDATE_MAX 512u /* bytes: people keep such lines short */

static bool separates(char c)
{
	return strchr(" \t,;|=\"'()]+", c) != NULL;
}

/* DIGITS.DIGITS, of six to nine. */
static bool is_time(const char *s, size_t len)
{
	const char *dot = memchr(s, '.', len);
	size_t after = dot ? (size_t)(s + len - dot) - 1 : 0;

	if (!dot || dot == s || after < 6 || after > 9)
		return false;
	for (size_t i = 0; i < len; i++)
		if (s + i != dot && !blkparse_digit(s[i]))
			return false;
	return true;
}

static void classify(struct word *w)
{
	const char *end = blkparse_number(w->s, &w->number);

	w->kind = 0;
	if (end == w->s + w->len) {
		w->kind = WORD_NUMBER;
	} else if (is_time(w->s, w->len)) {
		w->kind = WORD_TIME;
	} else {
		if (blkparse_action(w->s, w->len) != ACT_UNKNOWN)
			w->kind |= WORD_ACTION;
		if (blkparse_is_rwbs(w->s, w->len))
			w->kind |= WORD_RWBS;
		if (!w->kind)
			w->kind = WORD_TEXT;
	}
}

/* A name in brackets is one word, whatever it holds. */
static const char *bracketed(const char *p, struct word *w)
{
	const char *close = strchr(p, ']');

	w->s = p + 1;
	w->len = (uint32_t)(close ? close - p - 1 : (long)strlen(p + 1));
	w->kind = WORD_TEXT;
	return close ? close + 1 : p + strlen(p);
}

void blkparse_split(const char *p, struct words *words)
{
	words->nr = 0;
	while (words->nr < BLKPARSE_COLUMNS) {
		struct word *w = &words->of[words->nr];

		while (*p && separates(*p))
			p++;
		if (!*p)
			return;
		words->nr++;
		*w = (struct word){ .s = p };
		if (*p == '[') {
			p = bracketed(p, w);
			continue;
		}
		while (*p && !separates(*p) && *p != '[')
			p++;
		w->len = (uint32_t)(p - w->s);
		w->comma = p[0] == ',' && blkparse_digit(p[1]);
		classify(w);
	}
}

static int count(const struct words *words, uint32_t kind)
{
	int nr = 0;

	for (int i = 0; i < words->nr; i++)
		nr += (words->of[i].kind & kind) != 0;
	return nr;
}

/* Lines of other tools have a time as well, and a colon behind it. */
static bool has_fraction(const struct text_line *line)
{
	const char *end = line->s + line->len;

	for (const char *dot = line->s; (dot = memchr(dot, '.', (size_t)(end - dot))); dot++) {
		size_t n = strspn(dot + 1, "0123456789");

		if (dot > line->s && blkparse_digit(dot[-1]) && n >= 6 && n <= 9)
			return dot[n + 1] != ':';
	}
	return false;
}

/* "8,0 1 1.500000000 10 Q WS ...": the kernel's blk tracer prints this (blk_classic); its reader knows
 * more of it. */
static bool is_blk_classic(const struct words *words)
{
	static const uint32_t kinds[] = { WORD_NUMBER, WORD_NUMBER, WORD_NUMBER, WORD_TIME,
					  WORD_NUMBER, WORD_ACTION, WORD_RWBS };

	if (words->nr < 7 || !words->of[0].comma)
		return false;
	for (int i = 0; i < 7; i++)
		if (!(words->of[i].kind & kinds[i]))
			return false;
	return true;
}

bool blkparse_free_candidate(const struct text_line *line)
{
	struct words words;

	if (line->len < 12 || line->len > CANDIDATE_MAX || !has_fraction(line) ||
	    strstr(line->s, "block_") || strstr(line->s, "blk_") || strchr(line->s, ':') == line->s)
		return false;
	blkparse_split(line->s, &words);
	return !is_blk_classic(&words) && count(&words, WORD_TIME) == 1 &&
	       count(&words, WORD_NUMBER) >= 1 && count(&words, WORD_ACTION) >= 1 &&
	       count(&words, WORD_RWBS) >= 1 && count(&words, WORD_ACTION | WORD_RWBS) >= 2;
}
