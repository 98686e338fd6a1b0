/* SPDX-License-Identifier: MIT
 *
 * A simulated block layer, which tells both the events that a kernel would and the truth. It keeps bios
 * and requests, and makes random legal histories: at each step something that may happen next does,
 * at a moment of its own (no two events have the same time, so times are identities). What threads do
 * is in track_model_submit.h, what devices do in track_model_device.h; each file of tests includes
 * this one once. It shares no code with src/track, only the structs that are handed out.
 */
#ifndef BLKLAB_TEST_TRACK_MODEL_H
#define BLKLAB_TEST_TRACK_MODEL_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "track/track.h"

enum model_device { M_DISK, M_NVME, M_ZONED, M_DM, M_MD, M_BCACHE, M_DEVICES };

/* M_DISK: mq-deadline, a volatile cache, no FUA of its own. M_NVME: no scheduler, FUA, discards of several
 * ranges. M_ZONED: appends. M_DM clones its bios, M_MD sends them on in place, M_BCACHE tells nothing
 * of where they go. */
static const struct model_kind {
	uint32_t number;
	uint32_t limit; /* sectors of a bio before it is split */
	bool scheduler, fua, ranges, stacked;
} model_kinds[M_DEVICES] = {
	[M_DISK] = { .number = DEVICE(8, 0), .limit = 64, .scheduler = true },
	[M_NVME] = { .number = DEVICE(259, 0), .limit = 64, .fua = true, .ranges = true },
	[M_ZONED] = { .number = DEVICE(8, 32), .limit = 64, .scheduler = true },
	[M_DM] = { .number = DEVICE(253, 0), .limit = 32, .stacked = true },
	[M_MD] = { .number = DEVICE(9, 0), .limit = 32, .stacked = true },
	[M_BCACHE] = { .number = DEVICE(252, 0), .limit = 32, .stacked = true },
};
#define M_PARTITION       DEVICE(8, 1)
#define M_PARTITION_START 4096u

struct model_options {
	uint64_t seed;
	int nr_bios;  /* at the top */
	int features; /* MF_* */
};
/* The events of tracefs, not those of blktrace. */
#define MF_TRACEFS 1
/* Ranges that are open may be used again; otherwise those of one class never overlap. */
#define MF_OVERLAP 2
/* It stops in the middle. */
#define MF_STOPS 4

/* What was seen to happen, so that a test can tell that it has tested it. */
#define MODEL_FEATURES(X)       \
	X(back_merge)           \
	X(front_merge)          \
	X(request_merge)        \
	X(insert_merge)         \
	X(split)                \
	X(split_rear_first)     \
	X(parts)                \
	X(part_error)           \
	X(error)                \
	X(zero_before_error)    \
	X(requeue_busy)         \
	X(requeue_failed)       \
	X(requeue_of_rest)      \
	X(requeue_of_flush)     \
	X(bounce)               \
	X(sleep)                \
	X(flush_bio)            \
	X(preflush)             \
	X(postflush)            \
	X(native_fua)           \
	X(shared_flush)         \
	X(zone_append)          \
	X(discard)              \
	X(ranges)               \
	X(write_zeroes)         \
	X(passthrough)          \
	X(passthroughs_at_once) \
	X(nowait)               \
	X(partition)            \
	X(chain)                \
	X(mapped)               \
	X(in_place)             \
	X(untold_below)         \
	X(plug)                 \
	X(plug_of_fua)          \
	X(hazard)               \
	X(reuse)                \
	X(overlap)              \
	X(open_at_end)
enum model_feature {
#define X(name) MODEL_##name,
	MODEL_FEATURES(X)
#undef X
		MODEL_NR
};

struct m_piece {
	int bio;
	uint64_t sector;
	uint32_t bytes, left;
	bool leads; /* the bio's first */
};

/* A part of a bio of a stacked device: what goes to one place below. */
struct m_part {
	uint64_t sector;
	uint32_t bytes;
	int below; /* bios below that have not ended */
	int16_t error;
	bool ended;
};
#define M_PARTS 16

struct m_bio {
	struct io_bio told; /* what a perfect tracker hands out; dev: enum model_device */
	uint32_t left;      /* bytes that have not completed */
	int data_left;      /* pieces whose data has not completed */
	int parent, part;   /* the bio above, or -1 */
	struct m_part parts[M_PARTS];
	int nr_parts;
	bool cut_all;     /* all of its parts were made */
	bool tells;       /* what is above hears of its end as a bio_complete */
	bool alike;       /* another one of its class was open in its range */
	bool unqueued;    /* sent on in place: its A stands for its Q */
	uint64_t seen_ns; /* then: when its G or M came */
	bool ended;
};

enum m_state { M_PLUGGED, M_TO_INSERT, M_QUEUED, M_ISSUED, M_IN_MACHINE, M_ENDED };

