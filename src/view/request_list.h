/* SPDX-License-Identifier: MIT
 *
 * Single requests, one by one (`report --requests`), collected from the tracker while it runs. Of
 * devices without requests the bios stand in their place. Memory is bounded: all up to
 * REQUEST_LIST_MAX, or only the slowest.
 */
#ifndef BLKLAB_VIEW_REQUEST_LIST_H
#define BLKLAB_VIEW_REQUEST_LIST_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "track/track.h"

#define REQUEST_LIST_MAX 1000000u

struct report;
struct request_list;

/* top: keep only that many, the slowest, each with what ran while it waited; 0 = all. Only what began in
 * [from_ns, to_ns] is taken (TIME_NONE: no limit). sum is borrowed: the one that the tracker fills. */
struct request_list *request_list_new(size_t top, uint64_t from_ns, uint64_t to_ns,
				      const struct summary *sum);
void request_list_free(struct request_list *list);
/* What to give to the tracker. */
struct track_sink request_list_sink(struct request_list *list);
/* After the tracker's finish: brings them into the order of time. */
void request_list_finish(struct request_list *list);

size_t request_list_nr(const struct request_list *list);
/* The `top` it was made with. */
size_t request_list_top(const struct request_list *list);
/* More than REQUEST_LIST_MAX came; this many were not kept. */
uint64_t request_list_truncated(const struct request_list *list);
/* The i-th in time, in the shape of requests_list[] (doc/spec.md), owned by the caller: there may be
 * too many to hold them all as a tree. */
json_t *request_list_row(const struct report *r, size_t i);

#endif
