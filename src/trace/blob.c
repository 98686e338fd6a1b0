/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "trace/group.h"

#define HEAD_MAX 65536u

void spool_put(struct spool *spool)
{
	if (!spool || --spool->refs)
		return;
	close(spool->fd);
	free(spool->dir);
	free(spool);
}

static const char *blob_label(const struct blob *blob)
{
	return blob->path ? blob->path : blob->name;
}

static int blob_open(struct blob *blob, struct error *err)
{
	if (blob->fd >= 0)
		return 0;
	if (!blob->path)
		return error_set(err, "%s: was already read and closed", blob->name);
	blob->fd = open(blob->path, O_RDONLY | O_CLOEXEC);
	if (blob->fd < 0)
		return error_errno(err, errno, "%s", blob->path);
	return 0;
}

static ssize_t read_mem(struct blob *blob, void *buf, size_t n)
{
	size_t left = blob->mem_len - blob->mem_at;

	if (n > left)
		n = left;
	if (n)
		memcpy(buf, blob->mem + blob->mem_at, n);
	blob->mem_at += n;
	return (ssize_t)n;
}

static ssize_t read_spool(struct blob *blob, void *buf, size_t n, struct error *err)
{
	size_t got = 0;

	if (n > blob->spool_end - blob->spool_at)
		n = (size_t)(blob->spool_end - blob->spool_at);
	while (got < n) {
		ssize_t r =
			pread(blob->spool->fd, (char *)buf + got, n - got, (off_t)blob->spool_at);

		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0)
			return error_errno(err, errno, "%s", blob->name);
		if (!r)
			break;
		got += (size_t)r;
		blob->spool_at += (uint64_t)r;
	}
	return (ssize_t)got;
}

static ssize_t read_fd(struct blob *blob, void *buf, size_t n, struct error *err)
{
	size_t got = 0;

	if (blob_open(blob, err))
		return -1;
	while (got < n) {
		ssize_t r = read(blob->fd, (char *)buf + got, n - got);

		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0)
			return error_errno(err, errno, "%s", blob_label(blob));
		if (!r)
			break;
		got += (size_t)r;
	}
	return (ssize_t)got;
}

/* What lies behind the read-ahead. */
static ssize_t read_behind(struct blob *blob, void *buf, size_t n, struct error *err)
{
	if (blob->mem)
		return read_mem(blob, buf, n);
	if (blob->spool)
		return read_spool(blob, buf, n, err);
	return read_fd(blob, buf, n, err);
}

ssize_t blob_read(struct blob *blob, void *buf, size_t n, struct error *err)
{
	size_t ahead = blob->head_len - blob->head_at;
	ssize_t r;

	if (ahead > n)
		ahead = n;
	if (ahead) {
		memcpy(buf, blob->head + blob->head_at, ahead);
		blob->head_at += ahead;
		if (ahead == n)
			return (ssize_t)n;
	}
	r = read_behind(blob, (char *)buf + ahead, n - ahead, err);
	return r < 0 ? r : r + (ssize_t)ahead;
}

size_t blob_head(struct blob *blob, size_t want, const uint8_t **bytes, struct error *err)
{
	size_t have = blob->head_len - blob->head_at;

	if (want > HEAD_MAX)
		want = HEAD_MAX;
	if (have < want) {
		ssize_t r;

		if (blob->head_at)
			memmove(blob->head, blob->head + blob->head_at, have);
		blob->head = mem_resize(blob->head, want, 1);
		blob->head_at = 0;
		blob->head_len = have;
		r = read_behind(blob, blob->head + have, want - have, err);
		if (r > 0)
			blob->head_len += (size_t)r;
		have = blob->head_len;
	}
	*bytes = blob->head + blob->head_at;
	return have < want ? have : want;
}

char *blob_text(struct blob *blob, size_t max, size_t *len, struct error *err)
{
	size_t room = 0, used = 0;
	char *text = NULL;
	ssize_t r;

	do {
		room = room ? room * 2 : 4096;
		if (room > max)
			room = max + 1; /* one more, to see that there is too much */
		text = mem_resize(text, room + 1, 1);
		r = blob_read(blob, text + used, room - used, err);
		if (r < 0)
			goto fail;
		used += (size_t)r;
		if (used > max) {
			error_set(err, "%s: larger than %zu bytes", blob_label(blob), max);
			goto fail;
		}
	} while (used == room);
	text[used] = 0;
	if (len)
		*len = used;
	return text;
fail:
	free(text);
	return NULL;
}

void blob_close(struct blob *blob)
{
	if (blob->fd > STDIN_FILENO)
		close(blob->fd);
	blob->fd = -1;
	spool_put(blob->spool);
	blob->spool = NULL;
}

void blob_release(struct blob *blob)
{
	blob_close(blob);
	free(blob->name);
	free(blob->path);
	free(blob->head);
}
