/* SPDX-License-Identifier: MIT
 *
 * Pipe mode of blkparse: one stream with the records of all devices and CPUs, put in order. What was read
 * together, a round, joins the waiting records; then those whose turn it is are shown, the earliest first.
 * The first one whose number does not follow on its CPU holds up all others: the one in between may still
 * come. The classic waits for it until the input ends, this one within limits.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/container.h"
#include "base/mem.h"
#include "classic/blkparse.h"
#include "classic/pipe_cpu.h"
#include "classic/pipe_input.h"

#define MOST_WAITING (1u << 20) /* records; 160 MB */
#define MOST_PAYLOAD \
	(64u << 20)        /* bytes of payloads of waiting records, as far as they are copied */
#define PATIENCE_MS 3000   /* with a number that is missing, and with the rest of a record */
#define MOST_CPUS   65536u /* of all devices */
#define SHORT_BYTES 24u    /* of a payload in the record's own memory: all but messages */

struct held {
	struct record r;
	size_t device;     /* index */
	uint64_t since_ms; /* when it was read */
	uint8_t payload[SHORT_BYTES];
};

struct waiting {
	uint64_t time_ns; /* since genesis; wraps for what is earlier */
	uint64_t place;   /* device and sequence */
	uint64_t order;   /* among equals */
	struct held *held;
};

struct known_device {
	struct hnode node; /* by number */
	size_t index;
};

struct pipe {
	struct blkparse *bp; /* borrowed */
	struct pipe_input in;
	struct slab all_held, all_known;
	struct hash known;
	struct known_device *last_known;
	size_t nr_cpus;      /* room for them in all devices */
	struct held **round; /* owned array */
	size_t nr_round;
	struct waiting *heap; /* owned array */
	size_t nr;
	uint64_t order;   /* of the next one in the heap */
	size_t payload;   /* bytes that are copied */
	uint64_t now_ms;  /* when the last round was read */
	uint64_t refused; /* records of CPUs that there is no room for */
};

bool input_is_pipe(const char *path)
{
	struct stat st;

	return !strcmp(path, "-") || (stat(path, &st) == 0 && S_ISFIFO(st.st_mode));
}

static uint64_t clock_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

/* ---- records that are held ---- */

/* The payload with the cgroup id before it. */
static size_t copied_bytes(const struct record *r)
{
	return r->h.pdu_len + (r->cgroup ? 8u : 0u);
}

static void copy_payload(struct pipe *p, struct held *held)
{
	size_t before = held->r.cgroup ? 8 : 0, n = copied_bytes(&held->r);
	uint8_t *copy = held->payload;

	if (!n)
		return;
	if (n > SHORT_BYTES) {
		copy = mem_resize(NULL, n, 1);
		p->payload += n;
	}
	memcpy(copy, held->r.pdu - before, n);
	held->r.pdu = copy + before;
}

static void let_go(struct pipe *p, struct held *held)
{
	size_t n = copied_bytes(&held->r);

	if (n > SHORT_BYTES) {
		free((void *)(held->r.pdu - (held->r.cgroup ? 8 : 0)));
		p->payload -= n;
	}
	slab_put(&p->all_held, held);
}

/* ---- the order ---- */

static bool before(const struct waiting *a, const struct waiting *b)
{
	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns;
	return a->place != b->place ? a->place < b->place : a->order < b->order;
}

static struct waiting waiting_for(struct pipe *p, struct held *held)
{
	return (struct waiting){ .time_ns = held->r.h.time_ns,
				 .place = (uint64_t)held->r.h.device << 32 | held->r.h.sequence,
				 .order = p->order++,
				 .held = held };
}

static void push(struct pipe *p, struct held *held)
{
	struct waiting w = waiting_for(p, held);
	size_t at = p->nr, up;

	p->heap = mem_grow(p->heap, p->nr, sizeof(*p->heap));
	for (p->nr++; at && before(&w, &p->heap[up = (at - 1) / 2]); at = up)
		p->heap[at] = p->heap[up];
	p->heap[at] = w;
}

static struct held *pop(struct pipe *p)
{
	struct held *first = p->heap[0].held;
	struct waiting w = p->heap[--p->nr];
	size_t at = 0, down;

	while ((down = 2 * at + 1) < p->nr) {
		down += down + 1 < p->nr && before(&p->heap[down + 1], &p->heap[down]);
		if (!before(&p->heap[down], &w))
			break;
		p->heap[at] = p->heap[down];
		at = down;
	}
	p->heap[at] = w;
	return first;
}

/* ---- whose turn it is ---- */

