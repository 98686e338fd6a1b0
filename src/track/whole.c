/* SPDX-License-Identifier: MIT
 *
 * Requests that an input knows only as a whole: the rows of a table. They have a latency and perhaps an
 * end, but no order among each other, so there is neither a depth nor a time line of them.
 */
#include "track/tally.h"

static void move_times(struct tracker *t, uint64_t start_ns, uint64_t end_ns)
{
	if (t->now_ns < end_ns)
		t->now_ns = end_ns;
	if (t->sum->first_ns > start_ns)
		t->sum->first_ns = start_ns;
	if (t->sum->last_ns < end_ns)
		t->sum->last_ns = end_ns;
}

static void count_latency(struct device_sum *sum, const struct event *ev, uint64_t whole_ns)
{
	if (ev->flags & EV_FROM_QUEUE) {
		hist_add(&sum->latency[PHASE_R_Q2C], whole_ns);
		hist_add(&sum->class_r_q2c[ev->class], whole_ns);
		return;
	}
	if (ev->class != CLASS_FLUSH)
		hist_add(&sum->latency[PHASE_D2C], whole_ns);
	hist_add(&sum->class_d2c[ev->class], whole_ns);
}

static void count_device(struct tracker *t, struct device_sum *sum, const struct process *process,
			 const struct event *ev)
{
	sum->whole_ios++;
	t->cpu->events++;
	tally_request(t, process, ev->class, known_bytes(ev));
	tally_moved(t, process, ev->class, known_bytes(ev));
	tally_ended(t, process, ev->class);
	if (ev->flags & EV_NO_BYTES)
		sum->bytes_unknown++;
	if (ev->error)
		note_error(sum, ev);
}

void process_charge(struct process_sum *sum, const struct event *ev)
{
	sum->requests++;
	if (ev->time_ns != TIME_UNTOLD)
		sum->last_ns = ev->time_ns;
	if (ev->flags & EV_NO_BYTES)
		sum->bytes_unknown++;
	if (ev->class == CLASS_READ)
		sum->read_bytes += known_bytes(ev);
	else if (ev->class == CLASS_WRITE)
		sum->write_bytes += known_bytes(ev);
	else if (ev->class == CLASS_FLUSH)
		sum->flushes++;
	else if (ev->class == CLASS_DISCARD)
		sum->discards++;
}

static void count_process(struct process_sum *sum, const struct event *ev, uint64_t whole_ns)
{
	process_charge(sum, ev);
	if (ev->flags & EV_FROM_QUEUE && whole_ns != TIME_NONE)
		hist_add(&sum->q2c, whole_ns);
}

static void hand_out(struct tracker *t, const struct device *d, const struct event *ev,
		     uint64_t start_ns, uint64_t whole_ns)
{
	bool from_queue = ev->flags & EV_FROM_QUEUE;
	struct io io = io_unseen();

	if (from_queue)
		io.queue_ns = start_ns;
	else
		io.issue_ns = io.last_issue_ns = start_ns;
	io.complete_ns = io.end_ns = ev->time_ns;
	io.whole_ns = whole_ns;
	io.sector = ev->sector;
	io.bytes = known_bytes(ev);
	io.pid = ev->pid;
	io.attempts = 1;
	io.dev = d->index;
	io.class = ev->class;
	io.error = ev->error;
	io.flags = ev->flags;
	if (t->options.out.request)
		t->options.out.request(t->options.out.arg, &io);
}

void whole_io(struct tracker *t, const struct event *ev)
{
	const struct track_options *options = &t->options;
	bool timed = ev->time_ns != TIME_UNTOLD;
	uint64_t whole_ns = ev->aux_sector; /* TIME_UNTOLD is TIME_NONE */
	uint64_t start_ns = TIME_NONE;
	struct device *d = device_get(t, ev->device);

	if (timed && whole_ns != TIME_NONE && whole_ns <= ev->time_ns)
		start_ns = ev->time_ns - whole_ns;
	t->counting = !options->count_window_only ||
		      (timed && ev->time_ns >= options->from_ns && ev->time_ns <= options->to_ns);
	if (t->counting) {
		t->sum->events++;
		t->sum->actions[d && ev->class != CLASS_NONE ? ACT_IO : ACT_UNKNOWN]++;
	}
	if (!d || ev->class == CLASS_NONE)
		return;
	if (timed)
		move_times(t, start_ns != TIME_NONE ? start_ns : ev->time_ns, ev->time_ns);
	device_sum(t, d)->have_requests = true;
	t->cpu = cpu_get(t, d, CPU_UNTOLD); /* a table does not tell it */
	if (t->counting) {
		struct process *process = process_get(t, ev->pid);

		count_device(t, device_sum(t, d), process, ev);
		count_process(&process->sum, ev, whole_ns);
		if (whole_ns != TIME_NONE)
			count_latency(device_sum(t, d), ev, whole_ns);
	}
	hand_out(t, d, ev, start_ns, whole_ns);
}
