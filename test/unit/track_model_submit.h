/* SPDX-License-Identifier: MIT
 *
 * Part of track_model.h: what threads do: queue bios, split, merge and map them, get requests, plug.
 */

static void m_push(struct m_thread *th, const struct m_work *work)
{
	th->work[th->nr_work++] = *work;
}

/* ---- new bios ---- */

static const struct {
	uint8_t class;
	uint32_t flags;
} m_ops[] = {
	{ CLASS_READ, 0 },
	{ CLASS_READ, EV_AHEAD },
	{ CLASS_READ, EV_SYNC | EV_META },
	{ CLASS_WRITE, EV_WRITE },
	{ CLASS_WRITE, EV_WRITE },
	{ CLASS_WRITE, EV_WRITE | EV_SYNC },
	{ CLASS_WRITE, EV_WRITE | EV_SYNC },
	{ CLASS_WRITE, EV_WRITE | EV_SYNC | EV_FUA },
	{ CLASS_WRITE, EV_WRITE | EV_SYNC | EV_PREFLUSH },
	{ CLASS_WRITE, EV_WRITE | EV_SYNC | EV_META | EV_PREFLUSH | EV_FUA },
	{ CLASS_FLUSH, EV_WRITE | EV_SYNC | EV_PREFLUSH },
	{ CLASS_DISCARD, EV_WRITE },
	{ CLASS_DISCARD, EV_WRITE | EV_SYNC },
	{ CLASS_WRITE_ZEROES, EV_WRITE },
	{ CLASS_READ, EV_NOWAIT },
	{ CLASS_WRITE, EV_WRITE | EV_SYNC | EV_NOWAIT },
};

#define M_MD_START     200000u
#define M_BCACHE_START 300000u
#define M_DM_START     100000u
#define M_STRIPE       64u /* sectors */
#define M_SPACE        512u

/* Where it goes on. */
static uint64_t m_below(const struct m_bio *b, uint64_t sector, enum model_device *dev)
{
	uint64_t start = b->told.dev == M_DM   ? M_DM_START
			 : b->told.dev == M_MD ? M_MD_START
					       : M_BCACHE_START;

	*dev = sector / M_STRIPE % 2 ? M_NVME : M_DISK;
	return start + sector;
}

static bool m_new_io(struct model *m, struct m_thread *th)
{
	static const enum model_device devices[] = { M_DISK, M_DISK, M_DISK, M_NVME,   M_NVME,
						     M_NVME, M_DM,   M_MD,   M_BCACHE, M_ZONED };
	enum model_device dev = devices[m_random(m, sizeof(devices) / sizeof(*devices))];
	size_t op = m_random(m, sizeof(m_ops) / sizeof(*m_ops));
	uint32_t flags = m_ops[op].flags;
	uint8_t class = m_ops[op].class;
	uint64_t sector = 8 * m_random(m, M_SPACE / 8);
	uint32_t sectors = 8 * (1 + (uint32_t)m_random(m, m_one_in(m, 5) ? 16 : 3));
	struct m_work work = { .what = W_QUEUE };

	if (model_kinds[dev].stacked)
		flags &= ~(EV_NOWAIT | EV_PREFLUSH);
	if (model_kinds[dev].stacked && class != CLASS_READ)
		class = CLASS_WRITE;
	if (dev == M_ZONED) {
		class = CLASS_WRITE;
		flags = EV_WRITE | EV_ZONE_APPEND;
		sector = 10000 * (1 + m_random(m, 2));
	}
	if (class == CLASS_WRITE_ZEROES && !(m->options.features & MF_TRACEFS))
		class = CLASS_WRITE; /* blktrace shows no difference */
	if (dev == M_DISK)
		sector += M_PARTITION_START;
	if (class == CLASS_FLUSH)
		sector = sectors = 0;
	if (m->options.features & MF_OVERLAP)
		flags &= ~EV_NOWAIT; /* who brings it again could not be told */
	if (sectors && dev != M_ZONED && m_range_open(m, dev, class, sector, sector + sectors)) {
		if (!(m->options.features & MF_OVERLAP))
			return false;
		m->seen[MODEL_overlap]++;
	}
	m->nr_top++;
	work.piece = (struct m_piece){ .bio = m_new_bio(m, dev, class, flags, sector,
							sectors * SECTOR_SIZE),
				       .sector = sector,
				       .bytes = sectors * SECTOR_SIZE,
				       .left = sectors * SECTOR_SIZE,
				       .leads = true };
	m->bios[work.piece.bio].tells = dev != M_MD;
	m_push(th, &work);
	return true;
}

