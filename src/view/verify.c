// SPDX-License-Identifier: MIT
#include "view/verify.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "view/num.h"
#include "view/tree.h"

static void set_lines(json_t *obj, const struct input_info *info)
{
	if (!info->is_text) {
		tree_unknown(obj, "lines_used", "not a text");
		tree_unknown(obj, "lines_ignored", "not a text");
		tree_unknown(obj, "missing_numbers", "not a text");
		return;
	}
	tree_count(obj, "lines_used", info->lines_used);
	tree_count(obj, "lines_ignored", info->lines_ignored);
	tree_count(obj, "missing_numbers", info->missing_numbers);
}

static bool input_whole(const struct verify_input *in)
{
	return !in->stats.lost && !in->stats.sequence_gaps && !in->stats.damaged_bytes &&
	       !in->stats.damages && in->first_loss == in->behind_loss && !in->error;
}

static json_t *input(const struct verify_input *in, const struct facts *facts)
{
	const struct input_info *info = &facts->inputs[in->info];
	json_t *obj = json_object();

	tree_text(obj, "path", info->path);
	tree_text(obj, "format", info->format ? info->format : "unknown");
	if (info->dialect[0])
		tree_text(obj, "dialect", info->dialect);
	else
		tree_unknown(obj, "dialect", "nothing special about it");
	if (info->ignored) {
		tree_text(obj, "ignored", info->ignored);
		tree_unknown(obj, "whole", "it is no trace");
		return obj;
	}
	tree_count(obj, "events", in->stats.events);
	set_lines(obj, info);
	tree_count(obj, "lost_events", in->stats.lost);
	tree_count(obj, "loss_windows", in->behind_loss - in->first_loss);
	tree_count(obj, "sequence_gaps", in->stats.sequence_gaps);
	tree_count(obj, "damaged_bytes", in->stats.damaged_bytes);
	tree_count(obj, "damages", in->stats.damages);
	if (in->error)
		tree_text(obj, "error", in->error);
	json_object_set_new(obj, "whole", json_boolean(input_whole(in)));
	return obj;
}

static uint64_t unwritten(const struct facts *facts)
{
	uint64_t sum = 0;
	json_t *entry;
	size_t i;

	json_array_foreach((json_t *)tree_at(facts->meta, "write_errors"), i, entry)
	{
		sum += tree_u64(entry, "lost_bytes");
	}
	return sum;
}

/* Lines that were cut are no loss, but what is counted is not what was recorded. */
static void set_unsafe(json_t *obj, bool lossy, bool excerpt)
{
	static const char *const words[] = { "counts and bytes", "queue depth",
					     "busy, held and idle shares", "the verdict's shares",
					     "maximum latencies" };
	json_t *list = json_array();

	for (size_t i = 0; (lossy || excerpt) && i < sizeof(words) / sizeof(words[0]); i++)
		json_array_append_new(list, json_string(words[i]));
	json_object_set_new(obj, "unsafe", list);
}

static json_t *notes(const struct facts *facts)
{
	json_t *list = json_array();

	for (size_t i = 0; i < facts->nr_notes; i++)
		json_array_append_new(list, tree_string(facts->notes[i]));
	return list;
}

json_t *verify_tree(const struct verify_input *list, size_t nr, const struct facts *facts)
{
	const char *why = facts->dropped_unknown_why;
	bool whole = !facts->meta_incomplete && !unwritten(facts), excerpt = false, text = false;
	uint64_t dropped = facts->dropped, lost = 0;
	json_t *obj = json_object(), *inputs = json_array();

	for (size_t i = 0; i < nr; i++) {
		const struct input_info *info = &facts->inputs[list[i].info];

		json_array_append_new(inputs, input(&list[i], facts));
		whole &= input_whole(&list[i]);
		lost += list[i].stats.lost;
		excerpt |= info->missing_numbers > 0;
		text |= info->is_text && list[i].stats.events;
	}
	if (lost > dropped)
		dropped = lost;
	if (!why && !facts->dropped_told && !dropped)
		why = text ? "a text does not carry it"
			   : "no counter of dropped events came with this input";
	whole &= !dropped;
	tree_count(obj, "schema_version", 1);
	tree_text(obj, "tool", "blklab " BLKLAB_VERSION);
	if (whole && why)
		tree_unknown(obj, "whole",
			     "nothing is known to be missing, but whether events were dropped is "
			     "unknown: %s",
			     why);
	else
		json_object_set_new(obj, "whole", json_boolean(whole));
	json_object_set_new(obj, "inputs", inputs);
	if (dropped || facts->dropped_told)
		tree_count(obj, "dropped", dropped);
	else
		tree_unknown(obj, "dropped", "%s", why);
	tree_count(obj, "unwritten_bytes", unwritten(facts));
	json_object_set_new(obj, "recorder_finished", json_boolean(!facts->meta_incomplete));
	set_unsafe(obj, !whole, excerpt);
	json_object_set_new(obj, "notes", notes(facts));
	return obj;
}

