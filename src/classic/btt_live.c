/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "classic/btt.h"

void btt_live_add(struct btt_live *live, uint64_t from_ns, uint64_t to_ns)
{
	size_t behind = live->nr, first;

	/* Spans [first, behind) become one with it; what comes behind is there only where a flush
	 * held back the end of a write whose data was there long before. */
	while (behind && live->spans[behind - 1].from_ns > to_ns)
		behind--;
	for (first = behind; first && live->spans[first - 1].to_ns >= from_ns; first--) {
		const struct btt_span *span = &live->spans[first - 1];

		if (from_ns > span->from_ns)
			from_ns = span->from_ns;
		if (to_ns < span->to_ns)
			to_ns = span->to_ns;
	}
	if (first == behind)
		live->spans = mem_grow(live->spans, live->nr, sizeof(*live->spans));
	memmove(&live->spans[first + 1], &live->spans[behind],
		(live->nr - behind) * sizeof(*live->spans));
	live->nr -= behind - first;
	live->nr++;
	live->spans[first] = (struct btt_span){ .from_ns = from_ns, .to_ns = to_ns };
}

void btt_live_release(struct btt_live *live)
{
	free(live->spans);
	*live = (struct btt_live){ 0 };
}
