/* SPDX-License-Identifier: MIT */
#include "classic/blkparse.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "classic/statistics.h"
#include "classic/stop.h"

#define NS_PER_S UINT64_C(1000000000)

struct device *blkparse_device(struct blkparse *bp, uint32_t number, const char *name)
{
	struct device *device;

	bp->devices = mem_grow(bp->devices, bp->nr_devices, sizeof(*bp->devices));
	device = &bp->devices[bp->nr_devices++];
	*device = (struct device){ .number = number, .name = mem_strdup(name) };
	return device;
}

/* The payload as it was, with the cgroup id in front that was taken off. */
static void dump_record(struct out *out, const struct record *r)
{
	uint8_t header[BLKTRACE_V8_BYTES];
	size_t taken = r->cgroup ? 8 : 0;

	out_bytes(out, header, record_encode(r, header));
	out_bytes(out, r->pdu - taken, r->h.pdu_len + taken);
}

void blkparse_note(struct blkparse *bp, const struct record *r)
{
	uint32_t number = r->h.categories == TC_NOTIFY ? r->h.number : UINT32_MAX;

	if (number == NOTE_PROCESS) {
		comms_note(&bp->comms, r->h.pid, r->pdu, r->h.pdu_len);
	} else if (number == NOTE_TIMESTAMP && r->h.pdu_len >= 8) {
		bp->wall_at_ns = r->h.time_ns;
		bp->wall_ns =
			bytes_u32(r->pdu, r->swap) * NS_PER_S + bytes_u32(r->pdu + 4, r->swap);
	}
	if (bp->dump.writer)
		dump_record(&bp->dump, r);
}

static void bad_action(const struct record *r)
{
	uint32_t number = r->h.number;

	if (r->h.categories & TC_PC)
		fprintf(stderr, "Bad pc action %x\n", number);
	else
		fprintf(stderr, "Bad fs action %x\n", number | r->h.categories << 16);
}

/* With files the classic takes the note's time for that of the first event. */
static uint64_t wall_of_genesis(const struct blkparse *bp)
{
	return bp->wall_ns && bp->pipe ? bp->wall_ns + bp->genesis_ns - bp->wall_at_ns
				       : bp->wall_ns;
}

/* The classic charges these behind their line, which matters where a pid becomes "unknown" by it. */
static bool charged_late(const struct record *r)
{
	return r->h.number == ACT_QUEUE && (r->h.categories & TC_PC);
}

/* Counts and prints one that passed the filters. */
static void show(struct blkparse *bp, struct device *device, struct cpu *cpu, struct record *r)
{
	const struct line_context context = { .o = bp->o, .wall_ns = wall_of_genesis(bp) };
	struct timed timed = { .elapsed_ns = ELAPSED_NONE };

	if (r->h.categories & TC_NOTIFY) {
		line_message(&bp->text, &context, r);
		return;
	}
	if (r->h.number == ACT_DRV_DATA && !(r->h.categories & TC_PC)) {
		bp->driver_data = true;
		return;
	}
	if (!line_action(r, bp->o->classic)) {
		bad_action(r);
		return;
	}
	if (bp->o->track)
		timed = timing_take(&device->timing, r, device->number, bp->o->verbose);
	if (timed.created)
		processes_name(&bp->comms, r->h.pid);
	counters_take(&cpu->counters, r);
	device_depth(device, r);
	if (bp->o->per_program && !charged_late(r))
		processes_take(&bp->processes, &bp->comms, r, &timed);
	/* For good, so also in the dump; not where the line has a format of its own. */
	if (r->h.number == ACT_REMAP && r->h.pdu_len >= 16 && !bp->o->formats.of['A'])
		r->h.device = bytes_be32(r->pdu + 4);
	line_event(&bp->text, &context, r, comms_get(&bp->comms, r->h.pid), timed.elapsed_ns, NULL);
	if (bp->o->per_program && charged_late(r))
		processes_take(&bp->processes, &bp->comms, r, &timed);
}

bool blkparse_take(struct blkparse *bp, struct device *device, struct cpu *cpu, struct record *r)
{
	const struct blkparse_options *o = bp->o;

	cpu->events++;
	r->h.time_ns -= bp->genesis_ns;
	if (r->h.time_ns > o->to_ns)
		return false;
	device->last_read_ns = r->h.time_ns;
	if (!(r->h.categories & o->mask) || r->h.time_ns < o->from_ns)
		return true;
	if (!device->events++)
		device->first_shown_ns = r->h.time_ns;
	if (bp->text.writer)
		show(bp, device, cpu, r);
	if (bp->dump.writer && !(o->no_messages && (r->h.categories & TC_NOTIFY)))
		dump_record(&bp->dump, r);
	return true;
}

