/* SPDX-License-Identifier: MIT
 *
 * The binary files of blktrace: per-CPU NAME.blktrace.N, and streams: merged dumps and live ones
 * (blktrace_live.h), versions 7 and 8, either byte order. Layout: doc/formats/blktrace_bin.md. Everything readable is used, everything skipped
 * is counted.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/container.h"
#include "base/mem.h"
#include "read/blktrace_cpus.h"
#include "read/blktrace_live.h"
#include "read/blktrace_notes.h"
#include "read/blktrace_walk.h"
#include "trace/format.h"

#define HEAD_BYTES   64 /* enough to see the version */
#define TC_ZONE_MGMT ((TC_ZONE_CLOSE << 1) - TC_ZONE_RESET)

/* A sequence counter: the kernel counts per CPU and traced device. */
struct counter {
	uint32_t cpu, device, last;
};

struct bin {
	struct source self;
	struct blktrace_walk walk;
	struct facts *facts; /* borrowed */
	size_t input;        /* which of facts->inputs it is part of */
	struct blktrace_notes notes;
	struct blktrace_cpus cpus;  /* of a stream that is no file of one CPU */
	struct blktrace_live *live; /* owned; of a stream, while it may be out of order */
	bool begun;                 /* the stream's first event was in sight */
	bool drained;               /* it has ended */
	char *base;                 /* owned; the name its device gets */
	bool named;                 /* the first event's device was given its name */
	uint32_t device;            /* of the last I/O event; 0 = none yet */
	struct counter *counters;   /* owned array */
	size_t nr_counters;
};

static void skipped(struct bin *b, uint32_t device, uint32_t missing)
{
	if (!missing)
		return;
	b->self.stats.sequence_gaps += missing;
	facts_skipped(b->facts, device, missing);
}

/* The numbers of a CPU and device rise by one; what is missing was removed after the kernel wrote it
 * (drops in the kernel leave no gap). In a merged dump an A may carry its target's device, so a
 * number that follows another counter of that CPU belongs there. */
static void check_sequence(struct bin *b, const struct blktrace_header *h)
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
		if (c->device == h->device || b->walk.cpu >= 0)
			own = c;
	}
	if (!own) {
		b->counters = mem_grow(b->counters, b->nr_counters, sizeof(*b->counters));
		b->counters[b->nr_counters++] =
			(struct counter){ .cpu = h->cpu, .device = h->device, .last = h->sequence };
		/* A per-CPU file starts at 1; a dump may be a window. */
		if (b->walk.cpu >= 0)
			skipped(b, h->device, h->sequence - 1);
		return;
	}
	if (h->sequence > own->last) {
		skipped(b, own->device, h->sequence - own->last - 1);
		own->last = h->sequence;
	} else if (b->self.stats.sequence_gaps) {
		b->self.stats.sequence_gaps--; /* late, not missing */
		facts_skipped_late(b->facts, own->device);
	}
}

static void take_note(struct bin *b, const struct blktrace_header *h, const uint8_t *pdu,
		      size_t len)
{
	if ((h->number & ~BLKTRACE_CGROUP) == NOTE_PROCESS)
		blktrace_note_name(&b->notes, h->pid, h->time_ns, (const char *)pdu, len);
	else if (len >= 8)
		blktrace_note_clock(&b->notes, h->time_ns,
				    bytes_u32(pdu, b->walk.swap) * UINT64_C(1000000000) +
					    bytes_u32(pdu + 4, b->walk.swap));
}

static uint8_t class_of(const struct blktrace_header *h)
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
static uint8_t action_of(const struct blktrace_header *h)
{
	if (h->number == ACT_BACKMERGE && (h->categories & TC_FS))
		return ACT_RQ_MERGE;
	if (h->number == ACT_COMPLETE && !(h->categories & (TC_FS | TC_PC)))
		return h->categories & TC_ZONE_APPEND ? ACT_ZONE_APPEND : ACT_BIO_COMPLETE;
	return h->number <= BLKTRACE_LAST_ACTION ? (uint8_t)h->number : ACT_UNKNOWN;
}

/* blkparse -d takes the first event's time off messages as off events, but not off notes. */
static uint64_t message_time(const struct bin *b, uint64_t time_ns)
{
	return time_ns < b->notes.zero_ns ? time_ns : blktrace_notes_time(&b->notes, time_ns);
}

/* Fills ev from a record; false for a note that gives only facts. */
static bool take_record(struct bin *b, struct blktrace_header *h, const uint8_t *pdu,
			struct event *ev)
{
	size_t len = h->pdu_len;
	uint32_t cgroup = 0;

