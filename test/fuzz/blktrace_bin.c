/* SPDX-License-Identifier: MIT
 *
 * Hostile blktrace files, through the reader, the merge and the tracker: two per-CPU files of one
 * device, cut from the input at its middle.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "trace/format.h"
#include "track/track.h"

extern const struct format format_blktrace_bin;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct track_options all = { .from_ns = TIME_NONE, .to_ns = TIME_NONE };
	struct input in[2];
	struct facts facts;
	struct sources sources = { 0 };
	struct summary sum = { 0 };
	struct error err = { 0 };
	struct source *merged;
	struct tracker *t;
	struct sink *sink;

	facts_init(&facts);
	input_memory(&in[0], "vda.blktrace.0", data, len / 2);
	input_memory(&in[1], "vda.blktrace.1", data + len / 2, len - len / 2);
	for (int i = 0; i < 2; i++) {
		format_blktrace_bin.probe(&in[i], &err);
		format_blktrace_bin.open(&in[i], &facts, &sources, &err);
	}
	merged = merge_new(&sources);
	t = tracker_new(&all, &facts, &sum);
	sink = tracker_sink(t);
	pump(merged, &sink, 1, &err);
	tracker_free(t);
	source_release(merged);
	summary_release(&sum);
	facts_release(&facts);
	for (int i = 0; i < 2; i++)
		input_release(&in[i]);
	return 0;
}
