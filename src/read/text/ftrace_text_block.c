/* SPDX-License-Identifier: MIT
 *
 * Events of the block layer as the kernel, trace-cmd and perf print them. The order of the fields is the
 * same in all kernels; which of them are there is not, so each is found by its looks.
 */
#include "read/text/ftrace_text.h"

#define COMM_MAX 31u /* the kernel's end at 15; people put longer words in their place */
#define RWBS_MAX 16u

enum form {
	FORM_RQ,    /* DEV RWBS [BYTES] [(CMD)] SECTOR + NR [PRIO] [COMM] or [ERROR] */
	FORM_SPLIT, /* DEV RWBS SECTOR / SECTOR [COMM] */
	FORM_REMAP, /* DEV RWBS SECTOR + NR <- (DEV) SECTOR */
	FORM_PLUG,  /* [COMM] NR */
	FORM_ZONE,  /* DEV zone N, BIO SECTOR + NR */
	FORM_NOTHING,
};

struct meaning {
	const char *name;
	uint8_t len;
	uint8_t action;
	uint8_t form;
};

#define EVENT(name, action, form)                        \
	{                                                \
		name, sizeof(name) - 1, (action), (form) \
	}

/* The most frequent ones first. */
static const struct meaning meanings[] = {
	EVENT("block_rq_complete", ACT_COMPLETE, FORM_RQ),
	EVENT("block_rq_issue", ACT_ISSUE, FORM_RQ),
	EVENT("block_rq_insert", ACT_INSERT, FORM_RQ),
	EVENT("block_bio_queue", ACT_QUEUE, FORM_RQ),
	EVENT("block_getrq", ACT_GETRQ, FORM_RQ),
	EVENT("block_bio_backmerge", ACT_BACKMERGE, FORM_RQ),
	EVENT("block_bio_remap", ACT_REMAP, FORM_REMAP),
	EVENT("block_bio_complete", ACT_BIO_COMPLETE, FORM_RQ),
	EVENT("block_plug", ACT_PLUG, FORM_PLUG),
	EVENT("block_unplug", ACT_UNPLUG, FORM_PLUG),
	EVENT("block_split", ACT_SPLIT, FORM_SPLIT),
	EVENT("block_bio_frontmerge", ACT_FRONTMERGE, FORM_RQ),
	EVENT("block_rq_merge", ACT_RQ_MERGE, FORM_RQ),
	EVENT("block_rq_requeue", ACT_REQUEUE, FORM_RQ),
	EVENT("block_rq_error", ACT_RQ_ERROR, FORM_RQ),
	EVENT("block_rq_remap", ACT_RQ_REMAP, FORM_REMAP),
	EVENT("block_remap", ACT_REMAP, FORM_REMAP), /* 2.6.3x */
	EVENT("block_bio_bounce", ACT_BOUNCE, FORM_RQ),
	EVENT("block_sleeprq", ACT_SLEEPRQ, FORM_RQ),
	EVENT("block_bio_split", ACT_SPLIT, FORM_SPLIT),
	EVENT("block_unplug_io", ACT_UNPLUG, FORM_PLUG), /* 2.6.3x */
	EVENT("block_unplug_timer", ACT_UNPLUG_TIMER, FORM_PLUG),
	EVENT("disk_zone_wplug_add_bio", ACT_ZONE_PLUG, FORM_ZONE),
	EVENT("blk_zone_wplug_bio", ACT_ZONE_UNPLUG, FORM_ZONE),
	EVENT("blk_zone_append_update_request_bio", ACT_ZONE_APPEND, FORM_RQ),
	/* The request's life as accounting sees it: the other events tell it all. */
	EVENT("block_io_start", ACT_UNKNOWN, FORM_NOTHING),
	EVENT("block_io_done", ACT_UNKNOWN, FORM_NOTHING),
};

uint32_t ftrace_bytes(uint64_t sectors)
{
	return sectors > UINT32_MAX / SECTOR_SIZE ? UINT32_MAX : (uint32_t)sectors * SECTOR_SIZE;
}

