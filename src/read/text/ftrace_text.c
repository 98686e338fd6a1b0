/* SPDX-License-Identifier: MIT
 *
 * Lines of the kernel's trace, of trace-cmd and of perf script: doc/formats/ftrace_text.md.
 *
 *     TASK-PID (TGID) [CPU] FLAGS TIME: EVENT: FIELDS
 *     COMM PID/TID [CPU] TIME: SYSTEM:EVENT: FIELDS
 *
 * Names of tasks may hold anything, so the line is found from "[CPU]" on, and what stands in front is read
 * backwards.
 */
#include "read/text/ftrace_text.h"

#define CPU_DIGITS 5
#define FLAGS_MAX  8u
#define CPU_TRIES  8 /* "[" that may stand in a task's name */
#define COMM_SLOTS 64u
#define SECOND_NS  UINT64_C(1000000000)

/* The name that a pid had last, so that the process table is only asked when it changes. */
struct comm_slot {
	uint32_t pid;
	bool used, from_event;
	uint8_t len;
	char comm[COMM_LEN];
};

struct ftrace_state {
	struct ftrace_notes notes;
	struct ftrace_wbt wbt;
	uint32_t device;  /* of the last I/O event; 0 = none yet */
	uint64_t step_ns; /* of the last time */
	unsigned int dialects;
	struct comm_slot comm[COMM_SLOTS];
};

/* The line in front of the event. */
struct head {
	struct scan task; /* what stands before "[CPU]" */
	const char *comm;
	size_t comm_len;
	uint32_t pid, cpu;
	uint64_t time_ns, step_ns;
	bool has_flags, is_perf;
};

enum head_answer { HEAD_NO, HEAD_YES, HEAD_CUT };

/* ---- in front of the event ---- */

static bool is_flags(const char *word, size_t len)
{
	if (len < 3 || len > FLAGS_MAX)
		return false;
	for (size_t i = 0; i < len; i++)
		if (!scan_is_letter(word[i]) && !scan_is_digit(word[i]) && word[i] != '.' &&
		    word[i] != '#' && word[i] != '-')
			return false;
	return true;
}

/* "[001]", and a blank behind it; s stands at the bracket. */
static bool take_cpu(struct scan *s, uint32_t *cpu)
{
	struct scan at = *s;
	const char *digits;

	scan_char(&at, '[');
	digits = at.at;
	if (!scan_u32(&at, UINT16_MAX, cpu) || at.at - digits > CPU_DIGITS || !scan_char(&at, ']'))
		return false;
	if (!scan_end(&at) && !scan_is_blank(*at.at))
		return false;
	*s = at;
	return true;
}

/* "d.h1. 4148.129870: " */
static enum head_answer take_time(struct scan *s, struct head *head)
{
	const char *word;
	size_t len;

	scan_blanks(s);
	if (scan_end(s))
		return HEAD_CUT;
	if (!scan_is_digit(*s->at)) {
		if (!scan_word(s, &word, &len) || !is_flags(word, len))
			return HEAD_NO;
		head->has_flags = true;
		scan_blanks(s);
		if (scan_end(s))
			return HEAD_CUT;
	}
	if (!scan_time(s, 9, &head->time_ns, &head->step_ns) || !scan_char(s, ':'))
		return HEAD_NO;
	scan_blanks(s);
	return scan_end(s) ? HEAD_CUT : HEAD_YES;
}

static void trim(struct scan *s)
{
	while (s->end > s->at && scan_is_blank(s->end[-1]))
		s->end--;
	while (s->end > s->at && (scan_is_blank(*s->at) ||
				  (*s->at == '#' && s->end - s->at > 1 && scan_is_blank(s->at[1]))))
		s->at++;
}

/* "(  1234)", "(-----)": the thread group, with the option record-tgid. */
static void cut_tgid(struct scan *s)
{
	const char *p = s->end;

	if (scan_left(s) < 3 || p[-1] != ')')
		return;
	for (p--; p > s->at && (scan_is_digit(p[-1]) || p[-1] == '-' || scan_is_blank(p[-1])); p--)
		;
	if (p > s->at && p[-1] == '(') {
		s->end = p - 1;
		trim(s);
	}
}

