// SPDX-License-Identifier: MIT
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/container.h"
#include "cmd/command.h"
#include "cmd/help.h"
#include "cmd/load.h"
#include "cmd/option.h"
#include "cmd/report_options.h"
#include "read/formats.h"
#include "track/breakdown.h"
#include "track/track.h"
#include "view/fan.h"
#include "view/report.h"

#define BATCH    256
#define TOP_ROWS 10 /* where --top is not given */

static int parse(struct report_options *o, int argc, char **argv, struct error *err)
{
	static const struct option longs[] = {
		{ "json", no_argument, NULL, 'j' },
		{ "csv", no_argument, NULL, 'v' },
		{ "by", required_argument, NULL, 'b' },
		{ "top", required_argument, NULL, 't' },
		{ "window", required_argument, NULL, 'w' },
		{ "only", required_argument, NULL, 'o' },
		{ "requests", no_argument, NULL, 'r' },
		{ "align", required_argument, NULL, 'a' },
		{ "show-ignored", no_argument, NULL, 'i' },
		{ "color", required_argument, NULL, 'c' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int c, ret = 0;

	opterr = 0;
	optind = 0; /* another parser may have run before */
	while (!ret && (c = getopt_long(argc, argv, ":h", longs, NULL)) != -1) {
		if (c == 'j')
			o->json = true;
		else if (c == 'v')
			o->csv = true;
		else if (c == 'b')
			ret = parse_by(o, optarg, err);
		else if (c == 't')
			ret = parse_top(o, optarg, err);
		else if (c == 'w')
			ret = parse_window(o, optarg, err);
		else if (c == 'o')
			only_add(&o->only, optarg);
		else if (c == 'r')
			o->requests = true;
		else if (c == 'a')
			ret = parse_align(o, optarg, err);
		else if (c == 'i')
			o->show_ignored = true;
		else if (c == 'c')
			ret = parse_colour(o, optarg, err);
		else if (c == 'h')
			o->help = true;
		else
			ret = option_error(err, c, argv, longs);
	}
	if (!ret && !o->help)
		ret = check_options(o, err);
	if (!ret && !o->help && optind == argc)
		ret = error_usage(err, "name a trace (see blklab help report)");
	return ret;
}

static bool want_colour(enum colour colour)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	if (colour != COLOUR_AUTO)
		return colour == COLOUR_ALWAYS;
	return isatty(STDOUT_FILENO) && !(no && *no) && !(term && !strcmp(term, "dumb"));
}

/* All EV_* of writes together: some need a word. */
struct flags_sink {
	struct sink sink;
	uint32_t seen;
};

static void flags_events(struct sink *self, const struct event *events, int nr)
{
	struct flags_sink *flags = container_of(self, struct flags_sink, sink);

	for (int i = 0; i < nr; i++)
		flags->seen |= events[i].class == CLASS_WRITE ? events[i].flags : 0;
}

static void flags_end(struct sink *self)
{
}

static const struct sink_ops flags_ops = { flags_events, flags_end, flags_end };

/* Everything that one report holds until it is printed. */
struct job {
	struct report_options opt;
	struct inputs inputs;
	struct facts facts;
	struct sources sources;
	struct source *merged;
	struct summary sum;
	struct verdict verdict;
	struct request_list *requests; /* or NULL */
	struct alignment *alignment;   /* or NULL */
	struct breakdown *by;          /* or NULL */
	struct fan fan;
	struct flags_sink flags;
	struct report report;
	bool one_path; /* was named: an archive or folder where it is several inputs */
};

static void job_release(struct job *job)
{
	source_release(job->merged);
	sources_release(&job->sources);
	request_list_free(job->requests);
	alignment_free(job->alignment);
	breakdown_free(job->by);
	summary_release(&job->sum);
	facts_release(&job->facts);
	inputs_release(&job->inputs);
	only_release(&job->opt.only);
}

static uint64_t after(uint64_t genesis_ns, double seconds)
{
	return seconds >= 1e9 ? TIME_NONE : genesis_ns + (uint64_t)llround(seconds * 1e9);
}

static uint64_t count_of(const json_t *object, const char *key)
{
	json_int_t n = json_integer_value(json_object_get(object, key));

	return n > 0 ? (uint64_t)n : 0;
}

/* Where no --window is asked for: the command's run time as far as it was recorded, else the
 * recording, else all there is. */
static enum report_window own_window(const json_t *meta, struct track_options *to)
{
	const json_t *command = json_object_get(meta, "command");
	uint64_t start = count_of(meta, "start_ns"), end = count_of(meta, "end_ns");
	uint64_t from = count_of(command, "start_ns"), until = count_of(command, "end_ns");

	if (end && (!until || until > end))
		until = end;
	if (from && until > from) {
		to->from_ns = from;
		to->to_ns = until;
		return REPORT_COMMAND;
	}
	if (!start || end <= start)
		return REPORT_FIRST_TO_LAST;
	to->from_ns = start;
	to->to_ns = end;
	return REPORT_RECORDING;
}

static struct track_options track_options(struct job *job)
{
	struct track_options to = { .from_ns = TIME_NONE, .to_ns = TIME_NONE };
	const json_t *meta = job->facts.meta;
	struct report *r = &job->report;

	to.waiter_pid = (uint32_t)count_of(json_object_get(meta, "command"), "pid");
	if (!job->opt.window) {
		r->window = own_window(meta, &to);
		return to;
	}
	r->window = REPORT_ASKED;
	to.from_ns = after(r->genesis_ns, job->opt.from_s);
	to.to_ns = after(r->genesis_ns, job->opt.to_s);
	to.count_window_only = true;
	return to;
}

/* --window must lie in the trace; TO may be as much beyond its end as rounding can make. */
static int check_window(struct job *job, const struct track_options *to, struct error *err)
{
	uint64_t end = job->sum.last_ns, recorded = count_of(job->facts.meta, "end_ns");
	struct report *r = &job->report;
	const char *what = NULL;

	if (r->window != REPORT_ASKED || job->sum.first_ns > end)
		return 0;
	if (recorded > end)
		end = recorded;
	if (to->from_ns > end)
		what = "begins";
	else if (to->to_ns != TIME_NONE && to->to_ns > end + (end - r->genesis_ns) / 100)
		what = "ends";
	if (what)
		return error_usage(err, "--window %s after the trace, which ends at %.9g s", what,
				   (double)(end - r->genesis_ns) / 1e9);
	r->window_from_ns = to->from_ns - r->genesis_ns;
	r->window_to_ns = (to->to_ns == TIME_NONE ? job->sum.last_ns : to->to_ns) - r->genesis_ns;
	return 0;
}

/* What else looks at the events or takes finished I/O; fills sinks (room for 3) behind the tracker's. */
static size_t add_sinks(struct job *job, struct track_options *to, struct sink **sinks)
{
	bool cut = to->count_window_only;
	uint64_t from_ns = cut ? to->from_ns : TIME_NONE, to_ns = cut ? to->to_ns : TIME_NONE;
	size_t nr = 1;

	if (job->opt.requests) {
		job->requests = request_list_new((size_t)job->opt.top, from_ns, to_ns, &job->sum);
		fan_add(&job->fan, request_list_sink(job->requests));
	}
	if (job->opt.grouped) {
		const struct breakdown_options by = { .key = job->opt.by,
						      .slice_ns = job->opt.slice_ns,
						      .origin_ns = job->report.genesis_ns,
						      .from_ns = from_ns,
						      .to_ns = to_ns };

		job->by = breakdown_new(&by, &job->facts.names);
		fan_add(&job->fan, breakdown_sink(job->by));
	}
	to->out = fan_sink(&job->fan);
	if (job->opt.align) {
		job->alignment = alignment_new(job->opt.align, from_ns, to_ns);
		sinks[nr++] = alignment_sink(job->alignment);
	}
	job->flags.sink.ops = &flags_ops;
	sinks[nr++] = &job->flags.sink;
	return nr;
}

/* Time 0: the first event's, where events have times. */
static uint64_t genesis(const struct job *job, const struct event *events, int nr)
{
	if (!nr)
		return count_of(job->facts.meta, "start_ns");
	return events[0].time_ns == TIME_UNTOLD ? 0 : events[0].time_ns;
}

static int track(struct job *job, struct error *err)
{
	const struct inputs *together = job->one_path ? &job->inputs : NULL;
	struct report *r = &job->report;
	struct event events[BATCH];
	struct track_options to;
	struct tracker *tracker;
	struct sink *sinks[3];
	size_t nr_sinks;
	int nr, ret;

	nr = source_pull(job->merged, events, BATCH, err);
	if (nr < 0 || load_check_twice(&job->facts, together, err) < 0)
		return -1;
	r->genesis_ns = genesis(job, events, nr);
	to = track_options(job);
	nr_sinks = add_sinks(job, &to, sinks);
	tracker = tracker_new(&to, &job->facts, &job->sum);
	sinks[0] = tracker_sink(tracker);
	for (size_t i = 0; nr && i < nr_sinks; i++)
		sinks[i]->ops->events(sinks[i], events, nr);
	ret = pump(job->merged, sinks, nr_sinks, err);
	tracker_free(tracker);
	if (ret < 0 || load_check_twice(&job->facts, together, err) < 0)
		return -1;
	if (job->requests)
		request_list_finish(job->requests);
	if (job->by)
		breakdown_finish(job->by);
	return check_window(job, &to, err);
}

static int load(struct job *job, char **paths, int nr, struct error *err)
{
	struct report *r = &job->report;

	job->one_path = nr == 1;
	if (load_inputs(&job->inputs, paths, nr, &job->opt.only, &job->facts, err) < 0)
		return -1;
	if (inputs_open(&job->inputs, &job->facts, &job->sources, err) < 0)
		return -1;
	job->merged = merge_new(&job->sources);
	if (track(job, err) < 0)
		return -1;
	verdict_decide(&job->verdict, &job->sum.wait, &job->sum);
	r->sum = &job->sum;
	r->facts = &job->facts;
	r->stats = &job->merged->stats;
	r->wait = &job->sum.wait;
	r->verdict = &job->verdict;
	r->requests = job->requests;
	r->alignment = job->alignment;
	r->by = job->by;
	r->flags_seen = job->flags.seen;
	return 0;
}

/* A table has no place for what makes its numbers unsafe. */
static void print_csv(const struct report *r)
{
	report_csv(r, stdout);
	if (report_has_losses(r))
		fputs("blklab: report: events are known lost or bytes damaged: the numbers are "
		      "estimates (report without --csv says what)\n",
		      stderr);
}

static void print(const struct job *job)
{
	struct report_look look = {
		.colour = want_colour(job->opt.colour),
		.show_ignored = job->opt.show_ignored,
		.top = job->opt.top ? job->opt.top : TOP_ROWS,
		.report = &job->report,
	};
	json_t *tree;

	if (job->opt.csv) {
		print_csv(&job->report);
		return;
	}
	tree = report_tree(&job->report);
	if (job->opt.json)
		report_json(&job->report, tree, stdout);
	else
		report_text(tree, stdout, &look);
	json_decref(tree);
}

/* The status of one report that could be made, or -1. */
static int report_job(struct job *job, char **paths, int nr, struct error *err)
{
	facts_init(&job->facts);
	if (load(job, paths, nr, err) < 0)
		return -1;
	print(job);
	return report_has_losses(&job->report) ? STATUS_LOSSES : STATUS_DONE;
}

/* Was it opened, and is of no use? */
static bool was_ignored(const struct facts *facts, const char *label)
{
	bool ignored = false;

	for (size_t i = 0; i < facts->nr_inputs; i++) {
		if (strcmp(facts->inputs[i].path, label))
			continue;
		if (!facts->inputs[i].ignored)
			return false;
		ignored = true;
	}
	return ignored;
}

/* One archive or folder with several recordings of one device: a page for each, one after the other.
 * What is no recording is on the first page, which says so. */
static int report_each(const struct job *whole, char **path, struct error *err)
{
	const struct inputs *all = &whole->inputs;
	size_t nr = 0, at = 0;
	int worst = STATUS_DONE;

	for (size_t i = 0; i < all->nr; i++)
		nr += !was_ignored(&whole->facts, all->list[i].label);
	for (size_t i = 0; i < all->nr; i++) {
		const char *label = all->list[i].label;
		struct job job = { .opt = whole->opt };
		int status;

		if (was_ignored(&whole->facts, label))
			continue;
		job.opt.only = (struct only){ 0 };
		only_add(&job.opt.only, label);
		for (size_t k = 0; !at && k < all->nr; k++)
			if (was_ignored(&whole->facts, all->list[k].label))
				only_add(&job.opt.only, all->list[k].label);
		printf("%s== %s (%zu of %zu in %s)\n", at ? "\n" : "", member_name(all, label),
		       at + 1, nr, *path);
		at++;
		status = report_job(&job, path, 1, err);
		job_release(&job);
		if (status < 0)
			return -1;
		worst = status > worst ? status : worst;
	}
	return worst;
}

/* Two recordings of one device were found in the one thing that was named, which can be read again. */
static bool wants_each(const struct job *job, const char *path)
{
	struct stat st;

	return job->facts.twice.found && job->one_path && !job->opt.json && !job->opt.csv &&
	       !job->opt.only.nr && strcmp(path, "-") != 0 && !stat(path, &st) &&
	       (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode));
}

static int run(int argc, char **argv, const struct sysroot *root, struct error *err)
{
	struct job job = { 0 };
	int status = -1;

	if (parse(&job.opt, argc, argv, err) < 0) {
		facts_init(&job.facts);
	} else if (job.opt.help) {
		facts_init(&job.facts);
		help_print("report");
		status = STATUS_DONE;
	} else {
		status = report_job(&job, argv + optind, argc - optind, err);
		if (status < 0 && wants_each(&job, argv[optind]))
			status = report_each(&job, argv + optind, err);
	}
	job_release(&job);
	return status;
}

const struct command cmd_report = {
	.name = "report",
	.summary = "say from a trace where the time went, and who caused it",
	.run = run,
};
