/* SPDX-License-Identifier: MIT
 *
 * The lines of btt's tables: doc/formats/btt_text.md.
 */
#ifndef BLKLAB_READ_TEXT_BTT_ROWS_H
#define BLKLAB_READ_TEXT_BTT_ROWS_H

#include "read/text/line_scan.h"

/* Rows of times: a label, three times, a number. */
struct btt_times {
	struct scan label;
	uint64_t min_ns, mean_ns, max_ns, n;
};
bool btt_times_parse(struct scan line, struct btt_times *row);

/* "Q2G MIN AVG MAX N": the table's name. */
bool btt_times_head(struct scan line, struct scan *name);

/* "q2g" of "Q2G", or NULL; static. */
const char *btt_phase(struct scan label);

/* ---- tables with a bar between the label and the columns ---- */

enum btt_unit {
	BTT_COUNT,   /* whole */
	BTT_REAL,    /* as printed */
	BTT_PERCENT, /* to a share; the sign may be missing */
	BTT_SECONDS, /* to ns */
};

struct btt_column {
	const char *key;
	enum btt_unit unit;
};

#define BTT_COLUMNS 10

struct btt_table {
	const char *head; /* behind the bar */
	const char *name;
	size_t nr;
	bool more; /* further numbers may follow (modes) */
	struct btt_column columns[BTT_COLUMNS];
};

#define BTT_OVERHEAD "device-overhead"

union btt_value {
	uint64_t whole;
	double real;
};

struct btt_row {
	struct scan label;
	size_t nr;
	union btt_value values[BTT_COLUMNS];
};

/* The table that this head begins, or NULL. */
const struct btt_table *btt_table_head(struct scan line);
/* The one with five percentages, whose rows are told without their head. */
const struct btt_table *btt_table_overhead(void);

enum btt_fit { BTT_NO, BTT_FITS, BTT_SHORT };
enum btt_fit btt_row_parse(struct scan line, const struct btt_table *table, struct btt_row *row);
bool btt_is_overhead(struct scan line);

/* "==== Device Overhead ====": its index in the list of titles, or -1. */
enum btt_title {
	BTT_PER_PROCESS,
	BTT_PER_DEVICE,
	BTT_ALL_DEVICES,
	BTT_Q2Q_SEEK,
	BTT_D2D_SEEK,
	BTT_OTHER_TITLE,
};
bool btt_title_parse(struct scan line, enum btt_title *title);

/* Nothing but dashes, bars and blanks. */
bool btt_is_rule(struct scan line);

/* "(  8, 16)" to "8,16"; anything else as it is. */
void btt_label(char *to, size_t room, struct scan label);

#endif
