/* SPDX-License-Identifier: MIT */
#include "record/recorder.h"

#include <string.h>

const struct backend *const backends[] = { &backend_tracefs, &backend_relay, &backend_bpf, NULL };

static const struct backend *backend_find(const char *name)
{
	for (const struct backend *const *b = backends; *b; b++)
		if (!strcmp((*b)->name, name))
			return *b;
	return NULL;
}

static void no_such_backend(const char *name, struct error *err)
{
	char list[128] = "";

	for (const struct backend *const *b = backends; *b; b++) {
		strncat(list, b == backends ? "" : ", ", sizeof(list) - strlen(list) - 1);
		strncat(list, (*b)->name, sizeof(list) - strlen(list) - 1);
	}
	error_usage(err, "no backend is called '%s' (there is: %s)", name, list);
}

const struct backend *backend_choose(const struct sysroot *root, const char *name,
				     struct error *err)
{
	const struct backend *backend = name ? backend_find(name) : NULL;
	struct obstacle no = { "", "" };

	if (name && !backend) {
		no_such_backend(name, err);
		return NULL;
	}
	if (backend)
		return backend->probe(root, &no) ? backend : (error_set(err, "%s", no.why), NULL);
	for (const struct backend *const *b = backends; *b; b++) {
		struct obstacle this = { "", "" };

		if ((*b)->probe(root, &this))
			return *b;
		if (!no.why[0])
			no = this;
	}
	error_set(err, "%s", no.why);
	return NULL;
}
