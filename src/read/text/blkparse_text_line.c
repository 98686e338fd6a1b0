/* SPDX-License-Identifier: MIT
 *
 * A line of blkparse up to its RWBS: device, CPU, sequence, time, pid, cgroup, action. The device is
 * looked for anywhere in the line, since private scripts put columns of their own in front.
 */
#include <errno.h>
#include <string.h>

#include "read/text/blkparse_text.h"

#define SECOND_NS 1000000000u
#define HOUR_NS   (3600u * UINT64_C(1000000000))

/* Live pipes subtract the first event's time from earlier ones: 2^64 ns less a little, whose seconds
 * were printed whole or (usually) cut to 32 bits. These are the zeros of the two. */
#define WRAP_WHOLE_SECONDS UINT64_C(18446744073)
#define WRAP_FRACTION_NS   709551616u
#define WRAP_32_NS         ((WRAP_WHOLE_SECONDS & UINT32_MAX) * SECOND_NS + WRAP_FRACTION_NS)

enum action blkparse_action(const char *s, size_t len)
{
	static const uint8_t of[26] = {
		['A' - 'A'] = ACT_REMAP,  ['B' - 'A'] = ACT_BOUNCE,     ['C' - 'A'] = ACT_COMPLETE,
		['D' - 'A'] = ACT_ISSUE,  ['F' - 'A'] = ACT_FRONTMERGE, ['G' - 'A'] = ACT_GETRQ,
		['I' - 'A'] = ACT_INSERT, ['M' - 'A'] = ACT_BACKMERGE,  ['P' - 'A'] = ACT_PLUG,
		['Q' - 'A'] = ACT_QUEUE,  ['R' - 'A'] = ACT_REQUEUE,    ['S' - 'A'] = ACT_SLEEPRQ,
		['U' - 'A'] = ACT_UNPLUG, ['X' - 'A'] = ACT_SPLIT,
	};

	if (len == 1 && *s == 'm')
		return ACT_MESSAGE;
	if (len == 1 && *s >= 'A' && *s <= 'Z')
		return of[*s - 'A'];
	if (len != 2)
		return ACT_UNKNOWN;
	if (s[0] == 'U' && s[1] == 'T')
		return ACT_UNPLUG_TIMER;
	if (s[0] == 'Z' && (s[1] == 'P' || s[1] == 'U'))
		return s[1] == 'P' ? ACT_ZONE_PLUG : ACT_ZONE_UNPLUG;
	return ACT_UNKNOWN;
}

/* What a block driver may return, by name. */
static int errno_of(const char *name, size_t len)
{
	static const struct {
		const char *name;
		int number;
	} table[] = {
		{ "EIO", EIO },
		{ "EREMOTEIO", EREMOTEIO },
		{ "EAGAIN", EAGAIN },
		{ "ENOSPC", ENOSPC },
		{ "ENODATA", ENODATA },
		{ "EOPNOTSUPP", EOPNOTSUPP },
		{ "ETIMEDOUT", ETIMEDOUT },
		{ "ENOLINK", ENOLINK },
		{ "EBADE", EBADE },
		{ "EILSEQ", EILSEQ },
		{ "ENOMEM", ENOMEM },
		{ "EBUSY", EBUSY },
		{ "ENODEV", ENODEV },
		{ "ENXIO", ENXIO },
		{ "EINVAL", EINVAL },
		{ "EOVERFLOW", EOVERFLOW },
		{ "ETIME", ETIME },
		{ "EDOM", EDOM },
		{ "EROFS", EROFS },
		{ "EPERM", EPERM },
		{ "EINTR", EINTR },
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++)
		if (strlen(table[i].name) == len && !memcmp(table[i].name, name, len))
			return table[i].number;
	return 0;
}

bool blkparse_error(const char *p, size_t len, int16_t *error)
{
	bool minus = len && *p == '-';
	const char *after;
	uint64_t n;

	while (len && blkparse_blank(p[len - 1]))
		len--;
	if (!len)
		return false;
	p += minus;
	len -= minus;
	after = blkparse_number(p, &n);
	if (!after) {
		*error = (int16_t)-errno_of(p, len);
		return *error != 0;
	}
	if (after != p + len)
		return false;
	/* 16 bits, and in some tools 32 */
	if (!minus && n > UINT16_MAX && n <= UINT32_MAX && n > UINT32_MAX - INT16_MAX)
		n = UINT32_MAX + UINT64_C(1) - n, minus = true;
	if (n > (minus ? (uint64_t)INT16_MAX : UINT16_MAX))
		return false;
	*error = (int16_t)(minus ? -(int)n : (int)(int16_t)(uint16_t)n);
	return true;
}

/* Letters of one or the other: R W D N F Z begin, and there are ten more (B: the barriers of old kernels;
 * C E O P: zone operations, secure erase). */
