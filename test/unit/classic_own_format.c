/* SPDX-License-Identifier: MIT
 *
 * What is expected here was printed by blkparse 1.2.0 for the same records, where nothing else is said.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "classic/hexdump.h"
#include "classic/out.h"
#include "classic/own_format.h"
#include "cm.h"

static const uint8_t command[] = { 0x12, 0, 0, 0, 0x24, 0 };

static struct record a_read(void)
{
	return (struct record){ .h = { .time_ns = 5876543211,
				       .sector = 1000,
				       .sequence = 7,
				       .bytes = 4096,
				       .pid = 10,
				       .device = DEVICE(8, 0),
				       .number = ACT_QUEUE,
				       .categories = TC_READ | TC_QUEUE | TC_SYNC } };
}

/* The line that -f FMT makes of the record; static memory. */
static const char *line_of(const char *fmt, const struct record *r, const struct line_extra *extra,
			   enum classic classic)
{
	static char text[1000];
	struct own_formats formats = { 0 };
	struct error err = { 0 };
	char *line;
	size_t len, room;

	assert_int_equal(own_formats_add_all(&formats, fmt, &err), 0);
	room = own_format_room(formats.of['Q'], r);
	line = malloc(room); /* so that a sanitizer knows its end */
	len = own_format_print(formats.of['Q'], r, extra, classic, line);
	assert_true(len <= room && len < sizeof(text));
	memcpy(text, line, len);
	text[len] = '\0';
	free(line);
	own_formats_release(&formats);
	return text;
}

#define EXTRA                                                                \
	{                                                                    \
		.action = "Q", .comm = "fio/thread1", .elapsed_ns = 1000999, \
		.wall_ns = UINT64_C(1700000000123456789)                     \
	}

static const char *q(const char *fmt)
{
	struct record r = a_read();
	struct line_extra extra = EXTRA;

	return line_of(fmt, &r, &extra, CLASSIC_1_2);
}

static void every_field(void **state)
{
	(void)state;
	assert_string_equal(q("%a|%c|%C|%d|%D|%e|%M|%m|%n|%N|%p|%P|%s|%S|%t|%T|%u|%z|%g|\\n"),
			    "Q|0|fio/thread1|RS|  8,0  |0|8|0|8|4096|10||7|1000|876543211|5|1000|"
			    "22:13:26.000000|g|\n");
	assert_string_equal(q("%5a|%5c|%5C|%5d|%5D|%5e|%5M|%5m|%5n|%5N|%5p|%5P|%5s|%15S|%5T|%6u|"),
			    "    Q|    0|fio/thread1|   RS|  8,0  |    0|    8|    0|    8| 4096|"
			    "   10||    7|           1000|    5|  1000|");
	assert_string_equal(
		q("%-5a|%-5c|%-15C|%-5d|%-5D|%-5e|%-5n|%-5N|%-5p|%-5s|%-6S|%-5T|%-6u|"),
		"Q    |0    |fio/thread1    |RS   |  8,0  |0    |8    |4096 |10   |7    |1000  |"
		"5    |1000  |");
	assert_string_equal(q("%25z|%-25z|%5g|"),
			    "          22:13:26.000000|22:13:26.000000          |    g|");
	assert_string_equal(q("%D %2c %8s %5T.%9t %5p %2a %3d "),
			    "  8,0    0        7     5.876543211    10  Q  RS ");
}

static void nanoseconds_have_leading_zeros(void **state)
{
	struct record r = a_read();
	struct line_extra extra = EXTRA;

	(void)state;
	r.h.time_ns = 1000000;
	assert_string_equal(line_of("%t|%-t|%3t|%0t|%09t|%12t|%-12t", &r, &extra, CLASSIC_1_2),
			    "001000000|001000000|1000000|1000000|001000000|000001000000|"
			    "000001000000");
	r.h.time_ns = 0;
	assert_string_equal(line_of("%t|%3t|%0t", &r, &extra, CLASSIC_1_2), "000000000|000|0");
}

