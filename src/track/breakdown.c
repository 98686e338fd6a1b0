/* SPDX-License-Identifier: MIT */
#include "track/breakdown.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "track/phases.h"

#define CPU_NONE UINT16_MAX /* io.cpu of what has none */

struct breakdown {
	struct breakdown_options options;
	const struct names *names;
	struct hash by_key;
	struct breakdown_row **rows; /* owned array of owned */
	size_t nr, nr_told;
	struct breakdown_row *last; /* where the last one went: the next one often does too */
};

const char *breakdown_key_name(enum breakdown_key key)
{
	static const char *const names[BY_NR] = { "device", "class", "process",
						  "size",   "cpu",   "window" };

	return names[key];
}

/* What a bio or a request is grouped by. */
struct subject {
	uint16_t dev, cpu;
	uint8_t class;
	bool nobody; /* who asked for it is not known */
	uint32_t pid, bytes, flags;
	uint64_t since_ns; /* Q, or the first that was seen of it; TIME_NONE */
};

static uint64_t size_class(uint32_t bytes)
{
	uint64_t most = bytes ? BREAKDOWN_SMALL : 0;

	while (most < bytes)
		most *= 2;
	return most;
}

static bool key_of(const struct breakdown *by, const struct subject *s, uint64_t *key)
{
	const struct breakdown_options *o = &by->options;

	switch (o->key) {
	case BY_CLASS:
		*key = s->class;
		return true;
	case BY_PROCESS:
		*key = s->pid;
		return !s->nobody;
	case BY_SIZE:
		*key = size_class(s->bytes);
		return !(s->flags & EV_NO_BYTES);
	case BY_CPU:
		*key = s->cpu;
		return s->cpu != CPU_NONE;
	case BY_WINDOW:
		*key = s->since_ns > o->origin_ns ? (s->since_ns - o->origin_ns) / o->slice_ns : 0;
		return s->since_ns != TIME_NONE;
	default:
		*key = 0;
		return true;
	}
}

static uint64_t hash_key(uint16_t dev, uint8_t kind, uint64_t key)
{
	return (uint64_t)dev << 48 ^ (uint64_t)kind << 46 ^ key;
}

static bool is_of(const struct breakdown_row *row, uint16_t dev, uint8_t kind, uint64_t key,
		  const char *comm)
{
	return row->dev == dev && row->kind == kind && row->key == key && !strcmp(row->comm, comm);
}

static struct breakdown_row *find(struct breakdown *by, uint16_t dev, uint8_t kind, uint64_t key,
				  const char *comm)
{
	struct hnode *node;

	if (by->last && is_of(by->last, dev, kind, key, comm))
		return by->last;
	for (node = hash_find(&by->by_key, hash_key(dev, kind, key)); node;
	     node = hash_next(node)) {
		struct breakdown_row *row = container_of(node, struct breakdown_row, by_key);

		if (is_of(row, dev, kind, key, comm))
			return row;
	}
	return NULL;
}

static struct breakdown_row *get(struct breakdown *by, uint16_t dev, uint8_t kind, uint64_t key,
				 const char *comm)
{
	struct breakdown_row *row = find(by, dev, kind, key, comm);

	if (!row && kind == ROW_TOLD && by->nr_told == BREAKDOWN_ROWS)
		return get(by, dev, ROW_OTHERS, 0, "");
	if (!row) {
		row = mem_zalloc(sizeof(*row));
		row->dev = dev;
		row->kind = kind;
		row->key = key;
		strcpy(row->comm, comm);
		hash_add(&by->by_key, &row->by_key, hash_key(dev, kind, key));
		by->rows = mem_grow(by->rows, by->nr, sizeof(struct breakdown_row *));
		by->rows[by->nr++] = row;
		by->nr_told += kind == ROW_TOLD;
	}
	by->last = row;
	return row;
}

static struct breakdown_row *row_of(struct breakdown *by, const struct subject *s)
{
	char comm[COMM_LEN + 1] = "";
	struct breakdown_row *row;
	const char *name;
	uint64_t key;

