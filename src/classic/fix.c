/* SPDX-License-Identifier: MIT
 *
 * One run of blkparse --fix. Filters choose the lines that are shown; what happened is counted
 * from all events.
 */
#include "classic/fix.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/limit.h"
#include "classic/statistics.h"
#include "classic/stop.h"
#include "read/formats.h"

#define BATCH 256

struct fix {
	const struct blkparse_options *o; /* borrowed */
	struct out text;                  /* writer NULL: not wanted */
	struct inputs inputs;
	struct facts facts;
	struct sources sources;
	struct source *merged;
	struct summary sum;
	struct tracker *tracker;
	struct hash waits; /* of struct fix_waits by pid; nodes are of the slab */
	struct slab wait_slab;
	uint64_t genesis_ns;
	bool live; /* an input is a pipe: what came is shown at once */
	bool numbered, driver_data;
	struct stop stop;
};

/* ---- inputs ---- */

/* A directory in a name stays in force for the names after it, as in the classic. */
static int add_inputs(struct fix *fix, struct error *err)
{
	const struct blkparse_options *o = fix->o;
	char *dir = o->input_dir ? mem_strdup(o->input_dir) : NULL;
	struct rlimit old;
	int ret = 0;

	limit_raise_files(&old); /* there is a file per CPU */
	for (size_t i = 0; !ret && i < o->nr_inputs; i++) {
		const char *input = o->inputs[i], *slash = strrchr(input, '/');
		bool as_it_is = slash || !dir || !strcmp(input, "-");
		char *path = as_it_is ? mem_strdup(input) : mem_printf("%s/%s", dir, input);

		if (slash) {
			free(dir);
			dir = mem_strndup(input, slash > input ? (size_t)(slash - input) : 1);
		}
		fix->live |= input_is_pipe(path);
		ret = inputs_add(&fix->inputs, path, err);
		free(path);
	}
	free(dir);
	return ret;
}

/* What two recordings of one device count would be added up. */
static int check_twice(const struct facts *facts, struct error *err)
{
	const struct device_twice *twice = &facts->twice;

	if (!twice->found)
		return 0;
	return error_set(err,
			 "%.100s and %.100s are two recordings of device %u,%u: give them one by "
			 "one",
			 facts->inputs[twice->first].path, facts->inputs[twice->second].path,
			 DEVICE_MAJOR(twice->device), DEVICE_MINOR(twice->device));
}

/* ---- lines ---- */

static struct fix_waits *waits_get(struct fix *fix, uint32_t pid)
{
	struct hnode *node = hash_find(&fix->waits, pid);
	struct fix_waits *waits;

	if (node)
		return container_of(node, struct fix_waits, by_pid);
	waits = slab_get(&fix->wait_slab);
	*waits = (struct fix_waits){ 0 };
	hash_add(&fix->waits, &waits->by_pid, pid);
	return waits;
}

static void charge_wait(struct fix *fix, const struct event *ev, uint32_t pid, uint64_t elapsed_ns)
{
	enum timed_wait wait = ev->action == ACT_INSERT  ? TIMED_ALLOCATION
			       : ev->action == ACT_ISSUE ? TIMED_DISPATCH
							 : TIMED_COMPLETION;
	uint64_t *longest = &waits_get(fix, pid)->longest_ns[wait][ev->class != CLASS_READ];

	if (*longest < elapsed_ns)
		*longest = elapsed_ns;
}

/* -t: of what the tracker has just seen. */
static uint64_t elapsed_of(struct fix *fix, const struct event *ev)
{
	struct track_step step;

	if (!fix->o->track)
		return ELAPSED_NONE;
	step = tracker_step(fix->tracker);
	if (step.since_ns == TIME_NONE || step.since_ns > ev->time_ns)
		return ELAPSED_NONE;
	if (fix->o->per_program)
		charge_wait(fix, ev, step.pid, ev->time_ns - step.since_ns);
	return ev->time_ns - step.since_ns;
}

static uint64_t wall_ns(const struct fix *fix)
{
	const struct facts *facts = &fix->facts;

	return facts->have_wall ? facts->wall_ns + (fix->genesis_ns - facts->wall_at_ns) : 0;
}

/* The name at that time; the classic's first one of a pid holds for ever. */
static const struct comm *comm_at(const struct fix *fix, const struct event *ev, struct comm *comm)
{
	const char *name = names_get(&fix->facts.names, ev->pid, ev->time_ns);

	if (!name)
		return NULL;
	comm->pid = ev->pid;
	comm->len = (uint8_t)strnlen(name, COMM_BYTES - 1);
	memcpy(comm->name, name, comm->len);
	comm->name[comm->len] = '\0';
	return comm;
}

static void print_line(struct fix *fix, const struct event *ev, const struct record *r,
		       uint64_t elapsed_ns)
{
	struct line_context context = { .o = fix->o, .wall_ns = wall_ns(fix) };
	struct comm comm;

	if (ev->action == ACT_MESSAGE) {
		line_message(&fix->text, &context, r);
	} else if (ev->action == ACT_DRV_DATA) {
		fix->driver_data = true;
	} else if (line_action(r, fix->o->classic)) {
		struct fix_error error = fix_error(ev->error);

		line_event(&fix->text, &context, r, comm_at(fix, ev, &comm), elapsed_ns,
			   ev->error ? error.text : NULL);
	}
}

