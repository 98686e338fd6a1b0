/* SPDX-License-Identifier: MIT
 *
 * Lines in formats of somebody's own (blkparse -f, or columns cut away). One line does not tell what its
 * columns are, so the first ones are kept until they agree. Where a length would stand some people print
 * %U, which is a number only for U, UT and X: of other events blkparse prints whatever memory holds there.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "read/text/blkparse_text.h"
#include "read/text/finding.h"

#define KEEP       256u
#define FEW        3u /* lines of one format that prove it beside lines of blkparse's own ... */
#define MANY       8u /* ... if its columns are in no known order */
#define SECTORS_OF (UINT32_MAX / SECTOR_SIZE)
#define LINE_MAX   4096u
#define PAGE       4096u

enum lengths { LENGTHS_UNKNOWN, LENGTHS_SECTORS, LENGTHS_BYTES };

struct kept {
	struct blkparse_line line; /* borrows from text */
	char *text;                /* owned */
	uint64_t nr;
	enum blkparse_own_kind kind;
	bool good;
};

struct blkparse_own {
	struct kept *kept; /* owned */
	size_t nr, of_kind[4];
	bool settled;
	bool tail, trimmed, columns; /* these kinds of lines are taken */
	enum lengths lengths;
	struct blkparse_columns column;
};

/* What speaks for and against the lengths. */
struct evidence {
	uint64_t agree, differ, impossible, zero, other;
	uint64_t by_sectors, by_bytes; /* what follows on what, with lengths in that unit */
	bool odd, small;               /* some are no multiple of a sector's bytes, of a page's */
};

bool blkparse_own_known(const struct blkparse_own *own)
{
	if (!own)
		return false;
	return own->settled ? own->tail || own->trimmed : own->of_kind[BLKPARSE_OWN_SURE] > 0;
}

/* ---- are the lengths lengths? ---- */

/* The event before `i` whose length is this one's, in the life of one request: the bio that got a request,
 * the insertion, the issue. */
static const struct kept *before(const struct blkparse_own *own, size_t i)
{
	const struct event *ev = &own->kept[i].line.ev;

	while (i-- > 0) {
		const struct kept *k = &own->kept[i];
		uint8_t action = k->line.ev.action;

		if (!k->good || k->line.ev.device != ev->device || k->line.ev.sector != ev->sector)
			continue;
		if (action == ACT_SPLIT)
			return NULL; /* it is shorter from here on */
		if ((ev->action == ACT_GETRQ && action == ACT_QUEUE) ||
		    (ev->action == ACT_ISSUE && action == ACT_INSERT) ||
		    (ev->action == ACT_COMPLETE && action == ACT_ISSUE))
			return k;
	}
	return NULL;
}

static void weigh(const struct blkparse_own *own, size_t i, struct evidence *e)
{
	const struct blkparse_line *line = &own->kept[i].line, *last;
	uint64_t n = line->number;
	const struct kept *k;

	e->odd |= n % SECTOR_SIZE != 0;
	e->small |= n % PAGE != 0;
	if (blkparse_is_plug(line->ev.action)) {
		e->impossible += line->ev.action == ACT_PLUG && n;
		return;
	}
	if (line->ev.action == ACT_SPLIT || line->ev.action == ACT_REMAP)
		return;
	e->impossible += n > UINT32_MAX || (n > SECTORS_OF && n % SECTOR_SIZE);
	e->zero += !n && line->rwbs[0] != 'F' && line->rwbs[0] != 'N';
	e->other += n != 0;
	k = before(own, i);
	if (k && k->line.has_number)
		(*(k->line.number == n ? &e->agree : &e->differ))++;
	if (!i || !own->kept[i - 1].good || line->ev.action == ACT_COMPLETE)
		return;
	last = &own->kept[i - 1].line;
	e->by_sectors += last->number && last->ev.sector + last->number == line->ev.sector;
	e->by_bytes += last->number >= SECTOR_SIZE &&
		       last->ev.sector + last->number / SECTOR_SIZE == line->ev.sector;
}

