/* SPDX-License-Identifier: MIT */
#include "record/session.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "base/limit.h"

static volatile sig_atomic_t first_signal, nr_signals, from_terminal;
static struct session *open_session; /* for exit() */
static bool exit_hooked;

/* Those that would end us; SIGCHLD only has to interrupt the wait. A fault is no wish to stop, and a
 * sanitizer may want to tell it. */
static bool is_served(int number)
{
	switch (number) {
	case SIGKILL:
	case SIGSTOP:
	case SIGCONT:
	case SIGTSTP:
	case SIGTTIN:
	case SIGTTOU:
	case SIGURG:
	case SIGWINCH:
	case SIGSEGV:
	case SIGBUS:
	case SIGFPE:
	case SIGILL:
	case SIGTRAP:
	case SIGSYS:
		return false;
	}
	return number < 32 || number >= SIGRTMIN; /* between: the C library's own */
}

/* SIGPIPE must not end a recording whose stderr went away, nor SIGXFSZ one whose file reached a
 * limit: the write then fails, which is told like a full disk. */
static bool is_ignored(int number)
{
	return number == SIGPIPE || number == SIGXFSZ;
}

/* What was ignored stays so (nohup). SIGINT and SIGQUIT do not, since shells let them be ignored for
 * every background job of a script, which may well use them to stop us. */
static bool stays_ignored(int number, const struct sigaction *old)
{
	return old->sa_handler == SIG_IGN && number != SIGINT && number != SIGQUIT &&
	       number != SIGTERM && number != SIGCHLD;
}

static void on_signal(int number, siginfo_t *info, void *context)
{
	(void)context;
	if (number == SIGCHLD)
		return;
	if (!first_signal) {
		first_signal = number;
		/* SI_KERNEL: the terminal, where it is none of a timer or limit; SI_USER is 0. */
		from_terminal = info->si_code > 0 &&
				(number == SIGINT || number == SIGQUIT || number == SIGHUP);
	}
	nr_signals = nr_signals + 1;
}

static void end_at_exit(void)
{
	if (open_session)
		session_end(open_session);
}

static void take_signals(struct session *session)
{
	struct sigaction action = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO };
	struct sigaction ignore = { .sa_handler = SIG_IGN };
	sigset_t block;

	sigemptyset(&block);
	sigemptyset(&action.sa_mask);
	sigemptyset(&ignore.sa_mask);
	for (int number = 1; number < NSIG; number++)
		if (is_served(number))
			sigaddset(&block, number);
	sigprocmask(SIG_BLOCK, &block, &session->old_mask);
	for (int number = 1; number < NSIG; number++) {
		struct sigaction *old = &session->old_actions[number];

		if (!is_served(number) || sigaction(number, NULL, old))
			continue;
		if (!stays_ignored(number, old))
			sigaction(number, is_ignored(number) ? &ignore : &action, NULL);
	}
}

void session_begin(struct session *session)
{
	first_signal = nr_signals = from_terminal = 0;
	*session = (struct session){ .open = true };
	take_signals(session);
	/* A few files per CPU are open at a time. */
	limit_raise_files(&session->old_files);
	open_session = session;
	if (!exit_hooked) {
		exit_hooked = true;
		atexit(end_at_exit);
	}
}

void session_push(struct session *session, void (*fn)(void *arg), void *arg)
{
	if (session->nr == SESSION_MAX_UNDO)
		abort();
	session->undo[session->nr++] = (struct undo){ .fn = fn, .arg = arg };
}

static void give_handlers_back(const struct session *session)
{
	for (int number = 1; number < NSIG; number++)
		if (is_served(number))
			sigaction(number, &session->old_actions[number], NULL);
}

void session_end(struct session *session)
{
	if (!session->open)
		return;
	session->open = false;
	open_session = NULL;
	while (session->nr) {
		struct undo *undo = &session->undo[--session->nr];

		undo->fn(undo->arg);
	}
	/* A signal that came meanwhile has been served: the session is over. Handlers go back
	 * last, so that it does not kill us half way. */
	sigprocmask(SIG_SETMASK, &session->old_mask, NULL);
	give_handlers_back(session);
	limit_restore_files(&session->old_files);
}

int session_wait(struct session *session, struct pollfd *fds, nfds_t nr, uint64_t timeout_ns)
{
	struct timespec timeout = { .tv_sec = (time_t)(timeout_ns / 1000000000u),
				    .tv_nsec = (long)(timeout_ns % 1000000000u) };

	return ppoll(fds, nr, &timeout, &session->old_mask);
}

int session_signal(void)
{
	return first_signal;
}

unsigned int session_nr_signals(void)
{
	return (unsigned int)nr_signals;
}

bool session_signal_from_terminal(void)
{
	return from_terminal;
}

void session_restore_signals(const struct session *session)
{
	give_handlers_back(session);
	limit_restore_files(&session->old_files);
	/* Ignoring it is main()'s way, not the user's. */
	signal(SIGPIPE, SIG_DFL);
	sigprocmask(SIG_SETMASK, &session->old_mask, NULL);
}
