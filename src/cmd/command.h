/* SPDX-License-Identifier: MIT
 *
 * A subcommand: one const struct in its own file, one row in src/main.c.
 */
#ifndef BLKLAB_CMD_COMMAND_H
#define BLKLAB_CMD_COMMAND_H

#include <stdbool.h>

#include "base/error.h"
#include "base/sysroot.h"

struct command {
	const char *name;
	const char *summary; /* one line for `blklab help` */
	/* Stands in for the classic tool of that name: also run when the program is called so, and -h and
	 * --help are options of its own. */
	bool classic;
	/* argv[0] is the command's name. Returns the exit status; -1 after an error that main is
	 * to print once as "blklab: NAME: TEXT" (the status is then err->status). */
	int (*run)(int argc, char **argv, const struct sysroot *root, struct error *err);
};

extern const struct command cmd_record, cmd_report, cmd_verify, cmd_blkparse, cmd_btt, cmd_doctor,
	cmd_help;

#endif
