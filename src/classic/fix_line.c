/* SPDX-License-Identifier: MIT
 *
 * Events of any input as records of blktrace.
 */
#include <stdio.h>
#include <string.h>

#include "classic/fix.h"

/* blktrace's number for it; 0 = it has none, or says nothing of its own. */
static uint32_t number_of(const struct event *ev)
{
	switch ((enum action)ev->action) {
	case ACT_RQ_MERGE:
		return ACT_BACKMERGE;
	case ACT_BIO_COMPLETE:
	case ACT_ZONE_APPEND:
		return ACT_COMPLETE;
	case ACT_RQ_REMAP:
		return ACT_REMAP;
	default:
		return ev->action <= BLKTRACE_LAST_ACTION ? ev->action : 0;
	}
}

/* The category that the kernel gives to each number. */
static uint32_t category_of(uint32_t number)
{
	switch (number) {
	case ACT_REQUEUE:
		return TC_REQUEUE;
	case ACT_ISSUE:
		return TC_ISSUE;
	case ACT_COMPLETE:
		return TC_COMPLETE;
	case ACT_DRV_DATA:
		return TC_DRV_DATA;
	case ACT_SPLIT:
	case ACT_BOUNCE:
		return 0;
	default:
		return TC_QUEUE;
	}
}

static uint32_t categories_of(const struct event *ev, uint32_t number)
{
	static const struct {
		uint32_t flag, category;
	} map[] = {
		{ EV_SYNC, TC_SYNC },   { EV_META, TC_META },
		{ EV_FUA, TC_FUA },     { EV_PREFLUSH, TC_FLUSH },
		{ EV_AHEAD, TC_AHEAD }, { EV_FS, TC_FS },
		{ EV_PC, TC_PC },       { EV_ZONE_APPEND, TC_ZONE_APPEND },
	};
	uint32_t categories = category_of(number);

	categories |= ev->flags & EV_WRITE ? TC_WRITE : TC_READ;
	for (size_t i = 0; i < sizeof(map) / sizeof(map[0]); i++)
		categories |= ev->flags & map[i].flag ? map[i].category : 0;
	switch ((enum io_class)ev->class) {
	case CLASS_DISCARD:
		return categories | TC_DISCARD;
	case CLASS_WRITE_ZEROES:
		return categories | TC_WRITE_ZEROES;
	case CLASS_FLUSH:
		return categories | TC_FLUSH;
	case CLASS_PASSTHROUGH:
		return (categories & ~(uint32_t)TC_FS) | TC_PC;
	default:
		return categories;
	}
}

static void put_be32(uint8_t *p, uint32_t v)
{
	for (int i = 0; i < 4; i++)
		p[i] = (uint8_t)(v >> (24 - 8 * i));
}

static void put_be64(uint8_t *p, uint64_t v)
{
	put_be32(p, (uint32_t)(v >> 32));
	put_be32(p + 4, (uint32_t)v);
}

static void set_payload(struct record *r, const struct event *ev, uint8_t pdu[FIX_PDU_BYTES])
{
	r->pdu = pdu;
	switch (r->h.number) {
	case ACT_SPLIT:
	case ACT_UNPLUG:
	case ACT_UNPLUG_TIMER:
		put_be64(pdu, ev->aux_sector);
		r->h.pdu_len = 8;
		break;
	case ACT_REMAP:
		put_be32(pdu, ev->aux_device);
		put_be32(pdu + 4, ev->device);
		put_be64(pdu + 8, ev->aux_sector);
		r->h.pdu_len = 16;
		break;
	default:
		if (ev->payload_len)
			r->pdu = ev->payload;
		r->h.pdu_len = ev->payload_len;
	}
}

bool fix_record(struct record *r, const struct event *ev, uint64_t genesis_ns,
		uint8_t pdu[FIX_PDU_BYTES])
{
	bool message = ev->action == ACT_MESSAGE;
	uint32_t number = message ? NOTE_MESSAGE : number_of(ev);

	if (!number)
		return false;
	*r = (struct record){ 0 };
	r->h.size = BLKTRACE_V8_BYTES;
	r->h.time_ns = ev->time_ns - genesis_ns;
	r->h.sector = ev->sector;
	r->h.sequence = ev->sequence;
	r->h.bytes = ev->bytes;
	r->h.pid = ev->pid;
	r->h.device = ev->device;
	r->h.cpu = ev->cpu;
	r->h.error = (uint16_t)ev->error;
	r->h.number = number;
	r->h.categories = message ? TC_NOTIFY : categories_of(ev, number);
	set_payload(r, ev, pdu);
	return true;
}

struct fix_error fix_error(int error)
{
	const char *name = error < 0 ? strerrorname_np(-error) : NULL;
	struct fix_error shown;

	snprintf(shown.text, sizeof(shown.text), "%d%s%.20s", error, name ? " " : "",
		 name ? name : "");
	return shown;
}
