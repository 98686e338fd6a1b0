// SPDX-License-Identifier: MIT
/* The verdict with its sentence, shares and the CPU times beside it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "view/num.h"
#include "view/role.h"
#include "view/tree.h"

/* How a sentence speaks of this window and its waiter. */
struct words {
	char *window; /* "the 3.20 s that dd ran" */
	char *waited; /* "the I/O that dd waited for" */
	char *who;    /* "dd" */
	char *device; /* "vda" */
	const char *what;
};

static bool is_command_window(const struct report *r)
{
	const json_t *command = command_meta(r->facts);

	return command && !r->window_asked && r->wait->from_ns >= tree_u64(command, "start_ns") &&
	       r->wait->to_ns <= tree_u64(command, "end_ns");
}

static char *command_name(const struct report *r)
{
	json_t *argv = json_object_get(command_meta(r->facts), "argv");
	const char *path = json_string_value(json_array_get(argv, 0));
	const char *slash = path ? strrchr(path, '/') : NULL;

	return mem_strdup(slash && slash[1] ? slash + 1 : path ? path : "the command");
}

/* The device that held most of the waiting. */
static char *main_device(const struct report *r)
{
	const struct device_sum *most = NULL;

	for (size_t i = 0; i < r->sum->nr_devices; i++) {
		const struct device_sum *dev = &r->sum->devices[i];

		if (!most || dev->wait_ns[WAIT_DEVICE] > most->wait_ns[WAIT_DEVICE])
			most = dev;
	}
	return most ? device_label(r->facts, most->device) : mem_strdup("the device");
}

static void words_fill(struct words *w, const struct report *r)
{
	double span = (double)(r->wait->to_ns - r->wait->from_ns);

	if (is_command_window(r)) {
		w->what = "run time of the command";
		w->who = command_name(r);
		w->window = mem_printf("the %s that %s ran", num_ns(span).s, w->who);
		w->waited = mem_printf("the I/O that %s waited for", w->who);
	} else {
		w->what = r->window_asked ? "the window asked for"
					  : "first queued to last completed I/O";
		w->who = mem_strdup("the submitter");
		w->window = mem_printf(r->window_asked ? "the %s asked for"
						       : "the %s between the first and last I/O",
				       num_ns(span).s);
		w->waited = mem_strdup("the oldest unfinished I/O");
	}
	w->device = main_device(r);
}

static void words_release(struct words *w)
{
	free(w->window);
	free(w->waited);
	free(w->who);
	free(w->device);
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
	if (bound == BOUND_QUEUE)
		return mem_printf("%s waited in the queue for %s (%s behind other I/O, %s while "
				  "the device did nothing)",
				  w->waited, share.s, num_share(v->share[WAIT_BEHIND_OTHERS]).s,
				  num_share(v->share[WAIT_HELD]).s);
	return mem_printf("no awaited I/O was in the block layer for %s", share.s);
}