static void what_is_no_field_prints_itself(void **state)
{
	(void)state;
	assert_string_equal(q("%q|%5q|%-5q|%5%|%-5%|%%|"), "q|    q|q    |    %|%    |%|");
	assert_string_equal(q("%--5a|%+5a|%.5a|% 5a|%05a|%5.3a|"),
			    "-5a|+5a|.5a| 5a|    Q|    .3a|");
	assert_string_equal(q("%ld%lld%*d"), "ldlld*d");
	assert_string_equal(q("a%"), "a%");
	assert_string_equal(q("a%5"), "a");
	assert_string_equal(q("a%-"), "a");
	assert_string_equal(q("\\t\\r\\b\\n"), "\t\r\b\n");
	assert_string_equal(q(""), "");
}

static void extremes(void **state)
{
	struct line_extra extra = EXTRA;
	struct record r = { .h = { .time_ns = UINT64_C(3000000000876543211),
				   .sector = UINT64_MAX,
				   .sequence = UINT32_MAX,
				   .bytes = UINT32_MAX,
				   .pid = UINT32_MAX,
				   .device = UINT32_MAX,
				   .error = 65535,
				   .categories = TC_WRITE } };

	(void)state;
	extra.comm = NULL;
	assert_string_equal(line_of("%s|%S|%n|%N|%p|%e|%D|%M,%m|%T.%t|%z|%9C|%d|", &r, &extra,
				    CLASSIC_1_2),
			    "4294967295|18446744073709551615|8388607|4294967295|4294967295|65535|"
			    "4095,1048575|4095,1048575|-1294967296.876543211|03:33:21.000000|"
			    "   (null)|W|");
	extra.wall_ns = 0; /* no timestamp note */
	r.h.time_ns = 211;
	assert_string_equal(line_of("%z", &r, &extra, CLASSIC_1_2), "00:00:00.000000");
}

static void payloads(void **state)
{
	static const uint8_t nine[] = { 0xff, 0, 0, 1, 0xff, 0xff, 0xff, 0xfe, 1 };
	struct record r = a_read();
	struct line_extra extra = EXTRA;

	(void)state;
	r.pdu = command;
	r.h.pdu_len = sizeof(command);
	assert_string_equal(line_of("%P|%U", &r, &extra, CLASSIC_1_2), "|0"); /* ours: no number */
	extra.payload = true;
	assert_string_equal(line_of("%P|%20P|%-20P", &r, &extra, CLASSIC_1_2),
			    "12 00 00 00 24 00 ..|12 00 00 00 24 00 ..|12 00 00 00 24 00 ..");
	r.pdu = nine;
	r.h.pdu_len = sizeof(nine);
	assert_string_equal(line_of("%U|%12U|%-12U|", &r, &extra, CLASSIC_1_2),
			    "4294967294|  4294967294|4294967294  |");
}

/* The classic ends at the first; --fix; %g is the classic's since 1.3, not run. */
static void where_there_is_no_classic(void **state)
{
	struct record r = a_read();
	struct line_extra extra = EXTRA;

	(void)state;
	extra.elapsed_ns = ELAPSED_NONE;
	extra.error = "EIO";
	extra.cgroup_ino = 0x1a2b;
	extra.cgroup_gen = 1;
	assert_string_equal(line_of("%u|%8u|%-8u|%e|%5e|", &r, &extra, CLASSIC_1_2),
			    "|        |        |EIO|  EIO|");
	assert_string_equal(line_of("%g|%8g|%-8g|", &r, &extra, CLASSIC_1_3),
			    "1a2b,1|  1a2b,1|1a2b,1  |");
}

static void refused(const char *spec, bool one, const char *text)
{
	struct own_formats formats = { 0 };
	struct error err = { 0 };

	assert_int_equal(one ? own_formats_add(&formats, spec, &err)
			     : own_formats_add_all(&formats, spec, &err),
			 -1);
	assert_string_equal(err.text, text);
	own_formats_release(&formats);
}

static void errors(void **state)
{
	char *many = malloc(40001);

	(void)state;
	refused("q,x", true, "Bad format specifier q");
	refused("E,x", true, "Bad format specifier E");
	refused("x", true, "Bad format specifier x");
	refused("", true, "Bad format specifier - need ',' ");
	refused("Q", true, "Bad format specifier - need ',' Q");
	refused("QQ,x", true, "Bad format specifier - need ',' QQ,x");
	refused("Q,a\\x", true, "Invalid escape char in format x");
	refused("a\\\\n", false, "Invalid escape char in format \\");
	refused("%40000a", false, "Format makes lines of more than 32768 bytes");
	refused("%99999999999999999999a", false, "Format makes lines of more than 32768 bytes");
	memset(many, 'x', 40000);
	many[40000] = '\0';
	refused(many, false, "Format makes lines of more than 32768 bytes");
	free(many);
}

