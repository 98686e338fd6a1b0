/* SPDX-License-Identifier: MIT
 *
 * Errors as values. A function that can fail takes `struct error *err`, returns a negative number
 * (or NULL) on failure and leaves one sentence that names the thing in err->text. Nobody below
 * src/cmd prints. `err` is never NULL.
 */
#ifndef BLKLAB_BASE_ERROR_H
#define BLKLAB_BASE_ERROR_H

#include <stdarg.h>
#include <stdbool.h>

/* Exit statuses of the program (spec.md); also the values of error.status. */
enum status {
	STATUS_DONE = 0,   /* done */
	STATUS_FAILED = 1, /* failed */
	STATUS_USAGE = 2,  /* wrong usage */
	STATUS_LOSSES = 3, /* done, but events are known lost or bytes damaged */
};

struct error {
	enum status status; /* what main() exits with; STATUS_DONE while unset */
	char text[512];     /* one sentence without the "blklab: cmd: " prefix and newline */
};

/* Sets the text (printf style) and STATUS_FAILED; always returns -1. */
int error_set(struct error *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* As error_set with ": strerror(errnum)" appended. */
int error_errno(struct error *err, int errnum, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* As error_set with STATUS_USAGE. */
int error_usage(struct error *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
