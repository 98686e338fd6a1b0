// SPDX-License-Identifier: MIT
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/printable.h"
#include "cmd/command.h"
#include "cmd/help.h"

static const struct command *const commands[] = { &cmd_record,   &cmd_report, &cmd_verify,
						  &cmd_blkparse, &cmd_btt,    &cmd_doctor,
						  &cmd_help };

#define NR_COMMANDS  (sizeof(commands) / sizeof(commands[0]))
#define NAME_MAX_LEN 32

/* How many letters must be put in, left out or changed to make b of a. */
static size_t distance(const char *a, const char *b)
{
	size_t row[NAME_MAX_LEN + 1], len = strlen(b);

	if (strlen(a) > NAME_MAX_LEN || len > NAME_MAX_LEN)
		return NAME_MAX_LEN;
	for (size_t j = 0; j <= len; j++)
		row[j] = j;
	for (size_t i = 0; a[i]; i++) {
		size_t corner = row[0];

		row[0] = i + 1;
		for (size_t j = 0; j < len; j++) {
			size_t best = corner + (a[i] != b[j]);

			corner = row[j + 1];
			if (row[j] + 1 < best)
				best = row[j] + 1;
			if (corner + 1 < best)
				best = corner + 1;
			row[j + 1] = best;
		}
	}
	return row[len];
}

static const struct command *find(const char *name)
{
	for (size_t i = 0; i < NR_COMMANDS; i++)
		if (!strcmp(commands[i]->name, name))
			return commands[i];
	return NULL;
}

static int unknown_command(const char *name)
{
	const struct command *close = NULL;
	char *clean = printable(name);
	size_t least = 3; /* more than two letters away is another word */

	for (size_t i = 0; i < NR_COMMANDS; i++) {
		size_t d = distance(name, commands[i]->name);

		if (d < least) {
			least = d;
			close = commands[i];
		}
	}
	fprintf(stderr, "blklab: there is no command \"%s\"", clean);
	free(clean);
	if (close)
		fprintf(stderr, "; did you mean \"%s\"?\n", close->name);
	else
		fputs(" (blklab help lists them)\n", stderr);
	return STATUS_USAGE;
}

static void usage(FILE *out)
{
	fputs("usage: blklab COMMAND [OPTION...] [ARGUMENT...]\n"
	      "Is it the device, the queue or the submitter that makes block I/O slow, and "
	      "why?\n\n",
	      out);
	for (size_t i = 0; i < NR_COMMANDS; i++)
		fprintf(out, "  %-8s %s\n", commands[i]->name, commands[i]->summary);
	fputs("\nblklab help COMMAND tells more; blklab --version tells which one this is.\n", out);
}

static int run(const struct command *command, int argc, char **argv)
{
	const char *prefix = getenv("BLKLAB_SYSROOT");
	struct sysroot root = { .prefix = prefix ? prefix : "" };
	struct error err = { 0 };
	int status = command->run(argc, argv, &root, &err);
	char *clean;

	if (status >= 0)
		return status;
	clean = printable(err.text);
	fprintf(stderr, "blklab: %s: %s\n", command->name, clean);
	free(clean);
	return err.status == STATUS_DONE ? STATUS_FAILED : (int)err.status;
}

/* The command that the program was called by: a link named blkparse to it. */
static const struct command *called_by(const char *path)
{
	const char *slash = strrchr(path, '/');
	const struct command *command = find(slash ? slash + 1 : path);

	return command && command->classic ? command : NULL;
}

static int dispatch(int argc, char **argv)
{
	const struct command *command = argc ? called_by(argv[0]) : NULL;

	if (command)
		return run(command, argc, argv);
	if (argc < 2) {
		usage(stderr);
		return STATUS_USAGE;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
		usage(stdout);
		return STATUS_DONE;
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		puts("blklab " BLKLAB_VERSION);
		return STATUS_DONE;
	}
	command = find(argv[1]);
	if (!command)
		return unknown_command(argv[1]);
	if (!command->classic && argc > 2 &&
	    (!strcmp(argv[2], "--help") || !strcmp(argv[2], "-h"))) {
		help_print(command->name);
		return STATUS_DONE;
	}
	return run(command, argc - 1, argv + 1);
}

/* A full disk or a closed pipe behind stdout must not look like success. */
static int close_output(int status)
{
	bool failed = ferror(stdout);
	int why = errno;

	if (fflush(stdout)) {
		failed = true;
		why = errno;
	}
	if (!failed)
		return status;
	fprintf(stderr, "blklab: cannot write the output: %s\n", strerror(why));
	return STATUS_FAILED;
}

/* Where one of the three was closed by whoever called, the next file opened would take its place, and be
 * read or written to. Reading or writing what is put there instead fails, as it should. */
static void hold_standard_files(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && /* open takes the lowest number, which is this one */
		    open("/dev/null", (fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) | O_CLOEXEC) < 0)
			return;
}

int main(int argc, char **argv)
{
	hold_standard_files();
	signal(SIGPIPE, SIG_IGN); /* a closed pipe is an error like a full disk */
	return close_output(dispatch(argc, argv));
}
