/* SPDX-License-Identifier: MIT
 *
 * From record to record through the pages of one CPU.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "read/ftrace_layout.h"

#define BUFFER_BYTES 65536u

/* The commit word: how many bytes of records, and two flags of the kernel's reader. */
#define COMMIT_BYTES  ((1u << 27) - 1)
#define COMMIT_MISSED (1u << 31) /* events were lost before this page */
#define COMMIT_STORED (1u << 30) /* ... and their number stands behind the records, as a long */
/* More cannot have been lost; a larger number is none. */
#define MISSED_MAX (1ull << 40)

/* Record types; 1..28 are lengths in words. */
enum { TYPE_LONG = 0, TYPE_PADDING = 29, TYPE_TIME_EXTEND = 30, TYPE_TIME_STAMP = 31 };
#define DELTA_BITS 27
/* An absolute time stamp has 59 bits; the upper ones come from the time before. */
#define STAMP_HIGH (0xf8ull << 56)

void page_walk_init(struct page_walk *walk, const struct page_layout *layout, struct blob *blob,
		    struct source_stats *stats)
{
	size_t page = layout->page_size;

	*walk = (struct page_walk){ .layout = layout, .blob = blob, .stats = stats };
	walk->buf_size = page >= BUFFER_BYTES ? page : BUFFER_BYTES / page * page;
}

void page_walk_release(struct page_walk *walk)
{
	free(walk->buf);
	*walk = (struct page_walk){ 0 };
}

void page_walk_damage(struct page_walk *walk, size_t n)
{
	if (!n)
		return;
	walk->stats->damaged_bytes += n;
	walk->stats->damages++;
}

/* Fills the buffer; a short answer of blob_read may stand before an error, which is damage where the
 * file was cut inside an archive. How many bytes, or -1. */
static ssize_t read_full(struct page_walk *walk, struct error *err)
{
	size_t len = 0;

	while (len < walk->buf_size) {
		ssize_t got = blob_read(walk->blob, walk->buf + len, walk->buf_size - len, err);

		if (got < 0 && !blob_damaged(walk->blob))
			return -1;
		walk->stats->damages += got < 0;
		if (got <= 0)
			break;
		len += (size_t)got;
	}
	return (ssize_t)len;
}

static int refill(struct page_walk *walk, struct error *err)
{
	ssize_t got;

	if (walk->at_end)
		return 0;
	if (!walk->buf)
		walk->buf = mem_zalloc(walk->buf_size);
	got = read_full(walk, err);
	if (got < 0)
		return -1;
	walk->at_end = (size_t)got < walk->buf_size;
	walk->buf_len = (size_t)got;
	walk->buf_at = 0;
	walk->stats->bytes += (uint64_t)got;
	if (walk->at_end)
		blob_close(walk->blob);
	return got > 0;
}

/* Pages without a record in between add up. */
static void take_missed(struct page_walk *walk, const uint8_t *page, size_t len, size_t used,
			uint32_t commit)
{
	const struct page_layout *layout = walk->layout;
	struct page_missed *missed = &walk->missed;
	uint64_t count = 0;

	if ((commit & COMMIT_STORED) && len - used >= layout->long_size)
		count = load_uint(page + used, layout->long_size, layout->swap);
	if (!missed->any)
		missed->count_known = true;
	missed->any = true;
	if (!count || count > MISSED_MAX)
		missed->count_known = false;
	else
		missed->events += count;
}

/* The kernel adds the flags as ints: bit 31 is a negative one, and all above it come with it. */
static bool good_commit(uint64_t commit)
{
	uint64_t above = commit >> 32;

	if (above && !(above == UINT32_MAX && (commit & COMMIT_MISSED)))
		return false;
	return !((uint32_t)commit & ~(COMMIT_BYTES | COMMIT_MISSED | COMMIT_STORED));
}

