/* SPDX-License-Identifier: MIT */
#include "record/ring.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/sysroot.h"

#define PIPE_BYTES  (1 << 20) /* the default limit for pipes */
#define POLL_MAX_MS 100
#define POLL_MIN_MS 5

int ring_open(struct ring *ring, const char *instance, int cpu, const struct outdir *out,
	      int stop_fd, size_t page_bytes, uint64_t buffer_bytes, struct error *err)
{
	char *path;

	*ring = (struct ring){ .cpu = cpu,
			       .raw_fd = -1,
			       .out_fd = -1,
			       .pipe_fds = { -1, -1 },
			       .stop_fd = stop_fd,
			       .page_bytes = page_bytes,
			       .buffer_bytes = buffer_bytes };
	ring->dir = mem_printf("%s/per_cpu/cpu%d", instance, cpu);
	ring->page = mem_zalloc(page_bytes);
	snprintf(ring->file, sizeof(ring->file), "cpu%d.pages", cpu);
	path = mem_printf("%s/trace_pipe_raw", ring->dir);
	ring->raw_fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (ring->raw_fd < 0)
		error_errno(err, errno, "cannot open %s", path);
	free(path);
	if (ring->raw_fd < 0)
		return -1;
	ring->out_fd = outdir_create(out, ring->file, err);
	if (ring->out_fd < 0)
		return -1;
	if (pipe2(ring->pipe_fds, O_CLOEXEC | O_NONBLOCK))
		return error_errno(err, errno, "cannot make a pipe");
	fcntl(ring->pipe_fds[1], F_SETPIPE_SZ, PIPE_BYTES); /* smaller also works */
	return 0;
}

static void ring_failed(struct ring *ring, int errnum, uint64_t lost_bytes)
{
	int none = 0;

	ring->lost_bytes += lost_bytes;
	atomic_compare_exchange_strong(&ring->write_errno, &none, errnum);
}

static bool ring_has_failed(struct ring *ring)
{
	return atomic_load_explicit(&ring->write_errno, memory_order_relaxed) != 0;
}

static void ring_wrote(struct ring *ring, size_t bytes)
{
	atomic_fetch_add_explicit(&ring->written_bytes, bytes, memory_order_relaxed);
}

static void ring_write(struct ring *ring, const uint8_t *bytes, size_t len)
{
	if (ring_has_failed(ring)) {
		ring->lost_bytes += len;
		return;
	}
	while (len) {
		ssize_t n = write(ring->out_fd, bytes, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			ring_failed(ring, n ? errno : EIO, len);
			return;
		}
		ring_wrote(ring, (size_t)n);
		bytes += n;
		len -= (size_t)n;
	}
}

/* What is in the pipe goes to the file by hand. */
static void pipe_by_hand(struct ring *ring, size_t len)
{
	while (len) {
		ssize_t n = read(ring->pipe_fds[0], ring->page,
				 len < ring->page_bytes ? len : ring->page_bytes);

		if (n <= 0)
			return;
		ring_write(ring, ring->page, (size_t)n);
		len -= (size_t)n;
	}
}

static void pipe_to_file(struct ring *ring, size_t len)
{
	while (len && !ring->no_splice && !ring_has_failed(ring)) {
		ssize_t n = splice(ring->pipe_fds[0], NULL, ring->out_fd, NULL, len, SPLICE_F_MOVE);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EINVAL) {
			ring->no_splice = true;
		} else if (n <= 0) {
			ring_failed(ring, n ? errno : EIO, 0);
		} else {
			ring_wrote(ring, (size_t)n);
			len -= (size_t)n;
		}
	}
	pipe_by_hand(ring, len);
}

/* Moves the full pages there are; returns the bytes taken. */
static uint64_t ring_move(struct ring *ring)
{
	uint64_t moved = 0;

	for (;;) {
		ssize_t n = splice(ring->raw_fd, NULL, ring->pipe_fds[1], NULL, PIPE_BYTES,
				   SPLICE_F_MOVE | SPLICE_F_NONBLOCK);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return moved; /* EAGAIN: no full page */
		pipe_to_file(ring, (size_t)n);
		moved += (uint64_t)n;
		if (ring_has_failed(ring))
			return moved;
	}
}

