/* SPDX-License-Identifier: MIT
 *
 * Part of track_model.h: what schedulers, flush machines and devices do to requests.
 */

/* ---- how bios end ---- */

static void m_part_ended(struct model *m, int bio, int part, int16_t error);

static void m_bio_ended(struct model *m, int bio)
{
	struct m_bio *b = &m->bios[bio];

	b->ended = true;
	b->told.complete_ns = m->now_ns;
	if (b->told.data_ns == TIME_NONE)
		b->told.data_ns = m->now_ns;
	m->last_complete_ns = m->now_ns;
	if (b->parent < 0)
		return;
	if (!m->bios[b->parent].tells) {
		m_part_ended(m, b->parent, b->part, b->told.error);
		return;
	}
	m->to_tell = mem_grow(m->to_tell, (size_t)m->nr_to_tell, sizeof(*m->to_tell));
	m->to_tell[m->nr_to_tell++] = bio;
}

/* What is above hears of the ends of this moment, one after the other. */
static void m_tell_above(struct model *m)
{
	while (m->nr_to_tell) {
		const struct m_bio *b = &m->bios[m->to_tell[--m->nr_to_tell]];

		m_part_ended(m, b->parent, b->part, b->told.error);
	}
}

/* A part of a stacked bio hears of the end of what it consists of. The last one ends when all others
 * have: the bios that were cut off before it are chained to it. */
static void m_tell_parts(struct model *m, int bio)
{
	for (int p = 0; p < m->bios[bio].nr_parts; p++) {
		struct m_bio *b = &m->bios[bio];
		struct m_part *part = &b->parts[p];
		bool last = b->cut_all && p == b->nr_parts - 1;

		for (int i = 0; last && i < p; i++)
			last = b->parts[i].ended;
		if (part->ended || part->below || (p == b->nr_parts - 1 && !last))
			continue;
		part->ended = true;
		if (b->tells) {
			struct event *ev = m_emit_range(m, ACT_BIO_COMPLETE, b->told.dev, -1, bio,
							part->sector, part->bytes);

			/* what is chained to the last one lets it fail as well */
			ev->error = last ? m->bios[bio].told.error : part->error;
			m->disks[m->bios[bio].told.dev].sum.errors += ev->error != 0;
			m->disks[m->bios[bio].told.dev].sum.completed_bytes += part->bytes;
			m->last_complete_ns = m->now_ns;
		}
		if (last)
			m_bio_ended(m, bio);
	}
}

static void m_part_ended(struct model *m, int bio, int part, int16_t error)
{
	struct m_bio *b = &m->bios[bio];

	if (error && !b->told.error)
		b->told.error = error;
	b->parts[part].error = error;
	if (!b->tells)
		m->disks[b->told.dev].sum.completed_bytes += b->parts[part].bytes;
	b->parts[part].below--;
	m_tell_parts(m, bio);
}

/* All bios of the request whose pieces have completed, in order. */
static void m_piece_ends(struct model *m, struct m_piece *piece, uint32_t bytes, int16_t error)
{
	struct m_bio *b = &m->bios[piece->bio];

	if (error && !b->told.error)
		b->told.error = error;
	piece->left -= bytes;
	b->left -= bytes;
	if (!b->left)
		m_bio_ended(m, piece->bio);
}

/* `bytes` of the request's pieces, from the front. */
static void m_pieces_end(struct model *m, int rq, uint32_t bytes, int16_t error)
{
	for (int i = 0; i < m->rqs[rq].nr_pieces; i++) {
		struct m_piece *piece = &m->rqs[rq].pieces[i];
		uint32_t part = piece->left < bytes ? piece->left : bytes;

		if (!part)
			continue;
		bytes -= part;
		m_piece_ends(m, piece, part, error);
	}
}

