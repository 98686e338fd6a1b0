/* SPDX-License-Identifier: MIT */
#include "record/tracefs_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/mem.h"

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
	/* EPERM under lockdown and EACCES for users mean that it is there. With lockdown=confidentiality from
	 * the start it is there and empty. */
	bool is = !access(mark, F_OK) || errno != ENOENT;
	struct statfs fs;

	is = is || (!statfs(path, &fs) && fs.f_type == TRACEFS_MAGIC);

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
	if (errnum && lockdown && !strcmp(lockdown, "confidentiality"))
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
