/* SPDX-License-Identifier: MIT
 *
 * A source yields events in batches; the caller pulls. One source per per-CPU file; a merge is a
 * source too.
 */
#ifndef BLKLAB_TRACE_SOURCE_H
#define BLKLAB_TRACE_SOURCE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "trace/event.h"

struct source_stats {
	uint64_t events;        /* delivered */
	uint64_t bytes;         /* read from the input */
	uint64_t lost;          /* counted as lost by the kernel or recorder inside this source */
	uint64_t sequence_gaps; /* missing sequence numbers (binary traces only) */
	uint64_t damaged_bytes; /* skipped, cut or unreadable */
	uint64_t damages;       /* places where that happened */
};

struct source;

struct source_ops {
	/* Fills up to `max` events. >0: how many; 0: end; <0: error, err set. Payloads lent stay
	 * valid until the next pull of this source. */
	int (*pull)(struct source *self, struct event *events, int max, struct error *err);
	/* Frees everything including `self`. */
	void (*release)(struct source *self);
};

struct source {
	const struct source_ops *ops;
	struct source_stats stats;
};

static inline int source_pull(struct source *src, struct event *events, int max, struct error *err)
{
	return src->ops->pull(src, events, max, err);
}

static inline void source_release(struct source *src)
{
	if (src)
		src->ops->release(src);
}

/* A growing list of owned sources. */
struct sources {
	struct source **list;
	size_t nr;
};

void sources_add(struct sources *sources, struct source *src); /* takes src */
void sources_release(struct sources *sources);

/* Merges sources into one that yields their events in the order of the classic blkparse: by the time
 * of each one's next event; a source's own order is kept even where its time runs backwards; the
 * current source stays current while its next time is not greater than its successor's; one that is
 * put back goes before waiting ones of equal time, but never before the head. Takes the sources (the
 * list is emptied). Never NULL: a merge of nothing is at its end. */
struct source *merge_new(struct sources *sources);

/* The sums over the merged sources so far; at the end they are the merge's own stats too. `merge` is
 * what merge_new returned. */
struct source_stats merge_stats(const struct source *merge);

#endif
