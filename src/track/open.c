/* SPDX-License-Identifier: MIT
 *
 * What has not ended when the events have: handed out request by request and bio by bio.
 */
#include <stdlib.h>

#include "track/state.h"

struct open_list {
	struct rq **rqs; /* owned arrays */
	size_t nr_rqs;
	struct bio **bios;
	size_t nr_bios;
};

static void add_rq(struct open_list *list, struct rq *rq)
{
	list->rqs = mem_grow(list->rqs, list->nr_rqs, sizeof(*list->rqs));
	list->rqs[list->nr_rqs++] = rq;
	for (struct bio *bio = rq->first; bio; bio = bio->next)
		bio->origin->listed = true;
}

static void add_bio(struct open_list *list, struct bio *bio)
{
	if (bio->origin->listed)
		return;
	bio->origin->listed = true;
	list->bios = mem_grow(list->bios, list->nr_bios, sizeof(*list->bios));
	list->bios[list->nr_bios++] = bio->origin;
}

/* Those that no table of starts holds. */
static void add_rqs_of(struct open_list *list, const struct link *head)
{
	for (struct link *l = head->next; l != head; l = l->next) {
		struct rq *rq = container_of(l, struct rq, flush);

		if (!rq->hashed)
			add_rq(list, rq);
	}
}

static void gather_requests(struct tracker *t, struct open_list *list)
{
	struct hash_walk walk = { 0 };
	struct hnode *node;

	while ((node = hash_walk(&t->requests, &walk)) != NULL)
		add_rq(list, container_of(node, struct rq, by_start));
	for (size_t i = 0; i < t->nr_devices; i++) {
		add_rqs_of(list, &t->devices[i]->sequences);
		add_rqs_of(list, &t->devices[i]->commands);
		add_rqs_of(list, &t->devices[i]->passthrough);
	}
}

static void gather_bios(struct tracker *t, struct open_list *list)
{
	struct hash_walk waiting = { 0 }, retries = { 0 };
	struct hnode *node;

	bio_settle(t);
	while ((node = hash_walk(&t->waiting, &waiting)) != NULL)
		add_bio(list, container_of(node, struct bio, by_start));
	while ((node = hash_walk(&t->retries, &retries)) != NULL)
		add_bio(list, container_of(node, struct bio, by_start));
	for (size_t i = 0; i < t->nr_devices; i++)
		for (struct bio *bio = t->devices[i]->flush_first; bio; bio = bio->next)
			add_bio(list, bio);
}

static uint64_t start_of(const struct io *io)
{
	if (io->queue_ns != TIME_NONE)
		return io->queue_ns;
	if (io->get_ns != TIME_NONE)
		return io->get_ns;
	return io->insert_ns != TIME_NONE ? io->insert_ns : io->issue_ns;
}

static int order(uint64_t a_ns, uint64_t b_ns, uint64_t a_sector, uint64_t b_sector)
{
	if (a_ns != b_ns)
		return a_ns < b_ns ? -1 : 1;
	return (a_sector > b_sector) - (a_sector < b_sector);
}

static int rqs_by_time(const void *a, const void *b)
{
	const struct rq *const *x = a, *const *y = b;

	return order(start_of(&(*x)->io), start_of(&(*y)->io), (*x)->io.sector, (*y)->io.sector);
}

static int bios_by_time(const void *a, const void *b)
{
	const struct bio *const *x = a, *const *y = b;

	return order((*x)->io.queue_ns, (*y)->io.queue_ns, (*x)->io.sector, (*y)->io.sector);
}

static void tell_bio(struct tracker *t, const struct bio *bio)
{
	struct io_bio io = bio->io;

	io.complete_ns = TIME_NONE;
	t->options.out.open_bio(t->options.out.arg, &io);
}

void open_finish(struct tracker *t)
{
	const struct track_sink *out = &t->options.out;
	struct open_list list = { 0 };

	if (!out->open && !out->open_bio)
		return;
	gather_requests(t, &list);
	gather_bios(t, &list);
	if (list.nr_rqs)
		qsort(list.rqs, list.nr_rqs, sizeof(*list.rqs), rqs_by_time);
	if (list.nr_bios)
		qsort(list.bios, list.nr_bios, sizeof(*list.bios), bios_by_time);
	for (size_t i = 0; out->open && i < list.nr_rqs; i++)
		out->open(out->arg, &list.rqs[i]->io);
	for (size_t i = 0; out->open_bio && i < list.nr_bios; i++)
		tell_bio(t, list.bios[i]);
	free(list.rqs);
	free(list.bios);
}

void open_forgotten(struct tracker *t, struct bio *bio)
{
	if (t->options.out.open_bio && !bio->origin->listed)
		tell_bio(t, bio->origin);
	bio->origin->listed = true;
}
