/* SPDX-License-Identifier: MIT
 *
 * Records from one stream, for the pipe mode of blkparse: what is read together matters there, so it says
 * when nothing more is at hand.
 */
#ifndef BLKLAB_CLASSIC_PIPE_INPUT_H
#define BLKLAB_CLASSIC_PIPE_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "classic/record.h"

struct pipe_input {
	int fd, stop_fd; /* borrowed; stop_fd may be -1 */
	enum classic classic;
	uint8_t *buf; /* owned */
	size_t at, len;
	bool swap, order_known; /* the byte order of the first record is taken for that of all */
};

enum pipe_got {
	PIPE_RECORD,
	PIPE_NOTHING, /* within the time */
	PIPE_PART,    /* the same, with a record that has begun */
	PIPE_BAD, /* no record: a header's bytes were passed over, which is said on standard error */
	PIPE_END  /* of the stream, or a signal asks to stop, or it cannot be read (said too) */
};

void pipe_input_init(struct pipe_input *in, int fd, int stop_fd, enum classic classic);
void pipe_input_release(struct pipe_input *in);
/* The next record; its payload is borrowed until the next call. wait_ms: for more bytes, -1 = for ever. */
enum pipe_got pipe_input_next(struct pipe_input *in, int wait_ms, struct record *r);

#endif
