/* SPDX-License-Identifier: MIT
 *
 * What the readers of results (dd, fs_mark, fio, tables, snapshots) share: a scanner over one line that
 * never leaves it and knows no locale, units, and the shapes that a result has in the report.
 */
#ifndef BLKLAB_READ_TEXT_RESULT_H
#define BLKLAB_READ_TEXT_RESULT_H

#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "read/text/text.h"
#include "read/text/text_scan.h"

/* ---- scanning, beside text_scan.h: a function that answers false has moved nothing ---- */

struct scan scan_line(const struct text_line *line); /* from its first non-blank on */
struct scan scan_string(const char *string);
bool scan_ended(const struct scan *s);               /* nothing but blanks left */
bool scan_next(struct scan *s, const char *lit);     /* blanks, then exactly that */
bool scan_past(struct scan *s, const char *lit);     /* to behind the next one, wherever it is */
bool scan_token(struct scan *s, struct scan *token); /* blanks, then up to the next blank */
bool scan_is(const struct scan *token, const char *word);
bool scan_starts(const struct scan *token, const char *start);
bool scan_ends(const struct scan *token, const char *end);

bool scan_real(struct scan *s, double *value); /* "-1.5e+03"; at least one digit */
/* As scan_real, but the decimal mark may be a comma as programs print it in many languages. */
bool scan_real_comma(struct scan *s, double *value);

/* "B", "kB", "MiB", "GB", ... (also with "bytes"): the factor to bytes. `kilo` is what K, M, G mean where
 * no i stands behind them. */
bool scan_bytes_unit(struct scan *s, unsigned int kilo, double *factor);
/* "ns", "nsec", "us", "usec", "msec", "s", "sec", "seconds", "m", "min", "h": the factor to seconds. */
bool scan_time_unit(struct scan *s, double *factor);
/* "1:02:03.4", "5:28.54", "17.5": seconds. */
bool scan_clock(struct scan *s, double *seconds);

/* ---- shapes ---- */

/* A JSON string of bytes from anywhere (at most 400 of them). */
json_t *result_string(const char *s, size_t len);
/* null where it is not finite. */
json_t *result_real(double value);
/* Sets obj's key to value (taken); obj may be NULL. */
void result_key(json_t *obj, const char *key, json_t *value);
/* The number at a key of a document from anywhere; NAN = none, or an absurd one. */
double result_number(const json_t *obj, const char *key);
/* The context of a metric is that, not the heading; nothing where len is 0. obj may be NULL. */
void result_context(json_t *obj, const char *s, size_t len);
/* Sets a number; where it is not finite, null with the reason. */
void result_put(json_t *obj, const char *key, double value, const char *why);
/* A metric of one measurement. */
json_t *result_one(struct text *text, const char *source, const char *name, double value,
		   const char *unit, const char *better);
/* Appends a finding. sentence (owned) and evidence are taken; advice ends with NULL, or is NULL. */
void result_finding(struct text *text, const char *id, const char *severity, const char *title,
		    char *sentence, json_t *evidence, const char *const *advice);

/* Which direction of a metric is better, by the words in its name; "neutral" where that cannot be told. */
const char *result_better(const char *name, size_t len);

#endif
