/* SPDX-License-Identifier: MIT
 *
 * Part of track_model.h: attempts, and the flush machine with its one command at a time.
 */

static void m_pend(struct model *m, int rq)
{
	struct m_disk *d = &m->disks[m->rqs[rq].told.dev];

	m->rqs[rq].state = M_IN_MACHINE;
	m->rqs[rq].stage_ns = m->now_ns;
	d->pending[d->nr_pending++] = rq;
}

static void m_to_queue(struct model *m, int rq)
{
	struct m_rq *r = &m->rqs[rq];

	r->state = model_kinds[r->told.dev].scheduler && !r->inserted ? M_TO_INSERT : M_QUEUED;
}

/* Does a sequence whose data is done begin or end where this one does? */
static void m_look_for_alike(struct model *m, int rq)
{
	struct m_rq *r = &m->rqs[rq];

	for (int i = 0; i < m->nr_rqs; i++) {
		struct m_rq *o = &m->rqs[i];

		if (i == rq || o->told.dev != r->told.dev || !o->machine || o->absorbed ||
		    o->state == M_ENDED || o->told.complete_ns == TIME_NONE)
			continue;
		if (o->told.sector == r->told.sector || o->told.sector == r->end ||
		    o->end == r->told.sector || o->end == r->end)
			o->alike = r->alike = true;
	}
}

/* The zero-length C. */
static void m_sequence_ends(struct model *m, int rq)
{
	struct m_rq *r = &m->rqs[rq];
	uint64_t sector = m->end_at_start ? r->told.sector : r->end;
	struct event *ev;
	int bio = r->pieces[0].bio;

	if (!m->bios[bio].told.bytes)
		sector = m->bios[bio].told.sector;
	ev = m_emit(m, ACT_COMPLETE, r->told.dev, rq, bio);
	r = &m->rqs[rq];
	ev->sector = sector;
	ev->class = CLASS_WRITE;
	ev->flags = r->flags | EV_WRITE;
	ev->error = r->bad;
	if (!m->bios[bio].told.bytes) { /* a flush bio is no request */
		r->state = M_ENDED;
		m_bio_ended(m, bio);
		return;
	}
	m_look_for_alike(m, rq);
	m_rq_ended(m, rq);
	for (int i = 0; i < m->rqs[rq].nr_pieces; i++)
		m_piece_ends(m, &m->rqs[rq].pieces[i], m->rqs[rq].pieces[i].left,
			     m->rqs[rq].told.error);
}

static void m_next_stage(struct model *m, int rq)
{
	struct m_rq *r = &m->rqs[rq];

	if (r->pre) {
		m_pend(m, rq);
	} else if (r->data) {
		m->disks[r->told.dev].data_in_flight++;
		m_to_queue(m, rq);
	} else if (r->post) {
		m_pend(m, rq);
	} else {
		m_sequence_ends(m, rq);
	}
}

static void m_depth(struct model *m, int rq, bool begins)
{
	const struct m_rq *r = &m->rqs[rq];
	struct m_sum *sum = &m->disks[r->told.dev].sum;

	if (!begins) {
		m->attempts = mem_grow(m->attempts, (size_t)m->nr_attempts, sizeof(*m->attempts));
		m->attempts[m->nr_attempts++] = (struct m_attempt){
			.from_ns = r->told.last_issue_ns, .to_ns = m->now_ns, .dev = r->told.dev
		};
	}
	sum->depth += begins ? 1 : -1u;
	if (sum->depth > sum->depth_max)
		sum->depth_max = sum->depth;
}

/* Of any request; m->now_ns is the time of its D. */
static void m_attempt_begins(struct model *m, int rq)
{
	struct m_rq *r = &m->rqs[rq];
	struct io *told = &r->told;

	if (told->issue_ns == TIME_NONE) {
		told->issue_ns = m->now_ns;
		told->cpu = m->cpu;
	} else {
		told->requeue_wait_ns += m->now_ns - r->requeue_ns;
	}
	told->last_issue_ns = m->now_ns;
	told->attempts++;
	r->state = M_ISSUED;
	m_window_begins(m);
	m_depth(m, rq, true);
	told->depth_at_issue = (uint16_t)m->disks[told->dev].sum.depth;
}

