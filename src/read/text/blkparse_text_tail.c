/* SPDX-License-Identifier: MIT
 *
 * What follows the RWBS in a line of blkparse. What it means depends on the action and on whether a "+" is
 * there; doc/formats/blkparse_text.md has the table.
 */
#include <string.h>

#include "read/text/blkparse_text.h"

#define LENGTH_MAX (UINT32_MAX / SECTOR_SIZE) /* sectors: the kernel counts bytes in 32 bits */
#define COMM_MAX   15

static enum blkparse_answer bad(struct blkparse_line *line, const char *why)
{
	line->why = why;
	return BLKPARSE_BAD;
}

/* `why` holds if no later line completes it. */
static enum blkparse_answer cut(struct blkparse_line *line, bool safe, const char *why)
{
	line->safe = safe;
	line->why = why;
	return BLKPARSE_CUT;
}

static const char too_long[] = "no request can be that long";
static const char number_cut[] = "breaks off at a number, which may be cut";
static const char no_number[] = "a sector or a length is no number";
static const char no_name[] = "has no name where one should be";
static const char no_tail[] = "breaks off before its end";

/* ---- class and flags ---- */

static void set_class(struct blkparse_line *line, uint32_t sectors, struct blkparse_memo *memo)
{
	blkparse_rwbs(&line->ev, line->rwbs, line->rwbs_len, sectors, memo);
}

/* blkparse prints bytes and command bytes of these, no place. */
static void set_passthrough(struct blkparse_line *line, uint64_t bytes)
{
	struct event *ev = &line->ev;

	ev->sector = 0;
	ev->bytes = (uint32_t)bytes;
	ev->class = CLASS_PASSTHROUGH;
	ev->flags |= EV_PC;
	for (size_t i = 0; i < line->rwbs_len; i++) {
		ev->flags |= line->rwbs[i] == 'W' ? EV_WRITE : 0;
		ev->flags |= line->rwbs[i] == 'S' ? EV_SYNC : 0;
	}
}

/* ---- pieces ---- */

enum range_kind { RANGE_NONE, RANGE_SECTOR, RANGE_WHOLE, RANGE_CUT, RANGE_BAD };

struct range {
	enum range_kind kind;
	bool at_end; /* its last number touches the line's end: it may have been cut */
	uint64_t sector, n;
};

/* `SECTOR` or `SECTOR + N`; where what follows begins. */
static const char *read_range(const char *p, struct blkparse_line *line, struct range *r)
{
	const char *after;

	r->kind = RANGE_NONE;
	r->at_end = false;
	r->n = 0;
	if (*p >= 'A' && *p != '[')
		p = blkparse_skip_priority(p, line);
	if (!blkparse_digit(*p))
		return p;
	after = blkparse_number(p, &r->sector);
	if (after && blkparse_digit(*blkparse_skip(after)) && blkparse_blank(*after)) {
		line->seen |= BLKPARSE_PRIORITY;
		after = blkparse_number(blkparse_skip(after), &r->sector);
	}
	if (!after || (*after && !blkparse_blank(*after))) {
		r->kind = RANGE_BAD;
		return p;
	}
	r->kind = RANGE_SECTOR;
	r->at_end = !*after;
	p = blkparse_skip(after);
	if (*p != '+')
		return p;
	p = blkparse_skip(p + 1);
	r->kind = RANGE_CUT;
	if (!*p)
		return p;
	after = blkparse_number(p, &r->n);
	r->kind = RANGE_BAD;
	if (!after || (*after && !blkparse_blank(*after)))
		return p;
	r->kind = RANGE_WHOLE;
	r->at_end = !*after;
	return blkparse_skip(after);
}

/* Places of the "]" that may end a name of `max` bytes at most that starts at p: the last one which a
 * blank or the line's end follows, since names may hold blanks and brackets themselves. */
static const char *close_of(const char *p, const char *end, size_t max)
{
	size_t len = (size_t)(end - p) < max + 1 ? (size_t)(end - p) : max + 1;

	for (size_t i = len; i-- > 0;)
		if (p[i] == ']' && (!p[i + 1] || blkparse_blank(p[i + 1])))
			return p + i;
	return NULL;
}

/* "[dd] # [why?]": what opens again behind a closed name is somebody's remark. */
static const char *before_remark(const char *p, const char *close)
{
	const char *first = memchr(p, ']', (size_t)(close - p));

	if (first && blkparse_blank(first[1]) && memchr(first, '[', (size_t)(close - first)))
		return first;
	return close;
}

