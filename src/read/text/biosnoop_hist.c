/* SPDX-License-Identifier: MIT
 *
 * Histograms of latency: biolatency of bcc, of libbpf-tools and of bpftrace, iolatency of perf-tools.
 */
#include <stdio.h>
#include <string.h>

#include "read/text/biosnoop_text.h"

/* A negative difference of times, taken as unsigned, is 2^64 ns: it shows as 2^54 us, 2^44 ms. Nothing that
 * was waited for is beyond a hundred years. */
#define NEGATIVE_NS (UINT64_C(1) << 62)

/* ---- tables ---- */

static void set_key(json_t *obj, const char *key, const char *text, const char *why)
{
	char why_key[32];

	if (text[0]) {
		json_object_set_new(obj, key, biosnoop_string(text, strlen(text)));
		return;
	}
	json_object_set_new(obj, key, json_null());
	snprintf(why_key, sizeof(why_key), "%s_why", key);
	json_object_set_new(obj, why_key, json_string(why));
}

void hist_end(struct hist_rows *hist, struct text *text)
{
	if (!hist->table)
		return;
	json_object_set_new(hist->table, "n", json_integer((json_int_t)hist->n));
	json_object_set_new(hist->table, "dropped_negative",
			    json_integer((json_int_t)hist->negative));
	if (hist->negative)
		facts_note(text_facts(text),
			   "a latency histogram holds %llu negative differences of times (buckets "
			   "of 2^54 "
			   "us, or below 0): they were left out",
			   (unsigned long long)hist->negative);
	facts_append(&text_facts(text)->latency_tables, hist->table);
	hist->table = hist->buckets = NULL;
	hist->n = hist->negative = 0;
}

static void forget_keys(struct hist_rows *hist)
{
	hist->disk[0] = hist->flags[0] = hist->operation[0] = 0;
}

static void set_source(json_t *table, const struct hist_rows *hist, const char *source)
{
	char name[32];

	if (!hist->operation[0]) {
		json_object_set_new(table, "source", json_string(source));
		set_key(table, "disk", hist->disk, "the histogram is of all disks");
		set_key(table, "flags", hist->flags, "the histogram is of all kinds of I/O");
		return;
	}
	snprintf(name, sizeof(name), "%sdist", hist->fs[0] ? hist->fs : "fs");
	json_object_set_new(table, "source", json_string(name));
	json_object_set_new(table, "operation",
			    biosnoop_string(hist->operation, strlen(hist->operation)));
}

static void begin(struct hist_rows *hist, struct text *text, const char *source, uint64_t unit_ns)
{
	json_t *table = json_object();

	hist_end(hist, text);
	if (!hist->keys_pending)
		forget_keys(hist);
	set_source(table, hist, source);
	set_key(table, "at", hist->at, "no time stands above the histogram");
	json_object_set_new(table, "unit_ns", json_integer((json_int_t)unit_ns));
	hist->buckets = json_array();
	json_object_set_new(table, "buckets", hist->buckets);
	hist->table = table;
	hist->unit_ns = unit_ns;
	hist->half_open = hist->is_bpftrace = hist->keys_pending = false;
	hist->at[0] = 0;
	hist->seen = true;
}

static void set_bound(json_t *bucket, const char *key, uint64_t value, uint64_t unit_ns)
{
	char why_key[32];

	if (value <= INT64_MAX / unit_ns) {
		json_object_set_new(bucket, key, json_integer((json_int_t)(value * unit_ns)));
		return;
	}
	json_object_set_new(bucket, key, json_null());
	snprintf(why_key, sizeof(why_key), "%s_why", key);
	json_object_set_new(bucket, why_key, json_string("more than 2^63 ns"));
}

/* [from, to) in units. */
static void add_bucket(struct hist_rows *hist, uint64_t from, uint64_t to, uint64_t count)
{
	json_t *bucket;

	if (count > INT64_MAX - hist->n || count > INT64_MAX - hist->negative)
		return;
	if (from >= NEGATIVE_NS / hist->unit_ns) {
		hist->negative += count;
		return;
	}
	bucket = json_object();
	set_bound(bucket, "from_ns", from, hist->unit_ns);
	set_bound(bucket, "to_ns", to, hist->unit_ns);
	json_object_set_new(bucket, "count", json_integer((json_int_t)count));
	json_array_append_new(hist->buckets, bucket);
	hist->n += count;
}

/* ---- rows ---- */

/* "   16 -> 31      : 7        |****   |" */
static bool take_arrow_row(struct hist_rows *hist, struct scan s)
{
	uint64_t from, to, count;

	if (!scan_u64(&s, &from))
		return false;
	scan_blanks(&s);
	if (!scan_text(&s, "->"))
		return false;
	scan_blanks(&s);
	if (!scan_u64(&s, &to) || to < from)
		return false;
	scan_blanks(&s);
	if (!scan_char(&s, ':'))
		return false;
	scan_blanks(&s);
	if (!scan_u64(&s, &count))
		return false;
	scan_blanks(&s);
	if (!scan_end(&s) && *s.at != '|')
		return false;
	add_bucket(hist, from, hist->half_open || to == UINT64_MAX ? to : to + 1, count);
	return true;
}

