/* SPDX-License-Identifier: MIT
 *
 * Events of writeback throttling. Its timer looks at the age of the oldest request it has seen issued; an
 * age beyond all patience is I/O that never ended.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "read/text/ftrace_text.h"

#define PATIENCE_NS UINT64_C(30000000000) /* the block layer's own timeout */
#define DEVICES_MAX 1024u

static struct ftrace_wbt_device *device_of(struct ftrace_wbt *wbt, uint32_t device)
{
	for (size_t i = 0; i < wbt->nr; i++)
		if (wbt->devices[i].device == device)
			return &wbt->devices[i];
	if (wbt->nr == DEVICES_MAX)
		return NULL;
	wbt->devices = mem_grow(wbt->devices, wbt->nr, sizeof(*wbt->devices));
	wbt->devices[wbt->nr] = (struct ftrace_wbt_device){ .device = device };
	return &wbt->devices[wbt->nr++];
}

static void take_latency(struct ftrace_wbt_device *d, struct scan s, uint64_t time_ns)
{
	uint64_t us;

	scan_blanks(&s);
	if (!scan_text(&s, "latency ") || !scan_u64(&s, &us) || us > INT64_MAX / 1000)
		return;
	if (!d->samples++)
		d->first_latency_ns = us * 1000;
	if (d->have_latency && time_ns < d->at_ns)
		return;
	d->have_latency = true;
	d->latency_ns = us * 1000;
	d->at_ns = time_ns;
}

/* "status=4, step=4, inflight=10" */
static void take_timer(struct ftrace_wbt_device *d, struct scan s)
{
	int64_t status, step, inflight;

	scan_blanks(&s);
	if (!scan_text(&s, "status=") || !scan_i64(&s, &status) || !scan_text(&s, ", step=") ||
	    !scan_i64(&s, &step) || !scan_text(&s, ", inflight=") || !scan_i64(&s, &inflight))
		return;
	d->have_timer = true;
	d->status = status;
	d->step = step;
	d->inflight = inflight;
}

uint32_t ftrace_wbt_take(struct ftrace_wbt *wbt, const char *name, size_t name_len, struct scan s,
			 uint64_t time_ns)
{
	struct ftrace_wbt_device *d;
	uint32_t device;

	if (!scan_device(&s, ':', &device) || !scan_char(&s, ':'))
		return 0;
	d = device_of(wbt, device);
	if (d && scan_word_is(name, name_len, "wbt_lat"))
		take_latency(d, s, time_ns);
	else if (d && scan_word_is(name, name_len, "wbt_timer"))
		take_timer(d, s);
	return device;
}

/* ---- findings ---- */

static void put_seconds(char *to, size_t size, uint64_t ns)
{
	snprintf(to, size, "%llu.%06llu", (unsigned long long)(ns / 1000000000),
		 (unsigned long long)(ns / 1000 % 1000000));
}

static void set_int(json_t *obj, const char *key, bool known, int64_t value, const char *why)
{
	char why_key[64];

	json_object_set_new(obj, key, known ? json_integer(value) : json_null());
	if (known)
		return;
	snprintf(why_key, sizeof(why_key), "%s_why", key);
	json_object_set_new(obj, why_key, json_string(why));
}

static json_t *evidence_of(const struct ftrace_wbt_device *d, const char *device)
{
	static const char no_timer[] = "no wbt_timer event of the device is in this text";
	json_t *e = json_object();

	json_object_set_new(e, "device", json_string(device));
	json_object_set_new(e, "latency_ns", json_integer((json_int_t)d->latency_ns));
	json_object_set_new(e, "at_uptime_ns", json_integer((json_int_t)d->at_ns));
	set_int(e, "began_uptime_ns", d->at_ns >= d->latency_ns,
		(int64_t)(d->at_ns - d->latency_ns),
		"the trace's clock does not count from the boot: it is smaller than the latency");
	set_int(e, "first_latency_ns", d->samples > 1, (int64_t)d->first_latency_ns,
		"one wbt_lat event of the device is in this text");
	json_object_set_new(e, "samples", json_integer((json_int_t)d->samples));
	set_int(e, "inflight", d->have_timer, d->inflight, no_timer);
	set_int(e, "step", d->have_timer, d->step, no_timer);
	set_int(e, "status", d->have_timer, d->status, no_timer);
	return e;
}

static void describe_step(const struct ftrace_wbt_device *d, char *to, size_t size)
{
	long long steps = d->step < 0 ? -d->step : d->step;

	to[0] = 0;
	if (d->have_timer && d->step)
		snprintf(to, size,
			 " Writeback throttling is scaled %s %lld step%s, with %lld in flight.",
			 d->step > 0 ? "down" : "up", steps, steps == 1 ? "" : "s",
			 (long long)d->inflight);
}

static json_t *finding_of(const struct ftrace_wbt_device *d)
{
	char device[32], latency[32], at[32], began[64] = "", step[128], sentence[400];
	json_t *finding = json_object(), *advice = json_array();

	snprintf(device, sizeof(device), "%u,%u", DEVICE_MAJOR(d->device), DEVICE_MINOR(d->device));
	put_seconds(latency, sizeof(latency), d->latency_ns);
	put_seconds(at, sizeof(at), d->at_ns);
	if (d->at_ns >= d->latency_ns) {
		put_seconds(step, sizeof(step), d->at_ns - d->latency_ns);
		snprintf(began, sizeof(began), ", issued %.32s s after boot,", step);
	}
	describe_step(d, step, sizeof(step));
	snprintf(sentence, sizeof(sentence),
		 "At uptime %s s the oldest synchronous request of %s%s had been waited for %s s: "
		 "it "
		 "never finished; it is lost or stuck, not slow.%s",
		 at, device, began, latency, step);
	json_object_set_new(finding, "id", json_string("stuck-io"));
	json_object_set_new(finding, "severity", json_string("critical"));
	json_object_set_new(finding, "title", json_string("I/O that never finished"));
	json_object_set_new(finding, "sentence", json_string(sentence));
	json_object_set_new(finding, "evidence", evidence_of(d, device));
	json_array_append_new(advice,
			      json_string("as a test, raise or disable the throttling: write a "
					  "large value or 0 to queue/wbt_lat_usec of the device"));
	json_array_append_new(advice,
			      json_string("collect the state of its queues from "
					  "/sys/kernel/debug/block/DEVICE (hctx*/busy, tags, "
					  "rqos/wbt/inflight, requeue_list) while it hangs"));
	json_array_append_new(
		advice, json_string("compare two snapshots of /proc/diskstats: where no write "
				    "completes in between, requests are held in the kernel"));
	json_object_set_new(finding, "advice", advice);
	return finding;
}

void ftrace_wbt_end(struct ftrace_wbt *wbt, struct text *text)
{
	for (size_t i = 0; i < wbt->nr; i++)
		if (wbt->devices[i].have_latency && wbt->devices[i].latency_ns > PATIENCE_NS)
			facts_append(&text_facts(text)->findings, finding_of(&wbt->devices[i]));
}

void ftrace_wbt_release(struct ftrace_wbt *wbt)
{
	free(wbt->devices);
	*wbt = (struct ftrace_wbt){ 0 };
}
