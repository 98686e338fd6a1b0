/* SPDX-License-Identifier: MIT */
#include "cmd/option.h"

#include <stdbool.h>
#include <string.h>

/* Is it --NAME=VALUE of the option that optopt stands for, which takes none? */
static bool has_needless_value(const char *arg, const struct option *longs)
{
	const char *equals = strchr(arg, '=');

	if (!equals || strncmp(arg, "--", 2))
		return false;
	for (; longs->name; longs++)
		if (longs->val == optopt && longs->has_arg == no_argument &&
		    !strncmp(arg + 2, longs->name, (size_t)(equals - arg - 2)))
			return true;
	return false;
}

int option_error(struct error *err, int c, char **argv, const struct option *longs)
{
	const char *last = argv[optind - 1];

	if (c == ':')
		return error_usage(err, "%s needs a value", last);
	if (optopt && has_needless_value(last, longs))
		return error_usage(err, "%.*s takes no value (see blklab help %s)",
				   (int)strcspn(last, "="), last, argv[0]);
	/* Of short ones behind one dash, optind has not passed the word yet. */
	if (optopt)
		return error_usage(err, "there is no option \"-%c\" (see blklab help %s)", optopt,
				   argv[0]);
	return error_usage(err, "there is no option \"%s\" (see blklab help %s)", last, argv[0]);
}
