/* SPDX-License-Identifier: MIT */
#include "read/text/finding.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/printable.h"

void put_u64(json_t *obj, const char *key, uint64_t value)
{
	json_object_set_new(obj, key, json_integer((json_int_t)value));
}

void put_real(json_t *obj, const char *key, double value)
{
	json_object_set_new(obj, key, isfinite(value) ? json_real(value) : json_null());
}

static json_t *clean_string(const char *text)
{
	char *clean = printable(text);
	json_t *string = json_string(clean);

	free(clean);
	return string ? string : json_string("");
}

void put_text(json_t *obj, const char *key, const char *text)
{
	json_object_set_new(obj, key, clean_string(text));
}

void put_unknown(json_t *obj, const char *key, const char *why)
{
	char *why_key = mem_printf("%s_why", key);

	json_object_set_new(obj, key, json_null());
	json_object_set_new(obj, why_key, json_string(why));
	free(why_key);
}

json_t *finding_add(struct facts *facts, const char *id, const char *severity, const char *title,
		    char *sentence, const char *advice)
{
	json_t *obj = json_object(), *evidence = json_object(), *list = json_array();

	put_text(obj, "id", id);
	put_text(obj, "severity", severity);
	put_text(obj, "title", title);
	put_text(obj, "sentence", sentence);
	free(sentence);
	json_object_set_new(obj, "evidence", evidence);
	if (advice)
		json_array_append_new(list, clean_string(advice));
	json_object_set_new(obj, "advice", list);
	return facts_append(&facts->findings, obj) ? evidence : NULL;
}

struct grouped grouped(uint64_t n)
{
	struct grouped out = { "" };
	char plain[24];
	int len = snprintf(plain, sizeof(plain), "%llu", (unsigned long long)n), at = 0;

	for (int i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			out.s[at++] = ',';
		out.s[at++] = plain[i];
	}
	return out;
}

struct grouped grouped_bytes(double bytes)
{
	static const char *const units[] = { "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
	struct grouped out = { "" };
	size_t unit = 0;

	if (bytes < 1024) {
		snprintf(out.s, sizeof(out.s), "%.0f bytes", bytes);
		return out;
	}
	for (bytes /= 1024; bytes >= 1024 && unit + 1 < sizeof(units) / sizeof(*units); unit++)
		bytes /= 1024;
	snprintf(out.s, sizeof(out.s), "%.1f %s", bytes, units[unit]);
	return out;
}
