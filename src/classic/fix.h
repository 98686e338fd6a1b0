/* SPDX-License-Identifier: MIT
 *
 * blkparse --fix: the classic's layout with our own numbers. The input goes through our readers,
 * and what happened is decided by src/track, so that this and `report` agree to the last digit.
 */
#ifndef BLKLAB_CLASSIC_FIX_H
#define BLKLAB_CLASSIC_FIX_H

#include "classic/blkparse.h"
#include "track/track.h"

/* The exit status as of any command (3: done with losses or damage), or -1 with err. */
int fix_run(const struct blkparse_options *o, struct error *err);

/* ---- for the files of this module ---- */

#define FIX_PDU_BYTES 16

/* The event as the record that blktrace would have written, its time since genesis_ns; for the
 * printers of lines. The payload is the event's own, or encoded into pdu. False: none prints it.
 * */
bool fix_record(struct record *r, const struct event *ev, uint64_t genesis_ns,
		uint8_t pdu[FIX_PDU_BYTES]);

struct fix_error {
	char text[40];
};

/* "-5 EIO", "-512" where it has no name. error: negative errno. */
struct fix_error fix_error(int error);

/* The longest waits of a process, -t with -s. */
struct fix_waits {
	struct hnode by_pid;
	uint64_t longest_ns[NR_TIMED][2]; /* of reads, of others */
};

/* All that is known at the end; borrowed. */
struct fix_result {
	const struct blkparse_options *o;
	const struct summary *sum;
	const struct facts *facts;
	const struct source_stats *stats; /* of all sources together */
	const struct hash *waits;         /* of struct fix_waits by pid */
	bool numbered;                    /* events had sequence numbers */
};

/* The blocks of all devices, what was lost, and whose numbers these are. */
void fix_devices(struct out *out, const struct fix_result *result, bool grouped);
/* The blocks of -s, and the empty line behind them. */
void fix_processes(struct out *out, const struct fix_result *result, bool grouped);

/* The lines of one block. What is not known prints n/a. */
struct fix_rows {
	struct io_counts counts;
	uint64_t unplugs, timer_unplugs, splits;
	struct depths depths;
	bool with_depth; /* has lines of depth */
	struct fix_known {
		bool bios, requests, merges, bytes, unplugs, depth;
	} known;
};
void fix_rows(struct out *out, const struct fix_rows *rows, bool grouped);

#endif
