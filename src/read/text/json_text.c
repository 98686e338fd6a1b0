/* SPDX-License-Identifier: MIT
 *
 * Results in JSON, alone or with lines of text around them: an object is gathered from its brace to the
 * matching one, then given to the program's own reader.
 */

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "read/text/fio.h"
#include "read/text/result.h"

#define JSON_MAX    (16u << 20)
#define FOREIGN_MAX 100u

struct json_text {
	char *buf; /* owned */
	size_t len, room;
	unsigned int depth; /* braces and brackets that are open */
	bool in_string, escaped;
	bool too_large;
	unsigned int foreign; /* lines since its beginning that were not of it */
};

static void append(struct json_text *j, const char *s, size_t len)
{
	if (j->too_large || len > JSON_MAX - j->len) {
		j->too_large = true;
		return;
	}
	if (j->len + len > j->room) {
		j->room = j->room ? j->room : 65536;
		while (j->room < j->len + len)
			j->room *= 2;
		j->buf = mem_resize(j->buf, j->room, 1);
	}
	memcpy(j->buf + j->len, s, len);
	j->len += len;
}

/* Follows the brackets; how many bytes of the line belong to the object. */
static size_t follow(struct json_text *j, const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		char c = s[i];

		if (j->in_string) {
			j->in_string = j->escaped || c != '"';
			j->escaped = !j->escaped && c == '\\';
		} else if (c == '"') {
			j->in_string = true;
		} else if (c == '{' || c == '[') {
			j->depth++;
		} else if ((c == '}' || c == ']') && --j->depth == 0) {
			return i + 1;
		}
	}
	return len;
}

static void close_object(struct json_text *j, struct text *text)
{
	struct facts *facts = text_facts(text);
	json_error_t why;
	json_t *document;

	if (j->too_large) {
		facts_note(facts, "a JSON object of more than %u MiB is not read", JSON_MAX >> 20);
	} else {
		document = json_loadb(j->buf, j->len, 0, &why);
		if (!document)
			facts_note(facts, "an object that looked like JSON is none: %s", why.text);
		else if (!fio_json(text, document) && !hyperfine_json(text, document))
			facts_note(facts, "a JSON object of no known program was not used");
		json_decref(document);
	}
	free(j->buf);
	*j = (struct json_text){ 0 };
}

/* Does an object begin here? `{` alone may be anything: then the next line decides. */
static enum text_answer begins(const struct text_line *line, struct scan s)
{
	if (!scan_text(&s, "{"))
		return TEXT_NO;
	if (scan_ended(&s))
		return line->joined || line->last_try ? TEXT_NO : TEXT_MORE;
	return scan_next(&s, "\"") && (scan_past(&s, "\":") || scan_past(&s, "\" :")) ? TEXT_USED
										      : TEXT_NO;
}

/* Could that stand in JSON as programs print it? Prose between its lines does not belong to it. */
static bool may_go_on(const struct json_text *j, struct scan s)
{
	double number;

	if (j->in_string || s.at == s.end || (*s.at && strchr("\"{}[],", *s.at)))
		return true;
	if (!scan_text(&s, "true") && !scan_text(&s, "false") && !scan_text(&s, "null") &&
	    !scan_real(&s, &number))
		return false;
	scan_next(&s, ",");
	return scan_ended(&s);
}

static void breaks_off(struct json_text *j, struct text *text)
{
	if (text)
		facts_note(text_facts(text), "a JSON object does not end");
	free(j->buf);
	*j = (struct json_text){ 0 };
}

static enum text_answer take(void *state, struct text *text, const struct text_line *line)
{
	struct json_text *j = state;
	struct scan s = scan_line(line);
	size_t used;

	if (j->depth && !may_go_on(j, s)) {
		if (++j->foreign > FOREIGN_MAX)
			breaks_off(j, text);
		return TEXT_NO;
	}

	if (!j->depth) {
		enum text_answer answer = begins(line, s);

		if (answer != TEXT_USED)
			return answer;
	}
	if (j->in_string && s.at > line->s)
		s.at = line->s; /* blanks in a string that a mailer broke count */
	used = follow(j, s.at, scan_left(&s));
	append(j, s.at, used);
	append(j, j->in_string ? " " : "\n", 1);
	if (!j->depth)
		close_object(j, text);
	return TEXT_USED;
}

static void end(void *state, struct text *text)
{
	struct json_text *j = state;

	if (j->depth)
		breaks_off(j, text);
}

const struct text_kind text_json = {
	.name = "json",
	.what = "results in JSON (fio, hyperfine)",
	.state_size = sizeof(struct json_text),
	.take = take,
	.end = end,
};
