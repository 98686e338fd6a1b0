/* SPDX-License-Identifier: MIT
 *
 * The default layout of blkparse's lines.
 */
#include <stdio.h>

#include "classic/blkparse.h"
#include "classic/digits.h"
#include "classic/hexdump.h"

#define NS_PER_S UINT64_C(1000000000)
#define LINE_ROOM \
	320 /* of any line without payload: every column at its widest, a name and an error */
#define NO_NAME "(null)"

/* Of action 1..19, and which of them blkparse takes of passthrough. */
static const struct {
	char letter[3];
	bool pc;
} actions[] = {
	[ACT_QUEUE] = { "Q", true },          [ACT_BACKMERGE] = { "M", false },
	[ACT_FRONTMERGE] = { "F", false },    [ACT_GETRQ] = { "G", true },
	[ACT_SLEEPRQ] = { "S", true },        [ACT_REQUEUE] = { "R", true },
	[ACT_ISSUE] = { "D", true },          [ACT_COMPLETE] = { "C", true },
	[ACT_PLUG] = { "P", false },          [ACT_UNPLUG] = { "U", false },
	[ACT_UNPLUG_TIMER] = { "UT", false }, [ACT_INSERT] = { "I", true },
	[ACT_SPLIT] = { "X", false },         [ACT_BOUNCE] = { "B", false },
	[ACT_REMAP] = { "A", false },         [ACT_ZONE_PLUG] = { "ZP", false },
	[ACT_ZONE_UNPLUG] = { "ZU", false },
};
#define NR_ACTIONS   (sizeof(actions) / sizeof(actions[0]))
#define NR_ACTIONS_7 (ACT_REMAP + 1u)

const char *line_action(const struct record *r, enum classic classic)
{
	uint32_t number = r->h.number;

	if (number >= (classic == CLASSIC_8 ? NR_ACTIONS : NR_ACTIONS_7) ||
	    !actions[number].letter[0])
		return NULL;
	if ((r->h.categories & TC_PC) && !actions[number].pc)
		return NULL;
	return actions[number].letter;
}

static char *put(char *p, const char *text)
{
	while (*text)
		*p++ = *text++;
	return p;
}

/* Right-justified in at least `width`. */
static char *put_right(char *p, const char *text, size_t len, size_t width)
{
	for (; width > len; width--)
		*p++ = ' ';
	memcpy(p, text, len);
	return p + len;
}

/* "  8,16 " */
static char *put_device(char *p, uint32_t device)
{
	unsigned int minor = DEVICE_MINOR(device), n = digits_count(minor);

	p = digits_right(p, DEVICE_MAJOR(device), 3);
	*p++ = ',';
	p = digits_fixed(p, minor, n);
	for (; n < 3; n++)
		*p++ = ' ';
	*p++ = ' ';
	return p;
}

/* As %*d of what passes through an int in the classic. */
static char *put_int(char *p, uint32_t v, unsigned int width)
{
	char text[12];
	char *end;

	if (v <= INT32_MAX)
		return digits_right(p, v, width);
	end = digits(put(text, "-"), UINT32_MAX - v + UINT64_C(1));
	return put_right(p, text, (size_t)(end - text), width);
}

/* "    1.000000123" */
static char *put_time(char *p, uint64_t time_ns)
{
	uint64_t s = time_ns / NS_PER_S;

	p = put_int(p, (uint32_t)s, 5);
	*p++ = '.';
	return digits_fixed(p, time_ns - s * NS_PER_S, 9);
}

/* The columns up to the pid. */
static char *put_where(char *p, const struct record *r, uint32_t sequence, uint32_t pid)
{
	p = put_device(p, r->h.device);
	p = digits_right(p, r->h.cpu, 2);
	*p++ = ' ';
	p = put_int(p, sequence, 8);
	*p++ = ' ';
	p = put_time(p, r->h.time_ns);
	*p++ = ' ';
	p = digits_right(p, pid, 5);
	*p++ = ' ';
	return p;
}

static char *put_what(char *p, const char *action, const char *rwbs, size_t rwbs_len)
{
	p = put_right(p, action, action[1] ? 2 : 1, 2);
	*p++ = ' ';
	p = put_right(p, rwbs, rwbs_len, 3);
	*p++ = ' ';
	return p;
}

static char *put_comm(char *p, const struct comm *comm)
{
	*p++ = '[';
	p = comm ? put_right(p, comm->name, comm->len, 0) : put(p, NO_NAME);
	*p++ = ']';
	return p;
}

/* "1000 + 8 ", or nothing where there are no sectors. */
static char *put_range(char *p, const struct record *r)
{
	p = digits(p, r->h.sector);
	p = put(p, " + ");
	p = digits(p, r->h.bytes >> 9);
	*p++ = ' ';
	return p;
}

static char *put_elapsed(char *p, uint64_t elapsed_ns)
{
	if (elapsed_ns == ELAPSED_NONE)
		return p;
	*p++ = '(';
	p = digits_right(p, elapsed_ns, 8);
	return put(p, ") ");
}

static char *put_error(char *p, const struct record *r, const char *error)
{
	*p++ = '[';
	p = error ? put(p, error) : digits(p, r->h.error);
	*p++ = ']';
	return p;
}

static char *put_payload(char *p, const struct record *r)
{
	if (!r->h.pdu_len)
		return p;
	*p++ = '(';
	p += hexdump(r->pdu, r->h.pdu_len, p);
	return put(p, ") ");
}

