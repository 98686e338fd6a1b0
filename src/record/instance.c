/* SPDX-License-Identifier: MIT */
#include "record/instance.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "record/pidns.h"
#include "record/when.h"

#define OUR_PREFIX "blklab-"
#define TRIES      9
#define TEXT_MAX   (1 << 20)
#define TEXT_PID   16 /* where "-PID" stands in a line: the name before it is set to this width */

/* ---- making and removing -------------------------------------------------------------------- */

int instance_make(struct instance *instance, const struct tracefs_dir *dir,
		  const struct sysroot *root, struct error *err)
{
	uint64_t namespace = pidns_own(root);
	char in[32] = "", again[16] = "", *file;

	*instance = (struct instance){ .hold_fd = -1 };
	if (namespace != PIDNS_INITIAL)
		snprintf(in, sizeof(in), "-%" PRIu64, namespace);
	for (int i = 1; i <= TRIES && !instance->path; i++) {
		char *path = mem_printf("%s/instances/" OUR_PREFIX "%d%s%s", dir->path,
					(int)getpid(), in, again);

		if (!mkdir(path, 0700)) {
			instance->path = path;
			break;
		}
		error_errno(err, errno, "cannot make the trace instance %s", path);
		free(path);
		if (errno != EEXIST)
			return -1;
		snprintf(again, sizeof(again), ".%d", i + 1);
	}
	if (!instance->path)
		return -1;
	file = mem_printf("%s/tracing_on", instance->path);
	instance->hold_fd = open(file, O_RDONLY | O_CLOEXEC);
	free(file);
	if (instance->hold_fd >= 0)
		return 0;
	error_errno(err, errno, "cannot open a file of the trace instance %s", instance->path);
	instance_remove(instance);
	return -1;
}

void instance_remove(struct instance *instance)
{
	const struct timespec pause = { .tv_nsec = 10000000 };

	if (!instance->path)
		return;
	if (instance->hold_fd >= 0)
		close(instance->hold_fd);
	/* Right after its last file was closed, the kernel may still say EBUSY for a moment. */
	for (int tries = 0; tries < 200 && rmdir(instance->path) && errno == EBUSY; tries++)
		nanosleep(&pause, NULL);
	free(instance->path);
	*instance = (struct instance){ .hold_fd = -1 };
}

/* ---- the child's number in the kernel ------------------------------------------------------- */

/* From "            NAME-PID     [CPU] ... TIME: tracing_mark_write: MARK". */
static pid_t pid_of_mark(const char *text, const char *mark)
{
	const char *at = text ? strstr(text, mark) : NULL;
	long pid;
	char *end;

	while (at && at > text && at[-1] != '\n')
		at--;
	if (!at || strcspn(at, "\n") <= TEXT_PID || at[TEXT_PID] != '-')
		return 0;
	pid = strtol(at + TEXT_PID + 1, &end, 10);
	return *end == ' ' && pid > 0 && pid <= INT32_MAX ? (pid_t)pid : 0;
}

pid_t instance_kernel_pid(const struct instance *instance, struct child *child)
{
	char *on = mem_printf("%s/tracing_on", instance->path);
	char *marker = mem_printf("%s/trace_marker", instance->path);
	char *trace = mem_printf("%s/trace", instance->path);
	char *mark = mem_printf("blklab waits %d %" PRIu64, (int)getpid(), when_mono());
	struct error ignored;
	pid_t pid = 0;
	int fd;

	if (!file_write(on, "1", &ignored) && !child_mark(child, marker, mark)) {
		char *text = file_read(trace, TEXT_MAX);

		pid = pid_of_mark(text, mark);
		free(text);
	}
	file_write(on, "0", &ignored);
	fd = open(trace, O_WRONLY | O_TRUNC | O_CLOEXEC); /* the mark goes */
	if (fd >= 0)
		close(fd);
	free(mark);
	free(trace);
	free(marker);
	free(on);
	return pid;
}

/* ---- leftovers ------------------------------------------------------------------------------ */

/* Who looks for leftovers. */
struct looker {
	const struct sysroot *root;
	uint64_t namespace;
	bool sees_all; /* the initial one, and /proc shows it */
	bool sees_own; /* /proc shows the processes of our namespace, by our numbers */
};

/* Takes "blklab-PID", "blklab-PID-NAMESPACE", either with ".N", apart. */
static bool parse_name(const char *name, pid_t *pid, uint64_t *namespace)
{
	size_t len = strlen(OUR_PREFIX);
	unsigned long long number;
	char *end;

	if (strncmp(name, OUR_PREFIX, len) || name[len] < '1' || name[len] > '9')
		return false;
	number = strtoull(name + len, &end, 10);
	*pid = (pid_t)number;
	*namespace = PIDNS_INITIAL;
	if (*end == '-' && end[1] >= '0' && end[1] <= '9')
		*namespace = strtoull(end + 1, &end, 10);
	if (*end == '.' && end[1] >= '2' && end[1] <= '9')
		end += 2;
	return !*end && number <= INT32_MAX;
}

/* When the process started, on the wall clock; 0 = it is gone, but for its parent's notice; UINT64_MAX
 * = it cannot be told. */
static uint64_t process_start_ns(const struct sysroot *root, pid_t pid)
{
	char *text = sysroot_read(root, 4096, "/proc/%d/stat", (int)pid);
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
	if (zombie || !at)
		return zombie ? 0 : UINT64_MAX;
	return boot_ns + ticks * (1000000000ull / (unsigned long long)sysconf(_SC_CLK_TCK));
}

/* The maker's number belongs to nobody, or went to another process since. A clock that was set
 * meanwhile can only fool us into trying: the kernel does not remove an instance of which a file is
 * open. */
static bool maker_is_gone(const struct looker *looker, const char *path, pid_t pid)
{
	uint64_t made, started;
	struct stat st;

	if (kill(pid, 0) && errno == ESRCH)
		return true;
	if (!looker->sees_own || stat(path, &st))
		return false;
	started = process_start_ns(looker->root, pid);
	made = (uint64_t)st.st_mtim.tv_sec * 1000000000u + (uint64_t)st.st_mtim.tv_nsec;
	/* One tick and a coarse clock of slack. */
	return !started || (started != UINT64_MAX && started > made + 1000000000u);
}

static bool is_leftover(const struct looker *looker, const char *path, const char *name)
{
	uint64_t namespace;
	pid_t pid;

	if (!parse_name(name, &pid, &namespace) || namespace == PIDNS_UNKNOWN)
		return false;
	if (namespace == looker->namespace)
		return maker_is_gone(looker, path, pid);
	return looker->sees_all && !pidns_has_processes(looker->root, namespace);
}

int instance_sweep(const struct tracefs_dir *dir, const struct sysroot *root,
		   void (*report)(void *arg, const char *name, int errnum), void *arg)
{
	char *instances = mem_printf("%s/instances", dir->path);
	struct looker looker = { .root = root, .namespace = pidns_own(root) };
	uint64_t of_proc = pidns_of_proc(root);
	DIR *list = opendir(instances);
	struct dirent *entry;
	int nr = 0;

	looker.sees_own = of_proc == looker.namespace;
	looker.sees_all = looker.sees_own && of_proc == PIDNS_INITIAL;
	while (list && (entry = readdir(list))) {
		char *path = mem_printf("%s/%s", instances, entry->d_name);

		if (is_leftover(&looker, path, entry->d_name)) {
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
