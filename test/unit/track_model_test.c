/* SPDX-License-Identifier: MIT
 *
 * Random legal histories of a simulated block layer (track_model.h): the tracker recovers what happened,
 * to the nanosecond. TRACK_SEEDS histories (otherwise SEEDS), from TRACK_FIRST on.
 */
#include "track_model_got.h"

#ifdef __SANITIZE_ADDRESS__ /* several times as slow */
#define SEEDS 500
#else
#define SEEDS 2000
#endif

#define SAME(field) differs(v, what, #field, id, (uint64_t)got->field, (uint64_t)want->field)

static void same_bio(struct verdict *v, const struct io_bio *got, const struct io_bio *want)
{
	const char *what = "bio queued at";
	uint64_t id = want->queue_ns;

	SAME(remap_ns);
	SAME(queue_ns);
	SAME(get_ns);
	SAME(merge_ns);
	SAME(sleep_ns);
	SAME(insert_ns);
	SAME(issue_ns);
	SAME(last_issue_ns);
	SAME(data_ns);
	SAME(complete_ns);
	SAME(sector);
	SAME(bytes);
	SAME(pid);
	SAME(cpu);
	SAME(class);
	SAME(error);
	SAME(flags);
	SAME(lost);
}

static void same_io(struct verdict *v, const struct io *got, const struct io *want)
{
	const char *what = "request ended at";
	uint64_t id = want->end_ns;

	SAME(remap_ns);
	SAME(queue_ns);
	SAME(get_ns);
	SAME(merge_ns);
	SAME(unplug_ns);
	SAME(insert_ns);
	SAME(issue_ns);
	SAME(last_issue_ns);
	SAME(complete_ns);
	SAME(end_ns);
	SAME(attempt_lost_ns);
	SAME(requeue_wait_ns);
	SAME(data_from_ns);
	SAME(preflush_ns);
	SAME(postflush_ns);
	SAME(preflush_wait_ns);
	SAME(postflush_wait_ns);
	SAME(sector);
	SAME(bytes);
	SAME(pid);
	SAME(nr_bios);
	SAME(attempts);
	SAME(cpu);
	SAME(depth_at_issue);
	SAME(class);
	SAME(error);
	SAME(flags);
	SAME(crosses_loss);
	SAME(lost);
}

static const struct io_bio *bio_at(const struct got *got, const struct m_bio *want)
{
	for (size_t i = 0; i < got->nr_bios; i++)
		if (got->bios[i].queue_ns == want->told.queue_ns &&
		    device_of(got, got->bios[i].dev) == want->told.dev)
			return &got->bios[i];
	return NULL;
}

static const struct io *io_at(const struct got *got, const struct m_rq *want)
{
	for (size_t i = 0; i < got->nr_ios; i++)
		if (got->ios[i].end_ns == want->told.end_ns)
			return &got->ios[i];
	return NULL;
}

static bool has_alike(const struct model *m, const struct m_rq *rq)
{
	for (int i = 0; i < rq->nr_pieces; i++)
		if (m->bios[rq->pieces[i].bio].alike)
			return true;
	return false;
}

/* What nothing in the events can tell apart may be left out, and nothing else. (Of two equal writes the
 * plain one may be taken for the one of the flush machine, which then waits for an end for ever.) */
static bool may_doubt(const struct model *m, const struct m_rq *want)
{
	if (want->alike || want->told.class == CLASS_PASSTHROUGH || has_alike(m, want))
		return true;
	for (int i = 0; want->machine && i < m->nr_rqs; i++) {
		const struct m_rq *o = &m->rqs[i];

		if (o->told.dev == want->told.dev && o->told.flags & (EV_FUA | EV_PREFLUSH) &&
		    o->start <= want->end && want->told.sector <= o->end && has_alike(m, o))
			return true;
	}
	return false;
}

