/* SPDX-License-Identifier: MIT
 *
 * Hostile lines for the reader of biosnoop's tables and their kin.
 */
#include "text_kind.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

extern const struct text_kind text_biosnoop;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_kind(&text_biosnoop, data, size);
	return 0;
}
