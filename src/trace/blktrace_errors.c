/* SPDX-License-Identifier: MIT */
#include "trace/blktrace_errors.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#define LOCKED                                                                                    \
	"Do not switch secure boot off for it: blklab record uses tracefs, and perf and the BPF " \
	"tools work too where debugfs is locked."
#define DOCTOR "blklab doctor says what can be recorded on this machine."

static const struct {
	enum blktrace_call call; /* the first row that fits is it */
	int errnum;              /* 0: any */
	struct blktrace_error error;
} table[] = {
	{ CALL_SETUP,
	  ENOTTY,
	  { "the kernel does not know the call: it was built without CONFIG_BLK_DEV_IO_TRACE, or "
	    "this is "
	    "no block device",
	    "Look for CONFIG_BLK_DEV_IO_TRACE in the kernel's configuration; blklab record needs "
	    "only "
	    "the tracefs events." } },
	{ CALL_SETUP,
	  EIO,
	  { "the kernel could not allocate the buffers (they need large contiguous pieces of "
	    "memory, and "
	    "memory is fragmented), or a second tracer was at the device (an NVMe drive that is "
	    "started "
	    "twice)",
	    "Use smaller buffers: blktrace -b 128 -n 8. Check that no other tracer runs." } },
	{ CALL_SETUP,
	  ENOMEM,
	  { "the kernel could not allocate the buffers",
	    "Use smaller buffers: blktrace -b 128 -n 8." } },
	{ CALL_SETUP,
	  ENOENT,
	  { "debugfs is not mounted, or this partition has no directory there (some kernels, 4.18 "
	    "for one, "
	    "make it only for the whole disk, or not a second time)",
	    "mount -t debugfs debugfs /sys/kernel/debug; trace the whole disk instead of the "
	    "partition." } },
	{ CALL_SETUP,
	  EBUSY,
	  { "the device is being traced already, by another blktrace or by ftrace's blk tracer, "
	    "perhaps "
	    "one that was left behind",
	    "Find out whose it is. If it is yours: blktrace -k DEVICE ends it. blklab record does "
	    "not "
	    "need that place and can run beside it." } },
	{ CALL_SETUP,
	  EINVAL,
	  { "the kernel refused the sizes of the buffers or the filter",
	    "Check -b and -n (neither may be 0), -a and -A." } },
	{ CALL_START,
	  EINVAL,
	  { "nothing is set up, or it runs already",
	    "End what is left: blktrace -k DEVICE, if it is yours." } },
	{ CALL_STOP,
	  EINVAL,
	  { "nothing was running: somebody ended it before, or it never started",
	    "Look at the first error above; nothing is left to clean up." } },
	{ CALL_STOP, ENOENT, { "nothing was set up", "Look at the first error above." } },
	{ CALL_BUFFER,
	  ENOENT,
	  { "the set-up failed before, or another tracer removed the directory, or this CPU is not "
	    "online",
	    "Look at the first error above; the others follow from it." } },
	{ CALL_BUFFER,
	  EPERM,
	  { "the kernel is locked down (secure boot) and keeps debugfs shut, or this is not root",
	    LOCKED } },
	{ CALL_THREAD,
	  EINVAL,
	  { "this CPU is not in the cpuset of the process (a container), so no thread can be bound "
	    "to it",
	    "Run it outside of the container or cpuset, or with all CPUs allowed." } },
	{ CALL_THREAD,
	  EAGAIN,
	  { "there are too many threads for the limits of this user or cgroup",
	    "Raise the limit (ulimit -u, pids.max)." } },
	{ CALL_DEBUGFS,
	  ENOENT,
	  { "debugfs is not mounted there", "mount -t debugfs debugfs /sys/kernel/debug" } },
	{ CALL_DEBUGFS,
	  0,
	  { "debugfs is not mounted there, or not readable",
	    "As root: mount -t debugfs debugfs /sys/kernel/debug" } },
	{ CALL_LOCKDOWN,
	  0,
	  { "the kernel is locked down (secure boot) and keeps debugfs shut, where blktrace's "
	    "buffers are",
	    LOCKED } },
	{ CALL_DEVICE, ENOENT, { "there is no such device", "Check the name: lsblk lists them." } },
	{ CALL_ANY,
	  EPERM,
	  { "this is not root (or a container without CAP_SYS_ADMIN), or the kernel is locked down "
	    "(secure "
	    "boot)",
	    "Run it as root. " LOCKED } },
	{ CALL_ANY,
	  EACCES,
	  { "this is not root", "Run it as root, or with CAP_SYS_ADMIN. " DOCTOR } },
	{ CALL_ANY,
	  EBUSY,
	  { "another tracer is there", "If it is yours: blktrace -k DEVICE ends it." } },
	{ CALL_ANY,
	  EMFILE,
	  { "too many files are open: one per CPU and device is needed",
	    "Raise the limit: ulimit -n" } },
	{ CALL_ANY, ENODEV, { "the device is gone", "Check that it is there: lsblk" } },
	{ CALL_ANY,
	  ENXIO,
	  { "the device is gone or has no medium", "Check that it is there: lsblk" } },
	{ CALL_ANY,
	  ENOSPC,
	  { "the file system of the output is full", "Use -D with more space." } },
	{ CALL_ANY, ENOMEM, { "memory ran out", "Use smaller buffers: blktrace -b 128 -n 8." } },
	{ CALL_ANY, 0, { "its reason is only what this errno says", DOCTOR } },
};

