/* SPDX-License-Identifier: MIT
 *
 * BASE_qhist.dat and BASE_dhist.dat (-o): how many Qs and Ds there were of each size, on devices that are no
 * remappers.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"
#include "classic/btt_parts.h"
#include "classic/btt_tables.h"

#define SIZES 1024u /* sectors; larger ones are counted together */

struct sizes_of {
	uint64_t q[SIZES + 1], d[SIZES + 1]; /* [0]: 1 sector; [SIZES]: more than SIZES */
};

struct sizes {
	struct btt *b;
	struct by_device devices; /* struct sizes_of */
};

static bool sizes_wanted(const struct btt_options *o)
{
	return o->output != NULL;
}

static void *sizes_new(struct btt *b)
{
	struct sizes *s = mem_zalloc(sizeof(*s));

	*s = (struct sizes){ .b = b, .devices = { .size = sizeof(struct sizes_of) } };
	return s;
}

static void sizes_event(void *self, struct btt_device *dev, const struct event *ev)
{
	struct sizes *s = self;
	uint32_t sectors = ev->bytes / SECTOR_SIZE;
	struct sizes_of *of;
	uint64_t *counts;

	if ((ev->action != ACT_QUEUE && ev->action != ACT_ISSUE) || s->b->again || !ev->bytes)
		return;
	of = by_device(&s->devices, dev);
	counts = ev->action == ACT_QUEUE ? of->q : of->d;
	if (sectors > SIZES)
		counts[SIZES]++;
	else
		counts[sectors ? sectors - 1 : 0]++; /* less than a sector is in one, too */
}

static void put(struct btt *b, const char *suffix, const char *head, const uint64_t *counts)
{
	struct btt_file *file = btt_file_new(b, true, "%s_%shist.dat", b->o->output, suffix);

	btt_file_printf(file, "%s", head);
	for (unsigned int i = 0; i < SIZES; i++)
		btt_file_printf(file, "%4u %" PRIu64 "\n", i + 1, counts[i]);
	btt_file_printf(file, "\n# %c bucket for > %u\n%4u %" PRIu64 "\n", suffix[0] - 'a' + 'A',
			SIZES, SIZES, counts[SIZES]);
	btt_file_free(file);
}

static void sizes_finish(void *self)
{
	struct sizes *s = self;
	struct sizes_of *sum = mem_zalloc(sizeof(*sum));

	for (size_t i = 0; i < s->devices.nr; i++) {
		const struct sizes_of *of = s->devices.list[i];

		for (unsigned int k = 0; of && !s->b->devices[i]->remapper && k <= SIZES; k++) {
			sum->q[k] += of->q[k];
			sum->d[k] += of->d[k];
		}
	}
	put(s->b, "q", "# BTT histogram data\n# Q buckets\n", sum->q);
	put(s->b, "d", "# D buckets\n", sum->d);
	free(sum);
}

static void sizes_free(void *self)
{
	struct sizes *s = self;

	by_device_release(&s->devices);
	free(s);
}

const struct btt_part btt_sizes = {
	.name = "sizes",
	.wanted = sizes_wanted,
	.new = sizes_new,
	.event = sizes_event,
	.finish = sizes_finish,
	.free = sizes_free,
};
