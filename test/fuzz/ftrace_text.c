/* SPDX-License-Identifier: MIT
 *
 * Hostile lines for the reader of the kernel's trace, trace-cmd and perf script.
 */
#include "text_kind.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

extern const struct text_kind text_ftrace;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_kind(&text_ftrace, data, size);
	return 0;
}
