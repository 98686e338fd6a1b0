/* SPDX-License-Identifier: MIT
 *
 * What ran while a slow request waited for its D: requests of the same device that came later and ended
 * first, the time they took at the device, and the time it was idle. From a log of what has ended, which
 * reaches as far back as its bound allows; where that is not enough, it is said.
 *
 * A request that was given back and issued again is logged with its last attempt, and with the first one
 * as far as that was lost. Rows of tables are not logged: they have no order.
 */
#ifndef BLKLAB_VIEW_MEANWHILE_H
#define BLKLAB_VIEW_MEANWHILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "track/io.h"

#define MEANWHILE_LOG (1u << 20) /* requests that are kept, of 40 bytes */
#define MEANWHILE_TOP 5

enum meanwhile_who {
	WHO_THREAD,
	WHO_FLUSH,  /* flush commands: whoever issued one did not ask for it */
	WHO_UNTOLD, /* requests whose bios were not seen */
};

/* The requests of one thread. */
struct meanwhile_part {
	uint8_t who; /* enum meanwhile_who */
	uint32_t pid;
	uint64_t requests;
	uint64_t device_ns; /* union of their times at the device, inside of the wait */
};

struct meanwhile {
	const char *why;         /* static: why nothing is known, or NULL */
	uint64_t from_ns, to_ns; /* the wait: Q to the first D */
	/* Came later and ended first, all of them; the parts add up to its requests, not to its time. */
	struct meanwhile_part all;
	struct meanwhile_part top[MEANWHILE_TOP]; /* the most time at the device first */
	size_t nr_top;
	struct meanwhile_part rest; /* all others together */
	size_t nr_rest;             /* how many they are */
	bool idle_known;
	uint64_t idle_ns; /* no request at the device */
};

struct meanwhile_log;

struct meanwhile_log *meanwhile_log_new(void);
void meanwhile_log_free(struct meanwhile_log *log);

bool meanwhile_log_full(const struct meanwhile_log *log);
/* Forgets the older half: what that is needed for must have been looked at before. */
void meanwhile_log_cut(struct meanwhile_log *log);
/* In the order of their ends; those that are still open last. */
void meanwhile_log_add(struct meanwhile_log *log, const struct io *io);

/* What ran while `slow` waited; in_flight: it has not ended, and until last_ns nothing more is known. */
void meanwhile_look(const struct meanwhile_log *log, const struct io *slow, bool in_flight,
		    uint64_t last_ns, struct meanwhile *out);

#endif
