/* SPDX-License-Identifier: MIT
 *
 * Formats of the user's own: -f FMT and -F LETTER,FMT. Compiled when the options are read.
 */
#ifndef BLKLAB_CLASSIC_OWN_FORMAT_H
#define BLKLAB_CLASSIC_OWN_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "classic/record.h"

struct own_format; /* compiled */

struct own_formats {
	struct own_format
		*of[256]; /* owned; by the first letter of the action; NULL = the default layout */
};

/* -f: for all letters that have none yet. -F: "LETTER,FMT". -1 with err: the text that the classic prints,
 * without its newline. */
int own_formats_add_all(struct own_formats *formats, const char *fmt, struct error *err);
int own_formats_add(struct own_formats *formats, const char *spec, struct error *err);
void own_formats_release(struct own_formats *formats);

/* What a line may print that is not in the record. */
struct line_extra {
	const char *action;  /* "Q", "UT", ... */
	const char *comm;    /* NULL: no name is known, "(null)" */
	uint64_t elapsed_ns; /* ELAPSED_NONE: there is none */
	uint64_t
		wall_ns; /* since the epoch, of time 0 of the trace; 0 = no timestamp note was read */
	bool payload;    /* the classic hands the payload to the printer (D, C, I of pc type) */
	uint32_t cgroup_ino, cgroup_gen;
	const char *error; /* --fix: the name of the error, else NULL: the number */
};
#define ELAPSED_NONE UINT64_MAX

/* Bytes that one line may take at most, payload dump included (3 letters a byte). */
size_t own_format_room(const struct own_format *format, const struct record *r);
/* Prints into `out` (room as above); returns the bytes. A %u without an elapsed time prints blanks in its
 * width (the classic ends the program there), a %U without payload 0 (the classic prints what lies behind). */
size_t own_format_print(const struct own_format *format, const struct record *r,
			const struct line_extra *extra, enum classic classic, char *out);

#endif
