/* SPDX-License-Identifier: MIT
 *
 * Records of the ring buffer to events.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "read/ftrace_layout.h"

#define RWBS_SLOTS 64 /* powers of two */
#define COMM_SLOTS 16

/* What an RWBS text means, remembered: a trace has a handful of them. */
struct rwbs_slot {
	uint64_t text; /* up to 8 letters; 0 = free */
	uint32_t flags;
	uint8_t class;
	bool is_empty; /* the event had no sectors, which makes an F a flush */
};

/* The name that a pid had last, so that the process table is only asked when it changes. */
struct comm_slot {
	uint32_t pid;
	bool used;
	char comm[COMM_LEN];
};

struct page_source {
	struct source self;
	struct page_layout *layout; /* a share */
	struct page_walk walk;
	struct page_cpu cpu;
	struct facts *facts; /* borrowed */
	uint64_t last_ns;    /* of the event before; cpu.start_ns at first */
	uint64_t missed;     /* events that page headers counted */
	size_t nr_uncounted; /* losses whose number no page header tells */
	size_t uncounted;    /* index of the last of them in facts->losses */
	uint64_t unknown;    /* records whose format is not stored */
	uint32_t unknown_id; /* the first of them */
	uint32_t device;     /* of the last I/O event; 0 = none yet */
	bool ended;
	struct rwbs_slot rwbs[RWBS_SLOTS];
	struct comm_slot comm[COMM_SLOTS];
};

/* ---- losses --------------------------------------------------------------------------------- */

/* The page headers told of a loss that ends at `to_ns`. */
static void take_loss(struct page_source *s, uint64_t to_ns)
{
	struct page_missed *missed = &s->walk.missed;
	struct loss loss = { .cpu = s->cpu.cpu,
			     .count_known = missed->count_known,
			     .events = missed->events,
			     .from_ns = s->last_ns && s->last_ns < to_ns ? s->last_ns : to_ns,
			     .to_ns = to_ns };
	uint64_t beyond;

	facts_loss(s->facts, &loss);
	if (!loss.count_known) {
		s->nr_uncounted++;
		s->uncounted = s->facts->nr_losses - 1;
	}
	s->missed += missed->events;
	s->self.stats.lost += missed->events;
	/* The ring's statistics count the same events: only what is beyond them is new. */
	beyond = s->missed > s->cpu.ring_lost ? s->missed - s->cpu.ring_lost : 0;
	s->facts->dropped += beyond < missed->events ? beyond : missed->events;
	s->facts->dropped_told |= missed->events > 0;
	*missed = (struct page_missed){ 0 };
}

/* A full page has no room for the number. Where that happened once, it is what the ring's statistics
 * count beyond the others. */
static void count_the_rest(struct page_source *s)
{
	struct loss *loss;

	if (s->nr_uncounted != 1 || s->cpu.ring_lost <= s->missed)
		return;
	loss = &s->facts->losses[s->uncounted];
	loss->events += s->cpu.ring_lost - s->missed;
	loss->count_known = true;
	s->self.stats.lost += s->cpu.ring_lost - s->missed;
}

static void take_end(struct page_source *s)
{
	if (s->ended)
		return;
	s->ended = true;
	if (s->walk.missed.any)
		take_loss(s, s->walk.time_ns);
	count_the_rest(s);
	if (s->unknown)
		facts_note(s->facts,
			   "CPU %u: %llu events whose format is not stored were ignored (the first "
			   "has number %u)",
			   s->cpu.cpu, (unsigned long long)s->unknown, s->unknown_id);
}

/* ---- fields --------------------------------------------------------------------------------- */

static inline bool has(const struct decoder *d, enum field f)
{
	return d->at[f].size != 0;
}

/* 0 where this kernel has no such field. */
static inline uint64_t number(const struct page_source *s, const struct decoder *d, enum field f,
			      const uint8_t *data)
{
	if (!has(d, f))
		return 0;
	return load_uint(data + d->at[f].offset, d->at[f].size, s->layout->swap);
}

