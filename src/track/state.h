/* SPDX-License-Identifier: MIT
 *
 * The tracker's state, for the files of this room only. Numbers in brackets: sections of
 * doc/model.md.
 */
#ifndef BLKLAB_TRACK_STATE_H
#define BLKLAB_TRACK_STATE_H

#include "base/container.h"
#include "base/hash.h"
#include "base/mem.h"
#include "track/track.h"

struct rq;

/* A doubly linked list of embedded nodes. */
struct link {
	struct link *prev, *next;
};

static inline void list_init(struct link *list)
{
	list->prev = list->next = list;
}

static inline void list_add(struct link *list, struct link *node)
{
	node->prev = list->prev;
	node->next = list;
	list->prev->next = node;
	list->prev = node;
}

static inline void list_del(struct link *node)
{
	node->prev->next = node->next;
	node->next->prev = node->prev;
	node->prev = node->next = node;
}

static inline bool list_empty(const struct link *list)
{
	return list->next == list;
}

/* A bio, or a piece of one after a split. Pieces point to their origin, which lives until the last
 * of its bytes has completed. Waits in tracker.waiting, or in a request, or as a flush bio. */
struct bio {
	struct hnode by_start; /* in tracker.waiting while waiting */
	struct bio *next;      /* in its request, by sector; in device.flush_bios, by time */
	struct bio *origin;    /* itself, unless a piece */
	/* A piece that was sent on in place, without a Q below, and what it is there: they end at once. */
	struct bio *above, *under;
	struct rq *rq;        /* the request it is in, or NULL */
	struct link all, own; /* in tracker.all and .own, origins of the waiter only */
	struct process *process;
	struct io_bio io;          /* what will be handed out; of an origin */
	uint64_t sector;           /* of this piece */
	uint32_t bytes;            /* of this piece, not yet completed */
	uint32_t bytes_left;       /* of an origin: of all pieces */
	uint32_t pieces_at_device; /* of an origin that was split */
	uint16_t dev;
	uint8_t class;
	bool waiting;
	bool leads;    /* its first sector is the origin's */
	bool sent;     /* it went on to a device below */
	bool below;    /* of an origin: a bio of this trace was remapped to it */
	bool unqueued; /* of an origin: it has no Q; its first A stands for that */
	bool split;    /* of an origin: it has pieces */
	bool mapped;   /* of an origin: its I/O is on the devices below [9] */
	bool aged_out; /* no longer waited for, nor in nr_open: its end must have been lost */
	bool listed;   /* of an origin: it was told of as open, or its request was */
	bool covered;  /* a flush bio that a flush command serves */
	bool served;   /* that command has ended */
	bool joined;   /* a flush bio that came into the machine: at its G */
};

/* A process; sum comes first, so the summary's owner frees the whole. */
struct process {
	struct process_sum sum;
	struct hnode by_pid;
	bool own;              /* of the command's tree, or there is no command */
	bool foreign;          /* neither own nor a kernel thread */
	struct link plug;      /* of struct rq: requests it got that are not inserted nor issued */
	bool waiter;           /* own, or a kernel thread that may have worked for it */
	uint64_t got_queue_ns; /* Q of the latest of its bios that came into a request */
	uint64_t issued_queue_ns; /* Q of the latest of its requests that was issued */
};

/* Where a PREFLUSH or FUA write stands in its sequence [6]. */
enum stage { STAGE_NONE, STAGE_WAITS, STAGE_RUNS, STAGE_DONE };

/* The sector of a zero-length C: kernels differ, each keeps to one. */
enum zero_at { ZERO_UNKNOWN, ZERO_AT_START, ZERO_AT_END };

