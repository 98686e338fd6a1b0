/* SPDX-License-Identifier: MIT */
#include "read/text/dd_rules.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/printable.h"
#include "read/text/shell_text.h"

#define SHORT_S     0.1
#define SHORT_BYTES (UINT64_C(16) << 20)
#define SMALL_BLOCK 4096u

/* Do whole and partial records of that size give these bytes? */
static bool records_fit(const struct dd_result *r, uint64_t block)
{
	uint64_t least, most, records;

	if (!r->have_out)
		return true;
	records = r->out_whole + r->out_part;
	if (!block) /* then only whole records must divide */
		return r->out_part || (records ? r->bytes % records == 0 : r->bytes == 0);
	if (__builtin_mul_overflow(r->out_whole, block, &least) ||
	    __builtin_mul_overflow(records, block, &most))
		return false;
	return r->out_part ? r->bytes > least && r->bytes < most : r->bytes == least;
}

static bool lists(struct scan list, const char *word)
{
	const char *hit =
		scan_left(&list) ? memmem(list.at, scan_left(&list), word, strlen(word)) : NULL;

	return hit && (hit == list.at || hit[-1] == ',') &&
	       (hit + strlen(word) == list.end || hit[strlen(word)] == ',');
}

/* Does the command write to a file without ever waiting for the disk? A block device is flushed when its
 * last user closes it, within dd's time. */
static bool only_cache(const char *command)
{
	struct scan of, list;

	if (!shell_dd_operand(command, "of=", &of) || scan_starts(&of, "/dev/"))
		return false;
	if (shell_dd_operand(command, "conv=", &list) &&
	    (lists(list, "fdatasync") || lists(list, "fsync")))
		return false;
	return !(shell_dd_operand(command, "oflag=", &list) &&
		 (lists(list, "direct") || lists(list, "sync") || lists(list, "dsync")));
}

static void hit(struct dd_rules *rules, enum dd_rule rule, const struct dd_result *r,
		const char *command)
{
	size_t len = strnlen(command, sizeof(rules->hit[rule].command) - 1);

	if (rules->hit[rule].nr++)
		return;
	rules->hit[rule].first = *r;
	memcpy(rules->hit[rule].command, command, len);
}

void dd_rules_look(struct dd_rules *rules, const struct dd_result *r, const char *command,
		   uint64_t block_told)
{
	if (!records_fit(r, block_told))
		hit(rules, DD_RECORDS_MISMATCH, r, command);
	if (r->seconds < SHORT_S || r->bytes < SHORT_BYTES)
		hit(rules, DD_TOO_SHORT, r, command);
	if (r->block && r->block < SMALL_BLOCK)
		hit(rules, DD_SMALL_BLOCKS, r, command);
	if (!command[0])
		hit(rules, DD_PAGE_CACHE_MAYBE, r, command);
	else if (only_cache(command))
		hit(rules, DD_PAGE_CACHE, r, command);
}

static json_t *evidence(const struct dd_rules *rules, enum dd_rule rule)
{
	const struct dd_result *r = &rules->hit[rule].first;
	json_t *obj = json_pack("{s:I, s:I, s:f}", "results", (json_int_t)rules->hit[rule].nr,
				"bytes", (json_int_t)r->bytes, "seconds", r->seconds);

	if (r->have_out)
		json_object_set_new(obj, "records", json_integer((json_int_t)r->out_whole));
	if (r->block)
		json_object_set_new(obj, "block_bytes", json_integer((json_int_t)r->block));
	if (rules->hit[rule].command[0])
		json_object_set_new(obj, "command",
				    result_string(rules->hit[rule].command,
						  strlen(rules->hit[rule].command)));
	return obj;
}

static char *sentence(const struct dd_rules *rules, enum dd_rule rule)
{
	const struct dd_result *r = &rules->hit[rule].first;
	const char *more = rules->hit[rule].nr > 1 ? " (and others)" : "";

	switch (rule) {
	case DD_RECORDS_MISMATCH:
		return mem_printf(
			"the records of a result%s do not give its %" PRIu64
			" bytes: lines of different results stand together, or the text is damaged",
			more, r->bytes);
	case DD_TOO_SHORT:
		return mem_printf("a run%s took %.3g s for %.3g MiB: too short to rate", more,
				  r->seconds, (double)r->bytes / (1 << 20));
	case DD_SMALL_BLOCKS:
		return mem_printf("dd copied in blocks of %" PRIu64
				  " bytes%s: the cost of the calls "
				  "is part of the result",
				  r->block, more);
	case DD_PAGE_CACHE:
		return mem_printf("dd wrote to a file without waiting for the disk: %" PRIu64
				  " result%s may be the speed of the page cache",
				  rules->hit[rule].nr, rules->hit[rule].nr == 1 ? "" : "s");
	default:
		return mem_printf(
			"the command of %" PRIu64 " result%s of dd is not in this text: "
			"without conv=fdatasync or a direct flag a write to a file may be "
			"page cache",
			rules->hit[rule].nr, rules->hit[rule].nr == 1 ? "" : "s");
	}
}

void dd_rules_give(const struct dd_rules *rules, struct text *text)
{
	static const char *const longer[] = { "copy for at least ten seconds, and more than once",
					      NULL };
	static const char *const larger[] = { "use bs=1M", NULL };
	static const char *const flush[] = {
		"use conv=fdatasync, so that the time includes writing to the disk",
		"use oflag=direct to measure without the page cache", NULL
	};
	static const struct {
		const char *id, *severity, *title;
		const char *const *advice;
	} table[DD_RULES] = {
		[DD_RECORDS_MISMATCH] = { "records-mismatch", "warning",
					  "records and bytes of a dd disagree", NULL },
		[DD_TOO_SHORT] = { "too-short", "notice", "a run is too short to rate", longer },
		[DD_SMALL_BLOCKS] = { "small-block-size", "notice", "dd used a small block size",
				      larger },
		[DD_PAGE_CACHE] = { "page-cache-dd", "warning",
				    "dd may have measured the page cache", flush },
		[DD_PAGE_CACHE_MAYBE] = { "page-cache-dd", "info",
					  "dd may have measured the page cache", flush },
	};

	for (int rule = 0; rule < DD_RULES; rule++)
		if (rules->hit[rule].nr)
			result_finding(text, table[rule].id, table[rule].severity,
				       table[rule].title, sentence(rules, (enum dd_rule)rule),
				       evidence(rules, (enum dd_rule)rule), table[rule].advice);
}
