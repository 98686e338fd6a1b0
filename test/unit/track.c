/* SPDX-License-Identifier: MIT
 *
 * The tracker against histories whose truth is known (track_play.h). What is tested is named by the
 * section of doc/model.md.
 */
#include "track_play.h"

/* With process `pid` as the command; 7 is another program, 50 a kernel worker. */
static void play_as(struct run *run, uint32_t pid, const char *text)
{
	struct track_options options = { .from_ns = TIME_NONE,
					 .to_ns = TIME_NONE,
					 .waiter_pid = pid };

	*run = (struct run){ 0 };
	facts_init(&run->facts);
	names_add(&run->facts.names, 100, 0, "command", 7);
	names_add(&run->facts.names, 7, 0, "other", 5);
	names_add(&run->facts.names, 50, 0, "kworker/u4:1", 12);
	play_with(run, options, text);
}

static void one_write(void **state)
{
	struct run r;

	(void)state;
	play(&r, "10 Q WS 100 + 8\n11 G WS 100 + 8\n12 I WS 100 + 8\n15 D WS 100 + 8\n40 C WS 100 "
		 "+ 8\n");
	assert_int_equal(r.nr_ios, 1);
	assert_int_equal(r.nr_bios, 1);
	assert_int_equal(r.ios[0].queue_ns, 10000);
	assert_int_equal(r.ios[0].get_ns, 11000);
	assert_int_equal(r.ios[0].insert_ns, 12000);
	assert_int_equal(r.ios[0].issue_ns, 15000);
	assert_int_equal(r.ios[0].end_ns, 40000);
	assert_int_equal(r.ios[0].bytes, 4096);
	assert_int_equal(dev(&r)->bios[CLASS_WRITE].count, 1);
	assert_int_equal(dev(&r)->requests[CLASS_WRITE].count, 1);
	assert_int_equal(dev(&r)->completed_bytes[CLASS_WRITE], 4096);
	assert_int_equal(dev(&r)->in_flight, 0);
	/* 30 us: 5 held, 25 at the device */
	assert_int_equal(r.sum.wait.place_ns[WAIT_HELD], 5000);
	assert_int_equal(r.sum.wait.place_ns[WAIT_DEVICE], 25000);
	assert_int_equal(dev(&r)->busy_ns, 25000);
	assert_int_equal(dev(&r)->held_ns, 5000);
	done(&r);
}

/* 3: three bios make one request, at both ends; it completes in two parts. */
static void merges_and_parts(void **state)
{
	struct run r;

	(void)state;
	play(&r, "10 Q W 100 + 8\n11 G W 100 + 8\n12 Q W 108 + 8\n13 M W 108 + 8\n14 Q W 92 + 8\n"
		 "15 F W 92 + 8\n20 D W 92 + 24\n30 C W 92 + 12\n40 C W 104 + 12\n");
	assert_int_equal(r.nr_ios, 1);
	assert_int_equal(r.ios[0].nr_bios, 3);
	assert_int_equal(r.ios[0].sector, 92);
	assert_int_equal(r.ios[0].bytes, 24 * 512);
	assert_int_equal(r.ios[0].merge_ns, 15000);
	assert_int_equal(r.nr_bios, 3);
	assert_int_equal(r.bios[0].sector, 92); /* whole in the first part */
	assert_int_equal(r.bios[0].complete_ns, 30000);
	assert_int_equal(r.bios[1].sector, 100); /* straddles: ends with the second */
	assert_int_equal(r.bios[1].complete_ns, 40000);
	assert_int_equal(dev(&r)->back_merges, 1);
	assert_int_equal(dev(&r)->front_merges, 1);
	assert_int_equal(dev(&r)->partial_completions, 1);
	assert_int_equal(dev(&r)->completed_bytes[CLASS_WRITE], 24 * 512);
	done(&r);
}

/* 3: a bio of 24 sectors is split into requests of 8 and 16; it ends with the last of them, whichever
 * that is. */
static void split(void **state)
{
	struct run r;

	(void)state;
	play(&r, "10 Q W 0 + 24\n11 X W 0 + 8 / 8\n12 G W 0 + 8\n13 G W 8 + 16\n14 D W 0 + 8\n"
		 "15 D W 8 + 16\n20 C W 8 + 16\n30 C W 0 + 8\n");
	assert_int_equal(r.nr_ios, 2);
	assert_int_equal(r.nr_bios, 1);
	assert_int_equal(r.bios[0].complete_ns, 30000);
	assert_int_equal(r.bios[0].bytes, 24 * 512);
	assert_int_equal(r.ios[1].queue_ns, 10000);
	assert_int_equal(dev(&r)->splits, 1);
	assert_int_equal(dev(&r)->depth_max, 2);
	assert_int_equal(dev(&r)->in_flight, 0);
	assert_int_equal(r.sum.wait.place_ns[WAIT_DEVICE], 16000);
	done(&r);
}