static void all_bios(struct verdict *v, const struct model *m, const struct got *got,
		     bool *doubtful)
{
	const char *what = "bio queued at";
	size_t ended = 0;

	for (int i = 0; i < m->nr_bios; i++) {
		const struct m_bio *want = &m->bios[i];
		const struct io_bio *bio = bio_at(got, want);

		ended += want->ended;
		if (!bio != !want->ended && !doubtful[i])
			differs(v, what, "end", want->told.queue_ns, bio != NULL, want->ended);
		if (!bio || (bio->left_out && doubtful[i]) || !want->ended)
			continue;
		differs(v, what, "left_out", want->told.queue_ns, bio->left_out, false);
		same_bio(v, bio, &want->told);
	}
	if (!(m->options.features & MF_OVERLAP))
		differs(v, "bios", "number", 0, got->nr_bios, ended);
}

static void all_requests(struct verdict *v, const struct model *m, const struct got *got)
{
	const char *what = "request ended at";
	size_t ended = 0;

	for (int i = 0; i < m->nr_rqs; i++) {
		const struct m_rq *want = &m->rqs[i];
		const struct io *io;

		if (want->absorbed || want->state != M_ENDED)
			continue;
		ended++;
		io = io_at(got, want);
		if (may_doubt(m, want) && (!io || io->ambiguous))
			continue;
		if (differs(v, what, "end", want->told.end_ns, io != NULL, true))
			continue;
		differs(v, what, "ambiguous", want->told.end_ns, io->ambiguous, false);
		same_io(v, io, &want->told);
	}
	if (!(m->options.features & MF_OVERLAP))
		differs(v, "requests", "number", 0, got->nr_ios, ended);
}

/* A bio whose request may be taken for another one's, or one above or below it. */
static bool *find_doubtful(const struct model *m)
{
	bool *doubtful = mem_zalloc((size_t)m->nr_bios + 1);

	for (int i = 0; i < m->nr_bios; i++)
		doubtful[i] = m->bios[i].alike;
	for (int i = 0; i < m->nr_rqs; i++)
		for (int k = 0; may_doubt(m, &m->rqs[i]) && k < m->rqs[i].nr_pieces; k++)
			doubtful[m->rqs[i].pieces[k].bio] = true;
	for (int i = 0; i < m->nr_bios; i++)
		if (m->bios[i].parent >= 0 && doubtful[i])
			doubtful[m->bios[i].parent] = true;
	return doubtful;
}

/* ---- the sums ---- */

/* Time of [from, to) that is in the window. */
static uint64_t inside(const struct model *m, uint64_t from_ns, uint64_t to_ns)
{
	if (m->last_complete_ns == TIME_NONE)
		return 0;
	if (from_ns < m->begin_ns)
		from_ns = m->begin_ns;
	if (to_ns > m->last_complete_ns)
		to_ns = m->last_complete_ns;
	return to_ns > from_ns ? to_ns - from_ns : 0;
}

static double area_of(const struct model *m, int dev)
{
	double area = 0;

	for (int i = 0; i < m->nr_attempts; i++)
		if ((int)m->attempts[i].dev == dev)
			area += (double)inside(m, m->attempts[i].from_ns, m->attempts[i].to_ns);
	for (int i = 0; i < m->nr_rqs; i++)
		if (m->rqs[i].told.dev == dev && m->rqs[i].state == M_ISSUED)
			area += (double)inside(m, m->rqs[i].told.last_issue_ns, TIME_NONE);
	return area;
}

static double area_of_steps(const struct steps *steps)
{
	double area = 0;

	for (size_t i = 0; i < steps->nr; i++)
		area += steps->steps[i].area;
	return area;
}

struct edge {
	uint64_t at_ns;
	int by;
};

static int by_time(const void *a, const void *b)
{
	const struct edge *x = a, *y = b;

	return (x->at_ns > y->at_ns) - (x->at_ns < y->at_ns);
}

/* For how long at least one of these was open. */
static uint64_t union_of(struct edge *edges, size_t nr)
{
	uint64_t ns = 0;
	int open = 0;

	if (nr)
		qsort(edges, nr, sizeof(*edges), by_time);
	for (size_t i = 0; i < nr; i++) {
		if (open)
			ns += edges[i].at_ns - edges[i - 1].at_ns;
		open += edges[i].by;
	}
	return ns;
}