static void say_unreliable(struct text *text, const struct evidence *e)
{
	json_t *evidence = finding_add(
		text_facts(text), "unreliable-lengths", "warning", "Lengths of I/O are not real",
		mem_printf(
			"What this format prints for a length differs along %llu of %llu requests, "
			"is impossible in %llu lines and 0 in %llu. blkparse's %%U is a number "
			"only "
			"in U, UT and X lines and else what memory held: lengths are not known.",
			(unsigned long long)e->differ, (unsigned long long)(e->differ + e->agree),
			(unsigned long long)e->impossible, (unsigned long long)e->zero),
		"Print %n (sectors) or %N (bytes) instead of %U.");

	put_u64(evidence, "requests_that_differ", e->differ);
	put_u64(evidence, "requests_that_agree", e->agree);
	put_u64(evidence, "impossible_lines", e->impossible);
	put_u64(evidence, "zero_lines", e->zero);
}

static void judge_lengths(struct blkparse_own *own, struct text *text)
{
	struct evidence e = { 0 };
	bool any = false;

	for (size_t i = 0; i < own->nr; i++) {
		if (!own->kept[i].good || !own->kept[i].line.has_number)
			continue;
		any = true;
		weigh(own, i, &e);
	}
	own->lengths = LENGTHS_UNKNOWN;
	if (!any)
		return;
	if (e.impossible || e.differ > e.agree || (e.zero && !e.other))
		say_unreliable(text, &e);
	else if (own->columns && own->column.bytes_told)
		own->lengths = LENGTHS_BYTES;
	else if (e.odd || e.by_sectors > e.by_bytes ||
		 (e.by_sectors == e.by_bytes && (e.small || !own->columns)))
		own->lengths = LENGTHS_SECTORS;
	else
		own->lengths = LENGTHS_BYTES;
}

/* ---- giving ---- */

static void set_length(const struct blkparse_own *own, struct blkparse_line *line)
{
	struct event *ev = &line->ev;
	uint64_t most = own->lengths == LENGTHS_BYTES ? UINT32_MAX : SECTORS_OF;

	if (own->lengths == LENGTHS_UNKNOWN || !line->has_number || line->number > most) {
		ev->flags |= EV_NO_BYTES;
		return;
	}
	ev->bytes = (uint32_t)line->number * (own->lengths == LENGTHS_BYTES ? 1 : SECTOR_SIZE);
}

static void give(struct blkparse *b, struct text *text, struct blkparse_line *line)
{
	const struct blkparse_own *own = b->own;
	struct event *ev = &line->ev;
	uint32_t sectors;

	if (blkparse_is_plug(ev->action)) {
		ev->sector = 0;
		ev->aux_sector = ev->action == ACT_PLUG ? 0 : line->number;
		blkparse_give(b, text, line);
		return;
	}
	if (ev->action == ACT_SPLIT) {
		if (own->lengths == LENGTHS_UNKNOWN && line->number > ev->sector)
			ev->aux_sector = line->number;
		ev->flags |= EV_NO_BYTES;
	} else {
		set_length(own, line);
	}
	/* Without a length, an F with W and no place is a flush. */
	sectors = ev->bytes / SECTOR_SIZE;
	if (ev->flags & EV_NO_BYTES)
		sectors = !blkparse_is_flush(line) && (ev->sector || line->rwbs[0] != 'F');
	blkparse_rwbs(ev, line->rwbs, line->rwbs_len, sectors, &b->memo);
	if (ev->action == ACT_COMPLETE)
		ev->flags |= EV_UNTOLD_KIND;
	if (blkparse_is_flush(line))
		ev->flags &= ~EV_NO_BYTES;
	if (!ev->device)
		ev->device = text_device(text, "unknown", 7);
	blkparse_give(b, text, line);
}

static const char no_source[] = "its format leaves out from where it was remapped";

