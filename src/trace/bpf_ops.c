/* SPDX-License-Identifier: MIT */
#include "trace/bpf_ops.h"

#include <stddef.h>
#include <string.h>

static const struct {
	const char *name;
	enum io_class class;
	uint32_t flags;
} ops[] = {
	{ "READ", CLASS_READ, 0 },
	{ "WRITE", CLASS_WRITE, EV_WRITE },
	{ "FLUSH", CLASS_FLUSH, EV_WRITE },
	{ "DISCARD", CLASS_DISCARD, EV_WRITE },
	{ "SECURE_ERASE", CLASS_DISCARD, EV_WRITE | EV_SECURE },
	{ "WRITE_SAME", CLASS_WRITE, EV_WRITE },
	{ "WRITE_ZEROES", CLASS_WRITE_ZEROES, EV_WRITE },
	{ "ZONE_APPEND", CLASS_WRITE, EV_WRITE | EV_ZONE_APPEND },
	{ "ZONE_OPEN", CLASS_ZONE, EV_WRITE },
	{ "ZONE_CLOSE", CLASS_ZONE, EV_WRITE },
	{ "ZONE_FINISH", CLASS_ZONE, EV_WRITE },
	{ "ZONE_RESET", CLASS_ZONE, EV_WRITE },
	{ "ZONE_RESET_ALL", CLASS_ZONE, EV_WRITE },
	{ "DRV_IN", CLASS_PASSTHROUGH, 0 },
	{ "DRV_OUT", CLASS_PASSTHROUGH, EV_WRITE },
	{ "SCSI_IN", CLASS_PASSTHROUGH, 0 },
	{ "SCSI_OUT", CLASS_PASSTHROUGH, EV_WRITE },
};

static const struct {
	const char *name;
	uint32_t flag;
} flags[] = {
	{ "SYNC", EV_SYNC },         { "META", EV_META },     { "FUA", EV_FUA },
	{ "PREFLUSH", EV_PREFLUSH }, { "RAHEAD", EV_AHEAD },  { "BACKGROUND", EV_BACKGROUND },
	{ "NOWAIT", EV_NOWAIT },     { "ATOMIC", EV_ATOMIC },
};

enum io_class bpf_op_class(const char *name)
{
	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++)
		if (!strcmp(ops[i].name, name))
			return ops[i].class;
	return CLASS_OTHER;
}

uint32_t bpf_op_flags(const char *name)
{
	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++)
		if (!strcmp(ops[i].name, name))
			return ops[i].flags;
	return 0;
}

uint32_t bpf_flag(const char *name)
{
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		if (!strcmp(flags[i].name, name))
			return flags[i].flag;
	return 0;
}