static size_t add_edges(const struct model *m, struct edge *edges, size_t nr, uint64_t from_ns,
			uint64_t to_ns)
{
	if (!inside(m, from_ns, to_ns))
		return nr;
	if (from_ns < m->begin_ns)
		from_ns = m->begin_ns;
	edges[nr++] = (struct edge){ from_ns, 1 };
	edges[nr++] = (struct edge){ from_ns + inside(m, from_ns, to_ns), -1 };
	return nr;
}

static void same_times(struct verdict *v, const struct model *m, const struct device_sum *sum,
		       int dev)
{
	struct edge *edges = mem_resize(NULL, (size_t)(m->nr_attempts + m->nr_rqs + m->nr_bios) * 2,
					sizeof(*edges));
	const char *name = "device";
	size_t nr = 0;
	uint64_t busy_ns, open_ns, window_ns = inside(m, 0, TIME_NONE);

	for (int i = 0; i < m->nr_attempts; i++)
		if ((int)m->attempts[i].dev == dev)
			nr = add_edges(m, edges, nr, m->attempts[i].from_ns, m->attempts[i].to_ns);
	for (int i = 0; i < m->nr_rqs; i++)
		if (m->rqs[i].told.dev == dev && m->rqs[i].state == M_ISSUED)
			nr = add_edges(m, edges, nr, m->rqs[i].told.last_issue_ns, TIME_NONE);
	busy_ns = union_of(edges, nr);
	for (int i = 0; i < m->nr_bios; i++) {
		const struct m_bio *b = &m->bios[i];

		if (b->told.dev == dev && b->told.queue_ns != TIME_NONE && !b->unqueued)
			nr = add_edges(m, edges, nr, b->told.queue_ns, b->told.complete_ns);
		/* known of from its G, M on */
		if (b->told.dev == dev && b->unqueued && b->seen_ns)
			nr = add_edges(m, edges, nr, b->seen_ns, b->told.complete_ns);
	}
	for (int i = 0; i < m->nr_rqs; i++)
		if (m->rqs[i].told.dev == dev && m->rqs[i].told.issue_ns != TIME_NONE &&
		    !m->rqs[i].nr_pieces)
			nr = add_edges(m, edges, nr, m->rqs[i].told.issue_ns,
				       m->rqs[i].told.end_ns);
	open_ns = union_of(edges, nr);
	differs(v, name, "busy_ns", (uint64_t)dev, sum->busy_ns, busy_ns);
	differs(v, name, "held_ns", (uint64_t)dev, sum->held_ns, open_ns - busy_ns);
	differs(v, name, "all times", (uint64_t)dev, sum->busy_ns + sum->held_ns + sum->idle_ns,
		window_ns);
	differs(v, name, "depth_area", (uint64_t)dev, (uint64_t)sum->depth_area,
		(uint64_t)area_of(m, dev));
	differs(v, name, "area of depth_steps", (uint64_t)dev,
		(uint64_t)area_of_steps(&sum->depth_steps), (uint64_t)sum->depth_area);
	free(edges);
}

static uint64_t bytes_of(const struct class_count *counts)
{
	uint64_t bytes = 0;

	for (int c = CLASS_READ; c < CLASS_NR; c++)
		if (c != CLASS_PASSTHROUGH)
			bytes += counts[c].bytes;
	return bytes;
}

static uint64_t sum_of(const struct class_count *counts, bool flush)
{
	uint64_t n = 0;

	for (int c = CLASS_READ; c < CLASS_NR; c++)
		if (c != CLASS_PASSTHROUGH && (flush || c != CLASS_FLUSH))
			n += counts[c].count;
	return n;
}

