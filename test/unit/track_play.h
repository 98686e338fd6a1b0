/* SPDX-License-Identifier: MIT
 *
 * The tracker against histories whose truth is known. Each file of tests includes this once.
 *
 * A history has one event a line, written as blkparse would print it:
 *	TIME ACTION RWBS SECTOR + SECTORS [MORE...]
 * TIME in us, with up to three decimals. ACTION as in blkparse; RM: a request merge, BC: a bio's C, T: a
 * C of a text, which does not tell what it is of, IO: a row of a table. MORE:
 *	/ SECTOR	X: the new bio's start
 *	< SECTOR	A: from where; from M,m: which device (otherwise UPPER)
 *	[ERRNO		C: the error
 *	pPID cpuN	otherwise 100 and 0
 *	upper, on M,m	the device (otherwise DISK)
 *	bBYTES		a length that is not of sectors (passthrough)
 *	nolen		the input does not tell the length
 *	landed		the C of a zone append is at the sector where it landed
 *	took NS		IO: its latency; fromq: since Q
 *	untimed		IO: no time
 */
#ifndef BLKLAB_TEST_TRACK_PLAY_H
#define BLKLAB_TEST_TRACK_PLAY_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cm.h"
#include "track/track.h"

#define DISK  DEVICE(8, 0)
#define UPPER DEVICE(9, 0)
#define MAX   64

struct run {
	struct facts facts;
	struct summary sum;
	struct io ios[MAX], open[MAX];
	struct io_bio bios[MAX], open_bios[MAX];
	struct event orphans[MAX];
	int nr_ios, nr_bios, nr_open, nr_open_bios, nr_orphans;
};

static void take_io(void *arg, const struct io *io)
{
	struct run *run = arg;

	assert_true(run->nr_ios < MAX);
	run->ios[run->nr_ios++] = *io;
}

static void take_bio(void *arg, const struct io_bio *bio)
{
	struct run *run = arg;

	assert_true(run->nr_bios < MAX);
	run->bios[run->nr_bios++] = *bio;
}

static void take_open(void *arg, const struct io *io)
{
	struct run *run = arg;

	assert_true(run->nr_open < MAX);
	run->open[run->nr_open++] = *io;
}

static void take_open_bio(void *arg, const struct io_bio *bio)
{
	struct run *run = arg;

	assert_true(run->nr_open_bios < MAX);
	run->open_bios[run->nr_open_bios++] = *bio;
}

static void take_orphan(void *arg, const struct event *ev)
{
	struct run *run = arg;

	assert_true(run->nr_orphans < MAX);
	run->orphans[run->nr_orphans++] = *ev;
}

static uint8_t action_of(const char *name)
{
	static const struct {
		const char *name;
		enum action action;
	} map[] = {
		{ "Q", ACT_QUEUE },      { "G", ACT_GETRQ },     { "M", ACT_BACKMERGE },
		{ "F", ACT_FRONTMERGE }, { "I", ACT_INSERT },    { "D", ACT_ISSUE },
		{ "C", ACT_COMPLETE },   { "R", ACT_REQUEUE },   { "X", ACT_SPLIT },
		{ "A", ACT_REMAP },      { "RM", ACT_RQ_MERGE }, { "BC", ACT_BIO_COMPLETE },
		{ "P", ACT_PLUG },       { "T", ACT_COMPLETE },  { "IO", ACT_IO },
		{ "B", ACT_BOUNCE },     { "U", ACT_UNPLUG },
	};

	for (size_t i = 0; i < sizeof(map) / sizeof(*map); i++)
		if (!strcmp(map[i].name, name))
			return (uint8_t)map[i].action;
	fail_msg("no action %s", name);
	return 0;
}

static uint64_t time_of(const char *text)
{
	char *end;
	uint64_t ns = strtoull(text, &end, 10) * 1000, unit = 100;

	if (*end == '.')
		for (end++; *end; end++, unit /= 10)
			ns += (uint64_t)(*end - '0') * unit;
	return ns;
}

static uint32_t device_of(const char *text)
{
	const char *comma = strchr(text, ',');

	return DEVICE(strtoul(text, NULL, 10), strtoul(comma + 1, NULL, 10));
}

