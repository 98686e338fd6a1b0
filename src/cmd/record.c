/* SPDX-License-Identifier: MIT */
#include "record/record.h"

#include <errno.h>
#include <linux/magic.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/printable.h"
#include "cmd/command.h"
#include "cmd/help.h"
#include "cmd/option.h"
#include "trace/event.h"

#define BUFFER_LEAST (64 << 10)
#define BUFFER_MOST  ((uint64_t)1 << 30)

enum {
	OPT_MOUNT = 256,
	OPT_BACKEND,
	OPT_FOR,
	OPT_BUFFER,
	OPT_NO_PLUG,
	OPT_PLUG,
	OPT_EXIT,
	OPT_NO_REPORT,
	OPT_SLOWER,
	OPT_PID,
	OPT_CLASS,
	OPT_CGROUP
};

struct options {
	struct record_options record;
	const char **devices, **mounts; /* owned arrays of borrowed strings */
	bool exit_with_command, no_report, help;
	bool progress_shown; /* a line without an end is on the terminal */
};

static void wipe_progress(struct options *o)
{
	if (o->progress_shown)
		fputs("\r\033[K", stderr);
	o->progress_shown = false;
}

static void say(void *arg, const char *sentence)
{
	char *clean = printable(sentence);

	wipe_progress(arg);
	fprintf(stderr, "blklab: record: %s\n", clean);
	free(clean);
}

static void progress(void *arg, double elapsed_s, uint64_t bytes)
{
	struct options *o = arg;

	fprintf(stderr, "\r\033[Krecording: %.0f s, %.1f MiB%s", elapsed_s,
		(double)bytes / (1 << 20), o->record.command ? "" : " (^C stops)");
	fflush(stderr);
	o->progress_shown = true;
}

static int parse_for(struct options *o, const char *text, struct error *err)
{
	char *end;
	double seconds = strtod(text, &end);

	if (end == text || strcmp(end, *end == 's' ? "s" : "") || !(seconds >= 0.001) ||
	    seconds > 1e8)
		return error_usage(err, "--for takes seconds, not \"%s\"", text);
	o->record.for_ns = (uint64_t)llround(seconds * 1e9);
	return 0;
}

static int parse_buffer(struct options *o, const char *text, struct error *err)
{
	char *end;
	double size = strtod(text, &end);
	double unit = !strcmp(end, "K")            ? 1 << 10
		      : !strcmp(end, "M") || !*end ? 1 << 20
		      : !strcmp(end, "G")          ? 1 << 30
						   : 0;

	if (end == text || !(size * unit >= BUFFER_LEAST) || size * unit > (double)BUFFER_MOST)
		return error_usage(err, "--buffer takes 64K to 1G per CPU, not \"%s\"", text);
	o->record.buffer_bytes = (uint64_t)(size * unit);
	return 0;
}

static int parse_slower(struct options *o, const char *text, struct error *err)
{
	static const struct {
		const char *unit;
		double ns;
	} units[] = { { "s", 1e9 }, { "ms", 1e6 }, { "us", 1e3 } };
	char *end;
	double value = strtod(text, &end);

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (end != text && !strcmp(end, units[i].unit) && value * units[i].ns >= 1000 &&
		    value * units[i].ns < 1e13) {
			o->record.filter.slower_ns = (uint64_t)llround(value * units[i].ns);
			return 0;
		}
	return error_usage(err, "--slower takes a time like 10ms, 500us or 2s, not \"%s\"", text);
}

static int parse_pid(struct options *o, const char *text, struct error *err)
{
	char *end;
	unsigned long pid = strtoul(text, &end, 10);

	if (*text < '1' || *text > '9' || *end || pid > INT32_MAX)
		return error_usage(err, "--pid takes the number of a process, not \"%s\"", text);
	o->record.filter.pid = (uint32_t)pid;
	return 0;
}

static int parse_class(struct options *o, const char *text, struct error *err)
{
	while (*text) {
		size_t len = strcspn(text, ",");
		int class = CLASS_READ;

		while (class < CLASS_OTHER &&
		       (strncmp(class_name((enum io_class) class), text, len) ||
			class_name((enum io_class) class)[len]))
			class ++;
		if (class == CLASS_OTHER)
			return error_usage(
				err,
				"--class takes read, write, discard, write_zeroes, flush, "
				"zone, passthrough, with commas between, not \"%s\"",
				text);
		o->record.filter.classes |= 1u << class;
		text += len + (text[len] == ',');
	}
	return o->record.filter.classes ? 0 : error_usage(err, "--class takes a class");
}

/* Its directory's number is the cgroup's id. */
static int parse_cgroup(struct options *o, const char *path, struct error *err)
{
	struct statfs fs;
	struct stat st;

	if (statfs(path, &fs) || stat(path, &st))
		return error_errno(err, errno, "cannot look at the cgroup %.200s", path);
	if (fs.f_type != CGROUP2_SUPER_MAGIC && fs.f_type != CGROUP_SUPER_MAGIC)
		return error_usage(err, "%.200s is no directory of a cgroup file system", path);
	o->record.filter.cgroup = st.st_ino;
	return 0;
}

static void add(const char ***list, size_t *nr, const char *text)
{
	*list = mem_grow(*list, *nr, sizeof(**list));
	(*list)[(*nr)++] = text;
}

