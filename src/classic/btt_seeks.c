/* SPDX-License-Identifier: MIT
 *
 * Device Q2Q and D2D Seek Information: how far apart consecutive Qs or Ds of a device are.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"
#include "classic/btt_parts.h"
#include "classic/btt_tables.h"
#include "classic/btt_values.h"

struct seek_row {
	struct btt_seek last;
	struct values distances; /* without their sign, in sectors */
};

struct seeks {
	struct btt *b;
	enum action action; /* Q or D */
	const char *title, *xvg;
	struct by_device devices; /* struct seek_row */
};

static void *new_of(struct btt *b, enum action action, const char *title, const char *xvg)
{
	struct seeks *s = mem_zalloc(sizeof(*s));

	*s = (struct seeks){ .b = b,
			     .action = action,
			     .title = title,
			     .xvg = xvg,
			     .devices = { .size = sizeof(struct seek_row) } };
	return s;
}

static void *queued_new(struct btt *b)
{
	return new_of(b, ACT_QUEUE, "Device Q2Q Seek Information", "QSK");
}

static void *issued_new(struct btt *b)
{
	return new_of(b, ACT_ISSUE, "Device D2D Seek Information", "DSK");
}

static void seeks_free(void *self)
{
	struct seeks *s = self;

	for (size_t i = 0; i < s->devices.nr; i++)
		if (s->devices.list[i])
			values_release(&((struct seek_row *)s->devices.list[i])->distances);
	by_device_release(&s->devices);
	free(s);
}

static void seeks_event(void *self, struct btt_device *dev, const struct event *ev)
{
	struct seeks *s = self;
	struct seek_row *row;
	int64_t away;

	if (ev->action != s->action || s->b->again)
		return;
	row = by_device(&s->devices, dev);
	away = btt_seek_distance(&row->last, ev->sector, ev->sector + ev->bytes / SECTOR_SIZE,
				 s->b->o->seek_absolute);
	values_add(&row->distances, (uint64_t)(away < 0 ? -away : away));
}

/* ---- output ---- */

static void print_head(FILE *out, const char *label)
{
	fprintf(out, "%10s | %15s %15s %15s | %-15s\n", label, "NSEEKS", "MEAN", "MEDIAN", "MODE");
}

static void print_dashes(FILE *out)
{
	fputs("---------- | --------------- --------------- --------------- | ---------------\n",
	      out);
}

/* True: the modes took a line of their own. */
static bool print_row(FILE *out, const char *label, const struct values_middle *m, uint64_t in_line)
{
	fprintf(out, "%10s | %15" PRIu64 " %15.1f %15" PRIu64 " | %" PRIu64 "(%" PRIu64 ")", label,
		m->n, m->mean, m->median, m->mode[0], m->count);
	if (m->nr_modes == 2 && in_line == 2)
		fprintf(out, " %" PRIu64, m->mode[1]);
	fputc('\n', out);
	if (m->nr_modes <= in_line)
		return false;
	fprintf(out, "%63s...(%" PRIu64 " more)\n", "", m->nr_modes - 1);
	return true;
}

static void print_xvg(const struct seeks *s, const struct btt_device *dev,
		      const struct values_middle *m)
{
	struct seek_row *row = by_device_known(&s->devices, dev);
	struct values *distances = &row->distances;
	struct values_walk walk;
	bool first = true;

	if (!s->b->xvg)
		return;
	fprintf(s->b->xvg, "%s %s %" PRIu64 " %.9f %" PRIu64 " %" PRIu64 " %" PRIu64, s->xvg,
		dev->label, m->n, m->mean, m->median, m->mode[0], m->count);
	values_walk_begin(&walk, &distances, 1);
	while (values_walk_next(&walk)) {
		if (walk.count != m->count)
			continue;
		if (!first)
			fprintf(s->b->xvg, " %" PRIu64, walk.value);
		first = false;
	}
	values_walk_end(&walk);
	fputc('\n', s->b->xvg);
}

/* Of all devices that have a row, taken together. */
static void print_average(FILE *out, struct values *const *list, size_t nr)
{
	struct values_middle m = values_middle(list, nr);

	print_dashes(out);
	print_head(out, "Overall");
	if (print_row(out, "Average", &m, 1))
		fputc('\n', out);
}

static void seeks_finish(void *self)
{
	struct seeks *s = self;
	FILE *out = s->b->avg;
	struct values **list = NULL;
	const struct btt_device *dev;
	size_t nr = 0;

	btt_title(out, s->title);
	print_head(out, "DEV");
	print_dashes(out);
	for (size_t at = 0; (dev = btt_shown(s->b, &at)) != NULL;) {
		struct seek_row *row = by_device_known(&s->devices, dev);
		struct values_middle m;

		if (!row)
			continue;
		list = mem_grow(list, nr, sizeof(*list));
		list[nr++] = &row->distances;
		m = values_middle(&list[nr - 1], 1);
		print_row(out, btt_row_label(s->b, dev).text, &m, 2);
		print_xvg(s, dev, &m);
	}
	if (nr)
		print_average(out, list, nr);
	fputc('\n', out);
	free(list);
}

const struct btt_part btt_seeks_queued = {
	.name = "Q2Q seeks",
	.new = queued_new,
	.event = seeks_event,
	.finish = seeks_finish,
	.free = seeks_free,
};

const struct btt_part btt_seeks_issued = {
	.name = "D2D seeks",
	.new = issued_new,
	.event = seeks_event,
	.finish = seeks_finish,
	.free = seeks_free,
};
