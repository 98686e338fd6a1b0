/* SPDX-License-Identifier: MIT
 *
 * What time(1) and the time of the shells print about a command, in their many forms, and the times that
 * dd's harnesses print ("248 MB/s  real = 86.74, user = 0.01, sys = 21.65, 24% cpu").
 */
#ifndef BLKLAB_READ_TEXT_TIME_TEXT_H
#define BLKLAB_READ_TEXT_TIME_TEXT_H

#include "read/text/result.h"
#include "read/text/shell_text.h"

struct times {
	double elapsed, user, system, cpu_share; /* s, s, s, 1; NAN = not told */
	double bytes_per_s;                      /* of a harness that prints the speed, too */
	double peak_bytes;                       /* resident */
	double read_bytes, written_bytes;        /* file system inputs and outputs */
};

struct time_state {
	struct times got;                /* of a form of several lines, while it is read */
	int form;                        /* enum in time_text.c; 0 = none is open */
	char command[SHELL_COMMAND_MAX]; /* that the text itself names, "" = none */
	char context[200];
	json_t *last; /* borrowed: the metric that a following line completes */
	struct {
		uint64_t nr;
		char command[SHELL_COMMAND_MAX];
		double elapsed, system;
	} busy; /* commands that computed in the kernel all the time; the longest of them */
};

enum text_answer time_take(struct time_state *state, struct shell *shell, struct text *text,
			   const struct text_line *line);
/* The text has ended: gives what is open, and the findings. */
void time_end(struct time_state *state, struct shell *shell, struct text *text);

#endif