const struct blktrace_error *blktrace_error(enum blktrace_call call, int errnum)
{
	size_t i = 0;

	while ((table[i].call != call && table[i].call != CALL_ANY) ||
	       (table[i].errnum && table[i].errnum != errnum))
		i++;
	return &table[i].error;
}

const char *blktrace_call_words(enum blktrace_call call)
{
	static const char *const words[] = {
		[CALL_SETUP] = "setting up the trace",
		[CALL_START] = "starting the trace",
		[CALL_STOP] = "ending the trace",
		[CALL_BUFFER] = "opening the buffer",
		[CALL_THREAD] = "starting the thread",
		[CALL_DEBUGFS] = "reaching debugfs",
		[CALL_DEVICE] = "opening the device",
		[CALL_LOCKDOWN] = "reaching debugfs",
		[CALL_ANY] = "the capture",
	};

	return words[call];
}

static const struct {
	int errnum;
	const char *name, *text;
} errnos[] = {
	{ EPERM, "EPERM", "Operation not permitted" },
	{ ENOENT, "ENOENT", "No such file or directory" },
	{ EIO, "EIO", "Input/output error" },
	{ ENXIO, "ENXIO", "No such device or address" },
	{ EBADF, "EBADF", "Bad file descriptor" },
	{ EAGAIN, "EAGAIN", "Resource temporarily unavailable" },
	{ ENOMEM, "ENOMEM", "Cannot allocate memory" },
	{ EACCES, "EACCES", "Permission denied" },
	{ EFAULT, "EFAULT", "Bad address" },
	{ EBUSY, "EBUSY", "Device or resource busy" },
	{ EEXIST, "EEXIST", "File exists" },
	{ ENODEV, "ENODEV", "No such device" },
	{ ENOTDIR, "ENOTDIR", "Not a directory" },
	{ EINVAL, "EINVAL", "Invalid argument" },
	{ EMFILE, "EMFILE", "Too many open files" },
	{ ENOTTY, "ENOTTY", "Inappropriate ioctl for device" },
	{ ENOSPC, "ENOSPC", "No space left on device" },
	{ EROFS, "EROFS", "Read-only file system" },
	{ ENOSYS, "ENOSYS", "Function not implemented" },
	{ EOPNOTSUPP, "EOPNOTSUPP", "Operation not supported" },
};

const char *blktrace_errno_name(int errnum)
{
	for (size_t i = 0; i < sizeof(errnos) / sizeof(*errnos); i++)
		if (errnos[i].errnum == errnum)
			return errnos[i].name;
	return NULL;
}

int blktrace_errno_of(const char *text)
{
	for (size_t i = 0; i < sizeof(errnos) / sizeof(*errnos); i++)
		if (!strcmp(errnos[i].text, text))
			return errnos[i].errnum;
	return 0;
}
