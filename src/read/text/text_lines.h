/* SPDX-License-Identifier: MIT
 *
 * The lines of a text as their author wrote them: line ends, e-mail quoting ("> "), quoted-printable,
 * line numbers in front, "^C", no-break blanks and HTML's "&lt;" are taken away. What is mangled is decided
 * from the first 64 KiB.
 */
#ifndef BLKLAB_READ_TEXT_TEXT_LINES_H
#define BLKLAB_READ_TEXT_TEXT_LINES_H

#include "read/text/text.h"
#include "trace/input.h"

#define TEXT_QP_LEVELS 3 /* a quoted-printable mail inside another one */

/* Lines that came out of one round of quoted-printable. */
struct qp_level {
	char *text; /* owned: decoded, not yet given */
	size_t at, len, room;
	uint64_t nr;
	bool broken; /* the last line ended in a soft break */
};

struct text_lines {
	struct blob *blob; /* borrowed */
	char *buf;         /* owned */
	size_t at, len, room, chunk;
	bool ended;
	uint64_t nr;      /* of the last physical line */
	bool numbered;    /* lines carry their number in front ... */
	int number_level; /* ... as they come out of that many rounds of quoted-printable */
	int nr_levels;
	struct qp_level levels[TEXT_QP_LEVELS];
	uint64_t cut_lines, cut_nr; /* longer than TEXT_LINE_MAX; the last of them */
	struct error broken;        /* why the blob's end could not be read ("" = it could) */
};

/* Looks at the blob's beginning; -1 with err where it cannot be read. */
int text_lines_init(struct text_lines *lines, struct blob *blob, struct error *err);
/* The next line, borrowed until the one after; false at the end, or where the rest cannot be read (then
 * lines->broken says why). */
bool text_lines_next(struct text_lines *lines, struct text_line *line);
void text_lines_release(struct text_lines *lines);

#endif
