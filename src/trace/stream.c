/* SPDX-License-Identifier: MIT */
#include "trace/stream.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "trace/decode.h"
#include "trace/group.h"

#define CHUNK_BYTES (256u << 10)
#define CHUNKS      4u
#define ALONE_BYTES (256u << 10) /* that come without a thread */

struct chunk {
	uint8_t *bytes; /* owned; allocated when first used */
	size_t len;
};

/* The reader owns the chunk at `first` while `held`, the thread the one behind the filled ones. */
struct stream {
	struct blob from;
	char *label; /* owned */
	struct decoder *decoder;
	bool live;
	int wake; /* eventfd, if live: the thread or reader waits for it besides the pipe; else -1 */
	atomic_bool stop;

	/* The reader's. */
	bool held;
	size_t at;       /* in the chunk it holds */
	size_t alone;    /* bytes that came without a thread */
	bool threaded;   /* the thread was started */
	bool no_threads; /* there is none to be had: the reader goes on alone */
	pthread_t thread;

	/* Under the lock. */
	pthread_mutex_t lock;
	pthread_cond_t filled, emptied;
	struct chunk chunks[CHUNKS];
	unsigned int first, nr; /* filled ones, with the one held */
	bool ended, failed;     /* behind the filled ones */
	struct error why;
};

static ssize_t feed(void *arg, void *buf, size_t n, struct error *err)
{
	struct stream *s = arg;

	if (s->live && !atomic_load(&s->stop))
		while (!blob_wait_or(&s->from, -1, s->wake))
			;
	if (atomic_load(&s->stop))
		return error_set(err, "%s: was closed", s->label);
	return blob_read_some(&s->from, buf, n, err);
}

/* Fills a chunk, or as much of it as a pipe has: >0, 0 at the end, -1. */
static ssize_t fill(struct stream *s, struct chunk *chunk, size_t room, struct error *err)
{
	size_t len = 0;
	ssize_t r = 1;

	if (!chunk->bytes)
		chunk->bytes = mem_resize(NULL, CHUNK_BYTES, 1);
	if (!s->decoder) {
		struct decode_input input = { .read = feed, .arg = s };
		const uint8_t *head;
		size_t nr = blob_head(&s->from, DECODE_LOOK, &head, err);

		s->decoder = decoder_new(head, nr, &input, s->label);
	}
	while (len < room && !(s->live && len)) {
		r = decoder_read(s->decoder, chunk->bytes + len, room - len, err);
		if (r <= 0)
			break;
		len += (size_t)r;
	}
	chunk->len = len;
	return len ? (ssize_t)len : r;
}

