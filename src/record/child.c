/* SPDX-License-Identifier: MIT */
#include "record/child.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "record/jsontext.h"
#include "record/when.h"

/* What the child is told through its pipe, a byte each. */
#define GO_RUN  'g'
#define GO_MARK 'm'

#define MARK_MAX 1024 /* path and mark; one write of it is not torn apart (PIPE_BUF) */

static bool runnable(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode) && !access(path, X_OK);
}

/* As execvp() looks for it. */
static bool found_in_path(const char *name)
{
	const char *at = getenv("PATH");

	if (!at)
		at = "/bin:/usr/bin";
	for (;;) {
		size_t len = strcspn(at, ":");
		char *path = mem_printf("%.*s%s%s", (int)len, at, len ? "/" : "", name);
		bool found = runnable(path);

		free(path);
		if (found || !at[len])
			return found;
		at += len + 1;
	}
}

int child_check(const char *name, struct error *err)
{
	struct stat st;

	if (!strchr(name, '/'))
		return found_in_path(name) ? 0 : error_set(err, "%s: command not found", name);
	if (stat(name, &st))
		return error_errno(err, errno, "cannot run %s", name);
	if (S_ISDIR(st.st_mode))
		return error_errno(err, EISDIR, "cannot run %s", name);
	return runnable(name) ? 0 : error_errno(err, EACCES, "cannot run %s", name);
}

static bool read_byte(int fd, char *byte)
{
	ssize_t got;

	do
		got = read(fd, byte, 1);
	while (got < 0 && errno == EINTR);
	return got == 1;
}

/* In the child: "PATH\0MARK\0" follows; the answer is 0 or an errno. */
static void write_mark(int go_fd, int result_fd)
{
	char text[MARK_MAX];
	size_t len = 0;
	int zeros = 0, failed = 0, fd;

	while (zeros < 2) {
		if (len == sizeof(text) || !read_byte(go_fd, &text[len]))
			_exit(127);
		zeros += !text[len++];
	}
	fd = open(text, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, text + strlen(text) + 1, len - strlen(text) - 2) < 0)
		failed = errno;
	if (fd >= 0)
		close(fd);
	if (write(result_fd, &failed, sizeof(failed)) != sizeof(failed))
		_exit(127);
}

/* In the child: waits for the go, then tells what it has used up so far, and becomes the command. */
static void become_command(struct child *child, const struct session *session, int go_fd,
			   int result_fd)
{
	struct rusage used;
	ssize_t got;
	int errnum;
	char go = 0;

	session_restore_signals(session);
	while (read_byte(go_fd, &go) && go == GO_MARK)
		write_mark(go_fd, result_fd);
	if (go != GO_RUN)
		_exit(127);
	getrusage(RUSAGE_SELF, &used);
	if (write(result_fd, &used, sizeof(used)) != sizeof(used))
		_exit(127);
	execvp(child->argv[0], child->argv);
	errnum = errno;
	got = write(result_fd, &errnum, sizeof(errnum));
	_exit(got == sizeof(errnum) ? 126 : 127);
}

int child_fork(struct child *child, char **argv, const struct session *session, struct error *err)
{
	int go[2], result[2];

	*child = (struct child){ .argv = argv, .go_fd = -1, .result_fd = -1 };
	if (pipe2(go, O_CLOEXEC))
		return error_errno(err, errno, "cannot make a pipe");
	if (pipe2(result, O_CLOEXEC)) {
		close(go[0]);
		close(go[1]);
		return error_errno(err, errno, "cannot make a pipe");
	}
	child->pid = fork();
	if (child->pid == 0) {
		close(go[1]);
		become_command(child, session, go[0], result[1]);
	}
	child->kernel_pid = child->pid;
	close(go[0]);
	close(result[1]);
	child->go_fd = go[1];
	child->result_fd = result[0];
	if (child->pid < 0) {
		child->pid = 0;
		child_release(child);
		return error_errno(err, errno, "cannot start a process");
	}
	return 0;
}

static ssize_t read_result(const struct child *child, void *to, size_t size)
{
	ssize_t got;

	do
		got = read(child->result_fd, to, size);
	while (got < 0 && errno == EINTR);
	return got;
}

int child_mark(struct child *child, const char *path, const char *mark)
{
	char text[MARK_MAX + 1];
	size_t len = (size_t)snprintf(text, sizeof(text), "%c%s%c%s", GO_MARK, path, 0, mark) + 1;
	int failed = EPIPE;

	if (len > sizeof(text))
		return ENAMETOOLONG;
	if (write(child->go_fd, text, len) != (ssize_t)len)
		return errno;
	return read_result(child, &failed, sizeof(failed)) == sizeof(failed) ? failed : EPIPE;
}

