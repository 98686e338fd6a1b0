// SPDX-License-Identifier: MIT
/* by of the report: finished I/O in groups. */
#include <string.h>

#include "view/tree.h"

#define TAIL_QUANTILE 0.99

/* The key of a group, in the words of JSON. */
static void set_class(json_t *obj, const struct report *r, const struct breakdown_row *row)
{
	tree_text(obj, "class", class_name((enum io_class)row->key));
}

static void set_process(json_t *obj, const struct report *r, const struct breakdown_row *row)
{
	tree_count(obj, "pid", row->key);
	if (*row->comm)
		tree_text(obj, "comm", row->comm);
	else
		tree_unknown(obj, "comm", "no input names this thread");
}

static void set_size(json_t *obj, const struct report *r, const struct breakdown_row *row)
{
	bool smallest = row->key <= BREAKDOWN_SMALL;

	tree_count(obj, "over_bytes", smallest ? 0 : row->key / 2);
	tree_count(obj, "to_bytes", row->key);
}

static void set_cpu(json_t *obj, const struct report *r, const struct breakdown_row *row)
{
	tree_count(obj, "cpu", row->key);
}

static void set_window(json_t *obj, const struct report *r, const struct breakdown_row *row)
{
	uint64_t slice_ns = breakdown_options(r->by)->slice_ns;

	tree_count(obj, "from_ns", row->key * slice_ns);
	tree_count(obj, "to_ns", (row->key + 1) * slice_ns);
}

static const struct {
	const char *keys[2]; /* what the group's key is called */
	void (*set)(json_t *obj, const struct report *r, const struct breakdown_row *row);
	const char *untold; /* why it is null */
} kinds[BY_NR] = {
	[BY_DEVICE] = { { NULL }, NULL, NULL },
	[BY_CLASS] = { { "class" }, set_class, NULL },
	[BY_PROCESS] = { { "pid", "comm" },
			 set_process,
			 "flush commands, and requests whose bios were not seen" },
	[BY_SIZE] = { { "over_bytes", "to_bytes" },
		      set_size,
		      "this input does not tell the length of these" },
	[BY_CPU] = { { "cpu" }, set_cpu, "this input does not tell the CPU of these" },
	[BY_WINDOW] = { { "from_ns", "to_ns" }, set_window, "when they began is not known" },
};

static void set_key(json_t *obj, const struct report *r, const struct breakdown_row *row)
{
	enum breakdown_key key = breakdown_options(r->by)->key;

	if (row->kind == ROW_TOLD && kinds[key].set)
		kinds[key].set(obj, r, row);
	for (int i = 0; row->kind != ROW_TOLD && i < 2 && kinds[key].keys[i]; i++) {
		if (row->kind == ROW_UNTOLD)
			tree_unknown(obj, kinds[key].keys[i], "%s", kinds[key].untold);
		else
			tree_unknown(obj, kinds[key].keys[i],
				     "all that came after the first %s groups",
				     num_count(BREAKDOWN_ROWS).s);
	}
}

static json_t *count(const struct breakdown_count *c)
{
	json_t *obj = json_object();

	tree_count(obj, "count", c->count);
	if (c->bytes_unknown) {
		tree_unknown(obj, "bytes", "this input does not tell the length of %s of them",
			     num_count(c->bytes_unknown).s);
		return obj;
	}
	tree_count(obj, "bytes", c->bytes);
	if (c->affected_bytes)
		tree_count(obj, "affected_bytes", c->affected_bytes);
	return obj;
}

/* Where the slowest hundredth of the requests spent their time. */
static void set_tail(json_t *obj, const struct breakdown_row *row)
{
	json_t *tail = json_object(), *shares = json_object();
	struct tail_shares t;

	if (!tail_above(&row->tail, TAIL_QUANTILE, &t)) {
		json_decref(tail);
		json_decref(shares);
		tree_unknown(obj, "tail", "needs at least 100 requests with a latency");
		return;
	}
	tree_count(tail, "n", t.n);
	tree_count(tail, "from_ns", t.from_ns);
	for (int i = 0; i < TAIL_PHASES; i++)
		tree_real(shares, phase_key(tail_phase(i)), t.shares[i]);
	tree_real(shares, "rest", t.rest);
	json_object_set_new(tail, "shares", shares);
	json_object_set_new(obj, "tail", tail);
}

json_t *by_row(const struct report *r, size_t i)
{
	const struct breakdown_row *row = breakdown_row(r->by, i);
	const struct device_sum *dev = &r->sum->devices[row->dev];
	const char *name = facts_device_name(r->facts, dev->device);
	json_t *obj = json_object(), *phases = json_object();

	tree_device_number(obj, r->facts, dev->device);
	if (name)
		tree_text(obj, "name", name);
	else if (!json_object_get(obj, "name"))
		tree_unknown(obj, "name", "no input names this device");
	set_key(obj, r, row);
	json_object_set_new(obj, "bios", count(&row->bios));
	if (dev->have_requests)
		json_object_set_new(obj, "requests", count(&row->requests));
	else
		tree_unknown(obj, "requests", "no request of this device was seen");
	for (int p = 0; p < PHASE_NR; p++)
		if (row->latency[p].n)
			json_object_set_new(phases, phase_key((enum phase)p),
					    tree_latency(&row->latency[p], (enum phase)p));
	json_object_set_new(obj, "latency_ns", phases);
	if (breakdown_has_tails(r->by))
		set_tail(obj, row);
	return obj;
}

json_t *tree_by(const struct report *r)
{
	const struct breakdown_options *options = breakdown_options(r->by);
	json_t *obj = json_object();

	tree_text(obj, "key", breakdown_key_name(options->key));
	if (options->key == BY_WINDOW)
		tree_count(obj, "slice_ns", options->slice_ns);
	json_object_set_new(obj, "rows", json_array());
	return obj;
}
