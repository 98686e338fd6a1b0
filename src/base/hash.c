/* SPDX-License-Identifier: MIT */
#include "base/hash.h"

#include <stdlib.h>

#include "base/mem.h"

void hash_init(struct hash *hash)
{
	*hash = (struct hash){ .mask = 63 };
	hash->bucket = mem_zalloc((hash->mask + 1) * sizeof(*hash->bucket));
}

void hash_release(struct hash *hash)
{
	free(hash->bucket);
	*hash = (struct hash){ 0 };
}

/* Appends: equal keys stay in the order of their arrival. */
static void append(struct hash *hash, struct hnode *node)
{
	struct hnode **link = &hash->bucket[hash_slot(hash, node->key)];

	while (*link)
		link = &(*link)->next;
	*link = node;
	node->next = NULL;
}

static void grow(struct hash *hash)
{
	struct hnode **old = hash->bucket;
	uint32_t nr_old = hash->mask + 1;

	hash->mask = nr_old * 2 - 1;
	hash->bucket = mem_zalloc((size_t)nr_old * 2 * sizeof(*hash->bucket));
	for (uint32_t i = 0; i < nr_old; i++) {
		struct hnode *node = old[i], *next;

		for (; node; node = next) {
			next = node->next;
			append(hash, node);
		}
	}
	free(old);
}

void hash_add(struct hash *hash, struct hnode *node, uint64_t key)
{
	if (hash->nr > hash->mask)
		grow(hash);
	node->key = key;
	append(hash, node);
	hash->nr++;
}

void hash_del(struct hash *hash, struct hnode *node)
{
	struct hnode **link = &hash->bucket[hash_slot(hash, node->key)];

	while (*link != node)
		link = &(*link)->next;
	*link = node->next;
	hash->nr--;
}
