/* SPDX-License-Identifier: MIT */
#include "record/relay_cpu.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"

#define POLL_MAX_MS 100
#define POLL_MIN_MS 5

static int open_file(struct relay_cpu *rc, struct relay_file *file, const struct relay_dev *dev,
		     const struct outdir *out, struct error *err)
{
	char *path = mem_printf("%s/trace%d", dev->dir, rc->cpu);
	char *name = mem_printf("%s.blktrace.%d", dev->device->name, rc->cpu);
	int result = 1;

	file->in_fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (file->in_fd < 0)
		result = errno == ENOENT ? 0 : error_errno(err, errno, "cannot open %s", path);
	if (result >= 0) {
		file->out_fd = outdir_create(out, name, err);
		result = file->out_fd < 0 ? -1 : result;
	}
	free(name);
	free(path);
	return result;
}

int relay_cpu_open(struct relay_cpu *rc, int cpu, const struct relay_dev *devs, size_t nr,
		   const struct outdir *out, int stop_fd, size_t buffer_bytes, struct error *err)
{
	int any = 0;

	*rc = (struct relay_cpu){ .cpu = cpu, .stop_fd = stop_fd, .buffer_bytes = buffer_bytes };
	rc->files = mem_zalloc(nr * sizeof(*rc->files));
	for (size_t i = 0; i < nr; i++) {
		int opened;

		rc->files[i].in_fd = rc->files[i].out_fd = -1;
		rc->nr_files++;
		opened = open_file(rc, &rc->files[i], &devs[i], out, err);
		if (opened < 0)
			return -1;
		any |= opened;
	}
	if (any)
		rc->buffer = mem_zalloc(buffer_bytes);
	return any;
}

static bool has_failed(struct relay_cpu *rc)
{
	return atomic_load_explicit(&rc->write_errno, memory_order_relaxed) != 0;
}

static void store(struct relay_cpu *rc, struct relay_file *file, size_t len)
{
	const uint8_t *at = rc->buffer;
	int none = 0;

	while (len && !has_failed(rc)) {
		ssize_t n = write(file->out_fd, at, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			atomic_compare_exchange_strong(&rc->write_errno, &none, n ? errno : EIO);
			break;
		}
		file->written_bytes += (size_t)n;
		atomic_fetch_add_explicit(&rc->written_bytes, (size_t)n, memory_order_relaxed);
		at += n;
		len -= (size_t)n;
	}
	rc->lost_bytes += len;
}

/* Everything there is; returns the bytes taken. */
static uint64_t move(struct relay_cpu *rc)
{
	uint64_t moved = 0;

	for (size_t i = 0; i < rc->nr_files; i++) {
		struct relay_file *file = &rc->files[i];
		ssize_t n;

		if (file->in_fd < 0)
			continue;
		do {
			n = read(file->in_fd, rc->buffer, rc->buffer_bytes);
			if (n > 0)
				store(rc, file, (size_t)n);
			moved += n > 0 ? (uint64_t)n : 0;
		} while (n > 0 || (n < 0 && errno == EINTR));
	}
	return moved;
}

/* Often enough that a buffer is never near full, else rarely. */
static int next_interval(int ms, uint64_t moved, uint64_t buffer_bytes)
{
	if (moved > buffer_bytes)
		return ms / 2 > POLL_MIN_MS ? ms / 2 : POLL_MIN_MS;
	if (moved < buffer_bytes / 4)
		return ms * 2 < POLL_MAX_MS ? ms * 2 : POLL_MAX_MS;
	return ms;
}

static void *relay_thread(void *arg)
{
	struct relay_cpu *rc = arg;
	struct pollfd stop = { .fd = rc->stop_fd, .events = POLLIN };
	int ms = POLL_MAX_MS / 2;

	while (poll(&stop, 1, ms) <= 0 && !has_failed(rc))
		ms = next_interval(ms, move(rc), rc->buffer_bytes);
	return NULL;
}

int relay_cpu_start(struct relay_cpu *rc, struct error *err)
{
	sigset_t all, old;
	int failed;

	/* Signals are the main thread's. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	failed = pthread_create(&rc->thread, NULL, relay_thread, rc);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (failed)
		return error_errno(err, failed, "cannot start the reader of CPU %d", rc->cpu);
	rc->running = true;
	return 0;
}

void relay_cpu_join(struct relay_cpu *rc)
{
	if (!rc->running)
		return;
	pthread_join(rc->thread, NULL);
	rc->running = false;
}

void relay_cpu_drain(struct relay_cpu *rc)
{
	if (rc->buffer)
		move(rc);
}

void relay_cpu_release(struct relay_cpu *rc)
{
	for (size_t i = 0; i < rc->nr_files; i++) {
		if (rc->files[i].in_fd >= 0)
			close(rc->files[i].in_fd);
		if (rc->files[i].out_fd >= 0)
			close(rc->files[i].out_fd);
	}
	free(rc->files);
	free(rc->buffer);
	*rc = (struct relay_cpu){ .cpu = rc->cpu };
}