/* An A. Its Q, or what else is told of it there, comes next on this CPU. */
static void m_remap(struct model *m, int bio, uint32_t from, uint64_t from_sector, uint64_t sector)
{
	struct io_bio *told = &m->bios[bio].told;
	struct event *ev = m_emit_range(m, ACT_REMAP, told->dev, -1, bio, sector, told->bytes);

	ev->aux_device = from;
	ev->aux_sector = from_sector;
	told = &m->bios[bio].told;
	if (told->remap_ns == TIME_NONE)
		told->remap_ns = m->now_ns;
}

static void m_queue(struct model *m, struct m_thread *th, struct m_work *work)
{
	struct io_bio *told = &m->bios[work->piece.bio].told;
	enum model_device dev = told->dev;
	struct m_sum *sum = &m->disks[dev].sum;

	if (dev == M_DISK && !work->retried && m->bios[work->piece.bio].parent < 0 && told->bytes &&
	    m_one_in(m, 3)) {
		m_remap(m, work->piece.bio, M_PARTITION, told->sector - M_PARTITION_START,
			told->sector);
		m->seen[MODEL_partition]++;
	}
	m_emit_range(m, ACT_QUEUE, dev, -1, work->piece.bio, work->piece.sector, work->piece.bytes);
	told = &m->bios[work->piece.bio].told;
	m_window_begins(m);
	work->what = W_GO;
	if (work->retried)
		return;
	told->queue_ns = m->now_ns;
	told->pid = th->pid;
	told->cpu = th->cpu;
	sum->queues++;
	m->seen[MODEL_flush_bio] += told->class == CLASS_FLUSH;
	m->seen[MODEL_discard] += told->class == CLASS_DISCARD;
	m->seen[MODEL_write_zeroes] += told->class == CLASS_WRITE_ZEROES;
	m->seen[MODEL_zone_append] += (told->flags & EV_ZONE_APPEND) != 0;
	if (told->bytes && m_one_in(m, 20)) {
		m_emit_range(m, ACT_BOUNCE, dev, -1, work->piece.bio, work->piece.sector,
			     work->piece.bytes);
		sum->bounces++;
		m->seen[MODEL_bounce]++;
	}
}

/* Cuts the front off: it comes next, the rest behind it. Two places of work are needed. */
static void m_split(struct model *m, struct m_thread *th, struct m_work *work, uint32_t sectors)
{
	struct m_work front = *work;
	enum model_device dev = m->bios[work->piece.bio].told.dev;
	struct event *ev;

	front.piece.bytes = front.piece.left = sectors * SECTOR_SIZE;
	work->piece.bytes = work->piece.left = work->piece.bytes - front.piece.bytes;
	work->piece.sector += sectors;
	work->piece.leads = false;
	ev = m_emit_range(m, ACT_SPLIT, dev, -1, front.piece.bio, front.piece.sector,
			  front.piece.bytes);
	ev->aux_sector = work->piece.sector;
	m->disks[dev].sum.splits++;
	m->seen[MODEL_split]++;
	m_push(th, &front);
}

/* ---- stacked devices ---- */

