/* SPDX-License-Identifier: MIT
 *
 * Hostile lines of blkparse, through the text reader and the tracker.
 */
#include <stdlib.h>

#include "trace/format.h"
#include "track/track.h"

extern const struct format format_text;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct track_options all = { .from_ns = TIME_NONE, .to_ns = TIME_NONE };
	struct sources sources = { 0 };
	struct summary sum = { 0 };
	struct error err = { 0 };
	struct source *merged;
	struct tracker *t;
	struct facts facts;
	struct input in;
	struct sink *sink;

	facts_init(&facts);
	input_memory(&in, "text", data, size);
	format_text.open(&in, &facts, &sources, &err);
	merged = merge_new(&sources);
	t = tracker_new(&all, &facts, &sum);
	sink = tracker_sink(t);
	pump(merged, &sink, 1, &err);
	/* A line gives one event at most. */
	if (facts.nr_inputs && facts.inputs[0].events > facts.inputs[0].lines_used)
		abort();
	tracker_free(t);
	source_release(merged);
	summary_release(&sum);
	facts_release(&facts);
	input_release(&in);
	return 0;
}