int child_go(struct child *child, struct error *err)
{
	struct rusage before;
	int errnum = 0;

	child->start_ns = when_mono();
	if (write(child->go_fd, &(char){ GO_RUN }, 1) != 1)
		return error_errno(err, errno, "cannot start %s", child->argv[0]);
	close(child->go_fd);
	child->go_fd = -1;
	if (read_result(child, &before, sizeof(before)) == sizeof(before))
		child->before = before;
	/* Ends by itself at the exec, which closes the other side. */
	if (read_result(child, &errnum, sizeof(errnum)) == sizeof(errnum)) {
		waitpid(child->pid, NULL, 0);
		child->pid = 0;
		return error_errno(err, errnum, "cannot run %s", child->argv[0]);
	}
	child->started = true;
	return 0;
}

static uint64_t grown(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

static uint64_t timeval_ns(struct timeval tv)
{
	return (uint64_t)tv.tv_sec * 1000000000u + (uint64_t)tv.tv_usec * 1000u;
}

/* The highest memory use is the only one that cannot be told apart: at least the recorder's own. */
static void take_usage(struct child *child, const struct rusage *used)
{
	const struct rusage *before = &child->before;

	child->user_ns = grown(timeval_ns(used->ru_utime), timeval_ns(before->ru_utime));
	child->system_ns = grown(timeval_ns(used->ru_stime), timeval_ns(before->ru_stime));
	child->max_rss_bytes = (uint64_t)used->ru_maxrss * 1024;
	child->major_faults = grown((uint64_t)used->ru_majflt, (uint64_t)before->ru_majflt);
	child->in_blocks = grown((uint64_t)used->ru_inblock, (uint64_t)before->ru_inblock);
	child->out_blocks = grown((uint64_t)used->ru_oublock, (uint64_t)before->ru_oublock);
}

bool child_poll(struct child *child)
{
	struct rusage used;

	if (child->ended || !child->started)
		return child->ended;
	if (wait4(child->pid, &child->wait_status, WNOHANG, &used) != child->pid)
		return false;
	child->end_ns = when_mono();
	child->ended = true;
	take_usage(child, &used);
	return true;
}

void child_release(struct child *child)
{
	if (child->go_fd >= 0)
		close(child->go_fd);
	if (child->result_fd >= 0)
		close(child->result_fd);
	child->go_fd = child->result_fd = -1;
	if (child->pid > 0 && !child->started)
		waitpid(child->pid, NULL, 0); /* no go came: it ends at once */
	child->pid = 0;
}

int child_status(const struct child *child)
{
	if (WIFSIGNALED(child->wait_status))
		return 128 + WTERMSIG(child->wait_status);
	return WEXITSTATUS(child->wait_status);
}

static void set_ns(json_t *object, const char *key, uint64_t value, bool known)
{
	json_object_set_new(object, key, known ? json_integer((json_int_t)value) : json_null());
}

json_t *child_json(const struct child *child)
{
	bool exited = child->ended && WIFEXITED(child->wait_status);
	bool killed = child->ended && WIFSIGNALED(child->wait_status);
	json_t *object, *argv;

	if (!child->argv)
		return json_null();
	object = json_object();
	argv = json_array();
	for (char **arg = child->argv; *arg; arg++)
		json_array_append_new(argv, json_text(*arg));
	json_object_set_new(object, "argv", argv);
	json_object_set_new(object, "pid",
			    child->kernel_pid ? json_integer(child->kernel_pid) : json_null());
	json_object_set_new(object, "exit_status",
			    exited ? json_integer(WEXITSTATUS(child->wait_status)) : json_null());
	json_object_set_new(object, "signal",
			    killed ? json_integer(WTERMSIG(child->wait_status)) : json_null());
	set_ns(object, "start_ns", child->start_ns, child->started);
	set_ns(object, "end_ns", child->end_ns, child->ended);
	set_ns(object, "wall_ns", child->end_ns - child->start_ns, child->ended);
	set_ns(object, "user_ns", child->user_ns, child->ended);
	set_ns(object, "system_ns", child->system_ns, child->ended);
	set_ns(object, "max_rss_bytes", child->max_rss_bytes, child->ended);
	set_ns(object, "major_faults", child->major_faults, child->ended);
	set_ns(object, "in_blocks", child->in_blocks, child->ended);
	set_ns(object, "out_blocks", child->out_blocks, child->ended);
	return object;
}
