// SPDX-License-Identifier: MIT
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/limit.h"
#include "base/mem.h"
#include "cmd/command.h"
#include "cmd/help.h"
#include "cmd/option.h"
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
	const char **only;   /* owned array; take only these of what was named */
	size_t nr_only;
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

static void add_only(struct options *o, const char *name)
{
	o->only = mem_grow(o->only, o->nr_only, sizeof(*o->only));
	o->only[o->nr_only++] = name;
}

static int parse(struct options *o, int argc, char **argv, struct error *err)
{
	static const struct option longs[] = {
		{ "json", no_argument, NULL, 'j' },
		{ "top", required_argument, NULL, 't' },
		{ "window", required_argument, NULL, 'w' },
		{ "only", required_argument, NULL, 'o' },
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
		else if (c == 'o')
			add_only(o, optarg);
		else if (c == 'i')
			o->show_ignored = true;
		else if (c == 'c')
			ret = parse_colour(o, optarg, err);
		else if (c == 'h')
			o->help = true;
		else
			ret = option_error(err, c, argv, longs);
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
	bool several; /* load failed: the one thing named holds several recordings */
};

static void job_release(struct job *job)
{
	source_release(job->merged);
	sources_release(&job->sources);
	summary_release(&job->sum);
	facts_release(&job->facts);
	inputs_release(&job->inputs);
	free(job->opt.only);
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

/* What stands behind the archive's or directory's name in an input's label. */
static const char *member_name(const char *label)
{
	const char *colon = strrchr(label, ':'), *slash = strrchr(label, '/');

	if (colon && (!slash || colon > slash))
		return colon + 1;
	return slash ? slash + 1 : label;
}

/* Two recordings of one device: what they count would be added up. */
static int check_twice(struct job *job, struct error *err)
{
	const struct device_twice *twice = &job->facts.twice;
	const char *a, *b, *member_a, *member_b;
	char hint[400] = "";

	if (!twice->found)
		return 0;
	a = job->facts.inputs[twice->first].path;
	b = job->facts.inputs[twice->second].path;
	member_a = member_name(a);
	member_b = member_name(b);
	if (member_a > a && member_a - a == member_b - b &&
	    !strncmp(a, b, (size_t)(member_a - a)) && strcmp(member_a, member_b)) {
		job->several = true;
		snprintf(hint, sizeof(hint), ", with --only %.100s and with --only %.100s",
			 member_a, member_b);
	}
	return error_set(err,
			 "%.100s and %.100s are two recordings of device %u,%u: report them one by "
			 "one%s",
			 a, b, DEVICE_MAJOR(twice->device), DEVICE_MINOR(twice->device), hint);
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
	if (nr < 0 || check_twice(job, err) < 0)
		return -1;
	r->genesis_ns = nr ? events[0].time_ns : count_of(job->facts.meta, "start_ns");
	to = track_options(job);
	tracker = tracker_new(&to, &job->facts, &job->sum);
	sink = tracker_sink(tracker);
	if (nr)
		sink->ops->events(sink, events, nr);
	ret = pump(job->merged, &sink, 1, err);
	tracker_free(tracker);
	if (ret < 0 || check_twice(job, err) < 0)
		return -1;
	return check_window(job, &to, err);
}

static bool is_called(const struct input *in, const char *name)
{
	const char *colon = strrchr(in->label, ':');

	return !strcmp(in->label, name) || !strcmp(member_name(in->label), name) ||
	       (colon && !strcmp(colon + 1, name));
}

static int no_such_member(const struct inputs *inputs, const char *name, struct error *err)
{
	char list[300] = "";
	size_t at = 0;

	for (size_t i = 0; i < inputs->nr && at < sizeof(list); i++)
		at += (size_t)snprintf(list + at, sizeof(list) - at, "%s%s", i ? ", " : "",
				       member_name(inputs->list[i].label));
	return error_usage(err, "--only: nothing is called \"%.100s\"; there is %s%s", name, list,
			   at < sizeof(list) ? "" : "...");
}

/* Drops all but what --only names. */
static int keep_only(struct inputs *inputs, const struct options *o, struct error *err)
{
	bool *keep = mem_zalloc(inputs->nr + 1);
	size_t left = 0;

	for (size_t n = 0; n < o->nr_only; n++) {
		bool found = false;

		for (size_t i = 0; i < inputs->nr; i++) {
			bool is = is_called(&inputs->list[i], o->only[n]);

			keep[i] |= is;
			found |= is;
		}
		if (!found) {
			free(keep);
			return no_such_member(inputs, o->only[n], err);
		}
	}
	for (size_t i = 0; i < inputs->nr; i++) {
		if (keep[i])
			inputs->list[left++] = inputs->list[i];
		else
			input_release(&inputs->list[i]);
	}
	inputs->nr = left;
	free(keep);
	return 0;
}

static int load(struct job *job, char **paths, int nr, struct error *err)
{
	struct report *r = &job->report;
	struct rlimit old_files;

	limit_raise_files(&old_files); /* there is a file per CPU */
	for (int i = 0; i < nr; i++)
		if (inputs_add(&job->inputs, paths[i], err) < 0)
			return -1;
	if (job->opt.nr_only && keep_only(&job->inputs, &job->opt, err) < 0)
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

/* The status of one report that could be made, or -1. */
static int report_job(struct job *job, char **paths, int nr, struct error *err)
{
	facts_init(&job->facts);
	if (load(job, paths, nr, err) < 0)
		return -1;
	print(job);
	return report_has_losses(&job->report) ? STATUS_LOSSES : STATUS_DONE;
}

/* One archive or folder with several recordings of one device: a page for each, one after the other. */
static int report_each(const struct job *whole, char **path, struct error *err)
{
	int worst = STATUS_DONE;

	for (size_t i = 0; i < whole->inputs.nr; i++) {
		struct job job = { .opt = whole->opt };
		const char *name = member_name(whole->inputs.list[i].label);
		int status;

		job.opt.only = NULL;
		add_only(&job.opt, name);
		printf("%s== %s (%zu of %zu in %s)\n", i ? "\n" : "", name, i + 1, whole->inputs.nr,
		       *path);
		status = report_job(&job, path, 1, err);
		job_release(&job);
		if (status < 0)
			return -1;
		worst = status > worst ? status : worst;
	}
	return worst;
}

static int run(int argc, char **argv, const struct sysroot *root, struct error *err)
{
	struct job job = { .opt = { .top = 10 } };
	int status = -1;

	if (parse(&job.opt, argc, argv, err) < 0) {
		facts_init(&job.facts);
	} else if (job.opt.help) {
		facts_init(&job.facts);
		help_print("report");
		status = STATUS_DONE;
	} else {
		status = report_job(&job, argv + optind, argc - optind, err);
		if (status < 0 && job.several && argc - optind == 1 && !job.opt.json &&
		    !job.opt.nr_only)
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
