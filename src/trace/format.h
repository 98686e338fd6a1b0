/* SPDX-License-Identifier: MIT
 *
 * A format that can be read: one const struct in its own file in src/read, one row in
 * src/read/formats.c.
 */
#ifndef BLKLAB_TRACE_FORMAT_H
#define BLKLAB_TRACE_FORMAT_H

#include "trace/facts.h"
#include "trace/input.h"
#include "trace/source.h"

struct format {
	const char *name; /* "blktrace", in JSON */
	const char *what; /* "blktrace per-CPU files", for people */
	bool facts_only;  /* gives no events */
	/* Does this look like it? 0 no, 100 certain. May look at names and heads; consumes nothing. */
	int (*probe)(struct input *in, struct error *err);
	/* Adds its sources and facts. The sources borrow in and facts until released. -1 with err. */
	int (*open)(struct input *in, struct facts *facts, struct sources *sources,
		    struct error *err);
};

#endif
