/* SPDX-License-Identifier: MIT */
#include "read/bpf_events.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/container.h"
#include "base/mem.h"
#include "read/bpf_events_order.h"
#include "trace/bpf_layout.h"

#define CHUNK_BYTES ((size_t)64 << 10)
#define NEAR_WINDOW ((size_t)4096) /* what an interrupt brings out of order is one or two */

struct bpf_source {
	struct source self;
	struct bpf_meaning meaning;
	struct bpf_file file;
	struct blob *blob;
	struct facts *facts;
	struct bpf_order order;
	uint8_t *chunk; /* owned */
	size_t at, len; /* of what is read and not yet looked at */
	bool swap, has_head, ended;
	uint32_t device;  /* of the last I/O event; 0 = none yet */
	uint64_t unknown; /* records of a kind that is not known */
};

static void damage(struct bpf_source *s, uint64_t bytes)
{
	if (!bytes)
		return;
	s->self.stats.damaged_bytes += bytes;
	s->self.stats.damages++;
}

/* ---- bytes ------------------------------------------------------------------------------------ */

/* Makes `want` bytes available at s->at: 1, 0 if there are no more so many, -1 with err. */
static int need(struct bpf_source *s, size_t want, struct error *err)
{
	while (s->len - s->at < want) {
		ssize_t n;

		memmove(s->chunk, s->chunk + s->at, s->len - s->at);
		s->len -= s->at;
		s->at = 0;
		n = blob_read(s->blob, s->chunk + s->len, CHUNK_BYTES - s->len, err);
		if (n < 0 && blob_damaged(s->blob)) { /* cut or damaged where it is packed */
			s->self.stats.damages++;
			return 0;
		}
		if (n <= 0)
			return (int)n;
		s->len += (size_t)n;
		s->self.stats.bytes += (uint64_t)n;
	}
	return 1;
}

/* Nothing behind this place can be read: where the next record begins is not known. */
static int give_up(struct bpf_source *s, struct error *err)
{
	uint64_t bytes = 0;
	int r;

	do {
		bytes += s->len - s->at;
		s->at = s->len;
		r = need(s, 1, err);
	} while (r > 0);
	damage(s, bytes);
	return r;
}

static int read_head(struct bpf_source *s, struct error *err)
{
	const uint8_t *head = s->chunk;
	uint32_t version;
	int r = need(s, BPF_FILE_HEAD, err);

	s->has_head = r >= 0;
	if (r <= 0)
		return r;
	version = bytes_u32(head + BPF_FILE_MAGIC_LEN, false);
	s->swap = version > UINT16_MAX;
	if (memcmp(head, BPF_FILE_MAGIC, BPF_FILE_MAGIC_LEN) != 0)
		return give_up(s, err);
	if (bytes_u32(head + BPF_FILE_MAGIC_LEN, s->swap) != BPF_FILE_VERSION)
		return error_set(err, "%s: version %u of the format is not known (%u is)",
				 s->blob->name, bytes_u32(head + BPF_FILE_MAGIC_LEN, s->swap),
				 BPF_FILE_VERSION);
	s->at += BPF_FILE_HEAD;
	return 1;
}

/* ---- records ---------------------------------------------------------------------------------- */

static uint32_t u32(const struct bpf_source *s, const uint8_t *p, size_t offset)
{
	return bytes_u32(p + offset, s->swap);
}

static uint64_t u64(const struct bpf_source *s, const uint8_t *p, size_t offset)
{
	return bytes_u64(p + offset, s->swap);
}

static uint8_t action_of(uint8_t kind)
{
	static const uint8_t actions[KIND_BLOCK_END] = {
		[KIND_QUEUE] = ACT_QUEUE,
		[KIND_GETRQ] = ACT_GETRQ,
		[KIND_BACKMERGE] = ACT_BACKMERGE,
		[KIND_FRONTMERGE] = ACT_FRONTMERGE,
		[KIND_INSERT] = ACT_INSERT,
		[KIND_ISSUE] = ACT_ISSUE,
		[KIND_REQUEUE] = ACT_REQUEUE,
		[KIND_COMPLETE] = ACT_COMPLETE,
		[KIND_RQ_MERGE] = ACT_RQ_MERGE,
		[KIND_SPLIT] = ACT_SPLIT,
		[KIND_BIO_REMAP] = ACT_REMAP,
		[KIND_RQ_REMAP] = ACT_RQ_REMAP,
		[KIND_RQ_ERROR] = ACT_RQ_ERROR,
		[KIND_BIO_COMPLETE] = ACT_BIO_COMPLETE,
		[KIND_PLUG] = ACT_PLUG,
		[KIND_UNPLUG] = ACT_UNPLUG,
		[KIND_UNPLUG_TIMER] = ACT_UNPLUG_TIMER,
		[KIND_ZONE_PLUG] = ACT_ZONE_PLUG,
		[KIND_ZONE_UNPLUG] = ACT_ZONE_UNPLUG,
		[KIND_ZONE_APPEND] = ACT_ZONE_APPEND,
	};

	return kind < KIND_BLOCK_END ? actions[kind] : ACT_UNKNOWN;
}

