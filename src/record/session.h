/* SPDX-License-Identifier: MIT
 *
 * A session undoes everything on every exit. While one is open, the signals whose default is to end
 * the process (except those of a fault of its own, like SIGSEGV) only set a flag, are blocked outside
 * session_wait(), and whoever changed something outside the process has pushed the way back. session_end() (also run by exit()) walks back in reverse order.
 * What a SIGKILL leaves behind is found by the next record or doctor (tracefs_dir.h).
 *
 * The only mutable file-scope state outside main.c lives in session.c: a signal handler has no other
 * way to speak. At most one session is open at a time.
 */
#ifndef BLKLAB_RECORD_SESSION_H
#define BLKLAB_RECORD_SESSION_H

#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>

#define SESSION_MAX_UNDO 8

struct undo {
	void (*fn)(void *arg); /* may be called from exit(); says nothing */
	void *arg;             /* borrowed until session_end or session_pop */
};

struct session {
	struct undo undo[SESSION_MAX_UNDO];
	size_t nr;
	bool open;
	sigset_t old_mask;                  /* for children and for ppoll */
	struct sigaction old_actions[NSIG]; /* by number */
	struct rlimit old_files;            /* how many files may be open */
};

/* Opens the session: handlers in place, signals blocked, as many files allowed as can be. */
void session_begin(struct session *session);
/* Borrows arg. The undo runs once, at session_end. */
void session_push(struct session *session, void (*fn)(void *arg), void *arg);
/* Runs and forgets every undo, last first, and puts signal handling back; twice is fine. */
void session_end(struct session *session);

/* ppoll() with the session's signals let in; a child's end (SIGCHLD) also ends the wait. */
int session_wait(struct session *session, struct pollfd *fds, nfds_t nr, uint64_t timeout_ns);

/* The first signal that asked to stop, 0 = none; how many came; whether the terminal sent it (then
 * the whole foreground group, so also the command, has got it). */
int session_signal(void);
unsigned int session_nr_signals(void);
bool session_signal_from_terminal(void);

/* In a forked child, before exec: the signal handling, the mask and the limit of files that the
 * session found. */
void session_restore_signals(const struct session *session);

#endif