/* 3: a request is absorbed by the one that ends where it starts. */
static void request_merge(void **state)
{
	struct run r;

	(void)state;
	play(&r, "10 Q W 108 + 8\n11 G W 108 + 8\n12 Q W 100 + 8\n13 G W 100 + 8\n"
		 "14 RM W 108 + 8\n20 D W 100 + 16\n30 C W 100 + 16\n");
	assert_int_equal(r.nr_ios, 1);
	assert_int_equal(r.ios[0].nr_bios, 2);
	assert_int_equal(r.ios[0].queue_ns, 10000);
	assert_int_equal(dev(&r)->requests[CLASS_WRITE].count, 1);
	assert_int_equal(dev(&r)->requests[CLASS_WRITE].bytes, 16 * 512);
	assert_int_equal(dev(&r)->rq_merges, 1);
	assert_int_equal(dev(&r)->in_flight, 0);
	done(&r);
}

/* 4: one request, three attempts: one that found no room, one that failed after 32 s. */
static void attempts(void **state)
{
	struct run r;

	(void)state;
	play(&r, "0 Q R 8 + 8\n1 G R 8 + 8\n10 D R 8 + 8\n15 R R 8 + 8\n20 D R 8 + 8\n"
		 "32000020 R R 8 + 8\n32000050 D R 8 + 8\n32000150 C R 8 + 8\n");
	assert_int_equal(r.nr_ios, 1);
	assert_int_equal(r.ios[0].attempts, 3);
	assert_int_equal(r.ios[0].issue_ns, 10000);
	assert_int_equal(r.ios[0].attempt_lost_ns, 5000 + 32000000000);
	assert_int_equal(r.ios[0].requeue_wait_ns, 5000 + 30000);
	assert_int_equal(r.ios[0].last_issue_ns, 32000050000);
	assert_int_equal(dev(&r)->requeues_busy, 1);
	assert_int_equal(dev(&r)->requeues_failed, 1);
	assert_int_equal(dev(&r)->requests[CLASS_READ].count, 1);
	assert_int_equal(dev(&r)->left_out, 1);
	assert_int_equal(dev(&r)->latency[PHASE_D2C].n, 0);
	done(&r);
}

/* 6: PREFLUSH and emulated FUA: one write; two flush commands; its end is the zero-length C. */
static void flush_sequence(void **state)
{
	struct run r;

	(void)state;
	play(&r, "0 Q FWFSM 100 + 8\n1 G FWFSM 100 + 8\n10 D FN 0 + 0\n50 C FN 0 + 0\n"
		 "60 D WSM 100 + 8\n70 C WSM 100 + 8\n80 D FN 0 + 0\n110 C FN 0 + 0\n111 C WSM 100 "
		 "+ 0\n");
	assert_int_equal(dev(&r)->bios[CLASS_WRITE].count, 1);
	assert_int_equal(dev(&r)->requests[CLASS_WRITE].count, 1);
	assert_int_equal(dev(&r)->requests[CLASS_FLUSH].count, 2);
	assert_int_equal(dev(&r)->flush_writes, 1);
	assert_int_equal(dev(&r)->flush_stages, 2);
	assert_int_equal(dev(&r)->zero_ends, 1);
	assert_int_equal(dev(&r)->in_flight, 0);
	assert_int_equal(r.nr_bios, 1);
	assert_int_equal(r.bios[0].complete_ns, 111000);
	assert_int_equal(r.nr_ios, 3);
	assert_int_equal(r.ios[2].class, CLASS_WRITE);
	assert_int_equal(r.ios[2].preflush_ns, 40000);
	assert_int_equal(r.ios[2].postflush_ns, 30000);
	assert_int_equal(r.ios[2].complete_ns, 70000);
	assert_int_equal(r.ios[2].end_ns, 111000);
	assert_int_equal(r.sum.wait.place_ns[WAIT_DEVICE], 80000); /* both flushes and the data */
	done(&r);
}

/* 6: a driver that does FUA itself gets it (D with F): its write has no second end. */
static void native_fua(void **state)
{
	struct run r;

	(void)state;
	play(&r, "0 Q WFS 100 + 8\n1 G WFS 100 + 8\n2 D WFS 100 + 8\n9 C WFS 100 + 8\n");
	assert_int_equal(r.nr_ios, 1);
	assert_int_equal(r.nr_bios, 1);
	assert_int_equal(r.ios[0].end_ns, 9000);
	assert_int_equal(dev(&r)->flush_writes, 0);
	assert_int_equal(dev(&r)->in_flight, 0);
	done(&r);
}

