/* SPDX-License-Identifier: MIT */
#include "cm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "read/text/text_lines.h"

/* Every line of the text, each followed by "|"; owned. */
static char *cleaned(const char *text, size_t len)
{
	struct text_lines lines;
	struct text_line line;
	struct error err = { 0 };
	struct input in;
	size_t at = 0;
	char *all = mem_strdup("");

	input_memory(&in, "text", text, len);
	assert_int_equal(text_lines_init(&lines, &in.blobs[0], &err), 0);
	while (text_lines_next(&lines, &line)) {
		assert_int_equal(strlen(line.s), line.len);
		all = mem_resize(all, at + line.len + 2, 1);
		at += (size_t)sprintf(all + at, "%s|", line.s);
	}
	text_lines_release(&lines);
	input_release(&in);
	return all;
}

static void expect(const char *text, const char *want)
{
	char *got = cleaned(text, strlen(text));

	assert_string_equal(got, want);
	free(got);
}

static void line_ends(void **state)
{
	expect("", "");
	expect("one", "one|");
	expect("one\n", "one|");
	expect("one\r\ntwo\r\n", "one|two|");
	expect("one \t\n\n two\n", "one|| two|");
	expect("\xef\xbb\xbfone\n", "one|");
}

static void quotes(void **state)
{
	expect("> one\n>> two\n> > three\n>four\n > five\nsix\n", "one|two|three|four|five|six|");
	expect(">\n> \n", "||");
	expect(">   indented\n", "  indented|"); /* one blank belongs to the mark */
	expect("a <- (8,1) 3\nb > c\n", "a <- (8,1) 3|b > c|");
}

static void interrupts_and_web_pages(void **state)
{
	expect("^C259,0 1\n\x03"
	       "8,0 2\n",
	       "259,0 1|8,0 2|");
	expect("a &lt;- (8,1) 3 &amp; more\n", "a <- (8,1) 3 & more|");
	expect("a\xc2\xa0\xc2\xa0"
	       "b\n",
	       "a  b|");
}

static void numbers(void **state)
{
	expect("     1\tone\n     2\ttwo\n     3\tthree\n", "one|two|three|");
	expect("1:one\n2:two\n", "one|two|");
	expect("7 one\n8 two\n9 three\n", "one|two|three|");
	expect("1 one\n\n2 two\n", "one||two|");
	expect("> 1: one\n> 2: two\n", " one| two|");
	/* no numbers of lines */
	expect("1 one\n3 three\n", "1 one|3 three|");
	expect("0.000001 dd\n1.000002 dd\n", "0.000001 dd|1.000002 dd|");
	expect("259 0 nvme0n1 1\n259 1 nvme1n1 2\n", "259 0 nvme0n1 1|259 1 nvme1n1 2|");
	expect("  8,0 1\n  9,0 2\n", "  8,0 1|  9,0 2|");
}

static void quoted_printable(void **state)
{
	expect("latency=3D5us\n", "latency=5us|");
	expect("a long line that goes =\non here\n", "a long line that goes on here|");
	expect("[kworker/9:1H=\r\n]=0A=\r\nnext=0A=\r\n", "[kworker/9:1H]|next|");
	expect("> one=3D1 =\n> and more\n", "one=1 and more|");
	/* a mail in a mail */
	expect("latency=3D3D5us=\n and\nx=3D0A=3D\ny=3D3D1\n", "latency=5us and|x|y=1|");
	/* dd's arguments are no quoted-printable, nor is a lone "=" */
	expect("dd if=/dev/zero of=file bs=1M\na =20 b=c\n",
	       "dd if=/dev/zero of=file bs=1M|a =20 b=c|");
	/* numbers in the mail that was encoded */
	expect("1 a=3D1 =\nb\n2 c=3D2\n3 d\n", "a=1 b|c=2|d|");
}

static void long_lines(void **state)
{
	size_t len = 3u << 20;
	char *text = mem_resize(NULL, len, 1);
	struct text_lines lines;
	struct text_line line;
	struct error err = { 0 };
	struct input in;

	memset(text, 'x', len);
	memcpy(text + len - 5, "\nend\n", 5);
	input_memory(&in, "text", text, len);
	assert_int_equal(text_lines_init(&lines, &in.blobs[0], &err), 0);
	assert_true(text_lines_next(&lines, &line));
	assert_in_range(line.len, TEXT_LINE_MAX / 2, TEXT_LINE_MAX + (512u << 10));
	assert_true(text_lines_next(&lines, &line));
	assert_string_equal(line.s, "end");
	assert_int_equal(line.nr, 2);
	assert_false(text_lines_next(&lines, &line));
	assert_int_equal(lines.cut_lines, 1);
	text_lines_release(&lines);
	input_release(&in);
	free(text);
}

/* The first 64 KiB decide; lines across every buffer's end come out whole. */
static void many_lines(void **state)
{
	size_t nr = 16000, at = 0; /* beyond a buffer of 256 KiB */
	char *text = mem_resize(NULL, nr * 24, 1), *got, *p;

	for (size_t i = 0; i < nr; i++)
		at += (size_t)sprintf(text + at, "> line %zu =3D x=\n> y\n", i);
	got = cleaned(text, at);
	p = got;
	for (size_t i = 0; i < nr; i += 1) {
		char want[32];
		int len = sprintf(want, "line %zu = xy|", i);

		assert_memory_equal(p, want, (size_t)len);
		p += len;
	}
	assert_string_equal(p, "");
	free(got);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(line_ends),
		cmocka_unit_test(quotes),
		cmocka_unit_test(interrupts_and_web_pages),
		cmocka_unit_test(numbers),
		cmocka_unit_test(quoted_printable),
		cmocka_unit_test(long_lines),
		cmocka_unit_test(many_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