/* "[NAME]" at p; where what follows it begins, or NULL: it is not closed. */
static const char *read_comm(const char *p, const char *end, struct blkparse_line *line)
{
	const char *close;

	p++;
	/* Usually the line ends with it. */
	if (end[-1] == ']' && end - 1 >= p && end - 1 - p <= COMM_MAX)
		close = end - 1;
	else if (!(close = close_of(p, end, COMM_MAX)))
		close = memchr(p, ']', (size_t)(end - p));
	if (close && memchr(p, '[', (size_t)(close - p)))
		close = before_remark(p, close);
	if (!close)
		return NULL;
	blkparse_set_comm(line, p, (size_t)(close - p));
	return close + 1;
}

static bool is_hex(char c)
{
	return blkparse_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* "(12 00 ..)": command bytes, two digits each. An elapsed time is printed eight wide. */
static bool is_command(const char *p, size_t len)
{
	size_t at = 0;

	if (len < 2 || (len == 2 && !is_hex(p[0])))
		return false;
	while (at + 2 <= len && is_hex(p[at]) && is_hex(p[at + 1])) {
		at += 2;
		if (at == len)
			return true;
		if (!blkparse_blank(p[at]))
			return false;
		at++;
	}
	return at + 2 == len && p[at] == '.' && p[at + 1] == '.';
}

enum paren { PAREN_NONE, PAREN_ELAPSED, PAREN_COMMAND, PAREN_CUT, PAREN_BAD };

/* "( 852)" or "(12 00 ..)" */
static const char *read_paren(const char *p, const char *end, struct blkparse_line *line,
			      enum paren *what)
{
	const char *close, *inner, *after;

	*what = PAREN_NONE;
	if (*p != '(')
		return p;
	p++;
	close = memchr(p, ')', (size_t)(end - p));
	*what = PAREN_CUT;
	if (!close)
		return p;
	*what = PAREN_COMMAND;
	if (close == p || is_command(p, (size_t)(close - p)))
		return blkparse_skip(close + 1);
	inner = blkparse_skip(p);
	after = blkparse_number(inner, &line->elapsed_ns);
	if (!after && inner < close) { /* it may be any 64 bits, or more digits than those have */
		after = inner + strspn(inner, "0123456789");
		line->elapsed_ns = UINT64_MAX;
	}
	*what = after && after > inner && blkparse_skip(after) == close ? PAREN_ELAPSED : PAREN_BAD;
	if (*what == PAREN_ELAPSED)
		line->seen |= BLKPARSE_ELAPSED;
	return blkparse_skip(close + 1);
}

/* The line ends here, or a blank separates what people wrote behind it. */
static enum blkparse_answer finish(struct blkparse_line *line, const char *p, bool whole)
{
	/* What a mailer broke apart has the kernel's own names. */
	if (whole && line->comm_len > COMM_MAX)
		return bad(line, no_name);
	if (!*p)
		return BLKPARSE_EVENT;
	if (whole || !blkparse_blank(*p))
		return bad(line, "something stands behind what a line of blkparse ends with");
	line->seen |= BLKPARSE_ANNOTATED;
	return BLKPARSE_EVENT;
}

static bool set_range(struct blkparse_line *line, const struct range *r)
{
	if (r->n > LENGTH_MAX)
		return false;
	line->ev.sector = r->sector;
	line->ev.bytes = (uint32_t)r->n * SECTOR_SIZE;
	return true;
}

/* ---- by action ---- */

/* Q M F G S I D B: `[SECTOR + N] [(ELAPSED)] [NAME]`, or passthrough `BYTES [(COMMAND)] [NAME]` */
static enum blkparse_answer tail_of_bio(struct blkparse_line *line, const char *end, bool whole,
					struct blkparse_memo *memo)
{
	struct range r;
	enum paren paren;
	const char *p = read_range(line->tail, line, &r);

	if (r.kind == RANGE_BAD)
		return bad(line, no_number);
	if (r.kind == RANGE_CUT)
		return cut(line, false, no_tail);
	if (!set_range(line, &r))
		return r.kind == RANGE_WHOLE ? bad(line, too_long) : bad(line, no_number);
	if (r.kind == RANGE_NONE)
		line->ev.sector = 0;
	p = read_paren(p, end, line, &paren);
	if (paren == PAREN_BAD)
		return bad(line, "what stands in parentheses is neither a time nor a command");
	if (paren == PAREN_ELAPSED && line->ev.action != ACT_ISSUE && line->ev.action != ACT_INSERT)
		return bad(line, "has an elapsed time that its action cannot have");
	if (r.kind == RANGE_SECTOR) {
		if (r.sector > UINT32_MAX)
			return bad(line, "has a sector and no length");
		set_passthrough(line, r.sector);
	} else {
		set_class(line, (uint32_t)r.n, memo);
	}
	if (r.at_end)
		return cut(line, false, number_cut);
	if (paren == PAREN_CUT || !*p)
		return cut(line, r.kind == RANGE_WHOLE, no_tail);
	if (*p != '[')
		return bad(line, no_name);
	p = read_comm(p, end, line);
	return p ? finish(line, p, whole) : cut(line, true, no_tail);
}

/* The error in brackets; where what follows begins, or NULL with *answer. */
static const char *read_error(const char *p, const char *end, struct blkparse_line *line,
			      enum blkparse_answer *answer)
{
	const char *close;

	if (*p != '[') {
		*answer = *p ? bad(line, "has no error number where one should be")
			     : cut(line, false, "its error number is missing");
		return NULL;
	}
	p = blkparse_skip(p + 1);
	if (p[0] == '0' && p[1] == ']')
		return p + 2; /* nearly always */
	close = memchr(p, ']', (size_t)(end - p));
	if (!close) {
		/* No number but 0 begins with it. */
		*answer = cut(line, *p == '0', "its error number is missing");
		return NULL;
	}
	if (!blkparse_error(p, (size_t)(close - p), &line->ev.error)) {
		*answer = bad(line, "its error is no number");
		return NULL;
	}
	return close + 1;
}

/* "<262400>": where a zone append landed. */
static const char *read_landing(const char *p, struct blkparse_line *line)
{
	const char *open = blkparse_skip(p), *after;
	uint64_t sector;

	if (*open != '<')
		return p;
	after = blkparse_number(blkparse_skip(open + 1), &sector);
	if (!after || *(after = blkparse_skip(after)) != '>')
		return p;
	line->seen |= BLKPARSE_LANDING;
	if ((line->ev.flags & EV_ZONE_APPEND) && sector != SECTOR_NONE) {
		line->ev.sector = sector;
		line->ev.flags |= EV_LANDED;
	}
	return after + 1;
}

/* C R: `SECTOR [+ N] [(ELAPSED)] [ERROR] [<LANDING>]`, or passthrough `[(COMMAND)] [ERROR]` */
static enum blkparse_answer tail_of_end(struct blkparse_line *line, const char *end, bool whole,
					struct blkparse_memo *memo)
{
	enum blkparse_answer answer = BLKPARSE_EVENT;
	struct range r;
	enum paren paren;
	const char *p = read_range(line->tail, line, &r);

	if (r.kind == RANGE_BAD)
		return bad(line, no_number);
	if (r.kind == RANGE_CUT)
		return cut(line, false, no_tail);
	if (r.kind == RANGE_NONE)
		r.sector = 0;
	if (!set_range(line, &r))
		return bad(line, too_long);
	if (line->ev.action == ACT_COMPLETE)
		line->ev.flags |= EV_UNTOLD_KIND;
	p = read_paren(p, end, line, &paren);
	if (paren == PAREN_BAD)
		return bad(line, "what stands in parentheses is neither a time nor a command");
	if (paren == PAREN_CUT || (!*p && r.kind == RANGE_NONE))
		return cut(line, false, no_tail);
	if (r.kind == RANGE_NONE && line->rwbs[0] != 'F') {
		set_passthrough(line, 0);
		line->ev.flags |= EV_NO_BYTES;
	} else {
		set_class(line, (uint32_t)r.n, memo);
	}
	p = read_error(p, end, line, &answer);
	if (!p)
		return answer;
	if (*p)
		p = read_landing(p, line);
	return finish(line, p, whole);
}

/* A: `SECTOR + N <- (MAJOR,MINOR) SECTOR` */
static enum blkparse_answer tail_of_remap(struct blkparse_line *line, bool whole,
					  struct blkparse_memo *memo)
{
	struct range r;
	uint32_t major, minor;
	const char *p = read_range(line->tail, line, &r);

	if (r.kind == RANGE_BAD || (r.kind == RANGE_NONE && *p))
		return bad(line, no_number);
	if (!*p)
		return cut(line, false, r.at_end ? number_cut : no_tail);
	if (!set_range(line, &r))
		return bad(line, too_long);
	if (r.kind == RANGE_SECTOR)
		line->ev.flags |= EV_NO_BYTES;
	if (*p != '<' || (p[1] && p[1] != '-'))
		return bad(line, "does not say from where it was remapped");
	p = p[1] ? blkparse_skip(p + 2) : p + 1;
	if (!*p)
		return cut(line, false, no_tail);
	if (*p != '(' || !(p = blkparse_u32(blkparse_skip(p + 1), &major)) || *p != ',' ||
	    !(p = blkparse_u32(blkparse_skip(p + 1), &minor)) || *(p = blkparse_skip(p)) != ')' ||
	    major >= DEVICE_NAMED_MAJOR || minor > 0xfffff)
		return bad(line, "its source device is none");
	line->ev.aux_device = DEVICE(major, minor);
	p = blkparse_skip(p + 1);
	if (!*p)
		return cut(line, false, no_tail);
	p = blkparse_number(p, &line->ev.aux_sector);
	if (!p)
		return bad(line, no_number);
	set_class(line, r.kind == RANGE_SECTOR ? 1 : (uint32_t)r.n, memo);
	return finish(line, p, whole);
}

/* blkparse prints the low 32 bits of where the rest starts, which is behind the front piece. Some kernels
 * give 0: not known. */
static uint64_t rest_of(uint64_t sector, uint64_t printed)
{
	uint64_t rest = (sector & ~(uint64_t)UINT32_MAX) | printed;

	if (!printed || printed > sector || sector <= UINT32_MAX)
		return printed;
	return rest > sector ? rest : rest + UINT32_MAX + 1;
}

/* X: `SECTOR / SECTOR [NAME]` */
static enum blkparse_answer tail_of_split(struct blkparse_line *line, const char *end, bool whole,
					  struct blkparse_memo *memo)
{
	struct range r;
	uint64_t rest;
	const char *p = read_range(line->tail, line, &r);

	if (!*p && r.kind != RANGE_BAD)
		return cut(line, false, r.at_end ? number_cut : no_tail);
	if (r.kind != RANGE_SECTOR || *p != '/')
		return bad(line, no_number);
	p = blkparse_skip(p + 1);
	if (!*p)
		return cut(line, false, no_tail);
	p = blkparse_number(p, &rest);
	if (!p || (*p && !blkparse_blank(*p)))
		return bad(line, no_number);
	line->ev.sector = r.sector;
	line->ev.aux_sector = rest_of(r.sector, rest);
	line->ev.flags |= EV_NO_BYTES;
	set_class(line, 1, memo);
	if (!*p)
		return cut(line, false, number_cut);
	p = blkparse_skip(p);
	if (*p && *p != '[')
		return bad(line, no_name);
	if (!*p || !(p = read_comm(p, end, line)))
		return cut(line, true, no_tail);
	return finish(line, p, whole);
}

/* P U UT ZP ZU: `[NAME]`, and a number except for P and ZP */
static enum blkparse_answer tail_of_plug(struct blkparse_line *line, const char *end, bool whole)
{
	bool counts = line->ev.action != ACT_PLUG && line->ev.action != ACT_ZONE_PLUG;
	const char *p = blkparse_skip_priority(line->tail, line), *after;
	uint64_t n;

	if (!*p)
		return cut(line, false, no_tail);
	if (*p != '[')
		return bad(line, no_name);
	p = read_comm(p, end, line);
	if (!p)
		return cut(line, !counts, no_tail);
	if (!counts)
		return finish(line, p, whole);
	if (!*blkparse_skip(p))
		return cut(line, true, "the number of requests is missing");
	after = blkparse_blank(*p) ? blkparse_number(blkparse_skip(p), &n) : NULL;
	if (!after)
		return bad(line, "the number of requests is missing");
	line->ev.aux_sector = n;
	return finish(line, after, whole);
}

static enum blkparse_answer tail_of_message(struct blkparse_line *line, const char *end)
{
	size_t len = strnlen(line->tail, (size_t)(end - line->tail));

	line->ev.sequence = 0;
	line->ev.payload_len = (uint16_t)(len < UINT16_MAX ? len : UINT16_MAX);
	line->ev.payload = len ? (const uint8_t *)line->tail : NULL;
	return BLKPARSE_EVENT;
}

static enum blkparse_answer tail(struct blkparse_line *line, const char *end, bool whole,
				 struct blkparse_memo *memo)
{
	switch (line->ev.action) {
	case ACT_COMPLETE:
	case ACT_REQUEUE:
		return tail_of_end(line, end, whole, memo);
	case ACT_REMAP:
		return tail_of_remap(line, whole, memo);
	case ACT_SPLIT:
		return tail_of_split(line, end, whole, memo);
	case ACT_PLUG:
	case ACT_UNPLUG:
	case ACT_UNPLUG_TIMER:
	case ACT_ZONE_PLUG:
	case ACT_ZONE_UNPLUG:
		return tail_of_plug(line, end, whole);
	case ACT_MESSAGE:
		return tail_of_message(line, end);
	default:
		return tail_of_bio(line, end, whole, memo);
	}
}

enum blkparse_answer blkparse_tail(struct blkparse_line *line, const char *end, bool whole,
				   struct blkparse_memo *memo)
{
	enum blkparse_answer answer = tail(line, end, whole, memo);

	if (answer == BLKPARSE_BAD && blkparse_own_tail(line, end) == BLKPARSE_OWN)
		return BLKPARSE_OWN;
	return answer;
}
