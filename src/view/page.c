// SPDX-License-Identifier: MIT
/* Lines of the text page. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "view/tree.h"

#define PAGE_WIDTH  80
#define PAGE_INDENT 11

void page_paint(const struct page *page, enum paint paint)
{
	static const char *const codes[] = {
		[PAINT_NONE] = "0",   [PAINT_HEAD] = "1",  [PAINT_GOOD] = "32",
		[PAINT_BAD] = "1;31", [PAINT_WARN] = "33",
	};

	if (page->look->colour)
		fprintf(page->out, "\033[%sm", codes[paint]);
}

/* Columns that UTF-8 text takes (every character one). */
static int columns(const char *text, size_t len)
{
	int nr = 0;

	for (size_t i = 0; i < len; i++)
		nr += ((unsigned char)text[i] & 0xc0) != 0x80;
	return nr;
}

/* Length of the next piece that may not be broken: a word, and with a number what it counts. */
static size_t piece(const char *text)
{
	size_t len = strcspn(text, " ");

	while (len && text[len - 1] >= '0' && text[len - 1] <= '9' && text[len] == ' ')
		len += 1 + strcspn(text + len + 1, " ");
	return len;
}

static void wrap(FILE *out, const char *text)
{
	int at = PAGE_INDENT;

	while (*text) {
		size_t len = piece(text);
		int width = columns(text, len);

		if (at > PAGE_INDENT && at + 1 + width > PAGE_WIDTH) {
			fprintf(out, "\n%*s", PAGE_INDENT, "");
			at = PAGE_INDENT;
		} else if (at > PAGE_INDENT) {
			fputc(' ', out);
			at++;
		}
		fwrite(text, 1, len, out);
		at += width;
		text += len;
		text += strspn(text, " ");
	}
}

void page_para(const struct page *page, enum paint paint, const char *label, const char *text)
{
	page_paint(page, PAINT_HEAD);
	fprintf(page->out, "%-*s", PAGE_INDENT, label);
	page_paint(page, PAINT_NONE);
	if (paint != PAINT_NONE)
		page_paint(page, paint);
	wrap(page->out, text);
	if (paint != PAINT_NONE)
		page_paint(page, PAINT_NONE);
	fputc('\n', page->out);
}

void page_line(const struct page *page, const char *label, const char *text)
{
	page_paint(page, PAINT_HEAD);
	fprintf(page->out, "%-*s", PAGE_INDENT, label);
	page_paint(page, PAINT_NONE);
	fprintf(page->out, "%s\n", text);
}

void page_printf(const struct page *page, const char *label, const char *fmt, ...)
{
	char *text = NULL;
	va_list args;

	va_start(args, fmt);
	if (vasprintf(&text, fmt, args) < 0)
		abort();
	va_end(args);
	page_para(page, PAINT_NONE, label, text);
	free(text);
}
