/* SPDX-License-Identifier: MIT */
#include "why/verdict.h"

#include <stdio.h>

/* Shares closer than this are named together (spec, "Verdict"). */
#define CLOSE_SHARES 0.10
/* At or below this mean depth while busy a device serves one request at a time (model.md 10). */
#define LATENCY_DEPTH 1.5
/* Saturation is said only where depth varies by this much and still brings at most that much more. */
#define DEPTH_VARIES   1.5
#define SATURATED_RATE 1.10
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
	double time_ns, depth_area, completions;
};

static void add_level(struct half *half, const struct device_sum *d, int level, double share)
{
	half->time_ns += share * (double)d->depth_time_ns[level];
	half->depth_area += share * (double)d->depth_time_ns[level] * level;
	half->completions += share * (double)d->depth_completions[level];
}

/* Splits the busy time at its median depth and compares the completion rates of the two halves. */
static enum bound_mode mode_of(const struct device_sum *d, double *depth)
{
	struct half low = { 0 }, high = { 0 };
	double busy = 0, area = 0, seen = 0;

	for (int i = 1; i < DEPTH_LEVELS; i++) {
		busy += (double)d->depth_time_ns[i];
		area += (double)d->depth_time_ns[i] * i;
	}
	if (busy <= 0)
		return MODE_UNKNOWN;
	*depth = area / busy;
	if (*depth <= LATENCY_DEPTH)
		return MODE_LATENCY;
	for (int i = 1; i < DEPTH_LEVELS; i++) {
		double time = (double)d->depth_time_ns[i];
		double below = busy / 2 - seen;
		double share = time <= 0 || below <= 0 ? 0 : below >= time ? 1 : below / time;

		add_level(&low, d, i, share);
		add_level(&high, d, i, 1 - share);
		seen += time;
	}
	if (low.completions < MODE_COMPLETIONS || high.completions < MODE_COMPLETIONS ||
	    high.depth_area / high.time_ns < DEPTH_VARIES * low.depth_area / low.time_ns)
		return MODE_UNKNOWN;
	if (high.completions / high.time_ns <= SATURATED_RATE * low.completions / low.time_ns)
		return MODE_SATURATED;
	return MODE_UNKNOWN;
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

static void rank(struct verdict *v)
{
	const struct {
		enum bound bound;
		double share;
	} by[] = {
		{ BOUND_DEVICE, v->share[WAIT_DEVICE] },
		{ BOUND_QUEUE, v->share[WAIT_BEHIND_OTHERS] + v->share[WAIT_HELD] },
		{ BOUND_SUBMITTER, v->share[WAIT_SUBMITTER] },
	};
	int first = 0, second = -1;

	for (int i = 1; i < 3; i++)
		if (by[i].share > by[first].share)
			first = i;
	for (int i = 0; i < 3; i++)
		if (i != first && (second < 0 || by[i].share > by[second].share))
			second = i;
	v->bound = by[first].bound;
	if (by[first].share - by[second].share < CLOSE_SHARES)
		v->second = by[second].bound;
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
	for (int i = 0; i < WAIT_NR; i++)
		v->share[i] = (double)wait->place_ns[i] / window;
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
	rank(v);
	if (v->bound == BOUND_DEVICE || v->second == BOUND_DEVICE)
		v->mode = mode_of(most_waited(sum), &v->mode_depth);
}
