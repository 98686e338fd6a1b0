/* SPDX-License-Identifier: MIT */
#include "why/verdict.h"

#include <stdio.h>

/* Shares closer than this are named together (spec, "Verdict"). */
#define FEW_COMPLETIONS 10
#define CLOSE_SHARES    0.10
/* At or below this mean depth while busy a device serves one at a time (model.md 10). */
#define LATENCY_DEPTH 1.5
/* Saturation is said only where depth varies by this much and still brings at most that much more ... */
#define DEPTH_VARIES   1.5
#define SATURATED_RATE 1.10
/* ... of I/O that is alike: mean sizes within this factor, shares of reads within this distance. */
#define ALIKE_SIZE  1.5
#define ALIKE_READS 0.25
/* Each half of the busy time needs this many completions before its rate means anything. */
#define MODE_COMPLETIONS 100

const char *bound_key(enum bound bound)
{
	static const char *const keys[] = { "unknown", "none", "device", "queue", "submitter" };

	return keys[bound];
}

const char *mode_key(enum bound_mode mode)
{
	static const char *const keys[] = { "unknown", "latency", "saturated" };

	return keys[mode];
}

/* A half of the busy time, by depth. */
struct half {
	double time_ns, depth_area, completions, bytes, reads;
};

static void add_level(struct half *half, const struct depth_level *level, int depth, double share)
{
	half->time_ns += share * (double)level->time_ns;
	half->depth_area += share * (double)level->time_ns * depth;
	half->completions += share * (double)level->completions;
	half->bytes += share * (double)level->bytes;
	half->reads += share * (double)level->reads;
}

static bool alike(const struct half *low, const struct half *high)
{
	double size = (high->bytes / high->completions) / (low->bytes / low->completions);
	double reads = high->reads / high->completions - low->reads / low->completions;

	return size < ALIKE_SIZE && size > 1 / ALIKE_SIZE && reads < ALIKE_READS &&
	       reads > -ALIKE_READS;
}

static enum bound_mode compare_halves(const struct half *low, const struct half *high)
{
	if (low->completions < MODE_COMPLETIONS || high->completions < MODE_COMPLETIONS ||
	    high->depth_area / high->time_ns < DEPTH_VARIES * low->depth_area / low->time_ns ||
	    !alike(low, high))
		return MODE_UNKNOWN;
	if (high->completions / high->time_ns > SATURATED_RATE * low->completions / low->time_ns ||
	    high->bytes / high->time_ns > SATURATED_RATE * low->bytes / low->time_ns)
		return MODE_UNKNOWN;
	return MODE_SATURATED;
}

/* Splits the busy time at its median depth and compares the completion rates of the two halves. A bio
 * that is split into many requests is still one at a time: the smaller of both depths counts. */
static enum bound_mode mode_of(const struct device_sum *d, double *depth)
{
	struct half low = { 0 }, high = { 0 };
	double busy = 0, area = 0, seen = 0;
	uint64_t ended = 0;

	for (int i = 1; i < DEPTH_LEVELS; i++) {
		busy += (double)d->levels[i].time_ns;
		area += (double)d->levels[i].time_ns * i;
		ended += d->levels[i].completions;
	}
	ended += d->requests[CLASS_FLUSH].count;
	*depth = busy > 0 ? area / busy : 1;
	if (ended < FEW_COMPLETIONS)
		return MODE_UNKNOWN; /* no advice from a handful of requests */
	if (busy <= 0) {
		*depth = 1; /* nothing but flush commands, one after the other */
		return MODE_LATENCY;
	}
	*depth = (area < d->open_area ? area : d->open_area) / busy;
	if (*depth <= LATENCY_DEPTH)
		return MODE_LATENCY;
	for (int i = 1; i < DEPTH_LEVELS; i++) {
		double time = (double)d->levels[i].time_ns;
		double below = busy / 2 - seen;
		double share = time <= 0 || below <= 0 ? 0 : below >= time ? 1 : below / time;

		add_level(&low, &d->levels[i], i, share);
		add_level(&high, &d->levels[i], i, 1 - share);
		seen += time;
	}
	return compare_halves(&low, &high);
}

static const struct device_sum *most_waited(const struct summary *sum)
{
	const struct device_sum *most = NULL;

	for (size_t i = 0; i < sum->nr_devices; i++) {
		const struct device_sum *d = &sum->devices[i];

		if (!most || d->wait_ns[WAIT_DEVICE] > most->wait_ns[WAIT_DEVICE])
			most = d;
	}
	return most;
}

