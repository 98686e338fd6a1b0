// SPDX-License-Identifier: MIT
#include "cmd/help.h"

#include <stdio.h>
#include <string.h>

#include "cmd/command.h"

bool help_print(const char *name)
{
	for (const struct help_text *help = help_texts; help->name; help++) {
		if (strcmp(help->name, name))
			continue;
		fputs(help->text, stdout);
		return true;
	}
	return false;
}

static int run(int argc, char **argv, const struct sysroot *root, struct error *err)
{
	if (argc > 2)
		return error_usage(err, "one command at most (see blklab help)");
	if (!help_print(argc == 2 ? argv[1] : "blklab"))
		return error_usage(err, "there is no command \"%s\" (blklab help lists them)",
				   argv[1]);
	return STATUS_DONE;
}

const struct command cmd_help = {
	.name = "help",
	.summary = "explain a command: its options, examples and exit statuses",
	.run = run,
};
