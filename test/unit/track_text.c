/* SPDX-License-Identifier: MIT
 *
 * The tracker against what text tells: completions of a kind that is not told (doc/model.md 17),
 * excerpts with lines cut out, tables, lengths that are missing.
 */
#include "track_play.h"

static struct device_sum *device(struct run *run, uint32_t number)
{
	for (size_t i = 0; i < run->sum.nr_devices; i++)
		if (run->sum.devices[i].device == number)
			return &run->sum.devices[i];
	fail_msg("that device is not in the summary");
	return NULL;
}

static uint64_t max_of(struct run *run, enum phase phase)
{
	return dev(run)->latency[phase].max;
}

/* What completed is never more than what was dispatched or, of a bio-based device, queued. */
static void conserved(struct run *run)
{
	for (size_t i = 0; i < run->sum.nr_devices; i++) {
		const struct device_sum *d = &run->sum.devices[i];

		for (int c = 0; c < CLASS_NR; c++)
			assert_true(d->completed_bytes[c] <=
				    (d->have_requests ? d->requests[c].bytes : d->bios[c].bytes));
	}
}

/* A bio-based device: only q2c is defined; the flush letter is lost between Q and C. */
static void bio_based(void **state)
{
	struct run r;

	(void)state;
	play(&r, "0 A WS 2736 + 8 < 688\n3.301 Q WS 2736 + 8\n12073.146 A WS 2744 + 8 < 696\n"
		 "12076.427 Q WS 2744 + 8\n15627.276 T WS 2736 + 8\n15636.952 T WS 2744 + 8\n"
		 "15744.430 A FWFS 2776 + 8 < 728\n15746.617 Q FWFS 2776 + 8\n"
		 "20969.957 T WFS 2776 + 8\n");
	assert_int_equal(r.nr_bios, 3);
	assert_int_equal(r.bios[0].complete_ns - r.bios[0].queue_ns, 15623975);
	assert_int_equal(r.bios[1].complete_ns - r.bios[1].queue_ns, 3560525);
	assert_int_equal(r.bios[2].complete_ns - r.bios[2].queue_ns, 5223340);
	assert_int_equal(r.bios[0].complete_ns - r.bios[0].remap_ns, 15627276);
	assert_int_equal(max_of(&r, PHASE_CHAIN_Q2C), 15627276);
	assert_false(dev(&r)->have_requests);
	assert_int_equal(dev(&r)->completed_bytes[CLASS_WRITE], 24 * 512);
	assert_int_equal(dev(&r)->unissued_ends, 0);
	assert_int_equal(dev(&r)->latency[PHASE_D2C].n, 0);
	assert_int_equal(r.nr_orphans + r.nr_open + r.nr_open_bios, 0);
	conserved(&r);
	done(&r);
}

/* Remapped without a Q: requests are counted from G and D; one block, one after the other. */
static void remapped_without_queue(void **state)
{
	struct run r;

	(void)state;
	play(&r,
	     "0 A WS 408 + 8 < 274\n3.433 G WS 408 + 8\n5.654 D WS 408 + 8\n45.379 T WS 408 + 8\n"
	     "80.964 A WS 408 + 8 < 274 p101 cpu1\n83.702 G WS 408 + 8 p101 cpu1\n"
	     "85.801 D WS 408 + 8 p101 cpu1\n128.797 T WS 408 + 8\n");
	assert_int_equal(dev(&r)->remapped_in, 2);
	assert_int_equal(dev(&r)->bios[CLASS_WRITE].count, 0);
	assert_int_equal(dev(&r)->requests[CLASS_WRITE].count, 2);
	assert_int_equal(r.ios[0].complete_ns - r.ios[0].issue_ns, 39725);
	assert_int_equal(r.ios[1].complete_ns - r.ios[1].issue_ns, 42996);
	assert_int_equal(dev(&r)->depth_max, 1);
	assert_int_equal(dev(&r)->double_completions, 0);
	conserved(&r);
	done(&r);
}

/* Pieces of a split bio whose D were cut out, told cumulatively: one orphan, and 33 pieces. */
static void cumulative_without_issue(void **state)
{
	const struct cumulative *c;
	struct run r;

	(void)state;
	play(&r, "0 A D 2048 + 8388607 < 0\n2.456 Q D 2048 + 8388607\n3 X D 2048 + 8 / 264191\n"
		 "10 G D 2048 + 262143\n16 I D 2048 + 262143\n27 D D 2048 + 262143\n"
		 "97763353 T D 99000000 + 7864290\n97773132 T D 99000000 + 8126433\n"
		 "97783267 T D 99000000 + 8388576\n97784616 T D 99000000 + 8388607\n");
	assert_int_equal(dev(&r)->orphan_completes, 1);
	assert_int_equal(r.nr_orphans, 1);
	assert_int_equal(dev(&r)->cumulative_completions, 3);
	assert_int_equal(dev(&r)->double_completions, 0);
	assert_int_equal(dev(&r)->nr_cumulative, 1);
	c = &dev(&r)->cumulative[0];
	assert_int_equal(c->lines, 4);
	assert_int_equal(c->first_bytes, 7864290ull * 512);
	assert_int_equal(c->last_bytes, 8388607ull * 512);
	assert_int_equal(c->smallest_bytes, 31 * 512);
	assert_int_equal(c->common_bytes, 262143 * 512);
	assert_int_equal(c->last_ns - c->first_ns, 21263000);
	assert_int_equal(cumulative_pieces(c), 33);
	assert_false(c->issued);
	assert_int_equal(dev(&r)->in_flight, 1); /* the bio of the start */
	assert_int_equal(r.nr_open, 1);
	assert_int_equal(r.nr_open_bios, 0); /* it is in that request */
	conserved(&r);
	done(&r);
}

