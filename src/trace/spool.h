/* SPDX-License-Identifier: MIT
 *
 * Where the members of archives lie, one behind the other: in memory up to 32 MiB in total, beyond that
 * all of them in a temporary file that has no name. Members are read while others are written, also by
 * another thread.
 */
#ifndef BLKLAB_TRACE_SPOOL_H
#define BLKLAB_TRACE_SPOOL_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

#define SPOOL_MEMORY (32u << 20)
#define SPOOL_MAX    (64ull << 30) /* bytes that may be unpacked, holes included */

struct spool;

struct spool *spool_new(void);                /* holds one share */
struct spool *spool_get(struct spool *spool); /* another share */
void spool_put(struct spool *spool);          /* gives a share back; NULL is none */

uint64_t spool_size(struct spool *spool);
/* Appends n bytes, or a hole of n bytes (`bytes` NULL) that is not written. -1 with err, which names
 * `label`, where there is no room. */
int spool_append(struct spool *spool, const void *bytes, uint64_t n, const char *label,
		 struct error *err);
/* n bytes from `at`, all of which were appended. */
ssize_t spool_read(struct spool *spool, void *buf, size_t n, uint64_t at, const char *label,
		   struct error *err);

#endif
