/* SPDX-License-Identifier: MIT
 *
 * Rows under a heading. Names of threads and files may hold blanks, so a row is matched from both ends:
 * every other column has a form of its own.
 */
#include "read/text/biosnoop_text.h"

#define WORDS_MAX      64u
#define COMM_WORDS_MAX 8u

static const struct {
	const char *name;
	uint8_t column;
} names[] = {
	{ "TIME(s)", COL_TIME_S },
	{ "TIME(ms)", COL_TIME_MS },
	{ "TIME", COL_CLOCK },
	{ "STARTs", COL_START },
	{ "ENDs", COL_END },
	{ "ENDTIME_us", COL_END_US },
	{ "ENDTIME_ns", COL_END_NS },
	{ "COMM", COL_COMM },
	{ "TASK", COL_COMM },
	{ "PID", COL_PID },
	{ "TID", COL_PID },
	{ "DISK", COL_DISK },
	{ "DEV", COL_DISK },
	{ "MAJ", COL_MAJOR },
	{ "MIN", COL_MINOR },
	{ "T", COL_TYPE },
	{ "D", COL_TYPE },
	{ "TYPE", COL_TYPE },
	{ "SECTOR", COL_SECTOR },
	{ "BLOCK", COL_SECTOR },
	{ "BYTES", COL_BYTES },
	{ "Kbytes", COL_KBYTES },
	{ "OFF_KB", COL_OFFSET },
	{ "OFFSET_b", COL_OFFSET },
	{ "P", COL_PATTERN },
	{ "I/O", COL_COUNT },
	{ "QUE(ms)", COL_QUEUE },
	{ "LAT(ms)", COL_LAT_MS },
	{ "LATms", COL_LAT_MS },
	{ "AVGms", COL_LAT_MS },
	{ "LAT(us)", COL_LAT_US },
	{ "LATENCY_us", COL_LAT_US },
	{ "FILENAME", COL_FILE },
	{ "FILE", COL_FILE },
};

/* ---- the heading ---- */

/* The next word, or the text up to the next comma. */
static bool next_cell(struct scan *line, bool csv, struct scan *cell)
{
	const char *comma;
	size_t len;

	if (!csv) {
		if (!scan_word(line, &cell->at, &len))
			return false;
		cell->end = cell->at + len;
		return true;
	}
	if (scan_end(line))
		return false;
	comma = memchr(line->at, ',', scan_left(line));
	*cell = (struct scan){ line->at, comma ? comma : line->end };
	line->at = comma ? comma + 1 : line->end;
	return true;
}

static int column_of(const struct scan *cell)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (scan_word_is(cell->at, scan_left(cell), names[i].name))
			return names[i].column;
	return -1;
}

static bool has(const struct table *table, enum column column)
{
	for (size_t i = 0; i < table->nr; i++)
		if (table->columns[i] == column)
			return true;
	return false;
}

static enum table_form form_of(const struct table *table)
{
	bool latency = has(table, COL_LAT_MS) || has(table, COL_LAT_US);

	if (!latency || !has(table, COL_COMM) || !has(table, COL_PID))
		return TABLE_NONE;
	if (has(table, COL_FILE))
		return table->columns[table->nr - 1] == COL_FILE && has(table, COL_TYPE)
			       ? TABLE_FS
			       : TABLE_NONE;
	if (has(table, COL_TYPE) && has(table, COL_COUNT) && has(table, COL_KBYTES))
		return TABLE_TOP;
	if (has(table, COL_TYPE) && has(table, COL_SECTOR) && has(table, COL_BYTES) &&
	    has(table, COL_DISK))
		return TABLE_IO;
	/* bpftrace tells neither place nor length. */
	return has(table, COL_TIME_MS) && !has(table, COL_SECTOR) &&
			       (has(table, COL_DISK) || has(table, COL_MINOR))
		       ? TABLE_IO
		       : TABLE_NONE;
}

/* "DISK ID", with "MAJOR MINOR" in the next line: two columns of newer bpftrace. */
static bool is_disk_id(const struct table *table, const struct scan *cell)
{
	return table->nr && table->columns[table->nr - 1] == COL_DISK &&
	       scan_word_is(cell->at, scan_left(cell), "ID");
}

