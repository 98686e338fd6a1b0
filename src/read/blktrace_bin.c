/* SPDX-License-Identifier: MIT
 *
 * The binary files of blktrace: per-CPU NAME.blktrace.N and merged dumps, versions 7 and 8, either
 * byte order. Layout: doc/formats/blktrace_bin.md. Everything readable is used, everything skipped
 * is counted.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/container.h"
#include "base/mem.h"
#include "trace/format.h"

#define MAGIC         0x65617400u
#define HEADER_V7     48
#define HEADER_V8     64
#define BUFFER_BYTES  (96 * 1024) /* above MOST_BYTES; many files at once should stay in the cache */
#define MOST_BYTES    (HEADER_V8 + 65536 + 4) /* a largest record and the magic after it */
#define ACTION_LAST   19
#define ACTION_CGROUP 0x100u

/* Category bits of the action word, v7 bits 16.. and v8 bits 16.. alike. */
enum {
	TC_READ = 1u << 0,
	TC_WRITE = 1u << 1,
	TC_FLUSH = 1u << 2,
	TC_SYNC = 1u << 3,
	TC_FS = 1u << 8,
	TC_PC = 1u << 9,
	TC_NOTIFY = 1u << 10,
	TC_AHEAD = 1u << 11,
	TC_META = 1u << 12,
	TC_DISCARD = 1u << 13,
	TC_DRV_DATA = 1u << 14,
	TC_FUA = 1u << 15,
	TC_ZONE_APPEND = 1u << 16,
	TC_ZONE_FIRST = 1u << 17, /* zone reset .. */
	TC_ZONE_LAST = 1u << 21,  /* .. zone close */
	TC_WRITE_ZEROES = 1u << 22,
};
#define TC_ZONE_MGMT ((TC_ZONE_LAST << 1) - TC_ZONE_FIRST)

/* Low bits of a notify record. */
enum { NOTE_PROCESS = 0, NOTE_TIMESTAMP = 1, NOTE_MESSAGE = 2 };

/* A sequence counter: the kernel counts per CPU and traced device. */
struct counter {
	uint32_t cpu, device, last;
};

struct bin {
	struct source self;
	struct blob *blob;   /* borrowed */
	struct facts *facts; /* borrowed */
	size_t input;        /* which of facts->inputs it is part of */
	char *base;          /* owned; the name its device gets */
	int cpu;             /* of a per-CPU file; -1: a merged dump, any */
	bool swap, order_known;
	bool in_damage; /* the last bytes skipped were damaged and what follows may be too */
	bool named;     /* the first event's device was given its name */
	bool at_end;    /* of the blob */
	uint8_t *buf;   /* owned, BUFFER_BYTES */
	size_t at, len; /* unread bytes are buf[at..len) */
	struct counter *counters; /* owned array */
	size_t nr_counters;
};

/* A decoded header. */
struct header {
	uint64_t time_ns, sector;
	uint32_t sequence, bytes, pid, device, cpu, number, categories;
	uint16_t error, pdu_len;
	size_t size; /* of the header itself */
};

/* 0 = not a magic of a known version; else the size of its header. */
static size_t header_size(const uint8_t *p, bool swap)
{
	uint32_t magic = bytes_u32(p, swap);

	if (magic == (MAGIC | 7))
		return HEADER_V7;
	return magic == (MAGIC | 8) ? HEADER_V8 : 0;
}

static void decode_header(struct header *h, const uint8_t *p, size_t size, bool swap)
{
	h->size = size;
	h->sequence = bytes_u32(p + 4, swap);
	h->time_ns = bytes_u64(p + 8, swap);
	h->sector = bytes_u64(p + 16, swap);
	h->bytes = bytes_u32(p + 24, swap);
	if (size == HEADER_V7) {
		uint32_t action = bytes_u32(p + 28, swap);

		h->number = action & 0xffff;
		h->categories = action >> 16;
		h->pid = bytes_u32(p + 32, swap);
		p += 36;
	} else {
		uint64_t action = bytes_u64(p + 32, swap);

		h->number = action & 0xffff;
		h->categories = (uint32_t)(action >> 16);
		h->pid = bytes_u32(p + 28, swap);
		p += 40;
	}
	h->device = bytes_u32(p, swap);
	h->cpu = bytes_u32(p + 4, swap);
	h->error = bytes_u16(p + 8, swap);
	h->pdu_len = bytes_u16(p + 10, swap);
}

