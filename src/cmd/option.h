/* SPDX-License-Identifier: MIT
 *
 * What getopt_long() did not like, in one sentence.
 */
#ifndef BLKLAB_CMD_OPTION_H
#define BLKLAB_CMD_OPTION_H

#include <getopt.h>

#include "base/error.h"

/* After '?' or ':' (an option string that begins with ':', or "+:"). argv[0] is the command's name.
 * Returns -1. */
int option_error(struct error *err, int c, char **argv, const struct option *longs);

#endif
