/* SPDX-License-Identifier: MIT
 *
 * Hostile text for the reader of blktrace's capture log.
 */
#include "read/formats.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

extern const struct format format_blktrace_log;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sources sources = { 0 };
	struct error err = { 0 };
	struct facts facts;
	struct input in;

	facts_init(&facts);
	input_memory(&in, "log", data, size);
	format_blktrace_log.probe(&in, &err);
	format_blktrace_log.open(&in, &facts, &sources, &err);
	sources_release(&sources);
	input_release(&in);
	facts_release(&facts);
	return 0;
}
