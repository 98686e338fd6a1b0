/* SPDX-License-Identifier: MIT
 *
 * For programs in the kernel only, included by block.bpf.c: filters that can be decided only at a
 * request's end (slower than) or by whose bios it is made of (process, cgroup). Until then its events,
 * and those of each of its bios, are kept in maps; then they are stored together, or forgotten.
 *
 * A bio that was split is held as what its pieces are: bios of their own, queued when the whole was. So
 * each request stands for itself.
 */
#ifndef BLKLAB_RECORD_BPF_HOLD_H
#define BLKLAB_RECORD_BPF_HOLD_H

#define HELD_BIOS     32768
#define HELD_REQUESTS 8192
#define CHAIN_MAX     256 /* bios of a request */
#define FLUSHES       8   /* commands remembered, per device */
#define CGROUP_LEVELS 16

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, HELD_BIOS);
	__type(key, uint64_t);
	__type(value, struct bpf_held_bio);
} held_bios SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, HELD_REQUESTS);
	__type(key, uint64_t);
	__type(value, struct bpf_held_rq);
} held_requests SEC(".maps");

/* The last flush commands of a device: they belong to each write that waited for them. */
struct flush {
	uint64_t end_ns;
	uint32_t nr, given;
	struct bpf_rec at[BPF_HELD_FLUSH];
};

struct flush_ring {
	uint32_t next, unused;
	struct flush last[FLUSHES];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, BPF_RANGES_MAX);
	__type(key, uint32_t);
	__type(value, struct flush_ring);
} flushes SEC(".maps");

static const struct bpf_held_bio no_bio;
static const struct bpf_held_rq no_request;

/* ---- whose ------------------------------------------------------------------------------------ */

static __always_inline bool in_cgroup(struct cgroup *cgroup)
{
	for (int i = 0; i < CGROUP_LEVELS && cgroup; i++) {
		struct cgroup_subsys_state *parent = cgroup->self.parent;

		if (cgroup->kn->id == config.cgroup)
			return true;
		cgroup = parent ? parent->cgroup : NULL;
	}
	return false;
}

/* The bio's own cgroup is right for writeback too, but only as deep as the io controller goes. */
static __always_inline bool is_cgroups(struct bio *bio)
{
	struct task_struct *task = bpf_get_current_task_btf();

	if (bpf_core_field_exists(bio->bi_blkg) && bio->bi_blkg &&
	    in_cgroup(bio->bi_blkg->blkcg->css.cgroup))
		return true;
	return in_cgroup(task->cgroups->dfl_cgrp);
}

static __always_inline bool is_theirs(struct bio *bio)
{
	if (config.tgid && bpf_get_current_pid_tgid() >> 32 != config.tgid)
		return false;
	return !config.cgroup || is_cgroups(bio);
}

/* ---- bios ------------------------------------------------------------------------------------- */

static __always_inline struct bpf_held_bio *new_bio(struct bpf_cpu *cpu, uint64_t key)
{
	if (!bpf_map_update_elem(&held_bios, &key, &no_bio, BPF_ANY))
		return bpf_map_lookup_elem(&held_bios, &key);
	cpu->not_held++;
	return NULL;
}

static __always_inline void keep_in_bio(struct bpf_cpu *cpu, struct bpf_held_bio *held,
					const struct bpf_rec *r)
{
	uint32_t nr = held->nr;

	if (nr >= BPF_HELD_BIO) {
		cpu->cut++;
		return;
	}
	held->at[nr] = *r;
	held->at[nr].words = sizeof(*r) / 8;
	held->nr = nr + 1;
}

static __always_inline void emit_bio(struct bpf_cpu *cpu, const struct bpf_held_bio *held)
{
	uint32_t nr = held->nr;

	if (nr && nr <= BPF_HELD_BIO)
		emit(cpu, held->at, nr * sizeof(struct bpf_rec), nr);
}

/* All that was said of the whole holds for the front piece, and for the rest. */
static __noinline int split_bio(struct bpf_cpu *cpu, uint64_t parent, uint64_t piece,
				uint32_t bytes)
{
	struct bpf_held_bio *whole = bpf_map_lookup_elem(&held_bios, &parent), *front;

	if (!cpu || !whole)
		return 0;
	front = new_bio(cpu, piece);
	if (!front)
		return 0;
	front->first_ns = whole->first_ns;
	front->queued = 1;
	front->nr = whole->nr;
	for (int i = 0; i < BPF_HELD_BIO; i++) {
		struct bpf_rec *r = &whole->at[i];

		front->at[i] = *r;
		front->at[i].bytes = bytes;
		r->bytes -= bytes;
		r->sector += bytes / SECTOR_SIZE;
		r->aux += bytes / SECTOR_SIZE;
	}
	return 0;
}

