// SPDX-License-Identifier: MIT
/* devices[].alignment, its finding and its place on the page. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "view/alignment_sum.h"
#include "view/num.h"
#include "view/over_time.h"
#include "view/tree.h"

#define MUCH         0.10 /* of the bytes */
#define MAX_EVIDENCE 20
#define MAX_SHOWN    12

static json_t *count(const struct align_count *c)
{
	json_t *obj = json_object();

	tree_count(obj, "count", c->count);
	tree_count(obj, "bytes", c->bytes);
	return obj;
}

static uint64_t since(const struct report *r, uint64_t ns)
{
	return ns > r->genesis_ns ? ns - r->genesis_ns : 0;
}

static json_t *window(const struct report *r, const struct align_window *w)
{
	json_t *obj = json_object();

	tree_count(obj, "from_ns", since(r, w->from_ns));
	tree_count(obj, "to_ns", since(r, w->to_ns));
	if (w->mixed)
		tree_unknown(obj, "offset_sectors", "several runs of different offsets");
	else
		tree_count(obj, "offset_sectors", w->offset);
	tree_count(obj, "first_sector", w->first_sector);
	tree_count(obj, "count", w->count);
	tree_count(obj, "bytes", w->bytes);
	return obj;
}

static json_t *processes(const struct report *r, const struct align_sum *sum)
{
	json_t *list = json_array();

	for (size_t i = 0; i < sum->nr_processes; i++) {
		const struct align_process *p = &sum->processes[i];
		const char *comm = names_get(&r->facts->names, p->pid, p->last_ns);
		json_t *obj = count(&p->all);

		tree_count(obj, "pid", p->pid);
		if (comm)
			tree_text(obj, "comm", comm);
		else
			tree_unknown(obj, "comm", "no input names this thread");
		tree_count(obj, "aligned_bytes", p->aligned.bytes);
		tree_real(obj, "aligned_share", (double)p->aligned.bytes / (double)p->all.bytes);
		tree_real(obj, "misaligned_share",
			  (double)(p->all.bytes - p->aligned.bytes) / (double)p->all.bytes);
		json_array_append_new(list, obj);
	}
	return list;
}

/* By equal steps of time: the bytes written, and the share of them that is misaligned. */
static json_t *over_time(const struct report *r, const struct align_steps *steps)
{
	json_t *obj = json_object(), *bytes = json_array(), *shares = json_array();

	tree_count(obj, "step_ns", steps->step_ns);
	tree_count(obj, "from_ns", since(r, steps->origin_ns));
	for (size_t i = 0; i < steps->nr; i++) {
		const struct align_step *step = &steps->list[i];

		json_array_append_new(bytes, json_integer((json_int_t)step->bytes));
		json_array_append_new(shares, step->bytes
						      ? json_real((double)step->misaligned_bytes /
								  (double)step->bytes)
						      : json_null());
	}
	json_object_set_new(obj, "bytes", bytes);
	json_object_set_new(obj, "misaligned_share", shares);
	return obj;
}

static const struct align_sum *sum_of(const struct align_device *dev)
{
	return dev->have_requests ? &dev->at_issue : &dev->at_queue;
}

json_t *alignment_tree(const struct report *r, uint32_t device)
{
	const struct align_device *dev = alignment_device(r->alignment, device);
	const struct align_sum *sum = dev ? sum_of(dev) : NULL;
	json_t *obj, *apart, *windows;
	double all;

	if (!sum || !sum->all.count)
		return NULL;
	all = (double)sum->all.bytes;
	obj = json_object();
	tree_count(obj, "stripe_sectors", alignment_stripe(r->alignment));
	tree_text(obj, "at", dev->have_requests ? "D" : "Q");
	json_object_set_new(obj, "writes", count(&sum->all));
	json_object_set_new(obj, "misaligned", count(&sum->misaligned));
	json_object_set_new(obj, "straddling", count(&sum->straddling));
	tree_real(obj, "aligned_share", (all - (double)sum->misaligned.bytes) / all);
	tree_real(obj, "misaligned_share", (double)sum->misaligned.bytes / all);
	tree_real(obj, "straddling_share", (double)sum->straddling.bytes / all);
	json_object_set_new(obj, "processes", processes(r, sum));
	if (sum->unnamed.count)
		json_object_set_new(obj, "other_processes", count(&sum->unnamed));
	windows = json_array();
	for (size_t i = 0; i < sum->nr_windows; i++)
		json_array_append_new(windows, window(r, &sum->windows[i]));
	json_object_set_new(obj, "windows", windows);
	json_object_set_new(obj, "over_time", over_time(r, &sum->steps));
	json_object_set_new(obj, "windows_merged", json_boolean(sum->merged));
	apart = json_object();
	json_object_set_new(apart, "small", count(&sum->small));
	json_object_set_new(apart, "meta", count(&sum->meta));
	json_object_set_new(apart, "flush", count(&sum->flush));
	json_object_set_new(obj, "left_out", apart);
	return obj;
}

/* The misaligned windows as evidence, and from when to when they reach. */
static json_t *evidence_windows(const struct report *r, const struct align_sum *sum,
				uint64_t *from_ns, uint64_t *to_ns)
{
	json_t *list = json_array();

	for (size_t i = 0; i < sum->nr_windows; i++) {
		const struct align_window *w = &sum->windows[i];

		if (!w->mixed && !w->offset)
			continue;
		if (*from_ns == TIME_NONE)
			*from_ns = since(r, w->from_ns);
		*to_ns = since(r, w->to_ns);
		if (json_array_size(list) < MAX_EVIDENCE)
			json_array_append_new(list, window(r, w));
	}
	return list;
}

