// SPDX-License-Identifier: MIT
#include "view/request_list.h"

#include <stdlib.h>

#include "base/mem.h"
#include "view/request_entry.h"

struct request_list {
	const struct summary *sum;
	size_t top;
	uint64_t from_ns, to_ns;
	struct request_entry *entries; /* owned array; with top a heap, the fastest first */
	size_t nr;
	uint64_t seen, truncated;
	struct meanwhile_log *log; /* owned; only with top */
};

struct request_list *request_list_new(size_t top, uint64_t from_ns, uint64_t to_ns,
				      const struct summary *sum)
{
	struct request_list *list = mem_zalloc(sizeof(*list));

	list->sum = sum;
	list->top = top;
	list->from_ns = from_ns == TIME_NONE ? 0 : from_ns;
	list->to_ns = to_ns;
	if (top)
		list->log = meanwhile_log_new();
	return list;
}

void request_list_free(struct request_list *list)
{
	if (!list)
		return;
	for (size_t i = 0; i < list->nr; i++)
		free(list->entries[i].meanwhile);
	free(list->entries);
	meanwhile_log_free(list->log);
	free(list);
}

/* Slower than the other one; of equals the earlier one counts as slower, so that the choice does not
 * depend on the order of a heap. */
static bool slower(const struct request_entry *a, const struct request_entry *b)
{
	if (a->took_ns != b->took_ns)
		return a->took_ns > b->took_ns;
	return a->order < b->order;
}

static void sift_down(struct request_list *list)
{
	size_t at = 0;

	for (;;) {
		size_t child = 2 * at + 1;
		struct request_entry swap;

		if (child >= list->nr)
			return;
		if (child + 1 < list->nr &&
		    slower(&list->entries[child], &list->entries[child + 1]))
			child++;
		if (!slower(&list->entries[at], &list->entries[child]))
			return;
		swap = list->entries[at];
		list->entries[at] = list->entries[child];
		list->entries[child] = swap;
		at = child;
	}
}

static void sift_up(struct request_list *list)
{
	size_t at = list->nr - 1;

	while (at) {
		size_t parent = (at - 1) / 2;
		struct request_entry swap;

		if (!slower(&list->entries[parent], &list->entries[at]))
			return;
		swap = list->entries[at];
		list->entries[at] = list->entries[parent];
		list->entries[parent] = swap;
		at = parent;
	}
}

static void keep(struct request_list *list, struct request_entry *e)
{
	e->order = list->seen++;
	if (e->at_ns != TIME_NONE && (e->at_ns < list->from_ns || e->at_ns > list->to_ns))
		return;
	if (list->top && list->nr == list->top) {
		if (slower(e, &list->entries[0])) {
			free(list->entries[0].meanwhile);
			list->entries[0] = *e;
			sift_down(list);
		}
		return;
	}
	if (list->nr == REQUEST_LIST_MAX) {
		list->truncated++;
		return;
	}
	list->entries = mem_grow(list->entries, list->nr, sizeof(*list->entries));
	list->entries[list->nr++] = *e;
	if (list->top)
		sift_up(list);
}

static uint64_t took(const struct request_entry *e, uint64_t end_ns)
{
	if (e->start_ns == TIME_NONE || end_ns == TIME_NONE || end_ns <= e->start_ns)
		return 0;
	return end_ns - e->start_ns;
}

static uint64_t first_known(const struct io *io)
{
	const uint64_t times[] = { io->remap_ns, io->queue_ns, io->get_ns, io->insert_ns,
				   io->issue_ns };

	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++)
		if (times[i] != TIME_NONE)
			return times[i];
	return TIME_NONE;
}

/* What ran while they waited, of those that it has not been looked up for. As late as can be: most of
 * what is slow at first gives way to slower ones. */
static void look_back(struct request_list *list)
{
	for (size_t i = 0; i < list->nr; i++) {
		struct request_entry *e = &list->entries[i];

		if (e->is_bio || e->meanwhile || e->state == REQUEST_ORPHAN)
			continue;
		e->meanwhile = mem_zalloc(sizeof(*e->meanwhile));
		meanwhile_look(list->log, &e->io, e->state == REQUEST_IN_FLIGHT, list->sum->last_ns,
			       e->meanwhile);
	}
}

static void remember(struct request_list *list, const struct io *io)
{
	if (!list->log)
		return;
	if (meanwhile_log_full(list->log)) {
		look_back(list);
		meanwhile_log_cut(list->log);
	}
	meanwhile_log_add(list->log, io);
}

