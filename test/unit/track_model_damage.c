/* SPDX-License-Identifier: MIT
 *
 * Random histories (track_model.h) that lose events, or have them twice or in another order: what the
 * tracker hands out as ended has the times that it had, or none; and nothing disappears uncounted.
 * TRACK_SEEDS histories of each kind of damage (otherwise SEEDS), from TRACK_FIRST on.
 */
#include "track_model_got.h"

#ifdef __SANITIZE_ADDRESS__ /* several times as slow */
#define SEEDS 100
#else
#define SEEDS 400
#endif

enum damage { ONE, SOME, WINDOW, WINDOW_OF_CPU, KNOWN, KNOWN_OF_CPU, TWICE, MOVED, CUT, DAMAGES };

static const char *const damage_names[DAMAGES] = {
	"one event lost",         "some events lost",    "a window lost",
	"a window of a CPU lost", "a known window lost", "one of a CPU",
	"some come twice",        "some come late",      "cut at both ends",
};

/* The events that are left, in their order, and whether each one of the history is. */
struct damaged {
	struct event *events; /* owned arrays */
	bool *lost;
	int nr;
	bool several;     /* more than one event is lost or moved, nobody knows where */
	struct loss loss; /* to_ns 0: none is known */
};

static void take(struct damaged *d, const struct model *m, int i)
{
	d->events[d->nr++] = m->events[i].ev;
}

static void lose_some(struct damaged *d, struct model *m, int nr)
{
	for (; nr; nr--)
		d->lost[m_random(m, (uint64_t)m->nr_events)] = true;
}

static void lose_window(struct damaged *d, struct model *m, enum damage kind)
{
	int from = (int)m_random(m, (uint64_t)m->nr_events);
	int to = from + 3 + (int)m_random(m, 60);
	uint16_t cpu = (uint16_t)m_random(m, M_THREADS);
	bool of_cpu = kind == WINDOW_OF_CPU || kind == KNOWN_OF_CPU;

	if (to > m->nr_events)
		to = m->nr_events;
	for (int i = from; i < to; i++)
		d->lost[i] = !of_cpu || m->events[i].ev.cpu == cpu;
	if (kind != KNOWN && kind != KNOWN_OF_CPU)
		return;
	d->loss = (struct loss){ .cpu = of_cpu ? cpu : 0,
				 .from_ns = from ? m->events[from - 1].ev.time_ns : 0,
				 .to_ns = to < m->nr_events ? m->events[to].ev.time_ns
							    : m->now_ns + 1 };
}

static void cut(struct damaged *d, struct model *m)
{
	int from = (int)m_random(m, (uint64_t)m->nr_events / 2 + 1);
	int to = m->nr_events - (int)m_random(m, (uint64_t)m->nr_events / 2 + 1);

	for (int i = 0; i < m->nr_events; i++)
		d->lost[i] = i < from || i >= to;
}

/* Some events come a few places later than they should. */
static void move(struct damaged *d, struct model *m)
{
	for (int n = 1 + (int)m_random(m, 4); n; n--) {
		int from = (int)m_random(m, (uint64_t)d->nr), to = from + 1 + (int)m_random(m, 2);
		struct event ev = d->events[from];

		if (to >= d->nr)
			continue;
		memmove(&d->events[from], &d->events[from + 1],
			(size_t)(to - from) * sizeof(*d->events));
		d->events[to] = ev;
	}
}

static void damage(struct damaged *d, struct model *m, enum damage kind)
{
	*d = (struct damaged){ .events =
				       mem_zalloc((size_t)m->nr_events * 2 * sizeof(struct event)),
			       .lost = mem_zalloc((size_t)m->nr_events),
			       .several =
				       kind == MOVED || (kind >= SOME && kind <= WINDOW_OF_CPU) };
	if (kind == ONE || kind == SOME)
		lose_some(d, m, kind == ONE ? 1 : 2 + (int)m_random(m, 6));
	else if (kind >= WINDOW && kind <= KNOWN_OF_CPU)
		lose_window(d, m, kind);
	else if (kind == CUT)
		cut(d, m);
	for (int i = 0; i < m->nr_events; i++) {
		if (d->lost[i])
			continue;
		take(d, m, i);
		/* (an A that comes twice begins another chain, a zero-length C ends another one) */
		if (kind == TWICE && m->events[i].ev.action != ACT_REMAP &&
		    (m->events[i].ev.action != ACT_COMPLETE || m->events[i].ev.bytes) &&
		    m_one_in(m, 40))
			take(d, m, i);
	}
	if (kind == MOVED)
		move(d, m);
}

