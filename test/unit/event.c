/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "trace/event.h"

#define W EV_WRITE

static void texts(void **state)
{
	static const struct {
		const char *rwbs;
		uint8_t action;
		uint64_t sector;
		uint32_t sectors, bytes;
		uint8_t class;
		uint32_t flags;
	} cases[] = {
		{ "R", ACT_QUEUE, 8, 8, 4096, CLASS_READ, 0 },
		{ "RA", ACT_QUEUE, 8, 8, 4096, CLASS_READ, EV_AHEAD },
		{ "RSM", ACT_QUEUE, 8, 8, 4096, CLASS_READ, EV_SYNC | EV_META },
		{ "W", ACT_QUEUE, 8, 8, 4096, CLASS_WRITE, W },
		{ "WFS", ACT_QUEUE, 8, 8, 4096, CLASS_WRITE, W | EV_FUA | EV_SYNC },
		{ "WSU", ACT_QUEUE, 8, 8, 4096, CLASS_WRITE, W | EV_SYNC | EV_ATOMIC },
		{ "FWFSM", ACT_QUEUE, 8, 8, 4096, CLASS_WRITE,
		  W | EV_PREFLUSH | EV_FUA | EV_SYNC | EV_META },
		{ "FWS", ACT_QUEUE, 0, 0, 0, CLASS_FLUSH, W | EV_PREFLUSH | EV_SYNC },
		{ "FF", ACT_ISSUE, 0, 0, 0, CLASS_FLUSH, W | EV_PREFLUSH },
		{ "FFS", ACT_ISSUE, 0, 0, 0, CLASS_FLUSH, W | EV_PREFLUSH | EV_SYNC },
		{ "F", ACT_ISSUE, 0, 0, 0, CLASS_FLUSH, W },
		{ "FS", ACT_ISSUE, 0, 0, 0, CLASS_FLUSH, W | EV_SYNC },
		{ "FN", ACT_ISSUE, 0, 0, 0, CLASS_FLUSH, EV_PREFLUSH },
		{ "D", ACT_QUEUE, 8, 8, 4096, CLASS_DISCARD, W },
		{ "DS", ACT_QUEUE, 8, 8, 4096, CLASS_DISCARD, W | EV_SYNC },
		{ "DE", ACT_QUEUE, 8, 8, 4096, CLASS_DISCARD, W | EV_SECURE },
		{ "N", ACT_ISSUE, 0, 0, 4096, CLASS_PASSTHROUGH, 0 },
		{ "N", ACT_ISSUE, 0, 0, 0, CLASS_PASSTHROUGH, 0 },
		{ "N", ACT_COMPLETE, SECTOR_NONE, 8, 4096, CLASS_PASSTHROUGH, 0 },
		{ "NS", ACT_ISSUE, 8, 8, 4096, CLASS_WRITE_ZEROES, W | EV_SYNC },
		{ "NS", ACT_ISSUE, 524288, 0, 0, CLASS_ZONE, EV_SYNC },
		{ "NS", ACT_QUEUE, 0, 0, 0, CLASS_ZONE, EV_SYNC },
		{ "WZ", ACT_QUEUE, 8, 8, 4096, CLASS_WRITE_ZEROES, W },
		{ "WZFS", ACT_QUEUE, 8, 8, 4096, CLASS_WRITE_ZEROES, W | EV_FUA | EV_SYNC },
		{ "ZA", ACT_QUEUE, 8, 8, 4096, CLASS_WRITE, W | EV_ZONE_APPEND },
		{ "ZAS", ACT_QUEUE, 8, 8, 4096, CLASS_WRITE, W | EV_ZONE_APPEND | EV_SYNC },
		{ "ZR", ACT_QUEUE, 8, 0, 0, CLASS_ZONE, W },
		{ "ZRAS", ACT_QUEUE, 8, 0, 0, CLASS_ZONE, W | EV_SYNC },
		{ "ZF", ACT_QUEUE, 8, 0, 0, CLASS_ZONE, W },
		{ "Z", ACT_QUEUE, 8, 0, 0, CLASS_ZONE, W },
		{ "", ACT_QUEUE, 8, 8, 4096, CLASS_OTHER, 0 },
		{ "?", ACT_QUEUE, 8, 8, 4096, CLASS_OTHER, 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct event ev = { .action = cases[i].action,
				    .sector = cases[i].sector,
				    .bytes = cases[i].bytes };
		size_t len = strlen(cases[i].rwbs);

		event_set_rwbs(&ev, cases[i].rwbs, len, cases[i].sectors);
		if (ev.class != cases[i].class || ev.flags != cases[i].flags)
			fail_msg("%s (case %zu): %s, flags %x, not %s, %x", cases[i].rwbs, i,
				 class_name(ev.class), ev.flags, class_name(cases[i].class),
				 cases[i].flags);
		/* A NUL inside the length ends it as well. */
		ev.flags = 0;
		event_set_rwbs(&ev, cases[i].rwbs, len + 1, cases[i].sectors);
		assert_int_equal(ev.flags, cases[i].flags);
	}
}

static void names(void **state)
{
	for (int i = -1; i <= ACT_NR; i++)
		assert_non_null(action_letter((enum action)i));
	for (int i = -1; i <= CLASS_NR; i++)
		assert_non_null(class_name((enum io_class)i));
	assert_string_equal(action_letter(ACT_UNPLUG_TIMER), "UT");
	assert_string_equal(action_letter(ACT_UNKNOWN), "?");
	assert_string_equal(class_name(CLASS_WRITE_ZEROES), "write_zeroes");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts),
		cmocka_unit_test(names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
