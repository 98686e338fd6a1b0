/* SPDX-License-Identifier: MIT
 *
 * One run of btt: reading, files, and what is said at the end.
 */
#include "classic/btt.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/limit.h"
#include "classic/blkparse.h"
#include "classic/btt_names.h"
#include "classic/btt_run.h"
#include "classic/stop.h"
#include "read/formats.h"

#define BATCH 256

/* Everything that is read from. */
struct reading {
	struct inputs inputs;
	struct facts facts;
	struct sources sources;
	struct source *merged;
	struct summary sum;
	uint64_t events;
	bool live; /* a pipe: Ctrl-C ends the reading, and what came gets its tables */
	struct stop stop;
};

/* ---- the files of tables, ranges and messages ---- */

static FILE *open_output(struct btt *b, const char *suffix, struct error *err)
{
	char *path = mem_printf("%s.%s", b->o->output, suffix);
	FILE *file = fopen(path, "w");

	if (!file)
		error_errno(err, errno, "%s", path);
	free(path);
	return file;
}

static int open_outputs(struct btt *b, struct error *err)
{
	b->avg = b->dat = b->msg = stdout;
	if (!b->o->output)
		return 0;
	b->dat = open_output(b, "dat", err);
	b->avg = b->dat ? open_output(b, "avg", err) : NULL;
	b->msg = b->avg ? open_output(b, "msg", err) : NULL;
	if (!b->msg)
		return -1;
	b->xvg = b->o->xvg ? open_output(b, "xvg", err) : NULL;
	return b->xvg || !b->o->xvg ? 0 : -1;
}

static void close_output(struct btt *b, FILE *file, const char *suffix)
{
	bool failed;

	if (!file || file == stdout)
		return;
	failed = ferror(file) != 0;
	if (fclose(file) == 0 && !failed)
		return;
	fprintf(stderr, "%s.%s: %s\n", b->o->output, suffix, strerror(errno));
	b->failed = true;
}

static void close_outputs(struct btt *b)
{
	close_output(b, b->avg, "avg");
	close_output(b, b->dat, "dat");
	close_output(b, b->msg, "msg");
	close_output(b, b->xvg, "xvg");
	b->avg = b->dat = b->msg = b->xvg = NULL;
}

/* ---- parts ---- */

static void make_parts(struct btt_run *run)
{
	for (size_t i = 0; i < nr_btt_parts; i++) {
		const struct btt_part *part = btt_parts[i];

		if (part->wanted && !part->wanted(run->b.o))
			continue;
		run->parts = mem_grow(run->parts, run->nr_parts, sizeof(*run->parts));
		run->parts[run->nr_parts++] =
			(struct running){ .part = part, .self = part->new (&run->b) };
	}
}

static void free_parts(struct btt_run *run)
{
	for (size_t i = 0; i < run->nr_parts; i++)
		run->parts[i].part->free(run->parts[i].self);
	free(run->parts);
}

/* ---- reading ---- */

/* A file that is no set of per-CPU files is what blkparse -d wrote: its times are taken as they are. */
static bool is_dump(const struct reading *r)
{
	for (size_t i = 0; i < r->inputs.nr; i++) {
		const struct input *in = &r->inputs.list[i];

		if (in->nr != 1 || strcmp(in->base, in->blobs[0].name) != 0)
			return false;
	}
	for (size_t i = 0; i < r->facts.nr_inputs; i++)
		if (strcmp(r->facts.inputs[i].format, "blktrace") != 0)
			return false;
	return true;
}

/* What two recordings of one device count would be added up. */
static int check_twice(const struct facts *facts, struct error *err)
{
	const struct device_twice *twice = &facts->twice;

	if (!twice->found)
		return 0;
	return error_set(err, "%.100s and %.100s are two recordings of device %u,%u",
			 facts->inputs[twice->first].path, facts->inputs[twice->second].path,
			 DEVICE_MAJOR(twice->device), DEVICE_MINOR(twice->device));
}

/* A dump of nothing: the classic has nothing to say about it, and succeeds. */
static bool is_empty(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && !st.st_size;
}

static int open_inputs(struct reading *r, const char *path, struct error *err)
{
	struct rlimit old;

	limit_raise_files(&old); /* there is a file per CPU, and plot files per device */
	r->live = input_is_pipe(path);
	if (inputs_add(&r->inputs, path, err) < 0 ||
	    inputs_open(&r->inputs, &r->facts, &r->sources, err) < 0)
		return -1;
	r->merged = merge_new(&r->sources);
	return 0;
}