/* 1.3 ends with it. */
static void print_start(struct blkparse *bp)
{
	time_t start = (time_t)(wall_of_genesis(bp) / NS_PER_S);
	char text[32];

	if (start && ctime_r(&start, text))
		out_printf(&bp->text, "Trace started at %s\n", text);
}

static void print_statistics(struct blkparse *bp)
{
	const struct blkparse_options *o = bp->o;
	bool grouped = statistics_grouped(o);

	if (!bp->text.writer)
		return;
	if (o->per_program)
		statistics_processes(&bp->text, &bp->processes, &bp->comms, o, grouped);
	if (!o->quiet)
		statistics_devices(&bp->text, bp->devices, bp->nr_devices, grouped);
	if (o->classic != CLASSIC_1_2)
		print_start(bp);
	if (bp->driver_data && !bp->dump.writer)
		printf("\ndiscarded traces containing low-level device driver "
		       "specific data (only available in binary output)\n");
}

/* With the classic's words where a file cannot be opened. */
static bool open_outputs(struct blkparse *bp)
{
	const struct blkparse_options *o = bp->o;

	if (!o->no_text && out_open(&bp->text, o->output) < 0) {
		perror("fopen");
		return false;
	}
	if (o->dump && out_open(&bp->dump, strcmp(o->dump, "-") != 0 ? o->dump : NULL) < 0) {
		perror(o->dump);
		return false;
	}
	return true;
}

static void release(struct blkparse *bp)
{
	for (size_t i = 0; i < bp->nr_devices; i++)
		device_release(&bp->devices[i]);
	free(bp->devices);
	processes_release(&bp->processes);
	comms_release(&bp->comms);
}

/* The first input that is a pipe, or NULL. */
static const char *find_pipe(const struct blkparse_options *o)
{
	for (size_t i = 0; i < o->nr_inputs; i++)
		if (input_is_pipe(o->inputs[i]))
			return o->inputs[i];
	return NULL;
}

/* A FIFO that nobody has opened for writing yet must not wait where no signal reaches. Where standard input was
 * closed, main has put something there that cannot be read. -1 with errno. */
static int open_pipe(struct blkparse *bp, const char *path)
{
	struct pollfd fds[2] = { { .fd = bp->stop_fd, .events = POLLIN }, { .events = POLLIN } };

	if (!strcmp(path, "-")) {
		if ((fcntl(STDIN_FILENO, F_GETFL) & O_ACCMODE) != O_WRONLY)
			return STDIN_FILENO;
		errno = EBADF;
		return -1;
	}
	fds[1].fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fds[1].fd < 0)
		return -1;
	poll(fds, 2, -1);
	fcntl(fds[1].fd, F_SETFL, 0);
	return fds[1].fd;
}

/* It alone is read; what else was named are names for the devices in it. */
static int read_pipe(struct blkparse *bp, const char *path)
{
	int fd = open_pipe(bp, path), status;

	if (fd < 0) {
		perror(strcmp(path, "-") != 0 ? path : "dup stdin");
		return 255;
	}
	bp->pipe = true;
	for (size_t i = 0; i < bp->o->nr_inputs; i++)
		if (bp->o->inputs[i] != path)
			blkparse_device(bp, 0, bp->o->inputs[i]);
	status = stop_asked(bp->stop_fd) ? 0 : pipe_run(bp, fd);
	if (fd != STDIN_FILENO)
		close(fd);
	return status;
}

static int read_inputs(struct blkparse *bp)
{
	const char *path = find_pipe(bp->o);

	return path ? read_pipe(bp, path) : files_run(bp);
}

static int run(struct blkparse *bp, struct error *err)
{
	int status = 1;

	if (open_outputs(bp))
		status = read_inputs(bp);
	if (!status)
		print_statistics(bp);
	/* Both, whatever becomes of the first: each has what is not written yet. */
	if ((out_close(&bp->text, err) < 0) | (out_close(&bp->dump, err) < 0))
		status = 1;
	return status;
}

int blkparse_run(const struct blkparse_options *o)
{
	struct blkparse bp = { .o = o };
	struct error err = { 0 };
	struct stop stop;
	int status;

	stop_catch(&stop, false);
	bp.stop_fd = stop.fd;
	comms_init(&bp.comms);
	processes_init(&bp.processes, o->by_name);
	status = run(&bp, &err);
	if (err.status)
		fprintf(stderr, "blkparse: %s\n", err.text);
	release(&bp);
	stop_release(&stop);
	return status;
}
