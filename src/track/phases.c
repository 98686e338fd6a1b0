/* SPDX-License-Identifier: MIT */
#include "track/phases.h"

struct taker {
	phase_fn fn;
	void *arg;
};

/* Clocks of CPUs may run against each other: then it took no time. */
static void between(const struct taker *to, enum phase phase, uint64_t from_ns, uint64_t to_ns)
{
	if (from_ns != TIME_NONE && to_ns != TIME_NONE)
		to->fn(to->arg, phase, to_ns > from_ns ? to_ns - from_ns : 0);
}

void phases_of_bio(const struct io_bio *bio, phase_fn fn, void *arg)
{
	const struct taker to = { fn, arg };

	if (bio->left_out || bio->lost)
		return;
	/* One that came remapped, without a Q: its A stands for it, and its phases begin at a Q. */
	if (bio->remap_ns != bio->queue_ns) {
		between(&to, PHASE_A2Q, bio->remap_ns, bio->queue_ns);
		between(&to, PHASE_Q2G, bio->queue_ns, bio->get_ns);
		between(&to, PHASE_Q2M, bio->queue_ns, bio->merge_ns);
	}
	between(&to, PHASE_BIO_Q2C, bio->queue_ns, bio->complete_ns);
	between(&to, PHASE_CHAIN_Q2C, bio->remap_ns, bio->complete_ns);
}

/* The flush parts of a write that has them [6]. */
static void flush_parts(const struct taker *to, const struct io *io)
{
	if (io->data_from_ns != TIME_NONE) {
		to->fn(to->arg, PHASE_PREFLUSH_WAIT, io->preflush_wait_ns);
		to->fn(to->arg, PHASE_PREFLUSH, io->preflush_ns);
	}
	if (io->postflush_ns) {
		to->fn(to->arg, PHASE_POSTFLUSH_WAIT, io->postflush_wait_ns);
		to->fn(to->arg, PHASE_POSTFLUSH, io->postflush_ns);
	}
}

void phases_of_request(const struct io *io, phase_fn fn, void *arg)
{
	const struct taker to = { fn, arg };
	uint64_t get_ns = io->get_ns, queue_ns = io->queue_ns;

	if (io->ambiguous || io->crosses_loss || io->lost)
		return;
	if (io->whole_ns != TIME_NONE) {
		fn(arg, io->flags & EV_FROM_QUEUE ? PHASE_R_Q2C : PHASE_D2C, io->whole_ns);
		return;
	}
	if (io->unplug_ns != TIME_NONE)
		between(&to, PHASE_PLUG, io->queue_ns, io->unplug_ns);
	if (io->attempts > 1) {
		fn(arg, PHASE_ATTEMPT_LOST, io->attempt_lost_ns);
		fn(arg, PHASE_REQUEUE_WAIT, io->requeue_wait_ns);
		return;
	}
	flush_parts(&to, io);
	if (io->data_from_ns != TIME_NONE) /* the pre-flush is the device's time, not the queue's */
		get_ns = queue_ns = io->data_from_ns;
	between(&to, PHASE_G2I, get_ns, io->insert_ns);
	if (io->insert_ns == TIME_NONE)
		between(&to, PHASE_G2D, get_ns, io->issue_ns);
	between(&to, PHASE_I2D, io->insert_ns, io->issue_ns);
	between(&to, PHASE_M2D, io->merge_ns, io->issue_ns);
	between(&to, PHASE_Q2D, queue_ns, io->issue_ns);
	between(&to, PHASE_D2C, io->last_issue_ns, io->complete_ns);
	between(&to, PHASE_R_Q2C, io->queue_ns, io->end_ns);
}
