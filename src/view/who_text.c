// SPDX-License-Identifier: MIT
/* Who made the I/O: the line below the verdict and the table of threads. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "view/num.h"
#include "view/tree.h"

#define MAX_WHO 4

/* "fio", or "fio (not this command)": the same program may run beside the recorded one. Kernel threads
 * may work for either. Owned by the caller. */
static char *whose(const json_t *process)
{
	const json_t *of_command = tree_at(process, "of_command");
	const char *comm = tree_str(process, "comm"), *role = tree_str(process, "role");
	bool stranger =
		json_is_false(of_command) && (!strcmp(role, "app") || !strcmp(role, "unknown"));
	char *name = comm ? mem_strdup(comm)
			  : mem_printf("pid %u", (unsigned int)tree_u64(process, "pid"));
	char *text = mem_printf("%s%s", name, stranger ? " (not this command)" : "");

	free(name);
	return text;
}

/* Bytes read and written by name, since one program often has many threads. */
static json_t *bytes_by_name(const json_t *processes)
{
	json_t *names = json_object(), *p, *both;
	size_t i;

	json_array_foreach((json_t *)processes, i, p)
	{
		uint64_t read = tree_u64(p, "read_bytes"), written = tree_u64(p, "write_bytes");
		char *name = whose(p);

		both = json_object_get(names, name);
		read += tree_u64(both, "read");
		written += tree_u64(both, "written");
		if (!both) {
			both = json_object();
			json_object_set_new(names, name, both);
		}
		tree_count(both, "read", read);
		tree_count(both, "written", written);
		free(name);
	}
	return names;
}

/* "fio read 30.0 MiB", "fio read + wrote 124 MiB": one direction where it is 95 % or more. */
static char *who_words(const char *name, const json_t *both)
{
	double read = tree_num(both, "read"), written = tree_num(both, "written");
	double all = read + written;
	const char *verb = "read + wrote";

	if (read >= 0.95 * all)
		verb = "read";
	else if (written >= 0.95 * all)
		verb = "wrote";
	return mem_printf("%s %s %s", name, verb, num_bytes(all).s);
}

static const char *most_bytes(const json_t *names)
{
	const char *name, *most = NULL;
	uint64_t most_bytes = 0;
	json_t *both;

	json_object_foreach((json_t *)names, name, both)
	{
		uint64_t bytes = tree_u64(both, "read") + tree_u64(both, "written");

		if (bytes > most_bytes) {
			most_bytes = bytes;
			most = name;
		}
	}
	return most;
}

/* The first screen must say who. */
void page_most_io(const struct page *page, const json_t *tree)
{
	json_t *names = bytes_by_name(tree_at(tree, "processes"));
	char *text = mem_strdup("");

	for (int i = 0; i < MAX_WHO; i++) {
		const char *name = most_bytes(names);
		char *words, *longer;

		if (!name)
			break;
		words = who_words(name, json_object_get(names, name));
		longer = mem_printf("%s%s%s", text, i ? ", " : "", words);
		json_object_del(names, name);
		free(words);
		free(text);
		text = longer;
	}
	if (*text)
		page_printf(page, "  most I/O", "%s", text);
	free(text);
	json_decref(names);
}

static void process_row(FILE *out, const json_t *p)
{
	const char *comm = tree_str(p, "comm");
	double mean = tree_num(p, "q2c_ns.mean"), p99 = tree_num(p, "q2c_ns.p99");
	bool known = tree_at(p, "read_bytes") != NULL;

	fprintf(out, "%c %7u %-16s %-9s %8s %8s %8s %7s %7s\n",
		json_is_true(tree_at(p, "of_command")) ? '*' : ' ',
		(unsigned int)tree_u64(p, "pid"), comm ? comm : "?", tree_str(p, "role"),
		known ? num_bytes(tree_num(p, "read_bytes")).s : "?",
		known ? num_bytes(tree_num(p, "write_bytes")).s : "?",
		num_count(tree_u64(p, "bios")).s, isnan(mean) ? "-" : num_ns(mean).s,
		isnan(p99) ? "-" : num_ns(p99).s);
}

static void legend(const struct page *page, const json_t *tree, size_t shown)
{
	const json_t *list = tree_at(tree, "processes");
	bool worker = false;

	for (size_t i = 0; i < shown; i++)
		worker |= !strcmp(tree_str(json_array_get(list, i), "role"), "worker");
	if (tree_at(tree, "command"))
		page_para(page, PAINT_NONE, "",
			  "*: the recorded command and what it started; kernel threads may have "
			  "worked for it or for others");
	if (worker)
		page_para(page, PAINT_NONE, "",
			  "worker: a kernel worker thread, mostly writing dirty pages back for "
			  "others");
}

void page_processes(const struct page *page, const json_t *tree)
{
	const json_t *list = tree_at(tree, "processes");
	size_t nr = json_array_size(list), shown = (size_t)page->look->top;

	if (!nr)
		return;
	if (shown > nr)
		shown = nr;
	page_paint(page, PAINT_HEAD);
	fprintf(page->out, "\nWHO\n  %7s %-16s %-9s %8s %8s %8s %7s %7s\n", "pid", "thread", "role",
		"read", "written", "bios", "q2c", "p99");
	page_paint(page, PAINT_NONE);
	for (size_t i = 0; i < shown; i++)
		process_row(page->out, json_array_get(list, i));
	if (shown < nr)
		page_printf(page, "", "and %zu more (--top %zu)", nr - shown, nr);
	legend(page, tree, shown);
}