struct rq {
	struct hnode by_start; /* in tracker.requests, by current start; flush commands are not */
	union {
		struct hnode by_end; /* in tracker.ends while it can be merged to */
		struct link append;  /* then, of a zone append: in its device's appends */
	};
	struct link flush; /* in its device's list of flush sequences or flush commands */
	struct link plug;  /* in the list of the thread that got it */
	size_t write_at;   /* 1 + its place in device.writes; 0: not there */
	struct bio *first, *last;
	struct process *process;       /* who queued its first bio; NULL: none was seen */
	struct cpu_sum *issued_by;     /* the CPU of its last D */
	struct io io;                  /* what will be handed out */
	uint64_t sector, end;          /* current range, sectors */
	uint64_t requeue_ns;           /* of an open R */
	uint64_t stage_ns;             /* since when the stage is what it is */
	uint64_t completions_at_issue; /* device.completions then */
	uint32_t bytes_left;
	uint8_t preflush, postflush; /* enum stage */
	bool doubtful;               /* given up after a loss: not in nr_issued any more */
	bool issued;                 /* an attempt is open */
	bool mergeable;              /* is in tracker.ends */
	bool hashed;                 /* is in tracker.requests */
	bool machine;                /* will end with a zero-length C */
	bool data_done;              /* only that end is missing */
	bool has_split;              /* some bio is a piece */
	bool alone;                  /* no bio of it was seen: counts itself in nr_open */
	bool appending;              /* is in its device's appends */
	bool bio_unseen;             /* its bios make up less of it than D says, or more */
	bool serves;                 /* a flush command that something waited for */
	bool overdue; /* a write of the flush machine: nothing but its end is missing */
	bool hazard;  /* a read that was counted as one */
};

struct device {
	uint32_t number;
	uint16_t index;       /* into summary.devices */
	uint32_t nr_issued;   /* open attempts: the depth */
	uint32_t nr_flushing; /* those of them that are flush commands */
	bool queued;          /* a Q of it was seen */
	bool tells_ends;      /* its bios have ends of their own, or clones below: not in place */
	bool zoned;           /* zone write plugs were seen: they hold bios back before G */
	uint32_t nr_aged;     /* bios aged out and not ended since */
	uint32_t nr_open;     /* bios and requests that have not ended */
	uint64_t changed_ns;  /* up to when the time line is accounted */
	uint64_t busy_ns, held_ns, idle_ns; /* up to changed_ns; folded at each C */
	struct past_depth *depths;          /* owned array: not accounted yet, see timeline.c */
	size_t nr_depths;
	uint64_t quiet_from_ns; /* last completion, or since when something is open */
	uint64_t completions;   /* C that ended something */
	uint64_t last_end;      /* sector behind the last D, for seeks */
	bool have_last_end, have_issue;
	struct link sequences;    /* of struct rq: PREFLUSH/FUA writes */
	struct link commands;     /* of struct rq: flush commands at the device */
	struct link passthrough;  /* of struct rq */
	struct link appends;      /* of struct rq: zone appends that were issued */
	bool flush_seen;          /* a flush command, ever */
	uint64_t flush_mixed_ns;  /* G of a flush bio whose Q was lost; 0: none is open */
	bool got;                 /* a G, ever */
	uint64_t flush_issued_ns; /* D of the last flush command */
	uint8_t zero_missed;
	uint8_t zero_at;   /* what the zero-length C of a write tells: enum zero_at */
	struct past *past; /* owned; made at the first untold completion */
	/* Flush bios: those in the machine by their G, then the others by their Q. */
	struct bio *flush_first;
	struct rq **writes; /* owned array: writes with an open attempt */
	size_t nr_writes;
};

/* For how long a device had been like this. */
struct past_depth {
	uint64_t from_ns, to_ns;
	uint32_t nr_issued, nr_data, nr_open;
};

/* What has completed lately on a device whose input does not tell the kinds of completions apart. */
struct past_range {
	uint64_t sector, end, time_ns;
	uint8_t class;
	bool orphan; /* nothing of it was known */
};
#define PAST_RANGES 64u

struct past {
	struct past_range ranges[PAST_RANGES]; /* a ring; class CLASS_NONE: not used yet */
	uint32_t next;
};

/* An A whose Q has not come yet. */
struct remap {
	uint64_t sector, time_ns;
	uint32_t device;
	bool used;
	bool below;    /* from a device of this trace: then of which range there */
	uint16_t from; /* index of that device */
	uint32_t bytes;
	uint64_t from_sector;
};
#define REMAP_SLOTS 64 /* an A's Q comes next on its CPU */

