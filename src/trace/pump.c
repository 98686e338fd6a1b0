/* SPDX-License-Identifier: MIT */
#include "trace/sink.h"

#define PUMP_BATCH 512

int pump(struct source *src, struct sink *const *sinks, size_t nr, struct error *err)
{
	struct event events[PUMP_BATCH];
	int n;

	while ((n = source_pull(src, events, PUMP_BATCH, err)) > 0)
		for (size_t i = 0; i < nr; i++)
			sinks[i]->ops->events(sinks[i], events, n);
	for (size_t i = 0; i < nr; i++)
		sinks[i]->ops->finish(sinks[i]);
	return n;
}