int16_t ftrace_error(int64_t error)
{
	if (error > INT16_MAX && error <= UINT16_MAX)
		error -= UINT16_MAX + 1;
	return (int16_t)(error < INT16_MIN ? INT16_MIN : error > 0 ? 0 : error);
}

static bool has_error(uint8_t action)
{
	return action == ACT_COMPLETE || action == ACT_REQUEUE || action == ACT_RQ_ERROR ||
	       action == ACT_BIO_COMPLETE;
}

/* "none,0,0", "be,0,4", or what perf makes of it, "0x2,0,4". */
static void skip_priority(struct scan *s)
{
	struct scan at = *s;
	const char *word;
	size_t len;
	int commas = 0;

	if (scan_end(s) || *s->at == '[' || *s->at == '<' || !scan_word(&at, &word, &len))
		return;
	for (size_t i = 0; i < len; i++) {
		commas += word[i] == ',';
		if (!scan_is_digit(word[i]) && !scan_is_letter(word[i]) && word[i] != ',')
			return;
	}
	if (commas == 2)
		*s = at;
}

/* "[dd]" to the line's end: names may hold brackets themselves. */
static enum ftrace_body last_bracket(struct scan *s, struct event *ev, struct ftrace_names *names)
{
	const char *close = memrchr(s->at, ']', scan_left(s));
	struct scan inside;
	int64_t error;

	if (!close)
		return BODY_CUT;
	for (const char *p = close + 1; p < s->end; p++)
		if (!scan_is_blank(*p))
			return BODY_BAD;
	inside = (struct scan){ s->at + 1, close };
	s->at = s->end;
	if (!has_error(ev->action)) {
		if (scan_left(&inside) > COMM_MAX)
			return BODY_BAD;
		names->comm = inside.at;
		names->comm_len = scan_left(&inside);
		return BODY_EVENT;
	}
	if (!scan_i64(&inside, &error) || !scan_end(&inside))
		return BODY_BAD;
	ev->error = ftrace_error(error);
	return BODY_EVENT;
}

/* What stands behind the range: "[comm]", "[-5]", or nothing where the line was cut. */
enum ftrace_body ftrace_tail(struct scan *s, bool last_try, struct event *ev,
			     struct ftrace_names *names)
{
	scan_blanks(s);
	skip_priority(s);
	scan_blanks(s);
	if (scan_end(s))
		return last_try ? BODY_EVENT : BODY_CUT;
	if (*s->at != '[')
		return BODY_BAD;
	switch (last_bracket(s, ev, names)) {
	case BODY_EVENT:
		return BODY_EVENT;
	case BODY_CUT:
		return last_try && !has_error(ev->action) ? BODY_EVENT : BODY_CUT;
	default:
		return BODY_BAD;
	}
}

static enum ftrace_body remap_tail(struct scan *s, struct event *ev)
{
	uint64_t nr_bios;

	scan_blanks(s);
	if (scan_end(s))
		return BODY_CUT;
	if (!scan_text(s, "<-"))
		return BODY_BAD;
	scan_blanks(s);
	if (scan_end(s))
		return BODY_CUT;
	if (!scan_char(s, '(') || !scan_device(s, ',', &ev->aux_device) || !scan_char(s, ')'))
		return BODY_BAD;
	scan_blanks(s);
	if (scan_end(s))
		return BODY_CUT;
	if (!scan_u64(s, &ev->aux_sector))
		return BODY_BAD;
	scan_blanks(s);
	scan_u64(s, &nr_bios); /* of a request */
	scan_blanks(s);
	return scan_end(s) ? BODY_EVENT : BODY_BAD;
}

static enum ftrace_body split_tail(struct scan *s, bool last_try, struct event *ev,
				   struct ftrace_names *names)
{
	scan_blanks(s);
	if (scan_end(s))
		return BODY_CUT;
	if (!scan_u64(s, &ev->aux_sector))
		return BODY_BAD;
	if (ev->aux_sector > ev->sector)
		ev->bytes = ftrace_bytes(ev->aux_sector - ev->sector);
	return ftrace_tail(s, last_try, ev, names);
}

