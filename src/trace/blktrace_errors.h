/* SPDX-License-Identifier: MIT
 *
 * Why a capture with blktrace failed, and what to do: by the call that failed and its errno.
 */
#ifndef BLKLAB_TRACE_BLKTRACE_ERRORS_H
#define BLKLAB_TRACE_BLKTRACE_ERRORS_H

enum blktrace_call {
	CALL_SETUP,    /* the ioctl BLKTRACESETUP, BLKTRACESETUP2 */
	CALL_START,    /* the ioctl BLKTRACESTART */
	CALL_STOP,     /* the ioctls BLKTRACESTOP, BLKTRACETEARDOWN */
	CALL_BUFFER,   /* opening debugfs' trace file of one CPU */
	CALL_THREAD,   /* starting the thread of one CPU */
	CALL_DEBUGFS,  /* the debugfs mount itself */
	CALL_DEVICE,   /* opening the device */
	CALL_LOCKDOWN, /* the kernel's own line */
	CALL_ANY
};

struct blktrace_error {
	const char *cause, *advice; /* sentences */
};

/* errnum 0: not told. Never NULL. */
const struct blktrace_error *blktrace_error(enum blktrace_call call, int errnum);
/* "open the buffer": what failed, for a sentence. */
const char *blktrace_call_words(enum blktrace_call call);
/* "EBUSY", or NULL. */
const char *blktrace_errno_name(int errnum);
/* By the sentence that C libraries print for it ("Device or resource busy"), or 0. */
int blktrace_errno_of(const char *text);

#endif
