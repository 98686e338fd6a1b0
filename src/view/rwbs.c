// SPDX-License-Identifier: MIT
#include "view/rwbs.h"

#include <stddef.h>
#include <string.h>

/* Behind the F of a pre-flush, if there is one. */
static const char *operation(enum io_class class, uint32_t flags)
{
	switch (class) {
	case CLASS_READ:
		return "R";
	case CLASS_WRITE:
		return flags & EV_ZONE_APPEND ? "ZA" : "W";
	case CLASS_DISCARD:
		return flags & EV_SECURE ? "DE" : "D";
	case CLASS_WRITE_ZEROES:
		return "WZ";
	case CLASS_FLUSH: /* the command itself is FN in blktrace, FF in ftrace */
		if (flags & EV_PREFLUSH)
			return flags & EV_WRITE ? "W" : "N";
		return "F";
	case CLASS_ZONE:
		return "Z";
	case CLASS_PASSTHROUGH:
		if (flags & EV_PC)
			return flags & EV_WRITE ? "W" : "R";
		return "N";
	default:
		return flags & EV_WRITE ? "W" : "?";
	}
}

struct rwbs rwbs_of(enum io_class class, uint32_t flags)
{
	static const struct {
		uint32_t flag;
		char letter;
	} after[] = { { EV_FUA, 'F' },
		      { EV_AHEAD, 'A' },
		      { EV_SYNC, 'S' },
		      { EV_META, 'M' },
		      { EV_ATOMIC, 'U' } };
	struct rwbs out = { "" };
	char *at = out.s;

	if (flags & EV_PREFLUSH || class == CLASS_FLUSH)
		*at++ = 'F';
	at = stpcpy(at, operation(class, flags));
	for (size_t i = 0; i < sizeof(after) / sizeof(after[0]); i++)
		if (flags & after[i].flag)
			*at++ = after[i].letter;
	*at = '\0';
	return out;
}
