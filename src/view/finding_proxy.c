// SPDX-License-Identifier: MIT
/* Who is named as the submitter may have worked for somebody who is not in this trace. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "view/num.h"
#include "view/role.h"
#include "view/tree.h"

#define BLKEXT_MAJOR 259u

static bool is_traced(const struct report *r, uint32_t device)
{
	for (size_t i = 0; i < r->sum->nr_devices; i++)
		if (r->sum->devices[i].device == device &&
		    (saw_queue(&r->sum->devices[i]) || r->sum->devices[i].mapped))
			return true;
	return false;
}

/* A device above that was not recorded: one of another driver, not a partition of this one (partitions
 * beyond the 15th have major 259). 0: none. */
static uint32_t device_above(const struct report *r, const struct device_sum *dev)
{
	for (int i = 0; i < dev->nr_parents; i++) {
		uint32_t parent = dev->parents[i];

		if (DEVICE_MAJOR(parent) != DEVICE_MAJOR(dev->device) &&
		    DEVICE_MAJOR(parent) != BLKEXT_MAJOR && !is_traced(r, parent))
			return parent;
	}
	return 0;
}

static const struct process_sum *most_writing(const struct summary *sum)
{
	const struct process_sum *most = NULL;

	for (size_t i = 0; i < sum->nr_processes; i++)
		if (!most || sum->processes[i]->write_bytes > most->write_bytes)
			most = sum->processes[i];
	return most && most->write_bytes ? most : NULL;
}

/* Threads that work for whoever writes to a device above; a journal or writeback thread works for a
 * file system, whose writers no device shows. */
static bool is_proxy(const char *role)
{
	static const char *const roles[] = { "crypt", "raid", "loop", "worker" };

	for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++)
		if (!strcmp(role, roles[i]))
			return true;
	return false;
}

/* "dm-3 (253,3)" where it can only be device mapper's, else its name or number; owned by the caller. */
static char *above_words(const struct report *r, uint32_t above, const char *role)
{
	const char *name = facts_device_name(r->facts, above);

	if (name)
		return mem_printf("%s (%u,%u)", name, DEVICE_MAJOR(above), DEVICE_MINOR(above));
	if (!strcmp(role, "crypt"))
		return mem_printf("dm-%u (%u,%u)", DEVICE_MINOR(above), DEVICE_MAJOR(above),
				  DEVICE_MINOR(above));
	return mem_printf("device %u,%u", DEVICE_MAJOR(above), DEVICE_MINOR(above));
}

void find_proxies(json_t *list, const struct report *r)
{
	const struct process_sum *p = most_writing(r->sum);
	const char *comm = p ? names_get(&r->facts->names, p->pid, p->last_ns) : NULL;
	const char *role = role_of(comm);

	if (!comm || !is_proxy(role))
		return;
	for (size_t i = 0; i < r->sum->nr_devices; i++) {
		uint32_t above = device_above(r, &r->sum->devices[i]);
		char *words;
		json_t *ev;

		if (!above)
			continue;
		words = above_words(r, above, role);
		ev = tree_finding(
			list, "proxy-submitter", "info", "A worker submits for somebody else",
			tree_printf("%s wrote the most (%s), and is a worker: the real writer is "
				    "not in this trace.",
				    comm, num_bytes((double)p->write_bytes).s),
			tree_printf("Record %s too: there the writer is seen.", words));
		tree_count(ev, "pid", p->pid);
		tree_text(ev, "comm", comm);
		tree_text(ev, "role", role);
		json_object_set_new(ev, "device_above",
				    tree_printf("%u,%u", DEVICE_MAJOR(above), DEVICE_MINOR(above)));
		free(words);
		return;
	}
}
