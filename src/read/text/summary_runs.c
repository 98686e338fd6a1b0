// SPDX-License-Identifier: MIT
/* What the counters of a run, and those of several runs in one text, prove by themselves. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "read/text/finding.h"
#include "read/text/summary_block.h"

#define RUNS_MAX      1024u  /* are compared */
#define SHOWN_MAX     16u    /* runs in one finding */
#define EXCESS_SHARE  0.001  /* of completed over dispatched bytes ... */
#define EXCESS_BYTES  65536u /* ... that I/O in flight at the start cannot explain, or ... */
#define EXCESS_FACTOR 1.5    /* ... so much that few bytes are enough */
#define SMALL_BYTES   (16 * 1024)
#define SMALL_MANY    1000u
#define FEW_MERGES    0.01
#define FEW_UNPLUGS   0.01
#define WORK_SHARE    0.05 /* of the bytes of a direction that make work different ... */
#define WORK_MATTERS  0.01 /* ... if they are that much of all bytes */
#define IDLE_PER_S    25.0 /* dispatches: 40 ms each, if one waited for the other */
#define IDLE_RATE     (1024.0 * 1024.0)
#define IDLE_SPAN_NS  10e9

static bool any_read(const struct sum_cell *cell)
{
	return cell->bytes.known && cell->count.known;
}

/* "of sdb", "\"Prior\"": how a sentence calls a run. Owned by the caller. */
static char *run_words(const char *name, const char *context)
{
	if (*context)
		return mem_printf("\"%.80s\"", context);
	return *name ? mem_printf("%s", name) : mem_strdup("the summary");
}

static char *whole_words(const struct sum_runs *runs)
{
	const struct sum_block *b = &runs->whole;
	char *words;

	if (!b->context[0] && b->kind == SUM_CPU && runs->cpus == 1)
		return mem_printf("CPU%u of %s", b->cpu, b->name[0] ? b->name : "the device");
	words = run_words(b->name, b->context);
	return words;
}

/* ---- one run ---- */

/* blkparse counts every C: of a request, of each of its bios, or cumulatively for a split one. */
static void completed_exceeds(struct sum_runs *runs, struct facts *facts, bool write)
{
	const struct sum_cell *done = &runs->whole.cells[SUM_COMPLETE_READ + write];
	const struct sum_cell *issued = &runs->whole.cells[SUM_DISPATCH_READ + write];
	double more;
	char *who;
	json_t *ev;

	if (!any_read(done) || !any_read(issued) || !issued->bytes.value ||
	    done->bytes.value <= issued->bytes.value)
		return;
	more = (double)(done->bytes.value - issued->bytes.value);
	if (more < (double)(done->bytes.step + issued->bytes.step) ||
	    more < EXCESS_SHARE * (double)issued->bytes.value)
		return;
	if (more <= EXCESS_BYTES &&
	    (double)done->bytes.value < EXCESS_FACTOR * (double)issued->bytes.value)
		return;
	who = whole_words(runs);
	ev = finding_add(
		facts, "summary-completed-exceeds-dispatched", "warning",
		"The summary counts more completed than was dispatched",
		mem_printf("%s: %s of %s completed beside %s dispatched: completions of bios were "
			   "counted "
			   "beside those of their request, or cumulatively. Trust the dispatches "
			   "(%s, of %s).%s",
			   who, write ? "writes (or discards)" : "reads",
			   grouped_bytes((double)done->bytes.value).s,
			   grouped_bytes((double)issued->bytes.value).s,
			   grouped(issued->count.value).s,
			   grouped_bytes((double)issued->bytes.value).s,
			   runs->whole.kind == SUM_CPU ? " (If blocks of other CPUs were cut away, "
							 "they may hold the dispatches.)"
						       : ""),
		NULL);
	free(who);
	put_text(ev, "class", write ? "write" : "read");
	put_u64(ev, "completed", done->count.value);
	put_u64(ev, "completed_bytes", done->bytes.value);
	put_u64(ev, "dispatched", issued->count.value);
	put_u64(ev, "dispatched_bytes", issued->bytes.value);
}

