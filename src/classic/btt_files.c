/* SPDX-License-Identifier: MIT
 *
 * The plot files of btt: there are dozens for each device, and all grow at once. So each gathers its lines, and
 * is open only while they are appended to it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "classic/btt.h"

#define GATHER_BYTES 16384
#define FIRST_BYTES  256

struct btt_file {
	struct btt *b;
	char *path;   /* owned */
	char *gather; /* owned; NULL: nothing was written yet */
	size_t len, room;
	int fd; /* of a FIFO, a terminal and the like, which stay open; else -1 */
	bool keep_empty;
	bool failed; /* nothing more is written to it */
};

/* A full disk would be told hundreds of times. */
static void fail(struct btt_file *file)
{
	if (!file->b->failed)
		fprintf(stderr, "btt: %s: %s\n", file->path, strerror(errno));
	file->failed = file->b->failed = true;
}

/* Whoever reads from a FIFO would see its end where it is closed. */
static bool stays_open(int fd)
{
	struct stat st;

	return fstat(fd, &st) < 0 || !S_ISREG(st.st_mode);
}

static void make(struct btt_file *file)
{
	int fd = open(file->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);

	if (fd < 0)
		fail(file);
	else if (stays_open(fd))
		file->fd = fd;
	else if (close(fd) < 0)
		fail(file);
}

struct btt_file *btt_file_new(struct btt *b, bool keep_empty, const char *fmt, ...)
{
	struct btt_file *file = mem_zalloc(sizeof(*file));
	va_list args;
	size_t size;

	va_start(args, fmt);
	size = (size_t)vsnprintf(NULL, 0, fmt, args) + 1;
	va_end(args);
	*file = (struct btt_file){
		.b = b, .path = mem_zalloc(size), .fd = -1, .keep_empty = keep_empty
	};
	va_start(args, fmt);
	vsnprintf(file->path, size, fmt, args);
	va_end(args);
	make(file);
	return file;
}

static bool write_all(int fd, const char *bytes, size_t len)
{
	while (len) {
		ssize_t n = write(fd, bytes, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return false;
		bytes += n;
		len -= (size_t)n;
	}
	return true;
}

static void append(struct btt_file *file)
{
	int fd = file->fd;

	if (fd < 0)
		fd = open(file->path, O_WRONLY | O_APPEND | O_CLOEXEC);
	if (fd < 0 || !write_all(fd, file->gather, file->len))
		fail(file);
	if (fd >= 0 && fd != file->fd && close(fd) < 0)
		fail(file);
	file->len = 0;
}

/* Room for so many bytes more. */
static void make_room(struct btt_file *file, size_t more)
{
	if (file->len && file->len + more > GATHER_BYTES)
		append(file);
	if (!file->room)
		file->room = FIRST_BYTES;
	while (file->room < file->len + more)
		file->room *= 2;
	file->gather = mem_resize(file->gather, file->room, 1);
}

static int format(struct btt_file *file, const char *fmt, va_list args)
{
	char *at = file->gather ? file->gather + file->len : NULL;

	return vsnprintf(at, file->room - file->len, fmt, args);
}

void btt_file_printf(struct btt_file *file, const char *fmt, ...)
{
	va_list args;
	int n;

	if (file->failed)
		return;
	va_start(args, fmt);
	n = format(file, fmt, args);
	va_end(args);
	if (n < 0) {
		fail(file);
		return;
	}
	if ((size_t)n >= file->room - file->len) {
		make_room(file, (size_t)n + 1);
		va_start(args, fmt);
		format(file, fmt, args);
		va_end(args);
	}
	file->len += (size_t)n;
}

/* Not what a name in /dev stands for. */
static void remove_it(const struct btt_file *file)
{
	struct stat st;

	if (lstat(file->path, &st) == 0 && S_ISREG(st.st_mode))
		unlink(file->path);
}

void btt_file_free(struct btt_file *file)
{
	if (!file)
		return;
	if (file->len && !file->failed)
		append(file);
	if (!file->gather && !file->keep_empty && !file->failed)
		remove_it(file);
	if (file->fd >= 0 && close(file->fd) < 0)
		fail(file);
	free(file->gather);
	free(file->path);
	free(file);
}
