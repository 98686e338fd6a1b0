/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 *
 * What runs in the kernel: a hook on each tracepoint of the block layer, that hands on who did what
 * where. What is read are the arguments of the tracepoints and the few members of bpf_kernel.h; what
 * is counted as bytes and sectors is what the kernel's own trace events print (model.md 16).
 */
#include "record/bpf_kernel.h"

#include "record/bpf_config.h"
#include "trace/event.h"

char LICENSE[] SEC("license") =
	"Dual MIT/GPL"; /* some helpers are for GPL-compatible programs only */

#define PATHS_MAX 16

const volatile struct bpf_config config;

struct ring {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 16); /* of an example; the real ones may be larger */
};

/* By CPU; one without a ring of its own has another's. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1); /* set when loaded */
	__type(key, uint32_t);
	__array(values, struct ring);
} rings SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, struct bpf_cpu);
} cpus SEC(".maps");

#include "record/bpf_ids.h"

/* ---- storing ---------------------------------------------------------------------------------- */

static __always_inline struct bpf_cpu *this_cpu(void)
{
	uint32_t zero = 0;

	return bpf_map_lookup_elem(&cpus, &zero);
}

static __always_inline bool put(const void *record, uint32_t size)
{
	uint32_t cpu = bpf_get_smp_processor_id();
	void *ring = bpf_map_lookup_elem(&rings, &cpu);

	return ring && !bpf_ringbuf_output(ring, (void *)record, size, BPF_RB_NO_WAKEUP);
}

/* There is room again, perhaps: first, that there was none. */
static __noinline int tell_lost(struct bpf_cpu *cpu)
{
	struct bpf_lost lost = { .kind = KIND_LOST, .words = sizeof(lost) / 8 };

	if (!cpu)
		return 0;
	lost.cpu = bpf_get_smp_processor_id();
	lost.time_ns = bpf_ktime_get_ns();
	lost.count = cpu->pending;
	lost.from_ns = cpu->lost_from_ns;
	if (put(&lost, sizeof(lost)))
		__sync_fetch_and_add(&cpu->pending, -lost.count);
	return 0;
}

/* `nr` records of `size` bytes together. An interrupt may come in between: counted atomically. */
static __always_inline void emit(struct bpf_cpu *cpu, const void *records, uint32_t size,
				 uint32_t nr)
{
	if (cpu->pending)
		tell_lost(cpu);
	if (put(records, size)) {
		__sync_fetch_and_add(&cpu->records, nr);
		return;
	}
	__sync_fetch_and_add(&cpu->lost, nr);
	if (!__sync_fetch_and_add(&cpu->pending, nr))
		cpu->lost_from_ns = bpf_ktime_get_ns();
}

/* ---- names ------------------------------------------------------------------------------------ */

static __noinline int tell_name(struct bpf_cpu *cpu)
{
	struct bpf_task name = { .kind = KIND_NAME, .words = sizeof(name) / 8 };
	uint64_t who = bpf_get_current_pid_tgid();

	if (!cpu)
		return 0;
	cpu->names[(uint32_t)who % BPF_NAMES_SEEN] = (uint32_t)who;
	name.cpu = bpf_get_smp_processor_id();
	name.pid = (uint32_t)who;
	name.tgid = who >> 32;
	name.time_ns = bpf_ktime_get_ns();
	bpf_get_current_comm(name.comm, sizeof(name.comm));
	emit(cpu, &name, sizeof(name), 1);
	return 0;
}

/* Once in a while for each thread: names change, which the hooks below tell, and threads end. */
static __always_inline void note_name(struct bpf_cpu *cpu, uint32_t pid)
{
	if (pid && cpu->names[pid % BPF_NAMES_SEEN] != pid)
		tell_name(cpu);
}

