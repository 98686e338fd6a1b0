/* SPDX-License-Identifier: MIT
 *
 * Signals that end the reading, not the program: what was read gets its statistics.
 */
#ifndef BLKLAB_CLASSIC_STOP_H
#define BLKLAB_CLASSIC_STOP_H

#include <signal.h>
#include <stdbool.h>

struct stop {
	int fd; /* owned; readable when one came: poll it together with an input that waits */
	sigset_t old;
};

/* Blocks SIGINT, and unless `only_interrupt` SIGHUP and SIGTERM. What blocks meanwhile without looking at fd
 * cannot be ended by them. */
void stop_catch(struct stop *stop, bool only_interrupt);
/* Did one come? A system call: ask once a batch. fd -1: no. */
bool stop_asked(int fd);
/* As it was before; a signal that came has had its effect. */
void stop_release(struct stop *stop);

#endif
