/* SPDX-License-Identifier: MIT
 *
 * Plug Information. A thread plugs: it keeps the requests it gets until it unplugs, and a device is
 * plugged while some thread keeps requests for it. The U is often missing (kernels with several
 * hardware queues issue a plug's requests without one), so where the thread goes on without a U, its
 * plug ended when it first inserted or issued a request, or when one that it got and did not insert was
 * issued. (A U may come after these as well.) Where none of that is seen before the thread's next P or
 * the end of the trace, when the plug ended is not known: it is counted, its time is not.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/mem.h"
#include "classic/btt_parts.h"
#include "classic/btt_tables.h"

/* An open plug. */
struct plug {
	struct hnode by_pid;
	const struct btt_device *dev; /* NULL: its P did not tell (ftrace), nor a G since */
	uint64_t since_ns;
	uint64_t left_ns; /* since when its requests go on, or TIME_NONE */
};

enum end { BY_UNPLUG, BY_TIMER, NR_ENDS };

struct plug_row {
	struct btt_live spans; /* of the plugs that have ended, since when none was open */
	uint64_t nr_open, plugged_ns;
	uint64_t nr[NR_ENDS]; /* plugs that ended so */
	/* U and UT, and the requests they tell of. */
	uint64_t unplugs[NR_ENDS], requests[NR_ENDS];
	uint64_t span_ns; /* from the first to the last event */
};

struct plugs {
	struct btt *b;
	struct hash open; /* of struct plug, by pid */
	struct slab slab;
	struct by_device devices; /* struct plug_row */
};

static void *plugs_new(struct btt *b)
{
	struct plugs *p = mem_zalloc(sizeof(*p));

	*p = (struct plugs){ .b = b, .devices = { .size = sizeof(struct plug_row) } };
	hash_init(&p->open);
	slab_init(&p->slab, sizeof(struct plug));
	return p;
}

static void plugs_free(void *self)
{
	struct plugs *p = self;

	for (size_t i = 0; i < p->devices.nr; i++)
		if (p->devices.list[i])
			btt_live_release(&((struct plug_row *)p->devices.list[i])->spans);
	by_device_release(&p->devices);
	hash_release(&p->open);
	slab_release(&p->slab);
	free(p);
}

/* ---- plugs come and go ---- */

/* The thread's plug for that device (NULL: of which that is not known yet), or NULL. */
static struct plug *find(const struct plugs *p, uint32_t pid, const struct btt_device *dev)
{
	struct hnode *node = hash_find(&p->open, pid);

	for (; node; node = hash_next(node)) {
		struct plug *plug = container_of(node, struct plug, by_pid);

		if (plug->dev == dev)
			return plug;
	}
	return NULL;
}

static void fold(struct plug_row *row)
{
	for (size_t i = 0; i < row->spans.nr; i++)
		row->plugged_ns += row->spans.spans[i].to_ns - row->spans.spans[i].from_ns;
	row->spans.nr = 0;
}

static void forget(struct plugs *p, struct plug *plug)
{
	struct plug_row *row = plug->dev ? by_device(&p->devices, plug->dev) : NULL;

	if (row && !--row->nr_open)
		fold(row);
	hash_del(&p->open, &plug->by_pid);
	slab_put(&p->slab, plug);
}

static void end(struct plugs *p, struct plug *plug, enum end how, uint64_t now_ns)
{
	struct plug_row *row;

	if (plug->dev) {
		row = by_device(&p->devices, plug->dev);
		row->nr[how]++;
		btt_live_add(&row->spans, plug->since_ns,
			     now_ns > plug->since_ns ? now_ns : plug->since_ns);
	}
	forget(p, plug);
}

/* There was no U. */
static void end_unseen(struct plugs *p, struct plug *plug)
{
	if (plug->left_ns != TIME_NONE) {
		end(p, plug, BY_UNPLUG, plug->left_ns);
		return;
	}
	if (plug->dev)
		((struct plug_row *)by_device(&p->devices, plug->dev))->nr[BY_UNPLUG]++;
	forget(p, plug);
}