static const struct option longs[] = {
	{ "device", required_argument, NULL, 'd' },
	{ "output", required_argument, NULL, 'o' },
	{ "mount", required_argument, NULL, OPT_MOUNT },
	{ "backend", required_argument, NULL, OPT_BACKEND },
	{ "for", required_argument, NULL, OPT_FOR },
	{ "buffer", required_argument, NULL, OPT_BUFFER },
	{ "no-plug", no_argument, NULL, OPT_NO_PLUG },
	{ "plug", no_argument, NULL, OPT_PLUG },
	{ "exit-with-cmd", no_argument, NULL, OPT_EXIT },
	{ "no-report", no_argument, NULL, OPT_NO_REPORT },
	{ "slower", required_argument, NULL, OPT_SLOWER },
	{ "pid", required_argument, NULL, OPT_PID },
	{ "class", required_argument, NULL, OPT_CLASS },
	{ "cgroup", required_argument, NULL, OPT_CGROUP },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

static int take_option(struct options *o, int c, char **argv, struct error *err)
{
	/* An option where a value should be: it was forgotten. */
	if ((c == 'd' || c == 'o' || c == OPT_MOUNT) && optarg[0] == '-')
		return error_usage(err, "%s is no value for the option before it", optarg);
	switch (c) {
	case 'd':
		add(&o->devices, &o->record.nr_devices, optarg);
		return 0;
	case 'o':
		o->record.out = optarg;
		return 0;
	case OPT_MOUNT:
		add(&o->mounts, &o->record.nr_mounts, optarg);
		return 0;
	case OPT_BACKEND:
		o->record.backend = optarg;
		return 0;
	case OPT_FOR:
		return parse_for(o, optarg, err);
	case OPT_BUFFER:
		return parse_buffer(o, optarg, err);
	case OPT_NO_PLUG:
		o->record.no_plug = true;
		return 0;
	case OPT_PLUG:
		o->record.keep_plugs = true;
		return 0;
	case OPT_EXIT:
		o->exit_with_command = true;
		return 0;
	case OPT_NO_REPORT:
		o->no_report = true;
		return 0;
	case OPT_SLOWER:
		return parse_slower(o, optarg, err);
	case OPT_PID:
		return parse_pid(o, optarg, err);
	case OPT_CLASS:
		return parse_class(o, optarg, err);
	case OPT_CGROUP:
		return parse_cgroup(o, optarg, err);
	case 'h':
		o->help = true;
		return 0;
	default:
		return option_error(err, c, argv, longs);
	}
}

static int parse(struct options *o, int argc, char **argv, struct error *err)
{
	int c;

	opterr = 0;
	optind = 0;
	/* '+': options end at the command. */
	while ((c = getopt_long(argc, argv, "+:d:o:h", longs, NULL)) != -1)
		if (take_option(o, c, argv, err))
			return -1;
	o->record.devices = o->devices;
	o->record.mounts = o->mounts;
	if (optind < argc)
		o->record.command = argv + optind;
	else if (o->exit_with_command)
		return error_usage(err, "--exit-with-cmd needs a command");
	return 0;
}

static void print_outcome(struct options *o, const struct record_result *result)
{
	char text[512];

	if (o->record.command && result->command_ended && result->command_status) {
		snprintf(text, sizeof(text), "the command ended with status %d",
			 result->command_status);
		say(o, text);
	}
	if (result->lost_events) {
		snprintf(text, sizeof(text),
			 "%llu events were lost in the kernel's buffers (a larger --buffer helps)",
			 (unsigned long long)result->lost_events);
		say(o, text);
	}
	snprintf(text, sizeof(text), "the trace is in %.300s (%.1f MiB)", result->dir,
		 (double)result->bytes / (1 << 20));
	say(o, text);
}

/* A trace that cannot be reported is still a trace: what is wrong with it is said. */
static int print_report(struct options *o, const char *dir, const struct sysroot *root)
{
	char name[] = "report";
	char *path = mem_strdup(dir);
	char *args[] = { name, path, NULL };
	struct error err = { 0 };
	int status;

	fflush(stderr);
	status = cmd_report.run(2, args, root, &err);
	if (status < 0) {
		char text[600];

		snprintf(text, sizeof(text), "no report: %s", err.text);
		say(o, text);
		status = STATUS_DONE;
	}
	free(path);
	return status;
}

static int record(struct options *o, const struct sysroot *root, struct error *err)
{
	struct record_result result;
	int status = STATUS_DONE;

	if (record_run(&o->record, root, &result, err)) {
		wipe_progress(o);
		return -1;
	}
	print_outcome(o, &result);
	if (result.damaged || result.lost_events)
		status = STATUS_LOSSES;
	if (!o->no_report && print_report(o, result.dir, root) == STATUS_LOSSES)
		status = STATUS_LOSSES;
	if (o->exit_with_command && result.command_ended)
		status = result.command_status;
	record_result_release(&result);
	return status;
}

static int run(int argc, char **argv, const struct sysroot *root, struct error *err)
{
	struct options o = { .record = { .say = say } };
	int status = -1;

	o.record.arg = &o;
	if (isatty(STDERR_FILENO))
		o.record.progress = progress;
	if (!parse(&o, argc, argv, err)) {
		if (o.help)
			help_print("record");
		status = o.help ? STATUS_DONE : record(&o, root, err);
	}
	free(o.devices);
	free(o.mounts);
	return status;
}

const struct command cmd_record = {
	.name = "record",
	.summary = "record what the block layer does while a command runs, or until ^C",
	.run = run,
};
