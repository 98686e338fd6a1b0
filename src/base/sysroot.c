/* SPDX-License-Identifier: MIT */
#include "base/sysroot.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

static char *path_under(const struct sysroot *root, const char *fmt, va_list args)
{
	char *rest, *path;

	if (vasprintf(&rest, fmt, args) < 0)
		return mem_strdup("");
	path = mem_printf("%s%s", root->prefix, rest);
	free(rest);
	return path;
}

char *sysroot_path(const struct sysroot *root, const char *fmt, ...)
{
	va_list args;
	char *path;

	va_start(args, fmt);
	path = path_under(root, fmt, args);
	va_end(args);
	return path;
}

char *file_read(const char *path, size_t max)
{
	size_t len = 0;
	ssize_t got;
	char *text;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return NULL;
	/* Files of /proc and /sys have no size, so grow as it comes. */
	text = NULL;
	do {
		text = mem_resize(text, len + 4097, 1);
		got = read(fd, text + len, 4096);
		if (got > 0)
			len += (size_t)got;
	} while (got > 0 && len <= max);
	if (got < 0 || len > max) {
		int errnum = got < 0 ? errno : EFBIG;

		free(text);
		close(fd);
		errno = errnum;
		return NULL;
	}
	close(fd);
	if (len && text[len - 1] == '\n')
		len--;
	text[len] = '\0';
	return text;
}

char *sysroot_read(const struct sysroot *root, size_t max, const char *fmt, ...)
{
	va_list args;
	char *path, *text;
	int errnum;

	va_start(args, fmt);
	path = path_under(root, fmt, args);
	va_end(args);
	text = file_read(path, max);
	errnum = errno;
	free(path);
	errno = errnum;
	return text;
}

int file_write(const char *path, const char *text, struct error *err)
{
	size_t len = strlen(text);
	ssize_t put;
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return error_errno(err, errno, "cannot open %s", path);
	put = write(fd, text, len);
	if (put != (ssize_t)len) {
		int errnum = put < 0 ? errno : EIO;

		close(fd);
		return error_errno(err, errnum, "cannot write '%s' to %s", text, path);
	}
	close(fd);
	return 0;
}
