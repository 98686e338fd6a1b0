/* SPDX-License-Identifier: MIT
 *
 * The help texts, made by tools/mkman from the texts in doc/man together with the manual page.
 */
#ifndef BLKLAB_CMD_HELP_H
#define BLKLAB_CMD_HELP_H

#include <stdbool.h>

struct help_text {
	const char *name; /* of the command; NULL ends the list */
	const char *text;
};

extern const struct help_text help_texts[];

/* Prints the help of one command on stdout; false where there is none. */
bool help_print(const char *name);

#endif
