/* SPDX-License-Identifier: MIT */
#include "read/blktrace_walk.h"

#include <string.h>

#define MOST_BYTES (BLKTRACE_V8_BYTES + 65536 + 4) /* a largest record and the magic after it */

_Static_assert(BLKTRACE_BUFFER_BYTES > MOST_BYTES, "a whole record fits into the buffer");

/* `goes_on`: the same damage continues behind these bytes. */
static void damage(struct blktrace_walk *w, size_t nr, bool goes_on)
{
	w->stats->damaged_bytes += nr;
	w->stats->damages += nr && !w->in_damage;
	w->in_damage = goes_on;
}

/* The blob has no more, or no more that is good: what was read is used, the rest is damage. */
static int take_read(struct blktrace_walk *w, ssize_t got)
{
	if (got < 0 && !blob_damaged(w->blob))
		return -1;
	if (got < 0) {
		w->stats->damages += !w->in_damage;
		w->in_damage = true;
		got = 0;
	}
	w->at_end = got == 0;
	w->len += (size_t)got;
	w->stats->bytes += (uint64_t)got;
	return 0;
}

static void keep_unread(struct blktrace_walk *w)
{
	memmove(w->buf, w->buf + w->at, w->len - w->at);
	w->len -= w->at;
	w->at = 0;
}

int blktrace_walk_fill(struct blktrace_walk *w, struct error *err)
{
	keep_unread(w);
	while (!w->at_end && w->len < w->size)
		if (take_read(w, blob_read(w->blob, w->buf + w->len, w->size - w->len, err)) < 0)
			return -1;
	return 0;
}

int blktrace_walk_more(struct blktrace_walk *w, struct error *err)
{
	keep_unread(w);
	w->paused = false;
	if (w->at_end || w->len == w->size)
		return 0;
	return take_read(w, blob_read_some(w->blob, w->buf + w->len, w->size - w->len, err));
}

static bool known_number(uint32_t number, uint32_t categories)
{
	number &= ~BLKTRACE_CGROUP;
	if (categories & TC_NOTIFY)
		return number <= BLKTRACE_LAST_NOTE;
	return number >= 1 && number <= BLKTRACE_LAST_ACTION;
}

/* Could a record start here? Every check of the rule: magic, version, action number, the file's cpu,
 * pdu_len, and the magic of the record after it (or the exact end of the file). */
static bool plausible(const struct blktrace_walk *w, size_t at, bool swap)
{
	struct blktrace_header h;
	size_t size, next;

	if (w->len - at < BLKTRACE_V7_BYTES)
		return false;
	size = blktrace_header_size(w->buf + at, swap);
	if (!size || w->len - at < size)
		return false;
	blktrace_header_decode(&h, w->buf + at, size, swap);
	if (!known_number(h.number, h.categories) || (w->cpu >= 0 && h.cpu != (uint32_t)w->cpu))
		return false;
	next = at + size + h.pdu_len;
	if (next + 4 > w->len)
		return w->at_end && next == w->len;
	return blktrace_header_size(w->buf + next, swap) != 0;
}

/* Skips damaged bytes up to the next plausible record: 1 found or at the end, 2 not in this buffer. */
static int resynchronise(struct blktrace_walk *w)
{
	/* The start of the next record must be in sight, so stop a largest record short of the end,
	 * unless this is the end. */
	size_t keep = w->at_end ? 0 : MOST_BYTES, start = w->at;
	size_t limit = w->len > keep ? w->len - keep : 0;

	for (; w->at < limit; w->at++) {
		if (w->order_known ? plausible(w, w->at, w->swap)
				   : plausible(w, w->at, false) || plausible(w, w->at, true)) {
			damage(w, w->at - start, false);
			return 1;
		}
	}
	damage(w, w->at - start, !w->at_end);
	return w->at_end ? 1 : 2;
}

/* A record whose payload does not end at another record either has a damaged pdu_len, or the next one is
 * damaged. It is the former where a record hides in what it calls its payload; returns its distance,
 * else 0. */
static size_t hidden_record(const struct blktrace_walk *w, const struct blktrace_header *h)
{
	size_t first = w->at + h->size, end = first + h->pdu_len;

	if (end + 4 > w->len || blktrace_header_size(w->buf + end, w->swap))
		return 0;
	for (size_t at = first; at < end; at++)
		if (plausible(w, at, w->swap))
			return at - w->at;
	return 0;
}

/* Another CPU in one record is damage of that field; in two in a row it is the file that is another's. */
static void note_stray(struct blktrace_walk *w, const struct blktrace_header *h)
{
	size_t next = w->at + h->size + h->pdu_len, size;
	struct blktrace_header other;

	if (w->strays || w->cpu < 0 || h->cpu == (uint32_t)w->cpu || next + 4 > w->len)
		return;
	size = blktrace_header_size(w->buf + next, w->swap);
	if (!size || w->len - next < size)
		return;
	blktrace_header_decode(&other, w->buf + next, size, w->swap);
	w->strays = other.cpu == h->cpu;
	w->stray_cpu = h->cpu;
}

static bool all_zero(const uint8_t *p, size_t n)
{
	return n == 0 || (p[0] == 0 && memcmp(p, p + 1, n - 1) == 0);
}

int blktrace_walk_next(struct blktrace_walk *w, struct blktrace_header *h)
{
	for (;;) {
		size_t left = w->len - w->at, size;

		if (left < BLKTRACE_V7_BYTES && w->at_end) {
			if (left)
				damage(w, left,
				       false); /* cut inside a header, or a short zero tail */
			w->at = w->len;
			return 0;
		}
		if (left < (w->paused ? BLKTRACE_V7_BYTES : BLKTRACE_V8_BYTES) && !w->at_end)
			return 2;
		if (!w->order_known) {
			w->swap = blktrace_header_size(w->buf + w->at, true) != 0;
			w->order_known =
				w->swap || blktrace_header_size(w->buf + w->at, false) != 0;
		}
		size = blktrace_header_size(w->buf + w->at, w->swap);
		if (left < size && !w->at_end)
			return 2;
		if (size && left >= size) {
			blktrace_header_decode(h, w->buf + w->at, size, w->swap);
			if (left < size + h->pdu_len + (w->paused ? 0 : 4) && !w->at_end)
				return 2;
			note_stray(w, h);
			if ((w->cpu < 0 || h->cpu == (uint32_t)w->cpu) &&
			    left >= size + h->pdu_len) {
				size_t skip = hidden_record(w, h);

				if (!skip)
					return 1;
				damage(w, skip, false);
				w->at += skip;
				continue;
			}
			if (w->at_end && (w->cpu < 0 || h->cpu == (uint32_t)w->cpu)) {
				damage(w, left, false); /* cut inside the payload */
				w->at = w->len;
				return 0;
			}
		} else if (w->at_end && all_zero(w->buf + w->at, left)) {
			damage(w, left, false);
			w->at = w->len;
			return 0;
		}
		if (resynchronise(w) == 2)
			return 2;
	}
}

/* The magic's low byte, in either byte order. */
int blktrace_version(const uint8_t *head, size_t len, bool *swap)
{
	uint32_t magic;

	*swap = false;
	if (len < BLKTRACE_V7_BYTES)
		return 0;
	magic = bytes_u32(head, false);
	*swap = (magic & 0xffffff00u) != BLKTRACE_MAGIC;
	if (*swap)
		magic = bytes_u32(head, true);
	return (magic & 0xffffff00u) == BLKTRACE_MAGIC ? (int)(magic & 0xff) : 0;
}