void find_misaligned(json_t *findings, const struct report *r, uint32_t device, const char *name)
{
	const struct align_device *dev =
		r->alignment ? alignment_device(r->alignment, device) : NULL;
	const struct align_sum *sum = dev ? sum_of(dev) : NULL;
	uint64_t from_ns = TIME_NONE, to_ns = 0;
	uint32_t stripe;
	json_t *ev, *windows;
	double share;

	if (!sum || !sum->all.bytes)
		return;
	share = (double)sum->large_misaligned.bytes / (double)sum->all.bytes;
	if (share <= MUCH)
		return;
	stripe = alignment_stripe(r->alignment);
	windows = evidence_windows(r, sum, &from_ns, &to_ns);
	ev = tree_finding(
		findings, "misaligned-writes", "notice", "Large writes do not begin at a stripe",
		tree_printf("%s: %s of the bytes written are in %s of at least half a stripe (%u "
			    "sectors) that do not begin at one, between %s and %s; %s reach into "
			    "the next stripe. On parity RAID each such stripe must be read to be "
			    "written.",
			    name, num_share(share).s,
			    num_of(sum->large_misaligned.count, "write").s, stripe,
			    num_ns((double)from_ns).s, num_ns((double)to_ns).s,
			    num_count(sum->straddling.count).s),
		json_string("Look at where the file system, the partition or the volume begins, "
			    "and at what sits between aligned regions."));
	tree_text(ev, "device", name);
	tree_count(ev, "stripe_sectors", stripe);
	tree_real(ev, "misaligned_share", share);
	tree_count(ev, "straddling", sum->straddling.count);
	json_object_set_new(ev, "windows", windows);
}

static void page_windows(const struct page *page, const json_t *list)
{
	size_t i, nr = json_array_size(list);
	json_t *w;

	json_array_foreach((json_t *)list, i, w)
	{
		char *offset = tree_at(w, "offset_sectors")
				       ? mem_printf("%" PRIu64, tree_u64(w, "offset_sectors"))
				       : mem_strdup("mixed");

		if (i < MAX_SHOWN)
			fprintf(page->out,
				"  %10.6f to %10.6f s, offset %4s: %9s, %8s, from %" PRIu64 "\n",
				tree_num(w, "from_ns") / 1e9, tree_num(w, "to_ns") / 1e9, offset,
				num_of(tree_u64(w, "count"), "write").s,
				num_bytes(tree_num(w, "bytes")).s, tree_u64(w, "first_sector"));
		free(offset);
	}
	if (nr > MAX_SHOWN)
		page_printf(page, "", "and %zu more windows (all of them: --json)", nr - MAX_SHOWN);
}

static void page_writers(const struct page *page, const json_t *a)
{
	const json_t *list = tree_at(a, "processes"), *others = tree_at(a, "other_processes");
	size_t i, nr = json_array_size(list);
	char *text = mem_strdup(""), *longer;
	json_t *p;

	json_array_foreach((json_t *)list, i, p)
	{
		const char *comm = tree_str(p, "comm");

		if (i == MAX_SHOWN)
			break;
		longer = mem_printf("%s%s%s (%u) %s of %s", text, i ? ", " : "", comm ? comm : "?",
				    (unsigned int)tree_u64(p, "pid"),
				    num_share(tree_num(p, "misaligned_share")).s,
				    num_bytes(tree_num(p, "bytes")).s);
		free(text);
		text = longer;
	}
	page_printf(page, "", "misaligned by thread: %s%s", text,
		    nr > MAX_SHOWN || others ? ", and more (all of them: --json)" : "");
	free(text);
}

static void page_shares(const struct page *page, const json_t *over)
{
	const json_t *list = tree_at(over, "misaligned_share");
	size_t nr = json_array_size(list);
	double values[ALIGN_STEPS], full = 1;
	char line[OVER_TIME_MOST + 1];

	if (nr < 2 || nr > ALIGN_STEPS)
		return;
	for (size_t i = 0; i < nr; i++) {
		const json_t *value = json_array_get(list, i);

		values[i] = json_is_number(value) ? json_number_value(value) : (double)NAN;
	}
	over_time_draw(values, nr, &full, line);
	for (char *c = line; *c; c++)
		*c = *c == ' ' ? '0' : *c == '?' ? ' ' : *c;
	fprintf(page->out, "  by time  |%s|\n", line);
	page_printf(
		page, "",
		"each character is %s, from %s on; 0: all is aligned; \"@\": nothing is; blank: "
		"nothing was written",
		num_ns(tree_num(over, "step_ns")).s, num_ns(tree_num(over, "from_ns")).s);
}

void page_alignment(const struct page *page, const json_t *dev)
{
	const json_t *a = tree_at(dev, "alignment");
	const char *why = tree_str(dev, "alignment_why");
	uint64_t apart = 0;
	const char *key;
	json_t *c;

	if (!a) {
		if (why && page->look->report && page->look->report->alignment)
			page_printf(page, "  align", "unknown: %s", why);
		return;
	}
	json_object_foreach((json_t *)tree_at(a, "left_out"), key, c) apart += tree_u64(c, "count");
	page_printf(page, "  align",
		    "stripes of %s sectors, at %s: %s of %s in %s misaligned; %s reach into the "
		    "next stripe; left out: %s (metadata, flushing, or below 8 sectors)",
		    num_count(tree_u64(a, "stripe_sectors")).s, tree_str(a, "at"),
		    num_share(tree_num(a, "misaligned_share")).s,
		    num_bytes(tree_num(a, "writes.bytes")).s,
		    num_of(tree_u64(a, "writes.count"), "write").s,
		    num_share(tree_num(a, "straddling_share")).s, num_of(apart, "write").s);
	page_writers(page, a);
	page_shares(page, tree_at(a, "over_time"));
	page_windows(page, tree_at(a, "windows"));
}
