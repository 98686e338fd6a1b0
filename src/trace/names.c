/* SPDX-License-Identifier: MIT */
#include "trace/names.h"

#include <string.h>

/* Names that one pid may have had; a worker thread has a few, hostile input any number. */
#define NAMES_PER_PID 256
/* Generations that names_descends climbs: forks seen out of order could form a ring. */
#define GENERATIONS_MAX 1024

struct name {
	struct name *older;
	uint64_t from_ns;
	char comm[COMM_LEN];
};

struct process {
	struct hnode node; /* key: pid */
	struct name *newest;
	uint32_t parent;
	uint16_t nr;
	uint16_t has_parent;
};

/* One slab serves both. */
union record {
	struct name name;
	struct process process;
};

void names_init(struct names *names)
{
	hash_init(&names->by_pid);
	slab_init(&names->slab, sizeof(union record));
}

void names_release(struct names *names)
{
	hash_release(&names->by_pid);
	slab_release(&names->slab);
}

static struct process *find(const struct names *names, uint32_t pid)
{
	struct hnode *node = hash_find(&names->by_pid, pid);

	return node ? container_of(node, struct process, node) : NULL;
}

static struct process *find_or_add(struct names *names, uint32_t pid)
{
	struct process *p = find(names, pid);

	if (p)
		return p;
	p = slab_get(&names->slab);
	memset(p, 0, sizeof(*p));
	hash_add(&names->by_pid, &p->node, pid);
	return p;
}

void names_add(struct names *names, uint32_t pid, uint64_t time_ns, const char *comm, size_t len)
{
	struct process *p = find_or_add(names, pid);
	struct name **at = &p->newest, *later = NULL, *name;
	char text[COMM_LEN] = { 0 };

	len = strnlen(comm, len < COMM_LEN - 1 ? len : COMM_LEN - 1);
	memcpy(text, comm, len);
	for (; *at && (*at)->from_ns > time_ns; at = &(*at)->older)
		later = *at;
	if (*at && !memcmp((*at)->comm, text, COMM_LEN))
		return;
	/* Told late that the next one held earlier. */
	if (later && !memcmp(later->comm, text, COMM_LEN)) {
		later->from_ns = time_ns;
		return;
	}
	if (p->nr == NAMES_PER_PID)
		return;
	p->nr++;
	name = slab_get(&names->slab);
	name->from_ns = time_ns;
	name->older = *at;
	memcpy(name->comm, text, COMM_LEN);
	*at = name;
}

const char *names_get(const struct names *names, uint32_t pid, uint64_t time_ns)
{
	const struct process *p = find(names, pid);
	const struct name *name = p ? p->newest : NULL;

	while (name && name->from_ns > time_ns && name->older)
		name = name->older;
	return name ? name->comm : NULL;
}

void names_fork(struct names *names, uint32_t parent, uint32_t child)
{
	struct process *p = find_or_add(names, child);

	p->parent = parent;
	p->has_parent = 1;
}

int names_descends(const struct names *names, uint32_t pid, uint32_t ancestor)
{
	for (int i = 0; i < GENERATIONS_MAX; i++) {
		const struct process *p;

		if (pid == ancestor)
			return 1;
		p = find(names, pid);
		if (!p || !p->has_parent)
			return 0;
		pid = p->parent;
	}
	return 0;
}