#define M_PIECES 24
struct m_rq {
	struct io told;
	enum m_state state;
	int thread; /* in whose plug */
	struct m_piece pieces[M_PIECES];
	int nr_pieces;
	uint64_t start, end;
	uint32_t left;
	uint32_t flags; /* at D */
	bool inserted, requeued, ranges, hazard, absorbed, at_parts;
	bool alike; /* when it ended there was another one like it in the flush machine */
	bool machine, pre, data, post; /* stages to come */
	uint64_t stage_ns, requeue_ns;
	int16_t bad; /* a completion of it will fail with this */
};

/* What a thread is about to do, the last first. */
struct m_work {
	enum { W_QUEUE, W_GO } what;
	struct m_piece piece;
	bool retried;
};

struct m_thread {
	uint32_t pid;
	uint16_t cpu;
	bool plugging;
	int plug[16];
	int nr_plug;
	struct m_work work[32];
	int nr_work;
};
#define M_THREADS 4

struct m_attempt {
	uint64_t from_ns, to_ns;
	enum model_device dev;
};

/* The counters of a device that are compared with the summary's. */
struct m_sum {
	uint64_t queues, splits, getrqs, back_merges, front_merges, rq_merges, retries, bounces;
	uint64_t requeues_busy, requeues_failed, hazards, hazard_bytes, flush_stages, flush_writes;
	uint64_t requests, flush_commands, issued_bytes, completed_bytes, remapped_in, errors;
	uint32_t depth, depth_max;
};

struct m_disk {
	int pending[128], running[128];      /* requests in the flush machine */
	int nr_pending, nr_running, command; /* -1: none */
	int data_in_flight;
	struct m_sum sum;
};

struct model_event {
	struct event ev;
	int rq, bio; /* whose it is, or -1 */
};

struct model {
	struct model_options options;
	uint64_t random, now_ns;
	uint64_t begin_ns, last_complete_ns;
	struct model_event *events; /* owned arrays */
	struct m_bio *bios;
	struct m_rq *rqs;
	struct m_attempt *attempts;
	int *to_tell; /* bios that have ended: what is above has yet to hear of it */
	int nr_events, nr_bios, nr_rqs, nr_attempts, nr_to_tell;
	int nr_top; /* bios at the top */
	struct m_thread threads[M_THREADS];
	struct m_disk disks[M_DEVICES];
	bool end_at_start; /* an end of a flush sequence tells the start of the write */
	uint32_t pid;      /* who runs */
	uint16_t cpu;
	int seen[MODEL_NR];
};

static uint64_t m_random(struct model *m, uint64_t below)
{
	uint64_t z = m->random += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return (z ^ z >> 31) % below;
}

static bool m_one_in(struct model *m, uint64_t n)
{
	return !m_random(m, n);
}

static void m_pass_time(struct model *m)
{
	m->now_ns += 1 + m_random(m, m_one_in(m, 40) ? 3000000 : 2000);
}

/* An event of now; what is not said is not there. Time goes on. */
static struct event *m_emit(struct model *m, enum action action, enum model_device dev, int rq,
			    int bio)
{
	struct model_event *e;

	m_pass_time(m);
	m->events = mem_grow(m->events, (size_t)m->nr_events, sizeof(*m->events));
	e = &m->events[m->nr_events++];
	*e = (struct model_event){ .ev = { .time_ns = m->now_ns,
					   .device = model_kinds[dev].number,
					   .pid = m->pid,
					   .cpu = m->cpu,
					   .action = (uint8_t)action },
				   .rq = rq,
				   .bio = bio };
	return &e->ev;
}

static struct event *m_emit_range(struct model *m, enum action action, enum model_device dev,
				  int rq, int bio, uint64_t sector, uint32_t bytes)
{
	struct event *ev = m_emit(m, action, dev, rq, bio);
	const struct io_bio *told = bio >= 0 ? &m->bios[bio].told : NULL;

	ev->sector = sector;
	ev->bytes = bytes;
	if (told) {
		ev->class = told->class;
		ev->flags = told->flags;
	}
	return ev;
}

/* An event of a request, of its current range. */
static struct event *m_emit_rq(struct model *m, enum action action, int rq)
{
	struct m_rq *r = &m->rqs[rq];
	struct event *ev = m_emit(m, action, r->told.dev, rq, -1);

	r = &m->rqs[rq];
	ev->sector = r->start;
	ev->bytes = r->left;
	ev->class = r->told.class;
	ev->flags = r->flags;
	return ev;
}

static bool m_overlaps(uint64_t a, uint64_t a_end, uint64_t b, uint64_t b_end)
{
	return a < b_end && b < a_end;
}

/* Is there an open bio of the class and device in this range? */
static bool m_range_open(struct model *m, enum model_device dev, uint8_t class, uint64_t sector,
			 uint64_t end)
{
	bool open = false;

	for (int i = 0; i < m->nr_bios; i++) {
		const struct m_bio *b = &m->bios[i];

		if (b->told.dev != dev || b->told.class != class || !b->told.bytes ||
		    !m_overlaps(sector, end, b->told.sector,
				b->told.sector + b->told.bytes / SECTOR_SIZE))
			continue;
		m->seen[MODEL_reuse] += b->ended;
		if (b->ended)
			continue;
		m->bios[i].alike = open = true;
	}
	return open;
}