/* The same place discarded piece by piece, its first piece of a known request, the others cut out. */
static void cumulative_goes_on(void **state)
{
	struct run r;

	(void)state;
	play(&r, "0 D D 64 + 8\n10 T D 64 + 8\n20 T D 64 + 16\n30 T D 64 + 24\n");
	assert_int_equal(r.nr_ios, 1);
	assert_int_equal(r.nr_orphans, 1);
	assert_int_equal(dev(&r)->orphan_completes, 1);
	assert_int_equal(dev(&r)->cumulative_completions, 2);
	assert_int_equal(cumulative_pieces(&dev(&r)->cumulative[0]), 3);
	conserved(&r);
	done(&r);
}

/* A log writes to one place again, longer: a new write, not a cumulative completion. */
static void longer_write_is_new(void **state)
{
	struct run r;

	(void)state;
	play(&r, "0 D WS 64 + 8\n10 T WS 64 + 8\n500 T WS 64 + 16\n");
	assert_int_equal(dev(&r)->orphan_completes, 1);
	assert_int_equal(dev(&r)->cumulative_completions, 0);
	conserved(&r);
	done(&r);
}

/* Metadata flag lost on the way; messages between. */
static void one_read(void **state)
{
	struct run r;

	(void)state;
	play(&r, "0 Q RM 92 + 8\n13.433 G RM 92 + 8\n17.347 I R 92 + 8\n32.735 D R 92 + 8\n"
		 "4276.637 T R 92 + 8\n");
	assert_int_equal(r.nr_ios, 1);
	assert_int_equal(max_of(&r, PHASE_BIO_Q2C), 4276637);
	assert_int_equal(max_of(&r, PHASE_D2C), 4243902);
	done(&r);
}

/* C for the request and again for each of its bios. */
static void printed_per_bio(void **state)
{
	struct run r;

	(void)state;
	play(&r,
	     "0 Q WS 0 + 8\n11 B WS 0 + 8\n25 G WS 0 + 8\n40 Q WS 8 + 8\n48 M WS 8 + 8\n"
	     "62 Q WS 16 + 8\n68 M WS 16 + 8\n82 Q WS 24 + 8\n89 M WS 24 + 8\n102 Q WS 32 + 8\n"
	     "108 M WS 32 + 8\n114 I WS 0 + 40\n124.734 D WS 0 + 40\n159.740 T WS 0 + 40\n"
	     "165 T WS 0 + 8\n258 T WS 8 + 8\n265 T WS 16 + 8\n271 T WS 24 + 8\n276 T WS 32 + 8\n");
	assert_int_equal(r.nr_ios, 1);
	assert_int_equal(r.ios[0].nr_bios, 5);
	assert_int_equal(max_of(&r, PHASE_D2C), 35006);
	assert_int_equal(dev(&r)->requests[CLASS_WRITE].count, 1);
	assert_int_equal(dev(&r)->completed_bytes[CLASS_WRITE], 40 * 512);
	assert_int_equal(dev(&r)->double_completions, 5);
	assert_int_equal(dev(&r)->bounces, 1);
	assert_int_equal(r.nr_orphans + r.nr_open, 0);
	conserved(&r);
	done(&r);
}

/* The same where D of the request was cut out, and where nothing of it is known. */
static void printed_per_bio_half_seen(void **state)
{
	struct run r;

	(void)state;
	play(&r, "0 Q WS 0 + 8\n1 G WS 0 + 8\n2 Q WS 8 + 8\n3 M WS 8 + 8\n20 T WS 0 + 16 [5\n"
		 "21 T WS 0 + 8 [5\n22 T WS 8 + 8 [5\n"
		 "50 T WS 800 + 16\n51 T WS 800 + 8\n52 T WS 808 + 8\n53 T WS 800 + 16\n");
	assert_int_equal(dev(&r)->unissued_ends, 1);
	assert_int_equal(dev(&r)->unissued_ends_ns, 20000);
	assert_int_equal(dev(&r)->requests[CLASS_WRITE].count, 1);
	assert_int_equal(dev(&r)->requests[CLASS_WRITE].bytes, 16 * 512);
	assert_int_equal(dev(&r)->latency[PHASE_D2C].n, 0);
	assert_int_equal(max_of(&r, PHASE_R_Q2C), 20000);
	assert_int_equal(dev(&r)->double_completions, 4);
	assert_int_equal(dev(&r)->orphan_completes, 2); /* the last one may be a new one */
	assert_int_equal(dev(&r)->nr_errors, 1);
	assert_int_equal(dev(&r)->errors[0].count, 1); /* once, not once a bio */
	conserved(&r);
	done(&r);
}

