/* SPDX-License-Identifier: MIT
 *
 * Tables of the bcc, libbpf, bpftrace and perf-tools programs, shared by the files that read them:
 * biosnoop_text.c (which table is it), biosnoop_table.c (columns), biosnoop_io.c (rows that are I/O),
 * biosnoop_fs.c (rows that are operations of a file system), biosnoop_top.c (aggregates),
 * biosnoop_hist.c (histograms).
 */
#ifndef BLKLAB_READ_TEXT_BIOSNOOP_TEXT_H
#define BLKLAB_READ_TEXT_BIOSNOOP_TEXT_H

#include "read/text/text.h"
#include "read/text/text_scan.h"

enum column {
	COL_TIME_S,  /* "TIME(s)": of the end */
	COL_TIME_MS, /* "TIME(ms)" */
	COL_CLOCK,   /* "TIME": hh:mm:ss */
	COL_END_US,  /* "ENDTIME_us" */
	COL_END_NS,
	COL_START, /* "STARTs" */
	COL_END,   /* "ENDs" */
	COL_COMM,  /* may hold blanks or be empty */
	COL_PID,
	COL_DISK, /* a name, or "8,0" */
	COL_MAJOR,
	COL_MINOR,
	COL_TYPE, /* RWBS, or the letter of an operation */
	COL_SECTOR,
	COL_BYTES,
	COL_KBYTES,
	COL_OFFSET,
	COL_PATTERN,
	COL_COUNT,
	COL_QUEUE,  /* ms */
	COL_LAT_MS, /* its own or the average */
	COL_LAT_US,
	COL_FILE, /* the last; may hold blanks */
	COL_NR
};

#define TABLE_COLUMNS 16u

enum table_form { TABLE_NONE, TABLE_IO, TABLE_FS, TABLE_TOP };

struct table {
	enum table_form form;
	bool csv;
	size_t nr;
	uint8_t columns[TABLE_COLUMNS];
};

/* The cells of one row, by column; {NULL, NULL} where the table has no such column. */
struct row {
	struct scan cells[COL_NR];
};

enum row_answer {
	ROW_NO,
	ROW_YES,
	ROW_CUT, /* the beginning of one */
};

/* The line names columns that make one of the tables known here. */
bool table_header(struct table *table, struct scan line);
enum row_answer table_row(const struct table *table, struct scan line, struct row *row);
/* A row that stands alone and can be nothing else. */
bool table_guess(struct table *table, struct scan line, struct row *row);

static inline bool row_is_negative(const struct row *row)
{
	const struct scan *ms = &row->cells[COL_LAT_MS], *us = &row->cells[COL_LAT_US];

	return (ms->at && *ms->at == '-') || (us->at && *us->at == '-');
}

static inline bool row_has(const struct row *row, enum column column)
{
	return row->cells[column].at != NULL;
}

/* ---- I/O ---- */

struct io_rows {
	char disk[32]; /* the last one, with its number: they repeat */
	size_t disk_len;
	uint32_t device, held;
	bool held_any;
};

/* Gives the row's events; TEXT_BAD with a reason. */
enum text_answer io_row(struct io_rows *io, struct text *text, const struct row *row);

/* ---- operations of file systems ---- */

struct fs_type {
	uint64_t nr, sum_ns, max_ns;
};

struct fs_rows {
	struct fs_type types[26]; /* by letter */
	char name[32];            /* "ext4", "" = not told */
	bool have_threshold;
	uint64_t threshold_ns;
	uint64_t rows;
	char context[208]; /* the heading above the run */
};

enum text_answer fs_row(struct fs_rows *fs, struct text *text, const struct row *row);
/* "Tracing ext4 operations slower than 10 ms"; ends the run before. */
bool fs_begin(struct fs_rows *fs, struct text *text, struct scan line);
/* Metrics of the run; the next one begins. */
void fs_end(struct fs_rows *fs, struct text *text);

/* ---- aggregates ---- */

struct top_rows {
	json_t *table; /* owned; NULL = none */
	char at[16];   /* "08:04:11" */
};

enum text_answer top_row(struct top_rows *top, struct text *text, const struct row *row);
/* "08:04:11 loadavg: ..." */
bool top_begin(struct top_rows *top, struct text *text, struct scan line);
void top_end(struct top_rows *top, struct text *text);

/* ---- histograms ---- */

struct hist_rows {
	json_t *table, *buckets; /* table owned; NULL = none open */
	uint64_t unit_ns;
	bool half_open;    /* "0 -> 1" is [0, 1) and not [0, 2) */
	bool is_bpftrace;  /* "[256, 512)" */
	bool seen;         /* a tool of this kind has spoken: a lone time is its */
	bool keys_pending; /* disk and flags are the next table's */
	uint64_t n, negative;
	char disk[64], flags[128], operation[64], at[16];
	char fs[16]; /* "ext4" of ext4dist */
};

/* Takes headings, rows and what stands between. */
bool hist_take(struct hist_rows *hist, struct text *text, struct scan line);
/* "Tracing ext4 operation latency... Hit Ctrl-C to end." */
bool hist_preamble(struct hist_rows *hist, struct scan line);
void hist_end(struct hist_rows *hist, struct text *text);

/* A JSON string of bytes from anywhere. */
json_t *biosnoop_string(const char *s, size_t len);

#endif
