/* SPDX-License-Identifier: MIT
 *
 * What the readers of tables in columns need beside text_scan.h. What is not there moves nothing and
 * is false.
 */
#ifndef BLKLAB_READ_TEXT_LINE_SCAN_H
#define BLKLAB_READ_TEXT_LINE_SCAN_H

#include "read/text/text_scan.h"

/* Skips blanks; then whether the line ends there. */
bool scan_done(struct scan *s);
/* Those words, in any case; a blank in them stands for one or more, and blanks in front are skipped. */
bool scan_words(struct scan *s, const char *words);
/* Nothing but the beginning of those words is left (at least one letter). */
bool scan_is_begun(const struct scan *s, const char *words);
/* That byte, blanks before it skipped. */
bool scan_mark(struct scan *s, char c);
/* A number with or without commas: "12,345" is one, "12345,678" and "0,100" are not: there the comma
 * separates. No more than INT64_MAX, or *huge. */
bool scan_grouped(struct scan *s, uint64_t *value, bool *huge);
/* "12.0345" in units of 10^-digits (9: seconds in ns); more digits than that are cut. */
bool scan_fixed(struct scan *s, unsigned int digits, uint64_t *value);
/* "(sdb)" or "(8,5)": what stands between, without blanks around it. */
bool scan_parens(struct scan *s, struct scan *inside);

/* Copies at most room - 1 bytes, NUL-terminated, blanks at both ends cut. */
void scan_copy(char *to, size_t room, struct scan from);

#endif