static void begin(struct plugs *p, uint32_t pid, const struct btt_device *dev, uint64_t now_ns)
{
	struct plug *plug = find(p, pid, dev);

	if (plug)
		end_unseen(p, plug);
	plug = slab_get(&p->slab);
	*plug = (struct plug){ .dev = dev, .since_ns = now_ns, .left_ns = TIME_NONE };
	hash_add(&p->open, &plug->by_pid, pid);
	if (dev)
		((struct plug_row *)by_device(&p->devices, dev))->nr_open++;
}

/* A P that tells no device is of the one that the thread gets a request of next. */
static void got_request(struct plugs *p, const struct btt_device *dev, uint32_t pid)
{
	struct plug *plug = find(p, pid, NULL);
	uint64_t since_ns;

	if (!plug)
		return;
	since_ns = plug->since_ns;
	forget(p, plug);
	begin(p, pid, dev, since_ns);
}

/* All plugs of a thread, of one device or where that is not told of any. */
static void unplug(struct plugs *p, const struct btt_device *dev, const struct event *ev)
{
	enum end how = ev->action == ACT_UNPLUG ? BY_UNPLUG : BY_TIMER;
	struct hnode *node, *next;
	struct plug_row *row = dev ? by_device(&p->devices, dev) : NULL;

	if (row) {
		row->unplugs[how]++;
		row->requests[how] += ev->aux_sector;
	}
	for (node = hash_find(&p->open, ev->pid); node; node = next) {
		struct plug *plug = container_of(node, struct plug, by_pid);

		next = hash_next(node);
		if (!dev || plug->dev == dev)
			end(p, plug, how, p->b->now_ns);
	}
}

/* Its requests go on. */
static void leaves(struct plugs *p, const struct btt_device *dev, uint32_t pid)
{
	struct plug *plug = p->open.nr ? find(p, pid, dev) : NULL;

	if (plug && plug->left_ns == TIME_NONE)
		plug->left_ns = p->b->now_ns;
}

/* The thread has come further than what would end its plugs. */
static void goes_on(struct plugs *p, uint32_t pid)
{
	struct hnode *node = p->open.nr ? hash_find(&p->open, pid) : NULL, *next;

	for (; node; node = next) {
		struct plug *plug = container_of(node, struct plug, by_pid);

		next = hash_next(node);
		if (plug->left_ns != TIME_NONE)
			end_unseen(p, plug);
	}
}

static void plugs_event(void *self, struct btt_device *dev, const struct event *ev)
{
	struct plugs *p = self;

	switch ((enum action)ev->action) {
	case ACT_QUEUE:
		goes_on(p, ev->pid);
		break;
	case ACT_PLUG:
		begin(p, ev->pid, dev, p->b->now_ns);
		break;
	case ACT_UNPLUG:
	case ACT_UNPLUG_TIMER:
		unplug(p, dev, ev);
		break;
	case ACT_GETRQ:
		if (p->open.nr)
			got_request(p, dev, ev->pid);
		break;
	case ACT_INSERT:
	case ACT_ISSUE: /* what has a pre-flush never was in a plug */
		if (!(ev->flags & EV_PREFLUSH))
			leaves(p, dev, ev->pid);
		break;
	default:
		break;
	}
}

static void plugs_issued(void *self, struct btt_device *dev, struct io_bio *bio,
			 const struct event *ev)
{
	if (bio->insert_ns == TIME_NONE && !(bio->flags & EV_PREFLUSH))
		leaves(self, dev, bio->pid);
}

/* ---- output ---- */

static void print_counts(FILE *out, const char *label, const uint64_t *nr, double percent)
{
	fprintf(out, "%10s | %10" PRIu64 "(%10" PRIu64 ") | %13.9f%%\n", label, nr[BY_UNPLUG],
		nr[BY_TIMER], percent);
}

static double percent_of(const struct plug_row *row)
{
	return row->span_ns ? 100.0 * (double)row->plugged_ns / (double)row->span_ns : 0;
}

static void end_all(struct plugs *p)
{
	struct hash_walk walk = { 0 };
	struct hnode *node;

	while ((node = hash_walk(&p->open, &walk)) != NULL) {
		end_unseen(p, container_of(node, struct plug, by_pid));
		walk = (struct hash_walk){ 0 };
	}
}

