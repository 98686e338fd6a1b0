/* SPDX-License-Identifier: MIT
 *
 * What fio's text and its JSON have in common, and the JSON of other programs.
 */
#ifndef BLKLAB_READ_TEXT_FIO_H
#define BLKLAB_READ_TEXT_FIO_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "read/text/text.h"
#include "read/text/text_scan.h"

/* The name of a percentile: "clat_p50", "clat_p99", "clat_p999" for 99.90. */
void fio_percentile_name(char *to, size_t size, const char *of, double percent);

/* "issued rwts: total=0,738560,0,0 short=0,0,0,0 dropped=0,0,0,0" of a job; false where it is no such line. */
bool fio_issued_line(struct text *text, const char *job, struct scan s);
/* The same of one direction in JSON. */
void fio_issued_json(struct text *text, const char *job, const char *direction, const json_t *side);
/* "sda: ios=0/738, merge=0/0, ticks=0/1, in_queue=1, util=1%"; false where it is no such line. */
bool fio_disk_line(struct text *text, struct scan s);
void fio_disks_json(struct text *text, const json_t *document);

/* Takes metrics out of a JSON document of that program; false where it is of another one. */
bool fio_json(struct text *text, const json_t *document);
bool hyperfine_json(struct text *text, const json_t *document);

#endif