/* 6: two flush bios share one command; a third, which came later, has the next. */
static void shared_flush(void **state)
{
	struct run r;

	(void)state;
	play(&r, "0 Q FWS 0 + 0\n1 G FWS 0 + 0\n2 Q FWS 0 + 0 p7\n3 G FWS 0 + 0 p7\n5 D FN 0 + 0\n"
		 "6 Q FWS 0 + 0 p8\n7 G FWS 0 + 0 p8\n20 C FN 0 + 0\n21 C WS 0 + 0\n22 C WS 0 + 0\n"
		 "30 D FN 0 + 0\n40 C FN 0 + 0\n41 C WS 0 + 0\n");
	assert_int_equal(dev(&r)->bios[CLASS_FLUSH].count, 3);
	assert_int_equal(dev(&r)->requests[CLASS_FLUSH].count, 2);
	assert_int_equal(dev(&r)->flush_stages, 3);
	assert_int_equal(dev(&r)->zero_ends, 3);
	assert_int_equal(r.nr_bios, 3);
	assert_int_equal(r.bios[1].complete_ns, 22000);
	assert_int_equal(r.bios[2].complete_ns, 41000);
	assert_int_equal(dev(&r)->in_flight, 0);
	done(&r);
}

/* 2: never across classes: a read's C does not end a write that was never seen to complete. */
static void never_across_classes(void **state)
{
	struct run r;

	(void)state;
	play(&r, "0 D W 100 + 8\n90 C R 100 + 8\n100 D W 200 + 8\n190 C R 200 + 16\n");
	assert_int_equal(r.nr_ios, 1);
	assert_true(r.ios[0].lost); /* the same range: both have lost their other half */
	assert_int_equal(dev(&r)->orphan_completes, 2);
	assert_int_equal(dev(&r)->orphan_issues, 1);
	assert_int_equal(dev(&r)->class_mismatches, 2);
	assert_int_equal(dev(&r)->in_flight, 1);
	assert_int_equal(dev(&r)->latency[PHASE_D2C].n, 0);
	done(&r);
}

/* 13: a second D at the same place without a G of its own: the first one's C was lost. */
static void lost_completion(void **state)
{
	struct run r;

	(void)state;
	play(&r, "0 D W 100 + 8\n50 D W 100 + 8\n60 C W 100 + 8\n");
	assert_int_equal(r.nr_ios, 2);
	assert_true(r.ios[0].crosses_loss);
	assert_int_equal(r.ios[1].last_issue_ns, 50000);
	assert_int_equal(dev(&r)->orphan_issues, 1);
	assert_int_equal(dev(&r)->latency[PHASE_D2C].n, 1);
	assert_int_equal(dev(&r)->latency[PHASE_D2C].max, 10000);
	done(&r);
}

/* 13: a bio whose G was lost is not taken for the thread's next one at that place. */
static void lost_get(void **state)
{
	struct run r;

	(void)state;
	play(&r, "0 Q R 99 + 8\n1 G R 99 + 8\n2 D R 99 + 8\n3 C R 99 + 8\n"
		 "10 Q R 8 + 8\n5000000 Q R 8 + 8\n5000001 G R 8 + 8\n5000002 D R 8 + 8\n"
		 "5000009 C R 8 + 8\n");
	assert_int_equal(dev(&r)->latency[PHASE_BIO_Q2C].n, 2);
	assert_int_equal(dev(&r)->latency[PHASE_BIO_Q2C].max, 9000);
	assert_int_equal(dev(&r)->aged_out, 1);
	assert_int_equal(dev(&r)->in_flight, 1);
	done(&r);
}

/* 2: two open requests at one place: first in, first out, and no latency. */
static void ambiguous(void **state)
{
	struct run r;

	(void)state;
	play(&r, "0 Q R 8 + 8\n1 G R 8 + 8\n2 D R 8 + 8\n3 Q R 8 + 8 p7\n4 G R 8 + 8 p7\n5 D R 8 + "
		 "8 p7\n"
		 "10 C R 8 + 8\n20 C R 8 + 8\n");
	assert_int_equal(r.nr_ios, 2);
	assert_int_equal(dev(&r)->ambiguous_joins, 1);
	assert_int_equal(r.ios[0].issue_ns, 2000);
	assert_int_equal(dev(&r)->in_flight, 0);
	done(&r);
}