/* 0: nothing of this page can be used, and that is counted. */
static int open_page(struct page_walk *walk, const uint8_t *page, size_t len)
{
	const struct page_layout *layout = walk->layout;
	uint64_t time, commit;
	size_t used;

	if (len < layout->data_at) {
		page_walk_damage(walk, len);
		return 0;
	}
	time = bytes_u64(page + layout->time_at, layout->swap);
	commit = load_uint(page + layout->commit_at, layout->long_size, layout->swap);
	used = commit & COMMIT_BYTES;
	if (!good_commit(commit) || used > layout->page_size - layout->data_at ||
	    (!time && !commit)) {
		page_walk_damage(walk, len); /* the last: a hole in the file */
		return 0;
	}
	used += layout->data_at;
	if (commit & COMMIT_MISSED)
		take_missed(walk, page, len, used < len ? used : len, (uint32_t)commit);
	if (used > len) { /* the file was cut */
		page_walk_damage(walk, used - len);
		used = len;
	}
	walk->at = page + layout->data_at;
	walk->end = page + used;
	walk->time_ns = time;
	return 1;
}

/* 1 with a page open, 0 at the end, -1 with err. */
static int next_page(struct page_walk *walk, struct error *err)
{
	for (;;) {
		size_t left = walk->buf_len - walk->buf_at, len = walk->layout->page_size;
		const uint8_t *page;

		if (!left) {
			int r = refill(walk, err);

			if (r <= 0)
				return r;
			continue;
		}
		if (len > left)
			len = left;
		page = walk->buf + walk->buf_at;
		walk->buf_at += len;
		if (open_page(walk, page, len))
			return 1;
	}
}

static uint64_t absolute_time(uint64_t stamp, uint64_t before)
{
	if (before & STAMP_HIGH) {
		stamp |= before & STAMP_HIGH;
		if (stamp < before)
			stamp += 1ull << 59;
	}
	return stamp;
}

static void drop_page(struct page_walk *walk)
{
	page_walk_damage(walk, (size_t)(walk->end - walk->at));
	walk->at = walk->end;
}

/* A record with its length (or more of its time) in the word behind the header. Returns true with the
 * data of an event. */
static bool long_record(struct page_walk *walk, uint32_t type, uint32_t delta,
			struct page_record *record)
{
	size_t left = (size_t)(walk->end - walk->at);
	uint32_t word;

	/* Padding without a delta goes to the page's end. */
	if (type == TYPE_PADDING && !delta) {
		walk->at = walk->end;
		return false;
	}
	if (left < 8) {
		drop_page(walk);
		return false;
	}
	word = bytes_u32(walk->at + 4, walk->layout->swap);
	if (type == TYPE_TIME_EXTEND || type == TYPE_TIME_STAMP) {
		uint64_t time = ((uint64_t)word << DELTA_BITS) + delta;

		walk->time_ns = type == TYPE_TIME_EXTEND ? walk->time_ns + time
							 : absolute_time(time, walk->time_ns);
		walk->at += 8;
		return false;
	}
	/* `word` counts itself and the data, not the header. */
	if (word < 4 || (word & 3) || word > left - 4 || (type == TYPE_LONG && word < 6)) {
		drop_page(walk);
		return false;
	}
	/* A discarded event keeps its delta; where it had none the kernel writes 1. */
	walk->time_ns += type == TYPE_PADDING && delta == 1 ? 0 : delta;
	*record = (struct page_record){ walk->at + 8, word - 4, walk->time_ns };
	walk->at += 4 + (size_t)word;
	return type == TYPE_LONG;
}

int page_walk_next(struct page_walk *walk, struct page_record *record, struct error *err)
{
	for (;;) {
		uint32_t header, type, delta;

		if ((size_t)(walk->end - walk->at) < 4) {
			int r;

			drop_page(walk);
			r = next_page(walk, err);
			if (r <= 0)
				return r;
			continue;
		}
		header = bytes_u32(walk->at, walk->layout->swap);
		/* A bit field: the type is the lowest five bits or the highest, by byte order. */
		type = walk->layout->big_endian ? header >> DELTA_BITS : header & 31;
		delta = walk->layout->big_endian ? header & ((1u << DELTA_BITS) - 1) : header >> 5;
		if (type == TYPE_LONG || type >= TYPE_PADDING) {
			if (long_record(walk, type, delta, record))
				return 1;
			continue;
		}
		if ((size_t)(walk->end - walk->at) < 4 + 4 * (size_t)type) {
			drop_page(walk);
			continue;
		}
		walk->time_ns += delta;
		*record = (struct page_record){ walk->at + 4, 4 * (size_t)type, walk->time_ns };
		walk->at += 4 + 4 * (size_t)type;
		return 1;
	}
}
