/* SPDX-License-Identifier: MIT
 *
 * Hostile text for the whole reader of texts: cleaning, all kinds, sorting.
 */
#include "read/formats.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

extern const struct format format_text;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sources sources = { 0 };
	struct error err = { 0 };
	struct event events[64];
	struct facts facts;
	struct input in;

	facts_init(&facts);
	input_memory(&in, "text", data, size);
	format_text.probe(&in, &err);
	if (!format_text.open(&in, &facts, &sources, &err))
		for (size_t i = 0; i < sources.nr; i++)
			while (source_pull(sources.list[i], events, 64, &err) > 0)
				;
	sources_release(&sources);
	input_release(&in);
	facts_release(&facts);
	return 0;
}
