/* SPDX-License-Identifier: MIT
 *
 * A hostile trace directory: every file of it comes from the fuzzer's bytes. Each starts with a byte
 * that picks its name and two that tell its length (low byte first); the last may be shorter.
 */
#include <stdio.h>

#include "../ftrace_build.h"
#include "read/formats.h"
#include "read/ftrace_page.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const names[] = {
	"meta.json",
	"cpu0.pages",
	"cpu1.pages",
	"saved_cmdlines",
	"formats/header_page",
	"formats/block/block_bio_queue",
	"formats/block/block_rq_issue",
	"formats/sched/sched_process_fork",
	"formats/sched/sched_process_exec",
	"formats/block/block_unplug",
	"formats/task/task_newtask",
	"formats/task/task_rename",
	"saved_tgids",
};

static void build(struct input *in, const uint8_t *data, size_t size)
{
	*in = (struct input){ .label = mem_strdup("fuzz"), .base = mem_strdup("fuzz") };
	while (size >= 3 && in->nr < 64) {
		size_t len = data[1] | (size_t)data[2] << 8;
		const char *name = names[data[0] % (sizeof(names) / sizeof(*names))];

		data += 3;
		size -= 3;
		if (len > size)
			len = size;
		build_blob(in, name, data, len);
		data += len;
		size -= len;
	}
}

static void dump(const uint8_t *data, size_t size)
{
	struct error err = { 0 };
	struct input in;
	FILE *out = fopen("/dev/null", "w");

	build(&in, data, size);
	if (out) {
		ftrace_page_dump(&in, out, &err);
		fclose(out);
	}
	input_release(&in);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct inputs inputs = { .list = mem_zalloc(sizeof(struct input)), .nr = 1 };
	struct sources sources = { 0 };
	struct error err = { 0 };
	struct event events[16];
	struct source *merged;
	struct facts facts;

	facts_init(&facts);
	build(&inputs.list[0], data, size);
	inputs_open(&inputs, &facts, &sources, &err);
	merged = merge_new(&sources);
	while (source_pull(merged, events, 16, &err) > 0)
		;
	source_release(merged);
	sources_release(&sources);
	facts_release(&facts);
	inputs_release(&inputs);
	dump(data, size);
	return 0;
}