static void same_sums(struct verdict *v, const struct model *m, const struct got *got)
{
	const char *what = "device";

	for (size_t i = 0; i < got->sum.nr_devices; i++) {
		const struct device_sum *sum = &got->sum.devices[i];
		int dev = device_of(got, (unsigned int)i);
		uint64_t id = (uint64_t)dev, completed = 0, errors = 0;
		const struct m_sum *want;

		if (dev == M_DEVICES)
			continue; /* a partition: nothing but the target of an A */
		want = &m->disks[dev].sum;
		for (int c = CLASS_READ; c < CLASS_NR; c++)
			completed += c == CLASS_PASSTHROUGH ? 0 : sum->completed_bytes[c];
		for (uint64_t k = 0; k < sum->nr_errors; k++)
			errors += sum->errors[k].count;
#define SUM(field, value) differs(v, what, field, id, value, want->
		SUM("bios", sum_of(sum->bios, true)) queues);
		SUM("splits", sum->splits) splits);
		SUM("getrqs", sum->getrqs) getrqs);
		SUM("back_merges", sum->back_merges) back_merges);
		SUM("front_merges", sum->front_merges) front_merges);
		SUM("rq_merges", sum->rq_merges) rq_merges);
		SUM("nowait_retries", sum->nowait_retries) retries);
		SUM("bounces", sum->bounces) bounces);
		SUM("requeues_busy", sum->requeues_busy) requeues_busy);
		SUM("requeues_failed", sum->requeues_failed) requeues_failed);
		SUM("hazards", sum->hazards.count) hazards);
		SUM("hazard bytes", sum->hazards.bytes) hazard_bytes);
		SUM("flush_stages", sum->flush_stages) flush_stages);
		SUM("flush_writes", sum->flush_writes) flush_writes);
		SUM("requests", sum_of(sum->requests, false)) requests);
		SUM("flush commands", sum->requests[CLASS_FLUSH].count) flush_commands);
		SUM("issued bytes", bytes_of(sum->requests)) issued_bytes);
		SUM("completed bytes", completed) completed_bytes);
		SUM("remapped_in", sum->remapped_in) remapped_in);
		SUM("errors", errors) errors);
		SUM("depth_max", sum->depth_max) depth_max);
#undef SUM
		differs(v, what, "orphans", id,
			sum->orphan_completes + sum->orphan_issues + sum->orphan_merges, 0);
		differs(v, what, "double_completions", id, sum->double_completions, 0);
		differs(v, what, "class_mismatches", id, sum->class_mismatches, 0);
		differs(v, what, "aged_out", id, sum->aged_out, 0);
		same_times(v, m, sum, dev);
	}
}

/* ---- one history ---- */

static int check(const struct model_options *options, bool loud, int *seen)
{
	bool *doubtful;
	struct verdict v = { .loud = loud };
	struct event *events;
	struct model m;
	struct got got;

	model_run(&m, options);
	events = events_of(&m);
	got_init(&got);
	track(&got, events, m.nr_events);
	doubtful = find_doubtful(&m);
	all_bios(&v, &m, &got, doubtful);
	all_requests(&v, &m, &got);
	if (!(options->features & MF_OVERLAP))
		same_sums(&v, &m, &got);
	free(doubtful);
	for (int i = 0; seen && i < MODEL_NR; i++)
		seen[i] += m.seen[i];
	if (loud && v.wrong)
		model_print(&m);
	got_release(&got);
	model_release(&m);
	free(events);
	return v.wrong;
}

/* Fails with the shortest history of this seed that is wrong. */
static void check_or_fail(struct model_options options, int *seen)
{
	int most = options.nr_bios;

	if (!check(&options, false, seen))
		return;
	for (options.nr_bios = 1; options.nr_bios < most; options.nr_bios++)
		if (check(&options, false, NULL))
			break;
	check(&options, true, NULL);
	fail_msg("seed %llu, %d bios, features %d", (unsigned long long)options.seed,
		 options.nr_bios, options.features);
}

static void all_seen(const int *seen)
{
	static const char *const names[] = {
#define X(name) #name,
		MODEL_FEATURES(X)
#undef X
	};

	for (int i = 0; i < MODEL_NR; i++)
		if (!seen[i])
			fail_msg("no history had: %s", names[i]);
}

static void recovered(void **state)
{
	uint64_t first = number("TRACK_FIRST", 0), nr = number("TRACK_SEEDS", SEEDS);
	int seen[MODEL_NR] = { 0 };

	(void)state;
	for (uint64_t seed = first; seed < first + nr; seed++)
		check_or_fail((struct model_options){ .seed = seed,
						      .nr_bios = 1 + (int)(seed * 7 % 60),
						      .features = (int)(seed % 8) },
			      seen);
	if (nr >= SEEDS)
		all_seen(seen);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(recovered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