static bool rwbs_letter(char c, bool first)
{
	const uint32_t begin = 1u << ('R' - 'A') | 1u << ('W' - 'A') | 1u << ('D' - 'A') |
			       1u << ('N' - 'A') | 1u << ('F' - 'A') | 1u << ('Z' - 'A');
	const uint32_t any = begin | 1u << ('A' - 'A') | 1u << ('S' - 'A') | 1u << ('M' - 'A') |
			     1u << ('U' - 'A') | 1u << ('B' - 'A') | 1u << ('C' - 'A') |
			     1u << ('E' - 'A') | 1u << ('O' - 'A') | 1u << ('P' - 'A');

	return c >= 'A' && c <= 'Z' && ((first ? begin : any) >> (c - 'A') & 1);
}

bool blkparse_is_rwbs(const char *s, size_t len)
{
	if (!len || len > 8)
		return false;
	for (size_t i = 0; i < len; i++)
		if (!rwbs_letter(s[i], !i))
			return false;
	return true;
}

static const char *fraction(const char *p, struct blkparse_line *line, uint64_t *ns)
{
	static const uint32_t scale[] = { 0,     100000000, 10000000, 1000000, 100000,
					  10000, 1000,      100,      10,      1 };
	const char *first = p;
	uint32_t v = 0;

	for (; blkparse_digit(*p) && p - first < 9; p++)
		v = v * 10 + (unsigned char)(*p - '0');
	if (p == first || blkparse_digit(*p))
		return NULL;
	line->digits = (uint8_t)(p - first);
	*ns = (uint64_t)v * scale[p - first];
	return p;
}

const char *blkparse_time(const char *p, struct blkparse_line *line)
{
	uint64_t seconds, ns, before;
	bool negative = *p == '-';

	p = blkparse_number(p + negative, &seconds);
	if (!p || *p != '.' || seconds > WRAP_WHOLE_SECONDS)
		return NULL;
	p = fraction(p + 1, line, &ns);
	if (!p || (seconds == WRAP_WHOLE_SECONDS && ns >= WRAP_FRACTION_NS))
		return NULL;
	line->time_ns = ns += seconds * SECOND_NS;
	line->ev.time_ns = ns + TEXT_BIAS;
	if (!negative && ns < WRAP_32_NS - HOUR_NS)
		return p; /* nearly always */
	if (negative) {
		line->ev.time_ns = TEXT_BIAS - ns;
		return ns <= HOUR_NS ? p : NULL;
	}
	before = WRAP_32_NS - ns;
	if (ns > INT64_MAX)
		before = UINT64_C(0) - ns;
	if (before - 1 < HOUR_NS) {
		line->seen |= BLKPARSE_WRAPPED;
		line->ev.time_ns = TEXT_BIAS - before;
		return p;
	}
	return ns > INT64_MAX ? NULL : p;
}

/* ---- RWBS, priority ---- */

void blkparse_rwbs(struct event *ev, const char *rwbs, size_t len, uint32_t sectors,
		   struct blkparse_memo *memo)
{
	uint64_t letters = 0;
	uint32_t kept = ev->flags, slot;

	for (size_t i = 0; i < len; i++)
		letters = letters << 8 | (unsigned char)rwbs[i];
	slot = (uint32_t)((letters * UINT64_C(0x9e3779b97f4a7c15)) >> 60) % BLKPARSE_MEMOS;
	/* What an N is depends on the rest of the event, what a leading F is on the length. */
	if (sectors && rwbs[0] != 'N' && memo->of[slot].letters == letters) {
		ev->flags |= memo->of[slot].flags;
		ev->class = memo->of[slot].class;
		return;
	}
	ev->flags = 0;
	event_set_rwbs(ev, rwbs, len, sectors);
	if (sectors && rwbs[0] != 'N') {
		memo->of[slot].letters = letters;
		memo->of[slot].flags = ev->flags;
		memo->of[slot].class = ev->class;
	}
	ev->flags |= kept;
}

/* I/O priority in front of the sector: a class letter, a class name, or (seen by the caller) a number. */
const char *blkparse_skip_priority(const char *p, struct blkparse_line *line)
{
	static const char *const names[] = { "none", "rt", "be", "idle" };
	size_t len = 0;

	while (p[len] && !blkparse_blank(p[len]) && len < 8)
		len++;
	if (p[len] && !blkparse_blank(p[len]))
		return p;
	if (len == 1 && strchr("NRBI", *p)) {
		line->seen |= BLKPARSE_PRIORITY;
		return blkparse_skip(p + 1);
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		size_t n = strlen(names[i]);

		if (len < n || memcmp(p, names[i], n) != 0)
			continue;
		if (len == n || (p[n] == '/' && blkparse_digit(p[n + 1]))) {
			line->seen |= BLKPARSE_PRIORITY;
			return blkparse_skip(p + len);
		}
	}
	return p;
}

/* ---- the header ---- */