/* C of all that has completed of a split bio so far; its X do not say where they cut. */
static void cumulative_discard(void **state)
{
	struct run r;

	(void)state;
	play(&r,
	     "0 Q DS 0 + 80\n7 X DS 0 + 8 / 0\n20 G DS 0 + 4\n25 X DS 4 + 8 / 0\n28 G DS 4 + 4\n"
	     "50 I DS 0 + 4\n52 I DS 4 + 4\n96.581 D DS 0 + 4\n108.413 D DS 4 + 4\n"
	     "128.030 T DS 0 + 4\n136.405 T DS 0 + 8\n");
	assert_int_equal(r.nr_ios, 2);
	assert_int_equal(r.ios[0].complete_ns - r.ios[0].issue_ns, 31449);
	assert_int_equal(r.ios[1].complete_ns - r.ios[1].issue_ns, 27992);
	assert_int_equal(r.ios[1].bytes, 4 * 512);
	assert_int_equal(dev(&r)->cumulative_completions, 1);
	assert_int_equal(cumulative_pieces(&dev(&r)->cumulative[0]), 2);
	assert_true(dev(&r)->cumulative[0].issued);
	assert_int_equal(dev(&r)->completed_bytes[CLASS_DISCARD], 8 * 512);
	assert_int_equal(dev(&r)->splits, 2);
	assert_int_equal(dev(&r)->depth_max, 2);
	assert_int_equal(dev(&r)->in_flight, 1); /* the other 72 sectors of the bio */
	assert_int_equal(r.nr_open_bios, 1);
	assert_int_equal(r.open_bios[0].bytes, 80 * 512);
	conserved(&r);
	done(&r);
}

/* The whole of it, four pieces at a time; and again at once, when all of it has just completed. */
static void cumulative_whole(void **state)
{
	enum { PIECES = 20, BATCH = 4, ROUNDS = 2 };
	char text[1 << 14], *at = text;
	struct run r;

	(void)state;
	for (int us = 0; us < ROUNDS * 1000; us += 1000) {
		at += sprintf(at, "%d Q DS 0 + %d\n", us, 4 * PIECES);
		for (int p = 0; p < PIECES; p++)
			at += sprintf(at, "%d X DS %d + 4 / 0\n%d G DS %d + 4\n", us + p, 4 * p,
				      us + p, 4 * p);
		for (int p = 0; p < PIECES; p += BATCH) {
			for (int i = p; i < p + BATCH; i++)
				at += sprintf(at, "%d D DS %d + 4\n", us + 100 + p, 4 * i);
			for (int i = p; i < p + BATCH; i++)
				at += sprintf(at, "%d T DS 0 + %d\n", us + 101 + i, 4 * (i + 1));
		}
	}
	play(&r, text);
	assert_int_equal(r.nr_ios, ROUNDS * PIECES);
	assert_int_equal(r.nr_bios, ROUNDS);
	assert_int_equal(dev(&r)->completed_bytes[CLASS_DISCARD], ROUNDS * 4 * PIECES * 512);
	assert_int_equal(dev(&r)->requests[CLASS_DISCARD].count, ROUNDS * PIECES);
	assert_int_equal(dev(&r)->cumulative_completions, ROUNDS * (PIECES - 1));
	assert_int_equal(dev(&r)->nr_cumulative, ROUNDS);
	assert_int_equal(cumulative_pieces(&dev(&r)->cumulative[1]), PIECES);
	assert_int_equal(dev(&r)->depth_max, BATCH);
	assert_int_equal(dev(&r)->in_flight, 0);
	assert_int_equal(dev(&r)->double_completions, 0);
	conserved(&r);
	done(&r);
}

/* Two pieces at once, the line of the first one cut out. */
static void cumulative_over_two(void **state)
{
	struct run r;

	(void)state;
	play(&r, "0 D DS 0 + 4\n1 D DS 4 + 4\n9 T DS 0 + 8\n");
	assert_int_equal(r.nr_ios, 2);
	assert_int_equal(dev(&r)->cumulative_completions, 1);
	assert_int_equal(dev(&r)->completed_bytes[CLASS_DISCARD], 8 * 512);
	assert_int_equal(dev(&r)->in_flight, 0);
	conserved(&r);
	done(&r);
}

/* "C END, nothing left": a repetition where the request has completed, else its end. */
static void end_and_nothing_left(void **state)
{
	struct run r;

	(void)state;
	play(&r, "0 D W 64 + 8\n9 T W 64 + 8\n10 T W 72 + 0\n20 D W 80 + 8\n29 T W 88 + 0\n"
		 "30 D R 100 + 8\n40 T R 100 + 0\n41 T R 100 + 8 [61\n"
		 "50 Q W 8 + 16 upper\n60 T W 24 + 0 upper\n");
	assert_int_equal(dev(&r)->double_completions, 1);
	assert_int_equal(r.nr_ios, 3);
	assert_int_equal(r.ios[1].complete_ns - r.ios[1].issue_ns, 9000);
	assert_int_equal(dev(&r)->partial_completions, 1);
	assert_int_equal(r.ios[2].error, -61);
	assert_int_equal(device(&r, UPPER)->latency[PHASE_BIO_Q2C].max, 10000);
	assert_int_equal(dev(&r)->in_flight, 0);
	conserved(&r);
	done(&r);
}

