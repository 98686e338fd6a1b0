/* SPDX-License-Identifier: MIT */
#include "classic/record.h"

#include <string.h>

void record_take_cgroup(struct record *r)
{
	uint64_t id;

	if (r->h.pdu_len < 8)
		return;
	r->cgroup = true;
	id = bytes_u64(r->pdu, r->swap);
	r->cgroup_ino = (uint32_t)id;
	r->cgroup_gen = (uint32_t)(id >> 32);
	r->h.number &= ~BLKTRACE_CGROUP;
	r->h.pdu_len = (uint16_t)(r->h.pdu_len - 8);
	r->pdu += 8;
}

static void put_u32(uint8_t *p, uint32_t v)
{
	memcpy(p, &v, sizeof(v));
}

static void put_u64(uint8_t *p, uint64_t v)
{
	memcpy(p, &v, sizeof(v));
}

/* A cgroup id that was taken off is put back by whoever writes the payload. */
size_t record_encode(const struct record *r, uint8_t header[BLKTRACE_V8_BYTES])
{
	const struct blktrace_header *h = &r->h;
	uint32_t number = h->number | (r->cgroup ? BLKTRACE_CGROUP : 0);
	uint16_t pdu_len = (uint16_t)(h->pdu_len + (r->cgroup ? 8 : 0));
	bool v7 = h->size == BLKTRACE_V7_BYTES;
	uint8_t *p = header + (v7 ? 36 : 40);

	memset(header, 0, h->size);
	put_u32(header, BLKTRACE_MAGIC | (v7 ? 7 : 8));
	put_u32(header + 4, h->sequence);
	put_u64(header + 8, h->time_ns);
	put_u64(header + 16, h->sector);
	put_u32(header + 24, h->bytes);
	if (v7) {
		put_u32(header + 28, number | h->categories << 16);
		put_u32(header + 32, h->pid);
	} else {
		put_u32(header + 28, h->pid);
		put_u64(header + 32, number | (uint64_t)h->categories << 16);
	}
	put_u32(p, h->device);
	put_u32(p + 4, h->cpu);
	memcpy(p + 8, &h->error, 2);
	memcpy(p + 10, &pdu_len, 2);
	return h->size;
}

/* What is done: the first category that is set, in the order of blkparse 8. */
static const char *zone_operation(uint32_t categories)
{
	static const struct {
		uint32_t category;
		const char *letters;
	} operations[] = {
		{ TC_ZONE_APPEND, "ZA" }, { TC_ZONE_RESET, "ZR" }, { TC_ZONE_RESET_ALL, "ZRA" },
		{ TC_ZONE_FINISH, "ZF" }, { TC_ZONE_OPEN, "ZO" },  { TC_ZONE_CLOSE, "ZC" },
	};

	for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++)
		if (categories & operations[i].category)
			return operations[i].letters;
	return NULL;
}

static const char *operation(const struct record *r, enum classic classic)
{
	uint32_t categories = r->h.categories;
	const char *zone;

	if (categories & TC_DISCARD)
		return "D";
	if (classic == CLASSIC_8 && (zone = zone_operation(categories)))
		return zone;
	if (categories & TC_WRITE)
		return "W";
	return r->h.bytes ? "R" : "N";
}

size_t record_rwbs(const struct record *r, enum classic classic, char text[RWBS_BYTES])
{
	uint32_t categories = r->h.categories;
	char *p = text;

	if (categories & TC_FLUSH)
		*p++ = 'F';
	for (const char *letters = operation(r, classic); *letters;)
		*p++ = *letters++;
	if (categories & TC_FUA)
		*p++ = 'F';
	if (categories & TC_AHEAD)
		*p++ = 'A';
	if (categories & TC_SYNC)
		*p++ = 'S';
	if (categories & TC_META)
		*p++ = 'M';
	*p = '\0';
	return (size_t)(p - text);
}