static void show(struct fix *fix, const struct event *ev)
{
	const struct blkparse_options *o = fix->o;
	uint64_t elapsed_ns = elapsed_of(fix, ev);
	uint8_t pdu[FIX_PDU_BYTES];
	struct record r;

	if (!fix->text.writer || !fix_record(&r, ev, fix->genesis_ns, pdu))
		return;
	if ((r.h.categories & o->mask) && r.h.time_ns >= o->from_ns && r.h.time_ns <= o->to_ns)
		print_line(fix, ev, &r, elapsed_ns);
}

static void take(struct fix *fix, const struct event *events, int nr)
{
	struct sink *sink = tracker_sink(fix->tracker);

	for (int i = 0; i < nr; i++) {
		sink->ops->events(sink, &events[i], 1);
		fix->numbered |= events[i].sequence != 0;
		show(fix, &events[i]);
	}
	if (fix->live && fix->text.writer)
		out_flush(&fix->text);
}

/* ---- the run ---- */

static uint64_t after(uint64_t genesis_ns, uint64_t ns)
{
	return ns > TIME_NONE - genesis_ns ? TIME_NONE : genesis_ns + ns;
}

/* -w: the window of report --window. */
static void make_tracker(struct fix *fix, const struct event *events, int nr)
{
	const struct blkparse_options *o = fix->o;
	struct track_options to = { .from_ns = TIME_NONE,
				    .to_ns = TIME_NONE,
				    .count_processes = o->per_program };

	fix->genesis_ns = nr && events[0].time_ns != TIME_UNTOLD ? events[0].time_ns : 0;
	if (o->from_ns || o->to_ns != UINT64_MAX) {
		to.from_ns = after(fix->genesis_ns, o->from_ns);
		to.to_ns = after(fix->genesis_ns, o->to_ns);
		to.count_window_only = true;
	}
	fix->tracker = tracker_new(&to, &fix->facts, &fix->sum);
}

static int read_all(struct fix *fix, struct error *err)
{
	struct event events[BATCH];
	struct sink *sink;
	int nr;

	nr = source_pull(fix->merged, events, BATCH, err);
	make_tracker(fix, events, nr);
	while (nr > 0 && check_twice(&fix->facts, err) == 0) {
		take(fix, events, nr);
		if (stop_asked(fix->stop.fd))
			break;
		nr = source_pull(fix->merged, events, BATCH, err);
	}
	sink = tracker_sink(fix->tracker);
	sink->ops->finish(sink);
	return nr < 0 ? -1 : check_twice(&fix->facts, err);
}

static void print_statistics(struct fix *fix, const struct fix_result *result)
{
	const struct blkparse_options *o = fix->o;
	bool grouped = statistics_grouped(o);

	if (!fix->text.writer)
		return;
	if (o->per_program)
		fix_processes(&fix->text, result, grouped);
	if (!o->quiet)
		fix_devices(&fix->text, result, grouped);
	if (fix->driver_data)
		out_printf(&fix->text, "\ndiscarded traces containing low-level device driver "
				       "specific data (only available in binary output)\n");
}

static int run(struct fix *fix, struct error *err)
{
	const struct blkparse_options *o = fix->o;
	struct source_stats stats;
	struct fix_result result = { .o = o,
				     .sum = &fix->sum,
				     .facts = &fix->facts,
				     .stats = &stats,
				     .waits = &fix->waits };
	int ret;

	if (add_inputs(fix, err) < 0 ||
	    inputs_open(&fix->inputs, &fix->facts, &fix->sources, err) < 0)
		return -1;
	if (!o->no_text && out_open(&fix->text, o->output) < 0)
		return error_errno(err, errno, "%s", o->output);
	fix->merged = merge_new(&fix->sources);
	/* Not before: opening a FIFO waits for its writer. And one that is silent is read for as long as it
	 * is, so there only Ctrl-C ends the reading, which its writer gets as well. */
	stop_catch(&fix->stop, fix->live);
	ret = read_all(fix, err);
	stop_release(&fix->stop);
	if (ret < 0)
		return -1;
	stats = merge_stats(fix->merged);
	result.numbered = fix->numbered;
	print_statistics(fix, &result);
	for (size_t i = 0; o->verbose && i < fix->facts.nr_notes; i++)
		fprintf(stderr, "%s\n", fix->facts.notes[i]);
	return facts_have_losses(&fix->facts, &stats) ? STATUS_LOSSES : STATUS_DONE;
}

static void release(struct fix *fix)
{
	source_release(fix->merged);
	sources_release(&fix->sources);
	tracker_free(fix->tracker);
	summary_release(&fix->sum);
	facts_release(&fix->facts);
	inputs_release(&fix->inputs);
	hash_release(&fix->waits);
	slab_release(&fix->wait_slab);
}

int fix_run(const struct blkparse_options *o, struct error *err)
{
	struct fix fix = { .o = o };
	struct error late = { 0 };
	int status;

	if (o->dump)
		return error_usage(err, "--fix counts and writes no dump: leave out -d or --fix");
	facts_init(&fix.facts);
	hash_init(&fix.waits);
	slab_init(&fix.wait_slab, sizeof(struct fix_waits));
	status = run(&fix, err);
	if (out_close(&fix.text, &late) < 0 && status >= 0) {
		*err = late;
		status = -1;
	}
	release(&fix);
	return status;
}
