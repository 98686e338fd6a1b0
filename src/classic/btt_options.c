/* SPDX-License-Identifier: MIT */
#include "classic/btt_options.h"

#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "trace/event.h"

#define NS_PER_S 1000000000u

/* In the order of the classic's usage text. */
static const struct row {
	char letter;
	const char *name;
	const char *value; /* what it takes; NULL: nothing */
	bool unclosed;     /* its line of the usage text lacks the bracket at its end */
} rows[] = {
	{ 'a', "seek-absolute", NULL },
	{ 'A', "all-data", NULL },
	{ 'B', "dump-blocknos", "<output name>" },
	{ 'd', "range-delta", "<seconds>" },
	{ 'D', "devices", "<dev;...>" },
	{ 'e', "exes", "<exe,...> " },
	{ 'h', "help", NULL },
	{ 'i', "input-file", "<input name>" },
	{ 'I', "iostat", "<output name>" },
	{ 'l', "d2c-latencies", "<output name>" },
	{ 'L', "periodic-latencies", "<freq>" },
	{ 'm', "seeks-per-second", "<output name>" },
	{ 'M', "dev-maps", "<dev map>", .unclosed = true },
	{ 'o', "output-file", "<output name>" },
	{ 'p', "per-io-dump", "<output name>" },
	{ 'P', "per-io-trees", "<output name>" },
	{ 'q', "q2c-latencies", "<output name>" },
	{ 'Q', "active-queue-depth", "<output name>" },
	{ 'r', "no-remaps", NULL },
	{ 's', "seeks", "<output name>" },
	{ 'S', "iostat-interval", "<interval>" },
	{ 't', "time-start", "<sec>" },
	{ 'T', "time-end", "<sec>" },
	{ 'u', "unplug-hist", "<output name>" },
	{ 'V', "version", NULL },
	{ 'v', "verbose", NULL },
	{ 'X', "easy-parse-avgs", NULL },
	{ 'z', "q2d-latencies", "<output name>" },
	{ 'Z', "do-active", NULL, .unclosed = true },
};
#define NR_ROWS (sizeof(rows) / sizeof(rows[0]))

/* What getopt_long wants. */
struct table {
	char letters[2 * NR_ROWS + 1];
	struct option longs[NR_ROWS + 1];
};

static void fill_table(struct table *table)
{
	char *letter = table->letters;

	*table = (struct table){ 0 };
	for (size_t i = 0; i < NR_ROWS; i++) {
		*letter++ = rows[i].letter;
		if (rows[i].value)
			*letter++ = ':';
		table->longs[i] = (struct option){
			.name = rows[i].name,
			.has_arg = rows[i].value ? required_argument : no_argument,
			.val = rows[i].letter,
		};
	}
}

static void usage(const char *program)
{
	fprintf(stderr, "Usage: %s \n", program);
	for (size_t i = 0; i < NR_ROWS; i++) {
		const struct row *row = &rows[i];
		const char *value = row->value ? row->value : "";

		fprintf(stderr, "[ -%c %-13s | --%s%s%s%s\n", row->letter, value, row->name,
			row->value ? "=" : "", value, row->unclosed ? "" : " ]");
	}
	fputc('\n', stderr);
}

/* As the classic reads numbers: what is none is 0. Negative ones are 0, too. */
static uint64_t to_ns(const char *arg)
{
	double ns = strtod(arg, NULL) * NS_PER_S;

	if (!(ns > 0))
		return 0;
	return ns < 0x1p63 ? (uint64_t)llround(ns) : UINT64_MAX;
}

static void add_device(struct btt_options *o, uint32_t device)
{
	for (size_t i = 0; i < o->nr_devices; i++)
		if (o->devices[i] == device)
			return;
	o->devices = mem_grow(o->devices, o->nr_devices, sizeof(*o->devices));
	o->devices[o->nr_devices++] = device;
}

/* "8,0;8,16" */
static int take_devices(struct btt_options *o, const char *arg)
{
	const char *at = arg;

	while (*at) {
		unsigned int major, minor;
		int len = 0;

		if (sscanf(at, "%u,%u%n", &major, &minor, &len) != 2 ||
		    (at[len] && at[len] != ';')) {
			fprintf(stderr, "-D takes MAJOR,MINOR;MAJOR,MINOR;..., not \"%s\"\n", arg);
			return -1;
		}
		add_device(o, DEVICE(major, minor));
		at += len + (at[len] == ';');
	}
	return 0;
}