/* What the request is known by, from its bios. */
static void m_tell_rq(struct model *m, int rq)
{
	struct m_rq *r = &m->rqs[rq];
	struct io *told = &r->told;

	told->nr_bios = (uint32_t)r->nr_pieces;
	for (int i = 0; i < r->nr_pieces; i++) {
		const struct io_bio *bio = &m->bios[r->pieces[i].bio].told;

		if (bio->queue_ns >= told->queue_ns)
			continue;
		told->queue_ns = bio->queue_ns;
		told->remap_ns = bio->remap_ns;
	}
}

static void m_rq_ended(struct model *m, int rq)
{
	struct m_rq *r = &m->rqs[rq];

	r->state = M_ENDED;
	if (r->told.complete_ns == TIME_NONE)
		r->told.complete_ns = m->now_ns;
	r->told.end_ns = m->now_ns;
	m->last_complete_ns = m->now_ns;
	m_tell_rq(m, rq);
}

#include "track_model_flush.h"

/* ---- other requests ---- */

/* A read of what is being written. */
static void m_look_for_hazard(struct model *m, int rq)
{
	struct m_rq *r = &m->rqs[rq];
	uint64_t most = 0;

	if (r->told.class != CLASS_READ || r->hazard)
		return;
	for (int i = 0; i < m->nr_rqs; i++) {
		const struct m_rq *w = &m->rqs[i];
		uint64_t from = w->start > r->start ? w->start : r->start;
		uint64_t to = w->end < r->end ? w->end : r->end;

		if (w->told.dev == r->told.dev && w->told.class == CLASS_WRITE &&
		    w->state == M_ISSUED && !(w->flags & EV_ZONE_APPEND) && from < to &&
		    to - from > most)
			most = to - from;
	}
	if (!most)
		return;
	r->hazard = true;
	m->disks[r->told.dev].sum.hazards++;
	m->disks[r->told.dev].sum.hazard_bytes += most * SECTOR_SIZE;
	m->seen[MODEL_hazard]++;
}

static void m_bios_issued(struct model *m, int rq)
{
	struct m_rq *r = &m->rqs[rq];

	for (int i = 0; i < r->nr_pieces; i++) {
		struct m_piece *piece = &r->pieces[i];
		struct io_bio *told = &m->bios[piece->bio].told;

		if (!piece->leads || !piece->left) {
			m->seen[MODEL_split_rear_first] += told->issue_ns == TIME_NONE;
			continue;
		}
		if (told->issue_ns == TIME_NONE) {
			told->issue_ns = m->now_ns;
			if (told->merge_ns == TIME_NONE)
				told->insert_ns = r->told.insert_ns;
		}
		told->last_issue_ns = m->now_ns;
	}
}

static void m_issue(struct model *m, int rq)
{
	struct m_rq *r = &m->rqs[rq];
	struct m_sum *sum = &m->disks[r->told.dev].sum;

	m_emit_rq(m, ACT_ISSUE, rq);
	r = &m->rqs[rq];
	if (r->told.issue_ns == TIME_NONE) {
		r->told.sector = r->start;
		r->told.bytes = r->left;
		sum->requests++;
		sum->issued_bytes += r->left;
		sum->flush_writes += r->machine;
	}
	m_attempt_begins(m, rq);
	m_look_for_hazard(m, rq);
	m_bios_issued(m, rq);
}

static void m_passthrough(struct model *m, enum model_device dev)
{
	int rq = m_new_rq(m, dev, CLASS_PASSTHROUGH, 0, 0, 0), open = 0;
	struct m_rq *r = &m->rqs[rq];

	r->left = r->told.bytes = 512 * (1 + (uint32_t)m_random(m, 8));
	r->end = 0;
	r->told.pid = m->pid;
	m_emit_rq(m, ACT_ISSUE, rq);
	m->rqs[rq].told.pid = m->pid;
	m_attempt_begins(m, rq);
	for (int i = 0; i < m->nr_rqs; i++)
		open += m->rqs[i].told.dev == dev && m->rqs[i].state == M_ISSUED &&
			m->rqs[i].told.class == CLASS_PASSTHROUGH;
	m->seen[MODEL_passthrough]++;
	m->seen[MODEL_passthroughs_at_once] += open > 1;
}

