/* SPDX-License-Identifier: MIT */
#include "read/text/text_lines.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define CHUNK     (256u << 10)
#define LOOK      65536u /* bytes that decide how the text is mangled */
#define LEAST_SEQ 2      /* lines that must be numbered to believe it */

/* ---- physical lines ---- */

/* Web pages paste no-break blanks and entities; both become what was meant. In place. */
static void unweb(char *s, size_t *len)
{
	static const struct {
		const char *from;
		size_t len;
		char to;
	} table[] = {
		{ "\xc2\xa0", 2, ' ' }, { "&lt;", 4, '<' },   { "&gt;", 4, '>' },
		{ "&amp;", 5, '&' },    { "&nbsp;", 6, ' ' }, { "&quot;", 6, '"' },
	};
	size_t out = 0;

	for (size_t i = 0; i < *len; out++) {
		size_t step = 1;

		s[out] = s[i];
		for (size_t k = 0; k < sizeof(table) / sizeof(*table); k++) {
			if (*len - i >= table[k].len &&
			    !memcmp(s + i, table[k].from, table[k].len)) {
				s[out] = table[k].to;
				step = table[k].len;
				break;
			}
		}
		i += step;
	}
	*len = out;
}

static void refill(struct text_lines *l)
{
	size_t left = l->len - l->at, old = left;
	ssize_t r;

	if (l->at)
		memmove(l->buf, l->buf + l->at, left);
	l->at = 0;
	l->len = left;
	if (l->room - left < l->chunk + 1) {
		l->room = 2 * (left + l->chunk) + 1;
		l->buf = mem_resize(l->buf, l->room, 1);
	}
	r = blob_read_some(l->blob, l->buf + left, l->chunk, &l->broken);
	if (r <= 0) {
		l->ended = true;
		return;
	}
	l->len += (size_t)r;
	if ((size_t)r == l->chunk)
		l->chunk = CHUNK; /* there was more than it seemed */
	/* Rare, so looked for in whole chunks; a sequence cut by the chunk's end stays as it is. */
	if (memchr(l->buf + old, '&', (size_t)r) || memchr(l->buf + old, 0xc2, (size_t)r)) {
		size_t fresh = (size_t)r;

		unweb(l->buf + old, &fresh);
		l->len = old + fresh;
	}
}

/* The next line without its end, NUL-terminated in place. */
static bool physical(struct text_lines *l, char **s, size_t *len)
{
	size_t looked = 0;
	char *end;

	for (;;) {
		end = l->len > l->at + looked
			      ? memchr(l->buf + l->at + looked, '\n', l->len - l->at - looked)
			      : NULL;
		if (end || l->ended)
			break;
		looked = l->len - l->at;
		if (looked > TEXT_LINE_MAX) { /* keep its beginning */
			l->cut_lines += l->cut_nr != l->nr + 1;
			l->cut_nr = l->nr + 1;
			looked = TEXT_LINE_MAX / 2;
			l->len = l->at + looked;
		}
		refill(l);
	}
	if (!end && l->at == l->len)
		return false;
	if (!end)
		end = l->buf + l->len; /* there is room for the NUL */
	*s = l->buf + l->at;
	*len = (size_t)(end - *s);
	l->at += *len + (l->at + *len < l->len);
	*end = 0;
	l->nr++;
	return true;
}

/* The length of a line number in front ("12:", "  12\t", "12 "), or 0. */
static size_t number_len(const char *s, size_t len, uint64_t *number)
{
	size_t i = 0, digits = 0;
	uint64_t n = 0;

	while (i < len && (s[i] == ' ' || s[i] == '\t'))
		i++;
	for (; i < len && s[i] >= '0' && s[i] <= '9' && digits < 10; i++, digits++)
		n = n * 10 + (uint64_t)(s[i] - '0');
	if (!digits || (i < len && !strchr(" \t:|.)-", s[i])))
		return 0;
	if (i < len && s[i] == '.' && i + 1 < len && isdigit((unsigned char)s[i + 1]))
		return 0; /* a decimal */
	*number = n;
	return i < len ? i + 1 : i;
}