static __always_inline struct bpf_held_bio *
begin_bio(struct bpf_cpu *cpu, struct bio *bio, struct bpf_held_bio *held, const struct bpf_rec *r)
{
	uint64_t key = (uint64_t)bio;
	bool anew = !held || held->done || (r->kind == KIND_QUEUE && held->queued);

	if (r->kind == KIND_QUEUE && !is_theirs(bio)) {
		if (held)
			bpf_map_delete_elem(&held_bios, &key);
		return NULL;
	}
	if (anew)
		held = new_bio(cpu, key);
	if (held && r->kind == KIND_QUEUE) {
		held->queued = 1;
		held->first_ns = r->time_ns;
	}
	return held;
}

static __always_inline void hold_bio(struct bpf_cpu *cpu, struct bio *bio, const struct bpf_rec *r)
{
	uint64_t key = (uint64_t)bio;
	struct bpf_held_bio *held;

	if (r->kind == KIND_SPLIT) {
		split_bio(cpu, split_from(bio), key, r->bytes);
		return;
	}
	held = bpf_map_lookup_elem(&held_bios, &key);
	if (r->kind == KIND_QUEUE || r->kind == KIND_BIO_REMAP)
		held = begin_bio(cpu, bio, held, r);
	if (!held)
		return;
	keep_in_bio(cpu, held, r);
	if (r->kind == KIND_BIO_COMPLETE) {
		if (held->queued && r->time_ns - held->first_ns >= config.slower_ns)
			emit_bio(cpu, held);
		bpf_map_delete_elem(&held_bios, &key);
	} else if (r->kind != KIND_QUEUE && r->kind != KIND_BIO_REMAP) {
		held->done = 1;
	}
}

/* ---- requests --------------------------------------------------------------------------------- */

/* The bios of a request, one after the other, and what they say of it. Addresses are numbers here, which
 * spares the verifier the paths. */
struct chain {
	uint64_t bio;
	uint64_t first_ns; /* the first Q, or what it was before */
	uint32_t held;     /* how many of them are */
	bool flushes;      /* any of them waits for flush commands */
	bool store;        /* end_chain: else they are forgotten */
};

static __always_inline uint64_t bio_behind(uint64_t bio)
{
	return (uint64_t)BPF_CORE_READ((struct bio *)bio, bi_next);
}

static long look_at_bio(uint32_t i, void *arg)
{
	struct chain *chain = arg;
	uint64_t key = chain->bio;
	struct bpf_held_bio *held;

	if (!key)
		return 1;
	held = bpf_map_lookup_elem(&held_bios, &key);
	if (held && held->queued) {
		chain->held++;
		if (held->first_ns < chain->first_ns)
			chain->first_ns = held->first_ns;
		if (held->at[0].opf & (config.preflush | config.fua))
			chain->flushes = true;
	}
	chain->bio = bio_behind(key);
	return 0;
}

static long end_bio(uint32_t i, void *arg)
{
	struct chain *chain = arg;
	uint64_t key = chain->bio;
	struct bpf_cpu *cpu = this_cpu();
	struct bpf_held_bio *held;

	if (!key || !cpu)
		return 1;
	held = bpf_map_lookup_elem(&held_bios, &key);
	if (held && chain->store)
		emit_bio(cpu, held);
	if (held)
		bpf_map_delete_elem(&held_bios, &key);
	chain->bio = bio_behind(key);
	return 0;
}

static __always_inline uint64_t first_bio(const struct request *rq)
{
	uint64_t number = 0;

	bpf_probe_read_kernel(&number, sizeof(number), &rq->bio);
	return number;
}

static __always_inline void look_at_chain(const struct request *rq, struct chain *chain)
{
	chain->bio = first_bio(rq);
	bpf_loop(CHAIN_MAX, look_at_bio, chain, 0);
}

static __always_inline void end_chain(const struct request *rq, struct chain *chain, bool store)
{
	chain->bio = first_bio(rq);
	chain->store = store;
	bpf_loop(CHAIN_MAX, end_bio, chain, 0);
}

static __always_inline struct flush_ring *flushes_of(const struct bpf_rec *r)
{
	int at = find(r->device, r->sector, 0);
	uint32_t key = at;

	return at < 0 ? NULL : bpf_map_lookup_elem(&flushes, &key);
}

static __always_inline void remember_flush(const struct bpf_held_rq *held, const struct bpf_rec *r,
					   bool given)
{
	struct flush_ring *ring = flushes_of(r);
	struct flush *flush;
	uint32_t nr = held->nr;

	if (!ring)
		return;
	flush = &ring->last[__sync_fetch_and_add(&ring->next, 1) % FLUSHES];
	flush->end_ns = r->time_ns;
	flush->given = given;
	flush->nr = nr < BPF_HELD_FLUSH ? nr : BPF_HELD_FLUSH;
	/* D and C are the last ones. */
	for (uint32_t i = 0; i < BPF_HELD_FLUSH; i++) {
		uint32_t from = nr > BPF_HELD_FLUSH ? nr - BPF_HELD_FLUSH + i : i;

		if (from < BPF_HELD_RQ)
			flush->at[i] = held->at[from];
	}
}