static char *mode_words(const struct verdict *v, const struct words *w)
{
	if (v->bound != BOUND_DEVICE && v->second != BOUND_DEVICE)
		return mem_strdup("");
	if (v->mode == MODE_SATURATED)
		return mem_printf(" %s is saturated: more depth brought no more completions per "
				  "second.",
				  w->device);
	if (v->mode == MODE_LATENCY)
		return mem_printf(" %s is bound by latency (mean depth %s while busy): more I/O in "
				  "parallel or fewer round trips would help.",
				  w->device, num_real(v->mode_depth).s);
	return mem_printf(" Whether %s is saturated cannot be told from this trace.", w->device);
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

static char *known_sentence(const struct report *r, const struct words *w)
{
	const char *losses =
		report_has_losses(r) ? " Events were lost, so the shares are estimates." : "";
	const struct verdict *v = r->verdict;
	char *bound, *mode, *out;

	if (v->bound == BOUND_NONE)
		return mem_printf("Nothing waited for I/O: during %s of %s nothing was unfinished "
				  "in the block layer.%s",
				  num_share(v->share[WAIT_SUBMITTER]).s, w->window, losses);
	bound = bound_sentence(v, w);
	mode = mode_words(v, w);
	out = mem_printf("%s%s%s", bound, mode, losses);
	free(bound);
	free(mode);
	return out;
}

static void set_shares(json_t *obj, const struct report *r)
{
	json_t *shares;

	if (!r->verdict || !r->verdict->have_shares) {
		tree_unknown(obj, "shares", "the waits could not be attributed");
		return;
	}
	shares = json_object();
	for (int p = 0; p < WAIT_NR; p++)
		tree_real(shares, wait_key((enum wait_place)p), r->verdict->share[p]);
	json_object_set_new(obj, "shares", shares);
}

static void add_cpu(json_t *list, const char *who, uint64_t ns)
{
	json_t *entry = json_object();

	tree_text(entry, "who", who);
	tree_count(entry, "ns", ns);
	json_array_append_new(list, entry);
}

/* What a kernel thread worked at: kworkers by their work queue, since any of them takes any work;
 * helpers of storage by name; NULL for the rest. Owned by the caller. */
static char *worker_name(const json_t *thread)
{
	static const char *const helpers[] = { "writeback", "journal", "crypt",
					       "raid",      "loop",    "reclaim" };
	const char *comm = tree_str(thread, "comm"), *work = tree_str(thread, "work");
	const char *role = role_of(comm);

	if (work && strcmp(work, "events"))
		return mem_printf("kworkers for %s", work);
	for (size_t i = 0; i < sizeof(helpers) / sizeof(helpers[0]); i++)
		if (!strcmp(role, helpers[i]))
			return mem_strdup(comm);
	return NULL;
}

/* The largest group of by_name, moved to the list; false when there is none left. */
static bool move_largest(json_t *list, json_t *by_name)
{
	const char *name, *largest = NULL;
	json_int_t most = -1;
	json_t *ns;

	json_object_foreach(by_name, name, ns)
	{
		if (json_integer_value(ns) <= most)
			continue;
		most = json_integer_value(ns);
		largest = name;
	}
	if (!largest)
		return false;
	add_cpu(list, largest, (uint64_t)most);
	json_object_del(by_name, largest);
	return true;
}

static void add_threads(json_t *list, const json_t *threads)
{
	json_t *by_name = json_object(), *thread;
	uint64_t others = 0;
	size_t i;

	json_array_foreach((json_t *)threads, i, thread)
	{
		char *name = worker_name(thread);
		uint64_t ns = tree_u64(thread, "cpu_ns");

		if (name)
			tree_count(by_name, name,
				   (uint64_t)json_integer_value(json_object_get(by_name, name)) +
					   ns);
		else
			others += ns;
		free(name);
	}
	while (move_largest(list, by_name))
		;
	if (others)
		add_cpu(list, "other kernel threads", others);
	json_decref(by_name);
}

/* CMD's own times first, then the kernel threads that worked meanwhile. */
static void set_cpu(json_t *obj, const struct report *r)
{
	const json_t *command = command_meta(r->facts);
	const json_t *threads = tree_at(r->facts->meta, "threads");
	json_t *list;

	if (!command && !threads) {
		tree_unknown(obj, "cpu_ns", "not recorded: only `blklab record` stores CPU times");
		return;
	}
	list = json_array();
	if (command) {
		char *name = command_name(r);
		char *user = mem_printf("%s (user)", name),
		     *system = mem_printf("%s (system)", name);

		add_cpu(list, user, tree_u64(command, "user_ns"));
		add_cpu(list, system, tree_u64(command, "system_ns"));
		free(user);
		free(system);
		free(name);
	}
	add_threads(list, threads);
	json_object_set_new(obj, "cpu_ns", list);
}

static void set_window(json_t *obj, const struct report *r, const struct words *w)
{
	json_t *window = json_object();
	uint64_t from = r->wait->from_ns, to = r->wait->to_ns, zero = r->genesis_ns;

	tree_text(window, "what", w->what);
	/* The command may start before the first event: then the offset is negative. */
	json_object_set_new(window, "from_ns", json_integer((json_int_t)(from - zero)));
	json_object_set_new(window, "to_ns", json_integer((json_int_t)(to - zero)));
	json_object_set_new(obj, "window", window);
}

json_t *tree_verdict(const struct report *r)
{
	const struct verdict *v = r->verdict;
	bool known = v && r->wait && v->bound != BOUND_UNKNOWN;
	json_t *obj = json_object();
	struct words w = { 0 };
	char *sentence;

	tree_text(obj, "bound", bound_key(known ? v->bound : BOUND_UNKNOWN));
	if (known && v->second != BOUND_UNKNOWN)
		tree_text(obj, "second", bound_key(v->second));
	tree_text(obj, "mode", mode_key(known ? v->mode : MODE_UNKNOWN));
	if (known) {
		words_fill(&w, r);
		set_window(obj, r, &w);
		tree_count(obj, "bios", r->wait->bios);
		sentence = known_sentence(r, &w);
		words_release(&w);
	} else {
		const char *why = v && v->why_unknown[0]
					  ? v->why_unknown
					  : "because there is no I/O to attribute waits to";

		tree_unknown(obj, "window", "the waits could not be attributed");
		sentence = mem_printf("Cannot be told from this trace, %s%s.",
				      strncmp(why, "because", 7) ? "because " : "", why);
	}
	set_shares(obj, r);
	set_cpu(obj, r);
	tree_text(obj, "sentence", sentence);
	free(sentence);
	return obj;
}