static const char *in_letter(const struct own_formats *formats, char letter)
{
	static char text[100];
	struct record r = a_read();
	struct line_extra extra = EXTRA;
	const struct own_format *f = formats->of[(unsigned char)letter];

	if (!f)
		return NULL;
	text[own_format_print(f, &r, &extra, CLASSIC_1_2, text)] = '\0';
	return text;
}

static void the_last_of_a_letter_and_the_first_of_all(void **state)
{
	struct own_formats formats = { 0 };
	struct error err = { 0 };

	(void)state;
	assert_int_equal(own_formats_add(&formats, "Q,Q1", &err), 0);
	assert_int_equal(own_formats_add_all(&formats, "all", &err), 0);
	assert_int_equal(own_formats_add_all(&formats, "second\\x", &err), 0); /* never used */
	assert_int_equal(own_formats_add(&formats, "G,G", &err), 0);
	assert_int_equal(own_formats_add(&formats, "Q,Q2,%a", &err), 0);
	assert_string_equal(in_letter(&formats, 'Q'), "Q2,Q");
	assert_string_equal(in_letter(&formats, 'G'), "G");
	assert_string_equal(in_letter(&formats, 'X'), "all");
	assert_null(in_letter(&formats, 'm'));
	assert_null(in_letter(&formats, 'Z'));
	own_formats_release(&formats);
	own_formats_release(&formats);
	assert_null(formats.of['Q']);
}

/* Whatever the format and the payload: a line fits in a buffer of out.h. */
static void the_longest_line_has_room(void **state)
{
	static const char *const fmts[] = { "%P", "%P %P", "%P%P%P%P%P%P%P%P %32000a" };
	struct record r = a_read();
	struct line_extra extra = EXTRA;
	uint8_t *pdu = malloc(65535);

	(void)state;
	memset(pdu, 0xee, 65535);
	r.pdu = pdu;
	r.h.pdu_len = 65535;
	extra.payload = true;
	for (size_t i = 0; i < sizeof(fmts) / sizeof(fmts[0]); i++) {
		struct own_formats formats = { 0 };
		struct error err = { 0 };
		size_t room, len;
		char *line;

		assert_int_equal(own_formats_add_all(&formats, fmts[i], &err), 0);
		room = own_format_room(formats.of['Q'], &r);
		assert_true(room <= OUT_BYTES);
		line = malloc(room);
		len = own_format_print(formats.of['Q'], &r, &extra, CLASSIC_1_2, line);
		assert_true(len <= room);
		if (!i)
			assert_int_equal(len, 3 * 65535 - 1);
		free(line);
		own_formats_release(&formats);
	}
	free(pdu);
}

static const char *dump(const void *bytes, size_t len)
{
	static char text[200];

	text[hexdump(bytes, len, text)] = '\0';
	return text;
}

static void dumps(void **state)
{
	(void)state;
	assert_string_equal(dump("", 0), "");
	assert_string_equal(dump("\0", 1), "00 ..");
	assert_string_equal(dump("\0\0", 2), "00 ..");
	assert_string_equal(dump("\x12\0", 2), "12 00 ..");
	assert_string_equal(dump("\x12\0\1", 3), "12 00 01");
	assert_string_equal(dump("\xff", 1), "ff");
	assert_string_equal(dump("\0\1\0\0\0\2\0", 7), "00 01 00 00 00 02 00 ..");
	assert_string_equal(dump(command, sizeof(command)), "12 00 00 00 24 00 ..");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_field),
		cmocka_unit_test(nanoseconds_have_leading_zeros),
		cmocka_unit_test(what_is_no_field_prints_itself),
		cmocka_unit_test(extremes),
		cmocka_unit_test(payloads),
		cmocka_unit_test(where_there_is_no_classic),
		cmocka_unit_test(errors),
		cmocka_unit_test(the_last_of_a_letter_and_the_first_of_all),
		cmocka_unit_test(the_longest_line_has_room),
		cmocka_unit_test(dumps),
	};

	setenv("TZ", "UTC", 1);
	tzset();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
