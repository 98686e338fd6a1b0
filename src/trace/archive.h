/* SPDX-License-Identifier: MIT
 *
 * libarchive, loaded when the first archive is met and not before: it brings libxml2, ICU and the C++
 * library along, whose relocations would be most of the time that a start of the program takes.
 */
#ifndef BLKLAB_TRACE_ARCHIVE_H
#define BLKLAB_TRACE_ARCHIVE_H

#include <archive.h>
#include <archive_entry.h>

#include "base/error.h"

/* All that is used of it: what is called in another way would not link. */
#define LIBARCHIVE_CALLS(CALL)                     \
	CALL(archive_entry_filetype)               \
	CALL(archive_entry_hardlink)               \
	CALL(archive_entry_pathname)               \
	CALL(archive_entry_symlink)                \
	CALL(archive_error_string)                 \
	CALL(archive_read_data_block)              \
	CALL(archive_read_free)                    \
	CALL(archive_read_new)                     \
	CALL(archive_read_next_header)             \
	CALL(archive_read_open)                    \
	CALL(archive_read_support_filter_bzip2)    \
	CALL(archive_read_support_filter_compress) \
	CALL(archive_read_support_filter_lz4)      \
	CALL(archive_read_support_filter_lzip)     \
	CALL(archive_read_support_filter_lzma)     \
	CALL(archive_read_support_filter_zstd)     \
	CALL(archive_read_support_format_empty)    \
	CALL(archive_read_support_format_raw)      \
	CALL(archive_read_support_format_tar)      \
	CALL(archive_read_support_format_zip)      \
	CALL(archive_set_error)

/* Its functions, under their own names. */
struct libarchive {
#define CALL(name) __typeof__(name) *name;
	LIBARCHIVE_CALLS(CALL)
#undef CALL
};

/* Fills it in; cheap when it is loaded already, and it stays loaded. `label`: what is to be unpacked.
 * -1 with err where the library is missing. */
int libarchive_load(struct libarchive *lib, const char *label, struct error *err);

#endif