/* Behind the sector. */
enum ftrace_body ftrace_range(struct scan *s, bool last_try, struct event *ev, uint64_t *sectors,
			      struct ftrace_names *names)
{
	scan_blanks(s);
	if (scan_end(s))
		return BODY_CUT;
	if (ev->action == ACT_SPLIT)
		return scan_char(s, '/') ? split_tail(s, last_try, ev, names) : BODY_BAD;
	if (!scan_char(s, '+'))
		return BODY_BAD;
	scan_blanks(s);
	if (scan_end(s))
		return BODY_CUT;
	if (!scan_u64(s, sectors) || *sectors > UINT32_MAX)
		return BODY_BAD;
	if (ev->action == ACT_REMAP || ev->action == ACT_RQ_REMAP)
		return remap_tail(s, ev);
	return ftrace_tail(s, last_try, ev, names);
}

/* The command of a passthrough request, in hexadecimal; empty for the others. */
static enum ftrace_body skip_command(struct scan *s)
{
	const char *close;

	scan_blanks(s);
	if (scan_end(s))
		return BODY_CUT;
	if (*s->at != '(')
		return BODY_EVENT;
	close = memchr(s->at, ')', scan_left(s));
	if (!close)
		return BODY_CUT;
	s->at = close + 1;
	scan_blanks(s);
	return scan_end(s) ? BODY_CUT : BODY_EVENT;
}

/* "[BYTES] [(CMD)] SECTOR": a number is the bytes where another one follows. */
static enum ftrace_body before_plus(struct scan *s, struct event *ev, uint64_t *bytes)
{
	bool had_command = *s->at == '(';
	enum ftrace_body r = skip_command(s);
	uint64_t first;

	if (r != BODY_EVENT)
		return r;
	if (!scan_u64(s, &first))
		return BODY_BAD;
	ev->sector = first;
	if (had_command)
		return BODY_EVENT;
	r = skip_command(s);
	if (r != BODY_EVENT)
		return r;
	if (!scan_is_digit(*s->at))
		return BODY_EVENT;
	*bytes = first;
	if (!scan_u64(s, &ev->sector) || *bytes > UINT32_MAX)
		return BODY_BAD;
	return BODY_EVENT;
}

static bool is_rwbs(const char *word, size_t len)
{
	if (len > RWBS_MAX)
		return false;
	for (size_t i = 0; i < len; i++)
		if (word[i] < 'A' || word[i] > 'Z')
			return false;
	return true;
}

/* As ftrace_page.c fills an event from a record of the ring buffer. */
static void set_length(struct event *ev, uint64_t bytes, uint64_t sectors)
{
	if (ev->action == ACT_SPLIT) {
		ev->flags |= EV_NO_BYTES; /* they were computed */
		return;
	}
	/* Old kernels print 0 bytes for everything but passthrough. */
	ev->bytes = bytes ? (uint32_t)bytes : ftrace_bytes(sectors);
}

static enum ftrace_body io_body(struct scan *s, bool last_try, struct event *ev,
				struct ftrace_names *names)
{
	const char *rwbs;
	size_t rwbs_len;
	uint64_t bytes = 0, sectors = 0;
	enum ftrace_body r;

	if (!scan_device(s, ',', &ev->device))
		return BODY_BAD;
	if (!scan_word(s, &rwbs, &rwbs_len))
		return BODY_CUT;
	if (!is_rwbs(rwbs, rwbs_len))
		return BODY_BAD;
	scan_blanks(s);
	if (scan_end(s))
		return BODY_CUT;
	r = before_plus(s, ev, &bytes);
	if (r == BODY_EVENT)
		r = ftrace_range(s, last_try, ev, &sectors, names);
	if (r != BODY_EVENT)
		return r;
	/* -1 of a kernel whose sectors have 32 bits. */
	if (ev->sector == UINT32_MAX && !sectors && has_error(ev->action))
		ev->sector = SECTOR_NONE;
	set_length(ev, bytes, sectors);
	if (ev->action == ACT_SPLIT)
		sectors = ev->bytes / SECTOR_SIZE;
	event_set_rwbs(ev, rwbs, rwbs_len, (uint32_t)sectors);
	return BODY_EVENT;
}