/* Given back twice, with and without a new I. */
static void requeued(void **state)
{
	struct run r;

	(void)state;
	play(&r, "0 Q WS 0 + 8\n13.586 G WS 0 + 8\n19.647 I WS 0 + 8\n65.293 D WS 0 + 8\n"
		 "69.881 R WS 0 + 8\n82.565 I WS 0 + 8\n87.063 D WS 0 + 8\n115.106 T WS 0 + 8\n"
		 "295.935 Q WS 24 + 8\n299.362 G WS 24 + 8\n366.467 I WS 24 + 8\n"
		 "385.343 D WS 24 + 8\n387.797 R WS 24 + 8\n396.844 D WS 24 + 8\n"
		 "410.941 T WS 24 + 8\n");
	assert_int_equal(r.nr_ios, 2);
	assert_int_equal(r.ios[0].attempt_lost_ns, 4588);
	assert_int_equal(r.ios[0].requeue_wait_ns, 17182);
	assert_int_equal(r.ios[0].complete_ns - r.ios[0].last_issue_ns, 28043);
	assert_int_equal(r.ios[1].attempt_lost_ns, 2454);
	assert_int_equal(r.ios[1].requeue_wait_ns, 9047);
	assert_int_equal(r.ios[1].complete_ns - r.ios[1].last_issue_ns, 14097);
	assert_int_equal(dev(&r)->requests[CLASS_WRITE].count, 2);
	assert_int_equal(dev(&r)->requeues_busy, 2);
	assert_int_equal(dev(&r)->latency[PHASE_ATTEMPT_LOST].n, 2);
	assert_int_equal(max_of(&r, PHASE_ATTEMPT_LOST), 4588);
	assert_int_equal(max_of(&r, PHASE_REQUEUE_WAIT), 17182);
	assert_int_equal(dev(&r)->left_out, 2);
	assert_int_equal(dev(&r)->in_flight, 0);
	done(&r);
}

/* Zone appends land elsewhere: told beside the sector, or in its place. */
static void zone_append(void **state)
{
	struct run r;

	(void)state;
	play(&r, "21.624 D ZAS 512 + 8\n54.767 T ZAS 528 + 8 landed\n104 Q ZAS 512 + 8\n"
		 "118 G ZAS 512 + 8\n133 I ZAS 512 + 8\n164.593 D ZAS 512 + 8\n"
		 "196.963 T ZAS 512 + 8\n200 D ZAS 512 + 8\n234.905 T ZAS 544 + 8\n");
	assert_int_equal(r.nr_ios, 3);
	assert_int_equal(r.ios[0].complete_ns - r.ios[0].issue_ns, 33143);
	assert_int_equal(r.ios[1].complete_ns - r.ios[1].issue_ns, 32370);
	assert_int_equal(r.ios[2].complete_ns - r.ios[2].issue_ns, 34905);
	assert_int_equal(dev(&r)->requests[CLASS_WRITE].count, 3);
	assert_int_equal(dev(&r)->requests[CLASS_READ].count, 0);
	assert_int_equal(dev(&r)->seeks, 2);
	assert_int_equal(dev(&r)->sequential, 2);
	assert_int_equal(dev(&r)->orphan_completes + dev(&r)->orphan_issues, 0);
	assert_int_equal(dev(&r)->in_flight, 0);
	conserved(&r);
	done(&r);
}

/* Several open: by zone and length, first in, first out; without G no D replaces the other. */
static void zone_appends_at_once(void **state)
{
	struct run r;

	(void)state;
	play(&r, "0 D ZAS 0 + 8\n1 D ZAS 0 + 8\n2 D ZAS 1024 + 8\n3 D ZAS 0 + 16\n"
		 "10 T ZAS 1040 + 8 landed\n20 T ZAS 16 + 16 landed\n30 T ZAS 0 + 8 landed\n"
		 "40 T ZAS 8 + 8 landed\n");
	assert_int_equal(r.nr_ios, 4);
	assert_int_equal(r.ios[0].issue_ns, 2000);
	assert_int_equal(r.ios[1].issue_ns, 3000);
	assert_int_equal(r.ios[2].issue_ns, 0);
	assert_int_equal(r.ios[3].issue_ns, 1000);
	assert_int_equal(dev(&r)->ambiguous_joins, 0);
	assert_int_equal(dev(&r)->orphan_issues, 0);
	assert_int_equal(dev(&r)->latency[PHASE_D2C].n, 4);
	assert_int_equal(dev(&r)->in_flight, 0);
	done(&r);
}

/* A write with pre-flush, data and post-flush; its end is a C without a length. */
static void flush_machine(void **state)
{
	struct run r;

	(void)state;
	play(&r, "0 A FWFSM 300 + 17 < 20\n1.967 Q FWFSM 300 + 17\n6.490 G FWFSM 300 + 17\n"
		 "31.145 D FN 0 + 0\n1628.764 T FN 0 + 0\n1671.798 D WSM 300 + 17\n"
		 "1843.458 T WSM 300 + 17\n1863.050 D FN 0 + 0\n2735.974 T FN 0 + 0\n"
		 "2742.812 T WSM 300 + 0\n");
	assert_int_equal(r.nr_ios, 3);
	assert_int_equal(r.ios[2].preflush_ns, 1597619);
	assert_int_equal(r.ios[2].complete_ns - r.ios[2].issue_ns, 171660);
	assert_int_equal(r.ios[2].postflush_ns, 872924);
	assert_int_equal(r.ios[2].end_ns - r.ios[2].queue_ns, 2740845);
	assert_int_equal(r.ios[2].remap_ns, 0);
	assert_int_equal(dev(&r)->requests[CLASS_FLUSH].count, 2);
	assert_int_equal(dev(&r)->requests[CLASS_WRITE].count, 1);
	assert_int_equal(dev(&r)->in_flight + dev(&r)->orphan_completes, 0);
	assert_int_equal(dev(&r)->double_completions + dev(&r)->partial_completions, 0);
	conserved(&r);
	done(&r);
}