static void m_map(struct model *m, struct m_thread *th, const struct m_work *work)
{
	int bio = work->piece.bio, below;
	enum model_device upper = m->bios[bio].told.dev, dev;
	uint64_t sector = m_below(&m->bios[bio], work->piece.sector, &dev);
	struct m_work next = { .what = upper == M_MD ? W_GO : W_QUEUE };
	struct m_bio *b;

	below = m_new_bio(m, dev, m->bios[bio].told.class, m->bios[bio].told.flags, sector,
			  work->piece.bytes);
	b = &m->bios[bio];
	m->bios[below].parent = bio;
	m->bios[below].part = b->nr_parts;
	b->parts[b->nr_parts++] = (struct m_part){ .sector = work->piece.sector,
						   .bytes = work->piece.bytes,
						   .below = 1 };
	b->cut_all = work->piece.sector + work->piece.bytes / SECTOR_SIZE ==
		     b->told.sector + b->told.bytes / SECTOR_SIZE;
	next.piece = (struct m_piece){ .bio = below,
				       .sector = sector,
				       .bytes = work->piece.bytes,
				       .left = work->piece.bytes,
				       .leads = true };
	th->nr_work--;
	if (upper == M_BCACHE) {
		m->seen[MODEL_untold_below]++;
	} else if (upper == M_DM && dev == M_DISK) {
		/* by its partition: the first A names the disk as its target, or the partition */
		struct event *ev;

		m_remap(m, below, model_kinds[upper].number, work->piece.sector,
			sector - M_PARTITION_START);
		ev = &m->events[m->nr_events - 1].ev;
		if (m->options.features & MF_TRACEFS)
			ev->device = M_PARTITION;
		m_remap(m, below, M_PARTITION, sector - M_PARTITION_START, sector);
		m->seen[MODEL_chain]++;
	} else {
		m_remap(m, below, model_kinds[upper].number, work->piece.sector, sector);
	}
	m->seen[MODEL_mapped] += upper == M_DM;
	if (upper == M_MD) {
		struct io_bio *told = &m->bios[below].told;

		told->queue_ns = told->remap_ns;
		told->pid = th->pid;
		told->cpu = th->cpu;
		m->bios[below].unqueued = true;
		m->seen[MODEL_in_place]++;
	}
	m_push(th, &next);
	if (upper != M_MD && upper != M_BCACHE)
		m_queue(m, th, &th->work[th->nr_work - 1]);
}

/* ---- requests ---- */

static bool m_takes(const struct m_rq *r, const struct io_bio *told)
{
	return r->told.dev == told->dev && r->told.class == told->class && !r->machine &&
	       !r->ranges && !r->absorbed && !((r->flags | told->flags) & EV_ZONE_APPEND) &&
	       !((r->flags | told->flags) & (EV_FUA | EV_PREFLUSH)) && r->nr_pieces < M_PIECES &&
	       r->told.issue_ns == TIME_NONE && r->left < 128 * 512;
}

static bool m_fits(const struct m_rq *r, const struct io_bio *told, uint64_t sector, uint64_t end,
		   bool *back)
{
	*back = r->end == sector;
	return m_takes(r, told) && (*back || r->start == end);
}

/* A request of the thread's plug or of the scheduler that the piece fits to, or -1. */
static int m_merge_target(struct model *m, const struct m_thread *th, const struct m_piece *piece,
			  bool *back)
{
	const struct io_bio *told = &m->bios[piece->bio].told;
	uint64_t end = piece->sector + piece->bytes / SECTOR_SIZE;

	/* in its plug, the last one first */
	for (int i = th->nr_plug - 1; i >= 0; i--)
		if (m_fits(&m->rqs[th->plug[i]], told, piece->sector, end, back))
			return th->plug[i];
	for (int i = 0; i < m->nr_rqs; i++)
		if (m_in_scheduler(&m->rqs[i]) &&
		    m_fits(&m->rqs[i], told, piece->sector, end, back))
			return i;
	return -1;
}

static void m_merge(struct model *m, int rq, const struct m_piece *piece, bool back)
{
	struct m_rq *r;
	struct io_bio *told;
	struct m_sum *sum = &m->disks[m->rqs[rq].told.dev].sum;

	m_emit_range(m, back ? ACT_BACKMERGE : ACT_FRONTMERGE, m->rqs[rq].told.dev, rq, piece->bio,
		     piece->sector, piece->bytes);
	r = &m->rqs[rq];
	told = &m->bios[piece->bio].told;
	if (m->bios[piece->bio].unqueued) {
		m_window_begins(m);
		m->bios[piece->bio].seen_ns = m->now_ns;
		m->disks[told->dev].sum.remapped_in++;
	}
	m_take_piece(r, piece, back ? r->nr_pieces : 0);
	*(back ? &sum->back_merges : &sum->front_merges) += 1;
	m->seen[back ? MODEL_back_merge : MODEL_front_merge]++;
	if (back)
		r->end += piece->bytes / SECTOR_SIZE;
	else
		r->start = piece->sector;
	r->left += piece->bytes;
	r->told.merge_ns = m->now_ns;
	if (told->merge_ns == TIME_NONE)
		told->merge_ns = m->now_ns;
}

