/* SPDX-License-Identifier: MIT */
#include "record/relay_dev.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/blktrace_api.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/mem.h"
#include "trace/blktrace_errors.h"

#define CLAIMS "/run/blklab"

/* The set-up of kernels from 6.19 on, which write records of version 8; not in this libc's headers. */
struct setup_v8 {
	char name[64];
	uint64_t act_mask;
	uint32_t buf_size, buf_nr;
	uint64_t start_lba, end_lba;
	uint32_t pid, flags;
	uint64_t reserved[11];
};
_Static_assert(sizeof(struct setup_v8) == 192, "the kernel's layout");
#define SETUP_V8 _IOWR(0x12, 142, struct setup_v8)

/* ---- the claim ---- */

static char *claim_path(const struct sysroot *root, uint32_t dev)
{
	return sysroot_path(root, CLAIMS "/relay-%u-%u", dev >> 20, dev & 0xfffffu);
}

/* The number of the trace's own file: another trace of the same device has another. 0 = none. */
static uint64_t trace_inode(const char *dir)
{
	char *path = mem_printf("%s/dropped", dir);
	struct stat st;
	uint64_t inode = stat(path, &st) ? 0 : (uint64_t)st.st_ino;

	free(path);
	return inode;
}

/* Locked for us, or -1: another recorder of ours is at work on it (EWOULDBLOCK), or no file can be made. */
static int claim_open(const char *path)
{
	char *dir = mem_strndup(path, (size_t)(strrchr(path, '/') - path));
	int fd, errnum;

	mkdir(dir, 0700);
	free(dir);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0 || !flock(fd, LOCK_EX | LOCK_NB))
		return fd;
	errnum = errno;
	close(fd);
	errno = errnum;
	return -1;
}

static uint64_t claim_read(int fd)
{
	char text[32] = "";
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);

	return n > 0 ? strtoull(text, NULL, 10) : 0;
}

static void claim_write(int fd, uint64_t inode)
{
	char text[32];
	int len = snprintf(text, sizeof(text), "%llu\n", (unsigned long long)inode);

	if (ftruncate(fd, 0) || pwrite(fd, text, (size_t)len, 0) != len)
		return; /* then nobody will know that it is ours, and leave it alone */
}

/* ---- set-up ---- */

static char *node_of(const struct sysroot *root, const char *name)
{
	char *path = sysroot_path(root, "/dev/%s", name);

	for (char *at = path; *at; at++)
		if (*at == '!')
			*at = '/';
	return path;
}

static int open_node(const struct sysroot *root, const struct rec_device *device, struct error *err)
{
	char *path = node_of(root, device->name);
	struct stat st;
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0)
		error_errno(err, errno, "cannot open %s", path);
	else if (fstat(fd, &st) || !S_ISBLK(st.st_mode) ||
		 (major(st.st_rdev) << 20 | minor(st.st_rdev)) != device->dev) {
		error_set(err, "%s is not device " DEV_FMT, path, DEV_ARG(device->dev));
		close(fd);
		fd = -1;
	}
	free(path);
	return fd;
}

/* Sectors that are recorded: of the partition, or all. */
static void range_of(const struct rec_device *device, uint64_t *from, uint64_t *to)
{
	*from = device->part_dev ? device->part_start : 0;
	*to = device->part_dev ? device->part_start + device->part_sectors : 0;
}

/* 0, or an errno. Version 8 first: an older kernel says ENOTTY. */
static int ask_for_setup(struct relay_dev *dev, uint32_t buffer_bytes, uint32_t nr_buffers)
{
	struct blk_user_trace_setup v7 = { .buf_size = buffer_bytes, .buf_nr = nr_buffers };
	struct setup_v8 v8 = { .buf_size = buffer_bytes, .buf_nr = nr_buffers };
	uint64_t from, to;

	range_of(dev->device, &from, &to);
	v7.start_lba = v8.start_lba = from;
	v7.end_lba = v8.end_lba = to;
	dev->version = 8;
	if (!ioctl(dev->fd, SETUP_V8, &v8))
		return 0;
	if (errno != ENOTTY && errno != EINVAL)
		return errno;
	dev->version = 7;
	return ioctl(dev->fd, BLKTRACESETUP, &v7) ? errno : 0;
}

static int tear_down(int fd)
{
	ioctl(fd, BLKTRACESTOP);
	return ioctl(fd, BLKTRACETEARDOWN) ? errno : 0;
}

/* Locked by us and of a trace that is there: its recorder is gone. */
static bool is_leftover(int claim_fd, const char *dir)
{
	uint64_t inode = claim_read(claim_fd);

	return inode && inode == trace_inode(dir);
}

static int refused(const struct relay_dev *dev, enum blktrace_call call, int errnum,
		   struct error *err)
{
	const char *name = blktrace_errno_name(errnum);

	return error_set(err, "%s: %s failed with %s: %s", dev->device->name,
			 blktrace_call_words(call), name ? name : strerror(errnum),
			 blktrace_error(call, errnum)->cause);
}

