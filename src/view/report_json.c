// SPDX-License-Identifier: MIT
/* The report as JSON text, with the list of requests written row by row. */
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

static void write_requests(const struct report *r, FILE *out)
{
	size_t nr = request_list_nr(r->requests);

	fputs(nr ? "[\n" : "[]", out);
	for (size_t i = 0; i < nr; i++) {
		json_t *row = request_list_row(r, i);

		fputs("    ", out);
		write_value(row, out, 4);
		fputs(i + 1 < nr ? ",\n" : "\n  ]", out);
		json_decref(row);
	}
}

void report_json(const struct report *r, const json_t *tree, FILE *out)
{
	const char *key, *between = "";
	json_t *value;

	fputs("{\n", out);
	json_object_foreach((json_t *)tree, key, value)
	{
		fprintf(out, "%s  \"%s\": ", between, key);
		if (r->requests && value == json_object_get(tree, "requests_list"))
			write_requests(r, out);
		else
			write_value(value, out, 2);
		between = ",\n";
	}
	fputs("\n}\n", out);
}
