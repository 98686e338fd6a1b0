// SPDX-License-Identifier: MIT
/* What a pasted text shows of its I/O, and what that leaves unknown. */
#include "view/tree.h"

#define HOLES_ONE_OF 50 /* missing numbers of that many events are too many */
#define UNSEEN \
	0.1 /* of the time with I/O in the block layer: more of it without a D tells nothing */

bool report_is_text(const struct report *r)
{
	bool text = false;

	for (size_t i = 0; i < r->facts->nr_inputs; i++) {
		const struct input_info *in = &r->facts->inputs[i];

		if (!in->is_text && in->events)
			return false;
		text |= in->is_text && !in->ignored;
	}
	return text;
}

uint64_t report_missing_numbers(const struct report *r)
{
	uint64_t nr = 0;

	for (size_t i = 0; i < r->facts->nr_inputs; i++)
		if (r->facts->inputs[i].is_text)
			nr += r->facts->inputs[i].missing_numbers;
	return nr;
}

/* Where many numbers are missing, idle time may be lines that were cut. */
bool report_has_holes(const struct report *r)
{
	return report_is_text(r) && report_missing_numbers(r) * HOLES_ONE_OF > r->sum->events;
}

bool report_mixed_clocks(const struct report *r)
{
	unsigned int clocks = r->facts->text_clocks;

	for (size_t i = 0; clocks && i < r->facts->nr_inputs; i++)
		if (!r->facts->inputs[i].is_text && r->facts->inputs[i].events)
			return true;
	return clocks > 1;
}

bool saw_queue(const struct device_sum *dev)
{
	for (int c = CLASS_READ; c < CLASS_NR; c++)
		if (dev->bios[c].count)
			return true;
	return dev->nowait_retries || dev->empty_flush_bios;
}

bool saw_issue(const struct device_sum *dev)
{
	for (int c = CLASS_READ; c < CLASS_NR; c++)
		if (dev->requests[c].count)
			return true;
	return dev->orphan_issues || dev->requeues_busy || dev->requeues_failed;
}

bool saw_complete(const struct device_sum *dev)
{
	for (int c = CLASS_READ; c < CLASS_NR; c++)
		if (dev->completed_bytes[c] || dev->class_d2c[c].n)
			return true;
	return dev->orphan_completes || dev->zero_ends || dev->partial_completions ||
	       dev->double_completions || dev->class_mismatches || dev->nr_errors ||
	       dev->latency[PHASE_BIO_Q2C].n || dev->latency[PHASE_R_Q2C].n || dev->left_out;
}

const char *no_latency_why(const struct report *r, const struct device_sum *dev, char from)
{
	bool text = report_is_text(r), begun = from == 'D' ? saw_issue(dev) : saw_queue(dev);
	bool ended = saw_complete(dev);

	if (!begun && !ended)
		return text ? from == 'D' ? "n/a, no D and no C events in this excerpt"
					  : "n/a, no Q and no C events in this excerpt"
			    : "neither its beginning nor its end was seen";
	if (!ended)
		return text ? "n/a, no C events in this excerpt" : "nothing completed";
	if (!begun && from == 'D')
		return text ? "n/a, no D events in this excerpt"
			    : "no D was seen: the device is bio-based, or request events were not "
			      "recorded";
	if (!begun)
		return text ? "n/a, no Q events in this excerpt" : "no Q was seen";
	return from == 'D' ? "no request was seen from its D to its C"
			   : "no bio was seen from its Q to its C";
}

const char *excerpt_verdict_why(const struct report *r)
{
	bool completed = false, begun = false, whole = false;
	uint64_t unseen_ns = 0, all_ns = 0;

	if (report_mixed_clocks(r))
		return "because it holds several traces, each with a clock of its own";
	if (!report_is_text(r))
		return NULL;
	for (size_t i = 0; i < r->sum->nr_devices; i++) {
		const struct device_sum *dev = &r->sum->devices[i];

		completed |= saw_complete(dev);
		begun |= saw_queue(dev) || saw_issue(dev);
		unseen_ns += dev->unissued_ends_ns;
		all_ns += dev->busy_ns + dev->held_ns;
		whole |= dev->latency[PHASE_BIO_Q2C].n > 0;
		if (dev->whole_ios)
			return "because this input tells I/O only as a whole";
	}
	if (!r->sum->nr_devices)
		return "because there is no I/O in it";
	if (!completed)
		return "because this excerpt has no C events: no I/O is seen to end";
	if (!begun)
		return "because this excerpt has only completions";
	if (report_has_holes(r))
		return "because lines are missing between (the numbers of the CPUs tell): idle "
		       "time may be I/O that was cut away";
	if (!whole)
		return "because no I/O is seen from its Q to its end in this excerpt";
	return (double)unseen_ns > UNSEEN * (double)all_ns
		       ? "because the D of I/O that was waited for is not in this excerpt"
		       : NULL;
}
