// SPDX-License-Identifier: MIT
/* verdict.cpu_ns: the command's own CPU time, and that of the kernel threads that worked meanwhile. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "view/role.h"
#include "view/tree.h"

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
	return mem_strdup("other kernel threads");
}

static void add_command(json_t *by_name, const struct report *r)
{
	const json_t *command = command_meta(r->facts);
	static const char *const modes[] = { "user", "system" };
	char *name;

	if (!command)
		return;
	name = command_name(r->facts);
	for (int i = 0; i < 2; i++) {
		char *who = mem_printf("%s (%s)", name, modes[i]);
		char *key = mem_printf("%s_ns", modes[i]);

		if (tree_at(command, key)) /* else its end was not seen */
			json_object_set_new(by_name, who,
					    json_integer((json_int_t)tree_u64(command, key)));
		free(who);
		free(key);
	}
	free(name);
}

static void add_threads(json_t *by_name, const json_t *threads)
{
	json_t *thread;
	size_t i;

	json_array_foreach((json_t *)threads, i, thread)
	{
		char *name = worker_name(thread);
		json_t *sum = json_object_get(by_name, name);

		json_object_set_new(by_name, name,
				    json_integer(json_integer_value(sum) +
						 (json_int_t)tree_u64(thread, "cpu_ns")));
		free(name);
	}
}

/* Moves the largest of by_name to the list; false when there is none left. */
static bool move_largest(json_t *list, json_t *by_name)
{
	const char *name, *largest = NULL;
	json_t *ns, *entry;

	json_object_foreach(by_name, name, ns)
	{
		const json_t *most = largest ? json_object_get(by_name, largest) : NULL;

		if (!most || json_integer_value(ns) > json_integer_value(most))
			largest = name;
	}
	if (!largest)
		return false;
	entry = json_object();
	tree_text(entry, "who", largest);
	json_object_set(entry, "ns", json_object_get(by_name, largest));
	json_array_append_new(list, entry);
	json_object_del(by_name, largest);
	return true;
}

json_t *tree_cpu_times(const struct report *r)
{
	const json_t *threads = tree_at(r->facts->meta, "threads");
	json_t *by_name, *list;

	if (!tree_at(command_meta(r->facts), "user_ns") && !threads)
		return NULL;
	by_name = json_object();
	list = json_array();
	add_command(by_name, r);
	add_threads(by_name, threads);
	while (move_largest(list, by_name))
		;
	json_decref(by_name);
	return list;
}
