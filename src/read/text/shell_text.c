/* SPDX-License-Identifier: MIT */
#include "read/text/shell_text.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define PROMPT_MAX 80

/* May that stand before a prompt's sign? "host:~", "[root@host dir]", "root@host /mnt", "" */
static bool prompt_text(const char *s, size_t len)
{
	bool place = false, blanks = false;

	if (len > PROMPT_MAX)
		return false;
	for (size_t i = 0; i < len; i++) {
		place = place || (s[i] == '@' && !blanks) || (s[i] == '[' && i == 0) ||
			(s[i] == '(' && i == 0);
		blanks = blanks || s[i] == ' ' || s[i] == '\t';
		if (s[i] == '=' || s[i] == '<' || s[i] == '"')
			return false;
	}
	return !blanks || place;
}

static bool may_begin(char c)
{
	return (c && strchr("/.~_({[", c)) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
}

/* Behind a prompt: the command. */
static bool prompt(const struct text_line *line, struct scan *command)
{
	struct scan s = scan_line(line);

	for (const char *p = s.at; p + 1 < s.end && p - s.at <= PROMPT_MAX; p++) {
		if (p[1] != ' ' || (*p != '#' && *p != '$' && *p != '%' && *p != '+'))
			continue;
		if (!prompt_text(s.at, (size_t)(p - s.at)) ||
		    (*p == '%' && p > s.at && p[-1] >= '0' && p[-1] <= '9') ||
		    (*p == '+' && p > s.at))
			return false;
		*command = (struct scan){ p + 2, s.end };
		scan_blanks(command);
		return command->at < command->end && may_begin(*command->at);
	}
	return false;
}

static bool word_is(const struct scan *token, const char *name)
{
	size_t len = strlen(name);

	return scan_is(token, name) || (scan_left(token) > len && scan_ends(token, name) &&
					token->end[-(long)len - 1] == '/');
}

static bool is_operand(const struct scan *token)
{
	static const char *const keys[] = { "if=",    "of=",    "bs=",       "count=", "conv=",
					    "oflag=", "iflag=", "ibs=",      "obs=",   "cbs=",
					    "seek=",  "skip=",  "status=",   "oseek=", "iseek=",
					    "files=", "speed=", "fillchar=", NULL };

	for (const char *const *key = keys; *key; key++)
		if (scan_starts(token, *key))
			return true;
	return false;
}

/* The word "dd" with an operand right behind it; `rest` is what follows "dd". */
static bool find_dd(struct scan s, struct scan *rest)
{
	struct scan token, next;

	while (scan_token(&s, &token)) {
		struct scan look = s;

		if (word_is(&token, "dd") && scan_token(&look, &next) && is_operand(&next)) {
			*rest = s;
			return true;
		}
	}
	return false;
}

/* No prompt: a line that is nothing but a dd, so that prose about one is left alone. */
static bool bare_dd(const struct text_line *line)
{
	struct scan s = scan_line(line), token;

	if (!scan_token(&s, &token))
		return false;
	while (word_is(&token, "sudo") || word_is(&token, "time"))
		if (!scan_token(&s, &token))
			return false;
	if (!word_is(&token, "dd"))
		return false;
	for (int nr = 0; scan_token(&s, &token); nr++) {
		if (strchr(";&|>2", *token.at) || (nr && scan_ends(&token, ";")))
			return nr > 0;
		if (!is_operand(&token))
			return false;
	}
	return s.at > line->s + 2;
}

static void keep(char *to, struct scan from)
{
	size_t len = scan_left(&from);

	len = len < SHELL_COMMAND_MAX - 1 ? len : SHELL_COMMAND_MAX - 1;
	memcpy(to, from.at, len);
	to[len] = 0;
}

static void mount_over(struct shell *shell)
{
	if (shell->mount[0] && !shell->mount_used && shell->nr_missing < SHELL_MISSING_MAX) {
		shell->missing =
			mem_grow(shell->missing, shell->nr_missing, sizeof(*shell->missing));
		shell->missing[shell->nr_missing++] = mem_strdup(shell->mount);
	}
	shell->mount[0] = 0;
	shell->mount_used = false;
}

