/* SPDX-License-Identifier: MIT */
#include "base/printable.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

/* Length of the UTF-8 sequence at p (rest bytes left), or 0 where it is none. */
static size_t utf8_len(const unsigned char *p, size_t rest)
{
	size_t len = *p < 0x80 ? 1 : *p >= 0xf0 ? 4 : *p >= 0xe0 ? 3 : *p >= 0xc2 ? 2 : 0;
	json_t *probe;

	if (len < 2 || len > rest)
		return len > rest ? 0 : len;
	probe = json_stringn((const char *)p, len); /* jansson refuses what is not UTF-8 */
	json_decref(probe);
	return probe ? len : 0;
}

/* What is not seen and changes what is: marks and overrides of direction, line and paragraph separators,
 * spaces without width, tags. All others of the UTF-8 sequence's length n at p are shown. */
static bool invisible(const unsigned char *p, size_t n)
{
	static const struct {
		uint32_t from, to;
	} ranges[] = {
		{ 0x80, 0x9f },     /* control characters */
		{ 0xad, 0xad },     /* soft hyphen */
		{ 0x61c, 0x61c },   /* Arabic letter mark */
		{ 0x180e, 0x180e }, /* Mongolian vowel separator */
		{ 0x200b, 0x200f }, { 0x2028, 0x202e }, { 0x2060, 0x206f },
		{ 0xfeff, 0xfeff }, { 0xfff9, 0xfffb }, { 0xe0000, 0xe007f },
	};
	static const unsigned char first_bits[] = { 0, 0x7f, 0x1f, 0x0f, 0x07 };
	uint32_t code = *p & first_bits[n];

	for (size_t i = 1; i < n; i++)
		code = code << 6 | (p[i] & 0x3fu);
	for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++)
		if (code >= ranges[i].from && code <= ranges[i].to)
			return true;
	return false;
}

char *printable(const char *text)
{
	size_t len = strlen(text), at = 0;
	char *clean = mem_zalloc(len * 4 + 1), *out = clean;

	while (at < len) {
		const unsigned char *p = (const unsigned char *)text + at;
		size_t n = utf8_len(p, len - at);
		bool control = *p < 0x20 || *p == 0x7f || (n > 1 && invisible(p, n));

		if (!n || control) {
			/* all of its bytes: the rest of a sequence is none */
			out += sprintf(out, "\\x%02x", *p);
			at++;
			continue;
		}
		memcpy(out, p, n);
		out += n;
		at += n;
	}
	return clean;
}
