/* SPDX-License-Identifier: MIT */
#include "cm.h"

#include <stdlib.h>
#include <string.h>

#include "read/text/text_order.h"

struct taken {
	uint64_t nr, last_ns, backwards;
};

static void take_all(struct text_order *o, struct taken *t)
{
	struct event events[100];
	int nr;

	while ((nr = text_order_take(o, events, 100)) > 0) {
		for (int i = 0; i < nr; i++) {
			t->backwards += events[i].time_ns < t->last_ns;
			t->last_ns = events[i].time_ns;
			t->nr++;
		}
	}
}

/* Times that stray by less than half a window come out sorted, all of them. */
static void nearly_sorted(void **state)
{
	struct text_order o;
	struct taken t = { 0 };
	uint32_t random = 1;

	text_order_init(&o);
	for (uint64_t i = 0; i < 300000; i++) {
		struct event ev = { .action = ACT_QUEUE };

		random = random * 1664525u + 1013904223u;
		ev.time_ns = i * 10 + random % 100000;
		text_order_add(&o, &ev);
		if (text_order_ready(&o, false))
			take_all(&o, &t);
	}
	while (text_order_ready(&o, true))
		take_all(&o, &t);
	assert_int_equal(t.nr, 300000);
	assert_int_equal(t.backwards, 0);
	text_order_release(&o);
}

/* Equal times keep the order of the lines. */
static void stable(void **state)
{
	struct text_order o;
	struct event events[64];
	static const uint64_t times[] = { 5, 1, 5, 1, 5, 0 };
	static const uint32_t want[] = { 5, 1, 3, 0, 2, 4 };

	text_order_init(&o);
	for (uint32_t i = 0; i < 6; i++) {
		struct event ev = { .action = ACT_QUEUE, .time_ns = times[i], .pid = i };

		text_order_add(&o, &ev);
	}
	assert_int_equal(text_order_ready(&o, false), 0);
	assert_int_equal(text_order_ready(&o, true), 6);
	assert_int_equal(text_order_take(&o, events, 64), 6);
	for (int i = 0; i < 6; i++)
		assert_int_equal(events[i].pid, want[i]);
	assert_int_equal(text_order_ready(&o, true), 0);
	text_order_release(&o);
}

/* A payload is a copy, lent until the next take. */
static void messages(void **state)
{
	struct text_order o;
	struct event out[4];
	char text[TEXT_MESSAGE_MAX + 10] = "first";
	struct event ev = { .action = ACT_MESSAGE,
			    .payload = (const uint8_t *)text,
			    .payload_len = 5 };

	text_order_init(&o);
	text_order_add(&o, &ev);
	memset(text, 'x', sizeof(text));
	ev.payload_len = sizeof(text);
	text_order_add(&o, &ev);
	assert_int_equal(text_order_ready(&o, true), 2);
	assert_int_equal(text_order_take(&o, out, 1), 1);
	assert_memory_equal(out[0].payload, "first", 5);
	assert_int_equal(text_order_take(&o, out, 4), 1);
	assert_int_equal(out[0].payload_len, TEXT_MESSAGE_MAX);
	assert_int_equal(o.cut_messages, 1);
	text_order_release(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nearly_sorted),
		cmocka_unit_test(stable),
		cmocka_unit_test(messages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