/* One word of MORE; takes the next one where it needs it. */
static void more(struct event *ev, const char *word, char **save)
{
	if (!strcmp(word, "/")) {
		ev->aux_sector = strtoull(strtok_r(NULL, " ", save), NULL, 10);
	} else if (!strcmp(word, "<")) {
		ev->aux_device = UPPER;
		ev->aux_sector = strtoull(strtok_r(NULL, " ", save), NULL, 10);
	} else if (!strcmp(word, "from")) {
		ev->aux_device = device_of(strtok_r(NULL, " ", save));
	} else if (!strcmp(word, "on")) {
		ev->device = device_of(strtok_r(NULL, " ", save));
	} else if (!strcmp(word, "took")) {
		ev->aux_sector = strtoull(strtok_r(NULL, " ", save), NULL, 10);
	} else if (!strcmp(word, "upper")) {
		ev->device = UPPER;
	} else if (!strcmp(word, "nolen")) {
		ev->flags |= EV_NO_BYTES;
		ev->bytes = 0;
	} else if (!strcmp(word, "landed")) {
		ev->flags |= EV_LANDED;
	} else if (!strcmp(word, "fromq")) {
		ev->flags |= EV_FROM_QUEUE;
	} else if (!strcmp(word, "untimed")) {
		ev->time_ns = TIME_UNTOLD;
	} else if (!strncmp(word, "cpu", 3)) {
		ev->cpu = (uint16_t)atoi(word + 3);
	} else if (*word == '[') {
		ev->error = (int16_t)-atoi(word + 1);
	} else if (*word == 'p') {
		ev->pid = (uint32_t)atoi(word + 1);
	} else if (*word == 'b') {
		ev->bytes = (uint32_t)atoi(word + 1);
		ev->class = CLASS_PASSTHROUGH;
	} else {
		fail_msg("bad word: %s", word);
	}
}

static struct event parse(const char *line)
{
	struct event ev = { .device = DISK, .pid = 100 };
	char time[32], action[8], rwbs[16], rest[64] = "", *save = NULL;
	unsigned long long sector, n;

	if (sscanf(line, "%31s %7s %15s %llu + %llu %63[^\n]", time, action, rwbs, &sector, &n,
		   rest) < 5)
		fail_msg("bad line: %s", line);
	ev.time_ns = time_of(time);
	ev.action = action_of(action);
	ev.sector = sector;
	ev.bytes = (uint32_t)n * SECTOR_SIZE;
	event_set_rwbs(&ev, rwbs, strlen(rwbs), (uint32_t)n);
	if (!strcmp(action, "T"))
		ev.flags |= EV_UNTOLD_KIND;
	for (char *word = strtok_r(rest, " ", &save); word; word = strtok_r(NULL, " ", &save))
		more(&ev, word, &save);
	return ev;
}

static void add_cpu(struct cpu_sum *sum, const struct cpu_sum *cpu)
{
	sum->events += cpu->events;
	sum->splits += cpu->splits;
	io_counts_add(&sum->counts, &cpu->counts);
}

/* What is counted by CPU makes up the device's numbers. */
static void check_cpus(const struct device_sum *d)
{
	struct cpu_sum all = { 0 };
	uint64_t merges = 0, requeues = 0;

	for (size_t i = 0; i < d->nr_cpus; i++)
		if (d->cpus[i])
			add_cpu(&all, d->cpus[i]);
	if (d->cpu_untold)
		add_cpu(&all, d->cpu_untold);
	for (int c = 0; c < CLASS_NR; c++) {
		assert_int_equal(all.counts.bios[c].count, d->bios[c].count);
		assert_int_equal(all.counts.bios[c].bytes, d->bios[c].bytes);
		assert_int_equal(all.counts.requests[c].count, d->requests[c].count);
		assert_int_equal(all.counts.requests[c].bytes, d->requests[c].bytes);
		assert_int_equal(all.counts.completed[c].bytes, d->completed_bytes[c]);
		merges += all.counts.merges[c].count;
		requeues += all.counts.requeues_busy[c] + all.counts.requeues_failed[c];
	}
	assert_int_equal(merges, d->back_merges + d->front_merges);
	assert_int_equal(requeues, d->requeues_busy + d->requeues_failed);
	assert_int_equal(all.counts.rq_merges, d->rq_merges);
	assert_int_equal(all.counts.nowait_retries, d->nowait_retries);
	assert_int_equal(all.events, d->events);
	assert_int_equal(all.splits, d->splits);
	assert_int_equal(d->depths.max[DEPTH_ALL], d->depth_max);
}

static void play_with(struct run *run, struct track_options options, const char *text)
{
	struct tracker *t;
	struct sink *sink;
	char *copy = strdup(text), *save = NULL;

	options.out = (struct track_sink){ .bio = take_bio,
					   .request = take_io,
					   .open = take_open,
					   .open_bio = take_open_bio,
					   .orphan = take_orphan,
					   .arg = run };
	t = tracker_new(&options, &run->facts, &run->sum);
	sink = tracker_sink(t);
	for (char *line = strtok_r(copy, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		struct event ev = parse(line);

		sink->ops->events(sink, &ev, 1);
	}
	sink->ops->finish(sink);
	for (size_t i = 0; i < run->sum.nr_devices; i++)
		check_cpus(&run->sum.devices[i]);
	tracker_free(t);
	free(copy);
}

static void play(struct run *run, const char *text)
{
	struct track_options all = { .from_ns = TIME_NONE, .to_ns = TIME_NONE };

	*run = (struct run){ 0 };
	facts_init(&run->facts);
	play_with(run, all, text);
}

static void done(struct run *run)
{
	summary_release(&run->sum);
	facts_release(&run->facts);
}

static struct device_sum *dev(struct run *run)
{
	for (size_t i = 0; i < run->sum.nr_devices; i++)
		if (run->sum.devices[i].device == DISK)
			return &run->sum.devices[i];
	fail_msg("the disk is not in the summary");
	return NULL;
}

#endif
