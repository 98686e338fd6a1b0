// SPDX-License-Identifier: MIT
#include "view/tree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/printable.h"

json_t *tree_string(const char *text)
{
	char *clean = printable(text);
	json_t *str = json_string(clean);

	free(clean);
	return str;
}

static json_t *tree_vprintf(const char *fmt, va_list args)
{
	char *text = NULL;
	json_t *str;

	if (vasprintf(&text, fmt, args) < 0)
		abort();
	str = tree_string(text);
	free(text);
	return str;
}

json_t *tree_printf(const char *fmt, ...)
{
	va_list args;
	json_t *str;

	va_start(args, fmt);
	str = tree_vprintf(fmt, args);
	va_end(args);
	return str;
}

void tree_text(json_t *obj, const char *key, const char *text)
{
	json_object_set_new(obj, key, tree_string(text));
}

void tree_count(json_t *obj, const char *key, uint64_t n)
{
	/* JSON's integers are signed here; times near 2^64 are damage, but must not become negative */
	json_object_set_new(obj, key, json_integer(n > INT64_MAX ? INT64_MAX : (json_int_t)n));
}

void tree_real(json_t *obj, const char *key, double v)
{
	json_object_set_new(obj, key, json_real(v));
}

void tree_unknown(json_t *obj, const char *key, const char *fmt, ...)
{
	char *why = mem_printf("%s_why", key);
	va_list args;

	va_start(args, fmt);
	json_object_set_new(obj, key, json_null());
	json_object_set_new(obj, why, tree_vprintf(fmt, args));
	va_end(args);
	free(why);
}

static void set_quantile(json_t *obj, const char *key, const struct hist *hist, double q,
			 unsigned int needs)
{
	uint64_t value;

	if (hist_quantile(hist, q, &value))
		tree_count(obj, key, value);
	else
		tree_unknown(obj, key, "needs at least %u values", needs);
}

json_t *tree_hist(const struct hist *hist)
{
	json_t *obj = json_object();
	double mean;

	tree_count(obj, "n", hist->n);
	tree_count(obj, "min", hist->min);
	mean = hist->sum / (double)hist->n; /* its rounding must not leave [min, max] */
	tree_count(obj, "mean", mean >= (double)hist->max ? hist->max : (uint64_t)llround(mean));
	set_quantile(obj, "p50", hist, 0.5, 2);
	set_quantile(obj, "p90", hist, 0.9, 10);
	set_quantile(obj, "p99", hist, 0.99, 100);
	set_quantile(obj, "p999", hist, 0.999, 1000);
	tree_count(obj, "max", hist->max);
	return obj;
}

const json_t *tree_at(const json_t *obj, const char *path)
{
	while (obj && *path) {
		size_t len = strcspn(path, ".");
		char key[64];

		if (len >= sizeof(key))
			return NULL;
		memcpy(key, path, len);
		key[len] = '\0';
		obj = json_object_get(obj, key);
		path += len + (path[len] == '.');
	}
	return json_is_null(obj) ? NULL : obj;
}

const char *tree_str(const json_t *obj, const char *path)
{
	return json_string_value(tree_at(obj, path));
}

uint64_t tree_u64(const json_t *obj, const char *path)
{
	return (uint64_t)json_integer_value(tree_at(obj, path));
}

double tree_num(const json_t *obj, const char *path)
{
	const json_t *at = tree_at(obj, path);

	return json_is_number(at) ? json_number_value(at) : (double)NAN;
}

void tree_device_number(json_t *obj, const struct facts *facts, uint32_t device)
{
	const char *name = facts_device_name(facts, device);

	if (DEVICE_MAJOR(device) != DEVICE_NAMED_MAJOR) {
		json_object_set_new(obj, "device",
				    tree_printf("%u,%u", DEVICE_MAJOR(device),
						DEVICE_MINOR(device)));
		return;
	}
	tree_unknown(obj, "device", "this input knows the device by name only");
	tree_text(obj, "name", name ? name : "?");
}

char *device_label(const struct facts *facts, uint32_t device)
{
	const char *name = facts_device_name(facts, device);

	if (name || DEVICE_MAJOR(device) == DEVICE_NAMED_MAJOR)
		return mem_strdup(name ? name : "?");
	return mem_printf("%u,%u", DEVICE_MAJOR(device), DEVICE_MINOR(device));
}

const json_t *device_meta(const struct facts *facts, uint32_t device)
{
	const json_t *list = tree_at(facts->meta, "devices");
	char number[24];
	size_t i;
	json_t *entry;

	snprintf(number, sizeof(number), "%u,%u", DEVICE_MAJOR(device), DEVICE_MINOR(device));
	json_array_foreach((json_t *)list, i, entry)
	{
		const char *text = tree_str(entry, "device");

		if (text && !strcmp(text, number))
			return entry;
	}
	return NULL;
}

const json_t *command_meta(const struct facts *facts)
{
	const json_t *command = tree_at(facts->meta, "command");

	return json_is_object(command) ? command : NULL;
}

char *command_name(const struct facts *facts)
{
	json_t *argv = json_object_get(command_meta(facts), "argv");
	const char *path = json_string_value(json_array_get(argv, 0));
	const char *slash = path ? strrchr(path, '/') : NULL;

	return mem_strdup(slash && slash[1] ? slash + 1 : path ? path : "the command");
}