static const char *digits_before(const char *end, const char *from)
{
	while (end > from && scan_is_digit(end[-1]))
		end--;
	return end;
}

/* "dd-1234" of the kernel, "dd  1234" and "dd 1234/1235" of perf: the pid is behind the last "-" or blank. */
static void take_task(struct head *head)
{
	struct scan task = head->task, number;
	const char *p, *q;

	trim(&task);
	cut_tgid(&task);
	p = digits_before(task.end, task.at);
	if (p == task.end || p == task.at)
		return;
	number = (struct scan){ p, task.end };
	if (p[-1] == '/') {
		q = digits_before(p - 1, task.at);
		if (q == p - 1 || q == task.at || !scan_is_blank(q[-1]))
			return;
		p = q;
	}
	if ((p[-1] != '-' && !scan_is_blank(p[-1])) || !scan_u32(&number, UINT32_MAX, &head->pid))
		return;
	head->is_perf = p[-1] != '-';
	task.end = p - 1;
	trim(&task);
	head->comm = task.at;
	head->comm_len = scan_left(&task);
}

/* Leaves *s at the event. */
static enum head_answer take_head(struct scan *s, struct head *head)
{
	const char *line = s->at;
	enum head_answer answer = HEAD_NO;

	for (int i = 0; i < CPU_TRIES && answer == HEAD_NO; i++) {
		const char *bracket = memchr(s->at, '[', scan_left(s));

		if (!bracket)
			return HEAD_NO;
		*head = (struct head){ .task = { line, bracket } };
		s->at = bracket;
		if (take_cpu(s, &head->cpu))
			answer = take_time(s, head);
		else
			s->at = bracket + 1;
	}
	if (answer == HEAD_NO)
		return HEAD_NO;
	take_task(head);
	/* So little tells less: other lines end in a bracket too. */
	if (answer == HEAD_CUT && !head->has_flags && !head->step_ns)
		return HEAD_NO;
	return answer;
}

/* ---- the event ---- */

static void tell_once(struct ftrace_state *st, struct text *text, unsigned int bit,
		      const char *word)
{
	if (st->dialects & 1u << bit)
		return;
	st->dialects |= 1u << bit;
	text_dialect(text, word);
}

static void tell_dialect(struct ftrace_state *st, struct text *text, const struct head *head)
{
	if (head->is_perf)
		tell_once(st, text, 0, "perf script");
	else if (!head->has_flags)
		tell_once(st, text, 1, "without flags column");
	if (head->step_ns == st->step_ns)
		return;
	st->step_ns = head->step_ns;
	if (head->step_ns > 1)
		text_resolution(text, head->step_ns);
}

static void add_name(struct ftrace_state *st, struct text *text, const struct event *ev,
		     const char *comm, size_t len, bool from_event)
{
	struct comm_slot *slot = &st->comm[ev->pid % COMM_SLOTS];

	if (len > COMM_LEN - 1)
		len = COMM_LEN - 1;
	if (slot->used && slot->pid == ev->pid) {
		/* The task column has the name that the pid had when the text was made. */
		if (slot->from_event && !from_event)
			return;
		if (slot->len == len && !memcmp(slot->comm, comm, len)) {
			slot->from_event |= from_event;
			return;
		}
	}
	*slot = (struct comm_slot){
		.pid = ev->pid, .used = true, .from_event = from_event, .len = (uint8_t)len
	};
	memcpy(slot->comm, comm, len);
	names_add(&text_facts(text)->names, ev->pid, ev->time_ns, comm, len);
}

static void take_names(struct ftrace_state *st, struct text *text, const struct event *ev,
		       const struct head *head, const struct ftrace_names *names)
{
	if (!head->comm)
		return; /* nobody knows the pid */
	if (names->comm && names->comm_len)
		add_name(st, text, ev, names->comm, names->comm_len, true);
	else if (head->comm_len && head->comm[0] != '<')
		add_name(st, text, ev, head->comm, head->comm_len, false);
}

