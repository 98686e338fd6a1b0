/* SPDX-License-Identifier: MIT
 *
 * The names of threads as blkparse knows them: the first note of a pid wins for ever, and is known from
 * when it was read.
 */
#ifndef BLKLAB_CLASSIC_COMMS_H
#define BLKLAB_CLASSIC_COMMS_H

#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/mem.h"

#define COMM_BYTES 16 /* with the NUL: as many letters as a thread name has */

struct comm {
	struct hnode node; /* by pid */
	uint32_t pid;
	uint8_t len;
	char name[COMM_BYTES]; /* NUL-terminated */
};

struct comms {
	struct slab all;
	struct hash by_pid;
	const struct comm *last; /* that was asked for */
};

void comms_init(struct comms *comms);
void comms_release(struct comms *comms);
/* A process note: `len` bytes of payload. */
void comms_note(struct comms *comms, uint32_t pid, const uint8_t *name, size_t len);
const struct comm *comms_look(struct comms *comms, uint32_t pid); /* NULL: no note yet */

static inline const struct comm *comms_get(struct comms *comms, uint32_t pid)
{
	return comms->last && comms->last->pid == pid ? comms->last : comms_look(comms, pid);
}

#endif
