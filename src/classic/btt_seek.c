/* SPDX-License-Identifier: MIT */
#include "classic/btt.h"

static bool touches(const struct btt_seek *seek, uint64_t sector)
{
	return sector >= seek->start && sector <= seek->end;
}

static int64_t away(const struct btt_seek *seek, uint64_t start, uint64_t end)
{
	if (touches(seek, start) || touches(seek, end))
		return 0;
	return (int64_t)(start - (start > seek->start ? seek->end : seek->start));
}

int64_t btt_seek_distance(struct btt_seek *seek, uint64_t start, uint64_t end, bool absolute)
{
	int64_t distance = absolute ? (int64_t)(start - seek->end) : away(seek, start, end);

	*seek = (struct btt_seek){ .start = start, .end = end };
	return distance;
}