static void set_class(const struct bpf_source *s, struct event *ev, uint32_t opf)
{
	const struct bpf_meaning *meaning = &s->meaning;

	switch (ev->action) {
	case ACT_PLUG:
	case ACT_UNPLUG:
	case ACT_UNPLUG_TIMER:
		return;
	case ACT_ZONE_PLUG:
	case ACT_ZONE_UNPLUG:
		ev->class = CLASS_OTHER;
		return;
	default:
		break;
	}
	ev->class = meaning->class_of[opf & 0xff];
	ev->flags = meaning->flags_of[opf & 0xff];
	for (int bit = 0; bit < 32; bit++)
		if (opf >> bit & 1)
			ev->flags |= meaning->flag_of[bit];
	/* A bio that is nothing but a flush is a write of nothing. */
	if ((ev->flags & EV_PREFLUSH) && !ev->bytes)
		ev->class = CLASS_FLUSH;
}

static int16_t errno_of(uint32_t more)
{
	int32_t error = (int32_t)more;

	return (int16_t)(error < INT16_MIN ? INT16_MIN : error > 0 ? 0 : error);
}

static void set_extra(const struct bpf_source *s, struct event *ev, const uint8_t *p, uint32_t more)
{
	switch (ev->action) {
	case ACT_COMPLETE:
	case ACT_BIO_COMPLETE:
	case ACT_RQ_ERROR:
		ev->error = errno_of(more);
		break;
	case ACT_REMAP:
	case ACT_RQ_REMAP:
		ev->aux_device = more;
		ev->aux_sector = u64(s, p, offsetof(struct bpf_rec, aux));
		break;
	case ACT_SPLIT:
		ev->aux_sector = ev->sector + ev->bytes / SECTOR_SIZE;
		break;
	case ACT_UNPLUG:
	case ACT_UNPLUG_TIMER:
		ev->aux_sector = more;
		break;
	default:
		break;
	}
}

/* Not a remap's: it is recorded for one device and names another. */
static void note_device(struct bpf_source *s, const struct event *ev)
{
	if (ev->device == s->device || ev->class == CLASS_NONE || ev->action == ACT_REMAP)
		return;
	s->device = ev->device;
	facts_device_held(s->facts, ev->device, s->file.input);
}

static void take_event(struct bpf_source *s, const uint8_t *p)
{
	struct event ev = { .time_ns = u64(s, p, offsetof(struct bpf_rec, time_ns)),
			    .sector = u64(s, p, offsetof(struct bpf_rec, sector)),
			    .id = u64(s, p, offsetof(struct bpf_rec, id)),
			    .bytes = u32(s, p, offsetof(struct bpf_rec, bytes)),
			    .device = u32(s, p, offsetof(struct bpf_rec, device)),
			    .pid = u32(s, p, offsetof(struct bpf_rec, pid)),
			    .cpu = bytes_u16(p + offsetof(struct bpf_rec, cpu), s->swap),
			    .action = action_of(p[0]) };

	set_class(s, &ev, u32(s, p, offsetof(struct bpf_rec, opf)));
	set_extra(s, &ev, p, u32(s, p, offsetof(struct bpf_rec, more)));
	note_device(s, &ev);
	bpf_order_add(&s->order, &ev);
}

static void take_task(struct bpf_source *s, const uint8_t *p)
{
	uint32_t pid = u32(s, p, offsetof(struct bpf_task, pid));
	uint64_t time_ns = u64(s, p, offsetof(struct bpf_task, time_ns));
	const char *comm = (const char *)p + offsetof(struct bpf_task, comm);
	size_t len = strnlen(comm, sizeof(((struct bpf_task *)0)->comm));

	if (p[0] == KIND_FORK) {
		uint32_t child = u32(s, p, offsetof(struct bpf_task, child));

		names_fork(&s->facts->names, pid, child);
		pid = child;
	}
	if (len)
		names_add(&s->facts->names, pid, time_ns, comm, len);
}