static const char *text(const struct page_source *s, const struct decoder *d, enum field f,
			const struct page_record *r, size_t *len)
{
	const uint8_t *p = r->data + d->at[f].offset;

	*len = 0;
	if (!has(d, f))
		return "";
	if (d->at[f].is_data_loc)
		return data_loc_text(r->data, r->len, p, s->layout->swap, len);
	*len = strnlen((const char *)p, d->at[f].size);
	return (const char *)p;
}

static uint64_t sector_of(const struct page_source *s, const struct decoder *d, enum field f,
			  const uint8_t *data)
{
	uint64_t sector = number(s, d, f, data);

	/* Old 32-bit kernels without large block devices. */
	return d->at[f].size == 4 && sector == UINT32_MAX ? SECTOR_NONE : sector;
}

static uint32_t sectors_to_bytes(uint64_t sectors)
{
	return sectors > UINT32_MAX / SECTOR_SIZE ? UINT32_MAX : (uint32_t)sectors * SECTOR_SIZE;
}

/* ---- names ---------------------------------------------------------------------------------- */

static void take_comm(struct page_source *s, const struct decoder *d, const struct page_record *r,
		      uint32_t pid)
{
	struct comm_slot *slot = &s->comm[pid & (COMM_SLOTS - 1)];
	const uint8_t *comm = r->data + d->at[FIELD_COMM].offset;

	if (d->at[FIELD_COMM].is_data_loc || d->at[FIELD_COMM].size != COMM_LEN)
		return;
	if (slot->used && slot->pid == pid && !memcmp(slot->comm, comm, COMM_LEN))
		return;
	slot->used = true;
	slot->pid = pid;
	memcpy(slot->comm, comm, COMM_LEN);
	names_add(&s->facts->names, pid, r->time_ns, slot->comm, COMM_LEN);
}

static void take_fork(struct page_source *s, const struct decoder *d, const struct page_record *r)
{
	uint32_t child = (uint32_t)number(s, d, FIELD_CHILD_PID, r->data);
	const char *comm;
	size_t len;

	if (!has(d, FIELD_CHILD_PID) || !has(d, FIELD_PARENT_PID))
		return;
	names_fork(&s->facts->names, (uint32_t)number(s, d, FIELD_PARENT_PID, r->data), child);
	comm = text(s, d, FIELD_CHILD_COMM, r, &len);
	if (len)
		names_add(&s->facts->names, child, r->time_ns, comm, len);
}

/* A new thread, or a thread with a new name. */
static void take_task(struct page_source *s, const struct decoder *d, const struct page_record *r,
		      enum field name)
{
	uint32_t pid = (uint32_t)number(s, d, FIELD_TASK_PID, r->data);
	const char *comm;
	size_t len;

	if (!has(d, FIELD_TASK_PID))
		return;
	if (d->kind == DECODE_TASK && has(d, FIELD_PID))
		names_fork(&s->facts->names, (uint32_t)number(s, d, FIELD_PID, r->data), pid);
	comm = text(s, d, name, r, &len);
	if (len)
		names_add(&s->facts->names, pid, r->time_ns, comm, len);
}

/* The event does not carry the new name; the kernel makes it from the file's. */
static void take_exec(struct page_source *s, const struct decoder *d, const struct page_record *r)
{
	size_t len;
	const char *path = text(s, d, FIELD_FILENAME, r, &len);
	const char *slash = len ? memrchr(path, '/', len) : NULL;

	if (slash) {
		len -= (size_t)(slash + 1 - path);
		path = slash + 1;
	}
	if (len && has(d, FIELD_PID))
		names_add(&s->facts->names, (uint32_t)number(s, d, FIELD_PID, r->data), r->time_ns,
			  path, len);
}

/* ---- events --------------------------------------------------------------------------------- */

