/* SPDX-License-Identifier: MIT
 *
 * What fio's text and its JSON have in common, and the JSON of other programs.
 */
#ifndef BLKLAB_READ_FIO_H
#define BLKLAB_READ_FIO_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "read/text.h"

/* The name of a percentile: "clat_p50", "clat_p99", "clat_p999" for 99.90. */
void fio_percentile_name(char *to, size_t size, const char *of, double percent);

/* Takes metrics out of a JSON document of that program; false where it is of another one. */
bool fio_json(struct text *text, const json_t *document);
bool hyperfine_json(struct text *text, const json_t *document);

#endif
