/* SPDX-License-Identifier: MIT
 *
 * blkparse -f with columns in any order and any punctuation: which column is what, from a few hundred
 * lines. A time has a fraction; actions and RWBS texts are letters, and over some lines either has letters
 * that the other cannot have; the sector is the number that comes again, with other actions, in the largest
 * variety; a length stands beside it.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "read/text/blkparse_text.h"
#include "read/text/blkparse_text_words.h"

#define LINES_MAX    256u
#define LONG_SECTORS 8192u /* of one request; a larger number is rather a place */

/* ---- learning ---- */

struct table {
	struct words rows[LINES_MAX];
	size_t nr, need; /* rows; rows that must agree */
};

static const struct word *cell(const struct table *t, size_t row, int column)
{
	return column < t->rows[row].nr ? &t->rows[row].of[column] : NULL;
}

/* Rows in which the column is of `kind` (any of) and of nothing else than `only`. */
static size_t rows_of(const struct table *t, int column, uint32_t kind, uint32_t only)
{
	size_t nr = 0;

	for (size_t i = 0; i < t->nr; i++) {
		const struct word *w = cell(t, i, column);

		nr += w && (w->kind & kind) && !(w->kind & ~only);
	}
	return nr;
}

static bool all_of(const struct table *t, int column, uint32_t kind)
{
	return column >= 0 && column < BLKPARSE_COLUMNS &&
	       rows_of(t, column, kind, UINT32_MAX) >= t->need;
}

/* The pair in which both hold most letters that the other cannot; else in blkparse's order. */
static bool find_letters(const struct table *t, struct blkparse_columns *c)
{
	size_t best = 0;

	for (int a = 0; a < BLKPARSE_COLUMNS; a++) {
		if (!all_of(t, a, WORD_ACTION))
			continue;
		for (int w = 0; w < BLKPARSE_COLUMNS; w++) {
			size_t score;

			if (w == a || !all_of(t, w, WORD_RWBS))
				continue;
			score = 4 * (rows_of(t, a, WORD_ACTION, WORD_ACTION) +
				     rows_of(t, w, WORD_RWBS, WORD_RWBS));
			score += 1 + (a + 1 == w || w + 1 == a) + (a < w);
			if (score > best) {
				best = score;
				c->action = a;
				c->rwbs = w;
			}
		}
	}
	return best > 0;
}

static uint64_t most_of(const struct table *t, int column)
{
	uint64_t most = 0;

	for (size_t i = 0; i < t->nr; i++) {
		const struct word *w = cell(t, i, column);

		if (w && w->number > most)
			most = w->number;
	}
	return most;
}

static bool same_word(const struct word *a, const struct word *b)
{
	return a && b && a->len == b->len && !memcmp(a->s, b->s, a->len);
}

static bool constant(const struct table *t, int column)
{
	for (size_t i = 1; i < t->nr; i++)
		if (!same_word(cell(t, 0, column), cell(t, i, column)))
			return false;
	return true;
}

/* How many different numbers of the column come with more than one action. */
static size_t recurring(const struct table *t, int column, int action)
{
	size_t nr = 0;

	for (size_t i = 0; i < t->nr; i++) {
		const struct word *w = cell(t, i, column);
		bool first = true, again = false;

		for (size_t k = 0; w && k < t->nr && first && !again; k++) {
			if (k == i || !same_word(w, cell(t, k, column)))
				continue;
			first = k > i;
			again = first && !same_word(cell(t, i, action), cell(t, k, action));
		}
		nr += again;
	}
	return nr;
}

/* What touches with a comma, or stands first in every line: "8,16". */
static void find_device(const struct table *t, struct blkparse_columns *c)
{
	for (int i = 0; i + 1 < BLKPARSE_COLUMNS; i++) {
		if (!all_of(t, i, WORD_NUMBER) || !all_of(t, i + 1, WORD_NUMBER) ||
		    !constant(t, i) || !constant(t, i + 1))
			continue;
		if (most_of(t, i) == 0 || most_of(t, i) > 511 || most_of(t, i + 1) > 0xfffff)
			continue;
		if (i && !cell(t, 0, i)->comma)
			continue;
		if (t->nr < 2 && !cell(t, 0, i)->comma)
			continue;
		c->major = i;
		return;
	}
}

