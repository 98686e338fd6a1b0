// SPDX-License-Identifier: MIT
/* requests_list[] of the report. */
#include <string.h>

#include "view/request_entry.h"
#include "view/rwbs.h"
#include "view/tree.h"

static const char *const states[] = {
	[REQUEST_COMPLETED] = "completed",
	[REQUEST_IN_FLIGHT] = "in_flight",
	[REQUEST_LOST] = "lost",
	[REQUEST_ORPHAN] = "orphan_completion",
};

static void phase(json_t *obj, const char *key, uint64_t from_ns, uint64_t to_ns)
{
	if (from_ns != TIME_NONE && to_ns != TIME_NONE)
		tree_count(obj, key, to_ns > from_ns ? to_ns - from_ns : 0);
}

/* Only what can be trusted: not the end of what was joined by luck or whose end was not seen. */
static uint64_t end_of(const struct request_entry *e, uint64_t ns)
{
	if (e->state != REQUEST_COMPLETED || e->io.ambiguous || e->io.crosses_loss)
		return TIME_NONE;
	return ns;
}

/* A latency that came as one number (a row of a table). */
static void set_whole(json_t *obj, const struct io *io)
{
	tree_count(obj, io->flags & EV_FROM_QUEUE ? "r_q2c" : "d2c", io->whole_ns);
}

static json_t *phases(const struct request_entry *e)
{
	const struct io *io = &e->io;
	uint64_t get_ns = io->get_ns, queue_ns = io->queue_ns;
	json_t *obj = json_object();

	if (io->whole_ns != TIME_NONE) {
		set_whole(obj, io);
		return obj;
	}
	phase(obj, "a2q", io->remap_ns, io->queue_ns);
	if (e->is_bio) {
		phase(obj, "q2c", io->queue_ns, end_of(e, io->end_ns));
		phase(obj, "chain_q2c", io->remap_ns, end_of(e, io->end_ns));
		return obj;
	}
	phase(obj, "q2g", io->queue_ns, io->get_ns);
	if (io->data_from_ns != TIME_NONE) /* the pre-flush is the device's time, not the queue's */
		get_ns = queue_ns = io->data_from_ns;
	phase(obj, "g2i", get_ns, io->insert_ns);
	if (io->unplug_ns != TIME_NONE)
		phase(obj, "plug", io->queue_ns, io->unplug_ns);
	if (io->insert_ns == TIME_NONE)
		phase(obj, "g2d", get_ns, io->issue_ns);
	phase(obj, "i2d", io->insert_ns, io->issue_ns);
	phase(obj, "m2d", io->merge_ns, io->issue_ns);
	phase(obj, "q2d", queue_ns, io->issue_ns);
	if (io->attempts > 1) {
		tree_count(obj, "attempt_lost", io->attempt_lost_ns);
		tree_count(obj, "requeue_wait", io->requeue_wait_ns);
	}
	phase(obj, "d2c", io->last_issue_ns, end_of(e, io->complete_ns));
	phase(obj, "r_q2c", io->queue_ns, end_of(e, io->end_ns));
	phase(obj, "chain_q2c", io->remap_ns, end_of(e, io->end_ns));
	return obj;
}

/* Of a write that went through the flush machine. */
static json_t *parts(const struct request_entry *e)
{
	const struct io *io = &e->io;
	json_t *obj = json_object();

	if (io->data_from_ns != TIME_NONE) {
		tree_count(obj, "preflush_wait", io->preflush_wait_ns);
		tree_count(obj, "preflush", io->preflush_ns);
	}
	phase(obj, "data", io->last_issue_ns, end_of(e, io->complete_ns));
	if (io->postflush_ns) {
		tree_count(obj, "postflush_wait", io->postflush_wait_ns);
		tree_count(obj, "postflush", io->postflush_ns);
	}
	return obj;
}

