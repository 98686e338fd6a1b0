/* SPDX-License-Identifier: MIT
 *
 * Operations of file systems (ext4slower and its kin): no I/O of the block layer. They become metrics.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "read/text/biosnoop_text.h"

static const char *name_of_type(char letter)
{
	switch (letter) {
	case 'R':
		return "read";
	case 'W':
		return "write";
	case 'O':
		return "open";
	case 'S':
	case 'F':
		return "fsync";
	case 'G':
		return "getattr";
	default:
		return NULL;
	}
}

enum text_answer fs_row(struct fs_rows *fs, struct text *text, const struct row *row)
{
	struct scan ms = row->cells[COL_LAT_MS], us = row->cells[COL_LAT_US];
	char letter = scan_left(&row->cells[COL_TYPE]) == 1 ? *row->cells[COL_TYPE].at : 0;
	uint64_t ns, step;
	struct fs_type *type;

	if (letter < 'A' || letter > 'Z') {
		text_why(text, "an operation of a file system of no known kind");
		return TEXT_BAD;
	}
	if (!(row_has(row, COL_LAT_MS) ? scan_time(&ms, 6, &ns, &step)
				       : scan_time(&us, 3, &ns, &step)) ||
	    ns > TEXT_BIAS * 16) {
		text_why(text, "a latency that is too large");
		return TEXT_BAD;
	}
	if (!fs->rows++)
		snprintf(fs->context, sizeof(fs->context), "%s", text_heading(text));
	type = &fs->types[letter - 'A'];
	type->nr++;
	type->sum_ns += ns;
	if (ns > type->max_ns)
		type->max_ns = ns;
	return TEXT_USED;
}

/* Only slow operations were printed: that belongs beside every number. The heading of now is the next
 * run's. */
static void tell_run(const struct fs_rows *fs, json_t *metric)
{
	if (!metric)
		return;
	if (fs->have_threshold) {
		json_object_set_new(metric, "only_slower_than_ns",
				    json_integer((json_int_t)fs->threshold_ns));
	} else {
		json_object_set_new(metric, "only_slower_than_ns", json_null());
		json_object_set_new(
			metric, "only_slower_than_ns_why",
			json_string("the line that tells the threshold is not in this text"));
	}
	if (fs->context[0]) {
		json_object_set_new(metric, "context",
				    biosnoop_string(fs->context, strlen(fs->context)));
		json_object_del(metric, "context_why");
	} else {
		json_object_set_new(metric, "context", json_null());
		json_object_set_new(metric, "context_why", json_string("nothing stands above it"));
	}
}

static void give_type(const struct fs_rows *fs, struct text *text, const char *source,
		      const char *operation, const struct fs_type *type)
{
	char name[64];
	double n = (double)type->nr;

	snprintf(name, sizeof(name), "%s_operations", operation);
	tell_run(fs,
		 text_metric(text, source, name, n, "operations", "neutral", type->nr, NAN, NULL));
	snprintf(name, sizeof(name), "%s_latency_mean", operation);
	tell_run(fs, text_metric(text, source, name, (double)type->sum_ns / n / 1e9, "s", "lower",
				 type->nr, NAN, NULL));
	snprintf(name, sizeof(name), "%s_latency_max", operation);
	tell_run(fs, text_metric(text, source, name, (double)type->max_ns / 1e9, "s", "lower",
				 type->nr, NAN, NULL));
}

void fs_end(struct fs_rows *fs, struct text *text)
{
	char source[48];

	snprintf(source, sizeof(source), "%sslower", fs->name[0] ? fs->name : "file");
	for (size_t i = 0; i < sizeof(fs->types) / sizeof(*fs->types); i++) {
		const char *known = name_of_type((char)('A' + i));
		char letter[] = { (char)('A' + i), 0 };

		if (fs->types[i].nr)
			give_type(fs, text, source, known ? known : letter, &fs->types[i]);
	}
	memset(fs, 0, sizeof(*fs));
}

bool fs_begin(struct fs_rows *fs, struct text *text, struct scan line)
{
	const char *word;
	uint64_t ns, step;
	size_t len;

	if (!scan_text(&line, "Tracing ") || !scan_word(&line, &word, &len) || len >= 16)
		return false;
	scan_blanks(&line);
	if (scan_word_is(word, len, "sync") && scan_text(&line, "read/writes slower than ")) {
		word = "file"; /* fileslower */
		len = 4;
	} else if (scan_text(&line, "operations")) {
		scan_blanks(&line);
		scan_text(&line, "that are ");
		if (!scan_end(&line) && !scan_text(&line, "slower than ") &&
		    !scan_text(&line, "... Hit"))
			return false;
	} else {
		return false;
	}
	fs_end(fs, text);
	for (size_t i = 0; i < len; i++) /* "NFS" */
		fs->name[i] = word[i] >= 'A' && word[i] <= 'Z' ? (char)(word[i] | 0x20) : word[i];
	fs->have_threshold = scan_time(&line, 6, &ns, &step);
	fs->threshold_ns = fs->have_threshold ? ns : 0;
	return true;
}
