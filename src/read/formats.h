/* SPDX-License-Identifier: MIT
 *
 * All formats that can be read, and the opening of whatever was named.
 */
#ifndef BLKLAB_READ_FORMATS_H
#define BLKLAB_READ_FORMATS_H

#include "trace/format.h"

extern const struct format format_blktrace_bin, format_trace_dir, format_text;
extern const struct format *const formats[]; /* these; ends with NULL */

/* Opens each group with the format that is surest of it. A group that no format wants, or whose
 * format cannot read it, is listed in facts->inputs as ignored with the reason, and noted. -1 with
 * one sentence where nothing was usable. Sources borrow inputs and facts until released. */
int inputs_open(struct inputs *inputs, struct facts *facts, struct sources *sources,
		struct error *err);

#endif
