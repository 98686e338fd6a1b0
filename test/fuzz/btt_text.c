/* SPDX-License-Identifier: MIT
 *
 * Hostile text for the reader of btt's tables. The input is offered line by line to that kind only, so that
 * it is not another one that takes them.
 */
#include "text_kind.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

extern const struct text_kind text_btt;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_kind(&text_btt, data, size);
	return 0;
}
