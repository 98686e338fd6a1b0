/* SPDX-License-Identifier: MIT
 *
 * Names of processes: one copy of each name, by which numbers are added up.
 */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "classic/btt_names.h"

struct name {
	struct hnode by_text; /* key: a hash of the text */
	char text[COMM_LEN + 4];
};

/* What a pid was called when it was asked for last. */
struct recent {
	const char *told, *name;
	uint32_t pid;
};
#define NR_RECENT 64

struct btt_processes {
	struct hash names;
	struct slab slab;
	struct recent recent[NR_RECENT];
};

struct btt_processes *btt_processes_new(void)
{
	struct btt_processes *p = mem_zalloc(sizeof(*p));

	hash_init(&p->names);
	slab_init(&p->slab, sizeof(struct name));
	return p;
}

void btt_processes_free(struct btt_processes *p)
{
	if (!p)
		return;
	hash_release(&p->names);
	slab_release(&p->slab);
	free(p);
}

static uint64_t key_of(const char *text)
{
	uint64_t key = 14695981039346656037u; /* FNV-1a */

	for (; *text; text++)
		key = (key ^ (unsigned char)*text) * 1099511628211u;
	return key;
}

static const char *the_one(struct btt_processes *p, const char *text)
{
	uint64_t key = key_of(text);
	struct name *name;

	for (struct hnode *node = hash_find(&p->names, key); node; node = hash_next(node)) {
		name = container_of(node, struct name, by_text);
		if (!strcmp(name->text, text))
			return name->text;
	}
	name = slab_get(&p->slab);
	snprintf(name->text, sizeof(name->text), "%s", text);
	hash_add(&p->names, &name->by_text, key);
	return name->text;
}

/* As the classic calls it where nothing is known. */
static const char *unknown(struct btt_processes *p, uint32_t pid)
{
	char text[COMM_LEN];

	if (!pid)
		return the_one(p, "kernel");
	snprintf(text, sizeof(text), "pid%09u", pid);
	return the_one(p, text);
}

const char *btt_process(struct btt *b, uint32_t pid, uint64_t time_ns)
{
	struct btt_processes *p = b->processes;
	struct recent *recent = &p->recent[pid % NR_RECENT];
	const char *told = pid ? names_get(&b->facts->names, pid, time_ns + b->shift_ns) : NULL;

	if (recent->name && recent->pid == pid && recent->told == told)
		return recent->name;
	*recent = (struct recent){
		.told = told,
		.name = told && *told ? the_one(p, told) : unknown(p, pid),
		.pid = pid,
	};
	return recent->name;
}

bool btt_process_shown(const struct btt_options *o, const char *name)
{
	if (o->no_processes)
		return false;
	for (size_t i = 0; i < o->nr_processes; i++)
		if (btt_process_is(name, o->processes[i]))
			return true;
	return !o->nr_processes;
}

bool btt_process_is(const char *name, const char *wanted)
{
	size_t len = strlen(wanted);

	return !strncmp(name, wanted, len) && (!name[len] || (name[len] == '/' && len));
}