/* A flush bio in an excerpt without flush commands; and a chain of remaps over a partition. */
static void lone_flush(void **state)
{
	const struct device_sum *d;
	struct run r;

	(void)state;
	play(&r, "67.718 A FWS 0 + 0 from 252,0 on 8,5\n68.386 Q FWS 0 + 0\n70.488 G FWS 0 + 0\n"
		 "71.340 I FWS 0 + 0\n19253.365 T WS 0 + 0\n"
		 "19275.216 A WFS 900 + 8 < 100 from 252,0 on 8,5\n"
		 "19275.640 A WFS 1900 + 8 < 900 from 8,5\n19276.602 Q WFS 1900 + 8\n");
	d = dev(&r);
	assert_int_equal(r.nr_bios, 1);
	assert_int_equal(r.bios[0].complete_ns - r.bios[0].queue_ns, 19184979);
	assert_int_equal(d->empty_flush_bios, 1);
	assert_int_equal(d->zero_ends, 1);
	assert_int_equal(d->unissued_ends, 1);
	assert_int_equal(d->requests[CLASS_FLUSH].count, 0);
	assert_int_equal(d->parents[0], DEVICE(8, 5));
	assert_int_equal(device(&r, DEVICE(8, 5))->parents[0], DEVICE(252, 0));
	assert_int_equal(r.nr_open_bios, 1);
	assert_int_equal(r.open_bios[0].remap_ns, 19275216);
	done(&r);
}

/* With flush commands the flush bio waits for one of its own. */
static void flush_not_alone(void **state)
{
	struct run r;

	(void)state;
	play(&r, "0 D FN 0 + 0\n5 T FN 0 + 0\n10 Q FWS 0 + 0\n11 G FWS 0 + 0\n12 T WS 0 + 0\n");
	assert_int_equal(r.nr_bios, 0);
	assert_int_equal(dev(&r)->partial_completions, 1);
	assert_int_equal(dev(&r)->in_flight, 1);
	done(&r);
}

/* dm-crypt over a partition: both remaps name the disk as their target. */
static void remap_chain(void **state)
{
	struct run r;

	(void)state;
	play(&r, "0 A W 700 + 8 < 500 from 253,3\n0.149 A W 800 + 8 < 700 from 8,3\n"
		 "0.299 Q W 800 + 8\n5.301 G W 800 + 8\n5.809 P N 0 + 0\n"
		 "6.262 A WS 708 + 8 < 508 from 253,3\n6.303 A WS 808 + 8 < 708 from 8,3\n"
		 "6.341 Q WS 808 + 8\n6.937 M WS 808 + 8\n9.435 D W 800 + 16\n"
		 "23558.761 T W 800 + 16\n");
	assert_int_equal(r.nr_ios, 1);
	assert_int_equal(r.ios[0].nr_bios, 2);
	assert_int_equal(r.ios[0].complete_ns - r.ios[0].issue_ns, 23549326);
	assert_int_equal(r.ios[0].issue_ns - r.ios[0].merge_ns, 2498);
	assert_int_equal(r.ios[0].remap_ns, 0);
	assert_int_equal(r.bios[0].complete_ns - r.bios[0].queue_ns, 23558462);
	assert_int_equal(r.bios[0].complete_ns - r.bios[0].remap_ns, 23558761);
	assert_int_equal(r.bios[1].complete_ns - r.bios[1].queue_ns, 23552420);
	assert_int_equal(dev(&r)->latency[PHASE_CHAIN_Q2C].n, 2);
	assert_int_equal(max_of(&r, PHASE_CHAIN_Q2C), 23558761);
	assert_int_equal(dev(&r)->nr_parents, 2);
	assert_int_equal(dev(&r)->parents[0], DEVICE(253, 3));
	assert_int_equal(dev(&r)->parents[1], DEVICE(8, 3));
	assert_false(r.ios[0].flags & EV_SYNC);
	done(&r);
}

