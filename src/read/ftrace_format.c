/* SPDX-License-Identifier: MIT */
#include "read/ftrace_format.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A record is never larger than a page; a larger offset is not worth keeping. */
#define OFFSET_MAX (1u << 20)

/* The number after `key` inside the line; -1 where there is none. */
static long number_after(const char *line, const char *end, const char *key)
{
	const char *at = memmem(line, (size_t)(end - line), key, strlen(key));
	char *stop;
	unsigned long n;

	if (!at)
		return -1;
	at += strlen(key);
	n = strtoul(at, &stop, 10);
	return stop == at || n > OFFSET_MAX ? -1 : (long)n;
}

static bool is_name_char(char c)
{
	return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
	       (c >= 'A' && c <= 'Z');
}

/* "unsigned char rwbs[10]" or "__data_loc char[] cmd": the last word, without brackets behind it. */
static void parse_declaration(struct ftrace_field *field, const char *decl, const char *end)
{
	const char *name_end = end, *name, *bracket;

	bracket = memchr(decl, '[', (size_t)(end - decl));
	if (end > decl && end[-1] == ']' && bracket)
		name_end = bracket;
	while (name_end > decl && !is_name_char(name_end[-1]))
		name_end--;
	name = name_end;
	while (name > decl && is_name_char(name[-1]))
		name--;
	snprintf(field->name, sizeof(field->name), "%.*s", (int)(name_end - name), name);
	field->is_data_loc = end - decl > 11 && !memcmp(decl, "__data_loc ", 11);
	field->is_text = !field->is_data_loc && bracket && bracket >= name_end &&
			 name - decl >= 5 && !memcmp(name - 5, "char ", 5);
	field->is_common = !strncmp(field->name, "common_", 7);
}

static void parse_field(struct ftrace_format *format, const char *decl, const char *end)
{
	struct ftrace_field field = { 0 };
	const char *stop = memchr(decl, ';', (size_t)(end - decl));
	long offset, size;

	if (!stop || format->nr == FORMAT_FIELDS_MAX)
		return;
	offset = number_after(stop, end, "offset:");
	size = number_after(stop, end, "size:");
	if (offset < 0 || size < 0)
		return;
	parse_declaration(&field, decl, stop);
	field.offset = (uint32_t)offset;
	field.size = (uint32_t)size;
	field.is_signed = number_after(stop, end, "signed:") == 1;
	if (field.name[0])
		format->fields[format->nr++] = field;
}

int ftrace_format_parse(struct ftrace_format *format, const char *text, bool is_event)
{
	long id = -1;

	*format = (struct ftrace_format){ 0 };
	while (*text) {
		const char *end = strchrnul(text, '\n');

		while (text < end && (*text == ' ' || *text == '\t'))
			text++;
		if (end - text > 6 && !memcmp(text, "field:", 6))
			parse_field(format, text + 6, end);
		else if (end - text > 3 && !memcmp(text, "ID:", 3))
			id = number_after(text, end, "ID:");
		else if (end - text > 5 && !memcmp(text, "name:", 5))
			sscanf(text + 5, " %47[a-zA-Z0-9_]", format->name);
		else if (end - text > 10 && !memcmp(text, "print fmt:", 10))
			break;
		text = *end ? end + 1 : end;
	}
	if (!format->nr)
		return -1;
	if (!is_event)
		return 0;
	if (id < 0 || id > UINT16_MAX || !format->name[0])
		return -1;
	format->id = (uint32_t)id;
	return 0;
}

const struct ftrace_field *ftrace_format_field(const struct ftrace_format *format, const char *name)
{
	for (size_t i = 0; i < format->nr; i++) {
		if (!strcmp(format->fields[i].name, name))
			return &format->fields[i];
	}
	return NULL;
}