bool table_header(struct table *table, struct scan line)
{
	struct table found = { 0 };
	struct scan cell;

	scan_blanks(&line);
	found.csv = scan_left(&line) > 8 && !memcmp(line.at, "ENDTIME_", 8);
	while (next_cell(&line, found.csv, &cell)) {
		int column = column_of(&cell);

		if (is_disk_id(&found, &cell)) {
			found.columns[found.nr - 1] = COL_MAJOR;
			column = COL_MINOR;
		}
		if (column < 0 || has(&found, (enum column)column) || found.nr == TABLE_COLUMNS)
			return false;
		found.columns[found.nr++] = (uint8_t)column;
	}
	found.form = found.nr ? form_of(&found) : TABLE_NONE;
	if (found.form == TABLE_NONE)
		return false;
	*table = found;
	return true;
}

/* ---- cells ---- */

static bool is_number(struct scan s)
{
	uint64_t n;

	return scan_u64(&s, &n) && scan_end(&s);
}

/* With a point, which tells it from a whole number. */
static bool is_decimal(struct scan s, bool negative)
{
	unsigned int digits;
	uint64_t n;

	if (negative)
		scan_char(&s, '-');
	return scan_decimal(&s, &n, &digits) && scan_end(&s);
}

static bool is_type(struct scan s)
{
	if (scan_left(&s) > 8)
		return false;
	for (; !scan_end(&s); s.at++)
		if (*s.at < 'A' || *s.at > 'Z')
			return false;
	return true;
}

static bool is_clock(struct scan s)
{
	return scan_left(&s) >= 8 && scan_is_digit(s.at[0]) && s.at[2] == ':' && s.at[5] == ':';
}

static bool fits(enum column column, struct scan s)
{
	struct scan number = s;

	switch (column) {
	case COL_TIME_S:
	case COL_TIME_MS:
	case COL_START:
	case COL_END:
		return is_decimal(s, false);
	case COL_QUEUE:
	case COL_LAT_MS:
	case COL_LAT_US:
		return is_decimal(s, true); /* what is negative is refused with a reason */
	case COL_SECTOR:
		scan_char(&number, '-'); /* -1 of a flush */
		return is_number(number);
	case COL_PID:
	case COL_MAJOR:
	case COL_MINOR:
	case COL_BYTES:
	case COL_KBYTES:
	case COL_OFFSET:
	case COL_COUNT:
	case COL_END_US:
	case COL_END_NS:
		return is_number(s);
	case COL_CLOCK:
		return is_clock(s);
	case COL_TYPE:
		return is_type(s);
	case COL_PATTERN:
		return scan_left(&s) == 1;
	case COL_DISK:
		return !scan_end(&s) && !memchr(s.at, ':', scan_left(&s));
	default:
		return true;
	}
}

/* ---- rows ---- */

static size_t index_of_comm(const struct table *table)
{
	size_t i = 0;

	while (i < table->nr && table->columns[i] != COL_COMM)
		i++;
	return i;
}

/* Columns from..to of the table are the words from `word` on. */
static bool match_columns(const struct table *table, size_t from, size_t to,
			  const struct scan *word, struct row *row)
{
	for (size_t i = from; i < to; i++, word++) {
		if (!fits((enum column)table->columns[i], *word))
			return false;
		row->cells[table->columns[i]] = *word;
	}
	return true;
}

/* With a name of that many words. */
static bool match_with(const struct table *table, const struct scan *words, size_t comm_words,
		       const char *end, struct row *row)
{
	size_t comm = index_of_comm(table);

	if (!match_columns(table, 0, comm, words, row) ||
	    !match_columns(table, comm + 1, table->nr, words + comm + comm_words, row))
		return false;
	row->cells[COL_COMM] =
		comm_words ? (struct scan){ words[comm].at, words[comm + comm_words - 1].end }
			   : (struct scan){ end, end };
	if (row_has(row, COL_FILE))
		row->cells[COL_FILE].end = end;
	return true;
}

