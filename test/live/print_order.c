/* SPDX-License-Identifier: MIT
 *
 * print_order TRACE: "CPU SEQUENCE" of each event but messages, in merged order, for
 * test/compare/merge-order.sh. blkparse 1.2.0 does not know messages with a cgroup id and reads past
 * them, so they take no part in its merge; they are left out here before ours.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/container.h"
#include "base/mem.h"
#include "read/formats.h"

struct without {
	struct source self;
	struct source *from; /* owned */
};

static int without_pull(struct source *self, struct event *events, int max, struct error *err)
{
	struct source *from = container_of(self, struct without, self)->from;
	int n = 0, kept = 0;

	while (!kept && (n = source_pull(from, events, max, err)) > 0)
		for (int i = 0; i < n; i++)
			if (events[i].action != ACT_MESSAGE || !(events[i].flags & EV_CGROUP))
				events[kept++] = events[i];
	return n < 0 ? n : kept;
}

static void without_release(struct source *self)
{
	struct without *w = container_of(self, struct without, self);

	source_release(w->from);
	free(w);
}

static const struct source_ops without_ops = { .pull = without_pull, .release = without_release };

static void leave_out(struct sources *sources)
{
	for (size_t i = 0; i < sources->nr; i++) {
		struct without *w = mem_zalloc(sizeof(*w));

		w->self.ops = &without_ops;
		w->from = sources->list[i];
		sources->list[i] = &w->self;
	}
}

int main(int argc, char **argv)
{
	struct inputs inputs = { 0 };
	struct facts facts;
	struct sources sources = { 0 };
	struct error err = { 0 };
	struct source *merged;
	struct event events[256];
	int n = -1;

	facts_init(&facts);
	if (argc == 2 && inputs_add(&inputs, argv[1], &err) == 0 &&
	    inputs_open(&inputs, &facts, &sources, &err) == 0) {
		leave_out(&sources);
		merged = merge_new(&sources);
		while ((n = source_pull(merged, events, 256, &err)) > 0)
			for (int i = 0; i < n; i++)
				if (events[i].action != ACT_MESSAGE)
					printf("%u %u\n", events[i].cpu, events[i].sequence);
		source_release(merged);
	}
	if (n < 0)
		fprintf(stderr, "print_order: %s\n", err.text);
	facts_release(&facts);
	inputs_release(&inputs);
	return n < 0;
}
