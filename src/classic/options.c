/* SPDX-License-Identifier: MIT */
#include "classic/options.h"

#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "classic/options_table.h"

#define DEFAULT_BATCH 512u
#define MASK_MOST     0xffffu /* -A knows the categories of version 7 only */

/* Words of the command line: what is left for the classic's options when ours are taken out. */
struct words {
	char **argv; /* owned array of borrowed, argv[0] first, NULL at the end */
	int argc;
	enum own_option last; /* of --help and --list-options, the last that was there */
};

/* What the classic keeps while it reads its options. */
struct masks {
	uint32_t sum; /* of -a and -A; 0 = all */
	uint32_t
		last; /* the last one read: it is in the message about the next that cannot be read */
};

static const struct {
	const char *name;
	enum blktrace_category category;
} categories[] = {
	{ "read", TC_READ },   { "write", TC_WRITE },       { "flush", TC_FLUSH },
	{ "sync", TC_SYNC },   { "queue", TC_QUEUE },       { "requeue", TC_REQUEUE },
	{ "issue", TC_ISSUE }, { "complete", TC_COMPLETE }, { "fs", TC_FS },
	{ "pc", TC_PC },       { "notify", TC_NOTIFY },     { "ahead", TC_AHEAD },
	{ "meta", TC_META },   { "discard", TC_DISCARD },   { "drv_data", TC_DRV_DATA },
	{ "fua", TC_FUA },
};

static int take_action(struct masks *masks, const char *arg)
{
	static const char prefix[] = "blk_tc_";
	bool prefixed = !strncasecmp(arg, prefix, strlen(prefix));
	const char *name = prefixed ? arg + strlen(prefix) : arg;

	for (size_t i = 0; i < sizeof(categories) / sizeof(categories[0]); i++) {
		if (strcasecmp(categories[i].name, name) != 0)
			continue;
		masks->last = categories[i].category;
		masks->sum |= masks->last;
		return 0;
	}
	fprintf(stderr, "Invalid action mask %s\n", arg);
	return -1;
}

static int take_mask(struct masks *masks, const char *arg)
{
	int got = sscanf(arg, "%x", &masks->last);

	if (got != 1 || !masks->last || masks->last > MASK_MOST) {
		fprintf(stderr, "Invalid set action mask %s/0x%x\n", arg, masks->last);
		return -1;
	}
	masks->sum = masks->last;
	return 0;
}

/* As x86 converts: what is negative or too large wraps, or becomes one of two constants. */
static uint64_t to_ns(double s)
{
	double ns = s * 1e9;

	if (isnan(ns) || ns < -0x1p63)
		return UINT64_C(1) << 63;
	if (ns < 0x1p63)
		return (uint64_t)(int64_t)ns;
	return ns < 0x1p64 ? (uint64_t)ns : 0;
}

/* "END" or "START:END"; an END alone leaves the start of an earlier -w. */
static int take_window(struct blkparse_options *o, const char *arg)
{
	const char *wrong = NULL;
	char *end;
	double v = strtod(arg, &end);

	if (end == arg) {
		wrong = "timer";
	} else if (*end == ':') {
		o->from_ns = to_ns(v);
		arg = end + 1;
		v = strtod(arg, &end);
		if (end == arg || *end)
			wrong = "duration time";
	} else if (*end) {
		wrong = "start timer";
	}
	if (wrong) {
		fprintf(stderr, "Invalid stopwatch %s: %s\n", wrong, arg);
		return -1;
	}
	o->to_ns = to_ns(v);
	if (o->to_ns > o->from_ns)
		return 0;
	fprintf(stderr, "Invalid stopwatch interval: %llu -> %llu\n",
		(unsigned long long)o->from_ns, (unsigned long long)o->to_ns);
	return -1;
}

