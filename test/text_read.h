/* SPDX-License-Identifier: MIT
 *
 * Reading a text from memory or a file into facts, and looking into what it became.
 */
#ifndef BLKLAB_TEST_TEXT_READ_H
#define BLKLAB_TEST_TEXT_READ_H

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "read/formats.h"
#include "trace/facts.h"
#include "trace/input.h"
#include "trace/source.h"

extern const struct format format_text;

/* 0, or -1 where nothing of it could be used. facts are the caller's either way. */
static inline int text_read_bytes(struct facts *facts, const char *text, size_t len)
{
	struct sources sources = { 0 };
	struct error err = { 0 };
	struct event events[64];
	struct input in;
	int status;

	facts_init(facts);
	input_memory(&in, "paste", text, len);
	status = format_text.open(&in, facts, &sources, &err);
	for (size_t i = 0; i < sources.nr; i++)
		while (source_pull(sources.list[i], events, 64, &err) > 0)
			;
	sources_release(&sources);
	input_release(&in);
	return status;
}

static inline int text_read(struct facts *facts, const char *text)
{
	return text_read_bytes(facts, text, strlen(text));
}

static inline int text_read_file(struct facts *facts, const char *path)
{
	char *buf = malloc(1 << 20);
	FILE *in = fopen(path, "rb");
	int status = -1;

	if (in) {
		status = text_read_bytes(facts, buf, fread(buf, 1, 1 << 20, in));
		fclose(in);
	} else {
		facts_init(facts);
	}
	free(buf);
	return status;
}

/* obj["a"]["b"] for "a.b", obj[3] for "3"; NULL where there is no such thing. */
static inline const json_t *text_at(const json_t *obj, const char *path)
{
	char key[64];

	while (obj && *path) {
		size_t len = strcspn(path, ".");

		snprintf(key, sizeof(key), "%.*s", (int)len, path);
		obj = json_is_array(obj) ? json_array_get(obj, (size_t)atoi(key))
					 : json_object_get(obj, key);
		path += len + (path[len] == '.');
	}
	return obj;
}

static inline double text_num(const json_t *obj, const char *path)
{
	const json_t *found = text_at(obj, path);

	return json_is_number(found) ? json_number_value(found) : NAN;
}

static inline const char *text_str(const json_t *obj, const char *path)
{
	const char *s = json_string_value(text_at(obj, path));

	return s ? s : "(none)";
}

/* null, with the reason beside it. */
static inline bool text_unknown(const json_t *obj, const char *path)
{
	char why[128];

	snprintf(why, sizeof(why), "%s_why", path);
	return json_is_null(text_at(obj, path)) && json_is_string(text_at(obj, why));
}

/* The nth finding of that id, or NULL. */
static inline const json_t *text_finding(const struct facts *facts, const char *id, int nth)
{
	for (size_t i = 0; i < json_array_size(facts->findings); i++) {
		const json_t *found = json_array_get(facts->findings, i);

		if (!strcmp(text_str(found, "id"), id) && !nth--)
			return found;
	}
	return NULL;
}

static inline bool text_noted(const struct facts *facts, const char *words)
{
	for (size_t i = 0; i < facts->nr_notes; i++)
		if (strstr(facts->notes[i], words))
			return true;
	return false;
}

#endif