static void skip(char **s, size_t *len, size_t n)
{
	*s += n;
	*len -= n;
}

/* ">", "> >", " > "; a line that is no quote stays as it is. */
static void unquote(char **s, size_t *len)
{
	size_t i = 0;

	for (;;) {
		size_t at = i;

		while (at < *len && at - i < 4 && ((*s)[at] == ' ' || (*s)[at] == '\t'))
			at++;
		if (at == *len || (*s)[at] != '>' || (at + 2 < *len && !memcmp(*s + at, ">=(", 3)))
			break; /* ">=(ms)" heads a table */
		i = at + 1;
	}
	if (i && i < *len && (*s)[i] == ' ')
		i++;
	skip(s, len, i);
}

static void clean(const struct text_lines *l, int level, char **s, size_t *len)
{
	uint64_t number;

	while (*len && ((*s)[*len - 1] == '\r' || (*s)[*len - 1] == ' ' || (*s)[*len - 1] == '\t'))
		(*s)[--*len] = 0;
	if (l->nr == 1 && *len >= 3 && !memcmp(*s, "\xef\xbb\xbf", 3))
		skip(s, len, 3); /* byte order mark */
	if (*len && (**s == '>' || **s == ' ' || **s == '\t'))
		unquote(s, len);
	if (l->numbered && level == l->number_level) {
		skip(s, len, number_len(*s, *len, &number));
		unquote(s, len);
	}
	if (*len >= 2 && (*s)[0] == '^' && (*s)[1] == 'C')
		skip(s, len, 2);
	else if (*len && **s == 3)
		skip(s, len, 1);
}

/* ---- quoted-printable ---- */

static int hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static void qp_put(struct qp_level *q, char c)
{
	if (q->len == q->room) {
		q->room = q->room ? q->room * 2 : 4096;
		q->text = mem_resize(q->text, q->room, 1);
	}
	q->text[q->len++] = c;
}

/* Appends one line, decoded. */
static void qp_line(struct qp_level *q, const char *s, size_t len)
{
	q->broken = false;
	for (size_t i = 0; i < len; i++) {
		if (s[i] == '=' && i + 1 == len) {
			q->broken = true;
		} else if (s[i] == '=' && i + 2 < len && hex(s[i + 1]) >= 0 && hex(s[i + 2]) >= 0) {
			qp_put(q, (char)(hex(s[i + 1]) << 4 | hex(s[i + 2])));
			i += 2;
		} else {
			qp_put(q, s[i]);
		}
	}
	if (!q->broken)
		qp_put(q, '\n');
}

static bool level_next(struct text_lines *l, int level, char **s, size_t *len);

/* The next line that comes out of a round of quoted-printable. */
static bool qp_next(struct text_lines *l, int level, char **s, size_t *len)
{
	struct qp_level *q = &l->levels[level - 1];
	char *end;

	for (;;) {
		char *in;
		size_t in_len;

		end = q->len > q->at ? memchr(q->text + q->at, '\n', q->len - q->at) : NULL;
		if (end || q->len - q->at > TEXT_LINE_MAX)
			break;
		if (q->at) {
			memmove(q->text, q->text + q->at, q->len - q->at);
			q->len -= q->at;
			q->at = 0;
		}
		if (!level_next(l, level - 1, &in, &in_len))
			break;
		qp_line(q, in, in_len);
	}
	if (!end && q->at == q->len)
		return false;
	if (!end) {
		qp_put(q, 0);
		end = q->text + q->len - 1;
	}
	*s = q->text + q->at;
	*len = (size_t)(end - *s);
	*end = 0;
	q->at += *len + 1;
	return true;
}

static bool level_next(struct text_lines *l, int level, char **s, size_t *len)
{
	if (!(level ? qp_next(l, level, s, len) : physical(l, s, len)))
		return false;
	clean(l, level, s, len);
	return true;
}