static void take_lost(struct bpf_source *s, const uint8_t *p)
{
	struct loss loss = { .cpu = bytes_u16(p + offsetof(struct bpf_lost, cpu), s->swap),
			     .count_known = true,
			     .events = u64(s, p, offsetof(struct bpf_lost, count)),
			     .from_ns = u64(s, p, offsetof(struct bpf_lost, from_ns)),
			     .to_ns = u64(s, p, offsetof(struct bpf_lost, time_ns)) };

	facts_loss(s->facts, &loss);
	s->self.stats.lost += loss.events;
	if (s->file.drops_told)
		return;
	s->facts->dropped += loss.events;
	s->facts->dropped_told = true;
}

/* The least that a record of this kind has, in words; 0 = the kind is not known. */
static uint8_t least_words(uint8_t kind)
{
	switch (kind) {
	case KIND_BIO_REMAP:
	case KIND_RQ_REMAP:
		return sizeof(struct bpf_rec) / 8;
	case KIND_FORK:
	case KIND_NAME:
		return sizeof(struct bpf_task) / 8;
	case KIND_LOST:
		return sizeof(struct bpf_lost) / 8;
	default:
		return action_of(kind) == ACT_UNKNOWN ? 0 : BPF_REC_LEAST / 8;
	}
}

/* 1, 0 at the end, -1 with err. */
static int take_record(struct bpf_source *s, struct error *err)
{
	const uint8_t *p;
	uint8_t words;
	int r = need(s, 8, err);

	if (r > 0) {
		words = s->chunk[s->at + 1];
		if (!words || words < least_words(s->chunk[s->at]))
			return give_up(s, err);
		r = need(s, words * 8u, err);
	}
	if (r < 0)
		return r;
	if (!r) {
		damage(s, s->len - s->at); /* cut in the middle of a record */
		s->at = s->len;
		return 0;
	}
	p = s->chunk + s->at;
	s->at += words * 8u;
	if (!least_words(p[0]))
		s->unknown++;
	else if (p[0] == KIND_LOST)
		take_lost(s, p);
	else if (p[0] == KIND_FORK || p[0] == KIND_NAME)
		take_task(s, p);
	else
		take_event(s, p);
	return 1;
}

/* ---- the source ------------------------------------------------------------------------------- */

static void take_end(struct bpf_source *s)
{
	s->ended = true;
	if (s->file.stored_bytes > s->self.stats.bytes)
		damage(s, s->file.stored_bytes - s->self.stats.bytes);
	if (s->unknown)
		facts_note(s->facts,
			   "%s: %" PRIu64 " records of a kind that is not known were ignored",
			   s->blob->name, s->unknown);
}

/* Reads until there is something to give, or the end. */
static int fill(struct bpf_source *s, struct error *err)
{
	int r = s->has_head ? 1 : read_head(s, err);

	while (r > 0 && bpf_order_has_room(&s->order))
		r = take_record(s, err);
	if (!r)
		take_end(s);
	return r;
}

static int bpf_pull(struct source *self, struct event *events, int max, struct error *err)
{
	struct bpf_source *s = container_of(self, struct bpf_source, self);
	int n;

	for (;;) {
		n = bpf_order_take(&s->order, events, max, s->ended);
		if (n || s->ended)
			break;
		if (fill(s, err) < 0)
			return -1;
	}
	self->stats.events += (uint64_t)n;
	if (s->file.input < s->facts->nr_inputs)
		s->facts->inputs[s->file.input].events += (uint64_t)n;
	if (!n && s->order.late)
		facts_note(s->facts,
			   "%s: %" PRIu64
			   " events come after later ones: there are more than can be "
			   "sorted",
			   s->blob->name, s->order.late);
	if (!n)
		s->order.late = 0;
	return n;
}

static void bpf_release(struct source *self)
{
	struct bpf_source *s = container_of(self, struct bpf_source, self);

	bpf_order_release(&s->order);
	free(s->chunk);
	free(s);
}

static const struct source_ops bpf_ops = { .pull = bpf_pull, .release = bpf_release };

struct source *bpf_source_new(const struct bpf_meaning *meaning, struct blob *blob,
			      const struct bpf_file *file, struct facts *facts)
{
	struct bpf_source *s = mem_zalloc(sizeof(*s));

	s->self.ops = &bpf_ops;
	s->meaning = *meaning;
	s->file = *file;
	s->blob = blob;
	s->facts = facts;
	s->order.window = meaning->held ? BPF_HELD_MAX : NEAR_WINDOW;
	s->chunk = mem_zalloc(CHUNK_BYTES);
	damage(s, file->lost_bytes);
	return &s->self;
}