/* 7: a NOWAIT attempt is not a bio; its retry continues it. */
static void nowait_retry(void **state)
{
	struct run r;

	(void)state;
	play(&r, "0 Q WS 8 + 8\n1 BC WS 8 + 8 [11\n500 Q WS 8 + 8 p9\n501 G WS 8 + 8 p9\n"
		 "502 D WS 8 + 8 p9\n600 C WS 8 + 8\n");
	assert_int_equal(dev(&r)->bios[CLASS_WRITE].count, 1);
	assert_int_equal(dev(&r)->nowait_retries, 1);
	assert_int_equal(dev(&r)->nr_errors, 0);
	assert_int_equal(r.nr_bios, 1);
	assert_int_equal(r.bios[0].queue_ns, 0);
	assert_int_equal(r.sum.wait.place_ns[WAIT_HELD], 502000);
	done(&r);
}

/* 3: a zero-length C of a failing read ends nothing; the error is one. */
static void failing_read(void **state)
{
	struct run r;

	(void)state;
	play(&r, "0 Q R 39936 + 128\n1 G R 39936 + 128\n2 D R 39936 + 128\n9 C R 39936 + 0\n"
		 "10 C R 39936 + 128 [61\n");
	assert_int_equal(dev(&r)->nr_errors, 1);
	assert_int_equal(dev(&r)->errors[0].error, ENODATA);
	assert_int_equal(dev(&r)->errors[0].count, 1);
	assert_int_equal(dev(&r)->errors[0].first_sector, 39936);
	assert_int_equal(dev(&r)->partial_completions, 1);
	assert_int_equal(r.nr_ios, 1);
	assert_int_equal(r.ios[0].error, -ENODATA);
	assert_int_equal(r.bios[0].error, -ENODATA);
	done(&r);
}

/* 2: a multi-range discard: three Qs, one G, one D of the sum. */
static void discard_ranges(void **state)
{
	struct run r;

	(void)state;
	play(&r, "0 Q D 100 + 8\n1 G D 100 + 8\n2 Q D 500 + 16\n3 Q D 900 + 8\n4 D D 100 + 32\n9 C "
		 "D 100 + 32\n");
	assert_int_equal(dev(&r)->bios[CLASS_DISCARD].count, 3);
	assert_int_equal(dev(&r)->requests[CLASS_DISCARD].count, 1);
	assert_int_equal(r.nr_bios, 3);
	assert_int_equal(r.ios[0].nr_bios, 3);
	assert_int_equal(dev(&r)->in_flight, 0);
	done(&r);
}

/* 9: a device above others: its bio ends when the union of its pieces has, in any order, and the wait
 * is accounted where the I/O is. */
static void stacked(void **state)
{
	struct run r;
	struct device_sum *upper;

	(void)state;
	play(&r,
	     "0 Q W 0 + 16 upper\n1 X W 0 + 8 / 8 upper\n2 A W 1000 + 8 < 0\n3 Q W 1000 + 8\n"
	     "4 G W 1000 + 8\n5 A W 2000 + 8 < 8\n6 Q W 2000 + 8\n7 G W 2000 + 8\n8 D W 1000 + 8\n"
	     "9 D W 2000 + 8\n20 C W 2000 + 8\n21 BC W 8 + 8 upper\n30 C W 1000 + 8\n"
	     "31 BC W 0 + 8 upper\n");
	upper = &r.sum.devices[r.sum.devices[0].device == UPPER ? 0 : 1];
	assert_int_equal(upper->bios[CLASS_WRITE].count, 1);
	assert_false(upper->have_requests);
	assert_true(upper->mapped);
	assert_int_equal(upper->latency[PHASE_BIO_Q2C].max, 31000);
	assert_int_equal(dev(&r)->parents[0], UPPER);
	assert_int_equal(dev(&r)->latency[PHASE_A2Q].n, 2);
	assert_int_equal(r.sum.wait.place_ns[WAIT_DEVICE], 22000);
	assert_int_equal(r.sum.nr_processes, 1);
	assert_int_equal(r.sum.processes[0]->write_bytes, 16 * 512); /* once, at the top */
	assert_int_equal(upper->in_flight + dev(&r)->in_flight, 0);
	done(&r);
}

/* 9: an in-place remap: an A, no Q, then G. */
static void remapped_in(void **state)
{
	struct run r;

	(void)state;
	play(&r, "5 A W 100 + 8 < 0\n6 G W 100 + 8\n7 D W 100 + 8\n9 C W 100 + 8\n");
	assert_int_equal(dev(&r)->remapped_in, 1);
	assert_int_equal(r.ios[0].queue_ns, 5000);
	assert_int_equal(r.nr_bios, 1);
	done(&r);
}