/* A count in the payload; the classic shows its low half. */
static uint32_t payload_count(const struct record *r)
{
	return r->h.pdu_len >= 8 ? (uint32_t)bytes_be64(r->pdu) : 0;
}

static char *put_remap(char *p, const struct record *r)
{
	bool whole = r->h.pdu_len >= 16;
	uint32_t from = whole ? bytes_be32(r->pdu) : 0;

	p = put_range(p, r);
	p = put(p, "<- (");
	p = digits(p, DEVICE_MAJOR(from));
	*p++ = ',';
	p = digits(p, DEVICE_MINOR(from));
	p = put(p, ") ");
	return digits(p, whole ? bytes_be64(r->pdu + 8) : 0);
}

static char *put_tail(char *p, const struct record *r, const struct comm *comm, uint64_t elapsed_ns,
		      const char *error)
{
	switch (r->h.number) {
	case ACT_COMPLETE:
	case ACT_REQUEUE:
		if (r->h.bytes >> 9) {
			p = put_range(p, r);
		} else {
			p = digits(p, r->h.sector);
			*p++ = ' ';
		}
		p = put_elapsed(p, elapsed_ns);
		return put_error(p, r, error);
	case ACT_ISSUE:
	case ACT_INSERT:
	case ACT_QUEUE:
	case ACT_BOUNCE:
		if (r->h.bytes >> 9)
			p = put_range(p, r);
		p = put_elapsed(p, elapsed_ns);
		return put_comm(p, comm);
	case ACT_REMAP:
		return put_remap(p, r);
	case ACT_SPLIT:
		p = digits(p, r->h.sector);
		p = put(p, " / ");
		p = digits(p, payload_count(r));
		*p++ = ' ';
		return put_comm(p, comm);
	case ACT_UNPLUG:
	case ACT_UNPLUG_TIMER:
		p = put_comm(p, comm);
		*p++ = ' ';
		return digits(p, payload_count(r));
	case ACT_PLUG:
	case ACT_ZONE_PLUG:
	case ACT_ZONE_UNPLUG: /* the number that the classic prints here lies behind the record */
		return put_comm(p, comm);
	default: /* M F G S */
		if (r->h.bytes >> 9)
			p = put_range(p, r);
		return put_comm(p, comm);
	}
}

static char *put_pc_tail(char *p, const struct record *r, const struct comm *comm,
			 const char *error)
{
	switch (r->h.number) {
	case ACT_COMPLETE:
		p = put_payload(p, r);
		return put_error(p, r, error);
	case ACT_REQUEUE:
		return put_error(p, r, error);
	case ACT_ISSUE:
	case ACT_INSERT:
		p = digits(p, r->h.bytes);
		*p++ = ' ';
		p = put_payload(p, r);
		return put_comm(p, comm);
	case ACT_QUEUE:
		p = digits(p, r->h.bytes);
		*p++ = ' ';
		return put_comm(p, comm);
	default: /* G S: as of fs type */
		return put_tail(p, r, comm, ELAPSED_NONE, error);
	}
}

static void own_line(struct out *out, const struct line_context *c, const struct own_format *format,
		     const struct record *r, const struct line_extra *extra)
{
	char *p = out_room(out, own_format_room(format, r));

	out->at = p + own_format_print(format, r, extra, c->o->classic, p);
}

void line_event(struct out *out, const struct line_context *c, const struct record *r,
		const struct comm *comm, uint64_t elapsed_ns, const char *error)
{
	const char *action = line_action(r, c->o->classic);
	const struct own_format *format = c->o->formats.of[(unsigned char)action[0]];
	bool pc = r->h.categories & TC_PC;
	char rwbs[RWBS_BYTES];
	size_t rwbs_len;
	char *p;

	if (format) {
		own_line(out, c, format, r,
			 &(struct line_extra){
				 .action = action,
				 .comm = comm ? comm->name : NULL,
				 .elapsed_ns = elapsed_ns,
				 .wall_ns = c->wall_ns,
				 .error = error,
				 .cgroup_ino = r->cgroup_ino,
				 .cgroup_gen = r->cgroup_gen,
				 .payload =
					 pc && r->h.pdu_len &&
					 (r->h.number == ACT_ISSUE || r->h.number == ACT_INSERT ||
					  r->h.number == ACT_COMPLETE),
			 });
		return;
	}
	rwbs_len = record_rwbs(r, c->o->classic, rwbs);
	p = out_room(out, LINE_ROOM + (pc ? HEXDUMP_ROOM(r->h.pdu_len) : 0));
	p = put_where(p, r, r->h.sequence, r->h.pid);
	p = put_what(p, action, rwbs, rwbs_len);
	p = pc ? put_pc_tail(p, r, comm, error) : put_tail(p, r, comm, elapsed_ns, error);
	*p++ = '\n';
	out->at = p;
}

/* 1.3 shows who wrote it, and of which cgroup. */
void line_message(struct out *out, const struct line_context *c, const struct record *r)
{
	char *p;

	if (!r->h.pdu_len)
		return;
	p = out_room(out, LINE_ROOM);
	p = put_where(p, r, 0, c->o->classic == CLASSIC_1_2 ? 0 : r->h.pid);
	if (r->cgroup)
		p += sprintf(p, "%x,%x ", r->cgroup_ino, r->cgroup_gen);
	out->at = put_what(p, "m", "N", 1);
	out_bytes(out, r->pdu, strnlen((const char *)r->pdu, r->h.pdu_len));
	out_bytes(out, "\n", 1);
}
