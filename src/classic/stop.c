/* SPDX-License-Identifier: MIT */
#include "classic/stop.h"

#include <poll.h>
#include <stdio.h>
#include <sys/signalfd.h>
#include <unistd.h>

void stop_catch(struct stop *stop, bool only_interrupt)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	if (!only_interrupt) {
		sigaddset(&set, SIGHUP);
		sigaddset(&set, SIGTERM);
	}
	pthread_sigmask(SIG_BLOCK, &set, &stop->old);
	stop->fd = signalfd(-1, &set, SFD_CLOEXEC);
}

bool stop_asked(int fd)
{
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };

	return poll(&poll_fd, 1, 0) > 0;
}

void stop_release(struct stop *stop)
{
	struct signalfd_siginfo signal;

	/* What is not taken from there would end the program now. */
	while (stop_asked(stop->fd) && read(stop->fd, &signal, sizeof(signal)) == sizeof(signal))
		;
	close(stop->fd);
	pthread_sigmask(SIG_SETMASK, &stop->old, NULL);
}
