/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "trace/group.h"
#include "trace/spool.h"
#include "trace/stream.h"

#define HEAD_MAX 65536u
#define PAUSE_MS 1000 /* what a pipe gave until then is its head */

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
	ssize_t r;

	if (n > blob->spool_end - blob->spool_at)
		n = (size_t)(blob->spool_end - blob->spool_at);
	r = spool_read(blob->spool, buf, n, blob->spool_at, blob->name, err);
	if (r > 0)
		blob->spool_at += (uint64_t)r;
	return r;
}

static ssize_t read_fd(struct blob *blob, void *buf, size_t n, bool some, struct error *err)
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
		got += (size_t)r;
		if (!r || some)
			break;
	}
	return (ssize_t)got;
}

/* What a stream cannot give is told behind what it could. */
static ssize_t read_stream(struct blob *blob, void *buf, size_t n, bool some)
{
	struct error err = { 0 };
	ssize_t r = stream_read(blob->stream, buf, n, some, &err);

	if (r >= 0)
		return r;
	if (!blob->late) {
		blob->late = mem_zalloc(sizeof(*blob->late));
		*blob->late = err;
	}
	return 0;
}

/* What lies behind the read-ahead. With `some`, waits only for the first byte. */
static ssize_t read_behind(struct blob *blob, void *buf, size_t n, bool some, struct error *err)
{
	if (blob->mem)
		return read_mem(blob, buf, n);
	if (blob->spool)
		return read_spool(blob, buf, n, err);
	if (blob->stream)
		return read_stream(blob, buf, n, some);
	return read_fd(blob, buf, n, some, err);
}

static ssize_t read_blob(struct blob *blob, void *buf, size_t n, bool some, struct error *err)
{
	size_t ahead = blob->head_len - blob->head_at;
	ssize_t r;

	if (ahead > n)
		ahead = n;
	if (ahead) {
		memcpy(buf, blob->head + blob->head_at, ahead);
		blob->head_at += ahead;
		if (ahead == n || some)
			return (ssize_t)ahead;
	}
	if (blob->late_told || !n)
		return (ssize_t)ahead;
	r = read_behind(blob, (char *)buf + ahead, n - ahead, some, err);
	if (r || !blob->late || ahead)
		return r < 0 ? r : r + (ssize_t)ahead;
	blob->late_told = true;
	*err = *blob->late;
	return -1;
}

ssize_t blob_read(struct blob *blob, void *buf, size_t n, struct error *err)
{
	return read_blob(blob, buf, n, false, err);
}

ssize_t blob_read_some(struct blob *blob, void *buf, size_t n, struct error *err)
{
	return read_blob(blob, buf, n, true, err);
}

bool blob_damaged(const struct blob *blob)
{
	return blob->late_told;
}

static bool fd_is_live(int fd)
{
	struct stat st;

	return fd >= 0 && !fstat(fd, &st) && !S_ISREG(st.st_mode);
}

bool blob_is_live(const struct blob *blob)
{
	if (blob->stream)
		return blob_is_live(stream_from(blob->stream));
	return !blob->mem && !blob->spool && fd_is_live(blob->fd);
}

int blob_wait_or(struct blob *blob, int ms, int wake)
{
	struct pollfd fds[2] = { { .fd = blob->fd, .events = POLLIN },
				 { .fd = wake, .events = POLLIN } };

	if (blob->head_at < blob->head_len || blob->late_told)
		return 1;
	if (blob->stream)
		return stream_wait(blob->stream, ms);
	if (blob->mem || blob->spool || !fd_is_live(blob->fd))
		return 1;
	/* A signal counts as news: its handler may have asked for an end. */
	return poll(fds, 2, ms) != 0;
}

int blob_wait(struct blob *blob, int ms)
{
	return blob_wait_or(blob, ms, -1);
}

/* Makes head_len - head_at at least `want` if there is as much. A pipe may pause; it is waited for once
 * only. */
static void fill_head(struct blob *blob, size_t want, struct error *err)
{
	bool live = blob_is_live(blob);
	ssize_t r = 1;

	if (blob->head_at) {
		memmove(blob->head, blob->head + blob->head_at, blob->head_len - blob->head_at);
		blob->head_len -= blob->head_at;
		blob->head_at = 0;
	}
	blob->head = mem_resize(blob->head, want, 1);
	while (r > 0 && blob->head_len < want) {
		size_t have = blob->head_len;

		if (live && have) {
			blob->head_at = have; /* else blob_wait sees what is ahead */
			blob->head_short = !blob_wait(blob, blob->head_short ? 0 : PAUSE_MS);
			blob->head_at = 0;
			if (blob->head_short)
				break;
		}
		r = read_behind(blob, blob->head + have, want - have, live, err);
		if (r > 0)
			blob->head_len += (size_t)r;
	}
	if (!r && blob->late)
		*err = *blob->late;
}

size_t blob_head(struct blob *blob, size_t want, const uint8_t **bytes, struct error *err)
{
	size_t have;

	if (want > HEAD_MAX)
		want = HEAD_MAX;
	if (blob->head_len - blob->head_at < want)
		fill_head(blob, want, err);
	have = blob->head_len - blob->head_at;
	*bytes = blob->head + blob->head_at;
	return have < want ? have : want;
}

char *blob_text(struct blob *blob, size_t max, size_t *len, struct error *err)
{
	size_t room = 0, used = 0;
	char *text = NULL;
	ssize_t r;

	do {
		if (used == room) {
			room = room ? room * 2 : 4096;
			if (room > max)
				room = max + 1; /* one more, to see that there is too much */
			text = mem_resize(text, room + 1, 1);
		}
		r = blob_read(blob, text + used, room - used, err);
		if (r < 0)
			goto fail;
		used += (size_t)r;
		if (used > max) {
			error_set(err, "%s: larger than %zu bytes", blob_label(blob), max);
			goto fail;
		}
	} while (r);
	text[used] = 0;
	if (len)
		*len = used;
	return text;
fail:
	free(text);
	return NULL;
}

static void drop_head(struct blob *blob)
{
	free(blob->head);
	blob->head = NULL;
	blob->head_len = blob->head_at = 0;
}

void blob_rewind(struct blob *blob)
{
	drop_head(blob);
	if (blob->stream) { /* it will find that again */
		free(blob->late);
		blob->late = NULL;
	}
	blob->late_told = false;
	blob->mem_at = 0;
	blob->spool_at = blob->spool_from;
	if (blob->stream)
		stream_rewind(blob->stream);
	if (blob->fd > STDIN_FILENO)
		close(blob->fd);
	blob->fd = -1;
}

void blob_interrupt(struct blob *blob)
{
	if (blob->stream)
		stream_interrupt(blob->stream);
}

void blob_close(struct blob *blob)
{
	if (blob->fd > STDIN_FILENO)
		close(blob->fd);
	blob->fd = -1;
	stream_free(blob->stream);
	blob->stream = NULL;
	spool_put(blob->spool);
	blob->spool = NULL;
}

void blob_release(struct blob *blob)
{
	blob_close(blob);
	drop_head(blob);
	free(blob->name);
	free(blob->path);
	free(blob->late);
}