static void m_requeue(struct model *m, int rq)
{
	struct m_rq *r = &m->rqs[rq];
	struct m_sum *sum = &m->disks[r->told.dev].sum;
	uint64_t lost_ns;

	m_emit_rq(m, ACT_REQUEUE, rq);
	r = &m->rqs[rq];
	lost_ns = m->now_ns - r->told.last_issue_ns;
	r->told.attempt_lost_ns += lost_ns;
	r->requeue_ns = m->now_ns;
	r->requeued = true;
	*(lost_ns < 1000000 ? &sum->requeues_busy : &sum->requeues_failed) += 1;
	m->seen[lost_ns < 1000000 ? MODEL_requeue_busy : MODEL_requeue_failed]++;
	m->seen[MODEL_requeue_of_rest] += r->at_parts;
	m->seen[MODEL_requeue_of_flush] += r->told.class == CLASS_FLUSH;
	m_depth(m, rq, false);
	r->state = M_QUEUED;
}

static void m_command_begins(struct model *m, enum model_device dev)
{
	struct m_disk *d = &m->disks[dev];
	int rq = d->command;

	if (rq < 0) {
		rq = d->command = m_new_rq(m, dev, CLASS_FLUSH, EV_PREFLUSH, 0, 0);
		memcpy(d->running, d->pending, sizeof(d->running));
		d->nr_running = d->nr_pending;
		d->nr_pending = 0;
		d->sum.flush_commands++;
		d->sum.flush_stages += (uint64_t)d->nr_running;
		m->seen[MODEL_shared_flush] += d->nr_running > 1;
		m->rqs[rq].told.pid = m->pid;
	}
	m_emit_rq(m, ACT_ISSUE, rq);
	m_attempt_begins(m, rq);
	for (int i = 0; i < d->nr_running && m->rqs[rq].told.attempts == 1; i++) {
		struct m_rq *r = &m->rqs[d->running[i]];
		uint64_t *waited = r->pre ? &r->told.preflush_wait_ns : &r->told.postflush_wait_ns;

		*waited = m->now_ns - r->stage_ns;
		r->stage_ns = m->now_ns;
	}
}

static void m_command_ends(struct model *m, enum model_device dev)
{
	struct m_disk *d = &m->disks[dev];
	int rq = d->command, nr = d->nr_running, running[128];
	struct event *ev = m_emit_rq(m, ACT_COMPLETE, rq);

	if (m->options.features & MF_TRACEFS)
		ev->sector = SECTOR_NONE;
	m_depth(m, rq, false);
	m_rq_ended(m, rq);
	d->command = -1;
	d->nr_running = 0;
	memcpy(running, d->running, sizeof(running));
	for (int i = 0; i < nr; i++) {
		struct m_rq *r = &m->rqs[running[i]];

		if (r->pre) {
			r->pre = false;
			r->told.preflush_ns = m->rqs[rq].told.end_ns - r->stage_ns;
			r->told.data_from_ns = m->rqs[rq].told.end_ns;
		} else {
			r->post = false;
			r->told.postflush_ns = m->rqs[rq].told.end_ns - r->stage_ns;
		}
		m_next_stage(m, running[i]);
	}
}

static bool m_machine_step(struct model *m, enum model_device dev)
{
	struct m_disk *d = &m->disks[dev];
	struct m_rq *command = d->command >= 0 ? &m->rqs[d->command] : NULL;

	if (!command) {
		if (!d->nr_pending || (d->data_in_flight && !m_one_in(m, 8)))
			return false;
		m_command_begins(m, dev);
	} else if (command->state == M_QUEUED) {
		m_command_begins(m, dev);
	} else if (m_one_in(m, 6)) {
		m_requeue(m, d->command);
	} else {
		m_command_ends(m, dev);
	}
	return true;
}
