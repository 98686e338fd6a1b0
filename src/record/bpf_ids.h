/* SPDX-License-Identifier: MIT
 *
 * For programs in the kernel only: names for bios and requests. The kernel uses their memory again and
 * again (and its addresses are nobody's business), so an id is the place in a table that an address has
 * for one life, and the number of that life.
 *
 * A request's life ends where its last completion is seen, so its place is free again. Of a bio's
 * end nothing is seen; its place is taken away from it where somebody else needs it, long after it was
 * looked for last. Who finds no place has id 0.
 */
#ifndef BLKLAB_RECORD_BPF_IDS_H
#define BLKLAB_RECORD_BPF_IDS_H

#include "record/bpf_kernel.h"

#define ID_WAYS         4
#define ID_REQUEST_SETS (1u << 13) /* 32,768 requests in flight; 512 KiB */
#define ID_BIO_SETS     (1u << 14)
#define ID_PLACE_BITS   16 /* set and way */
#define ID_BIO          (1ull << ID_PLACE_BITS)

enum bio_stage {
	STAGE_PAST,   /* has become (part of) a request, or ended */
	STAGE_MAPPED, /* moved to another device and not queued yet */
	STAGE_QUEUED,
};

struct id_way {
	uint64_t address; /* 0 = free */
	uint32_t life;
	uint32_t stage; /* of a bio: enum bio_stage */
};

struct id_set {
	struct id_way ways[ID_WAYS];
};

static struct id_set request_ids[ID_REQUEST_SETS];
static struct id_set bio_ids[ID_BIO_SETS];

/* The verifier lets nobody reckon with a pointer but subtract another one, which makes it a number: where
 * it is, seen from the table. */
static __always_inline uint64_t id_address(const void *object)
{
	uint64_t address = (uint64_t)object;

	asm volatile("%0 -= %1" : "+r"(address) : "r"(request_ids));
	return address;
}

/* The bio that this one was split from, as a number: the kernel says of it that it is any pointer, and the
 * verifier lets nobody reckon with that. */
static __always_inline uint64_t split_from(const struct bio *bio)
{
	uint64_t number = 0;

	bpf_probe_read_kernel(&number, sizeof(number), &bio->bi_private);
	return number;
}

/* id_address of what is a number already. */
static __always_inline uint64_t id_address_of(uint64_t number)
{
	const struct id_set *table = request_ids;
	uint64_t at = 0;

	bpf_probe_read_kernel(&at, sizeof(at), &table);
	return number - at;
}

static __always_inline uint32_t id_hash(uint64_t address)
{
	return (uint32_t)(address * 0x9e3779b97f4a7c15ull >> 40);
}

static __always_inline uint64_t id_of(uint32_t life, uint32_t set, uint32_t way)
{
	return (uint64_t)life << (ID_PLACE_BITS + 1) | set * ID_WAYS | way;
}

/* `last`: the request is not heard of again. */
static __always_inline uint64_t request_id(const struct request *rq, bool last)
{
	uint64_t address = id_address(rq);
	uint32_t at = id_hash(address) & (ID_REQUEST_SETS - 1);
	struct id_set *set = &request_ids[at];
	uint64_t id = 0;

#pragma unroll
	for (int i = 0; i < ID_WAYS; i++)
		if (!id && set->ways[i].address == address) {
			id = id_of(set->ways[i].life, at, i);
			if (last)
				set->ways[i].address = 0;
		}
	if (id)
		return id;
#pragma unroll
	for (int i = 0; i < ID_WAYS; i++)
		if (!id && !__sync_val_compare_and_swap(&set->ways[i].address, 0, address)) {
			id = id_of(++set->ways[i].life, at, i);
			if (last)
				set->ways[i].address = 0;
		}
	return id;
}

/* An A may come before Q, of a partition and of what a mapping driver makes, or after it. */
static __always_inline bool bio_begins(uint8_t kind, uint32_t stage)
{
	return kind == KIND_SPLIT || (kind == KIND_QUEUE && stage != STAGE_MAPPED) ||
	       (kind == KIND_BIO_REMAP && stage == STAGE_PAST);
}

static __always_inline void bio_steps(struct id_way *way, uint8_t kind)
{
	bool begins = bio_begins(kind, way->stage);

	if (begins)
		way->life++;
	if (kind == KIND_QUEUE || kind == KIND_SPLIT)
		way->stage = STAGE_QUEUED;
	else if (kind == KIND_BIO_REMAP)
		way->stage = begins ? STAGE_MAPPED : way->stage;
	else
		way->stage = STAGE_PAST;
}

/* The id that a bio has had so far in this life. */
static __always_inline uint64_t bio_id_now(uint64_t bio)
{
	uint64_t address = id_address_of(bio);
	uint32_t at = id_hash(address) & (ID_BIO_SETS - 1);
	struct id_set *set = &bio_ids[at];
	uint64_t id = 0;

#pragma unroll
	for (int i = 0; i < ID_WAYS; i++)
		if (set->ways[i].address == address)
			id = id_of(set->ways[i].life, at, i) | ID_BIO;
	return id;
}

static __always_inline uint64_t bio_id(const struct bio *bio, uint8_t kind, uint64_t time_ns)
{
	uint64_t address = id_address(bio);
	uint32_t at = id_hash(address) & (ID_BIO_SETS - 1), victim = time_ns >> 8 & (ID_WAYS - 1);
	struct id_set *set = &bio_ids[at];
	int way = -1;

#pragma unroll
	for (int i = 0; i < ID_WAYS; i++)
		if (set->ways[i].address == address)
			way = i;
	if (way < 0) {
		/* It was queued before the recording began, or has lost its place. */
		if (kind != KIND_QUEUE && kind != KIND_SPLIT && kind != KIND_BIO_REMAP)
			return 0;
#pragma unroll
		for (int i = 0; i < ID_WAYS; i++)
			if (set->ways[i].stage == STAGE_PAST)
				victim = i;
		way = victim;
		set->ways[way & (ID_WAYS - 1)].address = address;
		set->ways[way & (ID_WAYS - 1)].stage = STAGE_PAST;
	}
	bio_steps(&set->ways[way & (ID_WAYS - 1)], kind);
	return id_of(set->ways[way & (ID_WAYS - 1)].life, at, way & (ID_WAYS - 1)) | ID_BIO;
}

#endif