static int setup_refused(const struct relay_dev *dev, int errnum, struct error *err)
{
	if (errnum == EBUSY)
		return error_set(err,
				 "%s is being traced by somebody else (blktrace, or ftrace's blk "
				 "tracer); that is left alone",
				 dev->device->name);
	return refused(dev, CALL_SETUP, errnum, err);
}

int relay_dev_setup(struct relay_dev *dev, const struct sysroot *root, const char *debugfs,
		    const struct rec_device *device, uint32_t buffer_bytes, uint32_t nr_buffers,
		    struct error *err)
{
	int failed;

	*dev = (struct relay_dev){ .device = device, .root = root, .fd = -1, .claim_fd = -1 };
	dev->claim = claim_path(root, device->dev);
	dev->dir = mem_printf("%s/block/%s", debugfs, device->name);
	dev->fd = open_node(root, device, err);
	if (dev->fd < 0)
		return -1;
	dev->claim_fd = claim_open(dev->claim);
	if (dev->claim_fd < 0)
		return errno == EWOULDBLOCK
			       ? error_set(err, "%s is being recorded by another blklab",
					   device->name)
			       : error_errno(err, errno, "cannot make %s", dev->claim);
	failed = ask_for_setup(dev, buffer_bytes, nr_buffers);
	if (failed == EBUSY && is_leftover(dev->claim_fd, dev->dir) && !tear_down(dev->fd)) {
		dev->cleared = true;
		failed = ask_for_setup(dev, buffer_bytes, nr_buffers);
	}
	if (failed)
		return setup_refused(dev, failed, err);
	dev->set_up = true;
	claim_write(dev->claim_fd, trace_inode(dev->dir));
	return 0;
}

int relay_dev_start(struct relay_dev *dev, struct error *err)
{
	if (ioctl(dev->fd, BLKTRACESTART))
		return refused(dev, CALL_START, errno, err);
	return 0;
}

static void read_dropped(struct relay_dev *dev)
{
	char *path = mem_printf("%s/dropped", dev->dir);
	char *text = file_read(path, 64);

	dev->have_dropped = text != NULL;
	dev->dropped = text ? strtoull(text, NULL, 10) : 0;
	free(text);
	free(path);
}

void relay_dev_stop(struct relay_dev *dev)
{
	/* It fails where the device is gone, or somebody else ended the trace: what came is kept. */
	ioctl(dev->fd, BLKTRACESTOP);
	read_dropped(dev);
}

void relay_dev_release(struct relay_dev *dev)
{
	if (dev->set_up)
		tear_down(dev->fd);
	dev->set_up = false;
	/* While it is still locked: another recorder then makes a new one. */
	if (dev->claim_fd >= 0) {
		unlink(dev->claim);
		close(dev->claim_fd);
	}
	if (dev->fd >= 0)
		close(dev->fd);
	free(dev->claim);
	free(dev->dir);
	*dev = (struct relay_dev){ .fd = -1, .claim_fd = -1 };
}

/* ---- leftovers ---- */

/* The device of a claim's name; false where it is no claim. */
static bool parse_claim(const char *name, uint32_t *dev)
{
	unsigned int major, minor;
	char rest;

	if (sscanf(name, "relay-%u-%u%c", &major, &minor, &rest) != 2 || major > 0xfff ||
	    minor > 0xfffff)
		return false;
	*dev = major << 20 | minor;
	return true;
}

/* The claim is locked by us. 0 = torn down, -1 = it is no leftover, else an errno. */
static int clear_claimed(const struct sysroot *root, int claim_fd, struct rec_device *device)
{
	char *name = device_sysname(root, device->dev);
	struct error ignored;
	int result = -1, fd;
	char *dir;

	if (!name)
		return -1; /* the device is gone, and its trace with it */
	snprintf(device->name, sizeof(device->name), "%s", name);
	dir = sysroot_path(root, "/sys/kernel/debug/block/%s", name);
	if (is_leftover(claim_fd, dir)) {
		fd = open_node(root, device, &ignored);
		result = fd < 0 ? ENODEV : tear_down(fd);
		if (fd >= 0)
			close(fd);
	}
	free(dir);
	free(name);
	return result;
}

static int sweep_one(const struct sysroot *root, const char *name,
		     void (*report)(void *arg, const char *name, int errnum), void *arg)
{
	struct rec_device device = { 0 };
	char *path;
	int fd, errnum = -1;

	if (!parse_claim(name, &device.dev))
		return 0;
	path = sysroot_path(root, CLAIMS "/%s", name);
	fd = claim_open(path);
	if (fd >= 0) {
		errnum = clear_claimed(root, fd, &device);
		if (errnum <= 0)
			unlink(path);
		close(fd);
	}
	free(path);
	if (errnum >= 0 && report)
		report(arg, device.name, errnum);
	return errnum == 0;
}

int relay_dev_sweep(const struct sysroot *root,
		    void (*report)(void *arg, const char *name, int errnum), void *arg)
{
	char *path = sysroot_path(root, CLAIMS);
	DIR *list = opendir(path);
	struct dirent *entry;
	int nr = 0;

	free(path);
	while (list && (entry = readdir(list)))
		nr += sweep_one(root, entry->d_name, report, arg);
	if (list)
		closedir(list);
	return nr;
}
