/* SPDX-License-Identifier: MIT
 *
 * What the fuzzers of the drop-in blkparse share: the whole command in this process, under options that two
 * bytes choose, with its output thrown away.
 */
#ifndef BLKLAB_FUZZ_CLASSIC_RUN_H
#define BLKLAB_FUZZ_CLASSIC_RUN_H

#include <stdio.h>
#include <stdlib.h>

#include "classic/fix.h"

#define CLASSIC_CHOICE_BYTES 2u

static const char *const classic_switches[] = { "-s", "-h", "-t", "-v", "-O", "-M", "-q" };

static const char *const classic_extras[][2] = {
	{ "-b", "1" },
	{ "-b", "3" },
	{ "-f", "%D %2c %8s %5T.%9t %5p %2a %3d\n" },
	{ "-f", "%P|%U|%u|%z|%g\n" },
	{ "-f", "%-20C%3e%12S%-8n%N%M,%m%40u\n%P%P" },
	{ "-F", "C,%a %P %u\n" },
	{ "-a", "complete" },
	{ "-A", "0x105" },
	{ "-w", "1" },
	{ "-w", "0.000001:0.5" },
	{ "-w", "nan" },
	{ "-S", "Q" },
	{ "--group", "yes" },
	{ "--group", "no" },
	{ "-b", "-1" },
	{ "-a", "notify" },
};

static void classic_call(struct blkparse_options *o)
{
	struct error err = { 0 };

	if (o->fix)
		fix_run(o, &err);
	else
		blkparse_run(o);
}

/* choice[0]: a bit per switch, the last for -d; choice[1]: four bits for the extra, two for the classic, the
 * last for --fix. `inputs` ends with NULL. glibc lets stdout and stderr be
 * replaced: what libFuzzer and the sanitizers write still goes to the real ones. */
static void classic_run(const uint8_t choice[CLASSIC_CHOICE_BYTES], const char *const *inputs)
{
	static const char *const classics[] = { "1.2", "1.3", "8", "8" };
	const char *argv[32] = { "blkparse", "-o", "/dev/null", "--classic" };
	FILE *out = stdout, *errors = stderr, *null = fopen("/dev/null", "w");
	struct blkparse_options o;
	int argc = 4;

	if (!null)
		abort();
	argv[argc++] = classics[choice[1] >> 4 & 3];
	argv[argc++] = classic_extras[choice[1] & 15][0];
	argv[argc++] = classic_extras[choice[1] & 15][1];
	for (size_t i = 0; i < sizeof(classic_switches) / sizeof(*classic_switches); i++)
		if (choice[0] >> i & 1)
			argv[argc++] = classic_switches[i];
	if (choice[0] & 0x80) {
		argv[argc++] = "-d";
		argv[argc++] = "/dev/null";
	}
	if (choice[1] & 0x80)
		argv[argc++] = "--fix";
	while (*inputs)
		argv[argc++] = *inputs++;
	stdout = null;
	stderr = null;
	if (options_parse(&o, argc, (char **)argv) == OPTIONS_RUN)
		classic_call(&o);
	options_release(&o);
	stdout = out;
	stderr = errors;
	fclose(null);
}

#endif
