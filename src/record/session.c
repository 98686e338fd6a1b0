/* SPDX-License-Identifier: MIT */
#include "record/session.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

static volatile sig_atomic_t first_signal, nr_signals, from_terminal;
static struct session *open_session; /* for exit() */
static bool exit_hooked;

/* SIGCHLD only has to interrupt the wait. SIGPIPE must not end a recording whose stderr went away, nor
 * SIGXFSZ one whose file reached a limit: the write then fails, which is told like a full disk. */
static const int session_signals[SESSION_NR_SIGNALS] = { SIGINT,  SIGTERM, SIGHUP, SIGQUIT,
							 SIGCHLD, SIGPIPE, SIGXFSZ };

static void on_signal(int number, siginfo_t *info, void *context)
{
	(void)context;
	if (number == SIGCHLD)
		return;
	if (!first_signal) {
		first_signal = number;
		from_terminal = info->si_code > 0; /* SI_KERNEL: the terminal; SI_USER is 0 */
	}
	nr_signals = nr_signals + 1;
}

static void end_at_exit(void)
{
	if (open_session)
		session_end(open_session);
}

void session_begin(struct session *session)
{
	struct sigaction action = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO };
	struct sigaction ignore = { .sa_handler = SIG_IGN };
	sigset_t block;

	first_signal = nr_signals = from_terminal = 0;
	*session = (struct session){ .open = true };
	sigemptyset(&block);
	sigemptyset(&action.sa_mask);
	sigemptyset(&ignore.sa_mask);
	for (size_t i = 0; i < SESSION_NR_SIGNALS; i++)
		sigaddset(&block, session_signals[i]);
	sigprocmask(SIG_BLOCK, &block, &session->old_mask);
	for (size_t i = 0; i < SESSION_NR_SIGNALS; i++) {
		int number = session_signals[i];

		sigaction(number, NULL, &session->old_actions[i]);
		/* nohup is respected; SIGINT is not, since shells let it be ignored for every
		 * background job of a script, which may well use it to stop us. */
		if (session->old_actions[i].sa_handler == SIG_IGN && number == SIGHUP)
			continue;
		sigaction(number, number == SIGPIPE || number == SIGXFSZ ? &ignore : &action, NULL);
	}
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
	for (size_t i = 0; i < SESSION_NR_SIGNALS; i++)
		sigaction(session_signals[i], &session->old_actions[i], NULL);
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
	for (size_t i = 0; i < SESSION_NR_SIGNALS; i++)
		sigaction(session_signals[i], &session->old_actions[i], NULL);
	/* Ignoring it is main()'s way, not the user's. */
	signal(SIGPIPE, SIG_DFL);
	sigprocmask(SIG_SETMASK, &session->old_mask, NULL);
}
