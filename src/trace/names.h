/* SPDX-License-Identifier: MIT
 *
 * The process table: what was thread `pid` called at a time, and who was its parent. Pids are
 * reused and exec changes names, so entries carry the time from which they hold.
 */
#ifndef BLKLAB_TRACE_NAMES_H
#define BLKLAB_TRACE_NAMES_H

#include <stdint.h>

#include "base/hash.h"
#include "base/mem.h"

#define COMM_LEN 16

struct names {
	struct hash by_pid;
	struct slab slab;
};

void names_init(struct names *names);
void names_release(struct names *names);

/* From time_ns on, pid is called comm (at most len bytes, cut at a NUL). Cheap when it already is.
 * Times may come in any order. */
void names_add(struct names *names, uint32_t pid, uint64_t time_ns, const char *comm, size_t len);

/* The name at that time, the nearest known one otherwise; NULL if none is known. Borrowed. */
const char *names_get(const struct names *names, uint32_t pid, uint64_t time_ns);

/* child was forked by parent (thread group ids where known); kept for names_descends. */
void names_fork(struct names *names, uint32_t parent, uint32_t child);

/* Is pid the ancestor itself or a child, grandchild, ... of it, by the forks seen? */
int names_descends(const struct names *names, uint32_t pid, uint32_t ancestor);

#endif
