/* SPDX-License-Identifier: MIT */
#include "classic/own_format.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "classic/digits.h"
#include "classic/hexdump.h"
#include "classic/out.h"

#define NS_PER_S UINT64_C(1000000000)

/* The first letters of actions that a format can be given for; nothing is ever called T or W. */
#define LETTERS "ABCDFGIMPQRSTUWX"

/* A line has to fit in a buffer of out.h with the largest payload: what is not payload gets an eighth. */
#define LINE_MOST  (OUT_BYTES / 8)
#define FIELD_ROOM 64u /* of any field without a width: the longest is the name of an error */

enum kind {
	KIND_CHAR, /* no field: prints itself, in its width */
	KIND_LITERAL,
	KIND_NUMBER,
	KIND_TEXT,
	KIND_DEVICE,
	KIND_NANOSECONDS,
	KIND_DUMP,
};

static const uint8_t kinds[256] = {
	['a'] = KIND_TEXT,   ['C'] = KIND_TEXT,        ['d'] = KIND_TEXT,   ['e'] = KIND_TEXT,
	['g'] = KIND_TEXT,   ['u'] = KIND_TEXT,        ['z'] = KIND_TEXT,   ['D'] = KIND_DEVICE,
	['P'] = KIND_DUMP,   ['t'] = KIND_NANOSECONDS, ['c'] = KIND_NUMBER, ['M'] = KIND_NUMBER,
	['m'] = KIND_NUMBER, ['n'] = KIND_NUMBER,      ['N'] = KIND_NUMBER, ['p'] = KIND_NUMBER,
	['s'] = KIND_NUMBER, ['S'] = KIND_NUMBER,      ['T'] = KIND_NUMBER, ['U'] = KIND_NUMBER,
};

struct piece {
	uint8_t kind; /* enum kind */
	char letter;
	bool left, has_width;
	uint32_t width; /* of a literal: its bytes */
	uint32_t from;  /* of a literal: where in the text of the format */
};

struct own_format {
	struct piece *pieces; /* owned */
	size_t nr;
	char *text; /* owned: the literals, one behind the other */
	size_t text_len;
	size_t room;     /* of a line without payload */
	size_t nr_dumps; /* %P */
};

/* What a piece is printed from. */
struct line {
	const struct record *r;
	const struct line_extra *extra;
	enum classic classic;
};

static struct piece *add_piece(struct own_format *f, enum kind kind)
{
	f->pieces = mem_grow(f->pieces, f->nr, sizeof(*f->pieces));
	f->pieces[f->nr] = (struct piece){ .kind = (uint8_t)kind };
	return &f->pieces[f->nr++];
}

static void add_literal(struct own_format *f, char c)
{
	struct piece *last = f->nr ? &f->pieces[f->nr - 1] : NULL;

	if (!last || last->kind != KIND_LITERAL) {
		last = add_piece(f, KIND_LITERAL);
		last->from = (uint32_t)f->text_len;
	}
	f->text[f->text_len++] = c;
	last->width++;
	f->room++;
}

/* Behind the percent sign; returns what follows the field. A width without a letter is no field. */
static const char *add_field(struct own_format *f, const char *p)
{
	struct piece piece = { 0 }, *added;

	if (*p == '%' || !*p) {
		add_literal(f, '%');
		return *p ? p + 1 : p;
	}
	if (*p == '-') {
		piece.left = true;
		p++;
	}
	for (; isdigit((unsigned char)*p); p++) {
		piece.has_width = true;
		if (piece.width <= LINE_MOST)
			piece.width = piece.width * 10 + (uint32_t)(*p - '0');
	}
	if (!*p)
		return p;
	piece.letter = *p;
	piece.kind = kinds[(unsigned char)*p];
	added = add_piece(f, piece.kind);
	*added = piece;
	f->nr_dumps += piece.kind == KIND_DUMP;
	f->room += piece.width > FIELD_ROOM ? piece.width : FIELD_ROOM;
	return p + 1;
}

/* The classic finds a wrong escape only when it prints it, amid a line. */
static int add_escape(struct own_format *f, char c, struct error *err)
{
	switch (c) {
	case 'b':
		add_literal(f, '\b');
		return 0;
	case 'n':
		add_literal(f, '\n');
		return 0;
	case 'r':
		add_literal(f, '\r');
		return 0;
	case 't':
		add_literal(f, '\t');
		return 0;
	default:
		return error_set(err, "Invalid escape char in format %c", c);
	}
}

static void own_format_free(struct own_format *f)
{
	if (!f)
		return;
	free(f->pieces);
	free(f->text);
	free(f);
}

