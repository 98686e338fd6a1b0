/* SPDX-License-Identifier: MIT */
#include "record/outdir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

#define RESERVE_NAME  ".reserve"
#define RESERVE_BYTES (1 << 20)

static int outdir_set_reserve(struct outdir *out, struct error *err)
{
	int failed;

	out->reserve_fd =
		openat(out->fd, RESERVE_NAME, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (out->reserve_fd < 0)
		return error_errno(err, errno, "cannot write in %s", out->path);
	failed = posix_fallocate(out->reserve_fd, 0, RESERVE_BYTES);
	if (failed)
		return error_errno(err, failed, "cannot set 1 MiB aside in %s", out->path);
	return 0;
}

int outdir_make(struct outdir *out, const char *path, struct error *err)
{
	*out = (struct outdir){ .path = mem_strdup(path), .fd = -1, .reserve_fd = -1 };
	out->problems = json_array();
	if (mkdir(path, 0777)) {
		if (errno == EEXIST) {
			error_set(err, "%.300s exists already; name a new directory with -o", path);
			return OUTDIR_EXISTS;
		}
		return error_errno(err, errno, "cannot make the directory %.300s", path);
	}
	out->fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (out->fd < 0) {
		error_errno(err, errno, "cannot open %.300s", out->path);
		rmdir(path);
		return -1;
	}
	if (outdir_set_reserve(out, err)) {
		outdir_remove(out);
		return -1;
	}
	return 0;
}

void outdir_spend_reserve(struct outdir *out)
{
	if (out->reserve_fd < 0)
		return;
	close(out->reserve_fd);
	out->reserve_fd = -1;
	unlinkat(out->fd, RESERVE_NAME, 0);
}

/* Takes fd. */
static void remove_contents(int fd)
{
	DIR *dir = fdopendir(fd);
	struct dirent *entry;

	if (!dir) {
		close(fd);
		return;
	}
	while ((entry = readdir(dir))) {
		int sub;

		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		if (!unlinkat(fd, entry->d_name, 0) || (errno != EISDIR && errno != EPERM))
			continue;
		sub = openat(fd, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (sub >= 0)
			remove_contents(sub);
		unlinkat(fd, entry->d_name, AT_REMOVEDIR);
	}
	closedir(dir);
}

void outdir_remove(struct outdir *out)
{
	if (out->fd < 0)
		return;
	outdir_spend_reserve(out);
	remove_contents(out->fd);
	out->fd = -1;
	rmdir(out->path);
}

void outdir_release(struct outdir *out)
{
	if (!out->path)
		return;
	outdir_spend_reserve(out);
	if (out->fd >= 0)
		close(out->fd);
	free(out->path);
	json_decref(out->problems);
	*out = (struct outdir){ .fd = -1, .reserve_fd = -1 };
}

static void make_parents(const struct outdir *out, const char *name)
{
	for (const char *slash = strchr(name, '/'); slash; slash = strchr(slash + 1, '/')) {
		char *parent = mem_strndup(name, (size_t)(slash - name));

		mkdirat(out->fd, parent, 0777); /* a failure shows when the file is opened */
		free(parent);
	}
}

static int create_in(const struct outdir *out, const char *name)
{
	make_parents(out, name);
	return openat(out->fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
}

int outdir_create(const struct outdir *out, const char *name, struct error *err)
{
	int fd = create_in(out, name);

	if (fd < 0)
		error_errno(err, errno, "cannot make %s/%s", out->path, name);
	return fd;
}

/* 0 or an errno; *left is what was not written. */
static int write_all(int fd, const char *bytes, size_t len, size_t *left)
{
	for (*left = len; *left;) {
		ssize_t n = write(fd, bytes + (len - *left), *left);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? errno : EIO;
		*left -= (size_t)n;
	}
	return 0;
}

int outdir_write(struct outdir *out, const char *name, const void *bytes, size_t len)
{
	size_t left = len;
	int fd = create_in(out, name);
	int failed = fd < 0 ? errno : write_all(fd, bytes, len, &left);

	if (fd >= 0 && close(fd) && !failed)
		failed = errno;
	if (!failed)
		return 0;
	outdir_problem(out, name, failed, left);
	return -1;
}

int outdir_write_json(struct outdir *out, const char *name, const json_t *json, struct error *err)
{
	char *text = json_dumps(json, JSON_INDENT(1) | JSON_PRESERVE_ORDER);
	char *temporary = mem_printf("%s.new", name);
	int failed = text ? 0 : ENOMEM;
	size_t left = 0;
	int fd = -1;

	if (!failed) {
		fd = create_in(out, temporary);
		failed = fd < 0 ? errno : write_all(fd, text, strlen(text), &left);
	}
	if (fd >= 0 && close(fd) && !failed)
		failed = errno;
	if (!failed && renameat(out->fd, temporary, out->fd, name))
		failed = errno;
	if (failed) {
		unlinkat(out->fd, temporary, 0);
		error_errno(err, failed, "cannot write %s/%s", out->path, name);
	}
	free(temporary);
	free(text);
	return failed ? -1 : 0;
}

void outdir_problem(struct outdir *out, const char *name, int errnum, uint64_t lost_bytes)
{
	json_array_append_new(out->problems,
			      json_pack("{s:s, s:i, s:I}", "file", name, "errno", errnum,
					"lost_bytes", (json_int_t)lost_bytes));
}
