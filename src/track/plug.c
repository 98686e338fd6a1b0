/* SPDX-License-Identifier: MIT
 *
 * Plugs [5]: a thread keeps the requests it got until it unplugs. P tells nothing that is needed (on
 * some kernels it comes after the first G, and its U may never come), so what a thread got and is
 * neither inserted nor issued when U comes was in its plug until then.
 */
#include "track/state.h"

void plug_add(struct tracker *t, struct rq *rq, const struct event *ev)
{
	list_add(&process_get(t, ev->pid)->plug, &rq->plug);
}

void plug_leave(struct rq *rq)
{
	list_del(&rq->plug);
}

void plug_over(struct tracker *t, const struct event *ev)
{
	struct link *list = &process_get(t, ev->pid)->plug, *next;

	for (struct link *l = list->next; l != list; l = next) {
		struct rq *rq = container_of(l, struct rq, plug);

		next = l->next;
		/* Without a device (ftrace) the plug is emptied for all of them. */
		if (ev->device && t->devices[rq->io.dev]->number != ev->device)
			continue;
		rq->io.unplug_ns = ev->time_ns;
		plug_leave(rq);
	}
}
