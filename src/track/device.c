/* SPDX-License-Identifier: MIT
 *
 * The tables of devices and processes.
 */
#include <stdlib.h>
#include <string.h>

#include "track/state.h"

struct device *device_known(struct tracker *t, uint32_t number)
{
	if (t->last_device && t->last_device->number == number)
		return t->last_device;
	if (t->no_device == number)
		return NULL;
	for (size_t i = 0; i < t->nr_devices; i++)
		if (t->devices[i]->number == number)
			return t->devices[i];
	t->no_device = number;
	return NULL;
}

struct device *device_get(struct tracker *t, uint32_t number)
{
	struct device *d = device_known(t, number);
	struct summary *sum = t->sum;

	if (!d) {
		d = mem_zalloc(sizeof(*d));
		d->number = number;
		d->index = (uint16_t)t->nr_devices;
		list_init(&d->sequences);
		list_init(&d->commands);
		list_init(&d->passthrough);
		t->devices = mem_grow(t->devices, t->nr_devices, sizeof(*t->devices));
		t->devices[t->nr_devices++] = d;
		sum->devices = mem_grow(sum->devices, sum->nr_devices, sizeof(*sum->devices));
		memset(&sum->devices[sum->nr_devices], 0, sizeof(*sum->devices));
		sum->devices[sum->nr_devices++].device = number;
		t->no_device = UINT32_MAX;
	}
	t->last_device = d;
	return d;
}

/* Threads of the kernel that write for others. Their names are the kernel's own, and stable. */
static bool works_for_others(const char *comm)
{
	static const char *const prefix[] = { "kworker", "flush-", "jbd2/",   "kjournald",
					      "xfs",     "btrfs",  "dmcrypt", "kcryptd",
					      "md",      "loop",   "pdflush", "kswapd",
					      "bch_",    "raid",   "iou-wrk" };

	for (size_t i = 0; i < sizeof(prefix) / sizeof(*prefix); i++)
		if (strncmp(comm, prefix[i], strlen(prefix[i])) == 0)
			return true;
	return false;
}

static bool is_waiter(const struct tracker *t, uint32_t pid)
{
	const struct names *names = &t->facts->names;
	const char *comm;

	if (!t->options.waiter_pid || names_descends(names, pid, t->options.waiter_pid))
		return true;
	comm = names_get(names, pid, t->now_ns);
	return !comm || works_for_others(comm);
}

struct process *process_get(struct tracker *t, uint32_t pid)
{
	struct process *p = t->last_process;
	struct hnode *node;

	if (p && p->sum.pid == pid)
		return p;
	node = hash_find(&t->processes, pid);
	if (node) {
		p = container_of(node, struct process, by_pid);
	} else {
		struct summary *sum = t->sum;

		p = mem_zalloc(sizeof(*p));
		p->sum.pid = pid;
		p->waiter = is_waiter(t, pid);
		hash_add(&t->processes, &p->by_pid, pid);
		sum->processes = mem_grow(sum->processes, sum->nr_processes, sizeof(void *));
		sum->processes[sum->nr_processes++] = &p->sum;
	}
	t->last_process = p;
	return p;
}
