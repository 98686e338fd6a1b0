/* SPDX-License-Identifier: MIT
 *
 * Do data writes begin where stripes begin (`report --align SECTORS`)? An event sink beside the
 * tracker: looks at D of devices that have requests, else at Q. Memory is bounded, whatever comes.
 *
 * Left out and counted apart: metadata (M), pre-flush and FUA writes (journals) and writes below 8
 * sectors, which cannot be aligned by their nature.
 */
#ifndef BLKLAB_VIEW_ALIGNMENT_H
#define BLKLAB_VIEW_ALIGNMENT_H

#include <jansson.h>
#include <stdint.h>

#include "trace/facts.h"
#include "trace/sink.h"

#define ALIGN_MAX_SECTORS 0x7fffffffu

struct alignment;
struct report;

/* stripe: sectors, > 0. Only what happens in [from_ns, to_ns] counts (TIME_NONE: no limit). */
struct alignment *alignment_new(uint32_t stripe, uint64_t from_ns, uint64_t to_ns);
void alignment_free(struct alignment *align);
struct sink *alignment_sink(struct alignment *align);

/* devices[].alignment (doc/spec.md), owned by the caller; NULL where no data write was seen. */
json_t *alignment_tree(const struct report *r, uint32_t device);

#endif
