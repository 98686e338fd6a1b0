/* SPDX-License-Identifier: MIT */
#include "read/text/summary_block.h"

#include <math.h>
#include <string.h>

#include "read/text/finding.h"

#define NS_PER_S  1e9
#define NS_PER_US 1000u

static const char no_line[] = "this text has no such line";
static const char blank[] = "blank in this text";
static const char too_big[] =
	"too large to be true: blkparse takes requeued bytes off without limit";

/* Why it is unknown, or NULL. */
static const char *why_unknown(const struct sum_number *n)
{
	if (n->known)
		return NULL;
	if (n->why)
		return n->why;
	return !n->seen ? no_line : n->huge ? too_big : blank;
}

static void put_number(json_t *obj, const char *key, const struct sum_number *n)
{
	if (n->known)
		put_u64(obj, key, n->value);
	else
		put_unknown(obj, key, why_unknown(n));
}

/* ---- the counters ---- */

static const struct {
	enum sum_row row;
	const char *key;
} counters[] = {
	{ SUM_QUEUED_READ, "reads_queued" },      { SUM_QUEUED_WRITE, "writes_queued" },
	{ SUM_DISPATCH_READ, "read_dispatches" }, { SUM_DISPATCH_WRITE, "write_dispatches" },
	{ SUM_REQUEUE_READ, "reads_requeued" },   { SUM_REQUEUE_WRITE, "writes_requeued" },
	{ SUM_COMPLETE_READ, "reads_completed" }, { SUM_COMPLETE_WRITE, "writes_completed" },
	{ SUM_MERGE_READ, "read_merges" },        { SUM_MERGE_WRITE, "write_merges" },
}, passthrough[] = {
	{ SUM_PC_QUEUED_READ, "reads_queued" },
	{ SUM_PC_QUEUED_WRITE, "writes_queued" },
	{ SUM_PC_DISPATCH_READ, "read_dispatches" },
	{ SUM_PC_DISPATCH_WRITE, "write_dispatches" },
	{ SUM_PC_REQUEUE_READ, "reads_requeued" },
	{ SUM_PC_REQUEUE_WRITE, "writes_requeued" },
	{ SUM_PC_COMPLETE_READ, "reads_completed" },
	{ SUM_PC_COMPLETE_WRITE, "writes_completed" },
}, plain[] = {
	{ SUM_DEPTH_READ, "read_depth" },
	{ SUM_DEPTH_WRITE, "write_depth" },
	{ SUM_UNPLUG_IO, "io_unplugs" },
	{ SUM_UNPLUG_TIMER, "timer_unplugs" },
}, waits[] = {
	{ SUM_WAIT_ALLOC_READ, "read_allocation" },
	{ SUM_WAIT_ALLOC_WRITE, "write_allocation" },
	{ SUM_WAIT_DISPATCH_READ, "read_dispatch" },
	{ SUM_WAIT_DISPATCH_WRITE, "write_dispatch" },
	{ SUM_WAIT_COMPLETE_READ, "read_completion" },
	{ SUM_WAIT_COMPLETE_WRITE, "write_completion" },
};

#define NR(table) (sizeof(table) / sizeof(*(table)))

static void put_cell(json_t *obj, const char *key, enum sum_row row, const struct sum_cell *cell)
{
	json_t *counter = json_object();

	put_number(counter, "count", &cell->count);
	if (cell->count.known)
		put_u64(counter, "count_rounded_to", cell->count.step);
	if (sum_has_size(row)) {
		put_number(counter, "bytes", &cell->bytes);
		if (cell->bytes.known)
			put_u64(counter, "bytes_rounded_to", cell->bytes.step);
	}
	json_object_set_new(obj, key, counter);
}

static void put_passthrough(json_t *obj, const struct sum_block *b)
{
	json_t *pc = json_object();
	bool any = false;

	for (size_t i = 0; i < NR(passthrough); i++) {
		put_cell(pc, passthrough[i].key, passthrough[i].row, &b->cells[passthrough[i].row]);
		any |= b->cells[passthrough[i].row].count.seen;
	}
	if (any) {
		json_object_set_new(obj, "pc", pc);
		return;
	}
	json_decref(pc);
	put_unknown(obj, "pc",
		    "no passthrough lines: blkparse prints them only where there is some");
}