/* One answer to "where is the oldest open bio". */
struct wait_line {
	struct link open;           /* of struct bio.all or .own, oldest first */
	uint64_t from_ns;           /* accounted up to here */
	uint64_t place_ns[WAIT_NR]; /* folded into sum->wait at each C */
};

struct tracker {
	struct sink sink;
	struct track_options options;
	const struct facts *facts;
	struct summary *sum;
	struct device **devices; /* owned; same order as sum->devices */
	size_t nr_devices;
	struct device *last_device;
	struct cpu_sum *cpu; /* of this event and its device */
	size_t nr_cpus;      /* of all devices */
	struct track_step step;
	uint32_t no_device; /* a number known not to be in devices */
	struct hash waiting, requests, ends, processes, retries;
	/* The last bio queued and the last request merged to are kept out of waiting and ends until
	 * something else is looked for: what comes next is nearly always about them. */
	struct bio *fresh;
	struct rq *hot;
	struct slab bios, rqs;
	uint32_t nr_bios; /* origins that live */
	struct process *last_process;
	struct remap remaps[REMAP_SLOTS];
	uint64_t now_ns;           /* of the last event, never backwards */
	uint64_t event_ns;         /* of this event, as it says: what is handed out */
	uint64_t begin_ns;         /* of the window; TIME_NONE: not begun */
	struct wait_line all, own; /* see struct wait_sum */
	size_t losses_seen;        /* of facts->losses */
	uint64_t doubt_ns;         /* what was open then is doubted ... */
	uint64_t doubt_at_ns;      /* ... if it still is at this time; TIME_NONE: nothing to do */
	bool loss_hint;            /* an event must have been lost: see stale() */
	bool counting;             /* this event lies in what is to be counted */
};

static inline struct device_sum *device_sum(const struct tracker *t, const struct device *d)
{
	return &t->sum->devices[d->index];
}

/* device.c */
struct device *device_get(struct tracker *t, uint32_t number);   /* made if new; NULL: too many */
struct device *device_known(struct tracker *t, uint32_t number); /* or NULL */
struct process *process_get(struct tracker *t, uint32_t pid);
struct cpu_sum *cpu_get(struct tracker *t, const struct device *d, uint32_t cpu); /* made if new */
void cpus_finish(struct device_sum *sum);                                         /* their sums */
/* A request that is its submitter's, though no bio of it was seen (whole.c). */
void process_charge(struct process_sum *sum, const struct event *ev);

/* device_get, quick where it is the last one again. */
static inline struct device *device_at(struct tracker *t, uint32_t number)
{
	if (t->last_device && t->last_device->number == number)
		return t->last_device;
	return device_get(t, number);
}

/* cpu_get, quick where it is there. */
static inline struct cpu_sum *cpu_at(struct tracker *t, const struct device *d, uint32_t cpu)
{
	const struct device_sum *sum = device_sum(t, d);

	if (cpu < sum->nr_cpus && sum->cpus[cpu])
		return sum->cpus[cpu];
	return cpu_get(t, d, cpu);
}

/* timeline.c */
void timeline_issued(struct tracker *t, struct device *d, const struct rq *rq, int by);
void timeline_open(struct tracker *t, struct device *d, int by); /* nr_open += by */
/* A C of `bytes`; rq: whose, NULL where only a bio is known. */
void timeline_completed(struct tracker *t, struct device *d, const struct rq *rq, uint32_t bytes);
void timeline_finish(struct tracker *t);

/* wait.c */
void wait_init(struct tracker *t);
void wait_add(struct tracker *t, struct bio *bio); /* a new origin */
void wait_del(struct bio *bio);
/* Accounts the waits up to now_ns; call before anything changes where the oldest open bio is. */
void wait_touch(struct tracker *t);

/* doubt.c: what was open across a loss and does not end */
void doubt_until(struct tracker *t, uint64_t time_ns); /* before now_ns moves on to time_ns */

