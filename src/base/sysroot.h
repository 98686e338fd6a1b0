/* SPDX-License-Identifier: MIT
 *
 * Every path to /sys, /proc and /dev goes through a sysroot, so that tests can fake a machine. The
 * prefix is "" on a real machine; main() takes it from BLKLAB_SYSROOT.
 */
#ifndef BLKLAB_BASE_SYSROOT_H
#define BLKLAB_BASE_SYSROOT_H

#include <stddef.h>
#include <sys/types.h>

#include "base/error.h"

struct sysroot {
	const char *prefix; /* borrowed; "" for the real machine */
};

/* The path under the root; owned by the caller. */
char *sysroot_path(const struct sysroot *root, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* A whole small text file, one trailing newline cut, NUL-terminated; owned by the caller. NULL and
 * errno where it cannot be read or is larger than `max` bytes. */
char *sysroot_read(const struct sysroot *root, size_t max, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* A plain path, as above, without a sysroot. */
char *file_read(const char *path, size_t max);

/* Writes text to a control file (no create, no truncate); 0, or -1 and err naming path and text. */
int file_write(const char *path, const char *text, struct error *err);

#endif
