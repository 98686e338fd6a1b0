/* SPDX-License-Identifier: MIT
 *
 * Rows that are requests: biosnoop and iosnoop.
 */
#include "read/text/biosnoop_text.h"

struct io_times {
	bool timed;
	uint64_t issue_ns, end_ns; /* with TEXT_BIAS; where timed */
	uint64_t latency_ns;
	bool have_queue, queue_is_insert;
	uint64_t queue_ns; /* ns from there to the issue */
};

static bool time_of(const struct row *row, enum column column, unsigned int unit, uint64_t *ns,
		    uint64_t *step_ns)
{
	struct scan s = row->cells[column];

	return row_has(row, column) && scan_time(&s, unit, ns, step_ns);
}

static void coarser(uint64_t *coarsest, uint64_t step)
{
	if (step > *coarsest)
		*coarsest = step;
}

/* bcc counts from where the request is accounted (just after it was got), libbpf from where it is inserted;
 * they print two and three digits. -1: it was not inserted. */
static bool take_queue(struct io_times *t, const struct row *row, uint64_t *step_ns)
{
	uint64_t step;

	if (!row_has(row, COL_QUEUE) || *row->cells[COL_QUEUE].at == '-')
		return true;
	if (!time_of(row, COL_QUEUE, 6, &t->queue_ns, &step))
		return false;
	coarser(step_ns, step);
	t->have_queue = true;
	t->queue_is_insert = step < 10000;
	return true;
}

/* When it began and ended, and the coarsest step of the numbers that say so. */
static bool take_times(struct io_times *t, const struct row *row, uint64_t *step_ns)
{
	uint64_t start = 0, end = 0, start_step = 0, end_step = 0, step;
	bool has_start = time_of(row, COL_START, 9, &start, &start_step);
	bool has_end = time_of(row, COL_TIME_S, 9, &end, &end_step) ||
		       time_of(row, COL_TIME_MS, 6, &end, &end_step) ||
		       time_of(row, COL_END, 9, &end, &end_step);

	if (!time_of(row, COL_LAT_MS, 6, &t->latency_ns, &step) &&
	    !time_of(row, COL_LAT_US, 3, &t->latency_ns, &step))
		return false;
	t->timed = has_start || has_end;
	if (has_start && has_end && start <= end)
		t->latency_ns = end - start; /* finer than what is printed of it */
	else
		coarser(step_ns, step);
	coarser(step_ns, start_step);
	coarser(step_ns, end_step);
	if (!t->timed)
		return true;
	if (start > INT64_MAX / 2 || end > INT64_MAX / 2 || t->latency_ns > TEXT_BIAS / 2)
		return false;
	t->end_ns = TEXT_BIAS + (has_end ? end : start + t->latency_ns);
	t->issue_ns = t->end_ns - t->latency_ns;
	return take_queue(t, row, step_ns) && t->queue_ns <= TEXT_BIAS / 2;
}

static uint32_t device_of(struct io_rows *io, struct text *text, const struct row *row)
{
	struct scan s = row->cells[COL_DISK], major = row->cells[COL_MAJOR],
		    minor = row->cells[COL_MINOR];
	size_t len = scan_left(&s);
	uint32_t device, hi, lo;

	if (row_has(row, COL_MAJOR))
		return scan_u32(&major, 4094, &hi) && scan_u32(&minor, 0xfffff, &lo) ? hi << 20 | lo
										     : 0;
	if (scan_device(&s, ',', &device) && scan_end(&s))
		return device;
	s = row->cells[COL_DISK];
	if (io->disk_len && io->disk_len == len && !memcmp(io->disk, s.at, len))
		return io->device;
	device = text_device(text, s.at, len);
	if (len < sizeof(io->disk)) {
		memcpy(io->disk, s.at, len);
		io->disk_len = len;
		io->device = device;
	}
	return device;
}