/* `goes_on`: the same damage continues behind these bytes. */
static void damage(struct bin *b, size_t nr, bool goes_on)
{
	b->self.stats.damaged_bytes += nr;
	b->self.stats.damages += nr && !b->in_damage;
	b->in_damage = goes_on;
}

/* Makes the buffer as full as the blob allows; the unread part moves to its start. */
static int fill(struct bin *b, struct error *err)
{
	memmove(b->buf, b->buf + b->at, b->len - b->at);
	b->len -= b->at;
	b->at = 0;
	while (!b->at_end && b->len < BUFFER_BYTES) {
		ssize_t got = blob_read(b->blob, b->buf + b->len, BUFFER_BYTES - b->len, err);

		if (got < 0)
			return -1;
		b->at_end = got == 0;
		b->len += (size_t)got;
		b->self.stats.bytes += (uint64_t)got;
	}
	return 0;
}

static bool known_number(uint32_t number, uint32_t categories)
{
	number &= ~ACTION_CGROUP;
	if (categories & TC_NOTIFY)
		return number <= NOTE_MESSAGE;
	return number >= 1 && number <= ACTION_LAST;
}

/* Could a record start here? Every check of the rule: magic, version, action number, the file's cpu,
 * pdu_len, and the magic of the record after it (or the exact end of the file). */
static bool plausible(const struct bin *b, size_t at, bool swap)
{
	struct header h;
	size_t size, next;

	if (b->len - at < HEADER_V7)
		return false;
	size = header_size(b->buf + at, swap);
	if (!size || b->len - at < size)
		return false;
	decode_header(&h, b->buf + at, size, swap);
	if (!known_number(h.number, h.categories) || (b->cpu >= 0 && h.cpu != (uint32_t)b->cpu))
		return false;
	next = at + size + h.pdu_len;
	if (next + 4 > b->len)
		return b->at_end && next == b->len;
	return header_size(b->buf + next, swap) != 0;
}

/* Skips damaged bytes up to the next plausible record: 1 found or at the end, 2 not in this buffer. */
static int resynchronise(struct bin *b)
{
	/* The start of the next record must be in sight, so stop a largest record short of the end,
	 * unless this is the end. */
	size_t keep = b->at_end ? 0 : MOST_BYTES, start = b->at;
	size_t limit = b->len > keep ? b->len - keep : 0;

	for (; b->at < limit; b->at++) {
		if (b->order_known ? plausible(b, b->at, b->swap)
				   : plausible(b, b->at, false) || plausible(b, b->at, true)) {
			damage(b, b->at - start, false);
			return 1;
		}
	}
	damage(b, b->at - start, !b->at_end);
	return b->at_end ? 1 : 2;
}

/* The numbers of a CPU and device rise by one; what is missing was removed after the kernel wrote it
 * (drops in the kernel leave no gap). In a merged dump an A may carry its target's device, so a
 * number that follows another counter of that CPU belongs there. */
static void check_sequence(struct bin *b, const struct header *h)
{
	struct counter *own = NULL;

	for (size_t i = 0; i < b->nr_counters; i++) {
		struct counter *c = &b->counters[i];

		if (c->cpu != h->cpu)
			continue;
		if (c->last + 1 == h->sequence) {
			c->last = h->sequence;
			return;
		}
		if (c->device == h->device || b->cpu >= 0)
			own = c;
	}
	if (!own) {
		b->counters = mem_grow(b->counters, b->nr_counters, sizeof(*b->counters));
		b->counters[b->nr_counters++] =
			(struct counter){ .cpu = h->cpu, .device = h->device, .last = h->sequence };
		/* A per-CPU file starts at 1; a dump may be a window. */
		if (b->cpu >= 0)
			b->self.stats.sequence_gaps += h->sequence - 1;
		return;
	}
	if (h->sequence > own->last) {
		b->self.stats.sequence_gaps += h->sequence - own->last - 1;
		own->last = h->sequence;
	} else if (b->self.stats.sequence_gaps) {
		b->self.stats.sequence_gaps--; /* late, not missing */
	}
}

