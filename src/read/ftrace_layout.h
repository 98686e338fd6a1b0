/* SPDX-License-Identifier: MIT
 *
 * Inside the ring-buffer reader: what is known of the pages and of each event before the first byte
 * is read, and the walk over the records of one CPU.
 */
#ifndef BLKLAB_READ_FTRACE_LAYOUT_H
#define BLKLAB_READ_FTRACE_LAYOUT_H

#include "base/bytes.h"
#include "read/ftrace_format.h"
#include "read/ftrace_page.h"

/* Fields with a meaning to us; the same name means the same in every event. */
enum field {
	FIELD_PID, /* common_pid */
	FIELD_DEV,
	FIELD_SECTOR,
	FIELD_NR_SECTOR,
	FIELD_BYTES,
	FIELD_ERROR,
	FIELD_RWBS,
	FIELD_COMM,
	FIELD_OLD_DEV,
	FIELD_OLD_SECTOR,
	FIELD_NEW_SECTOR,
	FIELD_NR_RQ,
	FIELD_PARENT_PID,
	FIELD_CHILD_PID,
	FIELD_CHILD_COMM,
	FIELD_TASK_PID,
	FIELD_NEW_COMM,
	FIELD_FILENAME,
	FIELD_NR
};

enum decoder_kind {
	DECODE_NOTHING, /* a known format, no meaning to us */
	DECODE_EVENT,
	DECODE_FORK,
	DECODE_EXEC,
	DECODE_TASK,
	DECODE_RENAME,
};

struct decoder {
	enum decoder_kind kind;
	uint8_t action; /* enum action, of DECODE_EVENT */
	uint32_t need;  /* bytes that a record must have for all fields below */
	struct {
		uint32_t offset, size; /* size 0: this kernel has no such field */
		bool is_data_loc;
	} at[FIELD_NR];
	struct ftrace_format *format; /* owned */
};

struct page_layout {
	unsigned int refs;
	bool swap, big_endian;
	uint32_t page_size, data_at;   /* bytes; where the records begin */
	uint32_t time_at;              /* 8 bytes */
	uint32_t commit_at, long_size; /* 4 or 8 bytes */
	struct decoder *decoders;      /* owned array */
	size_t nr_decoders;
	uint16_t *by_id; /* owned; by_id[id] = index + 1 in decoders, or 0 */
	uint32_t nr_ids;
};

static inline const struct decoder *page_layout_decoder(const struct page_layout *layout,
							uint32_t id)
{
	if (id >= layout->nr_ids || !layout->by_id[id])
		return NULL;
	return &layout->decoders[layout->by_id[id] - 1];
}

static inline uint64_t load_uint(const uint8_t *p, uint32_t size, bool swap)
{
	switch (size) {
	case 8:
		return bytes_u64(p, swap);
	case 4:
		return bytes_u32(p, swap);
	case 2:
		return bytes_u16(p, swap);
	default:
		return *p;
	}
}

/* The text that a __data_loc at `p` points to, cut at the record's end; *len 0 where it is none. */
const char *data_loc_text(const uint8_t *record, size_t record_len, const uint8_t *p, bool swap,
			  size_t *len);

/* ---- the walk ------------------------------------------------------------------------------- */

/* What page headers told of events lost before the next record. */
struct page_missed {
	bool any, count_known;
	uint64_t events;
};

struct page_walk {
	const struct page_layout *layout; /* borrowed */
	struct blob *blob;                /* borrowed */
	struct source_stats *stats;       /* borrowed: bytes and damage are counted there */
	uint8_t *buf;                     /* owned */
	size_t buf_size, buf_len, buf_at;
	bool at_end;
	const uint8_t *at, *end; /* unread records of the current page */
	uint64_t time_ns;
	struct page_missed missed; /* the caller takes it and clears it */
};

struct page_record {
	const uint8_t *data; /* borrowed until the next step */
	size_t len;          /* at least 2 */
	uint64_t time_ns;
};

void page_walk_init(struct page_walk *walk, const struct page_layout *layout, struct blob *blob,
		    struct source_stats *stats);
void page_walk_release(struct page_walk *walk);
/* 1 and a record, 0 at the end, -1 with err. Damage is skipped and counted. */
int page_walk_next(struct page_walk *walk, struct page_record *record, struct error *err);
/* Counts n bytes as damaged. */
void page_walk_damage(struct page_walk *walk, size_t n);

#endif
