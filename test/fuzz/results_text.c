/* SPDX-License-Identifier: MIT
 *
 * Hostile lines for the readers of results and snapshots: the first byte says which one gets the rest.
 */
#include "text_kind.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

extern const struct text_kind text_diskstats, text_block_dump, text_meminfo, text_json,
	text_fs_mark, text_fio, text_hyperfine, text_lkp, text_dd, text_mmtests;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct text_kind *const kinds[] = {
		&text_diskstats, &text_block_dump, &text_meminfo, &text_json, &text_fs_mark,
		&text_fio,       &text_hyperfine,  &text_lkp,     &text_dd,   &text_mmtests,
	};

	if (size)
		fuzz_kind(kinds[data[0] % (sizeof(kinds) / sizeof(*kinds))], data + 1, size - 1);
	return 0;
}
