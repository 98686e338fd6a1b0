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
	struct hnode *next;
	uint64_t key;
};

struct hash {
	struct hnode **bucket; /* owned; the nodes are not */
	uint32_t mask;         /* buckets - 1 */
	uint32_t nr;           /* nodes in the table */
};

void hash_init(struct hash *hash);
void hash_release(struct hash *hash);
void hash_add(struct hash *hash, struct hnode *node, uint64_t key);
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
	uint64_t key = node->key;

	do
		node = node->next;
	while (node && node->key != key);
	return (struct hnode *)node;
}

#endif