bool text_lines_next(struct text_lines *l, struct text_line *line)
{
	char *s;
	size_t len;

	if (!level_next(l, l->nr_levels, &s, &len))
		return false;
	*line = (struct text_line){ .s = s, .len = len, .nr = l->nr };
	return true;
}

/* ---- how is it mangled? ---- */

/* Signs that a line is quoted-printable, and that it is not. */
static void count_signs(const char *s, size_t len, unsigned int *yes, unsigned int *no)
{
	for (size_t i = 0; i < len; i++) {
		if (s[i] != '=')
			continue;
		if (i + 1 == len)
			++*yes;
		else if (i + 2 >= len || hex(s[i + 1]) < 0 || hex(s[i + 2]) < 0)
			++*no;
		else if (!memcmp(s + i + 1, "3D", 2) || !memcmp(s + i + 1, "0A", 2) ||
			 (!memcmp(s + i + 1, "20", 2) && i + 3 == len))
			++*yes;
	}
}

/* Lines over the beginning only; the levels found so far are in force. */
static void look_over(struct text_lines *look, struct blob *head, const uint8_t *bytes, size_t len)
{
	struct text_lines fresh = { .blob = head,
				    .chunk = len + 1,
				    .numbered = look->numbered,
				    .number_level = look->number_level,
				    .nr_levels = look->nr_levels };

	text_lines_release(look);
	*look = fresh;
	head->mem = bytes;
	head->mem_len = len;
	head->mem_at = 0;
}

static bool is_quoted_printable(struct text_lines *look)
{
	unsigned int yes = 0, no = 0;
	struct text_line line;

	while (text_lines_next(look, &line))
		count_signs(line.s, line.len, &yes, &no);
	return yes && yes >= 4 * no;
}

/* Does every line carry the number after the one before (blank lines may have none)? */
static bool is_numbered(struct text_lines *look)
{
	uint64_t last = 0, number;
	unsigned int found = 0, blank = 0;
	struct text_line line;

	while (text_lines_next(look, &line)) {
		size_t n = number_len(line.s, line.len, &number);

		if (!line.len) {
			blank++;
			continue;
		}
		if (!n || (found && number != last + 1 && number != last + 1 + blank))
			return false;
		blank = 0;
		last = number;
		found++;
	}
	return found >= LEAST_SEQ;
}

int text_lines_init(struct text_lines *l, struct blob *blob, struct error *err)
{
	struct blob head = { .fd = -1 };
	struct text_lines look = { 0 };
	const uint8_t *bytes;
	size_t len;

	*l = (struct text_lines){ .blob = blob, .chunk = CHUNK };
	len = blob_head(blob, LOOK, &bytes, err);
	if (!len)
		return err->text[0] ? -1 : 0;
	if (len < LOOK)
		l->chunk = len + 1; /* that is all there is, or a pipe that has no more yet */
	if (len == LOOK) {          /* whole lines only */
		const uint8_t *end = memrchr(bytes, '\n', len);

		len = end ? (size_t)(end - bytes) + 1 : len;
	}
	for (;;) {
		look_over(&look, &head, bytes, len);
		if (!look.numbered && is_numbered(&look)) {
			look.numbered = true;
			look.number_level = look.nr_levels;
		}
		look_over(&look, &head, bytes, len);
		if (look.nr_levels == TEXT_QP_LEVELS || !is_quoted_printable(&look))
			break;
		look.nr_levels++;
	}
	l->numbered = look.numbered;
	l->number_level = look.number_level;
	l->nr_levels = look.nr_levels;
	text_lines_release(&look);
	return 0;
}

void text_lines_release(struct text_lines *l)
{
	free(l->buf);
	for (int i = 0; i < TEXT_QP_LEVELS; i++)
		free(l->levels[i].text);
	*l = (struct text_lines){ 0 };
}