/* The first letter counts, as in the classic, which says nothing about a wrong one. */
static int take_sort(struct blkparse_options *o, const char *arg)
{
	if (!*arg || !strchr("NQRWCqrwc", *arg)) {
		fprintf(stderr, "Invalid sort event %s\n", arg);
		return -1;
	}
	o->per_program = true;
	o->sort = *arg;
	return 0;
}

static int take_format(struct blkparse_options *o, int letter, const char *arg)
{
	struct error err = { 0 };
	int ret = letter == 'f' ? own_formats_add_all(&o->formats, arg, &err)
				: own_formats_add(&o->formats, arg, &err);

	if (ret < 0)
		fprintf(stderr, "%s\n", err.text);
	return ret;
}

/* A batch below 0 is a very large one. */
static unsigned int to_batch(const char *arg)
{
	unsigned int batch = (unsigned int)strtol(arg, NULL, 10);

	return batch ? batch : DEFAULT_BATCH;
}

static void add_input(struct blkparse_options *o, const char *name)
{
	o->inputs = mem_grow(o->inputs, o->nr_inputs, sizeof(*o->inputs));
	o->inputs[o->nr_inputs++] = mem_strdup(name);
}

static void take_switch(struct blkparse_options *o, int letter)
{
	switch (letter) {
	case 'h':
		o->by_name = true;
		break;
	case 'M':
		o->no_messages = true;
		break;
	case 'O':
		o->no_text = true;
		break;
	case 'q':
		o->quiet = true;
		break;
	case 's':
		o->per_program = true;
		break;
	case 't':
		o->track = true;
		break;
	case 'v':
		o->verbose = true;
		break;
	default:
		break;
	}
}

static int take(struct blkparse_options *o, struct masks *masks, int letter, char *arg)
{
	switch (letter) {
	case 'a':
		return take_action(masks, arg);
	case 'A':
		return take_mask(masks, arg);
	case 'b':
		o->batch = to_batch(arg);
		return 0;
	case 'd':
		o->dump = arg;
		return 0;
	case 'D':
		free(o->input_dir);
		o->input_dir = mem_strdup(arg);
		return 0;
	case 'f':
	case 'F':
		return take_format(o, letter, arg);
	case 'i':
		add_input(o, arg);
		return 0;
	case 'o':
		o->output = arg;
		return 0;
	case 'S':
		return take_sort(o, arg);
	case 'w':
		return take_window(o, arg);
	default:
		take_switch(o, letter);
		return 0;
	}
}

static enum options_next parse_classic(struct blkparse_options *o, int argc, char **argv)
{
	const struct getopt_table table = options_getopt(o->classic);
	struct masks masks = { 0 };
	int c;

	optind = 0; /* begin anew, whoever used getopt before */
	opterr = 1;
	while ((c = getopt_long(argc, argv, table.letters, table.longs, NULL)) != -1) {
		if (c == '?') {
			options_usage(stderr, argv[0], o->classic);
			return OPTIONS_EXIT_FAILED;
		}
		if (c == 'V') {
			printf("%s version %s\n", argv[0],
			       o->classic == CLASSIC_1_2 ? "1.2.0" : "1.3.0");
			return OPTIONS_EXIT_OK;
		}
		if (take(o, &masks, c, optarg) < 0)
			return OPTIONS_EXIT_FAILED;
	}
	while (optind < argc)
		add_input(o, argv[optind++]);
	if (!o->nr_inputs) {
		options_usage(stderr, argv[0], o->classic);
		return OPTIONS_EXIT_FAILED;
	}
	o->mask = masks.sum ? masks.sum : UINT32_MAX;
	return OPTIONS_RUN;
}

/* Is the value of this word's option the next word? */
static bool takes_next(const char *word)
{
	const struct option_row *row = NULL;

	if (!strncmp(word, "--", 2)) {
		row = strchr(word, '=') ? NULL : options_by_prefix(word + 2, strlen(word + 2));
		return row && row->value;
	}
	if (*word != '-')
		return false;
	for (word++; *word && !(row && row->value); word++)
		row = options_by_letter(*word);
	return row && row->value && !*word;
}

