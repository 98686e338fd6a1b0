/* SPDX-License-Identifier: MIT
 *
 * Command lines in a pasted session: what a result belongs to. A prompt is an empty or short text that
 * ends in '#', '$' or '%' and a blank ("host:/r1# ", "[me@host ~]$ ").
 */
#ifndef BLKLAB_READ_TEXT_SHELL_TEXT_H
#define BLKLAB_READ_TEXT_SHELL_TEXT_H

#include "read/text/result.h"

#define SHELL_COMMAND_MAX 400
#define SHELL_MISSING_MAX 1000

struct shell {
	char command[SHELL_COMMAND_MAX]; /* the last one, "" = none is known */
	bool loops;                      /* it may have any number of results */
	bool result_used;                /* a result of its program was seen */
	bool time_used;                  /* its times were seen */

	char mount[SHELL_COMMAND_MAX]; /* the options of the last mount in force, "" = none */
	bool mount_used;
	uint64_t mount_results; /* results under any mount's options */
	char **missing;         /* owned: options that no result followed */
	size_t nr_missing;
};

/* TEXT_USED: a dd, a timed command or a mount; other command lines are remembered and TEXT_NO. */
enum text_answer shell_take(struct shell *shell, const struct text_line *line);
/* A result of the last command was seen: the mount in force has one. */
void shell_result(struct shell *shell);
/* The text has ended: the last mount may be without a result, too. */
void shell_end(struct shell *shell);
void shell_release(struct shell *shell);

/* Of a command line with a dd in it, the value of an operand ("of="); false where it has none. */
bool shell_dd_operand(const char *command, const char *key, struct scan *value);
bool shell_has_dd(const char *command);
/* "4k", "1M", "2x512", "10MB" as dd reads it; false where it is none. */
bool shell_dd_size(struct scan value, uint64_t *bytes);

#endif