	if (b->walk.cpu < 0)
		blktrace_cpus_add(&b->cpus, h->cpu);
	if (h->number & BLKTRACE_CGROUP) {
		size_t skip = len < 8 ? len : 8;

		cgroup = EV_CGROUP;
		h->number &= ~BLKTRACE_CGROUP;
		pdu += skip;
		len -= skip;
	}
	if (h->categories & TC_NOTIFY) {
		if (h->number != NOTE_MESSAGE) {
			take_note(b, h, pdu, len);
			return false;
		}
		/* sequence, sector, bytes and error of a note are stale memory */
		*ev = (struct event){ .time_ns = message_time(b, h->time_ns),
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

/* Not a remap's: it may be recorded on one device and name another. */
static void note_device(struct bin *b, const struct event *ev)
{
	if (ev->device == b->device || ev->class == CLASS_NONE || ev->action == ACT_REMAP)
		return;
	b->device = ev->device;
	facts_device_held(b->facts, ev->device, b->input);
}

/* More bytes; what cannot be unpacked is the end, with a note. */
static int refill(struct bin *b, struct error *err)
{
	struct blktrace_walk *w = &b->walk;
	bool told = blob_damaged(w->blob);

	if ((w->cpu < 0 ? blktrace_walk_more(w, err) : blktrace_walk_fill(w, err)) < 0)
		return -1;
	if (blob_damaged(w->blob) && !told)
		facts_note(b->facts, "%s", err->text);
	if (!b->notes.settled)
		blktrace_notes_look(&b->notes, w);
	return 0;
}

/* The first event of a stream must be in sight before its notes are taken. A dump that blkparse wrote is
 * in order. */
static int begin(struct bin *b, struct error *err)
{
	struct blktrace_walk *w = &b->walk;

	b->begun = true;
	do {
		if (refill(b, err) < 0)
			return -1;
	} while (!b->notes.settled && !w->at_end && w->len < w->size);
	if (!b->notes.moved)
		b->live = blktrace_live_new();
	return 0;
}

/* The record in sight: an event goes to ev (true), a note to the facts. */
static bool take(struct bin *b, struct blktrace_header *h, struct event *ev)
{
	struct blktrace_walk *w = &b->walk;
	bool is_event = take_record(b, h, w->buf + w->at + h->size, ev);

	if (is_event) {
		if (!b->named && ev->action != ACT_MESSAGE && b->base) {
			facts_device(b->facts, h->device, b->base);
			b->named = true;
		}
		note_device(b, ev);
	}
	w->at += h->size + h->pdu_len;
	return is_event;
}

/* Straight from the buffer. */
static int pull_in_order(struct bin *b, struct event *events, int max, struct error *err)
{
	struct blktrace_header h;
	int n = 0, got;

	while (n < max && (got = blktrace_walk_next(&b->walk, &h)) != 0) {
		if (got == 1) {
			n += take(b, &h, &events[n]);
			continue;
		}
		if (n)
			break; /* what was lent lies in the buffer */
		if (refill(b, err) < 0)
			return -1;
	}
	return n;
}

/* More of a live stream. When it pauses, all that came has its turn. */
static int wait_for_more(struct bin *b, struct error *err)
{
	struct blktrace_walk *w = &b->walk;

	if ((blktrace_live_holds(b->live) || (w->at < w->len && !w->paused)) &&
	    !blob_wait(w->blob, w->paused ? 0 : BLKTRACE_LIVE_PAUSE)) {
		if (w->paused)
			blktrace_live_flush(b->live);
		w->paused = true; /* and look at the last record again */
		return 0;
	}
	return refill(b, err);
}

static int pull_live(struct bin *b, struct event *events, int max, struct error *err)
{
	struct blktrace_header h;
	struct event ev;
	int got;

	for (;;) {
		int n = blktrace_live_take(b->live, events, max);

		if (n || b->drained)
			return n;
		while ((got = blktrace_walk_next(&b->walk, &h)) == 1)
			if (take(b, &h, &ev))
				blktrace_live_add(b->live, &ev, h.device, h.cpu);
		b->drained = !got;
		if (b->drained)
			blktrace_live_flush(b->live);
		else if (wait_for_more(b, err) < 0)
			return -1;
	}
}

static void say_late(struct bin *b)
{
	uint64_t late = b->live ? blktrace_live_late(b->live) : 0;

	if (late)
		facts_note(b->facts,
			   "%.200s: %llu events came so much later than others of their time that "
			   "they could not be put in order",
			   b->facts->inputs[b->input].path, (unsigned long long)late);
}

/* Why there is damage, where it is none of the file system's making. */
static void say_strays(struct bin *b)
{
	const struct blktrace_walk *w = &b->walk;

	if (w->strays)
		facts_note(
			b->facts,
			"%.200s: %.100s holds records of CPU %u, which count as damage: its name "
			"is not that CPU's (a copy, or several files in one?)",
			b->facts->inputs[b->input].path, w->blob->name, w->stray_cpu);
}

static int bin_pull(struct source *self, struct event *events, int max, struct error *err)
{
	struct bin *b = container_of(self, struct bin, self);
	int n;

	if (b->walk.cpu < 0 && !b->begun && begin(b, err) < 0)
		return -1;
	n = b->live ? pull_live(b, events, max, err) : pull_in_order(b, events, max, err);
	if (n < 0)
		return -1;
	if (!n) {
		blktrace_notes_end(&b->notes);
		blktrace_say_stream(b->facts, b->input, &b->cpus,
				    b->live && blktrace_live_mixed(b->live));
		say_late(b);
		say_strays(b);
	}
	self->stats.events += (uint64_t)n;
	b->facts->inputs[b->input].events += (uint64_t)n;
	return n;
}

static void bin_release(struct source *self)
{
	struct bin *b = container_of(self, struct bin, self);

	blktrace_live_free(b->live);
	free(b->counters);
	free(b->walk.buf);
	free(b->base);
	free(b);
}

static const struct source_ops bin_ops = { .pull = bin_pull, .release = bin_release };

static int bin_probe(struct input *in, struct error *err)
{
	int score = 0;

	for (size_t i = 0; i < in->nr; i++) {
		const uint8_t *head;
		size_t len = blob_head(&in->blobs[i], HEAD_BYTES, &head, err);
		bool swap;

		if (blktrace_version(head, len, &swap))
			return 100;
		if (blktrace_cpu_of_name(in->blobs[i].name) >= 0)
			score = 20;
	}
	return score;
}

/* Of one stream they are known only when it has been read. */
static void say_cpus(struct input_info *info, const struct input *in)
{
	size_t used = strlen(info->dialect);

	if (blktrace_cpu_of_name(in->blobs[0].name) >= 0)
		snprintf(info->dialect + used, sizeof(info->dialect) - used, ", %zu CPU%s", in->nr,
			 in->nr == 1 ? "" : "s");
}

/* What the heads say, for the dialect line and for a sentence where it cannot be read. */
static int look(struct input *in, struct facts *facts, size_t *index, struct error *err)
{
	struct input_info *info;
	int version = 0;
	bool swap = false, any = false;

	for (size_t i = 0; i < in->nr && !version; i++) {
		const uint8_t *head;
		size_t len = blob_head(&in->blobs[i], HEAD_BYTES, &head, err);

		any |= len > 0;
		version = blktrace_version(head, len, &swap);
	}
	if (version && version != 7 && version != 8)
		return error_set(err, "%s: blktrace version %d is not known (7 and 8 are)",
				 in->label, version);
	*index = facts_input(facts, in->label, "blktrace"); /* moves the array */
	info = &facts->inputs[*index];
	if (version)
		snprintf(info->dialect, sizeof(info->dialect), "v%d, %s-endian", version,
			 swap == (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) ? "little" : "big");
	else
		snprintf(info->dialect, sizeof(info->dialect),
			 any ? "no record at its start" : "empty");
	if (version)
		say_cpus(info, in);
	snprintf(info->lacks_drops_of, sizeof(info->lacks_drops_of), "%s", in->base);
	facts_dropped_unknown(facts, version == 8 ? "a v8 trace carries no drop count"
						  : "a v7 trace carries no drop count");
	return 0;
}

static int bin_open(struct input *in, struct facts *facts, struct sources *sources,
		    struct error *err)
{
	size_t index = 0;
	int *cpu_of;

	if (look(in, facts, &index, err) < 0)
		return -1;
	cpu_of = blktrace_cpus_of_set(in, facts);
	blktrace_say_holes(facts, in, cpu_of);
	for (size_t i = 0; i < in->nr; i++) {
		struct bin *b = mem_zalloc(sizeof(*b));

		b->self.ops = &bin_ops;
		b->walk.blob = &in->blobs[i];
		b->walk.stats = &b->self.stats;
		b->facts = facts;
		b->input = index;
		b->walk.cpu = cpu_of[i];
		b->base = b->walk.cpu >= 0 ? mem_strdup(in->base) : NULL;
		blktrace_notes_init(&b->notes, facts, index, b->walk.cpu < 0);
		b->walk.size = b->walk.cpu < 0 ? BLKTRACE_STREAM_BYTES : BLKTRACE_BUFFER_BYTES;
		b->walk.buf = mem_resize(NULL, b->walk.size, 1);
		sources_add(sources, &b->self);
	}
	free(cpu_of);
	return 0;
}

const struct format format_blktrace_bin = {
	.name = "blktrace",
	.what = "blktrace binary",
	.probe = bin_probe,
	.open = bin_open,
};