static const char *refusal(const struct kept *k)
{
	if (k->line.ev.action == ACT_REMAP)
		return no_source;
	switch (k->kind) {
	case BLKPARSE_OWN_FREE:
		return "has the columns of an event in no order that other lines have";
	case BLKPARSE_OWN_TRIMMED:
		return k->line.why;
	default:
		return k->line.why ? k->line.why : "no line of blkparse ends like this";
	}
}

/* It was called used when it came. */
static void retract(struct text *text, const struct kept *k)
{
	struct facts *facts = text_facts(text);
	struct input_info *info = &facts->inputs[text_input(text)];

	if (info->lines_used)
		info->lines_used--;
	facts_ignored(facts, text_input(text), k->nr, k->text, refusal(k));
}

/* ---- the decision ---- */

/* Lines that all end at one column were cut there, by a terminal or a pager. */
static bool lengths_vary(const struct blkparse_own *own)
{
	size_t first = 0;

	for (size_t i = 0; i < own->nr; i++) {
		size_t len;

		if (own->kept[i].kind != BLKPARSE_OWN_TRIMMED)
			continue;
		len = strlen(own->kept[i].text);
		if (first && len != first)
			return true;
		first = len;
	}
	return false;
}

/* Does a line that can be nothing else end in a number? Then others may. */
static bool ends_bare(const struct blkparse_own *own)
{
	for (size_t i = 0; i < own->nr; i++) {
		const struct kept *k = &own->kept[i];
		size_t len = strlen(k->text);

		if (k->kind == BLKPARSE_OWN_SURE && blkparse_digit(k->text[len - 1]))
			return true;
	}
	return false;
}

static bool learn_columns(struct blkparse_own *own)
{
	const char *lines[KEEP];
	size_t nr = 0;

	for (size_t i = 0; i < own->nr; i++)
		if (own->kept[i].kind == BLKPARSE_OWN_FREE)
			lines[nr++] = own->kept[i].text;
	return nr && blkparse_columns_learn(&own->column, lines, nr);
}

static void decide(const struct blkparse *b, struct blkparse_own *own)
{
	bool alone = !b->nr_default;
	size_t sure = own->of_kind[BLKPARSE_OWN_SURE];
	size_t trimmed = own->of_kind[BLKPARSE_OWN_TRIMMED];
	size_t columns = own->of_kind[BLKPARSE_OWN_FREE];

	own->settled = true;
	own->tail = sure >= FEW || (sure && alone);
	own->trimmed = (trimmed >= (alone ? FEW : MANY) && lengths_vary(own)) ||
		       (own->tail && ends_bare(own));
	own->columns = (columns >= MANY || (columns && alone)) && learn_columns(own);
	for (size_t i = 0; i < own->nr; i++) {
		struct kept *k = &own->kept[i];

		if (k->kind == BLKPARSE_OWN_FREE)
			k->good = own->columns &&
				  blkparse_columns_read(&own->column, k->text, &k->line);
		else
			k->good = k->kind == BLKPARSE_OWN_TRIMMED ? own->trimmed : own->tail;
		/* As blkparse -t it was read before; now as the other. */
		if (k->kind == BLKPARSE_OWN_MAYBE && k->good)
			k->good = blkparse_own_tail(&k->line, k->text + strlen(k->text)) ==
				  BLKPARSE_OWN;
	}
}

static void free_kept(struct blkparse_own *own)
{
	for (size_t i = 0; i < own->nr; i++)
		free(own->kept[i].text);
	free(own->kept);
	own->kept = NULL;
	own->nr = 0;
}

