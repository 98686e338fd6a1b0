/* SPDX-License-Identifier: MIT
 *
 * The stored recordings (test/data) against numbers that were counted by other means: blkparse's own
 * lines and the reference's section 6, and for drops the capture log. Run from the top folder.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cm.h"
#include "read/formats.h"
#include "track/track.h"

struct run {
	struct inputs inputs;
	struct facts facts;
	struct sources sources;
	struct source_stats stats;
	struct summary sum;
};

static void load(struct run *run, const char *path, const char *member)
{
	struct track_options all = { .from_ns = TIME_NONE, .to_ns = TIME_NONE };
	struct error err = { 0 };
	struct tracker *t;
	struct source *merged;
	struct sink *sink;

	*run = (struct run){ 0 };
	facts_init(&run->facts);
	if (inputs_add(&run->inputs, path, &err) < 0)
		fail_msg("%s", err.text);
	/* One device of an archive of several: the others are dropped. */
	for (size_t i = 0; member && i < run->inputs.nr;) {
		if (!strcmp(run->inputs.list[i].base, member)) {
			i++;
			continue;
		}
		input_release(&run->inputs.list[i]);
		run->inputs.list[i] = run->inputs.list[--run->inputs.nr];
	}
	if (inputs_open(&run->inputs, &run->facts, &run->sources, &err) < 0)
		fail_msg("%s", err.text);
	merged = merge_new(&run->sources);
	t = tracker_new(&all, &run->facts, &run->sum);
	sink = tracker_sink(t);
	if (pump(merged, &sink, 1, &err) < 0)
		fail_msg("%s", err.text);
	run->stats = merge_stats(merged);
	tracker_free(t);
	source_release(merged);
}

static void unload(struct run *run)
{
	summary_release(&run->sum);
	facts_release(&run->facts);
	inputs_release(&run->inputs);
}

static const struct device_sum *dev(const struct run *run, unsigned int major, unsigned int minor)
{
	for (size_t i = 0; i < run->sum.nr_devices; i++)
		if (run->sum.devices[i].device == DEVICE(major, minor))
			return &run->sum.devices[i];
	fail_msg("no device %u,%u", major, minor);
	return NULL;
}

/* The two laws of model.md 1; they hold for a whole trace of a request-based device. */
static void conserved(const struct device_sum *d)
{
	uint64_t q = 0, issued = 0;

	for (int c = CLASS_READ; c < CLASS_NR; c++)
		q += d->bios[c].count;
	for (int c = CLASS_READ; c < CLASS_NR; c++)
		if (c != CLASS_FLUSH)
			issued += d->requests[c].count;
	assert_int_equal(q + d->splits, d->getrqs + d->back_merges + d->front_merges);
	assert_int_equal(d->getrqs, issued + d->rq_merges + d->empty_flush_bios);
	for (int c = CLASS_READ; c < CLASS_NR; c++) {
		assert_int_equal(d->completed_bytes[c], d->requests[c].bytes);
		assert_int_equal(d->bios[c].bytes, d->requests[c].bytes);
	}
	assert_int_equal(d->in_flight, 0);
	assert_int_equal(d->orphan_completes + d->orphan_issues + d->orphan_merges, 0);
	assert_int_equal(d->double_completions + d->class_mismatches + d->aged_out, 0);
}

static void whole(const struct run *run, uint64_t events)
{
	assert_int_equal(run->stats.events, events);
	assert_int_equal(run->sum.events, events);
	assert_int_equal(run->stats.sequence_gaps, 0);
	assert_int_equal(run->stats.damaged_bytes, 0);
	assert_int_equal(run->sum.time_backwards, 0);
	assert_int_equal(run->sum.unknown_events, 0);
}

static void sample(void **state)
{
	struct run r;
	const struct device_sum *d;

	(void)state;
	load(&r, "test/data/sample.tar.xz", NULL);
	whole(&r, 84398);
	assert_int_equal(r.sum.actions[ACT_QUEUE], 17416);
	assert_int_equal(r.sum.actions[ACT_GETRQ], 16163);
	assert_int_equal(r.sum.actions[ACT_BACKMERGE], 1376);
	assert_int_equal(r.sum.actions[ACT_SPLIT], 123);
	assert_int_equal(r.sum.actions[ACT_COMPLETE], 16776);
	assert_int_equal(r.sum.actions[ACT_ISSUE], 16568);
	assert_int_equal(r.sum.actions[ACT_PLUG], 15934);
	assert_int_equal(r.sum.actions[ACT_UNPLUG_TIMER], 20);
	assert_int_equal(r.sum.actions[ACT_INSERT], 22);
	d = dev(&r, 254, 0);
	assert_int_equal(d->requests[CLASS_READ].count, 7700);
	assert_int_equal(d->requests[CLASS_WRITE].count, 8456);
	assert_int_equal(d->requests[CLASS_DISCARD].count, 2);
	assert_int_equal(d->requests[CLASS_FLUSH].count, 410);
	assert_int_equal(d->flush_stages, 405 + 5);
	assert_int_equal(d->flush_writes, 203);
	assert_int_equal(d->empty_flush_bios, 5);
	assert_int_equal(d->bios[CLASS_FLUSH].count, 5);
	assert_int_equal(d->zero_ends, 208);
	assert_int_equal(d->bios[CLASS_READ].count, 7700);
	assert_int_equal(d->bios[CLASS_WRITE].count, 17416 - 7700 - 2 - 5);
	assert_int_equal(d->bios[CLASS_READ].bytes, 31649 * 1024);
	assert_int_equal(d->latency[PHASE_BIO_Q2C].n, 17416);
	assert_int_equal(d->latency[PHASE_Q2M].n, 1376);
	assert_int_equal(d->latency[PHASE_D2C].n, 16158);
	assert_int_equal(d->nr_errors, 0);
	assert_int_equal(r.sum.last_ns - r.sum.first_ns, 11220910960);
	conserved(d);
	unload(&r);
}