static bool taken(const struct blkparse_columns *c, int i)
{
	return i == c->time || i == c->action || i == c->rwbs || i == c->sector || i == c->length ||
	       (c->major >= 0 && (i == c->major || i == c->major + 1));
}

/* Are the numbers bytes, of as many sectors as the other column (-1: none) says? */
static bool bytes_of(const struct table *t, int bytes, int sectors)
{
	bool any = false;

	for (size_t i = 0; i < t->nr; i++) {
		const struct word *b = cell(t, i, bytes),
				  *s = sectors < 0 ? NULL : cell(t, i, sectors);

		if (!b || b->number % SECTOR_SIZE || (s && b->number / SECTOR_SIZE != s->number))
			return false;
		any |= b->number != 0;
	}
	return any;
}

/* Is `i` what %N gives, and the larger number beside it the sector? */
static bool bytes_before(const struct table *t, int i, const struct blkparse_columns *c)
{
	return all_of(t, i + 1, WORD_NUMBER) && !taken(c, i + 1) && bytes_of(t, i, -1) &&
	       !bytes_of(t, i + 1, -1) &&
	       (most_of(t, i + 1) > most_of(t, i) || most_of(t, i + 1) > LONG_SECTORS) &&
	       recurring(t, i + 1, c->action) >= recurring(t, i, c->action);
}

static void find_sector(const struct table *t, struct blkparse_columns *c)
{
	int after = (c->action > c->rwbs ? c->action : c->rwbs) + 1;
	size_t best = 0;
	uint64_t best_most = 0;

	for (int i = 0; i < BLKPARSE_COLUMNS; i++) {
		size_t score;
		uint64_t most;

		if (taken(c, i) || !all_of(t, i, WORD_NUMBER))
			continue;
		most = most_of(t, i);
		score = 1 + 2 * recurring(t, i, c->action) + (i == after);
		if (score > best || (score == best && most > best_most)) {
			best = score;
			best_most = most;
			c->sector = i;
		}
	}
	if (c->sector >= 0 && bytes_before(t, c->sector, c))
		c->sector++;
}

/* Of a plug the length is 0, its thread is that of the line before. */
static bool like_pid(const struct table *t, int column, int action)
{
	size_t same = 0, other = 0;

	for (size_t i = 1; i < t->nr; i++) {
		const struct word *a = cell(t, i, action), *w = cell(t, i, column);

		if (!a || !w || a->len != 1 || *a->s != 'P')
			continue;
		if (w->number && same_word(w, cell(t, i - 1, column)))
			same++;
		else
			other++;
	}
	return same > other;
}

/* The column beside `from`; words that are the same in every line only say what follows. */
static int beside(const struct table *t, int from, int step)
{
	do {
		from += step;
	} while (all_of(t, from, WORD_TEXT) && constant(t, from));
	return from;
}

static void find_length(const struct table *t, struct blkparse_columns *c)
{
	int next = beside(t, c->sector, 1), last = beside(t, c->sector, -1);

	if (!taken(c, next) && all_of(t, next, WORD_NUMBER) && !like_pid(t, next, c->action)) {
		int third = beside(t, next, 1);

		c->length = next;
		if (!taken(c, third) && all_of(t, third, WORD_NUMBER) && bytes_of(t, third, next)) {
			c->length = third;
			c->bytes_told = true;
		}
	} else if (last >= 0 && !taken(c, last) && all_of(t, last, WORD_NUMBER) &&
		   bytes_of(t, last, -1)) {
		c->length = last;
		c->bytes_told = true;
	}
}

/* A name that changes, else the last word: others are headings of a column. */
static void find_comm(const struct table *t, struct blkparse_columns *c)
{
	for (int i = 0; i < BLKPARSE_COLUMNS; i++) {
		if (!all_of(t, i, WORD_TEXT))
			continue;
		c->comm = i;
		if (!constant(t, i))
			return;
	}
}

