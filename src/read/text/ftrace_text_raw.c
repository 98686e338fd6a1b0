/* SPDX-License-Identifier: MIT
 *
 * Events of the block layer as `trace-cmd report -R` prints them: the fields of the ring buffer by name.
 */
#include "read/text/ftrace_text.h"

#define COMM_MAX 31u

struct raw {
	struct scan rwbs;
	char letters[16]; /* where rwbs is printed as an array of characters */
	uint64_t bytes, sectors;
	bool have_bytes, have_sectors, have_dev;
};

/* "8388608" or "0x800000". */
static bool raw_number(struct scan s, uint64_t *value)
{
	uint64_t n = 0;

	if (!scan_text(&s, "0x"))
		return scan_u64(&s, value) && scan_end(&s);
	if (scan_end(&s) || scan_left(&s) > 16)
		return false;
	for (; !scan_end(&s); s.at++) {
		char c = *s.at | 0x20;

		if (!scan_is_digit(c) && (c < 'a' || c > 'f'))
			return false;
		n = n << 4 | (uint64_t)(scan_is_digit(c) ? c - '0' : c - 'a' + 10);
	}
	*value = n;
	return true;
}

static bool raw_device(struct scan s, uint32_t *device)
{
	struct scan at = s;
	uint64_t n;

	if (scan_device(&at, ',', device))
		return scan_end(&at);
	if (!raw_number(s, &n) || n > UINT32_MAX)
		return false;
	*device = (uint32_t)n;
	return true;
}

/* "WS", or "ARRAY[57, 53, 00]": the characters in hexadecimal. */
static bool raw_letters(struct raw *raw, struct scan value)
{
	size_t nr = 0;

	raw->rwbs = value;
	if (!scan_text(&value, "ARRAY["))
		return true;
	while (scan_left(&value) >= 2 && *value.at != ']') {
		uint64_t c;

		scan_blanks(&value);
		if (scan_left(&value) < 2)
			break;
		char hex[] = { '0', 'x', value.at[0], value.at[1] };

		if (!raw_number(scan_over(hex, sizeof(hex)), &c))
			return false;
		value.at += 2;
		scan_char(&value, ',');
		if (c && nr < sizeof(raw->letters))
			raw->letters[nr++] = (char)c;
	}
	raw->rwbs = scan_over(raw->letters, nr);
	return true;
}

static bool is_key(const struct scan *key, const char *text)
{
	return scan_word_is(key->at, scan_left(key), text);
}

/* The field is a pointer in all others. */
static bool has_aux(uint8_t action)
{
	return action == ACT_REMAP || action == ACT_RQ_REMAP || action == ACT_SPLIT ||
	       action == ACT_UNPLUG || action == ACT_UNPLUG_TIMER;
}

static bool take_number(struct raw *raw, struct event *ev, const struct scan *key,
			struct scan value)
{
	struct scan at = value;
	int64_t error;
	uint64_t n;

	if (is_key(key, "error") || is_key(key, "errors")) {
		if (!scan_i64(&at, &error) || !scan_end(&at))
			return false;
		ev->error = ftrace_error(error);
		return true;
	}
	if (!raw_number(value, &n))
		return false;
	if (is_key(key, "sector")) {
		ev->sector = n;
	} else if (is_key(key, "nr_sector") || is_key(key, "nr_sectors")) {
		raw->sectors = n;
		raw->have_sectors = true;
	} else if (is_key(key, "bytes")) {
		raw->bytes = n;
		raw->have_bytes = true;
	} else if (has_aux(ev->action)) {
		ev->aux_sector = n;
	}
	return true;
}

static bool take_field(struct raw *raw, struct event *ev, const struct scan *key, struct scan value,
		       struct ftrace_names *names)
{
	static const char *const numbers[] = { "sector",     "nr_sector",  "nr_sectors",
					       "bytes",      "error",      "errors",
					       "old_sector", "new_sector", "nr_rq" };

	if (is_key(key, "dev")) {
		raw->have_dev = true;
		return raw_device(value, &ev->device);
	}
	if (is_key(key, "old_dev"))
		return raw_device(value, &ev->aux_device);
	if (is_key(key, "rwbs"))
		return raw_letters(raw, value);
	if (is_key(key, "comm")) {
		if (scan_left(&value) <= COMM_MAX && !memchr(value.at, '[', scan_left(&value))) {
			names->comm = value.at;
			names->comm_len = scan_left(&value);
		}
		return true;
	}
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		if (is_key(key, numbers[i]))
			return take_number(raw, ev, key, value);
	return true; /* ioprio, cmd, zno */
}

/* Where the next " KEY=" begins, or the end: values may hold blanks. */
static const char *value_end(const struct scan *s)
{
	const char *p = s->at;

	while (p < s->end) {
		const char *key = p;

		if (!scan_is_blank(*p)) {
			p++;
			continue;
		}
		for (key++; key < s->end && (scan_is_letter(*key) || *key == '_'); key++)
			;
		if (key > p + 1 && key < s->end && *key == '=')
			return p;
		p++;
	}
	return p;
}

static bool take_fields(struct raw *raw, struct scan *s, struct event *ev,
			struct ftrace_names *names)
{
	for (scan_blanks(s); !scan_end(s); scan_blanks(s)) {
		struct scan key = *s, value;
		const char *equals = memchr(s->at, '=', scan_left(s));

		if (!equals)
			return false;
		key.end = equals;
		s->at = equals + 1;
		value = *s;
		value.end = s->at = value_end(s);
		while (value.end > value.at && scan_is_blank(value.end[-1]))
			value.end--;
		if (!take_field(raw, ev, &key, value, names))
			return false;
	}
	return true;
}

enum ftrace_body ftrace_raw_body(struct text *text, struct scan s, struct event *ev,
				 struct ftrace_names *names)
{
	bool is_plug = ev->action == ACT_PLUG || ev->action == ACT_UNPLUG ||
		       ev->action == ACT_UNPLUG_TIMER;
	struct raw raw = { 0 };

	if (!take_fields(&raw, &s, ev, names) || raw.bytes > UINT32_MAX || raw.sectors > UINT32_MAX)
		return BODY_BAD;
	if (is_plug)
		return BODY_EVENT;
	if (!raw.have_dev)
		return BODY_BAD;
	text_dialect(text, "raw fields");
	ev->class = CLASS_OTHER;
	if (ev->action == ACT_SPLIT) {
		ev->flags |= EV_NO_BYTES;
		if (ev->aux_sector > ev->sector)
			raw.sectors = ev->aux_sector - ev->sector;
		ev->bytes = ftrace_bytes(raw.sectors);
		raw.sectors = ev->bytes / SECTOR_SIZE;
	} else if (raw.bytes) {
		ev->bytes = (uint32_t)raw.bytes;
	} else if (raw.have_sectors || raw.have_bytes) {
		ev->bytes = ftrace_bytes(raw.sectors);
	} else {
		return BODY_CUT;
	}
	if (scan_left(&raw.rwbs))
		event_set_rwbs(ev, raw.rwbs.at, scan_left(&raw.rwbs), (uint32_t)raw.sectors);
	return BODY_EVENT;
}
