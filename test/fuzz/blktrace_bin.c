/* SPDX-License-Identifier: MIT
 *
 * Hostile blktrace files, through the reader, the merge and the tracker: two per-CPU files of one
 * device, cut from the input at its middle, then the whole input as a stream of all CPUs.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "trace/format.h"
#include "track/track.h"

extern const struct format format_blktrace_bin;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void read_all(struct input *in, int nr)
{
	struct track_options all = { .from_ns = TIME_NONE, .to_ns = TIME_NONE };
	struct facts facts;
	struct sources sources = { 0 };
	struct summary sum = { 0 };
	struct error err = { 0 };
	struct source *merged;
	struct tracker *t;
	struct sink *sink;

	facts_init(&facts);
	for (int i = 0; i < nr; i++) {
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
	for (int i = 0; i < nr; i++)
		input_release(&in[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct input in[2];

	input_memory(&in[0], "vda.blktrace.0", data, len / 2);
	input_memory(&in[1], "vda.blktrace.1", data + len / 2, len - len / 2);
	read_all(in, 2);
	input_memory(&in[0], "live", data, len);
	read_all(in, 1);
	return 0;
}
