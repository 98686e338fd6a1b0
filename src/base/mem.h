/* SPDX-License-Identifier: MIT
 *
 * Memory that is there or ends the program with one sentence (a tool of megabytes has nothing
 * better to do), growing arrays, and a slab of equal things with stable addresses.
 */
#ifndef BLKLAB_BASE_MEM_H
#define BLKLAB_BASE_MEM_H

#include <stddef.h>

void *mem_zalloc(size_t size);                       /* zeroed; owned by the caller, free() */
void *mem_resize(void *old, size_t nr, size_t size); /* reallocarray that never fails */
char *mem_strdup(const char *text);
char *mem_strndup(const char *text, size_t len);
char *mem_printf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Makes room for one more in a growing array: `array = mem_grow(array, nr, sizeof(*array))` before
 * array[nr++] = x; grows in powers of two from 8, so nr alone tells the room there is. */
void *mem_grow(void *array, size_t nr, size_t size);

/* A slab: things of one size at stable addresses, recycled in LIFO order. Zero-initialise with
 * slab_init; slab_get returns uninitialised memory. Freed things are only returned to the system
 * by slab_release. */
struct slab {
	size_t size; /* of one thing, at least a pointer */
	void *free_list;
	void **chunks; /* owned */
	size_t nr_chunks;
	size_t used_in_chunk;
};

void slab_init(struct slab *slab, size_t size);
void *slab_get(struct slab *slab);
void slab_put(struct slab *slab, void *thing);
void slab_release(struct slab *slab);

#endif