/* 10: behind others: the waiter's I/O waits while the device serves somebody else. */
static void behind_others(void **state)
{
	struct track_options options = { .from_ns = 0, .to_ns = 100000, .waiter_pid = 7 };
	struct run r = { 0 };

	(void)state;
	facts_init(&r.facts);
	names_add(&r.facts.names, 100, 0, "reader", 6);
	names_add(&r.facts.names, 7, 0, "waiter", 6);
	play_with(&r, options,
		  "10 Q R 8 + 8\n11 G R 8 + 8\n12 D R 8 + 8\n20 Q W 80 + 8 p7\n21 G W 80 + 8 p7\n"
		  "50 C R 8 + 8\n60 D W 80 + 8 p7\n90 C W 80 + 8\n");
	assert_int_equal(r.sum.wait.place_ns[WAIT_BEHIND_OTHERS], 30000);
	assert_int_equal(r.sum.wait.place_ns[WAIT_HELD], 10000);
	assert_int_equal(r.sum.wait.place_ns[WAIT_DEVICE], 30000);
	assert_int_equal(r.sum.wait.place_ns[WAIT_SUBMITTER], 30000);
	assert_int_equal(r.sum.wait.bios, 1);
	assert_int_equal(dev(&r)->busy_ns, 68000);
	assert_int_equal(dev(&r)->held_ns, 12000);
	assert_int_equal(dev(&r)->idle_ns, 20000);
	done(&r);
}

/* A window counts only what happens in it; what was open before is still known. */
static void counted_window(void **state)
{
	struct track_options options = { .from_ns = 50000,
					 .to_ns = 200000,
					 .count_window_only = true };
	struct run r = { 0 };

	(void)state;
	facts_init(&r.facts);
	play_with(&r, options,
		  "10 Q R 8 + 8\n11 G R 8 + 8\n12 D R 8 + 8\n60 C R 8 + 8\n"
		  "70 Q R 16 + 8\n71 G R 16 + 8\n72 D R 16 + 8\n90 C R 16 + 8\n"
		  "300 Q R 8 + 8\n301 G R 8 + 8\n302 D R 8 + 8\n303 C R 8 + 8\n");
	assert_int_equal(dev(&r)->bios[CLASS_READ].count, 1);
	assert_int_equal(dev(&r)->latency[PHASE_D2C].n, 2);
	assert_int_equal(dev(&r)->latency[PHASE_D2C].max, 48000);
	assert_int_equal(dev(&r)->completed_bytes[CLASS_READ], 2 * 4096);
	assert_int_equal(dev(&r)->busy_ns, 10000 + 18000);
	done(&r);
}

/* 13: I/O open across a window of loss has no latency. */
static void across_a_loss(void **state)
{
	struct track_options all = { .from_ns = TIME_NONE, .to_ns = TIME_NONE };
	const struct loss loss = { .cpu = 0, .from_ns = 20000, .to_ns = 30000 };
	struct run r = { 0 };

	(void)state;
	facts_init(&r.facts);
	facts_loss(&r.facts, &loss);
	play_with(&r, all,
		  "10 Q R 8 + 8\n11 G R 8 + 8\n12 D R 8 + 8\n25 C R 8 + 8\n"
		  "40 Q R 8 + 8\n41 G R 8 + 8\n42 D R 8 + 8\n45 C R 8 + 8\n");
	assert_int_equal(dev(&r)->left_out, 1);
	assert_int_equal(dev(&r)->latency[PHASE_D2C].n, 1);
	assert_int_equal(dev(&r)->latency[PHASE_D2C].max, 3000);
	assert_int_equal(dev(&r)->latency[PHASE_BIO_Q2C].n, 1);
	done(&r);
}

/* A trace that starts and ends in the middle: orphans and I/O in flight make no latency. */
static void starts_in_the_middle(void **state)
{
	struct run r;

	(void)state;
	play(&r, "5 C W 900 + 8\n6 M W 108 + 8\n10 D W 300 + 8\n12 C W 300 + 8\n20 Q W 500 + 8\n21 "
		 "G W 500 + 8\n");
	assert_int_equal(dev(&r)->orphan_completes, 1);
	assert_int_equal(dev(&r)->orphan_merges, 1);
	assert_int_equal(dev(&r)->latency[PHASE_D2C].n, 1);
	assert_int_equal(dev(&r)->latency[PHASE_R_Q2C].n, 0);
	assert_int_equal(dev(&r)->in_flight, 1);
	done(&r);
}

