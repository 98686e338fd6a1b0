/* SPDX-License-Identifier: MIT */
#include "trace/event.h"

#include <string.h>

static const char *const letters[ACT_NR] = {
	[ACT_QUEUE] = "Q",        [ACT_BACKMERGE] = "M",     [ACT_FRONTMERGE] = "F",
	[ACT_GETRQ] = "G",        [ACT_SLEEPRQ] = "S",       [ACT_REQUEUE] = "R",
	[ACT_ISSUE] = "D",        [ACT_COMPLETE] = "C",      [ACT_PLUG] = "P",
	[ACT_UNPLUG] = "U",       [ACT_UNPLUG_TIMER] = "UT", [ACT_INSERT] = "I",
	[ACT_SPLIT] = "X",        [ACT_BOUNCE] = "B",        [ACT_REMAP] = "A",
	[ACT_ABORT] = "?",        [ACT_DRV_DATA] = "D",      [ACT_ZONE_PLUG] = "ZP",
	[ACT_ZONE_UNPLUG] = "ZU", [ACT_MESSAGE] = "m",       [ACT_RQ_MERGE] = "M",
	[ACT_RQ_REMAP] = "A",     [ACT_RQ_ERROR] = "C",      [ACT_BIO_COMPLETE] = "C",
	[ACT_ZONE_APPEND] = "C",  [ACT_IO] = "io",
};

static const char *const classes[CLASS_NR] = {
	[CLASS_NONE] = "none",
	[CLASS_READ] = "read",
	[CLASS_WRITE] = "write",
	[CLASS_DISCARD] = "discard",
	[CLASS_WRITE_ZEROES] = "write_zeroes",
	[CLASS_FLUSH] = "flush",
	[CLASS_ZONE] = "zone",
	[CLASS_PASSTHROUGH] = "passthrough",
	[CLASS_OTHER] = "other",
};

const char *action_letter(enum action action)
{
	if ((unsigned int)action >= ACT_NR || !letters[action])
		return "?";
	return letters[action];
}

const char *class_name(enum io_class class)
{
	return (unsigned int)class < CLASS_NR ? classes[class] : "other";
}

/* What an N is: the kernel prints it for every operation without a letter of its own. */
static enum io_class class_of_n(const struct event *ev, uint32_t sectors)
{
	/* Passthrough requests have no place: D prints 0 + 0, C prints -1. */
	if (ev->sector == SECTOR_NONE || (!sectors && ev->bytes))
		return CLASS_PASSTHROUGH;
	if (sectors)
		return CLASS_WRITE_ZEROES; /* a zone operation has no length */
	if (ev->sector || ev->action == ACT_QUEUE || ev->action == ACT_GETRQ)
		return CLASS_ZONE; /* passthrough is never seen as a bio */
	return CLASS_PASSTHROUGH;
}

static uint32_t flag_of(char letter)
{
	switch (letter) {
	case 'F':
		return EV_FUA;
	case 'A':
		return EV_AHEAD;
	case 'S':
		return EV_SYNC;
	case 'M':
		return EV_META;
	case 'U':
		return EV_ATOMIC;
	default:
		return 0;
	}
}

/* Two letters: Z and what is done to the zone (2025 kernels); i at the second. Returns how many of
 * the letters from there belong to the operation. */
static size_t set_zone(struct event *ev, const char *rwbs, size_t len, size_t i)
{
	ev->class = CLASS_ZONE;
	ev->flags |= EV_WRITE;
	if (i >= len || !rwbs[i])
		return 0;
	if (rwbs[i] == 'A') {
		ev->class = CLASS_WRITE;
		ev->flags |= EV_ZONE_APPEND;
		return 1;
	}
	return rwbs[i] == 'R' && i + 1 < len && rwbs[i + 1] == 'A' ? 2 : 1;
}

/* The operation that starts at rwbs[i]; returns how many letters it has. */
static size_t set_operation(struct event *ev, const char *rwbs, size_t len, size_t i,
			    uint32_t sectors)
{
	char next = i + 1 < len ? rwbs[i + 1] : 0;

	switch (i < len ? rwbs[i] : 0) {
	case 'R':
		ev->class = CLASS_READ;
		return 1;
	case 'W':
		ev->class = next == 'Z' ? CLASS_WRITE_ZEROES : CLASS_WRITE;
		ev->flags |= EV_WRITE;
		return next == 'Z' ? 2 : 1;
	case 'D':
		ev->class = CLASS_DISCARD;
		ev->flags |= EV_WRITE | (next == 'E' ? EV_SECURE : 0);
		return next == 'E' ? 2 : 1;
	case 'F':
		ev->class = CLASS_FLUSH;
		ev->flags |= EV_WRITE;
		return 1;
	case 'Z':
		return 1 + set_zone(ev, rwbs, len, i + 1);
	case 'N':
		ev->class = (uint8_t)class_of_n(ev, sectors);
		ev->flags |= ev->class == CLASS_WRITE_ZEROES ? EV_WRITE : 0;
		return 1;
	default:
		ev->class = CLASS_OTHER;
		return 0;
	}
}

void event_set_rwbs(struct event *ev, const char *rwbs, size_t len, uint32_t sectors)
{
	size_t i = 0;

	ev->class = CLASS_OTHER;
	/* F in front of an operation is PREFLUSH; alone or before flags it is the flush itself. */
	if (len > 1 && rwbs[0] == 'F' && rwbs[1] && strchr("RWDFZN", rwbs[1])) {
		ev->flags |= EV_PREFLUSH;
		i = 1;
	}
	i += set_operation(ev, rwbs, len, i, sectors);
	if ((ev->flags & EV_PREFLUSH) && !sectors)
		ev->class = CLASS_FLUSH;
	for (; i < len && rwbs[i]; i++)
		ev->flags |= flag_of(rwbs[i]);
}
