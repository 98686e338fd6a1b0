/* SPDX-License-Identifier: MIT */
#include "trace/archive.h"

#include <dlfcn.h>
#include <stddef.h>

/* The ABI of every libarchive 3. */
#define SONAME "libarchive.so.13"

int libarchive_load(struct libarchive *lib, const char *label, struct error *err)
{
	static const struct {
		const char *name;
		size_t at;
	} calls[] = {
#define CALL(name) { #name, offsetof(struct libarchive, name) },
		LIBARCHIVE_CALLS(CALL)
#undef CALL
	};
	void *handle = dlopen(SONAME, RTLD_LAZY | RTLD_NODELETE);

	for (size_t i = 0; handle && i < sizeof(calls) / sizeof(*calls); i++) {
		void **call = (void **)((char *)lib + calls[i].at);

		*call = dlsym(handle, calls[i].name);
		if (!*call)
			handle = NULL;
	}
	if (handle)
		return 0;
	return error_set(err, "%s: cannot be unpacked without libarchive (%s)", label, dlerror());
}