static int compile(struct own_format *f, const char *p, struct error *err)
{
	while (*p && f->room <= LINE_MOST) {
		if (*p == '%') {
			p = add_field(f, p + 1);
		} else if (*p == '\\') {
			if (add_escape(f, p[1], err) < 0)
				return -1;
			p += 2;
		} else {
			add_literal(f, *p++);
		}
	}
	if (f->room > LINE_MOST)
		return error_set(err, "Format makes lines of more than %u bytes", LINE_MOST);
	return 0;
}

static int set_format(struct own_formats *formats, char letter, const char *fmt, struct error *err)
{
	struct own_format **slot = &formats->of[(unsigned char)letter];
	struct own_format *f = mem_zalloc(sizeof(*f));

	f->text = mem_zalloc(strlen(fmt) + 1); /* no literal is longer than how it is written */
	if (compile(f, fmt, err) < 0) {
		own_format_free(f);
		return -1;
	}
	own_format_free(*slot);
	*slot = f;
	return 0;
}

int own_formats_add_all(struct own_formats *formats, const char *fmt, struct error *err)
{
	for (const char *letter = LETTERS; *letter; letter++)
		if (!formats->of[(unsigned char)*letter] &&
		    set_format(formats, *letter, fmt, err) < 0)
			return -1;
	return 0;
}

int own_formats_add(struct own_formats *formats, const char *spec, struct error *err)
{
	if (*spec && !strchr(LETTERS, *spec))
		return error_set(err, "Bad format specifier %c", *spec);
	if (!*spec || spec[1] != ',')
		return error_set(err, "Bad format specifier - need ',' %s", spec);
	return set_format(formats, *spec, spec + 2, err);
}

void own_formats_release(struct own_formats *formats)
{
	for (size_t i = 0; i < sizeof(formats->of) / sizeof(formats->of[0]); i++)
		own_format_free(formats->of[i]);
	*formats = (struct own_formats){ 0 };
}

/* How much of the payload each %P shows: all of it where there is one %P, and where there are more,
 * what fits in a buffer. */
static size_t dumped(const struct own_format *f, const struct record *r)
{
	size_t most = ((OUT_BYTES - LINE_MOST) / f->nr_dumps - HEXDUMP_ROOM(0)) / 3;

	return r->h.pdu_len < most ? r->h.pdu_len : most;
}

size_t own_format_room(const struct own_format *f, const struct record *r)
{
	return f->room + (f->nr_dumps ? f->nr_dumps * HEXDUMP_ROOM(dumped(f, r)) : 0);
}

static char *fill(char *p, size_t n)
{
	memset(p, ' ', n);
	return p + n;
}

static char *put_text(char *p, const struct piece *piece, const char *text, size_t len)
{
	size_t blanks = piece->width > len ? piece->width - len : 0;

	if (!piece->left)
		p = fill(p, blanks);
	memcpy(p, text, len);
	p += len;
	return piece->left ? fill(p, blanks) : p;
}

/* As "%d": what is negative has wrapped. */
static char *put_signed(char *p, const struct piece *piece, int32_t v)
{
	char text[12], *end = text;
	uint64_t size = v < 0 ? (uint64_t) - (int64_t)v : (uint64_t)v;

	if (v < 0)
		*end++ = '-';
	end = digits(end, size);
	return put_text(p, piece, text, (size_t)(end - text));
}

static char *put_unsigned(char *p, const struct piece *piece, uint64_t v)
{
	char *start = p;

	if (!piece->left)
		return digits_right(p, v, piece->width);
	p = digits(p, v);
	return (size_t)(p - start) < piece->width ? fill(p, piece->width - (size_t)(p - start)) : p;
}

/* Low half of a big-endian number of 8 bytes. */
static uint32_t payload_number(const struct record *r)
{
	return r->h.pdu_len >= 8 ? bytes_be32(r->pdu + 4) : 0;
}

static char *put_number(char *p, const struct piece *piece, const struct record *r)
{
	const struct blktrace_header *h = &r->h;

	switch (piece->letter) {
	case 'c':
		return put_signed(p, piece, (int32_t)h->cpu);
	case 'M':
		return put_unsigned(p, piece, DEVICE_MAJOR(h->device));
	case 'm':
		return put_unsigned(p, piece, DEVICE_MINOR(h->device));
	case 'n':
		return put_unsigned(p, piece, h->bytes >> 9);
	case 'N':
		return put_unsigned(p, piece, h->bytes);
	case 'p':
		return put_unsigned(p, piece, h->pid);
	case 's':
		return put_unsigned(p, piece, h->sequence);
	case 'S':
		return put_unsigned(p, piece, h->sector);
	case 'T': /* an int to the classic */
		return put_signed(p, piece, (int32_t)(h->time_ns / NS_PER_S));
	default: /* U */
		return put_unsigned(p, piece, payload_number(r));
	}
}