/* Discards of several ranges: the next one joins the last one of the plug, and no event tells. */
static bool m_join_ranges(struct model *m, struct m_thread *th, const struct m_piece *piece)
{
	const struct io_bio *told = &m->bios[piece->bio].told;
	struct m_rq *r = th->nr_plug ? &m->rqs[th->plug[th->nr_plug - 1]] : NULL;

	if (told->class != CLASS_DISCARD || !model_kinds[told->dev].ranges || !r ||
	    r->told.dev != told->dev || r->told.class != CLASS_DISCARD || r->nr_pieces > 8)
		return false;
	m_take_piece(r, piece, r->nr_pieces);
	r->left += piece->bytes;
	r->end += piece->bytes / SECTOR_SIZE;
	r->ranges = true;
	m->seen[MODEL_ranges]++;
	return true;
}

static void m_plug(struct model *m, struct m_thread *th, int rq)
{
	struct m_rq *r = &m->rqs[rq];

	r->state = M_PLUGGED;
	r->thread = (int)(th - m->threads);
	m->seen[MODEL_plug_of_fua] += (r->flags & EV_FUA) != 0;
	th->plug[th->nr_plug++] = rq;
	if (th->nr_plug == 1)
		m_emit(m, ACT_PLUG, r->told.dev, -1, -1);
}

static void m_get(struct model *m, struct m_thread *th, const struct m_piece *piece)
{
	const struct io_bio *told = &m->bios[piece->bio].told;
	const struct model_kind *kind = &model_kinds[told->dev];
	enum model_device dev = told->dev;
	struct m_rq *r;
	int rq;

	if (told->bytes && !m->bios[piece->bio].unqueued && m_one_in(m, 12)) {
		m_emit_range(m, ACT_SLEEPRQ, dev, -1, piece->bio, piece->sector, piece->bytes);
		if (m->bios[piece->bio].told.sleep_ns == TIME_NONE)
			m->bios[piece->bio].told.sleep_ns = m->now_ns;
		m->seen[MODEL_sleep]++;
	}
	told = &m->bios[piece->bio].told;
	rq = m_new_rq(m, dev, told->class, told->flags, piece->sector, piece->bytes);
	m_take_piece(&m->rqs[rq], piece, 0);
	m_emit_range(m, ACT_GETRQ, dev, rq, piece->bio, piece->sector, piece->bytes);
	told = &m->bios[piece->bio].told;
	r = &m->rqs[rq];
	r->told.get_ns = m->now_ns;
	r->told.pid = told->pid;
	if (m->bios[piece->bio].unqueued) {
		m_window_begins(m);
		m->bios[piece->bio].seen_ns = m->now_ns;
		m->disks[told->dev].sum.remapped_in++;
	}
	if (piece->leads)
		m->bios[piece->bio].told.get_ns = m->now_ns;
	m->disks[dev].sum.getrqs++;
	r->pre = told->flags & EV_PREFLUSH;
	r->data = told->bytes;
	r->post = told->bytes && told->flags & EV_FUA && !kind->fua;
	r->machine = r->pre || r->post;
	r->absorbed = !told->bytes; /* never told of */
	m->seen[MODEL_preflush] += r->pre;
	m->seen[MODEL_postflush] += r->post;
	m->seen[MODEL_native_fua] += !r->machine && told->flags & EV_FUA;
	if (r->machine) {
		r->flags &= ~(kind->fua ? EV_PREFLUSH : EV_PREFLUSH | EV_FUA);
		m_next_stage(m, rq);
	} else if (th->plugging) {
		m_plug(m, th, rq);
	} else if (kind->scheduler || m_one_in(m, 4)) {
		m_insert(m, rq);
	} else {
		m_issue(m, rq);
	}
}