/* ---- the page ---- */

static char *with(char *text, char *more)
{
	char *longer = mem_printf("%s%s%s", text, *text ? ", " : "", more);

	free(text);
	free(more);
	return longer;
}

static char *input_words(const json_t *in)
{
	char *text = mem_strdup("");

	if (tree_at(in, "lines_used"))
		text = with(text, mem_printf("%s used, %s ignored",
					     num_of(tree_u64(in, "lines_used"), "line").s,
					     num_count(tree_u64(in, "lines_ignored")).s));
	text = with(text, mem_printf("%s", num_of(tree_u64(in, "events"), "event").s));
	if (tree_u64(in, "missing_numbers"))
		text = with(text, mem_printf("%s missing (lines were cut; no loss)",
					     num_of(tree_u64(in, "missing_numbers"), "number").s));
	if (tree_u64(in, "lost_events"))
		text = with(text,
			    mem_printf("%s lost", num_of(tree_u64(in, "lost_events"), "event").s));
	if (tree_u64(in, "loss_windows"))
		text = with(text, mem_printf("%s with lost events",
					     num_of(tree_u64(in, "loss_windows"), "window").s));
	if (!tree_u64(in, "sequence_gaps") && !tree_u64(in, "damages") &&
	    !tree_u64(in, "damaged_bytes"))
		text = with(text, mem_strdup("no gaps, nothing skipped, cut or unreadable"));
	else
		text = with(text, mem_printf("%s, %s skipped, cut or unreadable in %s",
					     num_of(tree_u64(in, "sequence_gaps"), "gap").s,
					     num_bytes(tree_num(in, "damaged_bytes")).s,
					     num_of(tree_u64(in, "damages"), "place").s));
	if (tree_str(in, "error"))
		text = with(text, mem_printf("reading stopped: %s", tree_str(in, "error")));
	return text;
}

static void print_input(const struct page *page, const json_t *in)
{
	const char *dialect = tree_str(in, "dialect"), *ignored = tree_str(in, "ignored");
	const char *state = json_is_true(tree_at(in, "whole")) ? "ok" : "NOT WHOLE";
	char *text;

	if (ignored) {
		page_printf(page, "no trace", "%s: %s", tree_str(in, "path"), ignored);
		return;
	}
	text = input_words(in);
	page_printf(page, state, "%s: %s%s%s: %s", tree_str(in, "path"), tree_str(in, "format"),
		    dialect ? ", " : "", dialect ? dialect : "", text);
	free(text);
}

static char *unsafe_words(const json_t *tree)
{
	char *text = mem_strdup("");
	json_t *word;
	size_t i;

	json_array_foreach((json_t *)tree_at(tree, "unsafe"), i, word)
	{
		text = with(text, mem_strdup(json_string_value(word)));
	}
	return text;
}

void verify_text(const json_t *tree, FILE *out)
{
	static const struct report_look look = { 0 };
	struct page page = { .out = out, .look = &look };
	const char *why = tree_str(tree, "whole_why");
	char *unsafe = unsafe_words(tree);
	json_t *in, *note;
	size_t i;

	json_array_foreach((json_t *)tree_at(tree, "inputs"), i, in) print_input(&page, in);
	json_array_foreach((json_t *)tree_at(tree, "notes"), i, note)
	{
		if (!strstr(json_string_value(note), " was ignored: ")) /* its row says so */
			page_printf(&page, "note", "%s", json_string_value(note));
	}
	if (tree_at(tree, "dropped"))
		page_printf(&page, "dropped", "%s", num_of(tree_u64(tree, "dropped"), "event").s);
	else
		page_printf(&page, "dropped", "unknown: %s", tree_str(tree, "dropped_why"));
	if (tree_u64(tree, "unwritten_bytes"))
		page_printf(&page, "unwritten", "%s could not be written while recording",
			    num_bytes(tree_num(tree, "unwritten_bytes")).s);
	if (json_is_false(tree_at(tree, "recorder_finished")))
		page_printf(&page, "recorder", "it was killed before it could finish");
	if (*unsafe)
		page_printf(&page, "unsafe", "%s", unsafe);
	if (json_is_true(tree_at(tree, "whole")))
		page_printf(&page, "result", "whole");
	else if (why)
		page_printf(&page, "result", "%s%s",
			    *unsafe ? "an excerpt, for lines of the text were cut; " : "", why);
	else
		page_printf(&page, "result", "NOT whole");
	free(unsafe);
}
