// SPDX-License-Identifier: MIT
/* processes[] of the report. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "view/role.h"
#include "view/tree.h"

/* Most bytes first, then most I/O, then the order of appearance. */
static int by_work(const void *a, const void *b)
{
	const struct process_sum *x = *(struct process_sum *const *)a;
	const struct process_sum *y = *(struct process_sum *const *)b;
	uint64_t bx = x->read_bytes + x->write_bytes, by = y->read_bytes + y->write_bytes;
	uint64_t nx = x->bios + x->flushes + x->discards, ny = y->bios + y->flushes + y->discards;

	if (bx != by)
		return bx < by ? 1 : -1;
	if (nx != ny)
		return nx < ny ? 1 : -1;
	return (x->pid > y->pid) - (x->pid < y->pid);
}

static json_t *process(const struct report *r, const struct process_sum *p)
{
	uint32_t command = (uint32_t)tree_u64(command_meta(r->facts), "pid");
	const char *comm = names_get(&r->facts->names, p->pid, p->last_ns);
	json_t *obj = json_object();

	tree_count(obj, "pid", p->pid);
	if (comm)
		tree_text(obj, "comm", comm);
	else
		tree_unknown(obj, "comm", "no input names this thread");
	tree_text(obj, "role", role_of(comm));
	if (command)
		json_object_set_new(obj, "of_command",
				    json_boolean(
					    names_descends(&r->facts->names, p->pid, command)));
	else
		tree_unknown(obj, "of_command", "not recorded around a command");
	if (!p->bios && p->requests && !p->read_bytes && !p->write_bytes) {
		tree_unknown(obj, "read_bytes", "bytes are counted at Q, and none was seen");
		tree_unknown(obj, "write_bytes", "bytes are counted at Q, and none was seen");
	} else if (p->bytes_unknown) {
		tree_unknown(obj, "read_bytes", "this input does not tell the length of all I/O");
		tree_unknown(obj, "write_bytes", "this input does not tell the length of all I/O");
	} else {
		tree_count(obj, "read_bytes", p->read_bytes);
		tree_count(obj, "write_bytes", p->write_bytes);
	}
	tree_count(obj, "bios", p->bios);
	tree_count(obj, "requests", p->requests);
	tree_count(obj, "flushes", p->flushes);
	tree_count(obj, "discards", p->discards);
	if (p->q2c.n)
		json_object_set_new(obj, "q2c_ns", tree_hist(&p->q2c));
	else
		tree_unknown(obj, "q2c_ns", "none of its I/O was seen from queue to completion");
	return obj;
}

/* With --window there are threads that did nothing inside of it. */
static bool has_work(const struct process_sum *p)
{
	return p->bios || p->requests || p->flushes || p->discards || p->read_bytes ||
	       p->write_bytes;
}

json_t *tree_processes(const struct report *r)
{
	size_t nr = r->sum->nr_processes;
	struct process_sum **order = mem_resize(NULL, nr + 1, sizeof(struct process_sum *));
	json_t *list = json_array();

	if (nr)
		memcpy(order, r->sum->processes, nr * sizeof(struct process_sum *));
	qsort(order, nr, sizeof(struct process_sum *), by_work);
	for (size_t i = 0; i < nr; i++)
		if (has_work(order[i]))
			json_array_append_new(list, process(r, order[i]));
	free(order);
	return list;
}