/* Is it a mount with options, or an umount? Then the options in force are others. */
static bool take_mount(struct shell *shell, struct scan command)
{
	struct scan token;

	if (!scan_token(&command, &token) ||
	    (word_is(&token, "sudo") && !scan_token(&command, &token)))
		return false;
	if (word_is(&token, "umount")) {
		mount_over(shell);
		return true;
	}
	if (!word_is(&token, "mount"))
		return false;
	while (scan_token(&command, &token)) {
		if (scan_is(&token, "-o") ? !scan_token(&command, &token)
					  : !scan_text(&token, "-o"))
			continue;
		if (token.at == token.end)
			continue;
		mount_over(shell);
		keep(shell->mount, token);
		return true;
	}
	return false;
}

static bool begins_loop(const struct scan *command)
{
	return scan_starts(command, "for ") || scan_starts(command, "while ") ||
	       scan_starts(command, "until ");
}

enum text_answer shell_take(struct shell *shell, const struct text_line *line)
{
	struct scan command, first, look;
	bool prompted = prompt(line, &command);

	if (!prompted) {
		if (!bare_dd(line))
			return TEXT_NO;
		command = scan_line(line);
	}
	if (prompted && take_mount(shell, command))
		return TEXT_USED;
	look = command;
	if (!scan_token(&look, &first) || scan_ends(&first, ":"))
		return TEXT_NO; /* "# tracer: nop" */
	keep(shell->command, command);
	shell->loops = begins_loop(&command);
	shell->result_used = shell->time_used = false;
	if (find_dd(command, &look) || word_is(&first, "time"))
		return TEXT_USED;
	return TEXT_NO;
}

void shell_result(struct shell *shell)
{
	if (shell->mount[0])
		shell->mount_results++;
	shell->mount_used = true;
}

void shell_end(struct shell *shell)
{
	mount_over(shell);
}

void shell_release(struct shell *shell)
{
	for (size_t i = 0; i < shell->nr_missing; i++)
		free(shell->missing[i]);
	free(shell->missing);
	shell->missing = NULL;
	shell->nr_missing = 0;
}

/* ---- dd's operands ---- */

bool shell_has_dd(const char *command)
{
	struct scan rest;

	return find_dd(scan_string(command), &rest);
}

bool shell_dd_operand(const char *command, const char *key, struct scan *value)
{
	struct scan s, token;
	bool found = false;

	if (!find_dd(scan_string(command), &s))
		return false;
	while (scan_token(&s, &token) && !strchr(";&|", *token.at)) {
		const char *semicolon = memchr(token.at, ';', scan_left(&token));

		if (semicolon)
			token.end = semicolon;
		if (scan_text(&token, key)) {
			*value = token; /* the last one counts, as for dd */
			found = true;
		}
		if (semicolon)
			break;
	}
	return found;
}

/* One factor of "2x512": a number with dd's own suffixes. */
static bool dd_factor(struct scan *s, uint64_t *bytes)
{
	static const char prefixes[] = "KMGTP";
	uint64_t n, unit = 1;
	const char *prefix;

	if (!scan_u64(s, &n))
		return false;
	if (scan_text(s, "c"))
		unit = 1;
	else if (scan_text(s, "w"))
		unit = 2;
	else if (scan_text(s, "b"))
		unit = 512;
	else if (s->at < s->end && *s->at &&
		 (prefix = strchr(prefixes, *s->at == 'k' || *s->at == 'm' || *s->at == 'g'
						    ? *s->at & ~0x20
						    : *s->at))) {
		bool decimal;

		s->at++;
		decimal = !scan_text(s, "iB") && scan_text(s, "B");
		for (long i = 0; i <= prefix - prefixes; i++)
			unit *= decimal ? 1000 : 1024;
	}
	return !__builtin_mul_overflow(n, unit, bytes);
}

bool shell_dd_size(struct scan s, uint64_t *bytes)
{
	uint64_t all = 1, factor;

	do {
		if (!dd_factor(&s, &factor) || __builtin_mul_overflow(all, factor, &all))
			return false;
	} while (scan_text(&s, "x"));
	*bytes = all;
	return all && s.at == s.end;
}
