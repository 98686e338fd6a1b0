/* SPDX-License-Identifier: MIT */
#include "classic/hexdump.h"

#include <string.h>

static char *put_byte(char *p, uint8_t byte)
{
	static const char hex[16] = "0123456789abcdef";

	*p++ = hex[byte >> 4];
	*p++ = hex[byte & 15];
	return p;
}

size_t hexdump(const uint8_t *bytes, size_t len, char *out)
{
	size_t shown = len;
	char *p = out;

	while (shown && !bytes[shown - 1])
		shown--;
	for (size_t i = 0; i < shown; i++) {
		if (i)
			*p++ = ' ';
		p = put_byte(p, bytes[i]);
	}
	if (shown < len) {
		const char *rest = shown ? " 00 .." : "00 ..";
		size_t n = strlen(rest);

		memcpy(p, rest, n);
		p += n;
	}
	return (size_t)(p - out);
}
