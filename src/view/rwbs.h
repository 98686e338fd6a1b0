/* SPDX-License-Identifier: MIT
 *
 * The letters that blkparse prints for what an I/O is.
 */
#ifndef BLKLAB_VIEW_RWBS_H
#define BLKLAB_VIEW_RWBS_H

#include <stdint.h>

#include "trace/event.h"

struct rwbs {
	char s[12]; /* "FWFSM" */
};

/* From EV_* flags, in the kernel's order: F (pre-flush), the operation, F (FUA), A, S, M, U. */
struct rwbs rwbs_of(enum io_class class, uint32_t flags);

#endif