static void take_note(struct bin *b, const struct header *h, const uint8_t *pdu, size_t len)
{
	struct facts *facts = b->facts;

	if ((h->number & ~ACTION_CGROUP) == NOTE_PROCESS) {
		names_add(&facts->names, h->pid, h->time_ns, (const char *)pdu, len);
	} else if (len >= 8 && !facts->have_wall) {
		facts->have_wall = true;
		facts->wall_at_ns = h->time_ns;
		facts->wall_ns = bytes_u32(pdu, b->swap) * UINT64_C(1000000000) +
				 bytes_u32(pdu + 4, b->swap);
	}
}

static uint8_t class_of(const struct header *h)
{
	uint32_t tc = h->categories;

	if (h->number == ACT_PLUG || h->number == ACT_UNPLUG || h->number == ACT_UNPLUG_TIMER ||
	    h->number == ACT_DRV_DATA)
		return CLASS_NONE;
	if (tc & TC_PC)
		return CLASS_PASSTHROUGH;
	if (tc & TC_ZONE_MGMT)
		return CLASS_ZONE;
	if (tc & TC_WRITE_ZEROES)
		return CLASS_WRITE_ZEROES;
	if (tc & TC_DISCARD)
		return CLASS_DISCARD;
	if ((tc & TC_FLUSH) && h->bytes == 0)
		return CLASS_FLUSH;
	return tc & TC_WRITE ? CLASS_WRITE : CLASS_READ;
}

static uint32_t flags_of(uint32_t tc)
{
	uint32_t flags = tc & (TC_FS | TC_PC) ? (tc & TC_FS ? EV_FS : EV_PC) : 0;

	flags |= tc & TC_WRITE ? EV_WRITE : 0;
	flags |= tc & TC_SYNC ? EV_SYNC : 0;
	if (!(tc & (TC_FLUSH | TC_AHEAD | TC_META | TC_FUA | TC_ZONE_APPEND)))
		return flags; /* most of them */
	flags |= tc & TC_FLUSH ? EV_PREFLUSH : 0;
	flags |= tc & TC_AHEAD ? EV_AHEAD : 0;
	flags |= tc & TC_META ? EV_META : 0;
	flags |= tc & TC_FUA ? EV_FUA : 0;
	flags |= tc & TC_ZONE_APPEND ? EV_ZONE_APPEND : 0;
	return flags;
}

/* blktrace folds into one number what we keep apart: a merge of requests is an M of category fs, a
 * bio's own end a C without fs and pc. */
static uint8_t action_of(const struct header *h)
{
	if (h->number == ACT_BACKMERGE && (h->categories & TC_FS))
		return ACT_RQ_MERGE;
	if (h->number == ACT_COMPLETE && !(h->categories & (TC_FS | TC_PC)))
		return h->categories & TC_ZONE_APPEND ? ACT_ZONE_APPEND : ACT_BIO_COMPLETE;
	return h->number <= ACTION_LAST ? (uint8_t)h->number : ACT_UNKNOWN;
}