/* "fio,kworker"; an empty string: none. */
static void take_processes(struct btt_options *o, const char *arg)
{
	o->no_processes = !*arg;
	while (*arg) {
		size_t len = strcspn(arg, ",");

		o->processes = mem_grow(o->processes, o->nr_processes, sizeof(*o->processes));
		o->processes[o->nr_processes++] = mem_strndup(arg, len);
		arg += len + (arg[len] == ',');
	}
}

/* Where a string or a number of seconds goes; NULL: it is neither. */
static const char **string_of(struct btt_options *o, int letter)
{
	switch (letter) {
	case 'B':
		return &o->block_numbers;
	case 'i':
		return &o->input;
	case 'I':
		return &o->iostat;
	case 'l':
		return &o->d2c;
	case 'm':
		return &o->seeks_per_second;
	case 'M':
		return &o->device_map;
	case 'o':
		return &o->output;
	case 'p':
		return &o->per_io;
	case 'q':
		return &o->q2c;
	case 'Q':
		return &o->queue_depth;
	case 's':
		return &o->seeks;
	case 'u':
		return &o->unplugs;
	case 'z':
		return &o->q2d;
	default:
		return NULL;
	}
}

static uint64_t *seconds_of(struct btt_options *o, int letter)
{
	switch (letter) {
	case 'd':
		return &o->range_delta_ns;
	case 'L':
		return &o->periodic_ns;
	case 't':
		return &o->from_ns;
	case 'T':
		return &o->to_ns;
	default:
		return NULL;
	}
}

static void take_switch(struct btt_options *o, int letter)
{
	switch (letter) {
	case 'a':
		o->seek_absolute = true;
		break;
	case 'A':
		o->all_data = true;
		break;
	case 'P': /* its value is not used */
		o->per_io_trees = true;
		break;
	case 'r':
		o->no_remaps = true;
		break;
	case 'v':
		o->verbose = true;
		break;
	case 'X':
		o->xvg = true;
		break;
	case 'Z':
		o->activity = true;
		break;
	default:
		break;
	}
}

static int take(struct btt_options *o, int letter, const char *arg)
{
	const char **string = string_of(o, letter);
	uint64_t *seconds = seconds_of(o, letter);

	if (string)
		*string = arg;
	else if (seconds)
		*seconds = to_ns(arg);
	else if (letter == 'D')
		return take_devices(o, arg);
	else if (letter == 'e')
		take_processes(o, arg);
	else if (letter == 'S')
		o->iostat_ns = strtoul(arg, NULL, 10) * NS_PER_S;
	else
		take_switch(o, letter);
	return 0;
}

/* What goes together. */
static enum options_next check(const struct btt_options *o, const char *program)
{
	if (!o->input) {
		usage(program);
		return OPTIONS_EXIT_FAILED;
	}
	if (o->seeks_per_second && !o->seeks) {
		fprintf(stderr, "FATAL: -m option requires -s options\n");
		return OPTIONS_EXIT_FAILED;
	}
	return OPTIONS_RUN;
}

enum options_next btt_options_parse(struct btt_options *o, int argc, char **argv)
{
	struct table table;
	int c;

	*o = (struct btt_options){ .range_delta_ns = NS_PER_S / 10,
				   .iostat_ns = NS_PER_S,
				   .to_ns = UINT64_MAX };
	fill_table(&table);
	optind = 0; /* begin anew, whoever used getopt before */
	opterr = 1;
	while ((c = getopt_long(argc, argv, table.letters, table.longs, NULL)) != -1) {
		if (c == '?' || c == 'h') {
			usage(argv[0]);
			return c == 'h' ? OPTIONS_EXIT_OK : OPTIONS_EXIT_FAILED;
		}
		if (c == 'V') {
			printf("%s version 2.09\n", argv[0]);
			return OPTIONS_EXIT_OK;
		}
		if (take(o, c, optarg) < 0)
			return OPTIONS_EXIT_FAILED;
	}
	return check(o, argv[0]);
}

void btt_options_release(struct btt_options *o)
{
	free(o->devices);
	for (size_t i = 0; i < o->nr_processes; i++)
		free(o->processes[i]);
	free(o->processes);
	*o = (struct btt_options){ 0 };
}