/* Does another request of this class start there? Which one completes in part could not be told. */
static bool m_shares_start(struct model *m, int rq)
{
	const struct m_rq *r = &m->rqs[rq];

	for (int i = 0; i < m->nr_rqs; i++) {
		const struct m_rq *o = &m->rqs[i];

		if (i != rq && !o->absorbed && o->told.dev == r->told.dev && o->state != M_ENDED &&
		    o->told.class == r->told.class && o->end > r->start && o->start < r->end)
			return true;
	}
	return false;
}

static void m_data_ended(struct model *m, int rq)
{
	struct m_rq *r = &m->rqs[rq];

	r->told.complete_ns = m->now_ns;
	m_depth(m, rq, false);
	if (!r->machine) {
		m_rq_ended(m, rq);
		m_pieces_end(m, rq, UINT32_MAX, r->bad);
		return;
	}
	for (int i = 0; i < r->nr_pieces; i++)
		m->bios[r->pieces[i].bio].told.data_ns = m->now_ns;
	m->last_complete_ns = m->now_ns;
	m->disks[r->told.dev].data_in_flight--;
	r->data = false;
	r->post &= !r->bad; /* what failed is not flushed */
	m_next_stage(m, rq);
}

/* The whole, or a part of it from the front. */
static void m_complete(struct model *m, int rq)
{
	struct m_rq *r = &m->rqs[rq];
	uint32_t bytes = r->left;
	bool append = r->flags & EV_ZONE_APPEND;
	struct event *ev;

	if (bytes > 4096 && !r->ranges && !append && r->told.class != CLASS_PASSTHROUGH &&
	    m_one_in(m, 4) && !m_shares_start(m, rq))
		bytes = SECTOR_SIZE * (uint32_t)(1 + m_random(m, bytes / SECTOR_SIZE - 1));
	r->bad = m_one_in(m, 12) && (!r->machine || bytes == r->left) ? -61 : 0;
	if (r->bad && !append && r->told.class != CLASS_PASSTHROUGH && m_one_in(m, 2)) {
		ev = m_emit_rq(m, ACT_COMPLETE, rq);
		ev->bytes = 0;
		m->seen[MODEL_zero_before_error]++;
	}
	ev = m_emit_rq(m, ACT_COMPLETE, rq);
	r = &m->rqs[rq];
	ev->bytes = bytes;
	ev->error = r->bad;
	m->disks[r->told.dev].sum.errors += r->bad != 0;
	if (r->bad)
		r->told.error = r->bad;
	if (append)
		ev->sector = r->start + m_random(m, 512);
	if (r->told.class == CLASS_PASSTHROUGH) {
		if (m->options.features & MF_TRACEFS)
			ev->sector = SECTOR_NONE;
	} else {
		m->disks[r->told.dev].sum.completed_bytes += bytes;
	}
	m->last_complete_ns = m->now_ns;
	m->seen[MODEL_error] += r->bad != 0;
	if (bytes == r->left) {
		m_data_ended(m, rq);
	} else {
		r->left -= bytes;
		r->start += bytes / SECTOR_SIZE;
		r->at_parts = true;
		m->seen[MODEL_parts]++;
		m->seen[MODEL_part_error] += r->bad != 0;
		if (!r->machine)
			m_pieces_end(m, rq, bytes, r->bad);
	}
	if (m->rqs[rq].bad && m->options.features & MF_TRACEFS)
		m_emit_rq(m, ACT_RQ_ERROR, rq);
}

/* The request that goes on where this one ends, in the scheduler, or -1. */
static int m_neighbour(struct model *m, const struct m_rq *r)
{
	for (int i = 0; i < m->nr_rqs; i++) {
		const struct m_rq *o = &m->rqs[i];

		if (o != r && o->told.dev == r->told.dev && o->told.class == r->told.class &&
		    o->state == M_QUEUED && o->told.issue_ns == TIME_NONE && !o->machine &&
		    !(o->flags & (EV_FUA | EV_ZONE_APPEND)) && o->start == r->end && !o->absorbed &&
		    r->nr_pieces + o->nr_pieces <= M_PIECES)
			return i;
	}
	return -1;
}

