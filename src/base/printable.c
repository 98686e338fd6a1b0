/* SPDX-License-Identifier: MIT */
#include "base/printable.h"

#include <jansson.h>
#include <stdbool.h>
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

char *printable(const char *text)
{
	size_t len = strlen(text), at = 0;
	char *clean = mem_zalloc(len * 4 + 1), *out = clean;

	while (at < len) {
		const unsigned char *p = (const unsigned char *)text + at;
		size_t n = utf8_len(p, len - at);
		bool control = *p < 0x20 || *p == 0x7f || (n == 2 && *p == 0xc2 && p[1] < 0xa0);

		if (!n || control) {
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