static void note_device(struct ftrace_state *st, struct text *text, const struct event *ev)
{
	if (ev->device == st->device || ev->class == CLASS_NONE || ev->action == ACT_REMAP)
		return;
	st->device = ev->device;
	facts_device_held(text_facts(text), ev->device, text_input(text));
}

static struct event event_at(const struct head *head)
{
	return (struct event){ .time_ns = head->time_ns + TEXT_BIAS,
			       .pid = head->pid,
			       .cpu = (uint16_t)head->cpu };
}

static void give(struct ftrace_state *st, struct text *text, const struct head *head,
		 const struct event *ev, const struct ftrace_names *names)
{
	tell_dialect(st, text, head);
	ftrace_notes_event(&st->notes, text, ev->cpu, ev->time_ns);
	take_names(st, text, ev, head, names);
	note_device(st, text, ev);
	text_event(text, ev);
}

/* "dev 8,1 ..." of file systems and the journal, "8,1 ..." of others. */
static uint32_t message_device(struct scan s)
{
	uint32_t device = 0;

	scan_text(&s, "dev ");
	return scan_device(&s, ',', &device) ? device : 0;
}

static enum text_answer take_message(struct ftrace_state *st, struct text *text,
				     const struct head *head, struct scan whole, const char *name,
				     size_t name_len, struct scan fields)
{
	struct event ev = event_at(head);
	struct ftrace_names none = { 0 };

	while (whole.end > whole.at && scan_is_blank(whole.end[-1]))
		whole.end--;
	ev.action = ACT_MESSAGE;
	ev.payload = (const uint8_t *)whole.at;
	ev.payload_len =
		(uint16_t)(scan_left(&whole) < UINT16_MAX ? scan_left(&whole) : UINT16_MAX);
	if (name_len > 4 && !memcmp(name, "wbt_", 4))
		ev.device = ftrace_wbt_take(&st->wbt, name, name_len, fields, head->time_ns);
	else
		ev.device = message_device(fields);
	give(st, text, head, &ev, &none);
	return TEXT_USED;
}

static enum text_answer answer_of(enum ftrace_body body, struct text *text,
				  const struct text_line *line)
{
	if (body == BODY_NOTHING)
		return TEXT_USED;
	if (body == BODY_CUT && !line->last_try && !line->joined)
		return TEXT_MORE;
	if (body == BODY_CUT)
		text_why(text, "an event that breaks off");
	return TEXT_BAD;
}

static bool is_name_char(char c)
{
	return scan_is_letter(c) || scan_is_digit(c) || c == '_' || c == '-' || c == '.' ||
	       c == '+' || c == '/';
}

/* "block_rq_issue: ", "block:block_rq_issue: ". */
static bool take_name(struct scan *s, const char **name, size_t *len)
{
	struct scan at = *s;

	for (;;) {
		*name = at.at;
		while (!scan_end(&at) && is_name_char(*at.at))
			at.at++;
		*len = (size_t)(at.at - *name);
		if (!*len || !scan_char(&at, ':'))
			return false;
		if (scan_end(&at) || scan_is_blank(*at.at))
			break;
	}
	scan_blanks(&at);
	*s = at;
	return true;
}

/* perf may print how many events a sample stands for in front of the name. */
static void skip_period(struct scan *s)
{
	struct scan at = *s;
	uint64_t n;

	if (!scan_u64(&at, &n) || scan_end(&at) || !scan_is_blank(*at.at))
		return;
	scan_blanks(&at);
	if (!scan_end(&at) && scan_is_letter(*at.at))
		*s = at;
}

static enum text_answer take_event(struct ftrace_state *st, struct text *text,
				   const struct text_line *line, const struct head *head,
				   struct scan s)
{
	struct event ev = event_at(head);
	struct ftrace_names names = { 0 };
	struct scan whole, blk = s;
	enum ftrace_body body;
	const char *name;
	size_t len;

