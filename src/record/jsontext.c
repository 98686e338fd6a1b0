/* SPDX-License-Identifier: MIT */
#include "record/jsontext.h"

#include <stdlib.h>

#include "base/mem.h"

json_t *json_text(const char *text)
{
	json_t *string;
	char *ascii;

	if (!text)
		return json_null();
	string = json_string(text);
	if (string)
		return string;
	ascii = mem_strdup(text);
	for (char *p = ascii; *p; p++)
		if ((unsigned char)*p >= 0x80)
			*p = '?';
	string = json_string(ascii);
	free(ascii);
	return string;
}
