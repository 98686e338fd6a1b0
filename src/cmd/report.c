// SPDX-License-Identifier: MIT
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/command.h"
#include "cmd/help.h"
#include "read/formats.h"
#include "track/track.h"
#include "view/report.h"

#define BATCH     256
#define LEAST_TOP 1
#define MOST_TOP  1000000

enum colour { COLOUR_AUTO, COLOUR_ALWAYS, COLOUR_NEVER };

struct options {
	bool json, show_ignored, help, window;
	enum colour colour;
	int top;
	double from_s, to_s; /* the window; to_s may be INFINITY */
};

static int parse_top(struct options *o, const char *text, struct error *err)
{
	char *end;
	long n = strtol(text, &end, 10);

	if (!*text || *end || n < LEAST_TOP || n > MOST_TOP)
		return error_usage(err, "--top takes a number from 1 on, not \"%s\"", text);
	o->top = (int)n;
	return 0;
}

/* "a:b" in seconds after the first event; either may be left out. */
static int parse_window(struct options *o, const char *text, struct error *err)
{
	const char *colon = strchr(text, ':');
	char *end;

	o->window = true;
	o->from_s = 0;
	o->to_s = (double)INFINITY;
	if (!colon)
		goto bad;
	if (colon != text) {
		o->from_s = strtod(text, &end);
		if (end != colon)
			goto bad;
	}
	if (colon[1]) {
		o->to_s = strtod(colon + 1, &end);
		if (*end)
			goto bad;
	}
	if (o->from_s >= 0 && o->from_s < o->to_s && o->from_s < 1e9)
		return 0;
bad:
	return error_usage(err, "--window takes FROM:TO in seconds, FROM before TO, not \"%s\"",
			   text);
}

static int parse_colour(struct options *o, const char *text, struct error *err)
{
	static const char *const words[] = { "auto", "always", "never" };

	for (int i = 0; i < 3; i++) {
		if (strcmp(text, words[i]))
			continue;
		o->colour = (enum colour)i;
		return 0;
	}
	return error_usage(err, "--color takes auto, always or never, not \"%s\"", text);
}

static int parse(struct options *o, int argc, char **argv, struct error *err)
{
	static const struct option longs[] = {
		{ "json", no_argument, NULL, 'j' },
		{ "top", required_argument, NULL, 't' },
		{ "window", required_argument, NULL, 'w' },
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
		else if (c == 't')
			ret = parse_top(o, optarg, err);
		else if (c == 'w')
			ret = parse_window(o, optarg, err);
		else if (c == 'i')
			o->show_ignored = true;
		else if (c == 'c')
			ret = parse_colour(o, optarg, err);
		else if (c == 'h')
			o->help = true;
		else if (c == ':')
			ret = error_usage(err, "%s needs a value", argv[optind - 1]);
		else
			ret = error_usage(err, "there is no option \"%s\" (see blklab help report)",
					  argv[optind - 1]);
	}
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

/* Everything that one report holds until it is printed. */
struct job {
	struct options opt;
	struct inputs inputs;
	struct facts facts;
	struct sources sources;
	struct source *merged;
	struct summary sum;
	struct verdict verdict;
	struct report report;
};

static void job_release(struct job *job)
{
	source_release(job->merged);
	sources_release(&job->sources);
	summary_release(&job->sum);
	facts_release(&job->facts);
	inputs_release(&job->inputs);
}

static uint64_t after(uint64_t genesis_ns, double seconds)
{
	return seconds >= 1e9 ? TIME_NONE : genesis_ns + (uint64_t)llround(seconds * 1e9);
}

/* The window and the waiter: --window, else the command's run time, else all there is. */
static struct track_options track_options(struct job *job)
{
	struct track_options to = { .from_ns = TIME_NONE, .to_ns = TIME_NONE };
	json_t *command = json_object_get(job->facts.meta, "command");
	struct report *r = &job->report;

	if (json_is_object(command)) {
		to.waiter_pid = (uint32_t)json_integer_value(json_object_get(command, "pid"));
		to.from_ns = (uint64_t)json_integer_value(json_object_get(command, "start_ns"));
		to.to_ns = (uint64_t)json_integer_value(json_object_get(command, "end_ns"));
		if (!to.from_ns || !to.to_ns)
			to.from_ns = to.to_ns = TIME_NONE;
	}
	if (job->opt.window) {
		to.from_ns = after(r->genesis_ns, job->opt.from_s);
		to.to_ns = after(r->genesis_ns, job->opt.to_s);
		to.count_window_only = true;
	}
	return to;
}

static int track(struct job *job, struct error *err)
{
	struct report *r = &job->report;
	struct event events[BATCH];
	struct track_options to;
	struct tracker *tracker;
	struct sink *sink;
	int nr, ret;

	nr = source_pull(job->merged, events, BATCH, err);
	if (nr < 0)
		return -1;
	r->genesis_ns = nr ? events[0].time_ns : 0;
	to = track_options(job);
	tracker = tracker_new(&to, &job->facts, &job->sum);
	sink = tracker_sink(tracker);
	if (nr)
		sink->ops->events(sink, events, nr);
	ret = pump(job->merged, &sink, 1, err);
	tracker_free(tracker);
	if (job->opt.window) {
		r->window_asked = true;
		r->window_from_ns = to.from_ns - r->genesis_ns;
		r->window_to_ns =
			(to.to_ns == TIME_NONE ? job->sum.last_ns : to.to_ns) - r->genesis_ns;
	}
	return ret;
}

static int load(struct job *job, char **paths, int nr, struct error *err)
{
	struct report *r = &job->report;

	for (int i = 0; i < nr; i++)
		if (inputs_add(&job->inputs, paths[i], err) < 0)
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
	return 0;
}

static void print(const struct job *job)
{
	json_t *tree = report_tree(&job->report);
	struct report_look look = {
		.colour = want_colour(job->opt.colour),
		.show_ignored = job->opt.show_ignored,
		.top = job->opt.top,
	};

	if (job->opt.json) {
		json_dumpf(tree, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
		fputc('\n', stdout);
	} else {
		report_text(tree, stdout, &look);
	}
	json_decref(tree);
}

static int run(int argc, char **argv, const struct sysroot *root, struct error *err)
{
	struct job job = { .opt = { .top = 10 } };
	int status = -1;

	if (parse(&job.opt, argc, argv, err) < 0)
		return -1;
	if (job.opt.help) {
		help_print("report");
		return STATUS_DONE;
	}
	facts_init(&job.facts);
	if (load(&job, argv + optind, argc - optind, err) == 0) {
		print(&job);
		status = report_has_losses(&job.report) ? STATUS_LOSSES : STATUS_DONE;
	}
	job_release(&job);
	return status;
}

const struct command cmd_report = {
	.name = "report",
	.summary = "say from a trace where the time went, and who caused it",
	.run = run,
};
