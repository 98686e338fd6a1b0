// SPDX-License-Identifier: MIT
/* The verdict with its sentence, and shares. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "view/num.h"
#include "view/tree.h"

/* Mean depth of requests up to which "one at a time" needs no other explanation. */
#define ONE_AT_A_TIME 1.5

/* How a sentence speaks of this window and its waiter. */
struct words {
	char *window;                  /* "the 3.20 s that dd ran" */
	char *waited;                  /* "the I/O that dd waited for" */
	char *who;                     /* "dd" */
	char *device;                  /* "vda" */
	char *parts;                   /* "of vda only its partition vda1 was recorded", or NULL */
	const struct device_sum *main; /* the one that `device` names, or NULL */
};

/* The device that held most of the waiting, or NULL. */
static const struct device_sum *main_device(const struct report *r)
{
	const struct device_sum *most = NULL;

	for (size_t i = 0; i < r->sum->nr_devices; i++) {
		const struct device_sum *dev = &r->sum->devices[i];

		if (!most || dev->wait_ns[WAIT_DEVICE] > most->wait_ns[WAIT_DEVICE])
			most = dev;
	}
	return most;
}

/* Was some disk recorded only in part? What waits there may wait for I/O that is not in the trace. */
static char *parts_recorded(const struct report *r)
{
	for (size_t i = 0; i < r->sum->nr_devices; i++) {
		json_t *list = device_partitions(r->facts, r->sum->devices[i].device);
		char *words, *device, *text;

		if (!list)
			continue;
		words = partition_words(list);
		device = device_label(r->facts, r->sum->devices[i].device);
		text = mem_printf("of %s only %s %s recorded", device, words,
				  json_array_size(list) == 1 ? "was" : "were");
		free(words);
		free(device);
		json_decref(list);
		return text;
	}
	return NULL;
}

static const char *window_what(enum report_window window)
{
	static const char *const what[] = {
		[REPORT_FIRST_TO_LAST] = "first queued to last completed I/O",
		[REPORT_COMMAND] = "run time of the command",
		[REPORT_RECORDING] = "the recording",
		[REPORT_ASKED] = "the window asked for",
	};

	return what[window];
}

/* A command may have outlived its recording. */
static char *command_window(const struct report *r, const char *name, const char *span)
{
	uint64_t end = tree_u64(command_meta(r->facts), "end_ns");

	if (end && end <= r->wait->to_ns)
		return mem_printf("the %s that %s ran", span, name);
	return mem_printf("the recorded %s that %s ran", span, name);
}

static void words_fill(struct words *w, const struct report *r)
{
	struct num span = num_ns((double)(r->wait->to_ns - r->wait->from_ns));

	w->main = main_device(r);
	w->device = w->main ? device_label(r->facts, w->main->device) : mem_strdup("the device");
	w->parts = parts_recorded(r);
	if (r->window == REPORT_COMMAND) {
		w->who = command_name(r->facts);
		w->window = command_window(r, w->who, span.s);
		w->waited = mem_printf("the I/O that %s waited for", w->who);
		return;
	}
	w->who = mem_strdup("the submitter");
	w->waited = mem_strdup("the oldest unfinished I/O");
	if (r->window == REPORT_ASKED)
		w->window = mem_printf("the %s asked for", span.s);
	else if (r->window == REPORT_RECORDING)
		w->window = mem_printf("the %s recorded", span.s);
	else
		w->window = mem_printf("the %s between the first and last I/O", span.s);
}

static void words_release(struct words *w)
{
	free(w->window);
	free(w->waited);
	free(w->who);
	free(w->device);
	free(w->parts);
}

static double share_of(const struct verdict *v, enum bound bound)
{
	switch (bound) {
	case BOUND_DEVICE:
		return v->share[WAIT_DEVICE];
	case BOUND_QUEUE:
		return v->share[WAIT_BEHIND_OTHERS] + v->share[WAIT_HELD];
	case BOUND_SUBMITTER:
		return v->share[WAIT_SUBMITTER];
	default:
		return 0;
	}
}

static const char *bound_words(enum bound bound)
{
	switch (bound) {
	case BOUND_DEVICE:
		return "the device";
	case BOUND_QUEUE:
		return "the queue";
	case BOUND_SUBMITTER:
		return "the submitter, or a limit above the block layer";
	default:
		return "nothing";
	}
}