/* Place, length and what is done; false where a number is none. */
static bool take_request(struct event *ev, const struct row *row)
{
	struct scan sector = row->cells[COL_SECTOR], bytes = row->cells[COL_BYTES],
		    type = row->cells[COL_TYPE];

	if (!row_has(row, COL_SECTOR)) {
		ev->sector = SECTOR_NONE;
		ev->flags |= EV_NO_BYTES;
		ev->class = CLASS_OTHER;
		return true;
	}
	if (*sector.at == '-')
		ev->sector = SECTOR_NONE;
	else if (!scan_u64(&sector, &ev->sector))
		return false;
	if (!scan_u32(&bytes, UINT32_MAX, &ev->bytes))
		return false;
	event_set_rwbs(ev, type.at, scan_left(&type), ev->bytes / SECTOR_SIZE);
	/* A flush command has no place; bcc shows it as a read or write of nothing. */
	if (!ev->bytes && ev->sector == SECTOR_NONE)
		ev->class = CLASS_FLUSH;
	return true;
}

static uint32_t take_pid(struct text *text, const struct row *row, uint64_t time_ns)
{
	struct scan s = row->cells[COL_PID], comm = row->cells[COL_COMM];
	uint32_t pid;

	if (!scan_u32(&s, UINT32_MAX, &pid))
		return 0;
	/* "<idle>" was interrupted, it asked for nothing; "?" is not known. */
	if (pid && !scan_end(&comm) && *comm.at != '<' && *comm.at != '?')
		names_add(&text_facts(text)->names, pid, time_ns, comm.at, scan_left(&comm));
	return pid;
}

static void give(struct text *text, const struct io_times *t, struct event *ev)
{
	uint64_t sector = ev->sector;

	/* As the kernel shows a flush command: it begins at 0 and ends nowhere. */
	if (ev->class == CLASS_FLUSH && sector == SECTOR_NONE)
		ev->sector = 0;
	if (t->have_queue) {
		ev->action = t->queue_is_insert ? ACT_INSERT : ACT_GETRQ;
		ev->time_ns = t->issue_ns - t->queue_ns;
		text_event(text, ev);
	}
	ev->action = ACT_ISSUE;
	ev->flags |= EV_SUBMITTER; /* biosnoop remembers who queued it */
	ev->time_ns = t->issue_ns;
	text_event(text, ev);
	ev->sector = sector;
	ev->action = ACT_COMPLETE;
	ev->flags &= ~EV_SUBMITTER;
	ev->time_ns = t->end_ns;
	text_event(text, ev);
}

static void note_device(struct io_rows *io, struct text *text, uint32_t device)
{
	if (io->held_any && io->held == device)
		return;
	io->held_any = true;
	io->held = device;
	facts_device_held(text_facts(text), device, text_input(text));
}

static void tell_dialect(struct text *text, const struct row *row)
{
	if (row_has(row, COL_TIME_MS))
		text_dialect(text, "bpftrace");
	else if (!row_has(row, COL_TIME_S))
		text_dialect(text, "iosnoop");
}

enum text_answer io_row(struct io_rows *io, struct text *text, const struct row *row)
{
	struct io_times t = { 0 };
	struct event ev = { 0 };
	uint64_t step_ns = 0;

	if (!take_times(&t, row, &step_ns) || !take_request(&ev, row)) {
		text_why(text, "a number of this row is too large");
		return TEXT_BAD;
	}
	ev.device = device_of(io, text, row);
	ev.pid = take_pid(text, row, t.timed ? t.issue_ns : TEXT_BIAS);
	tell_dialect(text, row);
	if (step_ns > 1)
		text_resolution(text, step_ns);
	note_device(io, text, ev.device);
	if (t.timed && row_has(row, COL_SECTOR)) {
		give(text, &t, &ev);
		return TEXT_USED;
	}
	ev.action = ACT_IO;
	ev.time_ns = t.timed ? t.end_ns : TIME_UNTOLD;
	ev.aux_sector = t.latency_ns;
	/* bpftrace's latency begins where the request is accounted. */
	if (!row_has(row, COL_SECTOR))
		ev.flags |= EV_FROM_QUEUE;
	text_event(text, &ev);
	return TEXT_USED;
}
