/* SPDX-License-Identifier: MIT
 *
 * Tables of the tools that trace block I/O with BPF or ftrace: doc/formats/biosnoop_text.md. What a row means
 * is decided by the heading above it; rows of biosnoop and iosnoop are known without one.
 */
#include "read/text/biosnoop_text.h"

struct biosnoop_state {
	struct table table;
	struct io_rows io;
	struct fs_rows fs;
	struct top_rows top;
	struct hist_rows hist;
	bool wants_second_line; /* "MAJOR MINOR" below "DISK ID" */
};

static enum text_answer give_row(struct biosnoop_state *st, struct text *text,
				 const struct row *row)
{
	switch (st->table.form) {
	case TABLE_IO:
		return io_row(&st->io, text, row);
	case TABLE_FS:
		return fs_row(&st->fs, text, row);
	case TABLE_TOP:
		return top_row(&st->top, text, row);
	default:
		return TEXT_NO;
	}
}

static enum text_answer take_row(struct biosnoop_state *st, struct text *text,
				 const struct text_line *line, struct scan s)
{
	struct table guess;
	struct row row;

	if (st->table.form != TABLE_NONE) {
		switch (table_row(&st->table, s, &row)) {
		case ROW_YES:
			return give_row(st, text, &row);
		case ROW_CUT:
			if (!line->last_try && !line->joined)
				return TEXT_MORE;
			text_why(text, "a row that breaks off");
			return TEXT_BAD;
		default:
			break;
		}
	}
	if (!table_guess(&guess, s, &row))
		return TEXT_NO;
	st->table = guess;
	return give_row(st, text, &row);
}

/* ---- headings and what the programs say beside their rows ---- */

static bool take_header(struct biosnoop_state *st, struct text *text, struct scan s)
{
	if (!table_header(&st->table, s))
		return false;
	if (st->table.form == TABLE_TOP && st->top.table)
		top_end(&st->top, text);
	st->wants_second_line = true;
	return true;
}

static bool is_second_line(struct biosnoop_state *st, struct scan s)
{
	bool wanted = st->wants_second_line;

	st->wants_second_line = false;
	if (!wanted || !scan_text(&s, "MAJOR"))
		return false;
	scan_blanks(&s);
	return scan_text(&s, "MINOR") && scan_end(&s);
}

/* "Possibly lost 12 samples" of bcc, "lost 12 events on CPU #3" of libbpf, "Lost 12 events" of bpftrace. */
static bool take_lost(struct text *text, struct scan s)
{
	uint64_t lost;

	scan_text(&s, "Possibly ");
	if (!scan_text(&s, "lost ") && !scan_text(&s, "Lost "))
		return false;
	if (!scan_u64(&s, &lost) || !(scan_text(&s, " samples") || scan_text(&s, " events")))
		return false;
	if (!scan_end(&s) && *s.at != ' ')
		return false;
	text_drops_told(text, lost);
	return true;
}

static bool is_preamble(struct biosnoop_state *st, struct scan s)
{
	static const char *const beginnings[] = { "Tracing block I/O", "Tracing block device I/O",
						  "Tracing... Output every ", "Ending tracing...",
						  "Detaching..." };
	uint64_t n;

	if (scan_text(&s, "Attaching ") || scan_text(&s, "Attached "))
		return scan_u64(&s, &n) && scan_text(&s, " probe");
	for (size_t i = 0; i < sizeof(beginnings) / sizeof(*beginnings); i++) {
		if (scan_text(&s, beginnings[i])) {
			st->hist.seen = true;
			return true;
		}
	}
	return false;
}

static bool take_words(struct biosnoop_state *st, struct text *text, struct scan s)
{
	switch (*s.at) {
	case 'T':
	case 'S':
	case 'E':
	case 'C':
	case 'P':
	case 'M':
	case 'A':
	case 'D':
	case 'L':
	case 'l':
		break;
	default:
		st->wants_second_line = false;
		return scan_is_digit(*s.at) && top_begin(&st->top, text, s);
	}
	return is_second_line(st, s) || take_header(st, text, s) || fs_begin(&st->fs, text, s) ||
	       hist_preamble(&st->hist, s) || is_preamble(st, s) || take_lost(text, s);
}

static enum text_answer biosnoop_take(void *state, struct text *text, const struct text_line *line)
{
	struct biosnoop_state *st = state;
	struct scan s = scan_over(line->s, line->len);

	scan_blanks(&s);
	while (s.end > s.at && scan_is_blank(s.end[-1]))
		s.end--;
	if (scan_end(&s))
		return TEXT_NO;
	if (take_words(st, text, s) || hist_take(&st->hist, text, s))
		return TEXT_USED;
	return take_row(st, text, line, s);
}

static void biosnoop_end(void *state, struct text *text)
{
	struct biosnoop_state *st = state;

	fs_end(&st->fs, text);
	top_end(&st->top, text);
	hist_end(&st->hist, text);
}

const struct text_kind text_biosnoop = {
	.name = "biosnoop",
	.what = "tables of biosnoop, iosnoop, biolatency, biotop or ext4slower and its kin",
	.state_size = sizeof(struct biosnoop_state),
	.take = biosnoop_take,
	.end = biosnoop_end,
};