static void set_place(json_t *obj, const struct request_entry *e, const struct device_sum *dev)
{
	const struct io *io = &e->io;

	if (io->class == CLASS_FLUSH && !io->bytes)
		tree_unknown(obj, "sector", "a flush has no place on the device");
	else if (io->class == CLASS_PASSTHROUGH)
		tree_unknown(obj, "sector", "a passthrough command has no place on the device");
	else if (io->sector == SECTOR_NONE)
		tree_unknown(obj, "sector", "this input does not tell it");
	else
		tree_count(obj, "sector", io->sector);
	if (io->flags & EV_NO_BYTES) {
		tree_unknown(obj, "sectors", "this input does not tell the length");
		tree_unknown(obj, "bytes", "this input does not tell the length");
		return;
	}
	tree_count(obj, "sectors", io->class == CLASS_PASSTHROUGH ? 0 : io->bytes / SECTOR_SIZE);
	tree_count(obj, "bytes", io->bytes);
}

/* Without a bio only the thread is known that issued it: whoever ran the queue. */
static bool only_issuer(const struct request_entry *e)
{
	return !e->is_bio && !e->io.nr_bios && e->io.whole_ns == TIME_NONE &&
	       !(e->io.flags & EV_SUBMITTER);
}

static void set_issuer(json_t *obj, const struct report *r, const struct request_entry *e)
{
	const char *comm = names_get(&r->facts->names, e->io.pid, e->at_ns);

	tree_count(obj, "issuer_pid", e->io.pid);
	if (comm)
		tree_text(obj, "issuer_comm", comm);
	else
		tree_unknown(obj, "issuer_comm", "no input names this thread");
}

static void set_who(json_t *obj, const struct report *r, const struct request_entry *e)
{
	const char *comm = NULL, *why = "no input names this thread";

	if (e->state == REQUEST_ORPHAN) {
		why = "a completion does not tell who asked for it";
		tree_unknown(obj, "pid", "%s", why);
	} else if (only_issuer(e)) {
		why = "who queued it was not seen";
		tree_unknown(obj, "pid", "%s", why);
		set_issuer(obj, r, e);
	} else {
		tree_count(obj, "pid", e->io.pid);
		comm = names_get(&r->facts->names, e->io.pid, e->at_ns);
	}
	if (comm)
		tree_text(obj, "comm", comm);
	else
		tree_unknown(obj, "comm", "%s", why);
}

static void set_error(json_t *obj, const struct request_entry *e)
{
	int error = e->io.error < 0 ? -e->io.error : e->io.error;
	const char *name = error ? strerrorname_np(error) : NULL;

	if (e->state == REQUEST_IN_FLIGHT || e->state == REQUEST_LOST) {
		tree_unknown(obj, "errno", "its end was not seen");
		return;
	}
	tree_count(obj, "errno", (uint64_t)error);
	if (name)
		tree_text(obj, "errno_name", name);
}

static void set_start(json_t *obj, const struct report *r, const struct request_entry *e)
{
	uint64_t ns = e->start_ns;

	if (ns == TIME_NONE)
		tree_unknown(obj, "start_ns", "%s",
			     e->io.whole_ns != TIME_NONE ? "this input has no times"
							 : "its beginning was not seen");
	else
		tree_count(obj, "start_ns", ns > r->genesis_ns ? ns - r->genesis_ns : 0);
	if (e->state != REQUEST_COMPLETED && e->state != REQUEST_ORPHAN)
		tree_unknown(obj, "end_ns", "its end was not seen");
	else if (e->io.end_ns == TIME_NONE)
		tree_unknown(obj, "end_ns", "this input does not tell it");
	else
		tree_count(obj, "end_ns",
			   e->io.end_ns > r->genesis_ns ? e->io.end_ns - r->genesis_ns : 0);
}

