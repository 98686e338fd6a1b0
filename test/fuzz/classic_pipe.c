/* SPDX-License-Identifier: MIT
 *
 * Hostile streams on the standard input of the drop-in blkparse. Two bytes choose the options
 * (classic_run.h), the rest is the stream.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "classic_run.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void set_stdin(const uint8_t *data, size_t size)
{
	int fd = memfd_create("stream", MFD_CLOEXEC);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size || lseek(fd, 0, SEEK_SET) ||
	    dup2(fd, STDIN_FILENO) < 0)
		abort();
	if (fd != STDIN_FILENO)
		close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const inputs[] = { "-i", "-", NULL };

	if (size < CLASSIC_CHOICE_BYTES)
		return 0;
	set_stdin(data + CLASSIC_CHOICE_BYTES, size - CLASSIC_CHOICE_BYTES);
	classic_run(data, inputs);
	return 0;
}
