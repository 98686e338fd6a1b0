/* SPDX-License-Identifier: MIT
 *
 * What people paste: one text may hold events, summaries, tables, results and prose, in any order and
 * mangled by mail. text.c cleans the lines (text_lines.c), offers each to the kinds of text_kinds.c
 * in their order, joins what a mailer broke, sorts the events by time (text_order.c), and counts what
 * was used and what was not, with the reason.
 *
 * A kind is one const struct in its own file and one row in text_kinds.c.
 */
#ifndef BLKLAB_READ_TEXT_TEXT_H
#define BLKLAB_READ_TEXT_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/event.h"
#include "trace/facts.h"

#define TEXT_LINE_MAX (1u << 20) /* of longer ones half of this is kept */

/* A cleaned line: no line end, no quote marks, no line number in front. */
struct text_line {
	const char *s; /* NUL at s[len]; may hold other NULs only if the text did */
	size_t len;
	uint64_t nr;   /* in the file, from 1 */
	bool joined;   /* made of this line and the next one, which a mailer had broken apart */
	bool last_try; /* take what can be taken: joining did not help, or there is no next line */
};

enum text_answer {
	TEXT_NO,   /* not of this kind */
	TEXT_USED, /* taken */
	TEXT_MORE, /* begins like one of this kind and breaks off: try again with the next line joined.
	            * Nothing was taken. Not allowed where line->last_try or line->joined. */
	TEXT_BAD, /* of this kind, but unusable: text_why() said why */
};

struct text; /* one input while it is read */

struct text_kind {
	const char *name;  /* inputs[].format when most used lines are of this kind: "blkparse" */
	const char *what;  /* for people: "blkparse output" */
	size_t state_size; /* of a zeroed struct that take and end get; 0 = none */
	/* Looks at one line. Must be cheap for lines of other kinds: most lines are offered to all. */
	enum text_answer (*take)(void *state, struct text *text, const struct text_line *line);
	/* The text has ended (or NULL): flush what was gathered; frees what the state owns. Called
	 * once, also after errors. */
	void (*end)(void *state, struct text *text);
};

extern const struct text_kind *const text_kinds[]; /* ends with NULL; order is precedence */

/* ---- what a kind may call ---- */

struct facts *text_facts(struct text *text);
size_t text_input(const struct text *text); /* index of its struct input_info */

/* Gives an event (copied). Its time is in ns of the text's own clock plus TEXT_BIAS, so that times
 * before the text's zero can be told; text.c sorts. A payload (ACT_MESSAGE) must lie in the line: it
 * is copied. */
#define TEXT_BIAS (UINT64_C(1) << 42) /* 73 minutes */
void text_event(struct text *text, const struct event *ev);

/* Says why the line is TEXT_BAD; a static string. */
void text_why(struct text *text, const char *why);

/* Adds a word to the dialect that the report shows ("cgroup column"), once each. A static string. */
void text_dialect(struct text *text, const char *word);

/* The times of this text are no finer than that (1000: microseconds); the coarsest wins. */
void text_resolution(struct text *text, uint64_t ns);

/* The event had this number in the counter of its CPU (and device); finds the numbers that are
 * missing. Numbers of 0 are none. */
void text_sequence(struct text *text, uint32_t cpu, uint32_t device, uint32_t sequence);

/* The text told that so many events were dropped (0 is an answer too); they add up. */
void text_drops_told(struct text *text, uint64_t dropped);

/* The number that stands for a device known by name only; the same for the same name. */
uint32_t text_device(struct text *text, const char *name, size_t len);

/* What stands above, blanks squeezed, at most 200 bytes, "" = nothing: a short line that ends with a
 * colon, is underlined or begins with "[" or "==", or a shell's prompt with a command. Sentences are none, so that prose
 * around results does not change them. A kind may set it too. */
const char *text_heading(const struct text *text);
void text_set_heading(struct text *text, const char *s, size_t len);

/* A metric in the report's shape, appended to facts->metrics. value NAN = unknown with `why`; sd NAN
 * = unknown; n 0 = unknown. `source`: the program ("fs_mark"). Context: the heading. Returns the
 * object (borrowed) for further keys, or NULL where there are too many. */
json_t *text_metric(struct text *text, const char *source, const char *name, double value,
		    const char *unit, const char *better, uint64_t n, double sd, const char *why);

#endif
