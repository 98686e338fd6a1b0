/* SPDX-License-Identifier: MIT */
#include "record/bpf_ring.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "trace/bpf_layout.h"

#define BUFFER_BYTES ((size_t)256 << 10)
#define POLL_MAX_MS  100
#define POLL_MIN_MS  5

static bool ring_has_failed(const struct bpf_ring *ring)
{
	return atomic_load_explicit(&ring->write_errno, memory_order_relaxed) != 0;
}

static void ring_flush(struct bpf_ring *ring)
{
	const uint8_t *at = ring->buffer;

	while (ring->filled) {
		ssize_t n = ring_has_failed(ring) ? 0 : write(ring->out_fd, at, ring->filled);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			int none = 0;

			atomic_compare_exchange_strong(&ring->write_errno, &none, n ? errno : EIO);
			ring->lost_bytes += ring->filled;
			ring->filled = 0;
			return;
		}
		atomic_fetch_add_explicit(&ring->written_bytes, (uint64_t)n, memory_order_relaxed);
		at += n;
		ring->filled -= (size_t)n;
	}
}

void bpf_ring_add(struct bpf_ring *ring, const void *records, size_t len)
{
	if (ring->filled + len > BUFFER_BYTES)
		ring_flush(ring);
	memcpy(ring->buffer + ring->filled, records, len);
	ring->filled += len;
}

static int take_sample(void *arg, void *data, size_t len)
{
	if (len <= BUFFER_BYTES) /* always: the largest is a held request */
		bpf_ring_add(arg, data, len);
	return 0;
}

/* Moves what there is; returns the bytes. */
static uint64_t ring_move(struct bpf_ring *ring)
{
	uint64_t before = atomic_load_explicit(&ring->written_bytes, memory_order_relaxed);

	ring_buffer__consume(ring->reader);
	ring_flush(ring);
	return atomic_load_explicit(&ring->written_bytes, memory_order_relaxed) - before;
}

static int write_head(struct bpf_ring *ring, struct error *err)
{
	uint8_t head[BPF_FILE_HEAD];
	uint32_t version = BPF_FILE_VERSION, cpu = (uint32_t)ring->cpu;
	int failed;

	memcpy(head, BPF_FILE_MAGIC, BPF_FILE_MAGIC_LEN);
	memcpy(head + BPF_FILE_MAGIC_LEN, &version, sizeof(version));
	memcpy(head + BPF_FILE_MAGIC_LEN + sizeof(version), &cpu, sizeof(cpu));
	bpf_ring_add(ring, head, sizeof(head));
	ring_flush(ring);
	failed = atomic_load(&ring->write_errno);
	return failed ? error_errno(err, failed, "cannot write %s", ring->file) : 0;
}

int bpf_ring_open(struct bpf_ring *ring, int cpu, const struct outdir *out, int stop_fd,
		  uint64_t buffer_bytes, struct error *err)
{
	*ring = (struct bpf_ring){ .cpu = cpu,
				   .map_fd = -1,
				   .out_fd = -1,
				   .stop_fd = stop_fd,
				   .buffer_bytes = buffer_bytes };
	snprintf(ring->file, sizeof(ring->file), "cpu%d.bpf", cpu);
	ring->buffer = mem_zalloc(BUFFER_BYTES);
	ring->map_fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "blklab_ring", 0, 0,
				      (uint32_t)buffer_bytes, NULL);
	if (ring->map_fd < 0)
		return error_errno(err, -ring->map_fd,
				   "cannot make a ring buffer of %llu bytes for CPU %d",
				   (unsigned long long)buffer_bytes, cpu);
	ring->reader = ring_buffer__new(ring->map_fd, take_sample, ring, NULL);
	if (!ring->reader)
		return error_errno(err, errno, "cannot map the ring buffer of CPU %d", cpu);
	ring->out_fd = outdir_create(out, ring->file, err);
	return ring->out_fd < 0 ? -1 : write_head(ring, err);
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
	struct bpf_ring *ring = arg;
	struct pollfd stop = { .fd = ring->stop_fd, .events = POLLIN };
	int ms = POLL_MIN_MS;

	while (poll(&stop, 1, ms) <= 0 && !ring_has_failed(ring))
		ms = next_interval(ms, ring_move(ring), ring->buffer_bytes);
	return NULL;
}

int bpf_ring_start(struct bpf_ring *ring, struct error *err)
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

void bpf_ring_join(struct bpf_ring *ring)
{
	if (ring->running)
		pthread_join(ring->thread, NULL);
	ring->running = false;
}

/* A write cut in the middle of a record (full disk) leaves whole records only; all sizes are multiples
 * of 8, but not all the same, so the reader finds where. */
void bpf_ring_drain(struct bpf_ring *ring)
{
	ring_move(ring);
}

json_t *bpf_ring_json(const struct bpf_ring *ring)
{
	json_t *object = json_pack("{s:i, s:s, s:I, s:I}", "cpu", ring->cpu, "file", ring->file,
				   "bytes_written", (json_int_t)atomic_load(&ring->written_bytes),
				   "lost_bytes", (json_int_t)ring->lost_bytes);

	if (ring->told) {
		json_object_set_new(object, "records", json_integer((json_int_t)ring->records));
		json_object_set_new(object, "dropped_events", json_integer((json_int_t)ring->lost));
	}
	return object;
}

void bpf_ring_release(struct bpf_ring *ring)
{
	ring_buffer__free(ring->reader);
	if (ring->buffer && ring->map_fd >= 0)
		close(ring->map_fd);
	if (ring->buffer && ring->out_fd >= 0)
		close(ring->out_fd);
	free(ring->buffer);
	ring->reader = NULL;
	ring->buffer = NULL;
}