/* The longest waits, printed in microseconds; blkparse -t alone measures them. */
static void put_waits(json_t *obj, const struct sum_block *b)
{
	json_t *all = json_object();
	bool any = false;

	for (size_t i = 0; i < NR(waits); i++) {
		struct sum_number n = b->cells[waits[i].row].count;

		any |= n.seen;
		n.huge |= n.value > INT64_MAX / NS_PER_US;
		n.known = n.known && !n.huge;
		n.value = n.known ? n.value * NS_PER_US : 0;
		put_number(all, waits[i].key, &n);
	}
	if (any) {
		json_object_set_new(obj, "waits_ns", all);
		return;
	}
	json_decref(all);
	put_unknown(obj, "waits_ns", no_line);
}

static void put_tail(json_t *obj, const struct sum_block *b)
{
	json_t *part = json_object();

	if (b->read_rate.seen || b->write_rate.seen) {
		put_number(part, "read_bytes_per_s", &b->read_rate);
		put_number(part, "write_bytes_per_s", &b->write_rate);
		json_object_set_new(obj, "throughput", part);
		part = json_object();
	} else {
		put_unknown(obj, "throughput", no_line);
	}
	put_number(obj, "events", &b->events);
	if (b->skips.seen) {
		put_number(part, "forward", &b->skips);
		put_number(part, "missing", &b->missing);
		json_object_set_new(obj, "skips", part);
	} else {
		json_decref(part);
		put_unknown(obj, "skips", no_line);
	}
	if (b->started[0])
		put_text(obj, "trace_started", b->started);
}

/* ---- what follows from them ---- */

static struct sum_number known(uint64_t value)
{
	return (struct sum_number){ .seen = true, .known = true, .value = value, .step = 1 };
}

/* a - b, where both are known and it is not negative. */
static struct sum_number difference(const struct sum_number *a, const struct sum_number *b)
{
	struct sum_number out = known(0);

	if (!a->known)
		return *a;
	if (!b->known)
		return *b;
	if (b->value > a->value)
		return (struct sum_number){ .why = "more were given back than dispatched" };
	out.value = a->value - b->value;
	return out;
}

static struct sum_number sum(const struct sum_number *a, const struct sum_number *b)
{
	struct sum_number out = known(0);

	if (!a->known)
		return *a;
	if (!b->known)
		return *b;
	if (__builtin_add_overflow(a->value, b->value, &out.value) || out.value > INT64_MAX)
		return (struct sum_number){ .seen = true, .huge = true };
	return out;
}

static void put_ratio(json_t *obj, const char *key, const struct sum_number *of,
		      const struct sum_number *by)
{
	if (!of->known)
		put_unknown(obj, key, why_unknown(of));
	else if (!by->known)
		put_unknown(obj, key, why_unknown(by));
	else if (!by->value)
		put_unknown(obj, key, "there were none");
	else
		put_real(obj, key, (double)of->value / (double)by->value);
}

struct sum_span sum_block_span(const struct sum_block *b)
{
	const struct sum_number *reads = &b->cells[SUM_COMPLETE_READ].bytes;
	const struct sum_number *writes = &b->cells[SUM_COMPLETE_WRITE].bytes;
	struct sum_span span = { .writes = writes->known &&
					   (!reads->known || writes->value > reads->value) };
	const struct sum_number *bytes = span.writes ? writes : reads;
	const struct sum_number *rate = span.writes ? &b->write_rate : &b->read_rate;

	if (!rate->known) {
		span.why = why_unknown(rate);
	} else if (!bytes->known) {
		span.why = why_unknown(bytes);
	} else if (!rate->value || !bytes->value) {
		span.why = "nothing completed, or so little that its throughput is printed as 0";
	} else {
		span.ns = (double)bytes->value / (double)rate->value * NS_PER_S;
		span.error_ns = span.ns * ((double)bytes->step / (double)bytes->value +
					   (double)rate->step / (double)rate->value);
	}
	return span;
}

