/* SPDX-License-Identifier: MIT
 *
 * The kernel's format texts: events/header_page and events/SYSTEM/EVENT/format.
 */
#ifndef BLKLAB_READ_FTRACE_FORMAT_H
#define BLKLAB_READ_FTRACE_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FORMAT_FIELDS_MAX 64

struct ftrace_field {
	char name[32];
	uint32_t offset, size; /* bytes, inside the record */
	bool is_signed;
	bool is_text;     /* char NAME[N] */
	bool is_data_loc; /* 32 bits: length << 16 | offset of text elsewhere in the record */
	bool is_common;   /* common_* */
};

struct ftrace_format {
	char name[48];
	uint32_t id;
	size_t nr;
	struct ftrace_field fields[FORMAT_FIELDS_MAX];
};

/* 0, or -1 where the text has no name, no ID (one that fits 16 bits) or no fields. header_page has
 * neither name nor ID: `is_event` false. Lines that cannot be read are left out. */
int ftrace_format_parse(struct ftrace_format *format, const char *text, bool is_event);

/* NULL where there is none. */
const struct ftrace_field *ftrace_format_field(const struct ftrace_format *format,
					       const char *name);

#endif