/* The ends of flush and FUA sequences are completions of writes without a byte. */
static void flush_ends(struct sum_runs *runs, struct facts *facts)
{
	const struct sum_cell *done = &runs->whole.cells[SUM_COMPLETE_WRITE];
	const struct sum_cell *issued = &runs->whole.cells[SUM_DISPATCH_WRITE];
	const struct sum_number *back = &runs->whole.cells[SUM_REQUEUE_WRITE].count;
	uint64_t more, least;
	json_t *ev;
	char *who;

	if (!any_read(done) || !any_read(issued) || done->count.value <= issued->count.value ||
	    done->bytes.value != issued->bytes.value || !issued->bytes.value)
		return;
	more = done->count.value - issued->count.value;
	/* Rounded bytes hide what was in flight when the trace began. */
	least = done->bytes.step > 1024 ? issued->count.value / 1000 + 64 : 1;
	if (more < least || more < done->count.step)
		return;
	who = whole_words(runs);
	ev = finding_add(
		facts, "flush-ends-counted", "info", "Ends of flushes are counted as writes",
		mem_printf("%s: %s more writes completed than were dispatched, with the same "
			   "bytes: these completions moved nothing. They are the ends of "
			   "flush and FUA sequences, not a double count.",
			   who, grouped(more).s),
		NULL);
	free(who);
	put_u64(ev, "completed", done->count.value);
	put_u64(ev, "dispatched", issued->count.value);
	put_u64(ev, "beyond_dispatches", more);
	if (back->known)
		put_u64(ev, "beyond_requests", more + back->value);
	else
		put_unknown(ev, "beyond_requests", "the text does not say how many were requeued");
	put_u64(ev, "bytes", done->bytes.value);
}

static void small_pieces(struct sum_runs *runs, struct facts *facts)
{
	const struct sum_cell *cells = runs->whole.cells, *queued = &cells[SUM_QUEUED_WRITE];
	const struct sum_number *io = &cells[SUM_UNPLUG_IO].count,
				*timer = &cells[SUM_UNPLUG_TIMER].count,
				*merges = &cells[SUM_MERGE_WRITE].count;
	double n = (double)queued->count.value, mean;
	json_t *ev;
	char *who;

	if (!any_read(queued) || !merges->known || !io->known || !timer->known || n < SMALL_MANY)
		return;
	mean = (double)queued->bytes.value / n;
	if (!queued->bytes.value || mean > SMALL_BYTES || (double)merges->value > FEW_MERGES * n ||
	    (double)io->value + (double)timer->value > FEW_UNPLUGS * n)
		return;
	who = whole_words(runs);
	ev = finding_add(
		facts, "small-pieces", "notice", "Many small writes, one by one",
		mem_printf("%s: %s writes of %s on average, %s merged, %s unplugs: each was "
			   "sent by itself, as synchronous writes are%s.",
			   who, grouped(queued->count.value).s, grouped_bytes(mean).s,
			   merges->value ? "hardly any" : "none",
			   grouped(io->value + timer->value).s,
			   mean <= 1024 ? "; pieces of a sector or two are rather metadata that is "
					  "written again and again than data"
					: ""),
		"Find who waits after each write: a mount option (sync, dirsync), O_SYNC, or an "
		"fsync per record; write larger pieces or wait once for many.");
	free(who);
	put_u64(ev, "writes", queued->count.value);
	put_real(ev, "mean_bytes", mean);
	put_u64(ev, "merges", merges->value);
	put_u64(ev, "unplugs", io->value + timer->value);
}

/* Whoever waited in that window did not wait for what the device can do. */
static void mostly_idle(struct sum_runs *runs, struct facts *facts)
{
	const struct sum_block *b = &runs->whole;
	const struct sum_cell *read = &b->cells[SUM_DISPATCH_READ],
			      *write = &b->cells[SUM_DISPATCH_WRITE];
	struct sum_span span = sum_block_span(b);
	double per_s, rate;
	json_t *ev;
	char *who;

	if (span.why || span.ns < IDLE_SPAN_NS || !any_read(read) || !any_read(write) ||
	    !b->read_rate.known || !b->write_rate.known)
		return;
	per_s = ((double)read->count.value + (double)write->count.value) / (span.ns / 1e9);
	rate = (double)b->read_rate.value + (double)b->write_rate.value;
	if (per_s > IDLE_PER_S || rate > IDLE_RATE)
		return;
	who = whole_words(runs);
	ev = finding_add(
		facts, "device-mostly-idle", "notice", "The device had little to do",
		mem_printf("%s: %.1f dispatches a second and %s/s over %.0f s: unless each took "
			   "%.0f ms, the device was idle most of the time, and what was slow "
			   "was not the device.",
			   who, per_s, grouped_bytes(rate).s, span.ns / 1e9, 1e3 / per_s),
		"Look above the block layer: at what the slow program waits for.");
	free(who);
	put_real(ev, "dispatches_per_s", per_s);
	put_real(ev, "bytes_per_s", rate);
	put_u64(ev, "span_ns", (uint64_t)span.ns);
}