/* An option of ours, written in full; *value: behind its "=", or NULL. */
static const struct option_row *our_option(const char *word, const char **value)
{
	const struct option_row *row;
	size_t len;

	if (strncmp(word, "--", 2) != 0)
		return NULL;
	word += 2;
	len = strcspn(word, "=");
	row = options_ours(word, len);
	*value = word[len] ? word + len + 1 : NULL;
	return row && *value && !row->value ? NULL : row;
}

/* Sets *which to the place of value among `count` names. */
static bool is_one_of(const char *value, const char *const names[], int count, int *which)
{
	for (int i = 0; value && i < count; i++) {
		if (!strcmp(value, names[i])) {
			*which = i;
			return true;
		}
	}
	return false;
}

static int take_ours(struct blkparse_options *o, struct words *words, const struct option_row *row,
		     const char *value)
{
	static const char *const classics[] = { "1.2", "1.3", "8" }, *const answers[] = { "yes",
											  "no" };
	int which = 0;
	bool good = true;

	switch (row->own) {
	case OWN_FIX:
		o->fix = true;
		break;
	case OWN_CLASSIC:
		good = is_one_of(value, classics, 3, &which);
		o->classic = (enum classic)which;
		break;
	case OWN_GROUP:
		good = is_one_of(value, answers, 2, &which);
		o->group = which ? GROUP_NO : GROUP_YES;
		break;
	default:
		words->last = row->own;
		break;
	}
	if (!good)
		fprintf(stderr, "%s: --%s takes %s\n", words->argv[0], row->name, row->value);
	return good ? 0 : -1;
}

/* Takes out what is ours before getopt sees it: the classic's names keep all their abbreviations, and
 * --classic holds for the words in front of it too. */
static int parse_ours(struct blkparse_options *o, struct words *words, int argc, char **argv)
{
	bool options = true, in_order = getenv("POSIXLY_CORRECT"); /* what getopt goes by */

	words->argv = mem_resize(NULL, (size_t)argc + 1, sizeof(*words->argv));
	words->argv[words->argc++] = argv[0];
	for (int i = 1; i < argc; i++) {
		const char *value;
		const struct option_row *row = options ? our_option(argv[i], &value) : NULL;

		if (row) {
			if (row->value && !value)
				value = argv[i + 1] ? argv[++i] : NULL;
			if (take_ours(o, words, row, value) < 0)
				return -1;
			continue;
		}
		words->argv[words->argc++] = argv[i];
		if (!strcmp(argv[i], "--") || (in_order && (argv[i][0] != '-' || !argv[i][1])))
			options = false;
		if (options && takes_next(argv[i]) && i + 1 < argc)
			words->argv[words->argc++] = argv[++i];
	}
	words->argv[words->argc] = NULL;
	return 0;
}

enum options_next options_parse(struct blkparse_options *o, int argc, char **argv)
{
	struct words words = { 0 };
	enum options_next next = OPTIONS_EXIT_OK;

	*o = (struct blkparse_options){ .batch = DEFAULT_BATCH, .to_ns = UINT64_MAX };
	if (parse_ours(o, &words, argc, argv) < 0)
		next = OPTIONS_EXIT_FAILED;
	else if (words.last == OWN_HELP)
		options_help(stdout, argv[0], o->classic);
	else if (words.last == OWN_LIST)
		options_list(stdout);
	else
		next = parse_classic(o, words.argc, words.argv);
	free(words.argv);
	return next;
}

void options_release(struct blkparse_options *o)
{
	for (size_t i = 0; i < o->nr_inputs; i++)
		free(o->inputs[i]);
	free(o->inputs);
	free(o->input_dir);
	own_formats_release(&o->formats);
	*o = (struct blkparse_options){ 0 };
}