/* One after the other; the last request has no D. */
static void unfinished(void **state)
{
	struct run r;

	(void)state;
	play(&r, "58.276 Q W 344 + 24\n59.493 G W 344 + 24\n61.287 I W 344 + 24\n"
		 "62.409 D W 344 + 24\n11980.458 T W 344 + 24\n12008.964 Q WS 368 + 8\n"
		 "12009.940 G WS 368 + 8\n12011.867 I WS 368 + 8\n12012.977 D WS 368 + 8\n"
		 "20333.777 T WS 368 + 8\n20363.426 Q WS 9216 + 8 p9\n20364.662 G WS 9216 + 8 p9\n"
		 "20365.942 Q WS 9224 + 8 p9\n20366.423 M WS 9224 + 8 p9\n");
	assert_int_equal(r.nr_ios, 2);
	assert_int_equal(r.ios[0].complete_ns - r.ios[0].issue_ns, 11918049);
	assert_int_equal(r.ios[1].complete_ns - r.ios[1].issue_ns, 8320800);
	assert_int_equal(dev(&r)->in_flight, 2); /* bios */
	assert_int_equal(r.nr_open, 1);
	assert_int_equal(r.open[0].nr_bios, 2);
	assert_int_equal(r.open[0].bytes, 16 * 512);
	assert_int_equal(r.open[0].issue_ns, TIME_NONE);
	assert_int_equal(r.nr_open_bios, 0);
	done(&r);
}

/* Completion of another class at exactly the range: never paired, both lost their other half. */
static void other_class(void **state)
{
	struct run r;

	(void)state;
	play(&r, "0 I WS 64 + 16\n1 D WS 64 + 16\n90100672 T R 64 + 16\n");
	assert_int_equal(dev(&r)->class_mismatches, 1);
	assert_int_equal(dev(&r)->orphan_completes, 1);
	assert_int_equal(dev(&r)->orphan_issues, 1);
	assert_int_equal(dev(&r)->in_flight, 0);
	assert_int_equal(dev(&r)->latency[PHASE_D2C].n, 0);
	assert_int_equal(dev(&r)->class_d2c[CLASS_WRITE].n, 0);
	assert_int_equal(r.nr_ios, 1);
	assert_true(r.ios[0].lost);
	assert_int_equal(r.ios[0].complete_ns, TIME_NONE);
	assert_int_equal(r.ios[0].end_ns, TIME_NONE);
	assert_int_equal(r.nr_orphans, 1);
	assert_int_equal(r.orphans[0].class, CLASS_READ);
	done(&r);
}

static void issued_twice(void **state)
{
	struct run r;

	(void)state;
	play(&r, "0 D WS 64 + 16\n500 D WS 64 + 16\n600 T WS 64 + 16\n");
	assert_int_equal(dev(&r)->orphan_issues, 1);
	assert_true(r.ios[0].lost);
	assert_false(r.ios[1].lost);
	assert_int_equal(dev(&r)->latency[PHASE_D2C].n, 1);
	assert_int_equal(max_of(&r, PHASE_D2C), 100000);
	done(&r);
}

/* Only D and C; a FUA write that the device does itself. */
static void issue_and_complete(void **state)
{
	struct run r;

	(void)state;
	play(&r, "100 D WS 768 + 32\n3622 T WS 768 + 32\n4000 D WFSU 768 + 32\n"
		 "7021 T WFSU 768 + 32\n");
	assert_int_equal(r.nr_ios, 2);
	assert_int_equal(r.ios[0].end_ns - r.ios[0].issue_ns, 3522000);
	assert_int_equal(r.ios[1].end_ns - r.ios[1].issue_ns, 3021000);
	assert_true(r.ios[1].flags & EV_ATOMIC);
	assert_int_equal(dev(&r)->in_flight, 0);
	done(&r);
}

/* Passthrough: a length in bytes, no sector; its C has neither. */
static void passthrough(void **state)
{
	struct run r;

	(void)state;
	play(&r, "8.134 D R 0 + 0 b4\n21.538 T R 0 + 0 b0\n38.813 D R 0 + 0 b24\n"
		 "44.356 T R 0 + 0 b0\n");
	assert_int_equal(r.nr_ios, 2);
	assert_int_equal(r.ios[0].complete_ns - r.ios[0].issue_ns, 13404);
	assert_int_equal(r.ios[1].complete_ns - r.ios[1].issue_ns, 5543);
	assert_int_equal(r.ios[1].bytes, 24);
	assert_int_equal(dev(&r)->requests[CLASS_PASSTHROUGH].count, 2);
	assert_int_equal(dev(&r)->requests[CLASS_PASSTHROUGH].bytes, 28);
	assert_int_equal(dev(&r)->requests[CLASS_READ].bytes, 0);
	assert_int_equal(dev(&r)->seeks, 0);
	assert_int_equal(dev(&r)->latency[PHASE_D2C].n, 2);
	assert_int_equal(dev(&r)->left_out, 0);
	done(&r);
}

/* Eight I/Os of which only one half each was seen: no latency may be made of them. */
static void half_seen(void **state)
{
	struct run r;

	(void)state;
	play(&r, "1.521 I W 312 + 8 p5\n3.047 T W 880 + 8\n6.293 D W 632 + 8\n21 T W 456 + 8\n"
		 "23.900 D W 1280 + 8\n42.195 A W 840 + 8 < 512\n42.601 Q W 840 + 8 p5\n"
		 "52.685 T W 520 + 8\n55.613 D W 1336 + 8\n");
	assert_int_equal(dev(&r)->orphan_completes, 3);
	assert_int_equal(r.nr_orphans, 3);
	assert_int_equal(dev(&r)->in_flight, 5);
	assert_int_equal(r.nr_open, 4);
	assert_int_equal(r.nr_open_bios, 1);
	assert_int_equal(r.open[0].insert_ns, 1521);
	assert_int_equal(r.open[3].issue_ns, 55613);
	for (int p = 0; p < PHASE_NR; p++) /* from A to Q is all that one of them shows */
		assert_int_equal(dev(&r)->latency[p].n, p == PHASE_A2Q);
	done(&r);
}