	if (!key_of(by, s, &key)) {
		row = get(by, s->dev, ROW_UNTOLD, 0, "");
	} else {
		name = by->options.key == BY_PROCESS ? names_get(by->names, s->pid, s->since_ns)
						     : NULL;
		if (name)
			strncpy(comm, name, COMM_LEN);
		row = get(by, s->dev, ROW_TOLD, key, comm);
	}
	if (s->since_ns != TIME_NONE && s->since_ns > row->last_ns)
		row->last_ns = s->since_ns;
	return row;
}

static void count(struct breakdown_count *c, const struct subject *s)
{
	bool moves_none = s->class == CLASS_DISCARD || s->class == CLASS_WRITE_ZEROES ||
			  s->class == CLASS_ZONE;

	c->count++;
	if (s->flags & EV_NO_BYTES)
		c->bytes_unknown++;
	else if (s->class != CLASS_FLUSH)
		*(moves_none ? &c->affected_bytes : &c->bytes) += s->bytes;
}

static bool inside(const struct breakdown *by, uint64_t end_ns)
{
	const struct breakdown_options *o = &by->options;

	if (o->from_ns == TIME_NONE && o->to_ns == TIME_NONE)
		return true;
	if (end_ns == TIME_NONE)
		return false;
	return (o->from_ns == TIME_NONE || end_ns >= o->from_ns) && end_ns <= o->to_ns;
}

static void add_phase(void *arg, enum phase phase, uint64_t ns)
{
	struct breakdown_row *row = arg;

	hist_add(&row->latency[phase], ns);
}

static void on_bio(void *arg, const struct io_bio *bio)
{
	const struct subject s = { .dev = bio->dev,
				   .cpu = bio->cpu,
				   .class = bio->class,
				   .pid = bio->pid,
				   .bytes = bio->bytes,
				   .flags = bio->flags,
				   .since_ns = bio->queue_ns };
	struct breakdown *by = arg;
	struct breakdown_row *row;

	if (bio->lost || !inside(by, bio->complete_ns))
		return;
	row = row_of(by, &s);
	count(&row->bios, &s);
	phases_of_bio(bio, add_phase, row);
}

static uint64_t first_seen(const struct io *io)
{
	const uint64_t times[] = { io->queue_ns, io->get_ns, io->insert_ns, io->issue_ns,
				   io->end_ns };

	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++)
		if (times[i] != TIME_NONE)
			return times[i];
	return TIME_NONE;
}

/* A flush command's time at the device stands in its class alone: no bio waits for one as for data. */
static void add_phase_of_command(void *arg, enum phase phase, uint64_t ns)
{
	if (phase != PHASE_D2C)
		add_phase(arg, phase, ns);
}

/* Of few groups: a tail takes more room than the rest of a row. */
bool breakdown_has_tails(const struct breakdown *by)
{
	return by->options.key == BY_DEVICE || by->options.key == BY_CLASS;
}

static void on_request(void *arg, const struct io *io)
{
	const struct subject s = { .dev = io->dev,
				   .cpu = io->whole_ns == TIME_NONE ? io->cpu : CPU_NONE,
				   .class = io->class,
				   .nobody = !io->nr_bios && io->whole_ns == TIME_NONE &&
					     !(io->flags & EV_SUBMITTER),
				   .pid = io->pid,
				   .bytes = io->bytes,
				   .flags = io->flags,
				   .since_ns = first_seen(io) };
	struct breakdown *by = arg;
	struct breakdown_row *row;
	bool command = io->class == CLASS_FLUSH && by->options.key != BY_CLASS;

	if (io->lost || !inside(by, io->end_ns))
		return;
	row = row_of(by, &s);
	count(&row->requests, &s);
	phases_of_request(io, command ? add_phase_of_command : add_phase, row);
	if (breakdown_has_tails(by))
		tail_add(&row->tail, io);
}

struct track_sink breakdown_sink(struct breakdown *by)
{
	return (struct track_sink){ .bio = on_bio, .request = on_request, .arg = by };
}

