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

/* Puts the first node of a key into its bucket. */
static void put_first(struct hash *hash, struct hnode *node)
{
	struct hnode **bucket = &hash->bucket[hash_slot(hash, node->key)];

	node->next = *bucket;
	*bucket = node;
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
			put_first(hash, node);
		}
	}
	free(old);
}

void hash_add(struct hash *hash, struct hnode *node, uint64_t key)
{
	struct hnode *first = hash_find(hash, key);

	node->key = key;
	node->same = NULL;
	hash->nr++;
	if (first) {
		first->last->same = node;
		first->last = node;
		return;
	}
	if (hash->nr_keys++ > hash->mask)
		grow(hash);
	node->last = node;
	put_first(hash, node);
}

static void del_behind(struct hnode *first, const struct hnode *node)
{
	struct hnode *before = first;

	while (before->same != node)
		before = before->same;
	before->same = node->same;
	if (first->last == node)
		first->last = before;
}

void hash_del(struct hash *hash, struct hnode *node)
{
	struct hnode **link = &hash->bucket[hash_slot(hash, node->key)], *heir = node->same;

	while ((*link)->key != node->key)
		link = &(*link)->next;
	hash->nr--;
	if (*link != node) {
		del_behind(*link, node);
		return;
	}
	if (heir) {
		heir->last = node->last;
		heir->next = node->next;
		*link = heir;
		return;
	}
	*link = node->next;
	hash->nr_keys--;
}

struct hnode *hash_walk(const struct hash *hash, struct hash_walk *walk)
{
	if (walk->node && walk->node->same) {
		walk->node = walk->node->same;
		return walk->node;
	}
	walk->first = walk->first ? walk->first->next : NULL;
	while (!walk->first && walk->slot <= hash->mask)
		walk->first = hash->bucket[walk->slot++];
	walk->node = walk->first;
	return walk->node;
}
