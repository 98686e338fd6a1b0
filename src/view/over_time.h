/* SPDX-License-Identifier: MIT
 *
 * A value over time as one line of characters. Inside src/view only.
 */
#ifndef BLKLAB_VIEW_OVER_TIME_H
#define BLKLAB_VIEW_OVER_TIME_H

#include <stddef.h>

#define OVER_TIME_MOST \
	60 /* characters; more values are drawn as means of as many neighbours as it takes */

/* A blank is 0, "@" is *full (or more; where that is 0, it is set to the largest that is drawn); what is above
 * 0 is never blank; "?" stands for NAN: not known. `line` has room for OVER_TIME_MOST + 1. Returns how many
 * values stand in one character. */
size_t over_time_draw(const double *values, size_t nr, double *full, char *line);

#endif
