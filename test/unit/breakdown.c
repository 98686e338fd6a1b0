// SPDX-License-Identifier: MIT
/* Finished I/O in groups: histories whose groups are known. */
#include "track_play.h"

#include "track/breakdown.h"
#include "view/fan.h"

/* Plays a history into a breakdown (and, as the program may, into another sink as well). */
static struct breakdown *group(struct run *run, struct breakdown_options by, const char *text)
{
	struct track_options options = { .from_ns = TIME_NONE, .to_ns = TIME_NONE };
	char *copy = strdup(text), *save = NULL;
	struct breakdown *groups;
	struct fan fan = { 0 };
	struct tracker *t;
	struct sink *sink;

	*run = (struct run){ 0 };
	facts_init(&run->facts);
	names_add(&run->facts.names, 100, 0, "sh", 2);
	names_add(&run->facts.names, 100, 500000, "dd", 2);
	groups = breakdown_new(&by, &run->facts.names);
	fan_add(&fan, breakdown_sink(groups));
	fan_add(&fan, (struct track_sink){ .request = take_io, .arg = run });
	options.out = fan_sink(&fan);
	t = tracker_new(&options, &run->facts, &run->sum);
	sink = tracker_sink(t);
	for (char *line = strtok_r(copy, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		struct event ev = parse(line);

		sink->ops->events(sink, &ev, 1);
	}
	sink->ops->finish(sink);
	tracker_free(t);
	free(copy);
	breakdown_finish(groups);
	return groups;
}

static void end(struct run *run, struct breakdown *groups)
{
	breakdown_free(groups);
	done(run);
}

static struct breakdown_options by(enum breakdown_key key)
{
	return (struct breakdown_options){
		.key = key, .slice_ns = 100000, .from_ns = TIME_NONE, .to_ns = TIME_NONE
	};
}

/* Two writes of 4 KiB, one at a time: 30 and 50 us from Q, 20 and 10 at the device; a read of 8.5 KiB by
 * another thread on another CPU: 400 us, 300 of them at the device; and a discard, 1 MiB, 7 us. */
static const char some[] = "0 Q W 0 + 8 cpu1\n2 G W 0 + 8 cpu1\n10 D W 0 + 8 cpu2\n"
			   "30 C W 0 + 8\n"
			   "100 Q W 8 + 8 cpu1\n101 G W 8 + 8 cpu1\n140 D W 8 + 8 cpu1\n"
			   "150 C W 8 + 8\n"
			   "200 Q R 100 + 17 p7 cpu3\n201 G R 100 + 17 p7 cpu3\n"
			   "300 D R 100 + 17 p7 cpu3\n600 C R 100 + 17\n"
			   "700 Q D 4096 + 2048 cpu1\n701 G D 4096 + 2048\n703 D D 4096 + 2048\n"
			   "707 C D 4096 + 2048\n";

static const struct breakdown_row *row_at(const struct breakdown *groups, size_t i, uint64_t key)
{
	const struct breakdown_row *row = breakdown_row(groups, i);

	assert_int_equal(row->kind, ROW_TOLD);
	assert_int_equal(row->key, key);
	return row;
}

static void assert_phase(const struct breakdown_row *row, enum phase phase, uint64_t n,
			 uint64_t min_us, uint64_t max_us)
{
	assert_int_equal(row->latency[phase].n, n);
	if (!n)
		return;
	assert_int_equal(row->latency[phase].min, min_us * 1000);
	assert_int_equal(row->latency[phase].max, max_us * 1000);
}

static void by_class(void **state)
{
	struct run run;
	struct breakdown *groups = group(&run, by(BY_CLASS), some);
	const struct breakdown_row *row;

	assert_int_equal(breakdown_nr(groups), 3);
	row = row_at(groups, 0, CLASS_READ);
	assert_int_equal(row->bios.count, 1);
	assert_int_equal(row->bios.bytes, 17 * 512);
	assert_phase(row, PHASE_BIO_Q2C, 1, 400, 400);
	assert_phase(row, PHASE_D2C, 1, 300, 300);
	row = row_at(groups, 1, CLASS_WRITE);
	assert_int_equal(row->bios.count, 2);
	assert_int_equal(row->requests.count, 2);
	assert_int_equal(row->requests.bytes, 8192);
	assert_phase(row, PHASE_BIO_Q2C, 2, 30, 50);
	assert_phase(row, PHASE_Q2G, 2, 1, 2);
	assert_phase(row, PHASE_G2D, 2, 8, 39);
	assert_phase(row, PHASE_Q2D, 2, 10, 40);
	assert_phase(row, PHASE_D2C, 2, 10, 20);
	assert_phase(row, PHASE_R_Q2C, 2, 30, 50);
	assert_phase(row, PHASE_I2D, 0, 0, 0);
	row = row_at(groups, 2, CLASS_DISCARD);
	assert_int_equal(row->bios.bytes, 0);
	assert_int_equal(row->bios.affected_bytes, 2048 * 512);
	assert_int_equal(run.nr_ios, 4); /* the other sink was told as well */
	end(&run, groups);
}

static void by_size(void **state)
{
	struct run run;
	struct breakdown *groups = group(&run, by(BY_SIZE), some);

	assert_int_equal(breakdown_nr(groups), 3);
	assert_int_equal(row_at(groups, 0, 4096)->bios.count, 2);
	assert_int_equal(row_at(groups, 1, 16384)->bios.count, 1);
	assert_int_equal(row_at(groups, 2, 1u << 20)->requests.count, 1);
	end(&run, groups);
}

/* A bio counts where its Q was, a request where its first D was. */
static void by_cpu(void **state)
{
	struct run run;
	struct breakdown *groups = group(&run, by(BY_CPU), some);
	const struct breakdown_row *row;

	assert_int_equal(breakdown_nr(groups), 4);
	row = row_at(groups, 0, 0);
	assert_int_equal(row->bios.count, 0);
	assert_int_equal(row->requests.count, 1);
	row = row_at(groups, 1, 1);
	assert_int_equal(row->bios.count, 3);
	assert_int_equal(row->requests.count, 1);
	assert_int_equal(row_at(groups, 2, 2)->requests.count, 1);
	assert_int_equal(row_at(groups, 3, 3)->bios.count, 1);
	end(&run, groups);
}

/* By when it was queued, not by when it ended: the read of 200 us ends in the slice from 600. */
static void by_window(void **state)
{
	struct run run;
	struct breakdown *groups = group(&run, by(BY_WINDOW), some);

	assert_int_equal(breakdown_nr(groups), 4);
	assert_phase(row_at(groups, 0, 0), PHASE_BIO_Q2C, 1, 30, 30);
	assert_phase(row_at(groups, 1, 1), PHASE_BIO_Q2C, 1, 50, 50);
	assert_phase(row_at(groups, 2, 2), PHASE_BIO_Q2C, 1, 400, 400);
	assert_phase(row_at(groups, 3, 7), PHASE_D2C, 1, 4, 4);
	end(&run, groups);
}

/* A thread that was called sh and then dd is two; nobody asked for the flush command. Most bytes first. */
static void by_process(void **state)
{
	static const char flush[] = "800 Q FWS 0 + 0\n801 G FWS 0 + 0\n802 D FF 0 + 0 p55\n"
				    "850 C FF 0 + 0\n851 C WS 0 + 0\n";
	char *text = NULL;
	struct run run;
	struct breakdown *groups;

	assert_true(asprintf(&text, "%s%s", some, flush) > 0);
	groups = group(&run, by(BY_PROCESS), text);
	assert_int_equal(breakdown_nr(groups), 4);
	assert_int_equal(row_at(groups, 0, 7)->bios.bytes, 17 * 512);
	assert_string_equal(breakdown_row(groups, 0)->comm, "");
	assert_string_equal(breakdown_row(groups, 1)->comm, "sh");
	assert_int_equal(row_at(groups, 1, 100)->bios.count, 2);
	assert_string_equal(breakdown_row(groups, 2)->comm, "dd");
	assert_int_equal(row_at(groups, 2, 100)->bios.count, 2); /* the discard and the flush */
	assert_int_equal(breakdown_row(groups, 3)->kind, ROW_UNTOLD);
	assert_int_equal(breakdown_row(groups, 3)->requests.count, 1);
	assert_phase(breakdown_row(groups, 3), PHASE_D2C, 0, 0, 0);
	end(&run, groups);
	groups = group(&run, by(BY_CLASS), text);
	assert_phase(row_at(groups, 3, CLASS_FLUSH), PHASE_D2C, 1, 48, 48);
	end(&run, groups);
	free(text);
}

/* Levels of a stack are not added up. */
static void stack_is_apart(void **state)
{
	struct run run;
	struct breakdown *groups =
		group(&run, by(BY_DEVICE),
		      "0 Q W 0 + 8 upper\n1 A W 64 + 8 < 0\n2 Q W 64 + 8\n3 G W 64 + 8\n"
		      "4 D W 64 + 8\n9 C W 64 + 8\n10 BC W 0 + 8 upper\n");

	assert_int_equal(breakdown_nr(groups), 2);
	assert_phase(breakdown_row(groups, 0), PHASE_BIO_Q2C, 1, 10, 10);
	assert_phase(breakdown_row(groups, 1), PHASE_BIO_Q2C, 1, 7, 7);
	assert_int_equal(breakdown_row(groups, 0)->bios.bytes, 4096);
	assert_int_equal(breakdown_row(groups, 1)->bios.bytes, 4096);
	end(&run, groups);
}

/* What cannot be trusted counts, but has no latency; what was issued again has what it lost. */
static void left_out(void **state)
{
	struct run run;
	struct breakdown *groups =
		group(&run, by(BY_CLASS),
		      "0 Q W 0 + 8\n1 G W 0 + 8\n2 D W 0 + 8\n12 R W 0 + 8\n15 D W 0 + 8\n"
		      "40 C W 0 + 8\n");
	const struct breakdown_row *row = row_at(groups, 0, CLASS_WRITE);

	assert_int_equal(row->requests.count, 1);
	assert_phase(row, PHASE_D2C, 0, 0, 0);
	assert_phase(row, PHASE_ATTEMPT_LOST, 1, 10, 10);
	assert_phase(row, PHASE_REQUEUE_WAIT, 1, 3, 3);
	assert_phase(row, PHASE_BIO_Q2C, 1, 40, 40);
	end(&run, groups);
}

/* Only what ended in the window. */
static void asked_window(void **state)
{
	struct breakdown_options options = by(BY_CLASS);
	struct breakdown *groups;
	struct run run;

	options.from_ns = 140000;
	options.to_ns = 600000;
	groups = group(&run, options, some);
	assert_int_equal(breakdown_nr(groups), 2);
	assert_int_equal(row_at(groups, 0, CLASS_READ)->bios.count, 1);
	assert_phase(row_at(groups, 1, CLASS_WRITE), PHASE_BIO_Q2C, 1, 50, 50);
	end(&run, groups);
}

/* More groups than are kept: the rest is one group, and nothing is left out. */
static void many_groups(void **state)
{
	struct breakdown_options options = by(BY_WINDOW);
	struct names names;
	struct breakdown *groups;
	struct track_sink sink;
	uint64_t bios = 0;

	names_init(&names);
	options.slice_ns = 1;
	groups = breakdown_new(&options, &names);
	sink = breakdown_sink(groups);
	for (uint64_t i = 0; i < BREAKDOWN_ROWS + 7; i++) {
		struct io_bio bio = { .remap_ns = TIME_NONE,
				      .queue_ns = i,
				      .get_ns = TIME_NONE,
				      .merge_ns = TIME_NONE,
				      .complete_ns = i + 3 };

		sink.bio(sink.arg, &bio);
	}
	breakdown_finish(groups);
	assert_int_equal(breakdown_nr(groups), BREAKDOWN_ROWS + 1);
	for (size_t i = 0; i < breakdown_nr(groups); i++)
		bios += breakdown_row(groups, i)->bios.count;
	assert_int_equal(bios, BREAKDOWN_ROWS + 7);
	assert_int_equal(breakdown_row(groups, BREAKDOWN_ROWS)->kind, ROW_OTHERS);
	assert_int_equal(breakdown_row(groups, BREAKDOWN_ROWS)->latency[PHASE_BIO_Q2C].n, 7);
	breakdown_free(groups);
	names_release(&names);
}

/* 99 requests of 100 us, half of it at the device, and one of 1 ms: G after 200 us, I at 300, D at 900. The
 * slowest hundredth is that one. */
static void tail(void **state)
{
	struct breakdown_options options = by(BY_DEVICE);
	struct names names;
	struct breakdown *groups;
	struct tail_shares t;
	struct track_sink sink;

	names_init(&names);
	groups = breakdown_new(&options, &names);
	sink = breakdown_sink(groups);
	for (uint64_t i = 0; i < 100; i++) {
		bool slow = i == 50;
		struct io io = { IO_UNSEEN, .attempts = 1, .nr_bios = 1 };

		io.queue_ns = i * 10000000;
		io.get_ns = io.queue_ns + (slow ? 200000 : 0);
		io.insert_ns = io.queue_ns + (slow ? 300000 : 0);
		io.issue_ns = io.last_issue_ns = io.queue_ns + (slow ? 900000 : 50000);
		io.complete_ns = io.end_ns = io.queue_ns + (slow ? 1000000 : 100000);
		if (i == 99)
			assert_false(tail_above(&breakdown_row(groups, 0)->tail, 0.99, &t));
		sink.request(sink.arg, &io);
	}
	assert_true(tail_above(&breakdown_row(groups, 0)->tail, 0.99, &t));
	assert_int_equal(t.n, 1);
	assert_int_equal(t.from_ns, 1000000);
	for (int i = 0; i < TAIL_PHASES; i++) {
		enum phase p = tail_phase(i);
		double expect = p == PHASE_Q2G   ? 0.2
				: p == PHASE_G2I ? 0.1
				: p == PHASE_I2D ? 0.6
				: p == PHASE_D2C ? 0.1
						 : 0;

		assert_true(t.shares[i] > expect - 1e-9 && t.shares[i] < expect + 1e-9);
	}
	assert_true(t.rest < 1e-9);
	assert_true(tail_above(&breakdown_row(groups, 0)->tail, 0.5, &t));
	assert_int_equal(t.n, 100); /* all the others are alike */
	breakdown_free(groups);
	names_release(&names);
}

/* The groups add up to what the tracker itself counts for the device. */
static void adds_up(void **state)
{
	struct breakdown *groups;
	struct run run, alone;

	play(&alone, some);
	groups = group(&run, by(BY_PROCESS), some);
	for (int p = 0; p < PHASE_NR; p++) {
		uint64_t n = 0;

		for (size_t i = 0; i < breakdown_nr(groups); i++)
			n += breakdown_row(groups, i)->latency[p].n;
		assert_int_equal(n, dev(&alone)->latency[p].n);
	}
	end(&run, groups);
	done(&alone);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_class),    cmocka_unit_test(by_size),
		cmocka_unit_test(by_cpu),      cmocka_unit_test(by_window),
		cmocka_unit_test(by_process),  cmocka_unit_test(stack_is_apart),
		cmocka_unit_test(left_out),    cmocka_unit_test(asked_window),
		cmocka_unit_test(many_groups), cmocka_unit_test(tail),
		cmocka_unit_test(adds_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
