/* SPDX-License-Identifier: MIT
 *
 * The events of a text in the order of their times. Texts are nearly sorted, so a window is enough:
 * it is sorted only where it must be, and its first half goes out.
 */
#ifndef BLKLAB_READ_TEXT_TEXT_ORDER_H
#define BLKLAB_READ_TEXT_TEXT_ORDER_H

#include <stdbool.h>

#include "base/mem.h"
#include "trace/event.h"

#define TEXT_WINDOW 32768u /* events; 2 MiB */

struct text_order {
	struct event *events; /* owned, `room` of them */
	struct event *spare;  /* owned, as many; for sorting, NULL = never needed yet */
	size_t room;
	size_t nr, given; /* events[given .. ready) may go out */
	size_t ready;
	bool disorder;
	struct slab messages; /* copies of payloads */
	const uint8_t **lent; /* owned; went out with the last take */
	size_t nr_lent;
	uint64_t cut_messages; /* longer than TEXT_MESSAGE_MAX */
	uint64_t repeated;     /* events that were pasted twice and left out */
};

#define TEXT_MESSAGE_MAX 256u

void text_order_init(struct text_order *order);
/* Copies the event and its payload. Only while text_order_ready is 0; a few more than the window may
 * come before it is asked. */
void text_order_add(struct text_order *order, const struct event *ev);
/* How many events may be taken; flush: no more will come. */
size_t text_order_ready(struct text_order *order, bool flush);
/* Moves up to max events out, in order; payloads are lent until the next take. */
int text_order_take(struct text_order *order, struct event *events, int max);
void text_order_release(struct text_order *order);

#endif
