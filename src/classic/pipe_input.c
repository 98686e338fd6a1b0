/* SPDX-License-Identifier: MIT */
#include "classic/pipe_input.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

#define BUFFER_BYTES (256u * 1024u) /* holds the largest record, 64 + 65535 bytes, three times */
#define READ_BYTES   (64u * 1024u)  /* what a pipe holds */

void pipe_input_init(struct pipe_input *in, int fd, int stop_fd, enum classic classic)
{
	*in = (struct pipe_input){ .fd = fd, .stop_fd = stop_fd, .classic = classic };
	in->buf = mem_resize(NULL, BUFFER_BYTES, 1);
}

void pipe_input_release(struct pipe_input *in)
{
	free(in->buf);
	in->buf = NULL;
}

/* PIPE_RECORD: something can be read, were it the end. */
static enum pipe_got wait_for_input(const struct pipe_input *in, int wait_ms)
{
	struct pollfd fds[2] = { { .fd = in->stop_fd, .events = POLLIN },
				 { .fd = in->fd, .events = POLLIN } };
	int n;

	do
		n = poll(fds, 2, wait_ms);
	while (n < 0 && errno == EINTR);
	if (n < 0) {
		perror("poll");
		return PIPE_END;
	}
	if (fds[0].revents)
		return PIPE_END;
	return n ? PIPE_RECORD : PIPE_NOTHING;
}

static void make_room(struct pipe_input *in)
{
	if (BUFFER_BYTES - in->len >= READ_BYTES && in->at < in->len)
		return;
	memmove(in->buf, in->buf + in->at, in->len - in->at);
	in->len -= in->at;
	in->at = 0;
}

/* PIPE_RECORD: there are more bytes than before. */
static enum pipe_got fill(struct pipe_input *in, int wait_ms)
{
	ssize_t n;

	make_room(in);
	do {
		enum pipe_got got = wait_for_input(in, wait_ms);

		if (got != PIPE_RECORD)
			return got;
		n = read(in->fd, in->buf + in->len, BUFFER_BYTES - in->len);
	} while (n < 0 && (errno == EINTR || errno == EAGAIN));
	if (n < 0)
		perror("read");
	if (n <= 0)
		return PIPE_END;
	in->len += (size_t)n;
	return PIPE_RECORD;
}

/* At least n bytes from `at` on. */
static enum pipe_got have(struct pipe_input *in, size_t n, int wait_ms)
{
	while (in->len - in->at < n) {
		enum pipe_got got = fill(in, wait_ms);

		if (got == PIPE_NOTHING && in->len > in->at)
			return PIPE_PART;
		if (got != PIPE_RECORD)
			return got;
	}
	return PIPE_RECORD;
}

/* What is wrong with the magic, if anything; else *size is that of the header. An unknown version is passed
 * over in the layout of version 7. */
static bool good_magic(struct pipe_input *in, size_t *size, bool *known)
{
	const uint8_t *p = in->buf + in->at;
	uint32_t magic = bytes_u32(p, in->swap);

	*known = true;
	*size = BLKTRACE_V7_BYTES;
	if (!in->order_known && (magic & 0xffffff00u) != BLKTRACE_MAGIC) {
		magic = bytes_u32(p, true);
		if ((magic & 0xffffff00u) != BLKTRACE_MAGIC)
			return false; /* the classic says nothing here */
		in->swap = true;
	}
	in->order_known = true;
	if ((magic & 0xffffff00u) != BLKTRACE_MAGIC) {
		fprintf(stderr, "Bad magic %x\n", magic);
		return false;
	}
	if ((magic & 0xff) == 8 && in->classic == CLASSIC_8)
		*size = BLKTRACE_V8_BYTES;
	else
		*known = (magic & 0xff) == 7;
	return true;
}

enum pipe_got pipe_input_next(struct pipe_input *in, int wait_ms, struct record *r)
{
	size_t size, bytes;
	enum pipe_got got;
	bool known;

	do {
		got = have(in, BLKTRACE_V7_BYTES, wait_ms);
		if (got != PIPE_RECORD)
			return got;
		if (!good_magic(in, &size, &known)) {
			in->at += BLKTRACE_V7_BYTES;
			return PIPE_BAD;
		}
		got = have(in, size, wait_ms);
		if (got != PIPE_RECORD)
			return got;
		bytes = size + blktrace_payload_bytes(in->buf + in->at, size, in->swap);
		got = have(in, bytes, wait_ms);
		if (got != PIPE_RECORD)
			return got;
		if (known)
			record_decode(r, in->buf + in->at, size, in->swap, in->classic);
		else
			fprintf(stderr, "unsupported trace version %x\n",
				bytes_u32(in->buf + in->at, in->swap) & 0xff);
		in->at += bytes;
	} while (!known);
	return PIPE_RECORD;
}
