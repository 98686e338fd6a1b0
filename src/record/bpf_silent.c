/* SPDX-License-Identifier: MIT */
#include "record/bpf_silent.h"

#include <stdlib.h>
#include <string.h>

uint64_t bpf_completed(const char *stat)
{
	uint64_t sum = 0;

	for (int field = 0; stat && *stat; field++) {
		char *end;
		uint64_t value = strtoull(stat, &end, 10);

		if (end == stat)
			break;
		/* Reads, writes, discards (Linux 4.18), flushes (5.5). */
		if (field == 0 || field == 4 || field == 11 || field == 15)
			sum += value;
		stat = end;
	}
	return sum;
}

const char *bpf_silent_hook(const struct bpf_seen *seen, const char *kind, uint64_t completed,
			    uint64_t slack)
{
	if (completed <= slack)
		return NULL;
	/* A mapping driver has no requests; what is below it need not have bios queued to it. */
	if (!strcmp(kind, "bio"))
		return seen->queued ? NULL : "block_bio_queue";
	if (strcmp(kind, "request") != 0)
		return seen->queued || seen->completed ? NULL : "block_bio_queue";
	if (!seen->completed)
		return "block_rq_complete";
	/* Requests that failed may never have been issued. */
	return seen->issued || seen->moved <= slack ? NULL : "block_rq_issue";
}

uint64_t bpf_unseen(const struct bpf_seen *seen, const char *kind, uint64_t completed,
		    uint64_t slack)
{
	if (strcmp(kind, "request") != 0 || completed <= seen->ended + slack)
		return 0;
	return completed - seen->ended;
}
