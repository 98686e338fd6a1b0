/* SPDX-License-Identifier: MIT
 *
 * One entry of the list of requests, between its collector (request_list.c) and its tree
 * (request_tree.c).
 */
#ifndef BLKLAB_VIEW_REQUEST_ENTRY_H
#define BLKLAB_VIEW_REQUEST_ENTRY_H

#include <stdbool.h>
#include <stdint.h>

#include "track/io.h"
#include "view/meanwhile.h"
#include "view/request_list.h"

enum request_state { REQUEST_COMPLETED, REQUEST_IN_FLIGHT, REQUEST_LOST, REQUEST_ORPHAN };

struct request_entry {
	struct io io;      /* of a bio: what it has of one */
	uint64_t start_ns; /* the first that was seen of A, Q, G, D; or TIME_NONE */
	uint64_t at_ns;    /* its place in the list: the start, else the end */
	uint64_t took_ns;  /* by which the slowest are chosen; 0 where untold */
	uint64_t order;    /* of arrival */
	uint8_t state;     /* enum request_state */
	bool is_bio;
	/* Owned by the list; NULL: not asked for (only of the slowest), or, of a bio, not known. */
	struct meanwhile *meanwhile;
};

const struct request_entry *request_list_entry(const struct request_list *list, size_t i);

#endif
