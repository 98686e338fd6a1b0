/* SPDX-License-Identifier: MIT */
#include "read/formats.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

const struct format *const formats[] = {
	&format_trace_dir,
	&format_blktrace_bin,
	&format_text,
	NULL,
};

#define LOOK_BYTES 512u

/* The format that is surest, or NULL; err->text holds why a look failed, if one did. */
static const struct format *choose(struct input *in, struct error *err)
{
	const struct format *best = NULL;
	int most = 0;

	err->text[0] = 0;
	for (size_t i = 0; formats[i]; i++) {
		int score = formats[i]->probe(in, err);

		if (score > most) {
			most = score;
			best = formats[i];
		}
	}
	return best;
}

static bool is_text(const uint8_t *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (bytes[i] < 7 || bytes[i] == 0x7f || (bytes[i] > 13 && bytes[i] < 27))
			return false;
	}
	return true;
}

/* Why no format wants it. */
static void say_unknown(struct input *in, struct error *err)
{
	const uint8_t *head;
	size_t len;

	if (err->text[0])
		return; /* it could not even be looked at */
	if (!in->nr) {
		error_set(err, "%s: holds no files", in->label);
		return;
	}
	len = blob_head(&in->blobs[0], LOOK_BYTES, &head, err);
	if (err->text[0])
		return;
	if (!len)
		error_set(err, "%s: is empty", in->label);
	else if (len >= 2 && (!memcmp(head, "\xff\xfe", 2) || !memcmp(head, "\xfe\xff", 2)))
		error_set(err, "%s: is UTF-16 text; make it UTF-8 first (iconv -f UTF-16 -t UTF-8)",
			  in->label);
	else if (is_text(head, len))
		error_set(err, "%s: is text, but not of a kind that blklab reads", in->label);
	else
		error_set(err, "%s: is not a trace that blklab reads (unknown binary data)",
			  in->label);
}

/* The sentence without the name that stands in front of it. */
static const char *reason(const struct input *in, const char *text)
{
	size_t len = strlen(in->label);

	if (!strncmp(text, in->label, len) && !strncmp(text + len, ": ", 2))
		return text + len + 2;
	return text;
}

static void ignore(struct input *in, struct facts *facts, size_t nr_before, const char *name,
		   const struct error *err)
{
	struct input_info *info;
	size_t i = nr_before;

	/* An open that failed late has put itself on the list already. */
	if (facts->nr_inputs == nr_before)
		i = facts_input(facts, in->label, name);
	info = &facts->inputs[i];
	if (!info->ignored)
		info->ignored = mem_strdup(reason(in, err->text));
	facts_note(facts, "%s was ignored: %s", in->label, info->ignored);
}

/* 0, or -1 with why it is of no use. */
static int open_one(struct input *in, struct facts *facts, struct sources *sources,
		    struct error *err)
{
	const struct format *format = choose(in, err);
	size_t nr_inputs = facts->nr_inputs, nr_sources = sources->nr;

	if (format) {
		err->text[0] = 0;
		if (!format->open(in, facts, sources, err)) {
			if (facts->nr_inputs == nr_inputs)
				facts_input(facts, in->label, format->name);
			return 0;
		}
	} else {
		say_unknown(in, err);
	}
	while (sources->nr > nr_sources)
		source_release(sources->list[--sources->nr]);
	ignore(in, facts, nr_inputs, format ? format->name : "unknown", err);
	for (size_t i = 0; i < in->nr; i++)
		blob_close(&in->blobs[i]);
	return -1;
}

static bool told_elsewhere(const struct facts *facts, const char *name)
{
	for (size_t i = 0; i < facts->nr_inputs; i++)
		for (size_t k = 0; k < 4; k++)
			if (!strcmp(facts->inputs[i].tells_drops_of[k], name))
				return true;
	return false;
}

/* A capture log beside the files tells what they lack. */
static void settle_drops(struct facts *facts)
{
	bool any = false;

	for (size_t i = 0; i < facts->nr_inputs; i++) {
		const char *name = facts->inputs[i].lacks_drops_of;

		if (*name && !told_elsewhere(facts, name))
			return;
		any |= *name != 0;
	}
	if (!any || facts->meta) /* a recording has its own reason */
		return;
	free(facts->dropped_unknown_why);
	facts->dropped_unknown_why = NULL;
}

int inputs_open(struct inputs *inputs, struct facts *facts, struct sources *sources,
		struct error *err)
{
	struct error first = { 0 };
	size_t used = 0;

	for (size_t i = 0; i < inputs->nr; i++) {
		struct error why = { 0 };

		if (!open_one(&inputs->list[i], facts, sources, &why))
			used++;
		else if (!first.text[0])
			first = why;
	}
	if (used) {
		settle_drops(facts);
		return 0;
	}
	if (!inputs->nr)
		return error_set(err, "no trace was named");
	if (inputs->nr > 1)
		return error_set(err, "nothing that was named is a usable trace: %.400s",
				 first.text);
	*err = first;
	return -1;
}
