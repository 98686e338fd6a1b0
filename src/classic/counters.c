/* SPDX-License-Identifier: MIT */
#include "classic/counters.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define BIT(action) (1u << (action))

/* Actions that there is a counter for. */
#define COUNTED_PC (BIT(ACT_QUEUE) | BIT(ACT_REQUEUE) | BIT(ACT_ISSUE) | BIT(ACT_COMPLETE))
#define COUNTED_FS                                                                 \
	(COUNTED_PC | BIT(ACT_BACKMERGE) | BIT(ACT_FRONTMERGE) | BIT(ACT_UNPLUG) | \
	 BIT(ACT_UNPLUG_TIMER))

/* ---- counting ---- */

static inline bool is_pc(const struct record *r)
{
	return (r->h.categories & TC_PC) != 0;
}

static inline void add(struct count *c, uint32_t bytes)
{
	c->nr++;
	c->kib += bytes >> 10;
	c->bytes += bytes & 1023;
}

/* The classic hands the size of a completion on as an int: from 2 GiB on it is negative. */
static inline void add_completed(struct count *c, uint32_t bytes)
{
	c->nr++;
	c->kib += (uint64_t)((int64_t)(int32_t)bytes >> 10);
	c->bytes += bytes & 1023;
}

/* [COUNT_DISPATCHED] loses the size, but not the number; nothing stops it at zero. */
static inline void requeue(struct count (*c)[2], int direction, uint32_t bytes)
{
	struct count *dispatched = &c[COUNT_DISPATCHED][direction];

	c[COUNT_REQUEUED][direction].nr++;
	dispatched->kib -= bytes >> 10;
	dispatched->bytes -= bytes & 1023;
}

static void take_pc(struct counters *c, const struct record *r)
{
	int direction = record_direction(r);
	struct count *queued = &c->pc[COUNT_QUEUED][direction];

	switch (r->h.number) {
	case ACT_QUEUE:
		add(queued, r->h.bytes);
		if (direction ==
		    0) { /* the KiB go to the wrong place, the bytes below to the right one */
			queued->kib -= r->h.bytes >> 10;
			c->fs[COUNT_QUEUED][0].kib += r->h.bytes >> 10;
		}
		break;
	case ACT_ISSUE:
		add(&c->pc[COUNT_DISPATCHED][direction], r->h.bytes);
		break;
	case ACT_REQUEUE:
		requeue(c->pc, direction, r->h.bytes);
		break;
	case ACT_COMPLETE:
		c->pc[COUNT_COMPLETED][direction].nr++;
		break;
	}
}

void counters_take(struct counters *c, const struct record *r)
{
	int direction = record_direction(r);

	if (is_pc(r)) {
		take_pc(c, r);
		return;
	}
	switch (r->h.number) {
	case ACT_QUEUE:
		add(&c->fs[COUNT_QUEUED][direction], r->h.bytes);
		break;
	case ACT_BACKMERGE:
	case ACT_FRONTMERGE:
		add(&c->fs[COUNT_MERGED][direction], r->h.bytes);
		break;
	case ACT_ISSUE:
		add(&c->fs[COUNT_DISPATCHED][direction], r->h.bytes);
		break;
	case ACT_REQUEUE:
		requeue(c->fs, direction, r->h.bytes);
		break;
	case ACT_COMPLETE:
		add_completed(&c->fs[COUNT_COMPLETED][direction], r->h.bytes);
		break;
	case ACT_UNPLUG:
		c->unplugs++;
		break;
	case ACT_UNPLUG_TIMER:
		c->timer_unplugs++;
		break;
	}
}

static void add_counts(struct count (*sum)[2], const struct count (*c)[2])
{
	for (size_t i = 0; i < NR_COUNTED; i++) {
		for (size_t direction = 0; direction < 2; direction++) {
			sum[i][direction].nr += c[i][direction].nr;
			sum[i][direction].kib += c[i][direction].kib;
			sum[i][direction].bytes += c[i][direction].bytes;
		}
	}
}

void counters_add(struct counters *sum, const struct counters *c)
{
	add_counts(sum->fs, c->fs);
	add_counts(sum->pc, c->pc);
	sum->unplugs += c->unplugs;
	sum->timer_unplugs += c->timer_unplugs;
}

/* ---- devices ---- */

/* Of fs and pc alike, with data or without. */
void device_depth(struct device *device, const struct record *r)
{
	int direction = record_direction(r);
	uint64_t *depth = &device->depth[direction];

	switch (r->h.number) {
	case ACT_ISSUE:
		if (++*depth > device->most_depth[direction])
			device->most_depth[direction] = *depth;
		break;
	case ACT_REQUEUE:
	case ACT_COMPLETE:
		if (*depth)
			--*depth;
		break;
	}
}

