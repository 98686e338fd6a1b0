/* SPDX-License-Identifier: MIT */
#include "trace/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

struct spool {
	unsigned int refs; /* of one thread only */
	pthread_mutex_t lock;
	uint8_t *mem; /* owned; while there is no file */
	size_t room;
	int fd;    /* -1 = in memory */
	char *dir; /* owned; of the file, for messages */
	uint64_t size;
};

struct spool *spool_new(void)
{
	struct spool *spool = mem_zalloc(sizeof(*spool));

	spool->refs = 1;
	spool->fd = -1;
	pthread_mutex_init(&spool->lock, NULL);
	return spool;
}

struct spool *spool_get(struct spool *spool)
{
	spool->refs++;
	return spool;
}

void spool_put(struct spool *spool)
{
	if (!spool || --spool->refs)
		return;
	if (spool->fd >= 0)
		close(spool->fd);
	pthread_mutex_destroy(&spool->lock);
	free(spool->mem);
	free(spool->dir);
	free(spool);
}

uint64_t spool_size(struct spool *spool)
{
	uint64_t size;

	pthread_mutex_lock(&spool->lock);
	size = spool->size;
	pthread_mutex_unlock(&spool->lock);
	return size;
}

static int open_file(struct spool *spool, const char *label, struct error *err)
{
	const char *dir = getenv("TMPDIR");
	int fd;

	if (!dir || !*dir)
		dir = "/tmp";
	fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC | O_EXCL, 0600);
	if (fd < 0) {
		char *name = mem_printf("%s/blklab-XXXXXX", dir);

		fd = mkostemp(name, O_CLOEXEC);
		if (fd >= 0)
			unlink(name);
		free(name);
	}
	if (fd < 0)
		return error_errno(err, errno, "%s: cannot be unpacked to %s", label, dir);
	spool->fd = fd;
	spool->dir = mem_strdup(dir);
	return 0;
}

static int no_room(const struct spool *spool, const char *label, struct error *err)
{
	return error_errno(err, errno,
			   "%s: cannot be unpacked to %s (set TMPDIR to a roomier place)", label,
			   spool->dir);
}

static int file_write(struct spool *spool, const void *bytes, size_t n, uint64_t to,
		      const char *label, struct error *err)
{
	const char *at = bytes;

	while (n) {
		ssize_t r = pwrite(spool->fd, at, n, (off_t)to);

		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0)
			return no_room(spool, label, err);
		at += r;
		to += (uint64_t)r;
		n -= (size_t)r;
	}
	return 0;
}

/* From memory to a file. */
static int spill(struct spool *spool, const char *label, struct error *err)
{
	if (open_file(spool, label, err) < 0 ||
	    file_write(spool, spool->mem, (size_t)spool->size, 0, label, err) < 0)
		return -1;
	free(spool->mem);
	spool->mem = NULL;
	spool->room = 0;
	return 0;
}

static void mem_write(struct spool *spool, const void *bytes, size_t n)
{
	size_t need = (size_t)spool->size + n;

	if (need > spool->room) {
		spool->room = spool->room ? spool->room : 65536;
		while (spool->room < need)
			spool->room *= 2;
		spool->mem = mem_resize(spool->mem, spool->room, 1);
	}
	if (bytes)
		memcpy(spool->mem + spool->size, bytes, n);
	else
		memset(spool->mem + spool->size, 0, n);
}

static int append(struct spool *spool, const void *bytes, uint64_t n, const char *label,
		  struct error *err)
{
	if (n > SPOOL_MAX - spool->size)
		return error_set(err, "%s: unpacks to more than %llu GiB", label, SPOOL_MAX >> 30);
	if (spool->fd < 0 && spool->size + n <= SPOOL_MEMORY) {
		if (n)
			mem_write(spool, bytes, (size_t)n);
	} else {
		if (spool->fd < 0 && spill(spool, label, err) < 0)
			return -1;
		if (bytes && file_write(spool, bytes, (size_t)n, spool->size, label, err) < 0)
			return -1;
		if (!bytes && ftruncate(spool->fd, (off_t)(spool->size + n)) < 0)
			return no_room(spool, label, err);
	}
	spool->size += n;
	return 0;
}

int spool_append(struct spool *spool, const void *bytes, uint64_t n, const char *label,
		 struct error *err)
{
	int r;

	pthread_mutex_lock(&spool->lock);
	r = append(spool, bytes, n, label, err);
	pthread_mutex_unlock(&spool->lock);
	return r;
}

static ssize_t file_read(struct spool *spool, void *buf, size_t n, uint64_t at, const char *label,
			 struct error *err)
{
	size_t got = 0;

	while (got < n) {
		ssize_t r = pread(spool->fd, (char *)buf + got, n - got, (off_t)(at + got));

		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0)
			return error_errno(err, errno, "%s", label);
		if (!r)
			break;
		got += (size_t)r;
	}
	return (ssize_t)got;
}

ssize_t spool_read(struct spool *spool, void *buf, size_t n, uint64_t at, const char *label,
		   struct error *err)
{
	bool in_memory;

	pthread_mutex_lock(&spool->lock);
	in_memory = spool->fd < 0;
	if (in_memory && n)
		memcpy(buf, spool->mem + at, n);
	pthread_mutex_unlock(&spool->lock);
	/* What was spilled stays where it is. */
	return in_memory ? (ssize_t)n : file_read(spool, buf, n, at, label, err);
}