static void set_rwbs(struct page_source *s, const struct decoder *d, const struct page_record *r,
		     struct event *ev, uint32_t sectors)
{
	size_t len = 0, max = d->at[FIELD_RWBS].size;
	const uint8_t *p = r->data + d->at[FIELD_RWBS].offset;
	struct rwbs_slot *slot;
	uint64_t key = 0;

	if (d->at[FIELD_RWBS].is_data_loc || max > 64)
		return;
	for (; len < max && len < 8 && p[len]; len++)
		key = key << 8 | p[len];
	/* What an N is depends on more than its text. */
	if (!len || p[0] == 'N' || (p[0] == 'F' && len > 1 && p[1] == 'N') ||
	    (len == 8 && max > 8 && p[8])) {
		event_set_rwbs(ev, (const char *)p, max, sectors);
		return;
	}
	slot = &s->rwbs[(key * 0x9e3779b97f4a7c15ull) >> 58];
	if (slot->text != key || slot->is_empty != !sectors) {
		struct event seen = { .action = ev->action };

		event_set_rwbs(&seen, (const char *)p, len, sectors);
		*slot = (struct rwbs_slot){ key, seen.flags, seen.class, !sectors };
	}
	ev->flags |= slot->flags;
	ev->class = slot->class;
}

static void set_length(struct page_source *s, const struct decoder *d, const uint8_t *data,
		       struct event *ev, uint64_t sectors)
{
	if (has(d, FIELD_BYTES))
		ev->bytes = (uint32_t)number(s, d, FIELD_BYTES, data);
	else if (has(d, FIELD_NR_SECTOR))
		ev->bytes = sectors_to_bytes(sectors);
	else
		ev->flags |= EV_NO_BYTES;
}

/* Fields that only some events have. */
static void set_extra(struct page_source *s, const struct decoder *d, const uint8_t *data,
		      struct event *ev)
{
	switch (ev->action) {
	case ACT_SPLIT:
		ev->aux_sector = sector_of(s, d, FIELD_NEW_SECTOR, data);
		if (ev->aux_sector > ev->sector)
			ev->bytes = sectors_to_bytes(ev->aux_sector - ev->sector);
		break;
	case ACT_REMAP:
	case ACT_RQ_REMAP:
		ev->aux_device = (uint32_t)number(s, d, FIELD_OLD_DEV, data);
		ev->aux_sector = sector_of(s, d, FIELD_OLD_SECTOR, data);
		break;
	case ACT_UNPLUG:
		ev->aux_sector = number(s, d, FIELD_NR_RQ, data);
		break;
	default:
		break;
	}
}

static void decode(struct page_source *s, const struct decoder *d, const struct page_record *r,
		   struct event *ev)
{
	const uint8_t *data = r->data;
	uint64_t sectors = number(s, d, FIELD_NR_SECTOR, data);

	*ev = (struct event){ .time_ns = r->time_ns,
			      .pid = (uint32_t)number(s, d, FIELD_PID, data),
			      .cpu = (uint16_t)s->cpu.cpu,
			      .action = d->action };
	if (has(d, FIELD_DEV)) {
		ev->device = (uint32_t)number(s, d, FIELD_DEV, data);
		ev->sector = sector_of(s, d, FIELD_SECTOR, data);
		set_length(s, d, data, ev, sectors);
		ev->class = CLASS_OTHER;
	}
	if (has(d, FIELD_ERROR)) {
		int32_t error = (int32_t)number(s, d, FIELD_ERROR, data);

		ev->error = (int16_t)(error < INT16_MIN ? INT16_MIN : error > 0 ? 0 : error);
	}
	set_extra(s, d, data, ev);
	if (has(d, FIELD_RWBS))
		set_rwbs(s, d, r, ev,
			 has(d, FIELD_NR_SECTOR) ? (uint32_t)sectors : ev->bytes / SECTOR_SIZE);
	if (has(d, FIELD_COMM))
		take_comm(s, d, r, ev->pid);
}