/* A message has no number of its own. */
static bool waits_too_long(const struct pipe *p, const struct held *held)
{
	return p->nr > MOST_WAITING || p->payload > MOST_PAYLOAD ||
	       p->now_ms - held->since_ms >= PATIENCE_MS;
}

/* Shows it if it may, and lets it go. `ended`: no missing number can come any more. */
static bool show(struct pipe *p, struct held *held, bool ended)
{
	struct blkparse *bp = p->bp;
	struct device *device = &bp->devices[held->device];
	struct cpu *cpu = device_cpu(device, held->r.h.cpu);
	uint32_t sequence = held->r.h.sequence;

	if (record_is_message(&held->r)) {
		;
	} else if (!cpu->pipe) {
		pipe_cpu_start(cpu, sequence);
	} else if (pipe_cpu_follows(cpu, sequence)) {
		cpu->pipe->last = sequence;
	} else {
		if (!ended && !pipe_cpu_is_late(cpu, sequence) && !waits_too_long(p, held))
			return false;
		pipe_cpu_skip_to(device, cpu, sequence, ended ? PIPE_CLASSIC : PIPE_RIGHT);
	}
	held->r.h.time_ns += bp->genesis_ns;
	blkparse_take(bp, device, cpu, &held->r);
	let_go(p, held);
	return true;
}

static void show_waiting(struct pipe *p, bool ended)
{
	while (p->nr && show(p, p->heap[0].held, ended))
		pop(p);
}

/* ---- rounds ---- */

/* A device that the command line names beside the pipe lends its name to the next that comes. */
static struct known_device *add_device(struct pipe *p, uint32_t number)
{
	struct known_device *known = slab_get(&p->all_known);
	struct blkparse *bp = p->bp;
	size_t i = 0;
	char name[24];

	while (i < bp->nr_devices && bp->devices[i].number)
		i++;
	if (i == bp->nr_devices) {
		snprintf(name, sizeof(name), "%u,%u", number >> 20, number & 0xfffffu);
		blkparse_device(bp, number, name);
	}
	bp->devices[i].number = number;
	known->index = i;
	hash_add(&p->known, &known->node, number);
	return known;
}

/* Finds the device; false: its CPU's number asks for more memory than any machine's would. */
static bool find_device(struct pipe *p, struct held *held)
{
	uint32_t number = held->r.h.device, cpu = held->r.h.cpu;
	struct known_device *known = p->last_known;
	struct device *device;
	size_t more;

	if (!known || known->node.key != number) {
		struct hnode *node = hash_find(&p->known, number);

		known = node ? container_of(node, struct known_device, node) : NULL;
	}
	more = known ? p->bp->devices[known->index].nr_cpus : 0;
	more = cpu >= more ? cpu + (size_t)1 - more : 0;
	if (cpu >= CPUS_MAX || more > MOST_CPUS - p->nr_cpus)
		return false;
	if (!known)
		known = add_device(p, number);
	p->last_known = known;
	device = &p->bp->devices[known->index];
	p->nr_cpus += more;
	device_cpu(device, cpu);
	held->device = known->index;
	return true;
}

/* Takes notes at once, everything else into the round. */
static void add_to_round(struct pipe *p, struct held *held)
{
	if (record_is_note(&held->r)) {
		blkparse_note(p->bp, &held->r);
		slab_put(&p->all_held, held);
	} else if (!find_device(p, held)) {
		p->refused++;
		slab_put(&p->all_held, held);
	} else {
		copy_payload(p, held);
		p->round = mem_grow(p->round, p->nr_round, sizeof(*p->round));
		p->round[p->nr_round++] = held;
	}
}

/* How long to wait for input: until the first waiting record has waited too long. */
static int patience_ms(const struct pipe *p)
{
	uint64_t waits;

	if (!p->nr)
		return -1;
	waits = clock_ms() - p->heap[0].held->since_ms;
	return waits >= PATIENCE_MS ? 0 : (int)(PATIENCE_MS - waits);
}

/* Before waiting, what was shown is on its way. The rest of a record that has begun is waited for, as the
 * classic does: a pipe that pauses there has not ended the round. */
static enum pipe_got next_of_round(struct pipe *p, struct record *r)
{
	enum pipe_got got = pipe_input_next(&p->in, 0, r);

	if (got != PIPE_PART && (got != PIPE_NOTHING || p->nr_round))
		return got;
	if (p->bp->text.writer)
		out_flush(&p->bp->text);
	if (p->bp->dump.writer)
		out_flush(&p->bp->dump);
	return pipe_input_next(&p->in, p->nr_round ? PATIENCE_MS : patience_ms(p), r);
}

