/* SPDX-License-Identifier: MIT
 *
 * Prints every event of a trace directory with all fields raw (ftrace_page_dump), for
 * pages-equal-trace.sh.
 */
#include <stdio.h>

#include "read/ftrace_page.h"
#include "trace/input.h"

int main(int argc, char **argv)
{
	struct inputs inputs = { 0 };
	struct error err = { 0 };
	int r;

	if (argc != 2) {
		fprintf(stderr, "usage: dump_pages TRACE_DIRECTORY\n");
		return 2;
	}
	r = inputs_add(&inputs, argv[1], &err);
	if (!r)
		r = ftrace_page_dump(&inputs.list[0], stdout, &err);
	inputs_release(&inputs);
	if (r)
		fprintf(stderr, "dump_pages: %s\n", err.text);
	return r ? 1 : 0;
}
