/* SPDX-License-Identifier: MIT
 *
 * An intrusive hash table on 64-bit keys that keeps equal keys in the order they came in, since
 * "first in, first out" is the rule for I/O that cannot be told apart (model.md 2).
 */
#ifndef BLKLAB_BASE_HASH_H
#define BLKLAB_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#include "base/container.h"

struct hnode {
	struct hnode *next; /* in the bucket: one node a key */
	struct hnode *same; /* the next one of equal key */
	struct hnode *last; /* of equal key; only the first one's is kept */
	uint64_t key;
};

struct hash {
	struct hnode **bucket; /* owned; the nodes are not */
	uint32_t mask;         /* buckets - 1 */
	uint32_t nr;           /* nodes in the table */
	uint32_t nr_keys;
};

void hash_init(struct hash *hash);
void hash_release(struct hash *hash);
/* In constant time, however many there are of equal key. */
void hash_add(struct hash *hash, struct hnode *node, uint64_t key);
/* In constant time for the first of equal key, else linear in those before it. */
void hash_del(struct hash *hash, struct hnode *node);

static inline uint32_t hash_slot(const struct hash *hash, uint64_t key)
{
	return (uint32_t)((key * 0x9e3779b97f4a7c15ull) >> 32) & hash->mask;
}

/* The first node with this key, in order of arrival, or NULL; hash_next gives the one after. */
static inline struct hnode *hash_find(const struct hash *hash, uint64_t key)
{
	struct hnode *node = hash->bucket[hash_slot(hash, key)];

	while (node && node->key != key)
		node = node->next;
	return node;
}

static inline struct hnode *hash_next(const struct hnode *node)
{
	return node->same;
}

/* A walk over every node, equal keys in their order; the table may not change meanwhile. Start from {0};
 * NULL at the end. */
struct hash_walk {
	uint32_t slot;              /* of the next bucket to look at */
	struct hnode *first, *node; /* of the current key */
};
struct hnode *hash_walk(const struct hash *hash, struct hash_walk *walk);

#endif
