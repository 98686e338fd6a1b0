/* SPDX-License-Identifier: MIT
 *
 * The tables of devices and processes.
 */
#include <stdlib.h>
#include <string.h>

#include "track/state.h"

/* More are not a machine but damage. */
#define MOST_DEVICES 4096
#define MOST_CPUS    4096  /* of a device */
#define MOST_IN_ALL  65536 /* CPUs of devices */

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

	if (!d && t->nr_devices == MOST_DEVICES)
		return NULL;
	if (!d) {
		d = mem_zalloc(sizeof(*d));
		d->number = number;
		d->index = (uint16_t)t->nr_devices;
		list_init(&d->sequences);
		list_init(&d->commands);
		list_init(&d->passthrough);
		list_init(&d->appends);
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

static struct cpu_sum *cpu_new(uint32_t number)
{
	struct cpu_sum *cpu = mem_zalloc(sizeof(*cpu));

	cpu->cpu = number;
	return cpu;
}

struct cpu_sum *cpu_get(struct tracker *t, const struct device *d, uint32_t cpu)
{
	struct device_sum *sum = device_sum(t, d);

	if (cpu < sum->nr_cpus && sum->cpus[cpu])
		return sum->cpus[cpu];
	if (cpu >= MOST_CPUS || t->nr_cpus == MOST_IN_ALL) {
		if (!sum->cpu_untold)
			sum->cpu_untold = cpu_new(CPU_UNTOLD);
		return sum->cpu_untold;
	}
	while (sum->nr_cpus <= cpu) {
		sum->cpus = mem_grow(sum->cpus, sum->nr_cpus, sizeof(*sum->cpus));
		sum->cpus[sum->nr_cpus++] = NULL;
	}
	t->nr_cpus++;
	sum->cpus[cpu] = cpu_new(cpu);
	return sum->cpus[cpu];
}

/* Ends of bios do not count where requests were seen after all. */
static void early_off(struct cpu_sum *cpu)
{
	for (int c = 0; c < CLASS_NR; c++) {
		cpu->counts.completed[c].count -= cpu->early[c].count;
		cpu->counts.completed[c].bytes -= cpu->early[c].bytes;
	}
}

static void add_cpu(struct device_sum *sum, struct cpu_sum *cpu)
{
	const struct io_counts *counts = &cpu->counts;

	if (sum->have_requests)
		early_off(cpu);
	sum->events += cpu->events;
	sum->splits += cpu->splits;
	sum->front_merges += counts->front_merges;
	sum->back_merges -= counts->front_merges;
	sum->rq_merges += counts->rq_merges;
	sum->nowait_retries += counts->nowait_retries;
	for (int c = 0; c < CLASS_NR; c++) {
		sum->bios[c].count += counts->bios[c].count;
		sum->bios[c].bytes += counts->bios[c].bytes;
		sum->requests[c].count += counts->requests[c].count;
		sum->requests[c].bytes += counts->requests[c].bytes;
		sum->completed_bytes[c] += counts->completed[c].bytes;
		sum->back_merges += counts->merges[c].count;
		sum->requeues_busy += counts->requeues_busy[c];
		sum->requeues_failed += counts->requeues_failed[c];
	}
}

void cpus_finish(struct device_sum *sum)
{
	for (size_t i = 0; i < sum->nr_cpus; i++)
		if (sum->cpus[i])
			add_cpu(sum, sum->cpus[i]);
	if (sum->cpu_untold)
		add_cpu(sum, sum->cpu_untold);
}

/* Threads of the kernel that write for others, by the names that the kernel gives them ('#': a digit). User
 * programs have names like xfs_io, btrfs and mdadm. */
static bool works_for_others(const char *comm)
{
	static const char *const prefixes[] = { "kworker/", "flush-",   "jbd2/",        "kjournald",
						"xfsaild/", "xfs-",     "btrfs-",       "dmcrypt",
						"kcryptd",  "pdflush",  "kswapd#",      "bch_",
						"bcache_",  "iou-wrk-", "ext4lazyinit", "md#",
						"loop#",    "raid#" };

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++) {
		const char *want = prefixes[i], *at = comm;

		while (*want && (*want == *at || (*want == '#' && *at >= '0' && *at <= '9'))) {
			want++;
			at++;
		}
		if (!*want)
			return true;
	}
	return false;
}

static bool is_kernel(const struct tracker *t, uint32_t pid)
{
	const char *comm = names_get(&t->facts->names, pid, t->now_ns);

	return !comm || works_for_others(comm);
}

static bool is_own(const struct tracker *t, uint32_t pid)
{
	return !t->options.waiter_pid ||
	       names_descends(&t->facts->names, pid, t->options.waiter_pid);
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
		list_init(&p->plug);
		p->own = is_own(t, pid);
		p->foreign = !p->own && !is_kernel(t, pid);
		p->waiter = !p->foreign; /* the kernel's threads may write for the command */
		if (t->options.count_processes)
			p->sum.counts = mem_zalloc(sizeof(*p->sum.counts));
		hash_add(&t->processes, &p->by_pid, pid);
		sum->processes = mem_grow(sum->processes, sum->nr_processes, sizeof(void *));
		sum->processes[sum->nr_processes++] = &p->sum;
	}
	t->last_process = p;
	return p;
}
