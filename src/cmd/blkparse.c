/* SPDX-License-Identifier: MIT
 *
 * The drop-in blkparse: `blklab blkparse`, and the program called by that name.
 */
#include <signal.h>

#include "classic/fix.h"
#include "cmd/command.h"

static int run(int argc, char **argv, const struct sysroot *root, struct error *err)
{
	struct blkparse_options options;
	int status = 0;

	switch (options_parse(&options, argc, argv)) {
	case OPTIONS_RUN:
		signal(SIGPIPE, SIG_DFL); /* `blkparse ... | head` ends without a word */
		status = options.fix ? fix_run(&options, err) : blkparse_run(&options);
		break;
	case OPTIONS_EXIT_FAILED:
		status = 1;
		break;
	case OPTIONS_EXIT_OK:
		break;
	}
	options_release(&options);
	return status;
}

const struct command cmd_blkparse = {
	.name = "blkparse",
	.summary = "print events as the classic blkparse does, byte for byte; --fix: counted right",
	.classic = true,
	.run = run,
};