/* `rq` takes `next`, which begins where it ends. */
static void m_absorb(struct model *m, int rq, int next)
{
	struct m_rq *r, *o;

	m_emit_rq(m, ACT_RQ_MERGE, next);
	r = &m->rqs[rq];
	o = &m->rqs[next];
	for (int i = 0; i < o->nr_pieces; i++)
		m_take_piece(r, &o->pieces[i], r->nr_pieces);
	r->end = o->end;
	r->left += o->left;
	r->told.merge_ns = m->now_ns;
	o->absorbed = true;
	o->state = M_ENDED;
	m->disks[r->told.dev].sum.rq_merges++;
	m->seen[MODEL_request_merge]++;
}

static bool m_in_scheduler(const struct m_rq *r)
{
	return r->state == M_QUEUED && model_kinds[r->told.dev].scheduler && r->inserted &&
	       r->told.issue_ns == TIME_NONE && !r->machine &&
	       !(r->flags & (EV_FUA | EV_ZONE_APPEND)) && !r->absorbed && !r->ranges;
}

/* Appends of one zone are issued and end in their order: what is told does not tell them apart. */
static bool m_append_waits(struct model *m, int rq)
{
	const struct m_rq *r = &m->rqs[rq];

	for (int i = 0; r->flags & EV_ZONE_APPEND && i < rq; i++)
		if (m->rqs[i].flags & EV_ZONE_APPEND && m->rqs[i].start == r->start &&
		    m->rqs[i].state != M_ENDED &&
		    (r->state == M_ISSUED || m->rqs[i].state != M_ISSUED))
			return true;
	return false;
}

static void m_insert(struct model *m, int rq)
{
	m_emit_rq(m, ACT_INSERT, rq);
	if (m->rqs[rq].told.insert_ns == TIME_NONE)
		m->rqs[rq].told.insert_ns = m->now_ns;
	m->rqs[rq].inserted = true;
	m->rqs[rq].state = M_QUEUED;
}

static bool m_rq_step(struct model *m, int rq)
{
	struct m_rq *r = &m->rqs[rq];
	int next;

	if (r->told.class == CLASS_FLUSH)
		return false; /* the machine's */
	switch (r->state) {
	case M_TO_INSERT:
		m_insert(m, rq);
		return true;
	case M_QUEUED:
		next = m_in_scheduler(r) && r->told.class != CLASS_DISCARD ? m_neighbour(m, r) : -1;
		if (next >= 0 && m_in_scheduler(&m->rqs[next]) && m_one_in(m, 2))
			m_absorb(m, rq, next);
		else if (r->requeued && r->inserted && m_one_in(m, 4))
			m_insert(m, rq); /* again */
		else if (m_append_waits(m, rq))
			return false;
		else
			m_issue(m, rq);
		return true;
	case M_ISSUED:
		if (m_append_waits(m, rq))
			return false;
		if (r->told.class != CLASS_PASSTHROUGH && m_one_in(m, 8))
			m_requeue(m, rq);
		else
			m_complete(m, rq);
		return true;
	default:
		return false;
	}
}

/* Something that some device or its driver does; false: there was nothing to do. */
static bool m_device_step(struct model *m)
{
	m->cpu = (uint16_t)m_random(m, M_THREADS);
	m->pid = m_one_in(m, 2) ? 0 : 50;
	if (m_one_in(m, 3)) {
		bool done = m_machine_step(m, m_one_in(m, 2) ? M_DISK : M_NVME);

		m_tell_above(m);
		return done;
	}
	if (m->nr_top < m->options.nr_bios && m_one_in(m, 60)) {
		m_passthrough(m, M_DISK);
		return true;
	}
	for (int i = 0, first = m->nr_rqs ? (int)m_random(m, (uint64_t)m->nr_rqs) : 0;
	     i < m->nr_rqs; i++)
		if (m_rq_step(m, (first + i) % m->nr_rqs)) {
			m_tell_above(m);
			return true;
		}
	return false;
}