/* bio.c */
struct bio *bio_new(struct tracker *t, struct device *d, const struct event *ev);
void bio_start_waiting(struct tracker *t, struct bio *bio);
/* Of excerpts without any completion: what is known of its bios is counted at the end. */
void bio_count_endless(struct tracker *t);
void bio_age_out(struct tracker *t, struct bio *bio);
void bio_taken_back(struct tracker *t, struct bio *bio); /* it went on after all */
void bio_settle(struct tracker *t);                      /* before tracker.waiting is walked */
/* A waiting bio: of ev's length and thread if there is one, else of its length, else the first. */
struct bio *bio_find(struct tracker *t, const struct device *d, const struct event *ev);
struct bio *bio_find_here(struct tracker *t, const struct device *d, const struct event *ev);
struct bio *bio_find_at(struct tracker *t, const struct device *d, uint64_t sector, uint8_t class);
void bio_queue(struct tracker *t, struct device *d, const struct event *ev);
void bio_split(struct tracker *t, struct device *d, const struct event *ev);
void bio_sleeps(struct tracker *t, struct device *d, const struct event *ev); /* at its S */
/* Cuts `bytes`, fewer than it has, off the front of a waiting bio; both parts wait. Returns the front. */
struct bio *bio_cut(struct tracker *t, struct bio *rest, uint32_t bytes);
void bio_stop_waiting(struct tracker *t, struct bio *bio); /* also where it does not */

/* remap.c */
void bio_remap(struct tracker *t, struct device *d, const struct event *ev);
/* The time of the remap that led to this Q, or TIME_NONE; *below: from a device of this trace. */
uint64_t bio_remapped_at(struct tracker *t, const struct event *ev, bool *below);
/* A bio that begins with an A and no Q (in-place remaps [9]), or NULL. */
struct bio *bio_remapped_in(struct tracker *t, struct device *d, const struct event *ev);
/* Before a bio or piece is freed or cut: its end is not tied to another's any more. */
void bio_untie(struct bio *bio);
void bio_end_above(struct tracker *t, struct bio *bio); /* what was sent on as this one has ended */
/* The waiting bio or piece of exactly ev's range, cut out of a larger one if need be, or NULL; it ends, or
 * it goes on. */
struct bio *bio_cut_free(struct tracker *t, struct device *d, const struct event *ev, bool ends);

/* bio_end.c */
void bio_complete(struct tracker *t, struct device *d, const struct event *ev);
/* Up to `bytes` at the front of a waiting bio have ended; returns how many. Counts nothing. */
uint32_t bio_front_done(struct tracker *t, struct device *d, struct bio *bio, uint32_t bytes,
			int error);
void bio_nowait_failed(struct tracker *t, struct device *d, struct bio *bio);
/* `bytes` of the piece have completed; frees the piece, and the origin with its last. */
void bio_piece_done(struct tracker *t, struct bio *piece, uint32_t bytes, int error);

/* request.c */
void rq_get(struct tracker *t, struct device *d, const struct event *ev);
void rq_merge_bio(struct tracker *t, struct device *d, const struct event *ev);
void rq_merge_rq(struct tracker *t, struct device *d, const struct event *ev);
/* It has ev's start and class, and this state. */
bool rq_fits(const struct rq *rq, const struct device *d, const struct event *ev, bool issued);
/* The first request with ev's start, class and (if there is one) length, and this state; *equals = how
 * many there are. */
struct rq *rq_find(struct tracker *t, const struct device *d, const struct event *ev, bool issued,
		   int *equals);