/* 6: the other's flush is not ours: ours waits behind it until a command of its own is issued. */
static void flush_behind_a_flush(void **state)
{
	struct run r;

	(void)state;
	play_as(&r, 100,
		"1 Q FWS 0 + 0 p7\n2 G FWS 0 + 0 p7\n3 D FN 0 + 0\n10 Q FWS 0 + 0\n11 G FWS 0 + 0\n"
		"50 C FN 0 + 0\n51 C WS 0 + 0\n60 D FN 0 + 0\n90 C FN 0 + 0\n91 C WS 0 + 0\n");
	assert_int_equal(r.sum.wait.own_ns[WAIT_BEHIND_OTHERS], 40000);
	assert_int_equal(r.sum.wait.own_ns[WAIT_HELD], 10000 + 1000); /* and until it is told */
	assert_int_equal(r.sum.wait.own_ns[WAIT_DEVICE], 30000);
	done(&r);
}

/* 6: the pre-flush of a write that was split is at the device as well. */
static void preflush_of_a_split(void **state)
{
	struct run r;

	(void)state;
	play(&r,
	     "0 Q FWS 0 + 24\n1 X FWS 0 + 8 / 8\n2 G FWS 0 + 8\n3 D FN 0 + 0\n103 C FN 0 + 0\n"
	     "104 D WS 0 + 8\n114 C WS 0 + 8\n114 C WS 0 + 0\n115 G WS 8 + 16\n116 D WS 8 + 16\n"
	     "126 C WS 8 + 16\n");
	assert_int_equal(r.sum.wait.place_ns[WAIT_DEVICE], 100000 + 10000 + 10000);
	assert_int_equal(r.sum.wait.place_ns[WAIT_BEHIND_OTHERS], 0);
	assert_int_equal(r.nr_bios, 1);
	done(&r);
}

/* 6: what a pre-flush takes is a phase of its own, not time in the queue. */
static void preflush_is_a_phase(void **state)
{
	struct run r;

	(void)state;
	play(&r, "0 Q FWFS 8 + 8\n1 G FWFS 8 + 8\n10 D FN 0 + 0\n500 C FN 0 + 0\n503 D WS 8 + 8\n"
		 "520 C WS 8 + 8\n530 D FN 0 + 0\n600 C FN 0 + 0\n601 C WS 8 + 0\n");
	assert_int_equal(dev(&r)->latency[PHASE_PREFLUSH].max, 490000);
	assert_int_equal(dev(&r)->latency[PHASE_POSTFLUSH].max, 70000);
	assert_int_equal(dev(&r)->latency[PHASE_Q2D].max, 3000);
	assert_int_equal(dev(&r)->latency[PHASE_G2D].max, 3000);
	assert_int_equal(dev(&r)->latency[PHASE_R_Q2C].max, 601000);
	done(&r);
}

/* 6: two flush commands at once (several hardware queues) cannot be told apart: no latency. */
static void two_flush_commands(void **state)
{
	struct run r;

	(void)state;
	play(&r, "0 D FN 0 + 0\n1 D FN 0 + 0\n9 C FN 0 + 0\n99 C FN 0 + 0\n");
	assert_int_equal(dev(&r)->left_out, 2);
	assert_int_equal(dev(&r)->class_d2c[CLASS_FLUSH].n, 0);
	assert_int_equal(dev(&r)->requests[CLASS_FLUSH].count, 2);
	done(&r);
}

/* 9: RAID 0 may map the rear half of a piece before the front half. */
static void mapped_rear_first(void **state)
{
	struct run r;
	struct device_sum *upper;

	(void)state;
	play(&r, "0 Q W 0 + 16 upper\n1 A W 2000 + 8 < 8\n2 Q W 2000 + 8\n3 A W 1000 + 8 < 0\n"
		 "4 Q W 1000 + 8\n5 G W 2000 + 8\n6 G W 1000 + 8\n7 D W 2000 + 8\n8 D W 1000 + 8\n"
		 "20 C W 2000 + 8\n21 BC W 8 + 8 upper\n22 C W 1000 + 8\n23 BC W 0 + 8 upper\n");
	upper = &r.sum.devices[r.sum.devices[0].device == UPPER ? 0 : 1];
	assert_int_equal(upper->latency[PHASE_BIO_Q2C].max, 23000);
	assert_int_equal(upper->in_flight, 0);
	assert_int_equal(r.sum.processes[0]->write_bytes, 16 * 512);
	done(&r);
}