static void skips(struct sum_runs *runs, struct facts *facts)
{
	const struct sum_block *b = &runs->whole;
	json_t *ev;
	char *who;

	if (!b->missing.known || !b->missing.value)
		return;
	who = whole_words(runs);
	ev = finding_add(
		facts, "sequence-gap", "warning", "Event numbers are missing",
		mem_printf("%s: blkparse itself missed %s events when it made this summary: its "
			   "counts are too low.",
			   who, grouped(b->missing.value).s),
		NULL);
	free(who);
	put_u64(ev, "sequence_gaps", b->missing.value);
	if (b->skips.known)
		put_u64(ev, "forward", b->skips.value);
}

/* ---- several runs ---- */

/* Runs of one device, or that people gave different names to ("Before", "After"), are there to be
 * compared; the devices of one blkparse are not. */
static bool comparable(const struct sum_work *a, const struct sum_work *b)
{
	if (a->context[0] && b->context[0] && strcmp(a->context, b->context) != 0)
		return true;
	return !a->name[0] || !b->name[0] || !strcmp(a->name, b->name);
}

static double queued_bytes(const struct sum_work *w)
{
	return (double)w->queued[0].bytes.value + (double)w->queued[1].bytes.value;
}

static bool differs(const struct sum_work *a, const struct sum_work *b)
{
	double all = queued_bytes(a) > queued_bytes(b) ? queued_bytes(a) : queued_bytes(b);

	for (int dir = 0; dir < 2; dir++) {
		const struct sum_number *x = &a->queued[dir].bytes, *y = &b->queued[dir].bytes;
		double most, least;

		if (!x->known || !y->known)
			continue;
		most = (double)(x->value > y->value ? x->value : y->value);
		least = (double)(x->value > y->value ? y->value : x->value);
		if (most - least > WORK_SHARE * most && most - least > WORK_MATTERS * all)
			return true;
	}
	return false;
}

static void put_per_mib(json_t *obj, const char *key, const struct sum_cell *cell)
{
	if (any_read(cell) && cell->bytes.value)
		put_real(obj, key,
			 (double)cell->count.value / ((double)cell->bytes.value / 1048576.0));
	else
		put_unknown(obj, key,
			    any_read(cell) ? "there were none" : "not known from this text");
}

static void put_bytes(json_t *obj, const char *key, const struct sum_number *n)
{
	if (n->known)
		put_u64(obj, key, n->value);
	else
		put_unknown(obj, key, "not known from this text");
}

static json_t *work_json(const struct sum_work *w)
{
	json_t *obj = json_object();

	if (w->context[0])
		put_text(obj, "context", w->context);
	else
		put_unknown(obj, "context", "nothing stands above it");
	if (w->name[0])
		put_text(obj, "name", w->name);
	else
		put_unknown(obj, "name", "no heading names the device");
	put_bytes(obj, "queued_read_bytes", &w->queued[0].bytes);
	put_bytes(obj, "queued_write_bytes", &w->queued[1].bytes);
	put_per_mib(obj, "read_dispatches_per_mib", &w->dispatched[0]);
	put_per_mib(obj, "write_dispatches_per_mib", &w->dispatched[1]);
	return obj;
}

static struct grouped bytes_words(const struct sum_number *n)
{
	return n->known ? grouped_bytes((double)n->value) : (struct grouped){ "an unknown amount" };
}

static char *work_sentence(const struct sum_work *a, const struct sum_work *b)
{
	char *first = run_words(a->name, a->context), *second = run_words(b->name, b->context);
	char *out = mem_printf(
		"%s queued %s of reads and %s of writes, %s %s and %s: the totals cannot "
		"say which was faster. Compare what was done per MiB, or runs of the "
		"same work with their times.",
		first, bytes_words(&a->queued[0].bytes).s, bytes_words(&a->queued[1].bytes).s,
		strcmp(first, second) != 0 ? second : "another run",
		bytes_words(&b->queued[0].bytes).s, bytes_words(&b->queued[1].bytes).s);

	free(first);
	free(second);
	return out;
}