/* Fills ev from a record; false for a note that gives only facts. */
static bool take_record(struct bin *b, struct header *h, const uint8_t *pdu, struct event *ev)
{
	size_t len = h->pdu_len;
	uint32_t cgroup = 0;

	if (h->number & ACTION_CGROUP) {
		size_t skip = len < 8 ? len : 8;

		cgroup = EV_CGROUP;
		h->number &= ~ACTION_CGROUP;
		pdu += skip;
		len -= skip;
	}
	if (h->categories & TC_NOTIFY) {
		if (h->number != NOTE_MESSAGE) {
			take_note(b, h, pdu, len);
			return false;
		}
		/* sequence, sector, bytes and error of a note are stale memory */
		*ev = (struct event){ .time_ns = h->time_ns,
				      .device = h->device,
				      .pid = h->pid,
				      .cpu = (uint16_t)h->cpu,
				      .action = ACT_MESSAGE,
				      .flags = cgroup,
				      .payload = pdu,
				      .payload_len = (uint16_t)len };
		return true;
	}
	if (h->sequence)
		check_sequence(b, h);
	*ev = (struct event){ .time_ns = h->time_ns,
			      .sector = h->sector,
			      .bytes = h->bytes,
			      .device = h->device,
			      .pid = h->pid,
			      .sequence = h->sequence,
			      .cpu = (uint16_t)h->cpu,
			      .error = (int16_t)h->error,
			      .action = action_of(h),
			      .class = class_of(h),
			      .flags = flags_of(h->categories) | cgroup };
	switch (ev->action) {
	case ACT_UNPLUG:
	case ACT_UNPLUG_TIMER:
	case ACT_SPLIT:
		ev->aux_sector = len >= 8 ? bytes_be64(pdu) : 0;
		break;
	case ACT_REMAP:
		if (len >= 16) { /* source device, target device, source sector */
			ev->aux_device = bytes_be32(pdu);
			ev->device = bytes_be32(pdu + 4);
			ev->aux_sector = bytes_be64(pdu + 8);
		}
		break;
	default:
		ev->payload = len ? pdu : NULL;
		ev->payload_len = (uint16_t)len;
	}
	return true;
}

/* A record whose payload does not end at another record either has a damaged pdu_len, or the next one is
 * damaged. It is the former where a record hides in what it calls its payload; returns its distance,
 * else 0. */
static size_t hidden_record(const struct bin *b, const struct header *h)
{
	size_t first = b->at + h->size, end = first + h->pdu_len;

	if (end + 4 > b->len || header_size(b->buf + end, b->swap))
		return 0;
	for (size_t at = first; at < end; at++)
		if (plausible(b, at, b->swap))
			return at - b->at;
	return 0;
}

static bool all_zero(const uint8_t *p, size_t n)
{
	return n == 0 || (p[0] == 0 && memcmp(p, p + 1, n - 1) == 0);
}

/* Looks at the unread bytes: 1 a whole record is there, 0 no more, 2 only with more of the file (the
 * caller refills, which moves what was lent). */
static int next_record(struct bin *b, struct header *h)
{
	for (;;) {
		size_t left = b->len - b->at, size;

		if (left < HEADER_V7 && b->at_end) {
			if (left)
				damage(b, left,
				       false); /* cut inside a header, or a short zero tail */
			b->at = b->len;
			return 0;
		}
		if (left < HEADER_V8 && !b->at_end)
			return 2;
		if (!b->order_known) {
			b->swap = header_size(b->buf + b->at, true) != 0;
			b->order_known = b->swap || header_size(b->buf + b->at, false) != 0;
		}
		size = header_size(b->buf + b->at, b->swap);
		if (size && left >= size) {
			decode_header(h, b->buf + b->at, size, b->swap);
			if (left < size + h->pdu_len + 4 && !b->at_end)
				return 2;
			if ((b->cpu < 0 || h->cpu == (uint32_t)b->cpu) &&
			    left >= size + h->pdu_len) {
				size_t skip = hidden_record(b, h);

				if (!skip)
					return 1;
				damage(b, skip, false);
				b->at += skip;
				continue;
			}
			if (b->at_end && (b->cpu < 0 || h->cpu == (uint32_t)b->cpu)) {
				damage(b, left, false); /* cut inside the payload */
				b->at = b->len;
				return 0;
			}
		} else if (b->at_end && all_zero(b->buf + b->at, left)) {
			damage(b, left, false);
			b->at = b->len;
			return 0;
		}
		if (resynchronise(b) == 2)
			return 2;
	}
}

static int bin_pull(struct source *self, struct event *events, int max, struct error *err)
{
	struct bin *b = container_of(self, struct bin, self);
	int n = 0;

	while (n < max) {
		struct header h;
		int got = next_record(b, &h);

		if (got == 2) {
			if (n)
				break;
			if (fill(b, err) < 0)
				return -1;
			continue;
		}
		if (got == 0)
			break;
		if (take_record(b, &h, b->buf + b->at + h.size, &events[n])) {
			if (!b->named && events[n].action != ACT_MESSAGE && b->base) {
				facts_device(b->facts, h.device, b->base);
				b->named = true;
			}
			n++;
		}
		b->at += h.size + h.pdu_len;
	}
	self->stats.events += (uint64_t)n;
	b->facts->inputs[b->input].events += (uint64_t)n;
	return n;
}

