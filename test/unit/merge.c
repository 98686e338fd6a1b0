/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/container.h"
#include "base/mem.h"
#include "cm.h"
#include "trace/source.h"

/* A source of listed times; .pid tells which source, .sequence which of its events. With `lend`, each
 * batch lends a payload from a buffer that the next pull overwrites. */
struct fake {
	struct source self;
	const uint64_t *times;
	int nr, at, per_pull;
	uint32_t pid;
	bool lend;
	uint8_t lent[4];
};

static int fake_pull(struct source *self, struct event *events, int max, struct error *err)
{
	struct fake *f = container_of(self, struct fake, self);
	int n = 0;

	(void)err;
	memset(f->lent, f->at, sizeof(f->lent));
	while (n < max && n < f->per_pull && f->at < f->nr) {
		events[n] = (struct event){ .time_ns = f->times[f->at],
					    .pid = f->pid,
					    .sequence = (uint32_t)f->at + 1 };
		if (f->lend) {
			events[n].payload = f->lent;
			events[n].payload_len = sizeof(f->lent);
			events[n].error = (int16_t)(f->at - n); /* what memset wrote */
		}
		f->at++;
		n++;
	}
	return n;
}

static void fake_release(struct source *self)
{
	free(container_of(self, struct fake, self));
}

static const struct source_ops fake_ops = { .pull = fake_pull, .release = fake_release };

static void add(struct sources *sources, uint32_t pid, const uint64_t *times, int nr, int per_pull,
		bool lend)
{
	struct fake *f = mem_zalloc(sizeof(*f));

	*f = (struct fake){ .self.ops = &fake_ops,
			    .times = times,
			    .nr = nr,
			    .per_pull = per_pull,
			    .pid = pid,
			    .lend = lend };
	sources_add(sources, &f->self);
}

/* "source.event source.event ..." in merged order. */
static char *order(struct sources *sources, int batch)
{
	struct source *merge = merge_new(sources);
	struct event *events = calloc((size_t)batch, sizeof(*events));
	struct error err = { 0 };
	char *text = mem_strdup("");
	int n;

	while ((n = source_pull(merge, events, batch, &err)) > 0) {
		for (int i = 0; i < n; i++) {
			char *more = mem_printf("%s%s%u.%u", text, *text ? " " : "", events[i].pid,
						events[i].sequence);

			if (events[i].payload_len)
				assert_int_equal(events[i].payload[3], (uint8_t)events[i].error);
			free(text);
			text = more;
		}
	}
	assert_int_equal(n, 0);
	source_release(merge);
	free(events);
	return text;
}

static void is(struct sources *sources, const char *want)
{
	char *got = order(sources, 4);

	assert_string_equal(got, want);
	free(got);
}

static void by_time(void **state)
{
	static const uint64_t a[] = { 1, 4, 5 }, b[] = { 2, 3, 9 };
	struct sources sources = { 0 };

	(void)state;
	add(&sources, 1, a, 3, 9, false);
	add(&sources, 2, b, 3, 9, false);
	is(&sources, "1.1 2.1 2.2 1.2 1.3 2.3");
}

/* A source's own order is kept where its time runs backwards. */
static void backwards(void **state)
{
	static const uint64_t a[] = { 5, 2, 7 }, b[] = { 6, 8 };
	struct sources sources = { 0 };

	(void)state;
	add(&sources, 1, a, 3, 9, false);
	add(&sources, 2, b, 2, 9, false);
	is(&sources, "1.1 1.2 2.1 1.3 2.2");
}

/* Equal times: the current one stays current; on priming, one equal to the head goes right behind it
 * and before others of that time; one put back goes before waiting ones of its time. */
static void equal_times(void **state)
{
	static const uint64_t a[] = { 5, 5, 6 }, b[] = { 5, 6 }, c[] = { 5, 6 };
	struct sources sources = { 0 };

	(void)state;
	add(&sources, 1, a, 3, 9, false);
	add(&sources, 2, b, 2, 9, false);
	add(&sources, 3, c, 2, 9, false);
	/* primed 1,3,2; 1 takes both of its 5s; 3 then 2; 6 put back: 1, then 3 before it, ... */
	is(&sources, "1.1 1.2 3.1 2.1 2.2 3.2 1.3");
}

static void nothing_and_empty(void **state)
{
	static const uint64_t a[] = { 1 };
	struct sources sources = { 0 };

	(void)state;
	is(&sources, "");
	add(&sources, 1, a, 0, 9, false);
	add(&sources, 2, a, 1, 9, false);
	is(&sources, "2.1");
}

/* Any split of a sorted trace without equal times merges back, whatever the batches, and what was lent
 * stays whole until the next pull. */
static void any_split_merges_back(void **state)
{
	enum { N = 600, SOURCES = 5 };
	uint64_t times[SOURCES][N], seed = 7;

	(void)state;
	for (int round = 0; round < 50; round++) {
		int nr[SOURCES] = { 0 };
		struct sources sources = { 0 };
		struct source *merge;
		struct event events[64];
		struct error err = { 0 };
		uint64_t next = 0;
		int n;

		for (uint64_t time = 0; time < N; time++) {
			seed = seed * 6364136223846793005u + 1442695040888963407u;
			int to = (int)(seed >> 40) % SOURCES;

			times[to][nr[to]++] = time;
		}
		for (uint32_t i = 0; i < SOURCES; i++)
			add(&sources, i, times[i], nr[i], round % 7 + 1, round & 1);
		merge = merge_new(&sources);
		while ((n = source_pull(merge, events, round % 64 + 1, &err)) > 0)
			for (int i = 0; i < n; i++) {
				assert_int_equal(events[i].time_ns, next++);
				if (events[i].payload_len)
					assert_int_equal(events[i].payload[0],
							 (uint8_t)events[i].error);
			}
		assert_int_equal(next, N);
		assert_int_equal(merge->stats.events, N);
		source_release(merge);
	}
}

/* What its parts lost is the merge's own loss at the end: reports look nowhere else. */
static void losses_are_summed_up(void **state)
{
	static const uint64_t times[] = { 1, 2, 3 };
	struct sources sources = { 0 };
	struct event events[2];
	struct error err = { 0 };
	struct source *merge;

	for (uint32_t i = 0; i < 3; i++) {
		add(&sources, i, times, i < 2 ? 3 : 0, 2, false);
		sources.list[i]->stats = (struct source_stats){ .bytes = 100,
								.lost = 1,
								.sequence_gaps = 2,
								.damaged_bytes = 3,
								.damages = 4 };
	}
	merge = merge_new(&sources);
	while (source_pull(merge, events, 2, &err) > 0)
		;
	assert_int_equal(merge->stats.events, 6);
	assert_int_equal(merge->stats.bytes, 300);
	assert_int_equal(merge->stats.lost, 3);
	assert_int_equal(merge->stats.sequence_gaps, 6);
	assert_int_equal(merge->stats.damaged_bytes, 9);
	assert_int_equal(merge->stats.damages, 12);
	source_release(merge);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_time),
		cmocka_unit_test(backwards),
		cmocka_unit_test(equal_times),
		cmocka_unit_test(nothing_and_empty),
		cmocka_unit_test(any_split_merges_back),
		cmocka_unit_test(losses_are_summed_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
