/* SPDX-License-Identifier: MIT */
#include "classic/btt_at_device.h"

static const struct device_sum *sum_of(struct btt_at_device *at, const struct btt *b,
				       uint32_t device)
{
	const struct summary *sum = b->sum;

	if (at->place < sum->nr_devices && sum->devices[at->place].device == device)
		return &sum->devices[at->place];
	for (at->place = 0; at->place < sum->nr_devices; at->place++)
		if (sum->devices[at->place].device == device)
			return &sum->devices[at->place];
	return NULL;
}

uint64_t btt_at_device_settle(struct btt_at_device *at, const struct btt *b,
			      const struct btt_device *dev)
{
	const struct device_sum *sum = sum_of(at, b, dev->number);
	uint64_t no_ends, fell;

	if (!sum)
		return 0; /* the tracker has not seen it yet */
	no_ends = sum->partial_completions + sum->orphan_completes + sum->double_completions;
	fell = sum->orphan_issues - at->lost + (at->completed && no_ends == at->no_ends);
	if (fell > at->now)
		fell = at->now; /* it was issued before the device began to count */
	at->now -= fell;
	at->completed = false;
	at->no_ends = no_ends;
	at->lost = sum->orphan_issues;
	return fell;
}

int btt_at_device_event(struct btt_at_device *at, const struct btt *b, const struct event *ev)
{
	bool moves = ev->bytes || (ev->flags & EV_NO_BYTES);

	at->last_ns = b->now_ns;
	at->completed = ev->action == ACT_COMPLETE;
	if (ev->action == ACT_ISSUE) {
		at->now++;
		return 1;
	}
	if (ev->action == ACT_REQUEUE && moves && at->now) {
		at->now--;
		return -1;
	}
	return 0;
}