static void ddsync(void **state)
{
	struct run r;
	const struct device_sum *d;

	(void)state;
	load(&r, "test/data/ddsync.tar.xz", NULL);
	whole(&r, 9099);
	d = dev(&r, 254, 0);
	conserved(d);
	assert_int_equal(r.sum.actions[ACT_REMAP], 1735);
	assert_int_equal(d->latency[PHASE_A2Q].n, 1735); /* from the partition */
	assert_int_equal(d->nr_parents, 1);
	assert_int_equal(d->remapped_in, 0);
	assert_int_equal(d->empty_flush_bios, 1);
	assert_int_equal(d->flush_writes + d->empty_flush_bios, d->zero_ends);
	unload(&r);
}

static void pair(void **state)
{
	static const struct {
		const char *name;
		uint64_t events, reads, writes, flushes;
	} runs[] = { { "a", 135970, 24521, 1284, 806 }, { "b", 115541, 20981, 1212, 0 } };

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct run r;
		const struct device_sum *d;

		load(&r, "test/data/pair.tar.xz", runs[i].name);
		whole(&r, runs[i].events);
		d = dev(&r, 254, 0);
		conserved(d);
		assert_int_equal(d->requests[CLASS_READ].count, runs[i].reads);
		assert_int_equal(d->requests[CLASS_WRITE].count, runs[i].writes);
		assert_int_equal(d->requests[CLASS_FLUSH].count, runs[i].flushes);
		unload(&r);
	}
}

static void raid(void **state)
{
	struct run r;
	const struct device_sum *md, *vdd, *vde;

	(void)state;
	load(&r, "test/data/raid.tar.xz", NULL);
	whole(&r, 5060 + 5739 + 5619);
	md = dev(&r, 9, 0);
	vdd = dev(&r, 254, 48);
	vde = dev(&r, 254, 64);
	conserved(vdd);
	conserved(vde);
	assert_false(md->have_requests);
	assert_true(md->mapped);
	assert_int_equal(md->bios[CLASS_WRITE].count, 61 + 67);
	assert_int_equal(md->splits, 1593);
	assert_int_equal(md->latency[PHASE_BIO_Q2C].n, 135);
	assert_int_equal(md->in_flight, 0);
	/* RAID 0: every byte goes to one of the two */
	assert_int_equal(md->bios[CLASS_WRITE].bytes,
			 vdd->bios[CLASS_WRITE].bytes + vde->bios[CLASS_WRITE].bytes);
	assert_int_equal(md->completed_bytes[CLASS_WRITE], md->bios[CLASS_WRITE].bytes);
	assert_int_equal(vdd->parents[0], DEVICE(9, 0));
	unload(&r);
}

static void scsi(void **state)
{
	struct run r;
	const struct device_sum *d;

	(void)state;
	load(&r, "test/data/scsi.tar.xz", NULL);
	whole(&r, 10565 + 18082); /* blkparse drops the messages: their cgroup flag */
	d = dev(&r, 8, 0);
	conserved(d);
	assert_int_equal(r.sum.messages, 18082);
	assert_int_equal(d->nr_errors, 1);
	assert_int_equal(d->errors[0].error, ENODATA);
	assert_int_equal(d->errors[0].error, 61);
	assert_int_equal(d->errors[0].count, 3);
	assert_int_equal(d->partial_completions, 3); /* the zero-byte Cs before them */
	assert_int_equal(d->requests[CLASS_DISCARD].count, 7);
	assert_int_equal(d->requests[CLASS_FLUSH].count, 89);
	assert_int_equal(d->flush_writes, 60);
	assert_int_equal(d->empty_flush_bios, 29);
	unload(&r);
}

/* 6,550 events are missing and the files do not show it. */
static void drops(void **state)
{
	struct run r;
	const struct device_sum *d;

	(void)state;
	load(&r, "test/data/drops.tar.xz", "nullb0");
	whole(&r, 280005);
	d = dev(&r, 253, 0);
	assert_false(r.facts.dropped_told);
	assert_non_null(r.facts.dropped_unknown_why);
	assert_int_equal(r.sum.actions[ACT_ISSUE] - r.sum.actions[ACT_COMPLETE], 1);
	assert_int_equal(d->in_flight, 8);
	/* what lost its G is not waited for, and not taken for a later bio of the same place */
	assert_true(d->aged_out > 0);
	assert_true(d->latency[PHASE_BIO_Q2C].max < 10000000);
	unload(&r);
	load(&r, "test/data/drops.tar.xz", NULL);
	assert_true(r.facts.dropped_told);
	assert_int_equal(r.facts.dropped, 6550);
	unload(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sample), cmocka_unit_test(ddsync), cmocka_unit_test(pair),
		cmocka_unit_test(raid),   cmocka_unit_test(scsi),   cmocka_unit_test(drops),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