/* Compares runs from `first` on with it, each only once. */
static void compare_from(struct sum_runs *runs, struct facts *facts, size_t first)
{
	struct sum_work *a = &runs->done[first], *other = NULL;
	json_t *list, *ev;

	if (a->grouped)
		return;
	list = json_array();
	json_array_append_new(list, work_json(a));
	for (size_t i = first + 1; i < runs->nr_done; i++) {
		struct sum_work *b = &runs->done[i];

		if (b->grouped || !comparable(a, b))
			continue;
		b->grouped = true;
		if (!other && differs(a, b))
			other = b;
		if (json_array_size(list) < SHOWN_MAX)
			json_array_append_new(list, work_json(b));
	}
	if (!other) {
		json_decref(list);
		return;
	}
	ev = finding_add(facts, "different-work", "warning", "The runs did different work",
			 work_sentence(a, other), NULL);
	json_object_set_new(ev, "runs", list);
}

static void keep_work(struct sum_runs *runs)
{
	const struct sum_block *b = &runs->whole;
	struct sum_work *w;

	if (runs->nr_done == RUNS_MAX)
		return;
	runs->done = mem_grow(runs->done, runs->nr_done, sizeof(*runs->done));
	w = &runs->done[runs->nr_done++];
	*w = (struct sum_work){ 0 };
	memcpy(w->name, b->name, sizeof(w->name));
	memcpy(w->context, b->context, sizeof(w->context));
	for (int dir = 0; dir < 2; dir++) {
		w->queued[dir] = b->cells[SUM_QUEUED_READ + dir];
		w->dispatched[dir] = b->cells[SUM_DISPATCH_READ + dir];
	}
}

/* ---- which blocks are one run ---- */

static void run_finish(struct sum_runs *runs, struct facts *facts)
{
	if (!runs->open)
		return;
	runs->open = false;
	completed_exceeds(runs, facts, false);
	completed_exceeds(runs, facts, true);
	flush_ends(runs, facts);
	small_pieces(runs, facts);
	mostly_idle(runs, facts);
	skips(runs, facts);
	keep_work(runs);
}

static void number_add(struct sum_number *sum, const struct sum_number *n)
{
	sum->known = sum->known && n->known &&
		     !__builtin_add_overflow(sum->value, n->value, &sum->value) &&
		     sum->value <= INT64_MAX;
	if (n->step > sum->step)
		sum->step = n->step;
}

/* Another CPU's block; depth is no sum, but nothing here looks at it. */
static void cpu_add(struct sum_runs *runs, const struct sum_block *block)
{
	for (size_t i = 0; i < SUM_NR; i++) {
		number_add(&runs->whole.cells[i].count, &block->cells[i].count);
		number_add(&runs->whole.cells[i].bytes, &block->cells[i].bytes);
	}
	runs->whole.read_rate = block->read_rate;
	runs->whole.write_rate = block->write_rate;
	runs->whole.skips = block->skips;
	runs->whole.missing = block->missing;
}

static bool continues(const struct sum_runs *runs, const struct sum_block *block)
{
	if (!runs->open || runs->closed || runs->has_total || runs->whole.kind != SUM_CPU ||
	    strcmp(runs->whole.name, block->name) != 0)
		return false;
	return block->kind == SUM_TOTAL || (block->kind == SUM_CPU && block->cpu > runs->last_cpu);
}

void sum_runs_block(struct sum_runs *runs, struct facts *facts, const struct sum_block *block)
{
	bool more = continues(runs, block);

	if (block->kind == SUM_PROCESS)
		return; /* completions are charged to whatever ran: nothing follows from them */
	if (!more)
		run_finish(runs, facts);
	if (more && block->kind == SUM_CPU) {
		cpu_add(runs, block);
		runs->cpus++;
	} else {
		runs->whole = *block;
		runs->cpus = block->kind == SUM_CPU;
	}
	runs->open = true;
	runs->closed = block->tail;
	runs->has_total = block->kind == SUM_TOTAL;
	runs->last_cpu = block->cpu;
}

void sum_runs_end(struct sum_runs *runs, struct facts *facts)
{
	run_finish(runs, facts);
	for (size_t i = 0; i < runs->nr_done; i++)
		compare_from(runs, facts, i);
	free(runs->done);
	*runs = (struct sum_runs){ 0 };
}
