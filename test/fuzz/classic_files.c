/* SPDX-License-Identifier: MIT
 *
 * Hostile per-CPU files for the drop-in blkparse: two bytes choose the options (classic_run.h), two more tell
 * how long the file of CPU 0 is (low byte first), the rest is that of CPU 1. A second device has them the
 * other way round.
 */
#include <fcntl.h>
#include <unistd.h>

#include "classic_run.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char folder[] = "/dev/shm/blklab-fuzz-XXXXXX";

static const char *const names[] = { "vda.blktrace.0", "vda.blktrace.1", "vdb.blktrace.0",
				     "vdb.blktrace.1" };

static void remove_folder(void)
{
	if (chdir(folder) == 0)
		for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
			unlink(names[i]);
	rmdir(folder);
}

/* Once: the folder goes when the program ends. */
static int open_folder(void)
{
	static int fd = -1;

	if (fd >= 0)
		return fd;
	if (!mkdtemp(folder))
		abort();
	atexit(remove_folder);
	fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd;
}

static void put(int dir, const char *name, const uint8_t *data, size_t size)
{
	int fd = openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const inputs[] = { "-D", folder, "vda", "vdb", NULL };
	const uint8_t *rest = data + CLASSIC_CHOICE_BYTES + 2;
	int dir = open_folder();
	size_t first;

	if (size < CLASSIC_CHOICE_BYTES + 2)
		return 0;
	size -= CLASSIC_CHOICE_BYTES + 2;
	first = data[2] | (size_t)data[3] << 8;
	if (first > size)
		first = size;
	for (int other = 0; other < 2; other++) {
		put(dir, names[3 * other], rest, first);
		put(dir, names[1 + other], rest + first, size - first);
	}
	classic_run(data, inputs);
	return 0;
}
