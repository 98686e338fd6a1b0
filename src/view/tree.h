/* SPDX-License-Identifier: MIT
 *
 * Building and reading report trees. Inside src/view only.
 */
#ifndef BLKLAB_VIEW_TREE_H
#define BLKLAB_VIEW_TREE_H

#include <jansson.h>
#include <stdarg.h>

#include "view/num.h"
#include "view/report.h"

/* Text from anywhere (names of threads and files, kernel messages) as a JSON string: what is not
 * UTF-8 and control characters become \xNN, so that JSON is valid and a terminal is safe. */
json_t *tree_string(const char *text);
json_t *tree_printf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

void tree_text(json_t *obj, const char *key, const char *text);
void tree_count(json_t *obj, const char *key, uint64_t n);
void tree_real(json_t *obj, const char *key, double v);
/* obj[key] = null, obj[key + "_why"] = the reason. */
void tree_unknown(json_t *obj, const char *key, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* {"n","min","mean","p50","p90","p99","p999","max"}; the caller knows that n > 0. */
json_t *tree_hist(const struct hist *hist);

/* The same of a phase: with "of", and for q2c and d2c "modes". */
json_t *tree_latency(const struct hist *hist, enum phase phase);

/* Reading; missing and null are NULL, 0 or NAN. `path` is keys joined with dots. */
const json_t *tree_at(const json_t *obj, const char *path);
const char *tree_str(const json_t *obj, const char *path); /* NULL where unknown */
uint64_t tree_u64(const json_t *obj, const char *path);
double tree_num(const json_t *obj, const char *path);

/* obj.device: "253,0", or null where the input knows it by name only; obj.name then. */
void tree_device_number(json_t *obj, const struct facts *facts, uint32_t device);
/* "vda", or "253,0" where no input names it; owned by the caller. */
char *device_label(const struct facts *facts, uint32_t device);
/* meta.json's entry of that device, or NULL. */
const json_t *device_meta(const struct facts *facts, uint32_t device);
/* meta.json's "command", or NULL. */
const json_t *command_meta(const struct facts *facts);
/* What people call that command: "dd" of "/bin/dd"; owned by the caller. */
char *command_name(const struct facts *facts);

/* Where only partitions of a disk were recorded: [{"device","name","start_sector","sectors"}], owned
 * by the caller. NULL: the whole device was, or the input does not tell. */
json_t *device_partitions(const struct facts *facts, uint32_t device);
/* "its partition sda1", "its partitions sda1 and sda2"; owned by the caller. */
char *partition_words(const json_t *partitions);

/* The branches that have a file of their own. */
json_t *tree_losses(const struct report *r);
json_t *tree_device(const struct report *r, const struct device_sum *dev);
json_t *tree_depth_over_time(const struct report *r, const struct device_sum *dev);
json_t *tree_hazards(const struct report *r, const struct device_sum *dev);
json_t *tree_processes(const struct report *r);
json_t *tree_verdict(const struct report *r);
/* Who used the CPU meanwhile, the most first; NULL where that was not recorded. */
json_t *tree_cpu_times(const struct report *r);
json_t *tree_findings(const struct report *r);
/* by of the report, without its rows. */
json_t *tree_by(const struct report *r);
/* The i-th of by.rows[] (doc/spec.md), owned by the caller. */
json_t *by_row(const struct report *r, size_t i);
/* What the readers gave in the report's shape; null with `why` where there is none. */
void tree_facts(json_t *obj, const char *key, const json_t *list, const char *why);

/* Adds a finding and returns its evidence, to be filled (borrowed). `sentence` and `advice` (may be
 * NULL) are taken. */
json_t *tree_finding(json_t *list, const char *id, const char *severity, const char *title,
		     json_t *sentence, json_t *advice);
/* Is there one with that id? NULL = no. Borrowed. */
const json_t *find_finding(const json_t *list, const char *id);
/* The findings that have a file of their own. */
void find_misaligned(json_t *list, const struct report *r, uint32_t device, const char *name);
void find_excerpt(json_t *list, const struct report *r);
void find_completions(json_t *list, const struct report *r, const struct device_sum *dev,
		      const char *name);
void find_hazards(json_t *list, const struct report *r, const struct device_sum *dev,
		  const char *name);
void find_cross_checks(json_t *list, const struct report *r);
void find_proxies(json_t *list, const struct report *r);

/* Is all that has events a text? Then it is an excerpt until shown otherwise. */
bool report_is_text(const struct report *r);
/* Numbers that the CPUs' counters in texts skip: lines were cut or selected. */
uint64_t report_missing_numbers(const struct report *r);
/* So many that idle time may be lines that were cut. */
bool report_has_holes(const struct report *r);
/* Texts with clocks of their own: their times cannot be compared. */
bool report_mixed_clocks(const struct report *r);
/* Which events of a device there are, as far as counts can tell. */
bool saw_queue(const struct device_sum *dev);
bool saw_issue(const struct device_sum *dev);
bool saw_complete(const struct device_sum *dev);
/* Why latencies from `from` (Q or D) to C are unknown; static. */
const char *no_latency_why(const struct report *r, const struct device_sum *dev, char from);
/* Why the verdict cannot be told from an excerpt, or NULL; static. */
const char *excerpt_verdict_why(const struct report *r);

/* The text side: one branch each. */
struct page {
	FILE *out;
	const struct report_look *look;
};

enum paint { PAINT_NONE, PAINT_HEAD, PAINT_GOOD, PAINT_BAD, PAINT_WARN };

void page_paint(const struct page *page, enum paint paint); /* PAINT_NONE ends it */
/* A paragraph wrapped at 80 columns: `label` in the first 11 columns, the rest indented below. */
void page_para(const struct page *page, enum paint paint, const char *label, const char *text);
void page_printf(const struct page *page, const char *label, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* One line, as long as it is: what is to be pasted must not be wrapped. */
void page_line(const struct page *page, const char *label, const char *text);
/* In all digits that the input has. */
struct num exact_ns(uint64_t ns, uint64_t resolution_ns);
void page_heading(const struct page *page, const char *text);
void page_device(const struct page *page, const json_t *dev);
void page_alignment(const struct page *page, const json_t *dev);
void page_modes(const struct page *page, const json_t *dev);
void page_depth_over_time(const struct page *page, const json_t *dev);
void page_errors(const struct page *page, const json_t *tree);
/* "3 reads failed with ENODATA (61), first at sector 40,010" of devices[].errors[]; owned by the caller. */
char *error_words(const json_t *error);
void page_by(const struct page *page, const json_t *tree);
void page_requests(const struct page *page, const json_t *tree);
void page_facts(const struct page *page, const json_t *tree);
void page_summaries(const struct page *page, const json_t *list);
void page_ignored(const struct page *page, const json_t *tree);
void page_verdict(const struct page *page, const json_t *tree);
void page_most_io(const struct page *page, const json_t *tree);
void page_processes(const struct page *page, const json_t *tree);

#endif
