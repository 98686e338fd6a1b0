/* SPDX-License-Identifier: MIT */
#include "read/text/text.h"

#include <stddef.h>

extern const struct text_kind text_blkparse, text_blkparse_summary, text_ftrace, text_blktrace_log,
	text_btt, text_biosnoop;
extern const struct text_kind text_diskstats, text_block_dump, text_meminfo, text_json,
	text_fs_mark, text_fio, text_hyperfine, text_lkp, text_dd,
	text_mmtests; /* results and snapshots */

const struct text_kind *const text_kinds[] = {
	&text_blkparse,
	&text_blkparse_summary,
	&text_blktrace_log,
	&text_btt,
	&text_ftrace,
	&text_biosnoop,
	&text_diskstats,
	&text_block_dump,
	&text_meminfo,
	&text_json,
	&text_fs_mark,
	&text_fio,
	&text_hyperfine,
	&text_lkp,
	&text_dd,
	&text_mmtests,
	NULL,
};