/* Beside the time (a CPU may come between) or beside the name. */
static void find_pid(const struct table *t, struct blkparse_columns *c)
{
	const int places[] = { c->time + 2, c->time + 1, c->comm - 1, c->comm + 1 };

	for (size_t i = 0; i < 4; i++) {
		int at = places[i];

		if (i > 1 && c->comm < 0)
			break;
		if (at < 0 || taken(c, at) || !all_of(t, at, WORD_NUMBER))
			continue;
		if (!i && (taken(c, at - 1) || !all_of(t, at - 1, WORD_NUMBER) ||
			   most_of(t, at) < most_of(t, at - 1)))
			continue;
		c->pid = at;
		return;
	}
}

static bool find_all(const struct table *t, struct blkparse_columns *c)
{
	*c = (struct blkparse_columns){ -1, -1, -1, -1, -1, -1, -1, -1, false };
	for (int i = 0; i < BLKPARSE_COLUMNS && c->time < 0; i++)
		if (all_of(t, i, WORD_TIME))
			c->time = i;
	if (c->time < 0 || !find_letters(t, c))
		return false;
	find_device(t, c);
	find_sector(t, c);
	if (c->sector < 0)
		return false;
	find_length(t, c);
	find_comm(t, c);
	find_pid(t, c);
	return true;
}

bool blkparse_columns_learn(struct blkparse_columns *c, const char *const *lines, size_t nr)
{
	struct table *t = mem_resize(NULL, 1, sizeof(*t)); /* too large for a stack */
	bool found;

	t->nr = nr < LINES_MAX ? nr : LINES_MAX;
	t->need = t->nr - t->nr / 10;
	for (size_t i = 0; i < t->nr; i++)
		blkparse_split(lines[i], &t->rows[i]);
	found = find_all(t, c);
	free(t);
	return found;
}

/* ---- reading ---- */

static const struct word *pick(const struct words *words, int column, uint32_t kind)
{
	if (column < 0 || column >= words->nr || !(words->of[column].kind & kind))
		return NULL;
	return &words->of[column];
}

static bool read_device(const struct blkparse_columns *c, const struct words *words,
			struct event *ev)
{
	const struct word *major = pick(words, c->major, WORD_NUMBER);
	const struct word *minor = pick(words, c->major + 1, WORD_NUMBER);

	if (c->major < 0)
		return true;
	if (!major || !minor || major->number >= DEVICE_NAMED_MAJOR || minor->number > 0xfffff)
		return false;
	ev->device = DEVICE((uint32_t)major->number, (uint32_t)minor->number);
	return true;
}

bool blkparse_columns_read(const struct blkparse_columns *c, const char *text,
			   struct blkparse_line *line)
{
	const struct word *time, *action, *rwbs, *sector, *w;
	struct words words;

	*line = (struct blkparse_line){ 0 };
	blkparse_split(text, &words);
	time = pick(&words, c->time, WORD_TIME);
	action = pick(&words, c->action, WORD_ACTION);
	rwbs = pick(&words, c->rwbs, WORD_RWBS);
	sector = pick(&words, c->sector, WORD_NUMBER);
	if (!time || !action || !rwbs || !sector || !blkparse_time(time->s, line) ||
	    !read_device(c, &words, &line->ev))
		return false;
	line->ev.action = (uint8_t)blkparse_action(action->s, action->len);
	line->rwbs = rwbs->s;
	line->rwbs_len = (uint8_t)rwbs->len;
	line->ev.sector = sector->number;
	if (c->length >= 0) {
		w = pick(&words, c->length, WORD_NUMBER);
		if (!w)
			return false;
		line->has_number = true;
		line->number = w->number;
	}
	w = pick(&words, c->pid, WORD_NUMBER);
	if (!w || w->number > UINT32_MAX)
		return true;
	line->ev.pid = (uint32_t)w->number;
	w = pick(&words, c->comm, WORD_TEXT);
	if (w)
		blkparse_set_comm(line, w->s, w->len);
	return true;
}
