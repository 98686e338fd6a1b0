// SPDX-License-Identifier: MIT
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "cmd/command.h"
#include "cmd/help.h"
#include "cmd/load.h"
#include "cmd/option.h"
#include "read/formats.h"
#include "trace/sink.h"
#include "view/verify.h"

struct options {
	bool json, help;
	struct only only;
};

static int parse(struct options *o, int argc, char **argv, struct error *err)
{
	static const struct option longs[] = {
		{ "json", no_argument, NULL, 'j' },
		{ "only", required_argument, NULL, 'o' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int c, ret = 0;

	opterr = 0;
	optind = 0; /* another parser may have run before */
	while (!ret && (c = getopt_long(argc, argv, ":h", longs, NULL)) != -1) {
		if (c == 'j')
			o->json = true;
		else if (c == 'o')
			only_add(&o->only, optarg);
		else if (c == 'h')
			o->help = true;
		else
			ret = option_error(err, c, argv, longs);
	}
	if (!ret && !o->help && optind == argc)
		ret = error_usage(err, "name a trace (see blklab help verify)");
	return ret;
}

struct job {
	struct options opt;
	struct inputs inputs;
	struct facts facts;
	struct verify_input *list; /* owned array, one for each input */
	size_t nr;
};

static void job_release(struct job *job)
{
	for (size_t i = 0; i < job->nr; i++)
		free(job->list[i].error);
	free(job->list);
	facts_release(&job->facts);
	inputs_release(&job->inputs);
	only_release(&job->opt.only);
}

/* Reads it to its end for nothing but its stats; 0, or -1 with why it is no trace. */
static int check_one(struct job *job, struct input *in, struct error *err)
{
	struct inputs one = { .list = in, .nr = 1 };
	struct verify_input *v = &job->list[job->nr];
	struct sources sources = { 0 };
	struct error why = { 0 };
	struct source *merged;
	int ret;

	*v = (struct verify_input){ .info = job->facts.nr_inputs,
				    .first_loss = job->facts.nr_losses };
	ret = inputs_open(&one, &job->facts, &sources, err);
	if (job->facts.nr_inputs == v->info) /* not even listed */
		return -1;
	job->nr++;
	if (!ret) {
		merged = merge_new(&sources);
		if (pump(merged, NULL, 0, &why) < 0)
			v->error = mem_strdup(why.text);
		v->stats = merge_stats(merged);
		source_release(merged);
	}
	sources_release(&sources);
	v->behind_loss = job->facts.nr_losses;
	return ret;
}

/* Or at least what tells of some: a drop count, damage. */
static bool has_events(const struct job *job)
{
	bool any = job->facts.dropped_told;

	for (size_t i = 0; i < job->nr; i++) {
		const struct verify_input *v = &job->list[i];

		any |= v->stats.events || v->stats.damages || v->stats.damaged_bytes ||
		       v->stats.lost || v->error || !job->facts.inputs[v->info].is_text;
	}
	return any;
}

static int check_all(struct job *job, char **paths, int nr, struct error *err)
{
	struct error first = { 0 };
	size_t used = 0;

	if (load_inputs(&job->inputs, paths, nr, &job->opt.only, &job->facts, err) < 0)
		return -1;
	job->list = mem_resize(NULL, job->inputs.nr + 1, sizeof(*job->list));
	for (size_t i = 0; i < job->inputs.nr; i++) {
		struct error why = { 0 };

		if (!check_one(job, &job->inputs.list[i], &why))
			used++;
		else if (!first.text[0])
			first = why;
	}
	if (used)
		return has_events(job)
			       ? 0
			       : error_set(err, "%s: no trace: it holds no events", paths[0]);
	if (!first.text[0])
		return error_set(err, "no trace was named");
	*err = first;
	return -1;
}

static int print(const struct job *job)
{
	json_t *tree = verify_tree(job->list, job->nr, &job->facts);
	bool lossy = json_is_false(json_object_get(tree, "whole"));

	if (job->opt.json) {
		json_dumpf(tree, stdout, JSON_INDENT(2));
		fputc('\n', stdout);
	} else {
		verify_text(tree, stdout);
	}
	json_decref(tree);
	return lossy ? STATUS_LOSSES : STATUS_DONE;
}

static int run(int argc, char **argv, const struct sysroot *root, struct error *err)
{
	struct job job = { 0 };
	int status = -1;

	facts_init(&job.facts);
	if (parse(&job.opt, argc, argv, err) < 0) {
		/* said by main */
	} else if (job.opt.help) {
		help_print("verify");
		status = STATUS_DONE;
	} else if (check_all(&job, argv + optind, argc - optind, err) == 0) {
		status = print(&job);
	}
	job_release(&job);
	return status;
}

const struct command cmd_verify = {
	.name = "verify",
	.summary = "say whether a trace is whole, and what is unsafe where it is not",
	.run = run,
};
