/* SPDX-License-Identifier: MIT
 *
 * What the kernel's blk tracer prints (current_tracer=blk): blktrace's records as text, like blkparse but
 * without sequence numbers.
 */
#include "read/text/ftrace_text.h"

static const struct {
	const char *short_name, *long_name; /* long with the trace option "verbose" */
	uint8_t action;
} actions[] = {
	{ "Q", "queue", ACT_QUEUE },
	{ "M", "backmerge", ACT_BACKMERGE },
	{ "F", "frontmerge", ACT_FRONTMERGE },
	{ "G", "getrq", ACT_GETRQ },
	{ "S", "sleeprq", ACT_SLEEPRQ },
	{ "R", "requeue", ACT_REQUEUE },
	{ "D", "issue", ACT_ISSUE },
	{ "C", "complete", ACT_COMPLETE },
	{ "P", "plug", ACT_PLUG },
	{ "U", "unplug_io", ACT_UNPLUG },
	{ "UT", "unplug_timer", ACT_UNPLUG_TIMER },
	{ "I", "insert", ACT_INSERT },
	{ "X", "split", ACT_SPLIT },
	{ "B", "bounce", ACT_BOUNCE },
	{ "A", "remap", ACT_REMAP },
	{ "m", "message", ACT_MESSAGE },
};

static bool take_action(struct scan *s, struct event *ev)
{
	const char *word;
	size_t len;

	if (!scan_word(s, &word, &len))
		return false;
	for (size_t i = 0; i < sizeof(actions) / sizeof(*actions); i++) {
		if (scan_word_is(word, len, actions[i].short_name) ||
		    scan_word_is(word, len, actions[i].long_name)) {
			ev->action = actions[i].action;
			return true;
		}
	}
	return false;
}

/* "1,0", "b6,1" (inode and generation in hexadecimal) or a path, with the option blk_cgroup. */
static bool skip_cgroup(struct scan *s)
{
	const char *word;
	size_t len;

	return scan_word(s, &word, &len) && (word[0] == '/' || memchr(word, ',', len));
}

static bool take_head(struct text *text, struct scan *s, struct event *ev)
{
	struct scan at = *s;

	if (take_action(s, ev))
		return true;
	*s = at;
	if (!skip_cgroup(s) || !take_action(s, ev))
		return false;
	text_dialect(text, "cgroup column");
	return true;
}

/* "36 (12 00 00 00 24 00 ..) [scsi_id]": bytes and the command. */
static enum ftrace_body passthrough(struct scan *s, struct event *ev, uint64_t bytes,
				    struct ftrace_names *names)
{
	const char *open = memrchr(s->at, '[', scan_left(s));
	const char *close = memrchr(s->at, ']', scan_left(s));
	struct scan inside;
	int64_t error;

	if (!open || !close || close < open || bytes > UINT32_MAX)
		return BODY_CUT;
	inside = (struct scan){ open + 1, close };
	ev->bytes = (uint32_t)bytes;
	ev->sector = ev->action == ACT_COMPLETE ? SECTOR_NONE : 0;
	ev->class = CLASS_PASSTHROUGH;
	ev->flags |= EV_PC;
	if (ev->action != ACT_COMPLETE) {
		names->comm = inside.at;
		names->comm_len = scan_left(&inside);
		return names->comm_len < 32 ? BODY_EVENT : BODY_BAD;
	}
	if (!scan_i64(&inside, &error) || !scan_end(&inside))
		return BODY_BAD;
	ev->error = ftrace_error(error);
	return BODY_EVENT;
}

static enum ftrace_body io(struct scan *s, bool last_try, struct event *ev, struct scan rwbs,
			   struct ftrace_names *names)
{
	uint64_t number = 0, sectors = 0;
	enum ftrace_body r;

	scan_blanks(s);
	if (scan_end(s))
		return BODY_CUT;
	if (*s->at == '(') /* a command without bytes */
		return passthrough(s, ev, 0, names);
	if (*s->at != '[' && !scan_u64(s, &number))
		return BODY_BAD;
	scan_blanks(s);
	if (scan_end(s))
		return BODY_CUT;
	if (*s->at == '(')
		return passthrough(s, ev, number, names);
	ev->sector = number;
	if (*s->at == '[') { /* neither sector nor length, or no length, is printed of 0 sectors */
		r = ftrace_tail(s, last_try, ev, names);
	} else {
		r = ftrace_range(s, last_try, ev, &sectors, names);
		if (ev->action == ACT_SPLIT)
			ev->flags |= EV_NO_BYTES;
		else
			ev->bytes = ftrace_bytes(sectors);
	}
	if (r != BODY_EVENT)
		return r;
	if (ev->action == ACT_SPLIT)
		sectors = ev->bytes / SECTOR_SIZE;
	event_set_rwbs(ev, rwbs.at, scan_left(&rwbs), (uint32_t)sectors);
	/* blktrace's C is a request's or a bio's, which its category tells; it is not printed. */
	if (ev->action == ACT_COMPLETE)
		ev->flags |= EV_UNTOLD_KIND;
	return BODY_EVENT;
}

static enum ftrace_body body(struct text *text, struct scan *s, bool last_try, struct event *ev,
			     struct ftrace_names *names)
{
	struct scan rwbs;
	size_t len;

	if (!take_head(text, s, ev))
		return BODY_BAD;
	if (!scan_word(s, &rwbs.at, &len))
		return BODY_CUT;
	rwbs.end = rwbs.at + len;
	if (ev->action == ACT_MESSAGE) {
		scan_blanks(s);
		ev->payload = (const uint8_t *)s->at;
		ev->payload_len = (uint16_t)(scan_left(s) > UINT16_MAX ? UINT16_MAX : scan_left(s));
		if (!ev->payload_len)
			ev->payload = NULL;
		return BODY_EVENT;
	}
	for (const char *p = rwbs.at; p < rwbs.end; p++)
		if (len > 16 || *p < 'A' || *p > 'Z')
			return BODY_BAD;
	if (ev->action == ACT_PLUG || ev->action == ACT_UNPLUG || ev->action == ACT_UNPLUG_TIMER) {
		scan_blanks(s);
		return scan_end(s) ? BODY_CUT : ftrace_plug(s, ev, names);
	}
	return io(s, last_try, ev, rwbs, names);
}

enum ftrace_body ftrace_blk_body(struct text *text, struct scan s, bool last_try, struct event *ev,
				 struct ftrace_names *names)
{
	enum ftrace_body r = body(text, &s, last_try, ev, names);

	if (r == BODY_BAD)
		text_why(text, "a line of the blk tracer whose fields are of no known form");
	else if (r == BODY_EVENT)
		text_dialect(text, "blk tracer");
	return r;
}