static void bin_release(struct source *self)
{
	struct bin *b = container_of(self, struct bin, self);

	free(b->counters);
	free(b->buf);
	free(b->base);
	free(b);
}

static const struct source_ops bin_ops = { .pull = bin_pull, .release = bin_release };

/* N of "NAME.blktrace.N", or -1. */
static int cpu_of_name(const char *name)
{
	const char *mark = strstr(name, ".blktrace."), *digits;
	int cpu = 0;

	if (!mark)
		return -1;
	digits = mark + strlen(".blktrace.");
	if (!*digits || strlen(digits) > 5)
		return -1;
	for (; *digits; digits++) {
		if (!isdigit((unsigned char)*digits))
			return -1;
		cpu = cpu * 10 + (*digits - '0');
	}
	return cpu;
}

/* 0 none, else the version that the head's magic says, in either byte order. */
static int version_of_head(const uint8_t *head, size_t len)
{
	uint32_t magic;

	if (len < HEADER_V7)
		return 0;
	magic = bytes_u32(head, false);
	if ((magic & 0xffffff00u) != MAGIC)
		magic = __builtin_bswap32(magic);
	return (magic & 0xffffff00u) == MAGIC ? (int)(magic & 0xff) : 0;
}

static int bin_probe(struct input *in, struct error *err)
{
	int score = 0;

	for (size_t i = 0; i < in->nr; i++) {
		const uint8_t *head;
		size_t len = blob_head(&in->blobs[i], HEADER_V7, &head, err);

		if (version_of_head(head, len))
			return 100;
		if (cpu_of_name(in->blobs[i].name) >= 0)
			score = 20;
	}
	return score;
}

/* What the heads say, for the dialect line and for a sentence where it cannot be read. */
static int look(struct input *in, struct facts *facts, size_t *index, struct error *err)
{
	struct input_info *info;
	int version = 0;
	bool swap = false, any = false;

	for (size_t i = 0; i < in->nr && !version; i++) {
		const uint8_t *head;
		size_t len = blob_head(&in->blobs[i], HEADER_V8, &head, err);

		any |= len > 0;
		version = version_of_head(head, len);
		swap = version && (bytes_u32(head, false) & 0xffffff00u) != MAGIC;
	}
	if (version && version != 7 && version != 8)
		return error_set(err, "%s: blktrace version %d is not known (7 and 8 are)",
				 in->label, version);
	*index = facts_input(facts, in->label, "blktrace"); /* moves the array */
	info = &facts->inputs[*index];
	if (version)
		snprintf(info->dialect, sizeof(info->dialect), "v%d, %s-endian, %zu CPU%s", version,
			 swap == (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) ? "little" : "big",
			 in->nr, in->nr == 1 ? "" : "s");
	else
		snprintf(info->dialect, sizeof(info->dialect),
			 any ? "no record at its start" : "empty");
	facts_dropped_unknown(facts, version == 8 ? "a v8 trace carries no drop count"
						  : "a v7 trace carries no drop count");
	return 0;
}

static int bin_open(struct input *in, struct facts *facts, struct sources *sources,
		    struct error *err)
{
	size_t index = 0;

	if (look(in, facts, &index, err) < 0)
		return -1;
	for (size_t i = 0; i < in->nr; i++) {
		struct bin *b = mem_zalloc(sizeof(*b));

		b->self.ops = &bin_ops;
		b->blob = &in->blobs[i];
		b->facts = facts;
		b->input = index;
		b->cpu = cpu_of_name(in->blobs[i].name);
		b->base = b->cpu >= 0 ? mem_strdup(in->base) : NULL;
		b->buf = mem_resize(NULL, BUFFER_BYTES, 1);
		sources_add(sources, &b->self);
	}
	return 0;
}

const struct format format_blktrace_bin = {
	.name = "blktrace",
	.what = "blktrace binary",
	.probe = bin_probe,
	.open = bin_open,
};
