/* SPDX-License-Identifier: MIT
 *
 * What `blklab report` is asked for, and its arguments as numbers.
 */
#ifndef BLKLAB_CMD_REPORT_OPTIONS_H
#define BLKLAB_CMD_REPORT_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "cmd/load.h"
#include "track/breakdown.h"

enum colour { COLOUR_AUTO, COLOUR_ALWAYS, COLOUR_NEVER };

struct report_options {
	bool json, csv, show_ignored, requests, help, window;
	bool grouped; /* --by */
	enum breakdown_key by;
	uint64_t slice_ns; /* of BY_WINDOW */
	enum colour colour;
	int top;             /* 0 = not given */
	uint32_t align;      /* sectors of a stripe; 0 = not asked for */
	double from_s, to_s; /* the window; to_s may be INFINITY */
	struct only only;
};

/* Each takes one option's argument: 0, or -1 with err (usage). */
int parse_top(struct report_options *o, const char *text, struct error *err);
int parse_align(struct report_options *o, const char *text, struct error *err);
int parse_window(struct report_options *o, const char *text, struct error *err);
int parse_by(struct report_options *o, const char *text, struct error *err);
int parse_colour(struct report_options *o, const char *text, struct error *err);

/* Do they go together? Fills in what follows from them. 0, or -1 with err. */
int check_options(struct report_options *o, struct error *err);

#endif