/* Reads what is there, a batch at most. False: nothing, and nothing more will come. Bytes that are no record
 * end a round, and the input where they come first. */
static bool read_round(struct pipe *p)
{
	size_t most = p->bp->o->batch < MOST_WAITING ? p->bp->o->batch : MOST_WAITING;
	enum pipe_got got = PIPE_RECORD;

	p->nr_round = 0;
	while (got == PIPE_RECORD && p->nr_round < most && p->payload <= MOST_PAYLOAD) {
		struct held *held = slab_get(&p->all_held);

		got = next_of_round(p, &held->r);
		if (got == PIPE_RECORD)
			add_to_round(p, held);
		else
			slab_put(&p->all_held, held);
	}
	p->now_ms = clock_ms();
	return p->nr_round || got == PIPE_NOTHING || got == PIPE_PART;
}

/* Genesis is the first round's earliest time; where that is 0, the classic takes the next round's. */
static void set_genesis(struct pipe *p)
{
	uint64_t first_ns = UINT64_MAX;

	if (p->bp->genesis_ns || !p->nr_round)
		return;
	for (size_t i = 0; i < p->nr_round; i++)
		if (p->round[i]->r.h.time_ns < first_ns)
			first_ns = p->round[i]->r.h.time_ns;
	p->bp->genesis_ns = first_ns;
}

/* Makes times relative and drops what is outside of the window. False: all of the round is behind it, as
 * the classic sees that (from the last record back, and a 0 is forgotten again). */
static bool trim_round(struct pipe *p)
{
	const struct blkparse_options *o = p->bp->o;
	uint64_t earliest_ns = 0;
	size_t nr = 0;

	set_genesis(p);
	for (size_t i = p->nr_round; i--;) {
		uint64_t time_ns = p->round[i]->r.h.time_ns -= p->bp->genesis_ns;

		if (time_ns < earliest_ns || !earliest_ns)
			earliest_ns = time_ns;
	}
	for (size_t i = 0; i < p->nr_round; i++) {
		struct held *held = p->round[i];

		held->since_ms = p->now_ms;
		if (held->r.h.time_ns >= o->from_ns && held->r.h.time_ns < o->to_ns)
			p->round[nr++] = held;
		else
			let_go(p, held);
	}
	p->nr_round = nr;
	return earliest_ns <= o->to_ns;
}

static bool round_in_order(const struct pipe *p)
{
	for (size_t i = 1; i < p->nr_round; i++) {
		const struct blktrace_header *a = &p->round[i - 1]->r.h, *b = &p->round[i]->r.h;

		if (a->time_ns > b->time_ns)
			return false;
		if (a->time_ns == b->time_ns &&
		    (a->device > b->device ||
		     (a->device == b->device && a->sequence >= b->sequence)))
			return false;
	}
	return true;
}

/* Equals of one round come in the reverse of the order they were read in. */
static void take_round(struct pipe *p, bool last)
{
	size_t at = 0;

	if (!p->nr && !last && round_in_order(p))
		while (at < p->nr_round && show(p, p->round[at], false))
			at++;
	while (p->nr_round > at)
		push(p, p->round[--p->nr_round]);
	if (!last)
		show_waiting(p, false);
}

static void tell(const struct pipe *p)
{
	const struct blkparse *bp = p->bp;

	if (bp->o->verbose && !bp->o->quiet && bp->text.writer)
		for (size_t i = 0; i < bp->nr_devices; i++)
			for (size_t cpu = 0; cpu < bp->devices[i].nr_cpus; cpu++)
				pipe_cpu_print(stderr, &bp->devices[i], &bp->devices[i].cpus[cpu]);
	if (p->refused)
		fprintf(stderr,
			"%llu records left out: of CPU numbers from %u on, or of more than %u "
			"CPUs\n",
			(unsigned long long)p->refused, CPUS_MAX, MOST_CPUS);
}

int pipe_run(struct blkparse *bp, int fd)
{
	struct pipe p = { .bp = bp };
	bool last = false;

	slab_init(&p.all_held, sizeof(struct held));
	slab_init(&p.all_known, sizeof(struct known_device));
	hash_init(&p.known);
	pipe_input_init(&p.in, fd, bp->stop_fd, bp->o->classic);
	while (!last && read_round(&p)) {
		last = !trim_round(&p);
		take_round(&p, last);
	}
	show_waiting(&p, true);
	tell(&p);
	pipe_input_release(&p.in);
	hash_release(&p.known);
	slab_release(&p.all_known);
	slab_release(&p.all_held);
	free(p.round);
	free(p.heap);
	return 0;
}