/* ---- no wrong time ---- */

/* What was lost may be missing. */
#define TRUE_OR_NONE(field)                                                    \
	do {                                                                   \
		if (got->field != TIME_NONE)                                   \
			differs(v, what, #field, id, got->field, want->field); \
	} while (0)
#define TRUE_OR_ZERO(field)                                                    \
	do {                                                                   \
		if (got->field)                                                \
			differs(v, what, #field, id, got->field, want->field); \
	} while (0)

static int event_at(const struct model *m, uint64_t time_ns)
{
	for (int i = 0; i < m->nr_events; i++)
		if (m->events[i].ev.time_ns == time_ns)
			return i;
	return -1;
}

static bool was_lost(const struct damaged *d, const struct model *m, uint64_t time_ns)
{
	int i = event_at(m, time_ns);

	return i >= 0 && d->lost[i];
}

/* Its end was lost, and so was every D of what ended at got_ns: no event shows that there were two. */
static bool cannot_be_told(const struct damaged *d, const struct model *m, uint64_t want_ns,
			   uint64_t got_ns)
{
	int taken = event_at(m, got_ns);

	if (d->loss.to_ns || !was_lost(d, m, want_ns) || taken < 0 || m->events[taken].rq < 0)
		return false;
	for (int i = 0; i < m->nr_events; i++)
		if (m->events[i].rq == m->events[taken].rq && !d->lost[i] &&
		    m->events[i].ev.action != ACT_COMPLETE &&
		    m->events[i].ev.action != ACT_RQ_ERROR &&
		    m->events[taken].ev.class != CLASS_FLUSH)
			return false;
	return true;
}

/* Is it in a write of the flush machine whose end looks like another one's? */
static bool in_alike(const struct model *m, const struct io_bio *want)
{
	for (int i = 0; i < m->nr_rqs; i++)
		for (int k = 0; m->rqs[i].alike && k < m->rqs[i].nr_pieces; k++)
			if (&m->bios[m->rqs[i].pieces[k].bio].told == want)
				return true;
	return false;
}

static bool lost_zero(const struct damaged *d, const struct model *m, int dev)
{
	for (int i = 0; i < m->nr_events; i++)
		if (d->lost[i] && m->events[i].ev.action == ACT_COMPLETE &&
		    m->events[i].ev.class == CLASS_WRITE && !m->events[i].ev.bytes &&
		    m->events[i].ev.device == model_kinds[dev].number)
			return true;
	return false;
}

/* Without the Q of its clone a bio seems to go on in place, if none was seen before. */
static bool seems_in_place(const struct damaged *d, const struct model *m,
			   const struct io_bio *want)
{
	for (int i = 0; want->dev == M_DM && i < m->nr_bios; i++)
		if (m->bios[i].parent >= 0 && &m->bios[m->bios[i].parent].told == want &&
		    (d->several || was_lost(d, m, m->bios[i].told.queue_ns)))
			return true;
	return false;
}

static void true_bio(struct verdict *v, const struct damaged *d, const struct model *m,
		     const struct io_bio *got, int dev)
{
	const char *what = "bio queued at";
	uint64_t id = got->queue_ns;
	const struct io_bio *want = NULL;

	for (int i = 0; i < m->nr_bios && !want; i++)
		if (m->bios[i].told.queue_ns == id && m->bios[i].told.dev == dev)
			want = &m->bios[i].told;
	if (!want || in_alike(m, want))
		return; /* a NOWAIT attempt whose first Q was lost; two ends at one sector */
	TRUE_OR_NONE(get_ns);
	TRUE_OR_NONE(merge_ns);
	TRUE_OR_NONE(sleep_ns);
	if (!was_lost(d, m, want->merge_ns) && !was_lost(d, m, want->issue_ns) &&
	    !was_lost(d, m, want->get_ns))
		TRUE_OR_NONE(insert_ns);
	/* where a D and its R were lost, the next one is taken for it (of a chain's As the same) */
	if (!was_lost(d, m, want->issue_ns))
		TRUE_OR_NONE(issue_ns);
	if (!was_lost(d, m, want->last_issue_ns))
		TRUE_OR_NONE(last_issue_ns);
	if (cannot_be_told(d, m, want->complete_ns, got->complete_ns) || seems_in_place(d, m, want))
		return;
	/* of several ends at sector 0 after one command one was lost; or comes late, or its command's */
	if (want->class == CLASS_FLUSH && (d->several || lost_zero(d, m, want->dev)))
		return;
	TRUE_OR_NONE(data_ns);
	TRUE_OR_NONE(complete_ns);
}

static const struct io *request_of(const struct model *m, const struct io *got, int dev)
{
	for (int i = 0; i < m->nr_rqs; i++) {
		const struct io *want = &m->rqs[i].told;

		if (want->dev != dev || m->rqs[i].absorbed)
			continue;
		if (m->rqs[i].alike) /* two ends at one sector */
			continue;
		if (got->issue_ns != TIME_NONE ? got->issue_ns == want->issue_ns
		    : got->get_ns != TIME_NONE ? got->get_ns == want->get_ns
					       : got->end_ns == want->end_ns)
			return want;
	}
	return NULL;
}

static bool lost_passthrough(const struct damaged *d, const struct model *m)
{
	for (int i = 0; i < m->nr_events; i++)
		if (d->lost[i] && m->events[i].ev.class == CLASS_PASSTHROUGH)
			return !d->loss.to_ns;
	return false;
}

/* A NOWAIT attempt that is not known of: its bio begins with the Q that brought it again. */
static uint64_t first_queue_of(const struct model *m, uint64_t queue_ns)
{
	for (int i = 0; i < m->nr_events; i++)
		if (m->events[i].ev.time_ns == queue_ns && m->events[i].bio >= 0)
			return m->bios[m->events[i].bio].told.queue_ns;
	return TIME_NONE;
}

static void true_io(struct verdict *v, const struct damaged *d, const struct model *m,
		    const struct io *got, int dev)
{
	const char *what = "request issued at";
	uint64_t id = got->issue_ns;
	const struct io *want = request_of(m, got, dev);

	if (!want) /* its first D was lost, and it was issued again */
		return;
	if (got->class == CLASS_PASSTHROUGH && lost_passthrough(d, m))
		return; /* the C of that one is taken for another one's of its length */
	if (first_queue_of(m, got->queue_ns) != want->queue_ns)
		TRUE_OR_NONE(queue_ns);
	TRUE_OR_NONE(get_ns);
	TRUE_OR_NONE(insert_ns);
	TRUE_OR_NONE(issue_ns);
	if (!was_lost(d, m, want->unplug_ns) && !d->several)
		TRUE_OR_NONE(unplug_ns);
	/* an R that was lost leaves no trace */
	if (got->attempts == want->attempts && !d->several) {
		TRUE_OR_NONE(last_issue_ns);
		TRUE_OR_ZERO(attempt_lost_ns);
		TRUE_OR_ZERO(requeue_wait_ns);
	}
	if (cannot_be_told(d, m, want->complete_ns, got->complete_ns))
		return;
	TRUE_OR_NONE(complete_ns);
	/* without Q and G nothing tells that it went through the flush machine */
	if (got->queue_ns != TIME_NONE || got->get_ns != TIME_NONE ||
	    got->end_ns != got->complete_ns)
		TRUE_OR_NONE(end_ns);
	if (d->several)
		return; /* a flush command may be taken for another one */
	TRUE_OR_NONE(data_from_ns);
	TRUE_OR_ZERO(preflush_ns);
	TRUE_OR_ZERO(postflush_ns);
	TRUE_OR_ZERO(preflush_wait_ns);
	TRUE_OR_ZERO(postflush_wait_ns);
}

/* Zone appends are told apart by their order alone, which is no more after a loss. */
static void true_times(struct verdict *v, const struct damaged *d, const struct model *m,
		       const struct got *got)
{
	for (size_t i = 0; i < got->nr_bios; i++)
		if (!got->bios[i].left_out && !got->bios[i].lost &&
		    !(got->bios[i].flags & EV_ZONE_APPEND))
			true_bio(v, d, m, &got->bios[i], device_of(got, got->bios[i].dev));
	for (size_t i = 0; i < got->nr_ios; i++)
		if (!got->ios[i].ambiguous && !got->ios[i].crosses_loss &&
		    !(got->ios[i].flags & EV_ZONE_APPEND))
			true_io(v, d, m, &got->ios[i], device_of(got, got->ios[i].dev));
}

/* ---- nothing disappears ---- */

static void accounted(struct verdict *v, const struct got *got, bool known)
{
	uint64_t began = 0, in_flight = 0, ended = got->nr_bios;

	for (size_t i = 0; i < got->sum.nr_devices; i++) {
		const struct device_sum *sum = &got->sum.devices[i];

		for (int c = CLASS_READ; c < CLASS_NR; c++)
			began += sum->bios[c].count;
		began += sum->remapped_in;
		in_flight += sum->in_flight;
	}
	for (size_t i = 0; !known && i < got->nr_open; i++)
		in_flight -= !got->open[i].nr_bios;
	if (known ? began > ended + in_flight : began != ended + in_flight)
		differs(v, "bios", "ended or in flight", 0, ended + in_flight, began);
}

static int check(uint64_t seed, int nr_bios, enum damage kind, bool loud)
{
	struct model_options options = { .seed = seed,
					 .nr_bios = nr_bios,
					 .features = (int)(seed % 2) };
	struct verdict v = { .loud = loud };
	struct damaged d;
	struct model m;
	struct got got;

	model_run(&m, &options);
	got_init(&got);
	if (!m.nr_events) {
		model_release(&m);
		got_release(&got);
		return 0;
	}
	damage(&d, &m, kind);
	if (d.loss.to_ns)
		facts_loss(&got.facts, &d.loss);
	track(&got, d.events, d.nr);
	true_times(&v, &d, &m, &got);
	accounted(&v, &got, d.loss.to_ns);
	if (loud && v.wrong) {
		for (int i = 0; i < m.nr_events; i++)
			m.events[i].ev.flags |= d.lost[i] ? MODEL_LOST : 0;
		model_print(&m);
	}
	free(d.events);
	free(d.lost);
	got_release(&got);
	model_release(&m);
	return v.wrong;
}

/* Where several events were lost and nobody knows it, or came twice or late, or the trace begins in the middle,
 * what is left may look like a legal history with other times; one in so many may. Of one event, and of
 * losses that are known, there is always a trace. */
#define ONE_IN 100

static uint64_t most_wrong(enum damage kind, uint64_t nr)
{
	bool strict = kind == ONE || kind == KNOWN || kind == KNOWN_OF_CPU;

	return strict ? 0 : nr / ONE_IN;
}

static void check_all(enum damage kind)
{
	uint64_t first = number("TRACK_FIRST", 0), nr = number("TRACK_SEEDS", SEEDS);
	uint64_t wrong = 0;

	for (uint64_t seed = first; seed < first + nr; seed++) {
		int nr_bios = 1 + (int)(seed * 7 % 60);

		if (!check(seed, nr_bios, kind, false) || ++wrong <= most_wrong(kind, nr))
			continue;
		for (int n = 1; n < nr_bios; n++) {
			if (check(seed, n, kind, false)) {
				nr_bios = n;
				break;
			}
		}
		check(seed, nr_bios, kind, true);
		fail_msg("seed %llu, %d bios, %s", (unsigned long long)seed, nr_bios,
			 damage_names[kind]);
	}
	print_message("%s: %llu of %llu histories have a wrong time\n", damage_names[kind],
		      (unsigned long long)wrong, (unsigned long long)nr);
}

#define TEST(name, kind)               \
	static void name(void **state) \
	{                              \
		(void)state;           \
		check_all(kind);       \
	}
TEST(one_lost, ONE)
TEST(some_lost, SOME)
TEST(window_lost, WINDOW)
TEST(window_of_cpu_lost, WINDOW_OF_CPU)
TEST(known_window_lost, KNOWN)
TEST(known_window_of_cpu_lost, KNOWN_OF_CPU)
TEST(come_twice, TWICE)
TEST(come_late, MOVED)
TEST(cut_off, CUT)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_lost),          cmocka_unit_test(some_lost),
		cmocka_unit_test(window_lost),       cmocka_unit_test(window_of_cpu_lost),
		cmocka_unit_test(known_window_lost), cmocka_unit_test(known_window_of_cpu_lost),
		cmocka_unit_test(come_twice),        cmocka_unit_test(come_late),
		cmocka_unit_test(cut_off),
	};

	if (getenv("TRACK_TEST"))
		cmocka_set_test_filter(getenv("TRACK_TEST"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