/* Often enough that the buffer is at most about half full each time, else rarely. */
static int next_interval(int ms, uint64_t moved, uint64_t buffer_bytes)
{
	if (moved > buffer_bytes / 4)
		return ms / 2 > POLL_MIN_MS ? ms / 2 : POLL_MIN_MS;
	if (moved < buffer_bytes / 16)
		return ms * 2 < POLL_MAX_MS ? ms * 2 : POLL_MAX_MS;
	return ms;
}

static void *ring_thread(void *arg)
{
	struct ring *ring = arg;
	struct pollfd stop = { .fd = ring->stop_fd, .events = POLLIN };
	int ms = POLL_MAX_MS / 2;

	while (poll(&stop, 1, ms) <= 0 && !ring_has_failed(ring))
		ms = next_interval(ms, ring_move(ring), ring->buffer_bytes);
	return NULL;
}

int ring_start(struct ring *ring, struct error *err)
{
	sigset_t all, old;
	int failed;

	/* Signals are the main thread's. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	failed = pthread_create(&ring->thread, NULL, ring_thread, ring);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (failed)
		return error_errno(err, failed, "cannot start the reader of CPU %d", ring->cpu);
	ring->running = true;
	return 0;
}

void ring_join(struct ring *ring)
{
	if (!ring->running)
		return;
	pthread_join(ring->thread, NULL);
	ring->running = false;
}

/* A write cut in the middle of a page (full disk) leaves whole pages only. */
static void cut_to_whole_pages(struct ring *ring)
{
	uint64_t written = atomic_load(&ring->written_bytes);
	uint64_t whole = written - written % ring->page_bytes;

	if (whole == written || ftruncate(ring->out_fd, (off_t)whole))
		return;
	atomic_store(&ring->written_bytes, whole);
	ring->lost_bytes += written - whole;
}

void ring_drain(struct ring *ring)
{
	if (!ring_has_failed(ring))
		ring_move(ring);
	/* read() also gives partly filled pages; after a failure it only counts what is lost. */
	for (;;) {
		ssize_t n = read(ring->raw_fd, ring->page, ring->page_bytes);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		ring_write(ring, ring->page, (size_t)n);
	}
	cut_to_whole_pages(ring);
}

static uint64_t stat_value(const char *text, const char *key)
{
	size_t len = strlen(key);

	for (const char *line = text; line; line = strchr(line, '\n')) {
		if (*line == '\n')
			line++;
		if (!strncmp(line, key, len) && line[len] == ':')
			return strtoull(line + len + 1, NULL, 10);
	}
	return 0;
}

void ring_stats(struct ring *ring)
{
	char *path = mem_printf("%s/stats", ring->dir);
	char *text = file_read(path, 1 << 16);

	free(path);
	if (!text)
		return;
	ring->have_stats = true;
	ring->entries = stat_value(text, "entries");
	ring->overrun = stat_value(text, "overrun");
	ring->commit_overrun = stat_value(text, "commit overrun");
	ring->dropped_events = stat_value(text, "dropped events");
	ring->read_events = stat_value(text, "read events");
	free(text);
}

json_t *ring_json(const struct ring *ring)
{
	json_t *object = json_pack("{s:i, s:s, s:I}", "cpu", ring->cpu, "file", ring->file,
				   "bytes_written", (json_int_t)atomic_load(&ring->written_bytes));

	json_object_set_new(object, "lost_bytes", json_integer((json_int_t)ring->lost_bytes));
	if (!ring->have_stats)
		return object;
	json_object_set_new(object, "entries", json_integer((json_int_t)ring->entries));
	json_object_set_new(object, "overrun", json_integer((json_int_t)ring->overrun));
	json_object_set_new(object, "commit_overrun",
			    json_integer((json_int_t)ring->commit_overrun));
	json_object_set_new(object, "dropped_events",
			    json_integer((json_int_t)ring->dropped_events));
	json_object_set_new(object, "read_events", json_integer((json_int_t)ring->read_events));
	return object;
}

void ring_release(struct ring *ring)
{
	int fds[] = { ring->raw_fd, ring->out_fd, ring->pipe_fds[0], ring->pipe_fds[1] };

	if (!ring->dir)
		return;
	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
		if (fds[i] >= 0)
			close(fds[i]);
	free(ring->dir);
	free(ring->page);
	ring->dir = NULL;
	ring->page = NULL;
}