/* Time spent waiting for I/O of devices whose requests this trace does not have. */
static const struct device_sum *blind_spot(const struct summary *sum, double *ns)
{
	const struct device_sum *worst = NULL;
	double worst_ns = 0;

	*ns = 0;
	for (size_t i = 0; i < sum->nr_devices; i++) {
		const struct device_sum *d = &sum->devices[i];
		double here = 0;

		if (d->have_requests || d->mapped)
			continue;
		for (int p = 0; p < WAIT_SUBMITTER; p++)
			here += (double)d->wait_ns[p];
		*ns += here;
		if (here > worst_ns) {
			worst_ns = here;
			worst = d;
		}
	}
	return worst;
}

static void unknown(struct verdict *v, const char *why)
{
	v->bound = BOUND_UNKNOWN;
	snprintf(v->why_unknown, sizeof(v->why_unknown), "%s", why);
}

static enum bound rank(const double share[WAIT_NR], enum bound *close_second)
{
	const struct {
		enum bound bound;
		double share;
	} by[] = {
		{ BOUND_DEVICE, share[WAIT_DEVICE] },
		{ BOUND_QUEUE, share[WAIT_BEHIND_OTHERS] + share[WAIT_HELD] },
		{ BOUND_SUBMITTER, share[WAIT_SUBMITTER] },
	};
	int first = 0, second = -1;

	for (int i = 1; i < 3; i++)
		if (by[i].share > by[first].share)
			first = i;
	for (int i = 0; i < 3; i++)
		if (i != first && (second < 0 || by[i].share > by[second].share))
			second = i;
	*close_second = BOUND_UNKNOWN;
	if (by[first].share - by[second].share < CLOSE_SHARES)
		*close_second = by[second].bound;
	return by[first].bound;
}

static void shares_of(double share[WAIT_NR], const uint64_t ns[WAIT_NR], double window)
{
	for (int i = 0; i < WAIT_NR; i++)
		share[i] = (double)ns[i] / window;
}

/* The kernel's threads wrote for others as well: what they did may or may not have been waited for. The
 * command's own I/O is sure; where counting the threads' in or out changes the answer, there is none. */
static void decide_shared(struct verdict *v, const struct wait_sum *wait, double window)
{
	double with[WAIT_NR];
	enum bound bound, second;

	shares_of(with, wait->place_ns, window);
	shares_of(v->share, wait->own_ns, window);
	v->own_only = true;
	v->helper_share = v->share[WAIT_SUBMITTER] - with[WAIT_SUBMITTER];
	bound = rank(with, &second);
	v->bound = rank(v->share, &v->second);
	if (v->bound == bound || v->second == bound)
		return;
	v->second = BOUND_UNKNOWN;
	unknown(v,
		"kernel threads (writeback, journal) wrote for other programs as well, and whose "
		"I/O they waited for is not in it");
}

void verdict_decide(struct verdict *v, const struct wait_sum *wait, const struct summary *sum)
{
	double window = wait->to_ns > wait->from_ns ? (double)(wait->to_ns - wait->from_ns) : 0;
	const struct device_sum *blind;
	double blind_ns;

	*v = (struct verdict){ 0 };
	if (window <= 0) {
		unknown(v, sum->first_queue_ns == TIME_NONE
				   ? "it holds no Q, so nobody is seen waiting"
				   : "nothing in it was seen from Q to completion");
		return;
	}
	shares_of(v->share, wait->place_ns, window);
	v->have_shares = true;
	if (!wait->bios) {
		v->bound = BOUND_NONE; /* the waiter submitted no I/O at all */
		return;
	}
	blind = blind_spot(sum, &blind_ns);
	if (blind_ns > window * CLOSE_SHARES / 2) {
		v->have_shares = false;
		snprintf(v->why_unknown, sizeof(v->why_unknown),
			 "it does not have the requests of %u,%u: what happened below that device "
			 "(its members, or a masked recording) is not in it",
			 DEVICE_MAJOR(blind->device), DEVICE_MINOR(blind->device));
		return;
	}
	if (wait->foreign_write_bios && wait->own_bios != wait->bios)
		decide_shared(v, wait, window);
	else
		v->bound = rank(v->share, &v->second);
	if (v->bound == BOUND_DEVICE || v->second == BOUND_DEVICE)
		v->mode = mode_of(most_waited(sum), &v->mode_depth);
}
