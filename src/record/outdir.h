/* SPDX-License-Identifier: MIT
 *
 * The trace directory being written (doc/formats/trace_dir.md). Room for everything that is written
 * at the end is set aside at the start, so that a full disk still gets a valid meta.json.
 */
#ifndef BLKLAB_RECORD_OUTDIR_H
#define BLKLAB_RECORD_OUTDIR_H

#include <jansson.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

struct outdir {
	char *path;       /* owned, as the user named it */
	int fd;           /* of the directory, -1 = none */
	int reserve_fd;   /* of the reserve, -1 = none (any more) */
	json_t *problems; /* owned array of {"file", "errno", "lost_bytes"} */
};

#define OUTDIR_EXISTS (-2)

/* Makes the directory; an existing one is refused with OUTDIR_EXISTS. */
int outdir_make(struct outdir *out, const char *path, struct error *err);
/* Gives the reserve back to the file system; from now on only the last files are written. */
void outdir_spend_reserve(struct outdir *out);
/* Removes the directory and all in it: nothing was recorded. */
void outdir_remove(struct outdir *out);
void outdir_release(struct outdir *out);

/* Makes a new file for writing, with its directories; -1 and err. */
int outdir_create(const struct outdir *out, const char *name, struct error *err);
/* Writes a whole file; a failure goes to `problems` and -1 is returned. */
int outdir_write(struct outdir *out, const char *name, const void *bytes, size_t len);
/* Replaces a file by this JSON in one step. */
int outdir_write_json(struct outdir *out, const char *name, const json_t *json, struct error *err);
/* Notes a failed write. */
void outdir_problem(struct outdir *out, const char *name, int errnum, uint64_t lost_bytes);

#endif