struct cpu *device_cpu(struct device *device, uint32_t number)
{
	if (number >= CPUS_MAX)
		return NULL;
	if (number >= device->nr_cpus) {
		device->cpus = mem_resize(device->cpus, number + 1, sizeof(*device->cpus));
		for (size_t i = device->nr_cpus; i <= number; i++)
			device->cpus[i] = (struct cpu){ .number = (uint32_t)i };
		device->nr_cpus = number + 1;
	}
	return &device->cpus[number];
}

void device_release(struct device *device)
{
	for (size_t i = 0; i < device->nr_cpus; i++)
		free(device->cpus[i].pipe);
	free(device->cpus);
	free(device->name);
	timing_release(&device->timing);
	*device = (struct device){ 0 };
}

/* ---- processes ---- */

void processes_init(struct processes *processes, bool by_name)
{
	*processes = (struct processes){ .by_name = by_name };
	hash_init(&processes->by_key);
}

void processes_release(struct processes *processes)
{
	for (size_t i = 0; i < processes->nr; i++)
		free(processes->all[i]);
	free(processes->all);
	hash_release(&processes->by_key);
	*processes = (struct processes){ 0 };
}

const struct comm *processes_name(struct comms *comms, uint32_t pid)
{
	static const uint8_t unknown[] = "unknown";
	const struct comm *comm = comms_get(comms, pid);

	if (comm)
		return comm;
	comms_note(comms, pid, unknown, sizeof(unknown) - 1);
	return comms_get(comms, pid);
}

/* FNV-1a. */
static uint64_t name_key(const char *name)
{
	uint64_t key = 0xcbf29ce484222325u;

	for (; *name; name++)
		key = (key ^ (uint8_t)*name) * 0x100000001b3u;
	return key;
}

static struct process *find_named(const struct processes *processes, const char *name)
{
	struct hnode *node = hash_find(&processes->by_key, name_key(name));

	for (; node; node = hash_next(node)) {
		struct process *process = container_of(node, struct process, node);

		if (strcmp(process->name, name) == 0)
			return process;
	}
	return NULL;
}

static struct process *look(const struct processes *processes, struct comms *comms, uint32_t pid)
{
	const struct comm *comm;
	struct process *process;
	struct hnode *node;

	if (!processes->by_name) {
		node = hash_find(&processes->by_key, pid);
		return node ? container_of(node, struct process, node) : NULL;
	}
	comm = comms_get(comms, pid);
	process = comm ? find_named(processes, comm->name) : NULL;
	if (process && process->pid != pid)
		process->more_pids = true;
	return process;
}

/* NULL: nothing was charged to that pid yet. */
static struct process *find(struct processes *processes, struct comms *comms, uint32_t pid)
{
	struct process *process;

	if (processes->last && processes->last_pid == pid)
		return processes->last;
	process = look(processes, comms, pid);
	if (process) {
		processes->last = process;
		processes->last_pid = pid;
	}
	return process;
}

/* With -h every pid that has no name yet makes an "unknown" of its own; from then on that is its name, and it
 * is charged to the newest of that name. */
static struct process *add_process(struct processes *processes, struct comms *comms, uint32_t pid)
{
	struct process *process = mem_zalloc(sizeof(*process)), *older = NULL;
	const struct comm *comm = processes_name(comms, pid);

	process->pid = pid;
	memcpy(process->name, comm->name, sizeof(process->name));
	if (processes->by_name)
		older = find_named(processes, process->name);
	if (older)
		hash_del(&processes->by_key, &older->node);
	hash_add(&processes->by_key, &process->node,
		 processes->by_name ? name_key(process->name) : pid);
	processes->all = mem_grow(processes->all, processes->nr, sizeof(*processes->all));
	processes->all[processes->nr++] = process;
	processes->last = process;
	processes->last_pid = pid;
	return process;
}

struct process *processes_get(struct processes *processes, struct comms *comms, uint32_t pid)
{
	struct process *process = find(processes, comms, pid);

	return process ? process : add_process(processes, comms, pid);
}

static bool is_counted(const struct record *r)
{
	return r->h.number < 32 && (BIT(r->h.number) & (is_pc(r) ? COUNTED_PC : COUNTED_FS)) != 0;
}

void processes_take(struct processes *processes, struct comms *comms, const struct record *r,
		    const struct timed *timed)
{
	struct process *owner;
	uint64_t *longest_ns;

	if (is_counted(r))
		counters_take(&processes_get(processes, comms, r->h.pid)->counters, r);
	if (!timed->found)
		return;
	owner = find(processes, comms, timed->owner);
	if (!owner || timed->elapsed_ns == ELAPSED_NONE)
		return;
	longest_ns = &owner->longest_ns[timed->wait][record_direction(r)];
	if (timed->elapsed_ns > *longest_ns)
		*longest_ns = timed->elapsed_ns;
}