/* The same; where there are several, all of them are ambiguous from now on. */
struct rq *rq_join(struct tracker *t, const struct device *d, const struct event *ev, bool issued);
struct rq *rq_alone(struct tracker *t, struct device *d, const struct event *ev); /* in no table */
struct rq *rq_ungotten(struct tracker *t, struct device *d, const struct event *ev); /* no G seen */
void rq_set_start(struct tracker *t, struct device *d, struct rq *rq, uint64_t sector);
void rq_close_end(struct tracker *t, struct rq *rq); /* it cannot be merged to any more */
void rq_leave_tables(struct tracker *t, struct rq *rq);
void rq_append_bio(struct tracker *t, struct rq *rq, struct bio *bio);
/* The first `bytes` of the request have ended; so have the bios or parts of them in there. */
void rq_bios_done(struct tracker *t, struct rq *rq, uint64_t bytes, int error);
void rq_pieces_at_device(struct rq *rq, int by); /* told to the origins of its split bios */
void rq_free(struct tracker *t, struct device *d, struct rq *rq);

/* attempt.c */
void rq_insert(struct tracker *t, struct device *d, const struct event *ev);
void rq_issue(struct tracker *t, struct device *d, const struct event *ev);
void rq_requeue(struct tracker *t, struct device *d, const struct event *ev);
void rq_attempt(struct tracker *t, struct device *d, struct rq *rq);      /* at a D */
void rq_attempt_over(struct tracker *t, struct device *d, struct rq *rq); /* at its R or C */

/* complete.c */
/* Was what was open in that time so across a window of loss? */
bool crosses_loss(const struct tracker *t, uint64_t since_ns, uint64_t until_ns);
/* Its completion was lost, or will be waited for no longer. */
void rq_lose(struct tracker *t, struct device *d, struct rq *rq);
void rq_complete(struct tracker *t, struct device *d, const struct event *ev);
void rq_done(struct tracker *t, struct device *d, struct rq *rq, int error); /* hands it out */
/* One of these (by rq.flush) ends: where there are several, nothing tells which. */
void rq_not_alone(struct link *list);
/* `bytes` at the front of the request have ended: so ev, its C, says. */
void rq_front_done(struct tracker *t, struct device *d, struct rq *rq, const struct event *ev,
		   uint32_t bytes);
/* A C that nothing is known of, by its range. */
void rq_complete_orphan(struct tracker *t, struct device *d, const struct event *ev);
void note_orphan(struct tracker *t, struct device *d, const struct event *ev); /* a C of nothing */
void note_error(struct device_sum *sum, const struct event *ev);

/* flush.c */
void flush_begin(struct tracker *t, struct device *d, struct rq *rq); /* at its G */
/* No G of it was seen: what became of its pre-flush is not known. */
void flush_begin_late(struct rq *rq);
void flush_data_issued(struct tracker *t, struct device *d, struct rq *rq, uint32_t flags);
/* true: its end is still to come. */
bool flush_data_done(struct tracker *t, struct device *d, struct rq *rq, int error);
void flush_issue(struct tracker *t, struct device *d, const struct event *ev);
struct rq *flush_issued(struct device *d); /* the first flush command at the device, or NULL */
void flush_complete(struct tracker *t, struct device *d, const struct event *ev);
bool flush_sequence_end(struct tracker *t, struct device *d, const struct event *ev);
/* false: this zero-length C ends nothing of the flush machine. */
bool flush_zero_end(struct tracker *t, struct device *d, const struct event *ev);
void flush_stages_over(struct rq *rq); /* before its end */
/* ev ends a write whose data has failed. */
bool flush_failed_before(struct device *d, const struct event *ev);
/* The C or R of a flush command whose D was lost. */
void flush_unseen(struct tracker *t, struct device *d, const struct event *ev);
/* A flush command, not a bio that asks for one. */
static inline bool is_flush_command(const struct event *ev)
{
	return ev->class == CLASS_FLUSH && (!(ev->flags & EV_WRITE) || ev->sector == SECTOR_NONE);
}
void flush_bio_get(struct device *d, const struct event *ev);
void flush_bio_add(struct tracker *t, struct device *d, struct bio *bio); /* at its Q */

/* plug.c */
/* At the G of anything but a write with a pre-flush, which is not plugged. (Nor is one whose FUA the
 * driver is not given; that is seen at its D.) */
void plug_add(struct tracker *t, struct rq *rq, const struct event *ev);
void plug_leave(struct rq *rq);                            /* also where it is in none */
void plug_over(struct tracker *t, const struct event *ev); /* at U or UT */