/* The words are the first columns of a row, as a mailer leaves them. */
static bool is_beginning(const struct table *table, const struct scan *words, size_t nr)
{
	struct row row = { 0 };

	/* Fewer could be anything. */
	if (nr >= table->nr || nr < index_of_comm(table) + 3 || nr < 4)
		return false;
	return match_columns(table, 0, nr, words, &row);
}

enum row_answer table_row(const struct table *table, struct scan line, struct row *row)
{
	struct scan words[WORDS_MAX];
	size_t nr = 0, most;
	bool has_file = table->columns[table->nr - 1] == COL_FILE;

	while (line.end > line.at && scan_is_blank(line.end[-1]))
		line.end--;
	while (nr < WORDS_MAX && next_cell(&line, table->csv, &words[nr]))
		nr++;
	if (!scan_end(&line) && !has_file)
		return ROW_NO;
	if (nr + 1 < table->nr)
		return is_beginning(table, words, nr) ? ROW_CUT : ROW_NO;
	most = nr + 1 - table->nr;
	for (size_t n = has_file ? 1 : most; n <= most && n <= COMM_WORDS_MAX; n++) {
		*row = (struct row){ 0 };
		if (match_with(table, words, table->csv ? 1 : n, line.end, row))
			return ROW_YES;
	}
	return is_beginning(table, words, nr) ? ROW_CUT : ROW_NO;
}

static bool has_digits(const struct scan *cell, unsigned int a, unsigned int b)
{
	struct scan s = *cell;
	unsigned int digits;
	uint64_t n;

	return scan_decimal(&s, &n, &digits) && (digits == a || digits == b);
}

/* As clear as a row can be: its times have the digits that the programs print. */
static bool is_clear(const struct row *row)
{
	static const enum column times[] = { COL_TIME_S, COL_START, COL_END };
	uint32_t device;
	struct scan disk = row->cells[COL_DISK];

	for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++)
		if (row_has(row, times[i]) && !has_digits(&row->cells[times[i]], 6, 9))
			return false;
	/* iosnoop prints numbers, biosnoop names. */
	if (row_has(row, COL_TIME_S) == scan_device(&disk, ',', &device))
		return false;
	return has_digits(&row->cells[COL_LAT_MS], 2, 3) && !scan_end(&row->cells[COL_COMM]);
}

bool table_guess(struct table *table, struct scan line, struct row *row)
{
	static const struct table guesses[] = {
		{ TABLE_IO,
		  false,
		  8,
		  { COL_TIME_S, COL_COMM, COL_PID, COL_DISK, COL_TYPE, COL_SECTOR, COL_BYTES,
		    COL_LAT_MS } },
		{ TABLE_IO,
		  false,
		  9,
		  { COL_TIME_S, COL_COMM, COL_PID, COL_DISK, COL_TYPE, COL_SECTOR, COL_BYTES,
		    COL_QUEUE, COL_LAT_MS } },
		{ TABLE_IO,
		  false,
		  9,
		  { COL_TIME_S, COL_COMM, COL_PID, COL_DISK, COL_TYPE, COL_SECTOR, COL_BYTES,
		    COL_PATTERN, COL_LAT_MS } },
		{ TABLE_IO,
		  false,
		  9,
		  { COL_START, COL_END, COL_COMM, COL_PID, COL_TYPE, COL_DISK, COL_SECTOR,
		    COL_BYTES, COL_LAT_MS } },
		{ TABLE_IO,
		  false,
		  7,
		  { COL_COMM, COL_PID, COL_TYPE, COL_DISK, COL_SECTOR, COL_BYTES, COL_LAT_MS } },
	};

	/* Most lines end otherwise. */
	if (scan_left(&line) < 20 || !scan_is_digit(line.end[-1]) ||
	    (line.end[-3] != '.' && line.end[-4] != '.'))
		return false;
	for (size_t i = 0; i < sizeof(guesses) / sizeof(*guesses); i++) {
		if (table_row(&guesses[i], line, row) == ROW_YES && is_clear(row)) {
			*table = guesses[i];
			return true;
		}
	}
	return false;
}