/* "1,0 ": inode and generation of a cgroup, hexadecimal. Where it ends, or NULL. */
static const char *cgroup(const char *p)
{
	static const char hex[] = "0123456789abcdefABCDEF";
	size_t n = strspn(p, hex), m;

	if (!n || n > 16 || p[n] != ',')
		return NULL;
	m = strspn(p + n + 1, hex);
	p += n + 1 + m;
	return m && m <= 16 && blkparse_blank(*p) ? p : NULL;
}

/* Past a number and the blanks behind it; NULL: there is no number, or something else touches it. At the
 * line's end, p is there. */
static const char *column(const char *p, uint32_t *value)
{
	p = blkparse_u32(p, value);
	if (!p || (*p && !blkparse_blank(*p)))
		return NULL;
	return blkparse_skip(p);
}

/* Action and RWBS; 'm' has "N". */
static enum blkparse_answer operation(const char *p, struct blkparse_line *line)
{
	size_t len = 0;

	while (p[len] && !blkparse_blank(p[len]) && len < 3)
		len++;
	line->ev.action = (uint8_t)blkparse_action(p, len);
	if (line->ev.action == ACT_UNKNOWN)
		return BLKPARSE_NO;
	p = blkparse_skip(p + len);
	for (len = 0; len < 8 && rwbs_letter(p[len], !len); len++)
		;
	line->rwbs = p;
	line->rwbs_len = (uint8_t)len;
	if (p[len] && !blkparse_blank(p[len]))
		return BLKPARSE_NO;
	line->tail = blkparse_skip(p + len);
	return len ? BLKPARSE_EVENT : BLKPARSE_CUT;
}

/* From the device on. The time is what tells a line of blkparse from other columns of numbers. */
static enum blkparse_answer head(const char *p, struct blkparse_line *line)
{
	uint32_t major, minor, cpu;
	const char *group;

	p = blkparse_u32(p, &major);
	if (!p || *p != ',' || major >= DEVICE_NAMED_MAJOR)
		return BLKPARSE_NO;
	p = column(p + 1, &minor);
	if (!p || minor > 0xfffff || !(p = column(p, &cpu)) || cpu > UINT16_MAX)
		return BLKPARSE_NO;
	line->ev.device = DEVICE(major, minor);
	line->ev.cpu = (uint16_t)cpu;
	if (!(p = column(p, &line->ev.sequence)) || !(p = blkparse_time(p, line)) ||
	    (*p && !blkparse_blank(*p)))
		return BLKPARSE_NO;
	p = blkparse_skip(p);
	if (!*p)
		return BLKPARSE_CUT;
	p = column(p, &line->ev.pid);
	if (!p)
		return BLKPARSE_NO;
	if (*p && !blkparse_blank(p[1]) && (group = cgroup(p))) {
		line->seen |= BLKPARSE_CGROUP;
		line->ev.flags |= EV_CGROUP;
		p = blkparse_skip(group);
	}
	return *p ? operation(p, line) : BLKPARSE_CUT;
}

/* Field by field: compilers clear a struct of this size with an instruction that takes longer than
 * reading half a line. */
static void reset(struct blkparse_line *line)
{
	line->ev = (struct event){ 0 };
	line->why = line->comm = line->tail = line->rwbs = NULL;
	line->seen = 0;
	line->digits = 0;
	line->comm_len = line->rwbs_len = 0;
	line->safe = line->has_number = line->counted = false;
}

/* In two lines put together, a second header is the next line's. */
static bool had_time(const struct blkparse_line *line)
{
	return line->digits != 0;
}

/* Tries every "number,number" of the line that nothing touches. */
static enum blkparse_answer find_head(const struct text_line *text, struct blkparse_line *line)
{
	const char *s = text->s, *end = s + text->len;
	const char *first = blkparse_skip(s), *comma = s;
	enum blkparse_answer answer = BLKPARSE_NO;

	if (blkparse_digit(*first))
		answer = head(first, line);
	while (answer == BLKPARSE_NO && !(text->joined && had_time(line)) &&
	       (comma = memchr(comma, ',', (size_t)(end - comma)))) {
		const char *p = comma++;

		while (p > s && blkparse_digit(p[-1]))
			p--;
		if (!blkparse_digit(*p) || !blkparse_digit(*comma) || p == first ||
		    (p > s && (p[-1] == ',' || p[-1] == '.' || p[-1] == '-')))
			continue;
		reset(line);
		line->seen = BLKPARSE_PREFIX;
		answer = head(p, line);
	}
	return answer;
}

enum blkparse_answer blkparse_line(const struct text_line *text, struct blkparse_memo *memo,
				   struct blkparse_line *line)
{
	enum blkparse_answer answer;

	reset(line);
	answer = find_head(text, line);
	if (answer != BLKPARSE_EVENT) {
		line->why = "the line ends before what happened";
		return answer;
	}
	return blkparse_tail(line, text->s + text->len, text->joined, memo);
}
