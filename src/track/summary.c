/* SPDX-License-Identifier: MIT */
#include "track/summary.h"

#include <stdlib.h>

static const struct {
	const char *key, *what;
	bool bios;
} phases[PHASE_NR] = {
	[PHASE_A2Q] = { "a2q", "first remap to Q", true },
	[PHASE_Q2G] = { "q2g", "Q to request", true },
	[PHASE_Q2M] = { "q2m", "Q to merge", true },
	[PHASE_BIO_Q2C] = { "q2c", "Q to end", true },
	[PHASE_CHAIN_Q2C] = { "chain_q2c", "first remap to end", true },
	[PHASE_G2I] = { "g2i", "request to insert", false },
	[PHASE_PLUG] = { "plug", "first Q to its thread's unplug", false },
	[PHASE_G2D] = { "g2d", "request to dispatch", false },
	[PHASE_I2D] = { "i2d", "insert to dispatch", false },
	[PHASE_M2D] = { "m2d", "last merge to dispatch", false },
	[PHASE_Q2D] = { "q2d", "first Q to dispatch", false },
	[PHASE_D2C] = { "d2c", "dispatch to completion", false },
	[PHASE_ATTEMPT_LOST] = { "attempt_lost", "attempts given back, of requeued requests",
				 false },
	[PHASE_REQUEUE_WAIT] = { "requeue_wait", "requeue to dispatch, of requeued requests",
				 false },
	[PHASE_PREFLUSH_WAIT] = { "preflush_wait", "request to its pre-flush", false },
	[PHASE_PREFLUSH] = { "preflush", "pre-flush at the device", false },
	[PHASE_POSTFLUSH_WAIT] = { "postflush_wait", "end of the data to the post-flush", false },
	[PHASE_POSTFLUSH] = { "postflush", "post-flush at the device", false },
	[PHASE_R_Q2C] = { "r_q2c", "first Q to end", false },
};

const char *phase_key(enum phase phase)
{
	return phases[phase].key;
}

const char *phase_what(enum phase phase)
{
	return phases[phase].what;
}

bool phase_of_bios(enum phase phase)
{
	return phases[phase].bios;
}

const char *wait_key(enum wait_place place)
{
	static const char *const keys[WAIT_NR] = { "device", "behind_others", "held", "submitter" };

	return keys[place];
}

uint64_t cumulative_pieces(const struct cumulative *c)
{
	/* The first line may already have stood for many pieces. */
	if (!c->common_bytes || c->first_bytes % c->common_bytes)
		return 0;
	return c->first_bytes / c->common_bytes + c->lines - 1;
}

static void add_classes(struct class_count *sum, const struct class_count *c)
{
	for (int i = 0; i < CLASS_NR; i++) {
		sum[i].count += c[i].count;
		sum[i].bytes += c[i].bytes;
	}
}

void io_counts_add(struct io_counts *sum, const struct io_counts *c)
{
	add_classes(sum->bios, c->bios);
	add_classes(sum->merges, c->merges);
	add_classes(sum->requests, c->requests);
	add_classes(sum->completed, c->completed);
	for (int i = 0; i < CLASS_NR; i++) {
		sum->requeues_busy[i] += c->requeues_busy[i];
		sum->requeues_failed[i] += c->requeues_failed[i];
	}
	sum->front_merges += c->front_merges;
	sum->rq_merges += c->rq_merges;
	sum->nowait_retries += c->nowait_retries;
}

static void device_release(struct device_sum *d)
{
	for (int i = 0; i < PHASE_NR; i++)
		hist_release(&d->latency[i]);
	for (int i = 0; i < CLASS_NR; i++) {
		hist_release(&d->class_d2c[i]);
		hist_release(&d->class_r_q2c[i]);
	}
	hist_release(&d->seek_sectors);
	steps_release(&d->depth_steps);
	for (size_t i = 0; i < d->nr_cpus; i++)
		free(d->cpus[i]);
	free(d->cpus);
	free(d->cpu_untold);
	free(d->errors);
	free(d->cumulative);
}

void summary_release(struct summary *sum)
{
	for (size_t i = 0; i < sum->nr_devices; i++)
		device_release(&sum->devices[i]);
	for (size_t i = 0; i < sum->nr_processes; i++) {
		hist_release(&sum->processes[i]->q2c);
		free(sum->processes[i]->counts);
		free(sum->processes[i]);
	}
	free(sum->devices);
	free(sum->processes);
	*sum = (struct summary){ 0 };
}