/* "the I/O that dd waited for was at vda for 80.0 %" and the like: what the share means. */
static char *clause(const struct verdict *v, enum bound bound, const struct words *w)
{
	struct num share = num_share(share_of(v, bound));

	if (bound == BOUND_DEVICE)
		return mem_printf("%s was at %s for %s", w->waited, w->device, share.s);
	if (bound == BOUND_QUEUE && w->parts)
		return mem_printf("%s waited in the queue for %s", w->waited, share.s);
	if (bound == BOUND_QUEUE)
		return mem_printf("%s waited in the queue for %s (%s behind other I/O, %s while "
				  "the device did nothing)",
				  w->waited, share.s, num_share(v->share[WAIT_BEHIND_OTHERS]).s,
				  num_share(v->share[WAIT_HELD]).s);
	return mem_printf("no awaited I/O was in the block layer for %s", share.s);
}

/* Why one at a time: the mean depth, or that bios of which each makes many requests come singly. */
static char *latency_words(const struct verdict *v, const struct device_sum *dev)
{
	uint64_t bios = 0, data_ns = 0;

	for (int c = CLASS_READ; dev && c < CLASS_NR; c++)
		bios += c == CLASS_FLUSH ? 0 : dev->bios[c].count;
	for (int depth = 1; dev && depth < DEPTH_LEVELS; depth++)
		data_ns += dev->levels[depth].time_ns;
	if (dev && !data_ns)
		return mem_strdup("nothing but flushes, one after the other");
	if (!bios || dev->splits < bios || dev->depth_area <= ONE_AT_A_TIME * (double)dev->busy_ns)
		return mem_printf("mean depth %s while it moved data", num_real(v->mode_depth).s);
	return mem_printf("one bio at a time, each split into %s requests on average",
			  num_real(1 + (double)dev->splits / (double)bios).s);
}

static char *mode_words(const struct verdict *v, const struct words *w)
{
	char *why, *text;

	if (v->bound != BOUND_DEVICE && v->second != BOUND_DEVICE)
		return mem_strdup("");
	if (w->parts)
		return mem_printf(" Whether %s is saturated cannot be told.", w->device);
	if (v->mode == MODE_SATURATED)
		return mem_printf(" %s is saturated: more depth brought no more completions per "
				  "second.",
				  w->device);
	if (v->mode != MODE_LATENCY)
		return mem_printf(" Whether %s is saturated cannot be told from this trace.",
				  w->device);
	why = latency_words(v, w->main);
	text = mem_printf(" %s is bound by latency (%s): more I/O in parallel or fewer round trips "
			  "would help.",
			  w->device, why);
	free(why);
	return text;
}

/* "The device: of the 3.20 s that dd ran, CLAUSE." or "Two are too close to choose, A and B: ..." */
static char *bound_sentence(const struct verdict *v, const struct words *w)
{
	char *first = clause(v, v->bound, w), *second, *out;
	const char *name = bound_words(v->bound);

	if (v->second == BOUND_UNKNOWN) {
		out = mem_printf("%c%s: of %s, %s.", name[0] & ~0x20, name + 1, w->window, first);
	} else {
		second = clause(v, v->second, w);
		out = mem_printf("Too close to choose: %s; and %s. Of %s, %s, and %s.", name,
				 bound_words(v->second), w->window, first, second);
		free(second);
	}
	free(first);
	return out;
}

/* Where the kernel's threads had other masters too; owned by the caller. */
static char *helper_words(const struct verdict *v)
{
	if (!v->own_only)
		return mem_strdup("");
	return mem_printf(" The shares are of the command's own I/O; for %s of the time only I/O "
			  "of kernel threads was open, which may have been for it or for others.",
			  num_share(v->helper_share).s);
}

/* What makes the sentence less than sure; owned by the caller. */
static char *caveats(const struct report *r, const struct words *w)
{
	const char *losses =
		report_has_losses(r) ? " Events were lost, so the shares are estimates." : "";
	char *helpers = helper_words(r->verdict), *parts, *text;

	parts = w->parts ? mem_printf(" Note that %s: what waited for I/O of the rest of the disk "
				      "cannot be told.",
				      w->parts)
			 : mem_strdup("");
	text = mem_printf("%s%s%s", helpers, parts, losses);
	free(helpers);
	free(parts);
	return text;
}

static char *known_sentence(const struct report *r, const struct words *w)
{
	const struct verdict *v = r->verdict;
	char *bound, *mode, *but = caveats(r, w), *out;

	if (v->bound == BOUND_NONE) {
		out = mem_printf("Nothing waited for I/O: during %s of %s nothing was unfinished "
				 "in the block layer.%s",
				 num_share(v->share[WAIT_SUBMITTER]).s, w->window, but);
		free(but);
		return out;
	}
	bound = bound_sentence(v, w);
	mode = mode_words(v, w);
	out = mem_printf("%s%s%s", bound, mode, but);
	free(bound);
	free(mode);
	free(but);
	return out;
}