static void add_row(struct plug_row *sum, const struct plug_row *row)
{
	sum->plugged_ns += row->plugged_ns;
	sum->span_ns += row->span_ns;
	for (int i = 0; i < NR_ENDS; i++) {
		sum->nr[i] += row->nr[i];
		sum->unplugs[i] += row->unplugs[i];
		sum->requests[i] += row->requests[i];
	}
}

static void print_plugs(const struct plugs *p)
{
	static const char dashes[] = "---------- | ---------- ----------  | ----------------\n";
	FILE *out = p->b->avg;
	struct plug_row sum = { 0 };
	const struct btt_device *dev;
	uint64_t nr = 0;

	fprintf(out, "%10s | %10s %10s  | %16s\n%s", "DEV", "# Plugs", "# Timer Us",
		"% Time Q Plugged", dashes);
	for (size_t at = 0; (dev = btt_shown(p->b, &at)) != NULL;) {
		struct plug_row *row = by_device_known(&p->devices, dev);

		if (!row || !(row->nr[BY_UNPLUG] + row->nr[BY_TIMER]))
			continue;
		nr++;
		row->span_ns = dev->last_ns - dev->first_ns;
		add_row(&sum, row);
		print_counts(out, btt_row_label(p->b, dev).text, row->nr, percent_of(row));
		if (p->b->xvg)
			fprintf(p->b->xvg, "PLG %s %" PRIu64 " %" PRIu64 " %.9f\n", dev->label,
				row->nr[BY_UNPLUG], row->nr[BY_TIMER], percent_of(row));
	}
	if (nr > 1) {
		fprintf(out, "%s%10s | %10s %10s  | %16s\n", dashes, "Overall", "# Plugs",
			"# Timer Us", "% Time Q Plugged");
		for (int i = 0; i < NR_ENDS; i++)
			sum.nr[i] /= nr;
		print_counts(out, "Average", sum.nr, percent_of(&sum));
	}
	fputc('\n', out);
}

static double per_unplug(const struct plug_row *row, enum end how)
{
	return row->unplugs[how] ? (double)row->requests[how] / (double)row->unplugs[how] : 0;
}

static void print_sizes(const struct plugs *p)
{
	static const char dashes[] = "---------- | ----------   ----------\n";
	FILE *out = p->b->avg;
	struct plug_row sum = { 0 };
	const struct btt_device *dev;

	fprintf(out, "%10s | %10s   %10s\n%s", "DEV", "IOs/Unp", "IOs/Unp(to)", dashes);
	for (size_t at = 0; (dev = btt_shown(p->b, &at)) != NULL;) {
		static const struct plug_row none;
		const struct plug_row *row = by_device_known(&p->devices, dev);

		row = row ? row : &none;
		add_row(&sum, row);
		fprintf(out, "%10s | %10.1f   %10.1f\n", btt_row_label(p->b, dev).text,
			per_unplug(row, BY_UNPLUG), per_unplug(row, BY_TIMER));
		if (p->b->xvg)
			fprintf(p->b->xvg, "UPG %s %.9f %.9f\n", dev->label,
				per_unplug(row, BY_UNPLUG), per_unplug(row, BY_TIMER));
	}
	if (sum.unplugs[BY_UNPLUG] + sum.unplugs[BY_TIMER])
		fprintf(out, "%s%10s | %10s   %10s\n%10s | %10.1f   %10.1f\n", dashes, "Overall",
			"IOs/Unp", "IOs/Unp(to)", "Average", per_unplug(&sum, BY_UNPLUG),
			per_unplug(&sum, BY_TIMER));
	fputc('\n', out);
}

static void plugs_finish(void *self)
{
	struct plugs *p = self;

	end_all(p);
	btt_title(p->b->avg, "Plug Information");
	print_plugs(p);
	print_sizes(p);
}

const struct btt_part btt_plugs = {
	.name = "plugs",
	.new = plugs_new,
	.event = plugs_event,
	.issued = plugs_issued,
	.finish = plugs_finish,
	.free = plugs_free,
};
