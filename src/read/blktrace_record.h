/* SPDX-License-Identifier: MIT
 *
 * One record of blktrace, versions 7 and 8: layout and numbers. doc/formats/blktrace_bin.md.
 */
#ifndef BLKLAB_READ_BLKTRACE_RECORD_H
#define BLKLAB_READ_BLKTRACE_RECORD_H

#include "base/bytes.h"

#define BLKTRACE_MAGIC       0x65617400u /* the low byte is the version */
#define BLKTRACE_V7_BYTES    48u
#define BLKTRACE_V8_BYTES    64u
#define BLKTRACE_LAST_ACTION 19     /* numbers of events are 1..19 */
#define BLKTRACE_LAST_NOTE   2      /* numbers of notes are 0..2 */
#define BLKTRACE_CGROUP      0x100u /* flag in a number: a cgroup id comes first in the payload */

/* Category bits of the action word; v7 has the first 16. */
enum blktrace_category {
	TC_READ = 1u << 0,
	TC_WRITE = 1u << 1,
	TC_FLUSH = 1u << 2,
	TC_SYNC = 1u << 3,
	TC_QUEUE = 1u << 4,
	TC_REQUEUE = 1u << 5,
	TC_ISSUE = 1u << 6,
	TC_COMPLETE = 1u << 7,
	TC_FS = 1u << 8,
	TC_PC = 1u << 9,
	TC_NOTIFY = 1u << 10, /* a note, not an event */
	TC_AHEAD = 1u << 11,
	TC_META = 1u << 12,
	TC_DISCARD = 1u << 13,
	TC_DRV_DATA = 1u << 14,
	TC_FUA = 1u << 15,
	TC_ZONE_APPEND = 1u << 16,
	TC_ZONE_RESET = 1u << 17,
	TC_ZONE_RESET_ALL = 1u << 18,
	TC_ZONE_FINISH = 1u << 19,
	TC_ZONE_OPEN = 1u << 20,
	TC_ZONE_CLOSE = 1u << 21,
	TC_WRITE_ZEROES = 1u << 22,
};

/* Numbers of notes. */
enum blktrace_note { NOTE_PROCESS = 0, NOTE_TIMESTAMP = 1, NOTE_MESSAGE = BLKTRACE_LAST_NOTE };

/* A decoded header, v7 and v8 alike, in host byte order. */
struct blktrace_header {
	uint64_t time_ns, sector;
	uint32_t sequence, bytes, pid, device, cpu, number, categories;
	uint16_t error, pdu_len;
	size_t size; /* of the header itself; the payload follows it */
};

/* 0 = not the magic of a known version; else the size of its header. p: 4 bytes. */
static inline size_t blktrace_header_size(const uint8_t *p, bool swap)
{
	uint32_t magic = bytes_u32(p, swap);

	if (magic == (BLKTRACE_MAGIC | 7))
		return BLKTRACE_V7_BYTES;
	return magic == (BLKTRACE_MAGIC | 8) ? BLKTRACE_V8_BYTES : 0;
}

#define BLKTRACE_TIME_AT 8 /* offset of the time in both versions */

/* Bytes of payload behind a header of `size` bytes. */
static inline uint16_t blktrace_payload_bytes(const uint8_t *p, size_t size, bool swap)
{
	return bytes_u16(p + (size == BLKTRACE_V7_BYTES ? 46 : 50), swap);
}

/* p: `size` bytes, one of the two header sizes. */
static inline void blktrace_header_decode(struct blktrace_header *h, const uint8_t *p, size_t size,
					  bool swap)
{
	h->size = size;
	h->sequence = bytes_u32(p + 4, swap);
	h->time_ns = bytes_u64(p + 8, swap);
	h->sector = bytes_u64(p + 16, swap);
	h->bytes = bytes_u32(p + 24, swap);
	if (size == BLKTRACE_V7_BYTES) {
		uint32_t action = bytes_u32(p + 28, swap);

		h->number = action & 0xffff;
		h->categories = action >> 16;
		h->pid = bytes_u32(p + 32, swap);
		p += 36;
	} else {
		uint64_t action = bytes_u64(p + 32, swap);

		h->number = action & 0xffff;
		h->categories = (uint32_t)(action >> 16);
		h->pid = bytes_u32(p + 28, swap);
		p += 40;
	}
	h->device = bytes_u32(p, swap);
	h->cpu = bytes_u32(p + 4, swap);
	h->error = bytes_u16(p + 8, swap);
	h->pdu_len = bytes_u16(p + 10, swap);
}

#endif