/* hazard.c: reads of what is being written */
void hazard_issued(struct tracker *t, struct device *d, struct rq *rq);
void hazard_over(struct device *d, struct rq *rq);

/* append.c: zone appends */
struct rq *append_to_issue(struct tracker *t, const struct device *d, const struct event *ev);
void append_issued(struct device *d, struct rq *rq);
struct rq *append_to_end(struct tracker *t, const struct device *d, const struct event *ev);

/* untold.c: completions that may be of a request, of a bio or cumulative [17] */
void untold_complete(struct tracker *t, struct device *d, const struct event *ev);

/* untold_past.c: what has completed before */
void past_add(struct tracker *t, struct device *d, const struct event *ev, uint64_t end,
	      bool orphan);
/* All of ev's range has completed lately (of an orphan: more than it). */
bool past_repeats(const struct tracker *t, const struct device *d, const struct event *ev);
/* Some range that has completed ends at ev's sector. */
bool past_ends_at(const struct tracker *t, const struct device *d, const struct event *ev);
/* Everything from ev's sector up to the returned one has completed (and an issued request may start
 * there). */
uint64_t past_reaches(struct tracker *t, const struct device *d, const struct event *ev);
/* ev goes on where earlier completions of its start had come to, and what it adds was never seen;
 * *first: those were of known requests, so this is the first one that is not. */
bool past_grows(const struct tracker *t, const struct device *d, const struct event *ev,
		bool *first);
/* A cumulative completion: ev's range had been completed up to `from`. */
void past_series(struct tracker *t, struct device *d, const struct event *ev, uint64_t from,
		 bool issued);

/* whole.c */
void whole_io(struct tracker *t, const struct event *ev);

/* open.c */
void open_finish(struct tracker *t);                     /* tells of what has not ended */
void open_forgotten(struct tracker *t, struct bio *bio); /* it is given up and leaves the tables */

/* What an event whose length is not known is taken for. */
#define NOMINAL_BYTES SECTOR_SIZE

static inline uint32_t known_bytes(const struct event *ev)
{
	return ev->flags & EV_NO_BYTES ? 0 : ev->bytes;
}

/* The sector behind ev's range. */
static inline uint64_t event_end(const struct event *ev)
{
	uint64_t sectors = ev->bytes / SECTOR_SIZE;

	return ev->sector > UINT64_MAX - sectors ? UINT64_MAX : ev->sector + sectors;
}

static inline uint64_t start_key(const struct device *d, uint64_t sector)
{
	return sector ^ (uint64_t)d->index << 54;
}

static inline uint64_t elapsed(uint64_t from_ns, uint64_t to_ns)
{
	return to_ns > from_ns ? to_ns - from_ns
			       : 0; /* clocks of CPUs may run against each other */
}

/* The part of [from, to] inside the window; 0 where the window has not begun. */
static inline uint64_t inside_window(const struct tracker *t, uint64_t from_ns, uint64_t to_ns)
{
	if (from_ns < t->begin_ns)
		from_ns = t->begin_ns;
	if (to_ns > t->options.to_ns)
		to_ns = t->options.to_ns;
	return elapsed(from_ns, to_ns);
}

/* The window begins with the first I/O seen: its Q, or the A or D of an excerpt without. */
static inline void window_begin(struct tracker *t, uint64_t time_ns)
{
	if (t->begin_ns == TIME_NONE)
		t->begin_ns = time_ns;
}

/* This event ends what the request has been doing since then. */
static inline void step_ended(struct tracker *t, const struct rq *rq, uint64_t since_ns)
{
	t->step = (struct track_step){ .since_ns = since_ns, .pid = rq->io.pid };
}

static inline void add_phase(struct device_sum *sum, enum phase phase, uint64_t from_ns,
			     uint64_t to_ns)
{
	if (from_ns != TIME_NONE && to_ns != TIME_NONE)
		hist_add(&sum->latency[phase], elapsed(from_ns, to_ns));
}

#endif
