// SPDX-License-Identifier: MIT
/* The report as JSON text, with its longest lists written row by row. */
#include <string.h>

#include "view/tree.h"

#define FLAGS (JSON_INDENT(2) | JSON_REAL_PRECISION(9) | JSON_ENCODE_ANY)

/* Inside of something: line ends are followed by `depth` blanks. */
struct indented {
	FILE *out;
	int depth;
};

static int write_indented(const char *buffer, size_t size, void *arg)
{
	const struct indented *to = arg;

	for (size_t i = 0; i < size; i++) {
		fputc(buffer[i], to->out);
		if (buffer[i] == '\n')
			fprintf(to->out, "%*s", to->depth, "");
	}
	return ferror(to->out) ? -1 : 0;
}

static void write_value(const json_t *value, FILE *out, int depth)
{
	struct indented to = { out, depth };

	json_dump_callback(value, write_indented, &to, FLAGS);
}

/* A list whose rows are made one by one; its key stands at `depth`. */
static void write_rows(const struct report *r, size_t nr,
		       json_t *(*row)(const struct report *r, size_t i), FILE *out, int depth)
{
	fputs(nr ? "[\n" : "[]", out);
	for (size_t i = 0; i < nr; i++) {
		json_t *value = row(r, i);

		fprintf(out, "%*s", depth + 2, "");
		write_value(value, out, depth + 2);
		if (i + 1 < nr)
			fputs(",\n", out);
		else
			fprintf(out, "\n%*s]", depth, "");
		json_decref(value);
	}
}

static void write_by(const struct report *r, const json_t *by, FILE *out)
{
	const char *key, *between = "";
	json_t *value;

	fputs("{\n", out);
	json_object_foreach((json_t *)by, key, value)
	{
		fprintf(out, "%s    \"%s\": ", between, key);
		if (!strcmp(key, "rows"))
			write_rows(r, breakdown_nr(r->by), by_row, out, 4);
		else
			write_value(value, out, 4);
		between = ",\n";
	}
	fputs("\n  }", out);
}

void report_json(const struct report *r, const json_t *tree, FILE *out)
{
	const char *key, *between = "";
	json_t *value;

	fputs("{\n", out);
	json_object_foreach((json_t *)tree, key, value)
	{
		fprintf(out, "%s  \"%s\": ", between, key);
		if (r->requests && !strcmp(key, "requests_list"))
			write_rows(r, request_list_nr(r->requests), request_list_row, out, 2);
		else if (r->by && !strcmp(key, "by"))
			write_by(r, value, out);
		else
			write_value(value, out, 2);
		between = ",\n";
	}
	fputs("\n}\n", out);
}
