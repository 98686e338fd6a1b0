/* SPDX-License-Identifier: MIT */
#include "classic/out.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"

#define BUFFERS 4u

struct buffer {
	char *bytes; /* owned; allocated when first used */
	size_t len;
};

/* The filling side owns the buffer behind the filled ones, the thread the one at `first` while there are
 * any. The thread comes with the second buffer: most outputs have one. */
struct out_writer {
	char *label; /* owned */
	int fd;
	bool threaded, no_threads;
	pthread_t thread;

	/* Under the lock. */
	pthread_mutex_t lock;
	pthread_cond_t filled, emptied;
	struct buffer buffers[BUFFERS];
	unsigned int first, nr; /* filled ones */
	bool ended;
	int failed; /* errno of the first write that failed; what comes later is thrown away */
};

static int write_all(int fd, const char *bytes, size_t len)
{
	while (len) {
		ssize_t n = write(fd, bytes, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno;
		bytes += n;
		len -= (size_t)n;
	}
	return 0;
}

/* The lock is held, but not while it writes. */
static void write_first(struct out_writer *w)
{
	struct buffer *b = &w->buffers[w->first];
	int failed = w->failed;

	pthread_mutex_unlock(&w->lock);
	if (!failed)
		failed = write_all(w->fd, b->bytes, b->len);
	pthread_mutex_lock(&w->lock);
	w->failed = failed;
	w->first = (w->first + 1) % BUFFERS;
	w->nr--;
	pthread_cond_signal(&w->emptied);
}

static void *work(void *arg)
{
	struct out_writer *w = arg;

	pthread_mutex_lock(&w->lock);
	for (;;) {
		if (w->nr)
			write_first(w);
		else if (w->ended)
			break;
		else
			pthread_cond_wait(&w->filled, &w->lock);
	}
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

/* Signals are for the other threads, but for the one that a write to a closed pipe sends to whoever writes. */
static void start(struct out_writer *w)
{
	sigset_t all, old;

	if (w->threaded || w->no_threads)
		return;
	sigfillset(&all);
	sigdelset(&all, SIGPIPE);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	w->threaded = !pthread_create(&w->thread, NULL, work, w);
	w->no_threads = !w->threaded;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}

/* The buffer to fill, empty. The lock is held. */
static void begin_buffer(struct out *out)
{
	struct out_writer *w = out->writer;
	struct buffer *b = &w->buffers[(w->first + w->nr) % BUFFERS];

	if (!b->bytes)
		b->bytes = mem_resize(NULL, OUT_BYTES, 1);
	b->len = 0;
	out->at = b->bytes;
	out->end = b->bytes + OUT_BYTES;
}

/* The buffer being filled joins the filled ones; without a thread they are written here. The lock is held. */
static void end_buffer(struct out *out)
{
	struct out_writer *w = out->writer;
	struct buffer *b = &w->buffers[(w->first + w->nr) % BUFFERS];

	b->len = (size_t)(out->at - b->bytes);
	if (!b->len)
		return;
	w->nr++;
	if (w->threaded)
		pthread_cond_signal(&w->filled);
	while (!w->threaded && w->nr)
		write_first(w);
	while (w->nr == BUFFERS)
		pthread_cond_wait(&w->emptied, &w->lock);
}

void out_init(struct out *out, int fd, const char *label)
{
	struct out_writer *w = mem_zalloc(sizeof(*w));

	w->fd = fd;
	w->label = mem_strdup(label);
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->filled, NULL);
	pthread_cond_init(&w->emptied, NULL);
	out->writer = w;
	begin_buffer(out);
}

int out_open(struct out *out, const char *path)
{
	int fd = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666) : STDOUT_FILENO;

	if (fd < 0)
		return -1;
	out_init(out, fd, path ? path : "standard output");
	return 0;
}

void out_next(struct out *out)
{
	struct out_writer *w = out->writer;

	start(w);
	pthread_mutex_lock(&w->lock);
	end_buffer(out);
	begin_buffer(out);
	pthread_mutex_unlock(&w->lock);
}

void out_bytes(struct out *out, const void *bytes, size_t n)
{
	const char *from = bytes;

	while (n) {
		size_t part = n < OUT_BYTES ? n : OUT_BYTES;

		memcpy(out_room(out, part), from, part);
		out->at += part;
		from += part;
		n -= part;
	}
}

void out_printf(struct out *out, const char *fmt, ...)
{
	va_list args;
	char *text;
	int n;

	va_start(args, fmt);
	n = vasprintf(&text, fmt, args);
	va_end(args);
	if (n < 0)
		abort(); /* no memory, as in mem.c */
	out_bytes(out, text, (size_t)n);
	free(text);
}

void out_flush(struct out *out)
{
	struct out_writer *w = out->writer;

	pthread_mutex_lock(&w->lock);
	end_buffer(out);
	while (w->nr)
		pthread_cond_wait(&w->emptied, &w->lock);
	begin_buffer(out);
	pthread_mutex_unlock(&w->lock);
}

static void end_thread(struct out_writer *w)
{
	pthread_mutex_lock(&w->lock);
	w->ended = true;
	pthread_cond_signal(&w->filled);
	pthread_mutex_unlock(&w->lock);
	if (w->threaded)
		pthread_join(w->thread, NULL);
}

int out_close(struct out *out, struct error *err)
{
	struct out_writer *w = out->writer;
	int failed;

	if (!w)
		return 0;
	out_flush(out);
	end_thread(w);
	failed = w->failed;
	if (w->fd != STDOUT_FILENO && close(w->fd) && !failed)
		failed = errno;
	if (failed)
		error_errno(err, failed, "cannot write %s", w->label);
	for (unsigned int i = 0; i < BUFFERS; i++)
		free(w->buffers[i].bytes);
	pthread_mutex_destroy(&w->lock);
	pthread_cond_destroy(&w->filled);
	pthread_cond_destroy(&w->emptied);
	free(w->label);
	free(w);
	*out = (struct out){ 0 };
	return failed ? -1 : 0;
}