enum ftrace_body ftrace_plug(struct scan *s, struct event *ev, struct ftrace_names *names)
{
	const char *close = memrchr(s->at, ']', scan_left(s));

	if (!scan_char(s, '['))
		return BODY_BAD;
	if (!close)
		return BODY_CUT;
	names->comm = s->at;
	names->comm_len = (size_t)(close - s->at);
	s->at = close + 1;
	scan_blanks(s);
	if (ev->action == ACT_PLUG)
		return scan_end(s) && names->comm_len <= COMM_MAX ? BODY_EVENT : BODY_BAD;
	if (scan_end(s))
		return BODY_CUT;
	if (!scan_u64(s, &ev->aux_sector) || names->comm_len > COMM_MAX)
		return BODY_BAD;
	scan_blanks(s);
	return scan_end(s) ? BODY_EVENT : BODY_BAD;
}

static enum ftrace_body zone_body(struct scan *s, struct event *ev)
{
	uint64_t zone, sectors;

	if (!scan_device(s, ',', &ev->device))
		return BODY_BAD;
	scan_blanks(s);
	if (!scan_text(s, "zone ") || !scan_u64(s, &zone) || !scan_text(s, ", BIO "))
		return scan_left(s) < 8 ? BODY_CUT : BODY_BAD;
	if (!scan_u64(s, &ev->sector) || !scan_text(s, " + ") || !scan_u64(s, &sectors))
		return scan_left(s) < 3 ? BODY_CUT : BODY_BAD;
	scan_blanks(s);
	if (!scan_end(s))
		return BODY_BAD;
	ev->bytes = ftrace_bytes(sectors);
	ev->class = CLASS_OTHER;
	return BODY_EVENT;
}

static const struct meaning *find_meaning(const char *name, size_t len)
{
	for (size_t i = 0; i < sizeof(meanings) / sizeof(*meanings); i++)
		if (meanings[i].len == len && !memcmp(meanings[i].name, name, len))
			return &meanings[i];
	return NULL;
}

static enum ftrace_body body_of(const struct meaning *m, struct scan *s, bool last_try,
				struct event *ev, struct ftrace_names *names)
{
	switch ((enum form)m->form) {
	case FORM_PLUG:
		return ftrace_plug(s, ev, names);
	case FORM_ZONE:
		return zone_body(s, ev);
	case FORM_NOTHING:
		return BODY_NOTHING;
	default:
		return io_body(s, last_try, ev, names);
	}
}

/* "dev=8388608 ..." */
static bool is_raw(struct scan s)
{
	if (scan_is_digit(*s.at))
		return false;
	while (!scan_end(&s) && (scan_is_letter(*s.at) || *s.at == '_'))
		s.at++;
	return !scan_end(&s) && *s.at == '=';
}

enum ftrace_body ftrace_block_body(struct text *text, const char *name, size_t name_len,
				   struct scan s, bool last_try, struct event *ev,
				   struct ftrace_names *names)
{
	const struct meaning *m =
		name_len < 10 || name[0] > 'd' ? NULL : find_meaning(name, name_len);
	enum ftrace_body r;

	if (!m)
		return BODY_MESSAGE;
	ev->action = m->action;
	if (scan_end(&s))
		return BODY_CUT;
	if (m->form != FORM_NOTHING && is_raw(s))
		r = ftrace_raw_body(text, s, ev, names);
	else
		r = body_of(m, &s, last_try, ev, names);
	if (r == BODY_BAD)
		text_why(text, "an event of the block layer whose fields are of no known form");
	return r;
}
