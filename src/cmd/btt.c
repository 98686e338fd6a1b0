/* SPDX-License-Identifier: MIT
 *
 * The drop-in btt: `blklab btt`, and the program called by that name.
 */
#include <signal.h>

#include "classic/btt.h"
#include "cmd/command.h"

static int run(int argc, char **argv, const struct sysroot *root, struct error *err)
{
	struct btt_options options;
	int status = 0;

	switch (btt_options_parse(&options, argc, argv)) {
	case OPTIONS_RUN:
		signal(SIGPIPE, SIG_DFL); /* `btt ... | head` ends without a word */
		status = btt_run(&options, err);
		break;
	case OPTIONS_EXIT_FAILED:
		status = 1;
		break;
	case OPTIONS_EXIT_OK:
		break;
	}
	btt_options_release(&options);
	return status;
}

const struct command cmd_btt = {
	.name = "btt",
	.summary = "tables and plot files as the classic btt makes them, from any trace, counted "
		   "right",
	.classic = true,
	.run = run,
};