static json_t *part(const struct report *r, const struct meanwhile_part *p, uint64_t at_ns)
{
	const char *comm = p->who == WHO_THREAD ? names_get(&r->facts->names, p->pid, at_ns) : NULL;
	const char *why = p->who == WHO_FLUSH ? "flush commands: who issues one does not ask for it"
					      : "who queued them was not seen";
	json_t *obj = json_object();

	if (p->who == WHO_THREAD)
		tree_count(obj, "pid", p->pid);
	else
		tree_unknown(obj, "pid", "%s", why);
	if (comm)
		tree_text(obj, "comm", comm);
	else
		tree_unknown(obj, "comm", "%s",
			     p->who == WHO_THREAD ? "no input names this thread" : why);
	json_object_set_new(obj, "flush", json_boolean(p->who == WHO_FLUSH));
	tree_count(obj, "requests", p->requests);
	tree_count(obj, "device_ns", p->device_ns);
	return obj;
}

static json_t *meanwhile(const struct report *r, const struct meanwhile *m)
{
	json_t *obj = json_object(), *list = json_array(), *rest;

	tree_count(obj, "wait_ns", m->to_ns - m->from_ns);
	tree_count(obj, "requests", m->all.requests);
	tree_count(obj, "device_ns", m->all.device_ns);
	for (size_t i = 0; i < m->nr_top; i++)
		json_array_append_new(list, part(r, &m->top[i], m->to_ns));
	json_object_set_new(obj, "processes", list);
	if (m->nr_rest) {
		rest = json_object();
		tree_count(rest, "count", m->nr_rest);
		tree_count(rest, "requests", m->rest.requests);
		tree_count(rest, "device_ns", m->rest.device_ns);
		json_object_set_new(obj, "other_processes", rest);
	}
	if (m->idle_known)
		tree_count(obj, "idle_ns", m->idle_ns);
	else
		tree_unknown(obj, "idle_ns",
			     "of requests that were at the device the end was not seen in time");
	return obj;
}

/* Only of the slowest. */
static void set_meanwhile(json_t *obj, const struct report *r, const struct request_entry *e)
{
	if (!request_list_top(r->requests))
		return;
	if (e->meanwhile && !e->meanwhile->why)
		json_object_set_new(obj, "meanwhile", meanwhile(r, e->meanwhile));
	else
		tree_unknown(obj, "meanwhile", "%s",
			     e->meanwhile ? e->meanwhile->why
			     : e->is_bio  ? "a bio: when it came to the device was not seen"
					  : "its beginning was not seen");
}

json_t *request_list_row(const struct report *r, size_t i)
{
	const struct request_entry *e = request_list_entry(r->requests, i);
	const struct device_sum *dev = &r->sum->devices[e->io.dev];
	const struct io *io = &e->io;
	json_t *obj = json_object();

	tree_text(obj, "kind", e->is_bio ? "bio" : "request");
	tree_text(obj, "state", states[e->state]);
	set_start(obj, r, e);
	tree_device_number(obj, r->facts, dev->device);
	set_place(obj, e, dev);
	tree_text(obj, "class", class_name((enum io_class)io->class));
	tree_text(obj, "flags", rwbs_of((enum io_class)io->class, io->flags).s);
	set_who(obj, r, e);
	if (!e->is_bio && io->attempts)
		tree_count(obj, "attempts", io->attempts);
	else
		tree_unknown(obj, "attempts", "%s",
			     e->is_bio ? "a bio; its requests were not seen" : "no D was seen");
	json_object_set_new(obj, "phases_ns", phases(e));
	if (io->data_from_ns != TIME_NONE || io->postflush_ns)
		json_object_set_new(obj, "parts_ns", parts(e));
	if (io->nr_bios)
		tree_count(obj, "bios", io->nr_bios);
	else
		tree_unknown(obj, "bios", "none of them was seen");
	set_error(obj, e);
	if (io->ambiguous)
		tree_text(obj, "doubt", "joined first in, first out with others like it");
	else if (io->crosses_loss && e->state == REQUEST_COMPLETED)
		tree_text(obj, "doubt", "open while events were lost");
	set_meanwhile(obj, r, e);
	return obj;
}
