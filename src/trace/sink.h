/* SPDX-License-Identifier: MIT
 *
 * A sink takes events, pushed by the pump.
 */
#ifndef BLKLAB_TRACE_SINK_H
#define BLKLAB_TRACE_SINK_H

#include "trace/source.h"

struct sink;

struct sink_ops {
	void (*events)(struct sink *self, const struct event *events, int nr); /* borrowed */
	void (*finish)(struct sink *self); /* no more events will come */
	void (*release)(struct sink *self);
};

struct sink {
	const struct sink_ops *ops;
};

/* Pulls everything from src and pushes it to the sinks; 0, or -1 with err (what was pulled before
 * the error has been pushed; finish is called either way). */
int pump(struct source *src, struct sink *const *sinks, size_t nr, struct error *err);

#endif