static void take_request(struct request_list *list, const struct io *io, enum request_state state)
{
	struct request_entry e = { .io = *io, .state = (uint8_t)state };

	remember(list, io);
	e.start_ns = first_known(io);
	if (e.start_ns == TIME_NONE && io->whole_ns != TIME_NONE && io->end_ns != TIME_NONE)
		e.start_ns = io->end_ns > io->whole_ns ? io->end_ns - io->whole_ns : 0;
	if (state == REQUEST_COMPLETED)
		e.took_ns = io->whole_ns != TIME_NONE ? io->whole_ns : took(&e, io->end_ns);
	else if (state == REQUEST_IN_FLIGHT)
		e.took_ns = took(&e, list->sum->last_ns);
	e.at_ns = e.start_ns != TIME_NONE ? e.start_ns : io->end_ns;
	keep(list, &e);
}

/* Beside requests, only flushes that are nothing else: they have no request of their own. */
static bool stands_alone(const struct request_list *list, uint16_t dev, uint8_t class)
{
	return !list->sum->devices[dev].have_requests || class == CLASS_FLUSH;
}

static void take_bio(struct request_list *list, const struct io_bio *bio, enum request_state state)
{
	struct request_entry e = { .state = (uint8_t)state, .is_bio = true };

	if (!stands_alone(list, bio->dev, bio->class))
		return;
	e.io = io_unseen();
	e.io.remap_ns = bio->remap_ns;
	e.io.queue_ns = bio->queue_ns;
	e.io.complete_ns = e.io.end_ns = bio->complete_ns;
	e.io.sector = bio->sector;
	e.io.bytes = bio->bytes;
	e.io.pid = bio->pid;
	e.io.nr_bios = 1;
	e.io.dev = bio->dev;
	e.io.class = bio->class;
	e.io.ambiguous = bio->left_out;
	e.io.error = bio->error;
	e.io.flags = bio->flags;
	e.start_ns = first_known(&e.io);
	e.at_ns = e.start_ns != TIME_NONE ? e.start_ns : bio->complete_ns;
	if (state == REQUEST_COMPLETED)
		e.took_ns = took(&e, bio->complete_ns);
	else if (state == REQUEST_IN_FLIGHT)
		e.took_ns = took(&e, list->sum->last_ns);
	keep(list, &e);
}

static void on_request(void *arg, const struct io *io)
{
	take_request(arg, io, io->lost ? REQUEST_LOST : REQUEST_COMPLETED);
}

static void on_bio(void *arg, const struct io_bio *bio)
{
	take_bio(arg, bio, bio->lost ? REQUEST_LOST : REQUEST_COMPLETED);
}

static void on_open(void *arg, const struct io *io)
{
	take_request(arg, io, REQUEST_IN_FLIGHT);
}

static void on_open_bio(void *arg, const struct io_bio *bio)
{
	take_bio(arg, bio, REQUEST_IN_FLIGHT);
}

/* Its device is one that the tracker knows: it has counted the orphan there. */
static bool find_device(const struct summary *sum, uint32_t number, uint16_t *dev)
{
	for (size_t i = sum->nr_devices; i-- > 0;) {
		if (sum->devices[i].device != number)
			continue;
		*dev = (uint16_t)i;
		return true;
	}
	return false;
}

static void on_orphan(void *arg, const struct event *ev)
{
	struct request_list *list = arg;
	struct request_entry e = { .state = REQUEST_ORPHAN, .start_ns = TIME_NONE };

	e.io = io_unseen();
	e.io.complete_ns = e.io.end_ns = ev->time_ns;
	e.io.sector = ev->sector;
	e.io.bytes = ev->bytes;
	e.io.class = ev->class;
	e.io.error = ev->error;
	e.io.flags = ev->flags;
	e.at_ns = ev->time_ns;
	if (find_device(list->sum, ev->device, &e.io.dev))
		keep(list, &e);
}

struct track_sink request_list_sink(struct request_list *list)
{
	return (struct track_sink){ .bio = on_bio,
				    .request = on_request,
				    .open = on_open,
				    .open_bio = on_open_bio,
				    .orphan = on_orphan,
				    .arg = list };
}

static int by_time(const void *a, const void *b)
{
	const struct request_entry *x = a, *y = b;

	if (x->at_ns != y->at_ns)
		return x->at_ns < y->at_ns ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

/* A device may have shown its first request only after some of its bios had ended. */
static void drop_bios(struct request_list *list)
{
	size_t left = 0;

	for (size_t i = 0; i < list->nr; i++)
		if (!list->entries[i].is_bio ||
		    stands_alone(list, list->entries[i].io.dev, list->entries[i].io.class))
			list->entries[left++] =
				list->entries[i]; /* bios have no meanwhile to free */
	list->nr = left;
}

void request_list_finish(struct request_list *list)
{
	drop_bios(list);
	if (list->log)
		look_back(list);
	if (list->nr)
		qsort(list->entries, list->nr, sizeof(*list->entries), by_time);
}

size_t request_list_nr(const struct request_list *list)
{
	return list->nr;
}

size_t request_list_top(const struct request_list *list)
{
	return list->top;
}

uint64_t request_list_truncated(const struct request_list *list)
{
	return list->truncated;
}

const struct request_entry *request_list_entry(const struct request_list *list, size_t i)
{
	return &list->entries[i];
}