struct breakdown *breakdown_new(const struct breakdown_options *options, const struct names *names)
{
	struct breakdown *by = mem_zalloc(sizeof(*by));

	by->options = *options;
	by->names = names;
	hash_init(&by->by_key);
	return by;
}

static void row_free(struct breakdown_row *row)
{
	for (int p = 0; p < PHASE_NR; p++)
		hist_release(&row->latency[p]);
	tail_release(&row->tail);
	free(row);
}

void breakdown_free(struct breakdown *by)
{
	if (!by)
		return;
	for (size_t i = 0; i < by->nr; i++)
		row_free(by->rows[i]);
	free(by->rows);
	hash_release(&by->by_key);
	free(by);
}

static void add_count(struct breakdown_count *sum, const struct breakdown_count *c)
{
	sum->count += c->count;
	sum->bytes += c->bytes;
	sum->affected_bytes += c->affected_bytes;
	sum->bytes_unknown += c->bytes_unknown;
}

static void merge(struct breakdown_row *into, const struct breakdown_row *row)
{
	add_count(&into->bios, &row->bios);
	add_count(&into->requests, &row->requests);
	for (int p = 0; p < PHASE_NR; p++)
		hist_merge(&into->latency[p], &row->latency[p]);
}

/* The name of a thread may come only after its first I/O: then it had two rows. */
static void name_late(struct breakdown *by)
{
	size_t left = 0;

	for (size_t i = 0; i < by->nr; i++) {
		struct breakdown_row *row = by->rows[i], *same = NULL;
		const char *name = NULL;

		if (row->kind == ROW_TOLD && !*row->comm)
			name = names_get(by->names, (uint32_t)row->key, row->last_ns);
		if (name) {
			char comm[COMM_LEN + 1] = "";

			strncpy(comm, name, COMM_LEN);
			by->last = NULL;
			same = find(by, row->dev, ROW_TOLD, row->key, comm);
			if (!same)
				strcpy(row->comm, comm);
		}
		if (same) {
			merge(same, row);
			hash_del(&by->by_key, &row->by_key);
			row_free(row);
		} else {
			by->rows[left++] = row;
		}
	}
	by->nr = left;
}

static uint64_t work(const struct breakdown_row *row)
{
	return row->bios.count ? row->bios.bytes : row->requests.bytes;
}

/* Most bytes first, then most I/O. */
static int by_work(const struct breakdown_row *x, const struct breakdown_row *y)
{
	uint64_t nx = x->bios.count + x->requests.count, ny = y->bios.count + y->requests.count;

	if (work(x) != work(y))
		return work(x) < work(y) ? 1 : -1;
	if (nx != ny)
		return nx < ny ? 1 : -1;
	return 0;
}

static int in_order(const struct breakdown_row *x, const struct breakdown_row *y, bool processes)
{
	int order = 0;

	if (x->dev != y->dev)
		return x->dev < y->dev ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (processes)
		order = by_work(x, y);
	if (!order)
		order = (x->key > y->key) - (x->key < y->key);
	return order ? order : strcmp(x->comm, y->comm);
}

static int by_key(const void *a, const void *b)
{
	return in_order(*(struct breakdown_row *const *)a, *(struct breakdown_row *const *)b,
			false);
}

static int by_process(const void *a, const void *b)
{
	return in_order(*(struct breakdown_row *const *)a, *(struct breakdown_row *const *)b, true);
}

void breakdown_finish(struct breakdown *by)
{
	bool processes = by->options.key == BY_PROCESS;

	if (processes)
		name_late(by);
	if (by->nr)
		qsort(by->rows, by->nr, sizeof(struct breakdown_row *),
		      processes ? by_process : by_key);
}

const struct breakdown_options *breakdown_options(const struct breakdown *by)
{
	return &by->options;
}

size_t breakdown_nr(const struct breakdown *by)
{
	return by->nr;
}

const struct breakdown_row *breakdown_row(const struct breakdown *by, size_t i)
{
	return by->rows[i];
}