/* Behind others and held are one where the others are not in the trace. */
static void set_queue_share(json_t *shares, const struct report *r, const char *parts)
{
	const double *share = r->verdict->share;

	for (int p = WAIT_BEHIND_OTHERS; p <= WAIT_HELD; p++)
		tree_unknown(shares, wait_key((enum wait_place)p), "%s", parts);
	tree_real(shares, "queue", share[WAIT_BEHIND_OTHERS] + share[WAIT_HELD]);
}

static void set_shares(json_t *obj, const struct report *r)
{
	json_t *shares;
	char *parts;

	if (!r->verdict || !r->verdict->have_shares || excerpt_verdict_why(r)) {
		tree_unknown(obj, "shares", "the waits could not be attributed");
		return;
	}
	shares = json_object();
	parts = parts_recorded(r);
	for (int p = 0; p < WAIT_NR; p++)
		tree_real(shares, wait_key((enum wait_place)p), r->verdict->share[p]);
	if (parts)
		set_queue_share(shares, r, parts);
	free(parts);
	json_object_set_new(obj, "shares", shares);
}

static void set_cpu(json_t *obj, const struct report *r)
{
	json_t *list = tree_cpu_times(r);

	if (list)
		json_object_set_new(obj, "cpu_ns", list);
	else
		tree_unknown(obj, "cpu_ns",
			     "not recorded: only `blklab record` stores CPU times, "
			     "at its end");
}

static void set_window(json_t *obj, const struct report *r)
{
	json_t *window = json_object();
	uint64_t from = r->wait->from_ns, to = r->wait->to_ns, zero = r->genesis_ns;

	tree_text(window, "what", window_what(r->window));
	/* The command may start before the first event: then the offset is negative. */
	json_object_set_new(window, "from_ns", json_integer((json_int_t)(from - zero)));
	json_object_set_new(window, "to_ns", json_integer((json_int_t)(to - zero)));
	json_object_set_new(obj, "window", window);
}

/* An excerpt has its own reason. */
static char *unknown_sentence(const struct report *r, const struct verdict *v)
{
	const char *excerpt = excerpt_verdict_why(r);
	const char *why = excerpt             ? excerpt
			  : v->why_unknown[0] ? v->why_unknown
					      : "because there is no I/O to attribute waits to";
	char *helpers = excerpt ? mem_strdup("") : helper_words(v);
	char *text = mem_printf("Cannot be told from this %s, %s%s.%s",
				report_is_text(r) ? "text" : "trace",
				strncmp(why, "because", 7) ? "because " : "", why, helpers);

	free(helpers);
	return text;
}

/* What somebody else's table proves: from it the shares are not known. */
static json_t *table_verdict(const struct report *r)
{
	const json_t *f =
		report_is_text(r) ? find_finding(r->facts->findings, "bound-from-table") : NULL;
	const char *bound = tree_str(f, "evidence.bound");
	json_t *obj;

	if (!bound)
		return NULL;
	obj = json_object();
	tree_text(obj, "bound", bound);
	tree_text(obj, "mode", mode_key(MODE_UNKNOWN));
	tree_unknown(obj, "window", "a table does not tell when");
	tree_unknown(obj, "shares", "from a table alone shares are not known");
	tree_unknown(obj, "cpu_ns", "not recorded: a text does not carry CPU times");
	tree_text(obj, "sentence", tree_str(f, "sentence"));
	return obj;
}

json_t *tree_verdict(const struct report *r)
{
	static const struct verdict none = { .bound = BOUND_UNKNOWN };
	const struct verdict *v = r->verdict ? r->verdict : &none;
	bool known = r->wait && v->bound != BOUND_UNKNOWN && !excerpt_verdict_why(r);
	json_t *obj = table_verdict(r);
	struct words w = { 0 };
	char *sentence;

	if (obj)
		return obj;
	obj = json_object();
	if (known)
		words_fill(&w, r);
	tree_text(obj, "bound", bound_key(known ? v->bound : BOUND_UNKNOWN));
	if (known && v->second != BOUND_UNKNOWN)
		tree_text(obj, "second", bound_key(v->second));
	tree_text(obj, "mode", mode_key(known && !w.parts ? v->mode : MODE_UNKNOWN));
	if (known) {
		set_window(obj, r);
		tree_count(obj, "bios", r->wait->bios);
	} else {
		tree_unknown(obj, "window", "the waits could not be attributed");
	}
	sentence = known ? known_sentence(r, &w) : unknown_sentence(r, v);
	set_shares(obj, r);
	if (v->own_only)
		tree_real(obj, "helper_share", v->helper_share);
	set_cpu(obj, r);
	tree_text(obj, "sentence", sentence);
	free(sentence);
	words_release(&w);
	return obj;
}
