/* SPDX-License-Identifier: MIT */
#include "read/text.h"

#include <stddef.h>

extern const struct text_kind text_blkparse, text_blkparse_summary, text_ftrace, text_blktrace_log,
	text_btt, text_biosnoop, text_diskstats, text_dd, text_fs_mark, text_fio, text_tables;

const struct text_kind *const text_kinds[] = {
	NULL,
};