/* "256", "1K", "4M" */
static bool take_power(struct scan *s, uint64_t *value)
{
	static const char suffixes[] = "KMGTPE";
	const char *suffix;

	if (!scan_u64(s, value))
		return false;
	suffix = scan_end(s) ? NULL : strchr(suffixes, *s->at);
	if (!suffix || !*suffix)
		return true;
	for (const char *p = suffixes; p <= suffix; p++) {
		if (*value > UINT64_MAX / 1024)
			return false;
		*value *= 1024;
	}
	s->at++;
	return true;
}

/* "[256, 512)             2 |@@@ |", "[0]   1 |@|", "(..., 0)   3 |@|" */
static bool take_bracket_row(struct hist_rows *hist, struct scan s)
{
	uint64_t from, to, count;
	bool below = scan_text(&s, "(..., 0)");

	if (!below) {
		if (!scan_char(&s, '[') || !take_power(&s, &from))
			return false;
		to = from + 1;
		if (scan_char(&s, ',')) {
			scan_blanks(&s);
			if (scan_text(&s, "..."))
				to = UINT64_MAX;
			else if (!take_power(&s, &to))
				return false;
			if (!scan_char(&s, ')'))
				return false;
		} else if (!scan_char(&s, ']')) {
			return false;
		}
	}
	scan_blanks(&s);
	if (!scan_u64(&s, &count))
		return false;
	scan_blanks(&s);
	if (!scan_char(&s, '|'))
		return false;
	if (!below)
		add_bucket(hist, from, to, count);
	else if (count <= INT64_MAX - hist->negative)
		hist->negative += count;
	return true;
}

/* ---- headings ---- */

static uint64_t unit_of(const char *word, size_t len)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = { { "nsecs", 1 },       { "usecs", 1000 },
		      { "msecs", 1000000 }, { "secs", 1000000000 },
		      { "us", 1000 },       { "ms", 1000000 },
		      { "ns", 1 } };

	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (scan_word_is(word, len, units[i].name))
			return units[i].ns;
	return 0;
}

/* "     usecs               : count     distribution" */
static bool take_unit_heading(struct hist_rows *hist, struct text *text, struct scan s)
{
	const char *word;
	size_t len;
	uint64_t unit;

	if (!scan_word(&s, &word, &len))
		return false;
	unit = unit_of(word, len);
	scan_blanks(&s);
	if (!unit || !scan_char(&s, ':'))
		return false;
	scan_blanks(&s);
	if (!scan_text(&s, "count"))
		return false;
	scan_blanks(&s);
	if (!scan_text(&s, "distribution"))
		return false;
	begin(hist, text, "biolatency", unit);
	return true;
}

/* "  >=(ms) .. <(ms)   : I/O      |Distribution                          |" */
static bool take_iolatency_heading(struct hist_rows *hist, struct text *text, struct scan s)
{
	const char *word;
	size_t len = 0;

	scan_char(&s, '>'); /* may have been taken for a mail's quote mark */
	if (!scan_text(&s, "=("))
		return false;
	word = s.at;
	while (len < scan_left(&s) && word[len] != ')')
		len++;
	s.at += len;
	if (!unit_of(word, len) || !scan_text(&s, ") .. <(") ||
	    !memmem(s.at, scan_left(&s), ": I/O", 5))
		return false;
	begin(hist, text, "iolatency", unit_of(word, len));
	hist->half_open = true;
	return true;
}

static void copy_key(char *to, size_t room, const char *from, const char *end)
{
	size_t len;

	while (end > from && scan_is_blank(end[-1]))
		end--;
	if (end - from > 2 && *from == 'b' && from[1] == '\'') /* python's bytes */
		from++;
	if (end - from >= 2 && *from == '\'' && end[-1] == '\'') {
		from++;
		end--;
	}
	len = (size_t)(end - from) < room ? (size_t)(end - from) : room - 1;
	memcpy(to, from, len);
	to[len] = 0;
}

/* What biolatency calls an operation, which ends the flags. */
static bool is_operation(struct scan s)
{
	static const char *const operations[] = { "Read",        "Write",     "Flush",
						  "Discard",     "WriteSame", "WriteZeros",
						  "SecureErase", "ZoneReset", "Unknown" };
	const char *dash = memrchr(s.at, '-', scan_left(&s));

	if (dash)
		s.at = dash + 1;
	for (size_t i = 0; i < sizeof(operations) / sizeof(*operations); i++)
		if (scan_word_is(s.at, scan_left(&s), operations[i]))
			return true;
	return false;
}

