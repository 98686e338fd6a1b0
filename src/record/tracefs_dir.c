/* SPDX-License-Identifier: MIT */
#include "record/tracefs_dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "record/when.h"

#define OUR_PREFIX "blklab-"

/* Where it is mounted today, and where old set-ups have it. */
static const char *const places[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };

__attribute__((format(printf, 2, 4))) static bool blocked(struct obstacle *no, const char *fmt,
							  const char *fix, ...)
{
	va_list args;

	va_start(args, fix);
	vsnprintf(no->why, sizeof(no->why), fmt, args);
	va_end(args);
	snprintf(no->fix, sizeof(no->fix), "%s", fix);
	return false;
}

char *lockdown_state(const struct sysroot *root)
{
	char *text = sysroot_read(root, 4096, "/sys/kernel/security/lockdown");
	char *from = text ? strchr(text, '[') : NULL;
	char *to = from ? strchr(from, ']') : NULL;
	char *state = to ? mem_strndup(from + 1, (size_t)(to - from - 1)) : NULL;

	free(text);
	return state;
}

static bool is_tracefs(const char *path)
{
	char *mark = mem_printf("%s/trace_clock", path);
	/* EPERM under lockdown and EACCES for users mean that it is there. */
	bool is = !access(mark, F_OK) || errno != ENOENT;

	free(mark);
	return is;
}

static char *find_mounted(const struct sysroot *root)
{
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		char *path = sysroot_path(root, "%s", places[i]);

		if (is_tracefs(path))
			return path;
		free(path);
	}
	return NULL;
}

bool tracefs_dir_is_mounted(const struct sysroot *root)
{
	char *path = find_mounted(root);
	bool mounted = path != NULL;

	free(path);
	return mounted;
}

static bool kernel_has_tracefs(const struct sysroot *root)
{
	char *text = sysroot_read(root, 1 << 16, "/proc/filesystems");
	/* Unreadable: let the mount decide. */
	bool has = !text || strstr(text, "\ttracefs\n") ||
		   (strlen(text) > 8 && !strcmp(text + strlen(text) - 8, "\ttracefs"));

	free(text);
	return has;
}

static bool mount_it(struct tracefs_dir *dir, const struct sysroot *root, struct obstacle *no)
{
	dir->path = sysroot_path(root, "%s", places[0]);
	if (!mount("tracefs", dir->path, "tracefs", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL)) {
		dir->mounted = true;
		return true;
	}
	blocked(no, "tracefs is not mounted and mounting it failed: %s",
		"mount -t tracefs tracefs /sys/kernel/tracing", strerror(errno));
	tracefs_dir_close(dir);
	return false;
}

/* Can instances be made here? Changes nothing. */
static bool is_usable(const struct sysroot *root, const char *path, struct obstacle *no)
{
	char *instances = mem_printf("%s/instances", path);
	char *control = mem_printf("%s/trace_clock", path);
	char *lockdown = lockdown_state(root);
	int fd = open(control, O_RDONLY | O_CLOEXEC);
	int errnum = fd < 0 ? errno : 0;
	bool usable = true;

	if (fd >= 0)
		close(fd);
	if (errnum == EPERM && lockdown && !strcmp(lockdown, "confidentiality"))
		usable =
			blocked(no,
				"kernel lockdown is in confidentiality mode, which forbids tracing",
				"boot with lockdown=integrity instead");
	else if (errnum)
		usable =
			blocked(no, "tracefs in %s cannot be used: %s", "", path, strerror(errnum));
	else if (access(instances, W_OK | X_OK))
		usable = blocked(no, "no trace instance can be made in %s: %s", "", instances,
				 strerror(errno));
	free(lockdown);
	free(control);
	free(instances);
	return usable;
}

bool tracefs_dir_open(struct tracefs_dir *dir, const struct sysroot *root, struct obstacle *no)
{
	*dir = (struct tracefs_dir){ 0 };
	if (root->prefix[0])
		return blocked(no, "the real kernel is not below the sysroot %.128s", "",
			       root->prefix);
	if (geteuid() != 0)
		return blocked(no, "recording needs root (this is user %u)", "sudo blklab ...",
			       (unsigned int)geteuid());
	dir->path = find_mounted(root);
	if (!dir->path) {
		if (!kernel_has_tracefs(root))
			return blocked(no, "this kernel has no tracefs (CONFIG_TRACING)", "");
		if (!mount_it(dir, root, no))
			return false;
	}
	if (is_usable(root, dir->path, no))
		return true;
	tracefs_dir_close(dir);
	return false;
}

void tracefs_dir_close(struct tracefs_dir *dir)
{
	if (dir->mounted)
		umount(dir->path); /* EBUSY: someone else uses it by now */
	free(dir->path);
	*dir = (struct tracefs_dir){ 0 };
}

/* When the process started, on the wall clock; 0 = there is none (any more). */
static uint64_t process_start_ns(const struct sysroot *root, long pid)
{
	char *text = sysroot_read(root, 4096, "/proc/%ld/stat", pid);
	char *at = text ? strrchr(text, ')') : NULL; /* the name before may hold anything */
	unsigned long long ticks = 0;
	uint64_t boot_ns = when_wall() - when(CLOCK_BOOTTIME);
	bool zombie = at && at[1] == ' ' && (at[2] == 'Z' || at[2] == 'X');

	/* Field 22; the closing parenthesis ends field 2. */
	for (int field = 2; at && field < 22; field++)
		at = strchr(at + 1, ' ');
	if (at)
		ticks = strtoull(at + 1, NULL, 10);
	free(text);
	if (!at || zombie)
		return 0;
	return boot_ns + ticks * (1000000000ull / (unsigned long long)sysconf(_SC_CLK_TCK));
}

/* An instance of ours whose maker is gone. A clock that was set meanwhile can only fool us into
 * trying: the kernel does not remove an instance of which a file is open. */
static bool is_leftover(const struct sysroot *root, const char *path, const char *name)
{
	const char *digits = name + strlen(OUR_PREFIX);
	uint64_t started, made;
	struct stat st;
	char *end;
	long pid;

	if (strncmp(name, OUR_PREFIX, strlen(OUR_PREFIX)) || *digits < '1' || *digits > '9')
		return false;
	pid = strtol(digits, &end, 10);
	if (*end || stat(path, &st))
		return false;
	started = process_start_ns(root, pid);
	if (!started)
		return true;
	made = (uint64_t)st.st_mtim.tv_sec * 1000000000u + (uint64_t)st.st_mtim.tv_nsec;
	/* The number went to another process since. One tick and a coarse clock of slack. */
	return started > made + 1000000000u;
}

int tracefs_dir_sweep(const struct tracefs_dir *dir, const struct sysroot *root,
		      void (*report)(void *arg, const char *name, int errnum), void *arg)
{
	char *instances = mem_printf("%s/instances", dir->path);
	DIR *list = opendir(instances);
	struct dirent *entry;
	int nr = 0;

	while (list && (entry = readdir(list))) {
		char *path = mem_printf("%s/%s", instances, entry->d_name);

		if (is_leftover(root, path, entry->d_name)) {
			int errnum = rmdir(path) ? errno : 0;

			nr += !errnum;
			if (report)
				report(arg, entry->d_name, errnum);
		}
		free(path);
	}
	if (list)
		closedir(list);
	free(instances);
	return nr;
}
