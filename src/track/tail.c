/* SPDX-License-Identifier: MIT */
#include "track/tail.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"

#define SUB_BITS 4
#define SUB      (1u << SUB_BITS)

static const enum phase phases[TAIL_PHASES] = {
	PHASE_Q2G, PHASE_PREFLUSH_WAIT, PHASE_PREFLUSH,       PHASE_G2I,
	PHASE_I2D, PHASE_D2C,           PHASE_POSTFLUSH_WAIT, PHASE_POSTFLUSH,
};
/* Where there is no I, G to D stands in the place of I to D: no scheduler held it. */
enum { Q2G, PREFLUSH_WAIT, PREFLUSH, G2I, I2D, D2C, POSTFLUSH_WAIT, POSTFLUSH };

enum phase tail_phase(int i)
{
	return phases[i];
}

static size_t bucket_of(uint64_t ns)
{
	unsigned int octave;

	if (ns < SUB)
		return (size_t)ns;
	octave = 63 - (unsigned int)__builtin_clzll(ns) - SUB_BITS;
	return ((size_t)(octave + 1) << SUB_BITS) + ((ns >> octave) & (SUB - 1));
}

static double between(uint64_t from_ns, uint64_t to_ns)
{
	if (from_ns == TIME_NONE || to_ns == TIME_NONE || to_ns <= from_ns)
		return 0;
	return (double)(to_ns - from_ns);
}

static void parts_of(const struct io *io, double *ns)
{
	uint64_t ready_ns = io->data_from_ns != TIME_NONE ? io->data_from_ns : io->get_ns;

	ns[Q2G] = between(io->queue_ns, io->get_ns);
	if (io->data_from_ns != TIME_NONE) {
		ns[PREFLUSH_WAIT] = (double)io->preflush_wait_ns;
		ns[PREFLUSH] = (double)io->preflush_ns;
	}
	ns[G2I] = between(ready_ns, io->insert_ns);
	ns[I2D] = between(io->insert_ns != TIME_NONE ? io->insert_ns : ready_ns, io->issue_ns);
	ns[D2C] = between(io->last_issue_ns, io->complete_ns);
	if (io->postflush_ns) {
		ns[POSTFLUSH_WAIT] = (double)io->postflush_wait_ns;
		ns[POSTFLUSH] = (double)io->postflush_ns;
	}
}

static struct tail_bucket *bucket_at(struct tail *tail, size_t i)
{
	while (tail->nr <= i) {
		tail->buckets = mem_grow(tail->buckets, tail->nr, sizeof(*tail->buckets));
		tail->buckets[tail->nr++] = (struct tail_bucket){ .min_ns = UINT64_MAX };
	}
	return &tail->buckets[i];
}

void tail_add(struct tail *tail, const struct io *io)
{
	double ns[TAIL_PHASES] = { 0 };
	struct tail_bucket *b;
	uint64_t took_ns;

	if (io->queue_ns == TIME_NONE || io->end_ns == TIME_NONE || io->attempts != 1 ||
	    io->ambiguous || io->crosses_loss || io->lost || io->whole_ns != TIME_NONE ||
	    io->end_ns <= io->queue_ns)
		return;
	took_ns = io->end_ns - io->queue_ns;
	parts_of(io, ns);
	b = bucket_at(tail, bucket_of(took_ns));
	b->n++;
	tail->n++;
	if (took_ns < b->min_ns)
		b->min_ns = took_ns;
	for (int i = 0; i < TAIL_PHASES; i++)
		b->shares[i] += ns[i] / (double)took_ns;
}

void tail_release(struct tail *tail)
{
	free(tail->buckets);
	*tail = (struct tail){ 0 };
}

bool tail_above(const struct tail *tail, double q, struct tail_shares *out)
{
	uint64_t least = (uint64_t)ceil((1 - q) * (double)tail->n - 1e-9);

	*out = (struct tail_shares){ .rest = 1 };
	if ((double)tail->n * (1 - q) < 1 - 1e-9)
		return false;
	for (size_t i = tail->nr; i-- > 0 && out->n < least;) {
		const struct tail_bucket *b = &tail->buckets[i];

		if (!b->n)
			continue;
		out->n += b->n;
		out->from_ns = b->min_ns;
		for (int k = 0; k < TAIL_PHASES; k++)
			out->shares[k] += b->shares[k];
	}
	for (int k = 0; k < TAIL_PHASES; k++) {
		out->shares[k] /= (double)out->n;
		out->rest -= out->shares[k];
	}
	if (out->rest < 0) /* of rounding, or of clocks that run against each other */
		out->rest = 0;
	return true;
}
