/* SPDX-License-Identifier: MIT
 *
 * Small files of /proc and /sys that stay open and are read again and again.
 */
#ifndef BLKLAB_RECORD_REREAD_H
#define BLKLAB_RECORD_REREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <unistd.h>

/* The file from its start, NUL-terminated; false with errno. */
static inline bool reread(int fd, char *buf, size_t size)
{
	size_t len = 0;
	ssize_t n = -1;

	if (fd < 0)
		return false;
	/* A read of /proc gives at most a page at a time; a short one was the end. */
	do {
		n = pread(fd, buf + len, size - 1 - len, (off_t)len);
		len += n > 0 ? (size_t)n : 0;
	} while (n > 0 && len > 2048 && len < size - 1);
	buf[len] = '\0';
	return n >= 0;
}

#endif