static void *work(void *arg)
{
	struct stream *s = arg;
	struct error err = { 0 };
	ssize_t r = 1;

	pthread_mutex_lock(&s->lock);
	while (!atomic_load(&s->stop)) {
		struct chunk *chunk;

		if (s->nr == CHUNKS) {
			pthread_cond_wait(&s->emptied, &s->lock);
			continue;
		}
		chunk = &s->chunks[(s->first + s->nr) % CHUNKS];
		pthread_mutex_unlock(&s->lock);
		r = fill(s, chunk, CHUNK_BYTES, &err);
		pthread_mutex_lock(&s->lock);
		if (r <= 0)
			break;
		s->nr++;
		pthread_cond_signal(&s->filled);
	}
	s->ended = true;
	if (r < 0) {
		s->failed = true;
		s->why = err;
	}
	pthread_cond_broadcast(&s->filled);
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

/* Signals are for the other threads. */
static void start(struct stream *s)
{
	sigset_t all, old;

	if (s->threaded || s->no_threads)
		return;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	s->threaded = !pthread_create(&s->thread, NULL, work, s);
	s->no_threads = !s->threaded;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}

/* Without a thread: the next bytes into the first chunk. */
static void fill_alone(struct stream *s)
{
	size_t room = CHUNK_BYTES;
	ssize_t r;

	if (!s->no_threads && room > ALONE_BYTES - s->alone)
		room = ALONE_BYTES - s->alone;
	if (!s->no_threads && room > ALONE_BYTES / 4)
		room = ALONE_BYTES / 4; /* who only looks need not wait for all */
	s->first = 0;
	r = fill(s, &s->chunks[0], room, &s->why);
	s->nr = r > 0;
	s->ended = r <= 0;
	s->failed = r < 0;
	s->alone += r > 0 ? (size_t)r : 0;
}

static bool waits(const struct stream *s)
{
	return !s->nr && !s->ended && !atomic_load(&s->stop);
}

/* The chunk that the reader held: it was read to its end. */
static void give_back(struct stream *s)
{
	if (!s->held)
		return;
	s->held = false;
	s->first = (s->first + 1) % CHUNKS;
	s->nr--;
	pthread_cond_signal(&s->emptied);
}

/* Makes the reader hold a chunk with unread bytes: 1, 0 at the end, -1 with err. */
static int next_chunk(struct stream *s, struct error *err)
{
	int r;

	if (s->held && s->at < s->chunks[s->first].len)
		return 1;
	if (!s->threaded && s->alone >= ALONE_BYTES)
		start(s); /* what it fills first is the chunk behind the one held */
	pthread_mutex_lock(&s->lock);
	give_back(s);
	if (!s->threaded && !s->ended) {
		pthread_mutex_unlock(&s->lock); /* an interruption wants it */
		fill_alone(s);
		pthread_mutex_lock(&s->lock);
	}
	while (waits(s))
		pthread_cond_wait(&s->filled, &s->lock);
	s->held = s->nr > 0;
	s->at = 0;
	r = s->held;
	if (!r && (s->failed || !s->ended)) {
		if (s->failed)
			*err = s->why;
		else
			error_set(err, "%s: was closed", s->label);
		r = -1;
	}
	pthread_mutex_unlock(&s->lock);
	return r;
}

ssize_t stream_read(struct stream *s, void *buf, size_t n, bool some, struct error *err)
{
	size_t got = 0;

	while (got < n) {
		struct chunk *chunk;
		size_t take;
		int r;

		if (some && got)
			break;
		r = next_chunk(s, err);
		if (r < 0 && !got)
			return -1;
		if (r <= 0)
			break;
		chunk = &s->chunks[s->first];
		take = chunk->len - s->at < n - got ? chunk->len - s->at : n - got;
		memcpy((char *)buf + got, chunk->bytes + s->at, take);
		s->at += take;
		got += take;
	}
	return (ssize_t)got;
}

int stream_wait(struct stream *s, int ms)
{
	struct timespec until;
	int r = 0;

	if (!s->live || (s->held && s->at < s->chunks[s->first].len))
		return 1;
	start(s);
	if (!s->threaded)
		return 1;
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += ms / 1000;
	until.tv_nsec += ms % 1000 * 1000000L;
	if (until.tv_nsec >= 1000000000L) {
		until.tv_sec++;
		until.tv_nsec -= 1000000000L;
	}
	pthread_mutex_lock(&s->lock);
	give_back(s);
	while (waits(s) && !r)
		r = ms < 0 ? pthread_cond_wait(&s->filled, &s->lock)
			   : pthread_cond_timedwait(&s->filled, &s->lock, &until);
	r = !waits(s);
	pthread_mutex_unlock(&s->lock);
	return r;
}

struct blob *stream_from(struct stream *s)
{
	return &s->from;
}

struct stream *stream_new(struct blob *from, const char *label)
{
	struct stream *s = mem_zalloc(sizeof(*s));
	pthread_condattr_t attr;

	s->from = *from;
	*from = (struct blob){ .fd = -1 };
	s->label = mem_strdup(label);
	s->live = blob_is_live(&s->from);
	s->wake = s->live ? eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK) : -1;
	atomic_init(&s->stop, false);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->filled, &attr);
	pthread_cond_init(&s->emptied, &attr);
	pthread_condattr_destroy(&attr);
	return s;
}

void stream_interrupt(struct stream *s)
{
	uint64_t one = 1;
	ssize_t r = 0;

	atomic_store(&s->stop, true);
	if (s->wake >= 0)
		r = write(s->wake, &one, sizeof(one));
	(void)r; /* it can only be full, and then it wakes too */
	pthread_mutex_lock(&s->lock);
	pthread_cond_broadcast(&s->filled);
	pthread_cond_broadcast(&s->emptied);
	pthread_mutex_unlock(&s->lock);
	blob_interrupt(&s->from);
}

static void drop_chunks(struct stream *s)
{
	for (unsigned int i = 0; i < CHUNKS; i++) {
		free(s->chunks[i].bytes);
		s->chunks[i] = (struct chunk){ 0 };
	}
	decoder_free(s->decoder);
	s->decoder = NULL;
}

void stream_rewind(struct stream *s)
{
	drop_chunks(s);
	s->held = s->ended = s->failed = false;
	s->first = s->nr = 0;
	s->at = s->alone = 0;
	blob_rewind(&s->from);
}

void stream_free(struct stream *s)
{
	if (!s)
		return;
	if (s->threaded) {
		stream_interrupt(s);
		pthread_join(s->thread, NULL);
	}
	drop_chunks(s);
	blob_release(&s->from);
	if (s->wake >= 0)
		close(s->wake);
	pthread_mutex_destroy(&s->lock);
	pthread_cond_destroy(&s->filled);
	pthread_cond_destroy(&s->emptied);
	free(s->label);
	free(s);
}