/* "22:13:20.123456". Without a timestamp note the trace begins with the epoch. */
static size_t clock_text(const struct line *line, char text[FIELD_ROOM])
{
	uint64_t ns = line->extra->wall_ns % NS_PER_S + line->r->h.time_ns % NS_PER_S;
	time_t s = (time_t)(line->extra->wall_ns / NS_PER_S + line->r->h.time_ns / NS_PER_S +
			    ns / NS_PER_S);
	struct tm tm = { 0 };
	char *p = text;

	localtime_r(&s, &tm);
	p = digits_fixed(p, (uint64_t)tm.tm_hour, 2);
	*p++ = ':';
	p = digits_fixed(p, (uint64_t)tm.tm_min, 2);
	*p++ = ':';
	p = digits_fixed(p, (uint64_t)tm.tm_sec, 2);
	*p++ = '.';
	p = digits_fixed(p, ns % NS_PER_S / 1000, 6);
	return (size_t)(p - text);
}

static char *put_string(char *p, const struct piece *piece, const char *text)
{
	return put_text(p, piece, text, strnlen(text, FIELD_ROOM));
}

static char *put_cgroup(char *p, const struct piece *piece, const struct line *line)
{
	char text[FIELD_ROOM];

	if (line->classic == CLASSIC_1_2) /* knows no such field */
		return put_text(p, piece, &piece->letter, 1);
	snprintf(text, sizeof(text), "%x,%x", line->extra->cgroup_ino, line->extra->cgroup_gen);
	return put_string(p, piece, text);
}

/* Those that are text, or may be. */
static char *put_text_field(char *p, const struct piece *piece, const struct line *line)
{
	const struct line_extra *extra = line->extra;
	char text[FIELD_ROOM];

	switch (piece->letter) {
	case 'a':
		return put_string(p, piece, extra->action);
	case 'C':
		return put_string(p, piece, extra->comm ? extra->comm : "(null)");
	case 'd':
		return put_text(p, piece, text, record_rwbs(line->r, line->classic, text));
	case 'e':
		return extra->error ? put_string(p, piece, extra->error)
				    : put_unsigned(p, piece, line->r->h.error);
	case 'g':
		return put_cgroup(p, piece, line);
	case 'u':
		return extra->elapsed_ns == ELAPSED_NONE
			       ? put_text(p, piece, "", 0)
			       : put_unsigned(p, piece, extra->elapsed_ns / 1000);
	default: /* z */
		return put_text(p, piece, text, clock_text(line, text));
	}
}

/* "%3d,%-3d" whatever the width. */
static char *put_device(char *p, uint32_t device)
{
	static const struct piece minor = { .left = true, .width = 3 };

	p = digits_right(p, DEVICE_MAJOR(device), 3);
	*p++ = ',';
	return put_unsigned(p, &minor, DEVICE_MINOR(device));
}

static char *put_nanoseconds(char *p, const struct piece *piece, uint64_t ns)
{
	uint32_t width = piece->has_width ? piece->width : 9;
	unsigned int n = digits_count(ns);

	return digits_fixed(p, ns, n > width ? n : width);
}

static char *put_piece(char *p, const struct own_format *f, const struct piece *piece,
		       const struct line *line)
{
	switch ((enum kind)piece->kind) {
	case KIND_CHAR:
		return put_text(p, piece, &piece->letter, 1);
	case KIND_LITERAL:
		memcpy(p, f->text + piece->from, piece->width);
		return p + piece->width;
	case KIND_NUMBER:
		return put_number(p, piece, line->r);
	case KIND_TEXT:
		return put_text_field(p, piece, line);
	case KIND_DEVICE:
		return put_device(p, line->r->h.device);
	case KIND_NANOSECONDS:
		return put_nanoseconds(p, piece, line->r->h.time_ns % NS_PER_S);
	case KIND_DUMP:
		if (line->extra->payload)
			p += hexdump(line->r->pdu, dumped(f, line->r), p);
		return p;
	}
	return p;
}

size_t own_format_print(const struct own_format *f, const struct record *r,
			const struct line_extra *extra, enum classic classic, char *out)
{
	const struct line line = { .r = r, .extra = extra, .classic = classic };
	char *p = out;

	for (size_t i = 0; i < f->nr; i++)
		p = put_piece(p, f, &f->pieces[i], &line);
	return (size_t)(p - out);
}
