/* SPDX-License-Identifier: MIT
 *
 * Messages in the trace, as they come: on the msg output.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"
#include "classic/btt_parts.h"

struct messages {
	struct btt *b;
};

static void *messages_new(struct btt *b)
{
	struct messages *m = mem_zalloc(sizeof(*m));

	m->b = b;
	return m;
}

static void messages_event(void *self, struct btt_device *dev, const struct event *ev)
{
	struct messages *m = self;
	FILE *out = m->b->msg;

	if (ev->action != ACT_MESSAGE || !ev->payload_len)
		return;
	fprintf(out, "(%3u,%3u) %5" PRIu64 ".%09" PRIu64 " %.*s\n", DEVICE_MAJOR(ev->device),
		DEVICE_MINOR(ev->device), m->b->now_ns / 1000000000, m->b->now_ns % 1000000000,
		(int)ev->payload_len, (const char *)ev->payload);
}

const struct btt_part btt_messages = {
	.name = "messages",
	.new = messages_new,
	.event = messages_event,
	.free = free,
};