static void put_span(json_t *obj, const struct sum_block *b, const struct sum_number *dispatches)
{
	struct sum_span span = sum_block_span(b);

	if (span.why || span.ns > 9e18) {
		const char *why = span.why ? span.why : too_big;

		put_unknown(obj, "span_ns", why);
		put_unknown(obj, "dispatches_per_s", why);
		return;
	}
	put_u64(obj, "span_ns", (uint64_t)llround(span.ns));
	put_real(obj, "span_error_ns", span.error_ns);
	put_text(obj, "span_from", span.writes ? "writes" : "reads");
	if (dispatches->known)
		put_real(obj, "dispatches_per_s", (double)dispatches->value / (span.ns / NS_PER_S));
	else
		put_unknown(obj, "dispatches_per_s", why_unknown(dispatches));
}

static void put_direction(json_t *obj, const struct sum_block *b, bool write)
{
	static const char *const keys[][2] = {
		{ "mean_queued_read_bytes", "mean_queued_write_bytes" },
		{ "mean_dispatched_read_bytes", "mean_dispatched_write_bytes" },
		{ "mean_read_request_bytes", "mean_write_request_bytes" },
		{ "read_merge_ratio", "write_merge_ratio" },
		{ "requests_read", "requests_written" },
	};
	const struct sum_cell *queued = &b->cells[SUM_QUEUED_READ + write];
	const struct sum_cell *issued = &b->cells[SUM_DISPATCH_READ + write];
	struct sum_number requests =
		difference(&issued->count, &b->cells[SUM_REQUEUE_READ + write].count);

	put_ratio(obj, keys[0][write], &queued->bytes, &queued->count);
	put_ratio(obj, keys[1][write], &issued->bytes, &issued->count);
	put_ratio(obj, keys[2][write], &issued->bytes, &requests);
	put_ratio(obj, keys[3][write], &b->cells[SUM_MERGE_READ + write].count, &queued->count);
	put_number(obj, keys[4][write], &requests);
}

static json_t *derived(const struct sum_block *b)
{
	json_t *obj = json_object();
	struct sum_number unplugs =
		sum(&b->cells[SUM_UNPLUG_IO].count, &b->cells[SUM_UNPLUG_TIMER].count);
	struct sum_number dispatches =
		sum(&b->cells[SUM_DISPATCH_READ].count, &b->cells[SUM_DISPATCH_WRITE].count);

	put_span(obj, b, &dispatches);
	put_direction(obj, b, false);
	put_direction(obj, b, true);
	put_ratio(obj, "dispatches_per_unplug", &dispatches, &unplugs);
	return obj;
}

/* ---- the whole ---- */

static void put_names(json_t *obj, const struct sum_block *b)
{
	static const char *const kinds[] = { "none", "total", "cpu", "process", "unnamed" };

	put_text(obj, "kind", kinds[b->kind]);
	if (b->name[0])
		put_text(obj, "name", b->name);
	else
		put_unknown(obj, "name",
			    b->kind == SUM_PROCESS ? "the block of a process names no device"
						   : "no heading names the device");
	if (b->kind == SUM_CPU)
		put_u64(obj, "cpu", b->cpu);
	if (b->kind == SUM_PROCESS) {
		put_text(obj, "comm", b->comm);
		put_u64(obj, "pid", b->pid);
		json_object_set_new(obj, "many_pids", json_boolean(b->many_pids));
	}
	if (b->context[0])
		put_text(obj, "context", b->context);
	else
		put_unknown(obj, "context", "nothing stands above it");
}

json_t *sum_block_json(const struct sum_block *b)
{
	json_t *obj = json_object();

	put_names(obj, b);
	for (size_t i = 0; i < NR(counters); i++)
		put_cell(obj, counters[i].key, counters[i].row, &b->cells[counters[i].row]);
	for (size_t i = 0; i < NR(plain); i++)
		put_number(obj, plain[i].key, &b->cells[plain[i].row].count);
	put_passthrough(obj, b);
	if (b->kind == SUM_PROCESS)
		put_waits(obj, b);
	put_tail(obj, b);
	json_object_set_new(obj, "derived", derived(b));
	return obj;
}