	if (scan_is_digit(*s.at) && scan_device(&blk, ',', &ev.device) && !scan_end(&blk) &&
	    scan_is_blank(*blk.at)) {
		body = ftrace_blk_body(text, blk, line->last_try, &ev, &names);
	} else {
		skip_period(&s);
		whole = s;
		if (!take_name(&s, &name, &len))
			return take_message(st, text, head, whole, s.at, 0, s);
		body = ftrace_block_body(text, name, len, s, line->last_try, &ev, &names);
		if (body == BODY_MESSAGE) {
			whole.at = name;
			return take_message(st, text, head, whole, name, len, s);
		}
	}
	if (body != BODY_EVENT)
		return answer_of(body, text, line);
	give(st, text, head, &ev, &names);
	return TEXT_USED;
}

/* ---- other lines ---- */

/* "  8,0    1    12.345678901  1234  Q  WS 1234 + 8 [dd]": the blk tracer with the option blk_classic. */
static enum text_answer take_classic(struct ftrace_state *st, struct text *text,
				     const struct text_line *line)
{
	struct scan s = scan_over(line->s, line->len);
	struct ftrace_names names = { 0 };
	struct head head = { .comm = "", .has_flags = true };
	struct event ev;
	uint32_t device;
	enum ftrace_body body;

	scan_blanks(&s);
	if (scan_end(&s) || !scan_is_digit(*s.at) || !scan_device(&s, ',', &device))
		return TEXT_NO;
	scan_blanks(&s);
	if (!scan_u32(&s, UINT16_MAX, &head.cpu))
		return TEXT_NO;
	scan_blanks(&s);
	if (!scan_time(&s, 9, &head.time_ns, &head.step_ns) || head.step_ns != 1)
		return TEXT_NO;
	scan_blanks(&s);
	if (!scan_u32(&s, UINT32_MAX, &head.pid) || scan_end(&s) || !scan_is_blank(*s.at))
		return TEXT_NO;
	ev = event_at(&head);
	ev.device = device;
	body = ftrace_blk_body(text, s, line->last_try, &ev, &names);
	if (body != BODY_EVENT)
		return answer_of(body, text, line);
	give(st, text, &head, &ev, &names);
	return TEXT_USED;
}

/* "block_rq_issue: 8,0 ...": somebody left out what stands in front. */
static bool is_event_alone(const struct text_line *line)
{
	struct scan s = scan_over(line->s, line->len);
	const char *name;
	size_t len;

	scan_blanks(&s);
	return scan_left(&s) > 10 && !memcmp(s.at, "block", 5) && take_name(&s, &name, &len) &&
	       len > 6 && !memcmp(name, "block_", 6);
}

static enum text_answer take_other(struct ftrace_state *st, struct text *text,
				   const struct text_line *line)
{
	enum text_answer answer = ftrace_notes_take(&st->notes, text, line);

	if (answer == TEXT_NO)
		answer = take_classic(st, text, line);
	if (answer == TEXT_NO) {
		st->notes.in_stack = false;
		if (is_event_alone(line)) {
			text_why(text, "an event without a time and a CPU in front");
			return TEXT_BAD;
		}
	}
	return answer;
}

static enum text_answer ftrace_take(void *state, struct text *text, const struct text_line *line)
{
	struct ftrace_state *st = state;
	struct scan s = scan_over(line->s, line->len);
	enum text_answer answer;
	struct head head;

	switch (take_head(&s, &head)) {
	case HEAD_NO:
		return take_other(st, text, line);
	case HEAD_CUT:
		if (!line->last_try && !line->joined)
			return TEXT_MORE;
		text_why(text, "an event that breaks off");
		return TEXT_BAD;
	default:
		break;
	}
	if (head.step_ns == SECOND_NS) {
		text_why(text, "its times are of a trace clock that does not count seconds");
		return TEXT_BAD;
	}
	answer = take_event(st, text, line, &head, s);
	st->notes.in_stack = answer == TEXT_USED;
	return answer;
}

static void ftrace_end(void *state, struct text *text)
{
	struct ftrace_state *st = state;

	ftrace_notes_end(&st->notes, text);
	ftrace_wbt_end(&st->wbt, text);
	ftrace_wbt_release(&st->wbt);
}

const struct text_kind text_ftrace = {
	.name = "ftrace",
	.what = "events of the kernel's trace, of trace-cmd or of perf script",
	.state_size = sizeof(struct ftrace_state),
	.take = ftrace_take,
	.end = ftrace_end,
};
