/* SPDX-License-Identifier: MIT */
#include "base/mem.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

static void *there(void *ptr)
{
	if (ptr)
		return ptr;
	fputs("blklab: out of memory\n", stderr);
	exit(STATUS_FAILED);
}

void *mem_zalloc(size_t size)
{
	return there(calloc(1, size ? size : 1));
}

void *mem_resize(void *old, size_t nr, size_t size)
{
	return there(reallocarray(old, nr ? nr : 1, size));
}

char *mem_strdup(const char *text)
{
	return there(strdup(text));
}

char *mem_strndup(const char *text, size_t len)
{
	return there(strndup(text, len));
}

char *mem_printf(const char *fmt, ...)
{
	va_list args;
	char *text;

	va_start(args, fmt);
	if (vasprintf(&text, fmt, args) < 0)
		text = NULL;
	va_end(args);
	return there(text);
}

void *mem_grow(void *array, size_t nr, size_t size)
{
	if (nr == 0)
		return mem_resize(array, 8, size);
	if (nr < 8 || (nr & (nr - 1)))
		return array;
	return mem_resize(array, nr * 2, size);
}

/* About 64 KiB each: large enough to be rare, small enough to waste little. */
static size_t per_chunk(const struct slab *slab)
{
	size_t nr = 65536 / slab->size;

	return nr ? nr : 1;
}

void slab_init(struct slab *slab, size_t size)
{
	size = size < sizeof(void *) ? sizeof(void *) : size;
	*slab = (struct slab){ .size = (size + 7) & ~(size_t)7 };
}

void *slab_get(struct slab *slab)
{
	void *thing = slab->free_list;

	if (thing) {
		memcpy(&slab->free_list, thing, sizeof(void *));
		return thing;
	}
	if (!slab->nr_chunks || slab->used_in_chunk == per_chunk(slab)) {
		slab->chunks = mem_grow(slab->chunks, slab->nr_chunks, sizeof(*slab->chunks));
		slab->chunks[slab->nr_chunks++] = mem_resize(NULL, per_chunk(slab), slab->size);
		slab->used_in_chunk = 0;
	}
	return (char *)slab->chunks[slab->nr_chunks - 1] + slab->size * slab->used_in_chunk++;
}

void slab_put(struct slab *slab, void *thing)
{
	memcpy(thing, &slab->free_list, sizeof(void *));
	slab->free_list = thing;
}

void slab_release(struct slab *slab)
{
	for (size_t i = 0; i < slab->nr_chunks; i++)
		free(slab->chunks[i]);
	free(slab->chunks);
	*slab = (struct slab){ .size = slab->size };
}