static int m_new_bio(struct model *m, enum model_device dev, uint8_t class, uint32_t flags,
		     uint64_t sector, uint32_t bytes)
{
	bool alike = bytes && m_range_open(m, dev, class, sector, sector + bytes / SECTOR_SIZE);

	m->bios = mem_grow(m->bios, (size_t)m->nr_bios, sizeof(*m->bios));
	m->bios[m->nr_bios] = (struct m_bio){ .told = { .remap_ns = TIME_NONE,
							.queue_ns = TIME_NONE,
							.get_ns = TIME_NONE,
							.merge_ns = TIME_NONE,
							.sleep_ns = TIME_NONE,
							.insert_ns = TIME_NONE,
							.issue_ns = TIME_NONE,
							.last_issue_ns = TIME_NONE,
							.data_ns = TIME_NONE,
							.complete_ns = TIME_NONE,
							.sector = sector,
							.bytes = bytes,
							.dev = (uint16_t)dev,
							.class = class,
							.flags = flags },
					      .left = bytes,
					      .alike = alike,
					      .parent = -1 };
	return m->nr_bios++;
}

static int m_new_rq(struct model *m, enum model_device dev, uint8_t class, uint32_t flags,
		    uint64_t sector, uint32_t bytes)
{
	m->rqs = mem_grow(m->rqs, (size_t)m->nr_rqs, sizeof(*m->rqs));
	m->rqs[m->nr_rqs] = (struct m_rq){ .told = io_unseen(),
					   .start = sector,
					   .end = sector + bytes / SECTOR_SIZE,
					   .left = bytes,
					   .flags = flags,
					   .thread = -1 };
	m->rqs[m->nr_rqs].told.dev = (uint16_t)dev;
	m->rqs[m->nr_rqs].told.class = class;
	m->rqs[m->nr_rqs].told.flags = flags;
	return m->nr_rqs++;
}

static void m_take_piece(struct m_rq *r, const struct m_piece *piece, int at)
{
	memmove(&r->pieces[at + 1], &r->pieces[at],
		(size_t)(r->nr_pieces - at) * sizeof(*r->pieces));
	r->pieces[at] = *piece;
	r->nr_pieces++;
}

static void m_window_begins(struct model *m)
{
	if (m->begin_ns == TIME_NONE)
		m->begin_ns = m->now_ns;
}

#include "track_model_device.h"
#include "track_model_submit.h"

/* In events that a test has taken away, so that they are printed as such. */
#define MODEL_LOST (1u << 31)

/* As track_play.h writes them, but for the times, which are in ns. */
static void model_print(const struct model *m)
{
	for (int i = 0; i < m->nr_events; i++) {
		const struct event *ev = &m->events[i].ev;

		fprintf(stderr,
			"%s%llu %s %s%s%s %llu + %u /%llu [%d] p%u cpu%u %u,%u <%u,%u rq %d bio "
			"%d\n",
			ev->flags & MODEL_LOST ? "LOST " : "", (unsigned long long)ev->time_ns,
			action_letter(ev->action), class_name(ev->class),
			ev->flags & EV_PREFLUSH ? "+pre" : "", ev->flags & EV_FUA ? "+fua" : "",
			(unsigned long long)ev->sector, ev->bytes / SECTOR_SIZE,
			(unsigned long long)ev->aux_sector, ev->error, ev->pid, ev->cpu,
			DEVICE_MAJOR(ev->device), DEVICE_MINOR(ev->device),
			DEVICE_MAJOR(ev->aux_device), DEVICE_MINOR(ev->aux_device), m->events[i].rq,
			m->events[i].bio);
	}
}

static void model_release(struct model *m)
{
	free(m->events);
	free(m->bios);
	free(m->rqs);
	free(m->attempts);
	free(m->to_tell);
}

/* Makes a history; all I/O in it has ended, unless it stops in the middle. */
static void model_run(struct model *m, const struct model_options *options)
{
	*m = (struct model){ .options = *options,
			     .random = options->seed * 0x2545f4914f6cdd1du + 1,
			     .now_ns = 1000000000,
			     .begin_ns = TIME_NONE,
			     .last_complete_ns = TIME_NONE };
	for (int i = 0; i < M_DEVICES; i++)
		m->disks[i].command = -1;
	m->end_at_start = m_one_in(m, 2);
	for (int i = 0; i < M_THREADS; i++)
		m->threads[i] = (struct m_thread){ .pid = 100 + (uint32_t)i, .cpu = (uint16_t)i };
	for (int still = 0; still < 2000;) {
		bool done = m_one_in(m, 3) ? m_thread_step(m) : m_device_step(m);

		still = done ? 0 : still + 1;
		if (m->options.features & MF_STOPS && m->nr_top == m->options.nr_bios &&
		    m_one_in(m, 20))
			break;
	}
	for (int i = 0; i < m->nr_bios; i++)
		m->seen[MODEL_open_at_end] += !m->bios[i].ended;
}

#endif