/* One request in the middle of a disk's queue; a completion of something earlier. */
static void one_of_many(void **state)
{
	struct run r;

	(void)state;
	play(&r, "0 D WS 248 + 8\n1175 A WS 552 + 8 < 56\n1175 Q WS 552 + 8 p5\n"
		 "1900 T WS 248 + 8\n2000 T WASM 304 + 8\n");
	assert_int_equal(max_of(&r, PHASE_D2C), 1900000);
	assert_int_equal(dev(&r)->orphan_completes, 1);
	assert_int_equal(dev(&r)->in_flight, 1);
	assert_int_equal(r.nr_open_bios, 1);
	done(&r);
}

/* Rows of a table. */
static void whole_requests(void **state)
{
	struct run r;

	(void)state;
	play(&r,
	     "0 IO WS 224 + 56 took 260000 p446 untimed\n0 IO FF 0 + 0 took 2900000 p446 untimed\n"
	     "0 IO WS 280 + 8 took 100000 p26 untimed\n0 IO FF 0 + 0 took 860000 p0 untimed\n");
	assert_int_equal(dev(&r)->whole_ios, 4);
	assert_int_equal(dev(&r)->requests[CLASS_WRITE].count, 2);
	assert_int_equal(dev(&r)->requests[CLASS_WRITE].bytes, 64 * 512);
	assert_int_equal(dev(&r)->requests[CLASS_FLUSH].count, 2);
	assert_int_equal(dev(&r)->class_d2c[CLASS_FLUSH].n, 2);
	assert_int_equal(dev(&r)->class_d2c[CLASS_FLUSH].max, 2900000);
	assert_int_equal(dev(&r)->latency[PHASE_D2C].n, 2);
	assert_int_equal(dev(&r)->seeks, 0);
	assert_true(r.sum.first_ns > r.sum.last_ns);
	assert_int_equal(r.sum.events, 4);
	assert_int_equal(r.sum.wait.from_ns, r.sum.wait.to_ns);
	assert_int_equal(r.nr_ios, 4);
	assert_int_equal(r.ios[0].whole_ns, 260000);
	assert_int_equal(r.ios[0].end_ns, TIME_NONE);
	assert_int_equal(r.ios[0].issue_ns, TIME_NONE);
	assert_int_equal(r.sum.nr_processes, 3);
	assert_int_equal(r.sum.processes[0]->pid, 446);
	assert_int_equal(r.sum.processes[0]->requests, 2);
	assert_int_equal(r.sum.processes[0]->write_bytes, 56 * 512);
	assert_int_equal(r.sum.processes[0]->q2c.n, 0);
	assert_int_equal(dev(&r)->in_flight, 0);
	conserved(&r);
	done(&r);
}

static void whole_requests_in_time(void **state)
{
	struct run r;

	(void)state;
	play(&r, "1000 IO R 8 + 8 took 250000\n2000 IO R 80 + 8 took 500000 fromq\n"
		 "2500 IO W 0 + 0 took 1000 nolen [5\n");
	assert_int_equal(r.sum.first_ns, 750000);
	assert_int_equal(r.sum.last_ns, 2500000);
	assert_int_equal(r.ios[0].issue_ns, 750000);
	assert_int_equal(r.ios[0].end_ns, 1000000);
	assert_int_equal(r.ios[1].queue_ns, 1500000);
	assert_int_equal(r.ios[1].issue_ns, TIME_NONE);
	assert_int_equal(dev(&r)->latency[PHASE_D2C].n, 2);
	assert_int_equal(dev(&r)->latency[PHASE_R_Q2C].n, 1);
	assert_int_equal(dev(&r)->class_r_q2c[CLASS_READ].max, 500000);
	assert_int_equal(r.sum.processes[0]->q2c.n, 1);
	assert_int_equal(r.sum.processes[0]->last_ns, 2500000);
	assert_int_equal(dev(&r)->bytes_unknown, 1);
	assert_int_equal(dev(&r)->requests[CLASS_WRITE].bytes, 0);
	assert_int_equal(dev(&r)->errors[0].error, EIO);
	done(&r);
}