/* 10: the command's own I/O is told apart from that of kernel threads, and others' writes are seen. */
static void own_and_helpers(void **state)
{
	struct run r;

	(void)state;
	play_as(&r, 100,
		"10 Q WS 8 + 8 p50\n11 G WS 8 + 8 p50\n12 D WS 8 + 8 p50\n90 C WS 8 + 8\n"
		"92 Q W 80 + 8 p7\n93 G W 80 + 8 p7\n94 D W 80 + 8 p7\n95 C W 80 + 8\n"
		"96 Q W 90 + 8\n97 G W 90 + 8\n97 D W 90 + 8\n98 C W 90 + 8\n");
	assert_int_equal(r.sum.wait.bios, 2);
	assert_int_equal(r.sum.wait.own_bios, 1);
	assert_int_equal(r.sum.wait.foreign_write_bios, 1); /* of 7, not of kworker 50 */
	assert_int_equal(r.sum.wait.place_ns[WAIT_DEVICE], 78000 + 1000);
	assert_int_equal(r.sum.wait.own_ns[WAIT_DEVICE], 1000);
	done(&r);
}

/* 13: a second after a loss, what was open across it is given up, even if nothing follows. */
static void given_up_after_a_loss(void **state)
{
	const struct loss loss = { .cpu = 0, .from_ns = 15000, .to_ns = 20000 };
	struct track_options options = { .from_ns = 0, .to_ns = 4000000000 };
	struct run r = { 0 };

	(void)state;
	facts_init(&r.facts);
	facts_loss(&r.facts, &loss);
	play_with(&r, options,
		  "0 Q R 8 + 8\n1 G R 8 + 8\n2 D R 8 + 8\n3 Q R 80 + 8\n30 P N 0 + 0\n");
	assert_int_equal(dev(&r)->busy_ns, 1000020000 - 2000);
	assert_int_equal(r.sum.wait.place_ns[WAIT_DEVICE], 1000020000 - 2000);
	assert_int_equal(r.sum.wait.place_ns[WAIT_SUBMITTER], 4000000000 - 1000020000);
	assert_int_equal(dev(&r)->in_flight, 2);
	assert_int_equal(dev(&r)->aged_out, 2);
	done(&r);
}

/* Each event is counted for its CPU, a request at the device for the CPU that issued it. */
static void by_cpu(void **state)
{
	const struct cpu_sum *a, *b;
	struct run r;

	(void)state;
	play(&r, "1 Q W 0 + 8 cpu0\n2 G W 0 + 8 cpu0\n3 Q W 8 + 8 cpu0\n4 M W 8 + 8 cpu0\n"
		 "5 Q R 80 + 8 cpu3\n6 G R 80 + 8 cpu3\n7 D W 0 + 16 cpu3\n8 D R 80 + 8 cpu3\n"
		 "9 R R 80 + 8 cpu0\n10 D R 80 + 8 cpu0\n20 C W 0 + 16 cpu3\n30 C R 80 + 8 cpu3\n");
	assert_int_equal(dev(&r)->nr_cpus, 4);
	assert_null(dev(&r)->cpus[1]);
	assert_null(dev(&r)->cpus[2]);
	a = dev(&r)->cpus[0];
	b = dev(&r)->cpus[3];
	assert_int_equal(a->counts.bios[CLASS_WRITE].count, 2);
	assert_int_equal(a->counts.merges[CLASS_WRITE].bytes, 4096);
	assert_int_equal(a->counts.requests[CLASS_WRITE].count, 0);
	assert_int_equal(a->counts.requeues_busy[CLASS_READ], 1);
	assert_int_equal(a->depths.max[DEPTH_ALL], 1);
	assert_int_equal(a->depths.max[DEPTH_READ], 1);
	assert_int_equal(a->depths.max[DEPTH_WRITE], 0);
	assert_int_equal(b->counts.requests[CLASS_WRITE].bytes, 8192);
	assert_int_equal(b->counts.requests[CLASS_READ].count, 1);
	assert_int_equal(b->counts.completed[CLASS_READ].count, 1);
	assert_int_equal(b->counts.completed[CLASS_WRITE].count, 1);
	assert_int_equal(b->depths.max[DEPTH_ALL], 2);
	assert_int_equal(a->depths.now[DEPTH_ALL] + b->depths.now[DEPTH_ALL], 0);
	assert_int_equal(dev(&r)->depths.max[DEPTH_READ], 1);
	done(&r);
}

/* A number that no machine has is counted, but not by it. */
static void cpu_beyond_all(void **state)
{
	struct run r;

	(void)state;
	play(&r, "1 Q W 0 + 8 cpu65535\n2 Q W 8 + 8 cpu1\n");
	assert_int_equal(dev(&r)->nr_cpus, 2);
	assert_int_equal(dev(&r)->cpu_untold->cpu, CPU_UNTOLD);
	assert_int_equal(dev(&r)->cpu_untold->events, 1);
	assert_int_equal(dev(&r)->bios[CLASS_WRITE].count, 2);
	done(&r);
}

