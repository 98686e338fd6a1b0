/* SPDX-License-Identifier: MIT
 *
 * Hostile ring-buffer pages with good formats. The first byte picks byte order, long size and page
 * size.
 */
#include <stdlib.h>

#include "../ftrace_build.h"
#include "read/ftrace_page.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void pull_all(struct source *src)
{
	struct error err = { 0 };
	struct event events[16];

	while (source_pull(src, events, 16, &err) > 0)
		;
	/* What was read is what was there; damage and losses may only add to it. */
	if (src->stats.events > src->stats.bytes)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct page_cpu cpu = { .cpu = 1, .start_ns = 5, .ring_lost = 2 };
	struct page_machine machine;
	struct page_layout *layout;
	struct error err = { 0 };
	struct facts facts;
	struct input in;

	if (!size)
		return 0;
	machine.little_endian = data[0] & 1;
	machine.long_size = data[0] & 2 ? 8 : 4;
	machine.page_size = data[0] & 4 ? 256 : 4096;
	facts_init(&facts);
	build_group(&in, "fuzz");
	build_blob(&in, "cpu1.pages", data + 1, size - 1);
	layout = page_layout_new(&in, &machine, &err);
	if (layout) {
		struct source *src =
			page_source_new(layout, input_blob(&in, "cpu1.pages"), &cpu, &facts);

		page_layout_put(layout);
		pull_all(src);
		source_release(src);
	}
	input_release(&in);
	facts_release(&facts);
	return 0;
}