/* Lengths that the input does not tell: joined by their start, and no byte is made up. */
static void without_lengths(void **state)
{
	struct run r;

	(void)state;
	play(&r, "0 Q WS 64 + 0 nolen\n1 G WS 64 + 0 nolen\n2 Q WS 72 + 0 nolen\n"
		 "3 M WS 72 + 0 nolen\n4 I WS 64 + 0 nolen\n5 D WS 64 + 0 nolen\n"
		 "55 T WS 64 + 0 nolen\n60 D R 800 + 0 nolen\n70 C R 800 + 8\n"
		 "80 D R 900 + 8\n90 T R 900 + 0 nolen\n");
	assert_int_equal(r.nr_ios, 3);
	assert_int_equal(r.ios[0].nr_bios, 2);
	assert_int_equal(r.ios[0].bytes, 0);
	assert_true(r.ios[0].flags & EV_NO_BYTES);
	assert_int_equal(r.ios[0].complete_ns - r.ios[0].issue_ns, 50000);
	assert_int_equal(dev(&r)->bios[CLASS_WRITE].count, 2);
	assert_int_equal(dev(&r)->bios[CLASS_WRITE].bytes, 0);
	assert_int_equal(dev(&r)->requests[CLASS_WRITE].bytes, 0);
	assert_int_equal(dev(&r)->completed_bytes[CLASS_WRITE], 0);
	assert_int_equal(dev(&r)->completed_bytes[CLASS_READ], 8 * 512);
	assert_int_equal(dev(&r)->bytes_unknown, 4);
	assert_int_equal(dev(&r)->latency[PHASE_BIO_Q2C].n, 1); /* what was merged to is a guess */
	assert_int_equal(r.sum.processes[0]->write_bytes, 0);
	assert_int_equal(r.sum.processes[0]->bytes_unknown, 2);
	assert_int_equal(dev(&r)->seeks, 0); /* from where is not known */
	assert_int_equal(dev(&r)->in_flight, 0);
	conserved(&r);
	done(&r);
}

/* G and D were cut out for one bio, seen for the other: no D, no d2c, no completed bytes. */
static void only_the_bio(void **state)
{
	struct run r;

	(void)state;
	play(&r, "0 Q R 8 + 8\n10 T R 8 + 8\n20 Q R 64 + 8\n21 G R 64 + 8\n22 D R 64 + 8\n"
		 "30 T R 64 + 8\n40 Q R 72 + 8\n41 Q R 80 + 8\n50 T R 72 + 16\n");
	assert_int_equal(r.nr_bios, 4);
	assert_int_equal(dev(&r)->latency[PHASE_BIO_Q2C].n, 4);
	assert_int_equal(dev(&r)->latency[PHASE_D2C].n, 1);
	assert_int_equal(dev(&r)->requests[CLASS_READ].count, 1);
	assert_int_equal(dev(&r)->completed_bytes[CLASS_READ], 8 * 512);
	assert_int_equal(dev(&r)->unissued_ends, 2);
	assert_int_equal(dev(&r)->unissued_ends_ns, 10000 + 9000);
	assert_int_equal(dev(&r)->in_flight, 0);
	conserved(&r);
	done(&r);
}

/* Text prints an M for merged requests as well. */
static void request_merge_as_m(void **state)
{
	struct run r;

	(void)state;
	play(&r, "10 Q W 108 + 8\n11 G W 108 + 8\n12 Q W 100 + 8\n13 G W 100 + 8\n"
		 "14 M W 108 + 8\n20 D W 100 + 16\n30 T W 100 + 16\n");
	assert_int_equal(r.nr_ios, 1);
	assert_int_equal(r.ios[0].nr_bios, 2);
	assert_int_equal(dev(&r)->rq_merges, 1);
	assert_int_equal(dev(&r)->back_merges, 0);
	assert_int_equal(dev(&r)->orphan_merges, 0);
	assert_int_equal(dev(&r)->in_flight, 0);
	done(&r);
}

/* A NOWAIT attempt and its retry, in text. */
static void nowait_in_text(void **state)
{
	struct run r;

	(void)state;
	play(&r, "0 Q WS 8 + 8\n1 T WS 8 + 8 [11\n500 Q WS 8 + 8 p9\n501 G WS 8 + 8 p9\n"
		 "502 D WS 8 + 8 p9\n600 T WS 8 + 8\n");
	assert_int_equal(dev(&r)->nowait_retries, 1);
	assert_int_equal(dev(&r)->nr_errors, 0);
	assert_int_equal(r.nr_bios, 1);
	assert_int_equal(max_of(&r, PHASE_BIO_Q2C), 600000);
	done(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bio_based),
		cmocka_unit_test(remapped_without_queue),
		cmocka_unit_test(cumulative_without_issue),
		cmocka_unit_test(cumulative_goes_on),
		cmocka_unit_test(longer_write_is_new),
		cmocka_unit_test(one_read),
		cmocka_unit_test(printed_per_bio),
		cmocka_unit_test(printed_per_bio_half_seen),
		cmocka_unit_test(cumulative_discard),
		cmocka_unit_test(cumulative_whole),
		cmocka_unit_test(cumulative_over_two),
		cmocka_unit_test(end_and_nothing_left),
		cmocka_unit_test(requeued),
		cmocka_unit_test(zone_append),
		cmocka_unit_test(zone_appends_at_once),
		cmocka_unit_test(flush_machine),
		cmocka_unit_test(lone_flush),
		cmocka_unit_test(flush_not_alone),
		cmocka_unit_test(remap_chain),
		cmocka_unit_test(unfinished),
		cmocka_unit_test(other_class),
		cmocka_unit_test(issued_twice),
		cmocka_unit_test(issue_and_complete),
		cmocka_unit_test(passthrough),
		cmocka_unit_test(half_seen),
		cmocka_unit_test(one_of_many),
		cmocka_unit_test(whole_requests),
		cmocka_unit_test(whole_requests_in_time),
		cmocka_unit_test(without_lengths),
		cmocka_unit_test(only_the_bio),
		cmocka_unit_test(request_merge_as_m),
		cmocka_unit_test(nowait_in_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
