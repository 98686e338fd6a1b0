/* SPDX-License-Identifier: MIT
 *
 * Text from anywhere (names of files and threads, kernel messages, arguments) for people's eyes.
 */
#ifndef BLKLAB_BASE_PRINTABLE_H
#define BLKLAB_BASE_PRINTABLE_H

/* A copy in which control characters, invisible ones (of direction, without width) and what is not UTF-8
 * have become \xNN: it is one line, a terminal is safe from it, and it can be a JSON string. Owned by
 * the caller. */
char *printable(const char *text);

#endif