static int read_all(struct btt_run *run, struct reading *r, struct error *err)
{
	struct event events[BATCH];
	struct sink *sink = tracker_sink(run->tracker);
	int nr;

	run->shift = !is_dump(r);
	while ((nr = source_pull(r->merged, events, BATCH, err)) > 0 &&
	       check_twice(&r->facts, err) == 0) {
		for (int i = 0; i < nr; i++)
			feed_event(run, &events[i]);
		r->events += (uint64_t)nr;
		if (r->live && stop_asked(r->stop.fd))
			break;
	}
	sink->ops->finish(sink);
	return nr < 0 ? -1 : check_twice(&r->facts, err);
}

/* ---- the end ---- */

static double seconds_since(const struct timespec *from)
{
	struct timespec to;

	clock_gettime(CLOCK_MONOTONIC, &to);
	return (double)(to.tv_sec - from->tv_sec) + (double)(to.tv_nsec - from->tv_nsec) / 1e9;
}

static void print_speed(const struct reading *r, const struct timespec *from)
{
	double s = seconds_since(from);

	printf("%10" PRIu64 " traces @ %.1f Ktps in %.6f seconds\n", r->events,
	       s > 0 ? (double)r->events / s / 1000 : 0.0, s);
}

/* The classic's status knows of no losses. */
static void tell_losses(const struct reading *r)
{
	struct source_stats stats = merge_stats(r->merged);
	uint64_t lost = facts_dropped(&r->facts, &stats);

	if (!facts_have_losses(&r->facts, &stats))
		return;
	fprintf(stderr,
		"btt: the input is not whole: %" PRIu64 " events are known to be lost, %" PRIu64
		" bytes of it are damaged or were not written; what they belonged to is missing\n",
		lost, stats.damaged_bytes + facts_unwritten_bytes(&r->facts));
}

static int run_all(struct btt_run *run, struct reading *r, struct error *err)
{
	const struct btt_options *o = run->b.o;
	struct timespec from;
	int ret;

	if (o->device_map) {
		run->b.map = btt_map_read(o->device_map, err);
		if (!run->b.map)
			return -1;
	}
	if (open_inputs(r, o->input, err) < 0 || open_outputs(&run->b, err) < 0)
		return -1;
	clock_gettime(CLOCK_MONOTONIC, &from);
	make_parts(run);
	if (r->live)
		stop_catch(&r->stop, true);
	ret = read_all(run, r, err);
	if (r->live)
		stop_release(&r->stop);
	if (ret < 0)
		return -1;
	if (o->verbose)
		print_speed(r, &from);
	feed_finish(run);
	tell_losses(r);
	return 0;
}

static void release_reading(struct reading *r)
{
	source_release(r->merged);
	sources_release(&r->sources);
	summary_release(&r->sum);
	facts_release(&r->facts);
	inputs_release(&r->inputs);
}

static void release_run(struct btt_run *run)
{
	struct btt *b = &run->b;

	tracker_free(run->tracker);
	feed_release(run);
	btt_processes_free(b->processes);
	btt_map_free(b->map);
	for (size_t i = 0; i < b->nr_devices; i++) {
		free(b->devices[i]->label);
		free(b->devices[i]);
	}
	free(b->devices);
	free(b->by_track);
}

int btt_run(const struct btt_options *o, struct error *err)
{
	struct reading r = { 0 };
	struct btt_run run = { .b = { .o = o, .facts = &r.facts, .sum = &r.sum } };
	struct track_options to = { .from_ns = TIME_NONE, .to_ns = TIME_NONE };
	int ret;

	if (is_empty(o->input)) {
		fprintf(stderr, "btt: %s is empty\n", o->input);
		return 0;
	}
	facts_init(&r.facts);
	feed_init(&run);
	run.b.processes = btt_processes_new();
	to.out = feed_sink(&run);
	run.tracker = tracker_new(&to, &r.facts, &r.sum);
	ret = run_all(&run, &r, err);
	free_parts(&run);
	close_outputs(&run.b);
	release_run(&run);
	release_reading(&r);
	return ret < 0 ? -1 : run.b.failed;
}