/* Those that ended since. */
static __noinline int emit_flushes(struct bpf_cpu *cpu, struct flush_ring *ring, uint64_t since_ns)
{
	if (!cpu || !ring)
		return 0;
	for (uint32_t i = 0; i < FLUSHES; i++) {
		struct flush *flush = &ring->last[i];
		uint32_t nr = flush->nr;

		if (!nr || nr > BPF_HELD_FLUSH || flush->end_ns < since_ns ||
		    __sync_val_compare_and_swap(&flush->given, 0, 1))
			continue;
		emit(cpu, flush->at, nr * sizeof(struct bpf_rec), nr);
	}
	return 0;
}

static __always_inline void emit_request(struct bpf_cpu *cpu, const struct bpf_held_rq *held)
{
	uint32_t nr = held->nr;

	if (nr && nr <= BPF_HELD_RQ)
		emit(cpu, held->at, nr * sizeof(struct bpf_rec), nr);
}

static __always_inline void end_request(struct bpf_cpu *cpu, struct request *rq,
					struct bpf_held_rq *held, const struct bpf_rec *r)
{
	struct chain chain = { .first_ns = held->first_ns };
	bool is_flush = config.op_class[r->opf % BPF_OPS_MAX] == CLASS_FLUSH, store;

	look_at_chain(rq, &chain);
	store = r->time_ns - chain.first_ns >= config.slower_ns;
	if (config.tgid || config.cgroup)
		store = store && chain.held > 0;
	store = store || held->must;
	end_chain(rq, &chain, store);
	if (store)
		emit_request(cpu, held);
	if (is_flush)
		remember_flush(held, r, store);
	else if (store && chain.flushes)
		emit_flushes(cpu, flushes_of(r), chain.first_ns);
}

static __always_inline struct bpf_held_rq *find_request(struct bpf_cpu *cpu, uint64_t key,
							const struct bpf_rec *r)
{
	struct bpf_held_rq *held = bpf_map_lookup_elem(&held_requests, &key);

	if (held)
		return held;
	if (bpf_map_update_elem(&held_requests, &key, &no_request, BPF_ANY)) {
		cpu->not_held++;
		return NULL;
	}
	held = bpf_map_lookup_elem(&held_requests, &key);
	if (held)
		held->first_ns = r->time_ns;
	return held;
}

static __always_inline void keep_in_request(struct bpf_cpu *cpu, struct bpf_held_rq *held,
					    const struct bpf_rec *r)
{
	uint32_t nr = held->nr;

	/* The end has room kept for it. */
	if (nr >= BPF_HELD_RQ || (nr >= BPF_HELD_RQ - 2 && r->kind != KIND_COMPLETE)) {
		cpu->cut++;
		return;
	}
	held->at[nr] = *r;
	held->at[nr].words = sizeof(*r) / 8;
	held->nr = nr + 1;
}

/* Its bios are the other request's from now on; that it was merged is told with the first. */
static __always_inline void forget_merged(struct bpf_cpu *cpu, struct request *rq,
					  const struct bpf_rec *r)
{
	uint64_t key = (uint64_t)rq, first = (uint64_t)rq->bio;
	struct bpf_held_bio *held = bpf_map_lookup_elem(&held_bios, &first);

	if (held)
		keep_in_bio(cpu, held, r);
	bpf_map_delete_elem(&held_requests, &key);
}

/* A request that completes in parts is always stored: the bios of its first part are gone when the
 * last one ends. */
static __always_inline void part_ended(struct bpf_cpu *cpu, struct request *rq,
				       struct bpf_held_rq *held)
{
	struct chain chain = { .first_ns = held->first_ns };

	look_at_chain(rq, &chain);
	if ((config.tgid || config.cgroup) && !chain.held && !held->must)
		return;
	held->must = 1;
	end_chain(rq, &chain, true);
}

static __always_inline void hold_request(struct bpf_cpu *cpu, struct request *rq,
					 const struct bpf_rec *r, bool last)
{
	uint64_t key = (uint64_t)rq;
	struct bpf_held_rq *held;

	if (r->kind == KIND_RQ_MERGE) {
		forget_merged(cpu, rq, r);
		return;
	}
	if (r->kind == KIND_RQ_ERROR) /* comes behind the end and says nothing more */
		return;
	held = find_request(cpu, key, r);
	if (!held)
		return;
	keep_in_request(cpu, held, r);
	if (last) {
		end_request(cpu, rq, held, r);
		bpf_map_delete_elem(&held_requests, &key);
	} else if (r->kind == KIND_COMPLETE && r->bytes < rq->__data_len) {
		part_ended(cpu, rq, held);
	}
}

#endif