/* Bios by their Q, requests by whose bio came first; nothing is allocated where it is not asked for. */
static void by_process(void **state)
{
	struct track_options options = { .from_ns = TIME_NONE,
					 .to_ns = TIME_NONE,
					 .count_processes = true };
	struct run r = { 0 };
	const struct io_counts *a, *b;

	(void)state;
	facts_init(&r.facts);
	play_with(&r, options,
		  "1 Q W 0 + 8 p7\n2 G W 0 + 8 p7\n3 Q W 8 + 8 p8\n4 M W 8 + 8 p8\n"
		  "5 D W 0 + 16 p50\n9 C W 0 + 16 p0\n");
	assert_int_equal(r.sum.nr_processes, 2);
	a = r.sum.processes[0]->counts;
	b = r.sum.processes[1]->counts;
	assert_int_equal(a->bios[CLASS_WRITE].bytes, 4096);
	assert_int_equal(a->requests[CLASS_WRITE].bytes, 8192);
	assert_int_equal(a->completed[CLASS_WRITE].count, 1);
	assert_int_equal(b->bios[CLASS_WRITE].count, 1);
	assert_int_equal(b->merges[CLASS_WRITE].count, 1);
	assert_int_equal(b->requests[CLASS_WRITE].count, 0);
	done(&r);
	play(&r, "1 Q W 0 + 8 p7\n");
	assert_null(r.sum.processes[0]->counts);
	done(&r);
}

/* Which phase an event ends, and since when it had lasted. */
static void steps(void **state)
{
	static const struct {
		const char *line;
		uint64_t since_ns;
	} all[] = {
		{ "1 Q R 8 + 8", TIME_NONE },    { "2 G R 8 + 8", TIME_NONE },
		{ "4 I R 8 + 8 p9", 2000 },      { "7 D R 8 + 8 p9", 4000 },
		{ "9 R R 8 + 8 p9", TIME_NONE }, { "20 D R 8 + 8 p9", 9000 },
		{ "33 C R 8 + 8 p0", 20000 },    { "40 G W 80 + 8", TIME_NONE },
		{ "41 D W 80 + 8", 40000 },      { "50 C W 80 + 8", 41000 },
		{ "60 C W 80 + 8", TIME_NONE },
	};
	struct track_options options = { .from_ns = TIME_NONE, .to_ns = TIME_NONE };
	struct facts facts;
	struct summary sum;
	struct tracker *t;

	(void)state;
	facts_init(&facts);
	t = tracker_new(&options, &facts, &sum);
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		struct event ev = parse(all[i].line);

		tracker_sink(t)->ops->events(tracker_sink(t), &ev, 1);
		assert_int_equal(tracker_step(t).since_ns, all[i].since_ns);
		if (all[i].since_ns != TIME_NONE)
			assert_int_equal(tracker_step(t).pid, 100);
	}
	tracker_sink(t)->ops->finish(tracker_sink(t));
	tracker_free(t);
	summary_release(&sum);
	facts_release(&facts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(flush_behind_a_flush),
		cmocka_unit_test(preflush_of_a_split),
		cmocka_unit_test(preflush_is_a_phase),
		cmocka_unit_test(two_flush_commands),
		cmocka_unit_test(mapped_rear_first),
		cmocka_unit_test(own_and_helpers),
		cmocka_unit_test(given_up_after_a_loss),
		cmocka_unit_test(one_write),
		cmocka_unit_test(merges_and_parts),
		cmocka_unit_test(split),
		cmocka_unit_test(request_merge),
		cmocka_unit_test(attempts),
		cmocka_unit_test(flush_sequence),
		cmocka_unit_test(native_fua),
		cmocka_unit_test(shared_flush),
		cmocka_unit_test(never_across_classes),
		cmocka_unit_test(lost_completion),
		cmocka_unit_test(lost_get),
		cmocka_unit_test(ambiguous),
		cmocka_unit_test(nowait_retry),
		cmocka_unit_test(failing_read),
		cmocka_unit_test(discard_ranges),
		cmocka_unit_test(stacked),
		cmocka_unit_test(remapped_in),
		cmocka_unit_test(behind_others),
		cmocka_unit_test(counted_window),
		cmocka_unit_test(across_a_loss),
		cmocka_unit_test(starts_in_the_middle),
		cmocka_unit_test(by_cpu),
		cmocka_unit_test(cpu_beyond_all),
		cmocka_unit_test(by_process),
		cmocka_unit_test(steps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