/* The plug is emptied, device by device. */
static void m_unplug(struct model *m, struct m_thread *th)
{
	bool tracefs = m->options.features & MF_TRACEFS;
	uint64_t unplug_ns = TIME_NONE;

	for (int dev = 0; dev < M_DEVICES; dev++) {
		bool told = false;

		for (int i = 0; i < th->nr_plug; i++) {
			struct m_rq *r = &m->rqs[th->plug[i]];

			if (r->told.dev != dev)
				continue;
			if (!told) {
				struct event *ev = m_emit(m, ACT_UNPLUG, dev, -1, -1);

				if (tracefs)
					ev->device = 0;
				if (!tracefs || unplug_ns == TIME_NONE)
					unplug_ns = m->now_ns;
				told = true;
			}
			r = &m->rqs[th->plug[i]];
			r->told.unplug_ns = unplug_ns;
			m_to_queue(m, th->plug[i]);
			m->seen[MODEL_plug]++;
		}
	}
	/* What ends where one of them begins may be in the scheduler. */
	for (int i = 0; i < th->nr_plug; i++) {
		int rq = th->plug[i];

		for (int k = 0; k < m->nr_rqs; k++) {
			struct m_rq *r = &m->rqs[rq], *before = &m->rqs[k];

			if (r->state == M_TO_INSERT && r->told.class != CLASS_DISCARD &&
			    !r->machine && !(r->flags & (EV_FUA | EV_ZONE_APPEND)) &&
			    m_in_scheduler(before) && before->end == r->start &&
			    before->told.dev == r->told.dev &&
			    before->told.class == r->told.class &&
			    before->nr_pieces + r->nr_pieces <= M_PIECES) {
				m_absorb(m, k, rq);
				m->seen[MODEL_insert_merge]++;
			}
		}
		if (m->rqs[rq].state == M_TO_INSERT)
			m_insert(m, rq);
	}
	th->nr_plug = 0;
	th->plugging = false;
}

/* A NOWAIT attempt ends at once; a worker brings it again. */
static void m_nowait_fails(struct model *m, struct m_thread *th, const struct m_work *work)
{
	struct m_work again = *work;
	struct event *ev = m_emit_range(m, ACT_BIO_COMPLETE, m->bios[work->piece.bio].told.dev, -1,
					work->piece.bio, work->piece.sector, work->piece.bytes);

	ev->error = -11;
	th->nr_work--;
	again.what = W_QUEUE;
	again.retried = true;
	m->disks[m->bios[work->piece.bio].told.dev].sum.retries++;
	m->seen[MODEL_nowait]++;
	m_push(&m->threads[M_THREADS - 1], &again);
}

/* A thread goes on with what it does last. */
static void m_go(struct model *m, struct m_thread *th)
{
	struct m_work *work = &th->work[th->nr_work - 1];
	struct m_piece piece = work->piece;
	const struct io_bio *told = &m->bios[piece.bio].told;
	const struct model_kind *kind = &model_kinds[told->dev];
	uint32_t sectors = piece.bytes / SECTOR_SIZE, room = kind->limit;
	bool back;
	int rq;

	if (kind->stacked)
		room = M_STRIPE - (uint32_t)(piece.sector % M_STRIPE);
	if (!(told->flags & EV_ZONE_APPEND) && told->class != CLASS_DISCARD && sectors > room) {
		m_split(m, th, work, room);
		return;
	}
	if (kind->stacked) {
		m_map(m, th, &th->work[th->nr_work - 1]);
		return;
	}
	if (told->flags & EV_NOWAIT && !work->retried && sectors * SECTOR_SIZE == told->bytes &&
	    th != &m->threads[M_THREADS - 1] && m->threads[M_THREADS - 1].nr_work < 8 &&
	    m_one_in(m, 2)) {
		m_nowait_fails(m, th, work);
		return;
	}
	th->nr_work--;
	if (m_join_ranges(m, th, &piece))
		return;
	rq = told->class == CLASS_DISCARD && kind->ranges ? -1
							  : m_merge_target(m, th, &piece, &back);
	if (rq >= 0)
		m_merge(m, rq, &piece, back);
	else
		m_get(m, th, &piece);
}

/* Some thread does something; false: it has nothing to do. */
static bool m_thread_step(struct model *m)
{
	struct m_thread *th = &m->threads[m_random(m, M_THREADS)];
	struct m_work *work = th->nr_work ? &th->work[th->nr_work - 1] : NULL;
	bool more = m->nr_top < m->options.nr_bios && th != &m->threads[M_THREADS - 1];

	m->pid = th->pid;
	m->cpu = th->cpu;
	if (!work && th->nr_plug && (m_one_in(m, 4) || !more || th->nr_plug > 12)) {
		m_unplug(m, th);
		return true;
	}
	if (!work) {
		th->plugging |= m_one_in(m, 4);
		return more && m_new_io(m, th);
	}
	if (th->nr_plug > 14)
		m_unplug(m, th);
	else if (work->what == W_QUEUE)
		m_queue(m, th, work);
	else
		m_go(m, th);
	return true;
}