/* "disk = b'vda'", "Bucket disk = 'xvdb'", "flags = Sync-Write", "disk = vda	flags = Read" */
static bool take_keys(struct hist_rows *hist, struct scan s)
{
	static const char flags_key[] = "flags = ";
	const char *flags;
	struct scan value = s;

	/* Without anything else of the program such a line could be anybody's. */
	if (!scan_text(&s, "Bucket ") && !hist->seen &&
	    !(scan_text(&value, flags_key) && is_operation(value)) && s.end[-1] != '\'')
		return false;
	if (!hist->keys_pending)
		forget_keys(hist);
	if (scan_text(&s, "disk = ")) {
		flags = memmem(s.at, scan_left(&s), flags_key, sizeof(flags_key) - 1);
		copy_key(hist->disk, sizeof(hist->disk), s.at, flags ? flags : s.end);
		hist->keys_pending = true;
		if (!flags)
			return true;
		s.at = flags;
	}
	if (!scan_text(&s, flags_key))
		return false;
	copy_key(hist->flags, sizeof(hist->flags), s.at, s.end);
	hist->keys_pending = true;
	return true;
}

/* "operation = read", "operation = 'fsync'" of ext4dist and its kin */
static bool take_operation(struct hist_rows *hist, struct scan s)
{
	if (!scan_text(&s, "operation = ") || (!hist->seen && s.end[-1] != '\''))
		return false;
	forget_keys(hist);
	copy_key(hist->operation, sizeof(hist->operation), s.at, s.end);
	hist->keys_pending = hist->operation[0];
	return hist->keys_pending;
}

bool hist_preamble(struct hist_rows *hist, struct scan line)
{
	const char *word;
	size_t len;

	if (!scan_text(&line, "Tracing ") || !scan_word(&line, &word, &len) ||
	    len >= sizeof(hist->fs) || !scan_text(&line, " operation latency"))
		return false;
	for (size_t i = 0; i < len; i++)
		hist->fs[i] = word[i] >= 'A' && word[i] <= 'Z' ? (char)(word[i] | 0x20) : word[i];
	hist->fs[len] = 0;
	hist->seen = true;
	return true;
}

/* "@usecs:", "@usecs[vda]:" of bpftrace */
static bool take_map_heading(struct hist_rows *hist, struct text *text, struct scan s)
{
	const char *word = s.at + 1, *key = NULL, *key_end = NULL;
	size_t len = 0;
	uint64_t unit;

	if (!scan_char(&s, '@'))
		return false;
	while (len < scan_left(&s) && (scan_is_letter(word[len]) || word[len] == '_'))
		len++;
	s.at += len;
	unit = unit_of(word, len);
	if (!unit)
		return false;
	if (scan_char(&s, '[')) {
		key = s.at;
		key_end = memrchr(s.at, ']', scan_left(&s));
		if (!key_end)
			return false;
		s.at = key_end + 1;
	}
	if (!scan_char(&s, ':'))
		return false;
	scan_blanks(&s);
	if (!scan_end(&s))
		return false;
	if (key) {
		hist->disk[0] = 0;
		copy_key(hist->flags, sizeof(hist->flags), key, key_end);
		hist->keys_pending = true;
	}
	begin(hist, text, "biolatency", unit);
	hist->is_bpftrace = true;
	return true;
}

/* "06:20:16" above a table, of -T */
static bool take_clock(struct hist_rows *hist, struct scan s)
{
	if (!hist->seen || scan_left(&s) < 8 || scan_left(&s) > 10)
		return false;
	for (size_t i = 0; i < 8; i++)
		if (i % 3 == 2 ? s.at[i] != ':' : !scan_is_digit(s.at[i]))
			return false;
	memcpy(hist->at, s.at, 8);
	hist->at[8] = 0;
	s.at += 8;
	scan_blanks(&s);
	return scan_end(&s);
}

/* "avg = 663 usecs, total: 16575 usecs, count: 25" below a table, of -e */
static bool take_average(struct hist_rows *hist, struct scan s)
{
	const char *word;
	uint64_t mean, unit;
	size_t len;

	if (!hist->table || !scan_text(&s, "avg = ") || !scan_u64(&s, &mean) ||
	    !scan_word(&s, &word, &len) || len < 2 || word[len - 1] != ',')
		return false;
	unit = unit_of(word, len - 1);
	if (!unit || mean > INT64_MAX / unit)
		return false;
	json_object_set_new(hist->table, "mean_ns", json_integer((json_int_t)(mean * unit)));
	return true;
}

bool hist_take(struct hist_rows *hist, struct text *text, struct scan line)
{
	scan_blanks(&line);
	if (scan_end(&line))
		return false;
	switch (*line.at) {
	case '@':
		return take_map_heading(hist, text, line);
	case '>':
	case '=':
		return take_iolatency_heading(hist, text, line);
	case 'n':
	case 'u':
	case 'm':
	case 's':
		return take_unit_heading(hist, text, line);
	case 'B':
	case 'd':
	case 'f':
		return take_keys(hist, line);
	case 'o':
		return take_operation(hist, line);
	case 'a':
		return take_average(hist, line);
	case '[':
	case '(':
		return hist->table && hist->is_bpftrace && take_bracket_row(hist, line);
	default:
		if (!scan_is_digit(*line.at))
			return false;
		return (hist->table && !hist->is_bpftrace && take_arrow_row(hist, line)) ||
		       take_clock(hist, line);
	}
}