static __always_inline void tell_task(uint8_t kind, const struct task_struct *task, uint32_t pid,
				      uint32_t child, const char *comm)
{
	struct bpf_task record = {
		.kind = kind, .words = sizeof(record) / 8, .pid = pid, .child = child
	};
	struct bpf_cpu *cpu = this_cpu();

	if (!cpu)
		return;
	record.cpu = bpf_get_smp_processor_id();
	record.time_ns = bpf_ktime_get_ns();
	record.tgid = task->tgid;
	bpf_probe_read_kernel_str(record.comm, sizeof(record.comm), comm);
	emit(cpu, &record, sizeof(record), 1);
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(sched_process_fork, struct task_struct *parent, struct task_struct *child)
{
	tell_task(KIND_FORK, child, parent->pid, child->pid, child->comm);
	return 0;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(sched_process_exec, struct task_struct *task)
{
	tell_task(KIND_NAME, task, task->pid, 0, task->comm);
	return 0;
}

SEC("tp_btf/task_rename")
int BPF_PROG(task_rename, struct task_struct *task, const char *comm)
{
	tell_task(KIND_NAME, task, task->pid, 0, comm);
	return 0;
}

/* ---- where and what --------------------------------------------------------------------------- */

static __always_inline uint32_t dev_of(const struct gendisk *disk)
{
	return (uint32_t)disk->major << 20 | disk->first_minor;
}

/* Paths below an NVMe head of several: their numbers are not in sysfs, but in each A from the head. They
 * count as the head's. */
static struct path {
	uint32_t dev; /* 0 = free */
	uint32_t range;
} paths[PATHS_MAX];

static __always_inline void learn_path(uint32_t dev, uint32_t range)
{
	bool known = false;

	for (uint32_t i = 0; i < BPF_RANGES_MAX && i < config.nr_ranges; i++)
		known = known || config.ranges[i].dev == dev;
	for (int i = 0; i < PATHS_MAX && !known; i++) {
		uint32_t was = __sync_val_compare_and_swap(&paths[i].dev, 0, dev);

		known = !was || was == dev;
		if (!was)
			paths[i].range = range;
	}
}

/* Which range it is in, or -1. What has no bytes has no place (flushes) and belongs to all. */
static __always_inline int find(uint32_t dev, uint64_t sector, uint32_t bytes)
{
	for (uint32_t i = 0; i < BPF_RANGES_MAX && i < config.nr_ranges; i++) {
		const volatile struct bpf_range *range = &config.ranges[i];

		if (range->dev == dev &&
		    (!range->part_dev || !bytes || (sector >= range->start && sector < range->end)))
			return i;
	}
	for (int i = 0; i < PATHS_MAX && config.hidden_paths; i++)
		if (paths[i].dev == dev && dev)
			return paths[i].range;
	return -1;
}

/* From `old` to `dev`: within a partition's disk only what comes from that partition. */
static __always_inline int find_remap(uint32_t dev, uint32_t old)
{
	for (uint32_t i = 0; i < BPF_RANGES_MAX && i < config.nr_ranges; i++) {
		const volatile struct bpf_range *range = &config.ranges[i];

		if (!range->part_dev && old == range->dev && config.hidden_paths)
			learn_path(dev, i);
		if (range->part_dev ? old == range->part_dev
				    : dev == range->dev || old == range->dev)
			return i;
	}
	return -1;
}

static __always_inline uint32_t class_of(uint32_t opf, uint32_t bytes)
{
	/* A bio that is nothing but a flush is a write of nothing. */
	if (!bytes && (opf & config.preflush))
		return CLASS_FLUSH;
	return config.op_class[opf % BPF_OPS_MAX];
}

static __always_inline bool is_wanted(uint32_t opf, uint32_t bytes)
{
	return config.classes >> class_of(opf, bytes) & 1;
}

static __always_inline uint32_t errno_of(uint8_t status)
{
	return (int32_t)config.errno_of[status < BPF_STATUS_MAX ? status : 0];
}

static __always_inline struct bpf_rec record(uint8_t kind, uint32_t dev, uint64_t sector,
					     uint32_t bytes, uint32_t opf)
{
	struct bpf_rec r = { .kind = kind, .words = BPF_REC_LEAST / 8, .sector = sector };

	r.time_ns = bpf_ktime_get_ns();
	r.cpu = bpf_get_smp_processor_id();
	r.pid = (uint32_t)bpf_get_current_pid_tgid();
	r.bytes = bytes;
	r.device = dev;
	r.opf = opf;
	return r;
}

#include "record/bpf_hold.h"

/* ---- bios ------------------------------------------------------------------------------------- */

static __always_inline void finish_bio(struct bio *bio, struct bpf_rec *r, struct bpf_cpu *cpu)
{
	r->id = bio_id(bio, r->kind, r->time_ns);
	note_name(cpu, r->pid);
	if (config.hold)
		hold_bio(cpu, bio, r);
	else if (r->words * 8 > BPF_REC_LEAST)
		emit(cpu, r, sizeof(*r), 1);
	else
		emit(cpu, r, BPF_REC_LEAST, 1);
}

static __always_inline int on_bio(struct bio *bio, uint8_t kind)
{
	uint32_t dev = dev_of(bio->bi_bdev->bd_disk), bytes = bio->bi_iter.bi_size,
		 opf = bio->bi_opf;
	int at = find(dev, bio->bi_iter.bi_sector, bytes);
	struct bpf_cpu *cpu = this_cpu();
	struct bpf_rec r;

	if (at < 0 || at >= BPF_RANGES_MAX || !cpu)
		return 0;
	if (kind == KIND_QUEUE)
		cpu->seen[at].queued++;
	if (!is_wanted(opf, bytes))
		return 0;
	r = record(kind, dev, bio->bi_iter.bi_sector, bytes, opf);
	if (kind == KIND_BIO_COMPLETE)
		r.more = errno_of(bio->bi_status);
	if (kind == KIND_SPLIT) {
		r.words = sizeof(r) / 8;
		r.aux = bio_id_now(split_from(bio));
	}
	finish_bio(bio, &r, cpu);
	return 0;
}

SEC("tp_btf/block_bio_queue")
int BPF_PROG(block_bio_queue, struct bio *bio)
{
	return on_bio(bio, KIND_QUEUE);
}

SEC("tp_btf/block_getrq")
int BPF_PROG(block_getrq, struct bio *bio)
{
	return on_bio(bio, KIND_GETRQ);
}

SEC("tp_btf/block_bio_backmerge")
int BPF_PROG(block_bio_backmerge, struct bio *bio)
{
	return on_bio(bio, KIND_BACKMERGE);
}

SEC("tp_btf/block_bio_frontmerge")
int BPF_PROG(block_bio_frontmerge, struct bio *bio)
{
	return on_bio(bio, KIND_FRONTMERGE);
}

/* The new bio in front. The tracepoint's own number is cut to 32 bits; where the rest begins is where
 * this one ends. */
SEC("tp_btf/block_split")
int BPF_PROG(block_split, struct bio *bio)
{
	return on_bio(bio, KIND_SPLIT);
}

SEC("tp_btf/block_bio_complete")
int BPF_PROG(block_bio_complete, struct request_queue *q, struct bio *bio)
{
	return on_bio(bio, KIND_BIO_COMPLETE);
}

SEC("tp_btf/block_bio_remap")
int BPF_PROG(block_bio_remap, struct bio *bio, uint32_t old, uint64_t from)
{
	uint32_t dev = dev_of(bio->bi_bdev->bd_disk), bytes = bio->bi_iter.bi_size,
		 opf = bio->bi_opf;
	struct bpf_cpu *cpu = this_cpu();
	struct bpf_rec r;

	if (!cpu || find_remap(dev, old) < 0 || !is_wanted(opf, bytes))
		return 0;
	r = record(KIND_BIO_REMAP, dev, bio->bi_iter.bi_sector, bytes, opf);
	r.words = sizeof(r) / 8;
	r.more = old;
	r.aux = from;
	finish_bio(bio, &r, cpu);
	return 0;
}

/* ---- requests --------------------------------------------------------------------------------- */

/* Will nothing more come of it? A write that waits for flushes completes once for its data, once at its
 * end; the flush command is marked as the write is. */
static __always_inline bool is_last(const struct request *rq, uint8_t kind, uint32_t bytes)
{
	if (kind == KIND_RQ_MERGE)
		return true;
	return kind == KIND_COMPLETE && bytes >= rq->__data_len &&
	       (!(rq->rq_flags & config.flush_seq) ||
		config.op_class[rq->cmd_flags % BPF_OPS_MAX] == CLASS_FLUSH);
}

static __always_inline void finish_request(struct request *rq, struct bpf_rec *r,
					   struct bpf_cpu *cpu, bool last)
{
	r->id = request_id(rq, last);
	if (!r->id)
		cpu->unnamed++;
	if (config.hold)
		hold_request(cpu, rq, r, last);
	else if (r->words * 8 > BPF_REC_LEAST)
		emit(cpu, r, sizeof(*r), 1);
	else
		emit(cpu, r, BPF_REC_LEAST, 1);
}

static __always_inline int on_request(struct request *rq, uint8_t kind, uint8_t status,
				      uint32_t bytes)
{
	uint32_t dev = dev_of(rq->q->disk), opf = rq->cmd_flags;
	bool passthrough = config.op_class[opf % BPF_OPS_MAX] == CLASS_PASSTHROUGH;
	uint64_t sector = rq->__sector;
	struct bpf_cpu *cpu = this_cpu();
	struct bpf_rec r;
	bool last;
	int at;

	at = find(dev, sector, passthrough ? 0 : bytes);
	if (at < 0 || at >= BPF_RANGES_MAX || !cpu)
		return 0;
	if (kind == KIND_ISSUE)
		cpu->seen[at].issued++;
	last = is_last(rq, kind, bytes);
	if (kind == KIND_COMPLETE) {
		cpu->seen[at].completed++;
		cpu->seen[at].ended += last && !passthrough;
		cpu->seen[at].moved += bytes && !status;
	}
	if (!is_wanted(opf, bytes))
		return 0;
	/* Passthrough has no place, only at its end it has the one that says so. */
	if (passthrough && kind != KIND_COMPLETE)
		sector = 0;
	r = record(kind, dev, sector, bytes, opf);
	r.more = errno_of(status);
	if (kind == KIND_ISSUE || kind == KIND_INSERT)
		note_name(cpu, r.pid);
	finish_request(rq, &r, cpu, last);
	return 0;
}

SEC("tp_btf/block_rq_insert")
int BPF_PROG(block_rq_insert, struct request *rq)
{
	return on_request(rq, KIND_INSERT, 0, rq->__data_len);
}

SEC("tp_btf/block_rq_issue")
int BPF_PROG(block_rq_issue, struct request *rq)
{
	return on_request(rq, KIND_ISSUE, 0, rq->__data_len);
}

SEC("tp_btf/block_rq_requeue")
int BPF_PROG(block_rq_requeue, struct request *rq)
{
	return on_request(rq, KIND_REQUEUE, 0, rq->__data_len);
}

SEC("tp_btf/block_rq_merge")
int BPF_PROG(block_rq_merge, struct request *rq)
{
	return on_request(rq, KIND_RQ_MERGE, 0, rq->__data_len);
}

SEC("tp_btf/block_rq_complete")
int BPF_PROG(block_rq_complete, struct request *rq, uint8_t status, unsigned int bytes)
{
	return on_request(rq, KIND_COMPLETE, status, bytes);
}

SEC("tp_btf/block_rq_error")
int BPF_PROG(block_rq_error, struct request *rq, uint8_t status, unsigned int bytes)
{
	return on_request(rq, KIND_RQ_ERROR, status, bytes);
}

SEC("tp_btf/blk_zone_append_update_request_bio")
int BPF_PROG(blk_zone_append_update_request_bio, struct request *rq)
{
	return on_request(rq, KIND_ZONE_APPEND, 0, rq->__data_len);
}

SEC("tp_btf/block_rq_remap")
int BPF_PROG(block_rq_remap, struct request *rq, uint32_t old, uint64_t from)
{
	uint32_t dev = dev_of(rq->q->disk), bytes = rq->__data_len, opf = rq->cmd_flags;
	struct bpf_cpu *cpu = this_cpu();
	struct bpf_rec r;

	if (!cpu || find_remap(dev, old) < 0 || !is_wanted(opf, bytes))
		return 0;
	r = record(KIND_RQ_REMAP, dev, rq->__sector, bytes, opf);
	r.words = sizeof(r) / 8;
	r.more = old;
	r.aux = from;
	finish_request(rq, &r, cpu, false);
	return 0;
}

/* ---- queues: no bio and no request ------------------------------------------------------------ */

static __always_inline int on_queue(struct request_queue *q, uint8_t kind, uint64_t sector,
				    uint32_t bytes, uint32_t more)
{
	uint32_t dev = dev_of(q->disk);
	struct bpf_cpu *cpu = this_cpu();
	struct bpf_rec r;

	/* Held back, it could not be told whether it belongs to anything. */
	if (config.hold || !cpu || find(dev, sector, bytes) < 0)
		return 0;
	r = record(kind, dev, sector, bytes, 0);
	r.more = more;
	note_name(cpu, r.pid);
	emit(cpu, &r, BPF_REC_LEAST, 1);
	return 0;
}

SEC("tp_btf/block_plug")
int BPF_PROG(block_plug, struct request_queue *q)
{
	return on_queue(q, KIND_PLUG, 0, 0, 0);
}

SEC("tp_btf/block_unplug")
int BPF_PROG(block_unplug, struct request_queue *q, unsigned int nr, bool by_task)
{
	return on_queue(q, by_task ? KIND_UNPLUG : KIND_UNPLUG_TIMER, 0, 0, nr);
}

SEC("tp_btf/disk_zone_wplug_add_bio")
int BPF_PROG(disk_zone_wplug_add_bio, struct request_queue *q, unsigned int zone, uint64_t sector,
	     unsigned int sectors)
{
	return on_queue(q, KIND_ZONE_PLUG, sector, sectors * SECTOR_SIZE, 0);
}

SEC("tp_btf/blk_zone_wplug_bio")
int BPF_PROG(blk_zone_wplug_bio, struct request_queue *q, unsigned int zone, uint64_t sector,
	     unsigned int sectors)
{
	return on_queue(q, KIND_ZONE_UNPLUG, sector, sectors * SECTOR_SIZE, 0);
}