static void settle(struct blkparse *b, struct text *text)
{
	struct blkparse_own *own = b->own;
	bool no_errors = false, any = false;

	decide(b, own);
	judge_lengths(own, text);
	for (size_t i = 0; i < own->nr; i++) {
		struct kept *k = &own->kept[i];

		if (k->good && k->line.ev.action != ACT_REMAP) {
			any = true;
			no_errors |=
				k->kind == BLKPARSE_OWN_TRIMMED || k->kind == BLKPARSE_OWN_FREE;
			give(b, text, &k->line);
		} else if (k->kind == BLKPARSE_OWN_MAYBE && !own->tail) {
			blkparse_give(b, text, &k->line);
		} else {
			retract(text, k);
		}
	}
	free_kept(own);
	if (any)
		text_dialect(text, "custom format");
	if (no_errors)
		facts_note(text_facts(text),
			   "The custom format leaves out errors: failed I/O is not known.");
}

/* ---- lines ---- */

/* The text they borrow from is copied, so what they borrow moves. */
static void keep(struct blkparse_own *own, const struct text_line *from,
		 const struct blkparse_line *line, enum blkparse_own_kind kind)
{
	struct kept *k;

	own->kept = mem_grow(own->kept, own->nr, sizeof(*own->kept));
	k = &own->kept[own->nr++];
	*k = (struct kept){ .line = *line, .nr = from->nr, .kind = kind };
	k->text = mem_strdup(from->s);
	own->of_kind[kind]++;
	if (line->comm)
		k->line.comm = k->text + (line->comm - from->s);
	if (line->rwbs)
		k->line.rwbs = k->text + (line->rwbs - from->s);
	if (line->tail)
		k->line.tail = k->text + (line->tail - from->s);
}

static enum text_answer take_settled(struct blkparse *b, struct text *text,
				     const struct text_line *from, struct blkparse_line *line,
				     enum blkparse_own_kind kind)
{
	const struct blkparse_own *own = b->own;
	struct kept k = { .kind = kind };
	bool good = kind == BLKPARSE_OWN_TRIMMED ? own->trimmed : own->tail;

	if (kind == BLKPARSE_OWN_FREE) {
		if (!own->columns)
			return TEXT_NO;
		good = blkparse_columns_read(&own->column, from->s, line);
	} else if (kind == BLKPARSE_OWN_MAYBE && !good) {
		blkparse_give(b, text, line);
		return TEXT_USED;
	} else if (kind == BLKPARSE_OWN_MAYBE) {
		good = blkparse_own_tail(line, from->s + from->len) == BLKPARSE_OWN;
	}
	if (good && line->ev.action != ACT_REMAP) {
		give(b, text, line);
		return TEXT_USED;
	}
	blkparse_number_seen(text, line);
	k.line = *line;
	text_why(text, refusal(&k));
	return TEXT_BAD;
}

enum text_answer blkparse_own_take(struct blkparse *b, struct text *text,
				   const struct text_line *from, struct blkparse_line *line,
				   enum blkparse_own_kind kind)
{
	if (from->len > LINE_MAX || memchr(from->s, 0, from->len))
		return TEXT_NO;
	if (!b->own)
		b->own = mem_zalloc(sizeof(*b->own));
	if (b->own->settled)
		return take_settled(b, text, from, line, kind);
	blkparse_number_seen(text, line);
	keep(b->own, from, line, kind);
	if (b->own->nr == KEEP)
		settle(b, text);
	return TEXT_USED;
}

void blkparse_own_settle(struct blkparse *b, struct text *text)
{
	struct blkparse_own *own = b->own;
	size_t nr = 0;

	if (!own || own->settled || own->of_kind[BLKPARSE_OWN_SURE])
		return;
	for (size_t i = 0; i < own->nr; i++) {
		if (own->kept[i].kind != BLKPARSE_OWN_MAYBE) {
			own->kept[nr++] = own->kept[i];
			continue;
		}
		blkparse_give(b, text, &own->kept[i].line);
		free(own->kept[i].text);
	}
	own->nr = nr;
	own->of_kind[BLKPARSE_OWN_MAYBE] = 0;
}

void blkparse_own_end(struct blkparse *b, struct text *text)
{
	if (!b->own)
		return;
	if (!b->own->settled)
		settle(b, text);
	free(b->own);
	b->own = NULL;
}