/* Not a remap's: it is recorded for one device and names another. */
static void note_device(struct page_source *s, const struct event *ev)
{
	if (ev->device == s->device || ev->class == CLASS_NONE || ev->action == ACT_REMAP)
		return;
	s->device = ev->device;
	facts_device_held(s->facts, ev->device, s->cpu.input);
}

/* 1 where the record is an event. */
static int take_record(struct page_source *s, const struct page_record *r, struct event *ev)
{
	uint32_t id = bytes_u16(r->data, s->layout->swap);
	const struct decoder *d = page_layout_decoder(s->layout, id);

	if (s->walk.missed.any)
		take_loss(s, r->time_ns);
	s->last_ns = r->time_ns;
	if (!d) {
		if (!s->unknown++)
			s->unknown_id = id;
		return 0;
	}
	if (r->len < d->need) {
		page_walk_damage(&s->walk, r->len);
		return 0;
	}
	switch (d->kind) {
	case DECODE_EVENT:
		decode(s, d, r, ev);
		note_device(s, ev);
		return 1;
	case DECODE_FORK:
		take_fork(s, d, r);
		return 0;
	case DECODE_EXEC:
		take_exec(s, d, r);
		return 0;
	case DECODE_TASK:
		take_task(s, d, r, FIELD_COMM);
		return 0;
	case DECODE_RENAME:
		take_task(s, d, r, FIELD_NEW_COMM);
		return 0;
	default:
		return 0;
	}
}

/* Whole pages that the recorder wrote and that are not there; a cut page has been counted. */
static void check_stored(struct page_source *s)
{
	uint64_t page = s->layout->page_size, have = s->self.stats.bytes;

	if (s->cpu.stored_bytes > have)
		page_walk_damage(&s->walk, (s->cpu.stored_bytes - have) / page * page);
}

static int page_pull(struct source *self, struct event *events, int max, struct error *err)
{
	struct page_source *s = container_of(self, struct page_source, self);
	struct page_record record;
	int n = 0, r = 1;

	while (n < max) {
		r = page_walk_next(&s->walk, &record, err);
		if (r <= 0)
			break;
		n += take_record(s, &record, &events[n]);
	}
	self->stats.events += (uint64_t)n;
	if (s->cpu.input < s->facts->nr_inputs)
		s->facts->inputs[s->cpu.input].events += (uint64_t)n;
	if (!r && !s->ended)
		check_stored(s);
	if (!r)
		take_end(s);
	/* An error comes again with the next pull, after what was read before it. */
	return r < 0 && !n ? -1 : n;
}

static void page_release(struct source *self)
{
	struct page_source *s = container_of(self, struct page_source, self);

	page_walk_release(&s->walk);
	page_layout_put(s->layout);
	free(s);
}

static const struct source_ops page_ops = { .pull = page_pull, .release = page_release };

struct source *page_source_new(struct page_layout *layout, struct blob *blob,
			       const struct page_cpu *cpu, struct facts *facts)
{
	struct page_source *s = mem_zalloc(sizeof(*s));

	s->self.ops = &page_ops;
	s->layout = layout;
	layout->refs++;
	s->cpu = *cpu;
	s->facts = facts;
	s->last_ns = cpu->start_ns;
	page_walk_init(&s->walk, layout, blob, &s->self.stats);
	page_walk_damage(&s->walk, cpu->write_lost);
	return &s->self;
}

int page_blob_cpu(const char *name)
{
	int cpu = 0;
	const char *at = name + 3;

	if (strncmp(name, "cpu", 3) || !isdigit((unsigned char)*at))
		return -1;
	for (; isdigit((unsigned char)*at); at++) {
		cpu = cpu * 10 + (*at - '0');
		if (cpu > UINT16_MAX)
			return -1;
	}
	return strcmp(at, ".pages") ? -1 : cpu;
}
