/* SPDX-License-Identifier: MIT */
#include "trace/input.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "trace/group.h"

#define DEPTH_MAX 8 /* folders below a trace directory */

static int is_regular(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode);
}

/* A compressed file of the set goes where packed_add puts it: into the group of that label. */
static int add_packed(struct inputs *inputs, const char *path, const char *name, struct error *err)
{
	struct blob blob = { .fd = -1, .name = mem_strdup(name), .path = mem_strdup(path) };
	int r = packed_add(inputs, &blob, path, true, err);

	blob_release(&blob);
	return r;
}

/* One file of a set; where there are two of one CPU ("gzip -k"), the first that comes is taken. They come
 * one behind the other. */
static int add_member(struct inputs *inputs, const char *prefix, const char *name,
		      const char *label, size_t base_len, struct error *err)
{
	size_t len = set_packed_len(name);
	char *plain = len ? mem_strndup(name, len) : mem_strdup(name);
	char *path = mem_printf("%s%s", prefix, name);
	struct input *in = group_find_set(inputs, label);
	int r = 0;

	if (in && in->nr && !strcmp(in->blobs[in->nr - 1].name, plain)) {
		free(path);
	} else if (len) {
		r = add_packed(inputs, path, name, err);
		free(path);
	} else {
		if (!in)
			in = group_new(inputs, mem_strdup(label), mem_strndup(name, base_len));
		if (in->nr < BLOBS_MAX)
			group_blob(in, mem_strdup(plain))->path = path;
		else
			free(path);
	}
	free(plain);
	return r;
}

static int sort_names(const struct dirent **a, const struct dirent **b)
{
	return strverscmp((*a)->d_name, (*b)->d_name);
}

/* Adds the set of dir/base.blktrace.N (`prefix` is "dir/" or ""); 1 = added or already there, 0 =
 * there is none, -1 with err. */
static int add_set(struct inputs *inputs, const char *prefix, const char *base, struct error *err)
{
	char *label = mem_printf("%s%s", prefix, base);
	struct input *in = group_find_set(inputs, label);
	size_t len = strlen(base);
	struct dirent **list;
	int nr, r = 0;

	if (in) {
		free(label);
		return 1;
	}
	nr = scandir(*prefix ? prefix : ".", &list, NULL, sort_names);
	if (nr < 0) {
		r = error_errno(err, errno, "%s", *prefix ? prefix : ".");
		free(label);
		return r;
	}
	for (int i = 0; i < nr; i++) {
		const char *name = list[i]->d_name;

		/* Sorted, a plain file comes before its compressed form. */
		if (!r && set_member_len(name) == len && !memcmp(name, base, len))
			r = add_member(inputs, prefix, name, label, len, err);
		free(list[i]);
	}
	free(list);
	in = group_find_set(inputs, label);
	free(label);
	if (in)
		group_sort(in);
	return r < 0 ? -1 : in != NULL;
}

/* As add_set, for "dir/sda" or, with `len`, for "dir/sda.blktrace.3". */
static int add_set_of(struct inputs *inputs, const char *path, size_t len, struct error *err)
{
	const char *name = path_base_name(path);
	char *prefix = mem_strndup(path, (size_t)(name - path));
	char *base = len ? mem_strndup(name, len) : mem_strdup(name);
	int r = *base ? add_set(inputs, prefix, base, err) : 0;

	free(prefix);
	free(base);
	return r;
}

/* A blob that is a group of its own, or an archive of others. A file is opened again at its first
 * use; what cannot be opened twice (a pipe) stays open. */
static int add_alone(struct inputs *inputs, struct blob *blob, const char *label, bool reopen,
		     struct error *err)
{
	const uint8_t *head;
	struct input *in;
	size_t len;

	err->text[0] = 0;
	len = blob_head(blob, PACKED_HEAD, &head, err);
	if (!len && err->text[0])
		return -1;
	if (packed_probe(head, len))
		return packed_add(inputs, blob, label, reopen, err);
	if (reopen)
		blob_rewind(blob);
	in = group_new(inputs, mem_strdup(label), mem_strdup(blob->name));
	group_move(in, blob, in->base);
	return 0;
}

static int add_file(struct inputs *inputs, const char *path, bool regular, struct error *err)
{
	struct blob blob = { .fd = -1 };
	int r;

	if (group_find(inputs, path))
		return 0;
	blob.name = mem_strdup(path_base_name(path));
	blob.path = mem_strdup(path);
	r = add_alone(inputs, &blob, path, regular, err);
	blob_release(&blob);
	return r;
}

static int add_stdin(struct inputs *inputs, struct error *err)
{
	static const char label[] = "standard input";
	struct blob blob = { .fd = STDIN_FILENO };
	int r;

	if (group_find(inputs, label))
		return 0;
	blob.name = mem_strdup(label);
	r = add_alone(inputs, &blob, label, false, err);
	blob_release(&blob);
	return r;
}

/* All regular files below dir/rel into the group. */
static int collect(struct input *in, const char *dir, const char *rel, int depth, struct error *err)
{
	char *path = mem_printf("%s%s%s", dir, *rel ? "/" : "", rel);
	DIR *d = opendir(path);
	struct dirent *entry;
	int r = 0;

	if (!d) {
		r = error_errno(err, errno, "%s", path);
		free(path);
		return r;
	}
	while (!r && (entry = readdir(d)) != NULL) {
		char *name, *full;
		struct stat st;

		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		name = mem_printf("%s%s%s", rel, *rel ? "/" : "", entry->d_name);
		full = mem_printf("%s/%s", dir, name);
		if (lstat(full, &st))
			st.st_mode = 0;
		if (in->nr == BLOBS_MAX)
			r = error_set(err, "%s: holds more than %u files", dir, BLOBS_MAX);
		else if (S_ISDIR(st.st_mode) && depth < DEPTH_MAX)
			r = collect(in, dir, name, depth + 1, err);
		else if (S_ISREG(st.st_mode) || (S_ISLNK(st.st_mode) && is_regular(full)))
			group_blob(in, mem_strdup(name))->path = mem_strdup(full);
		free(name);
		free(full);
	}
	closedir(d);
	free(path);
	return r;
}

static int add_trace_dir(struct inputs *inputs, const char *path, struct error *err)
{
	struct input *in;

	if (group_find(inputs, path))
		return 0;
	in = group_new(inputs, mem_strdup(path), mem_strdup(path_base_name(path)));
	if (collect(in, path, "", 0, err))
		return -1;
	group_sort(in);
	return 0;
}

/* A folder of per-CPU files and others; 1 = something added, 0 = nothing there, -1 with err. */
static int add_folder(struct inputs *inputs, const char *path, struct error *err)
{
	struct dirent **list;
	int nr = scandir(path, &list, NULL, sort_names);
	char *prefix;
	int r = 0, found = 0;

	if (nr < 0)
		return error_errno(err, errno, "%s", path);
	prefix = mem_printf("%s/", path);
	for (int i = 0; i < nr; i++) {
		char *full = mem_printf("%s%s", prefix, list[i]->d_name);
		size_t len = set_member_len(list[i]->d_name);

		if (r >= 0 && list[i]->d_name[0] != '.' && is_regular(full)) {
			found = 1;
			r = len ? add_set_of(inputs, full, len, err)
				: add_file(inputs, full, true, err);
		}
		free(full);
		free(list[i]);
	}
	free(list);
	free(prefix);
	return r < 0 ? -1 : found;
}

/* Ours: with meta.json, or begun by a recorder that was killed before it could write that. */
static bool is_trace_dir(const char *path)
{
	static const char *const signs[] = { "meta.json", "facts/start.json", ".reserve" };
	bool is = false;

	for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]) && !is; i++) {
		char *sign = mem_printf("%s/%s", path, signs[i]);

		is = is_regular(sign);
		free(sign);
	}
	return is;
}

static int add_directory(struct inputs *inputs, const char *path, struct error *err)
{
	int r;

	if (is_trace_dir(path))
		return add_trace_dir(inputs, path, err);
	r = add_folder(inputs, path, err);
	if (!r)
		r = add_set_of(inputs, path, 0, err);
	if (!r)
		return error_set(err, "%s: no trace in this directory", path);
	return r < 0 ? -1 : 0;
}

/* "sda" for all of sda.blktrace.N. */
static int add_base_name(struct inputs *inputs, const char *path, struct error *err)
{
	char *prefix = mem_strndup(path, (size_t)(path_base_name(path) - path));
	int r = *prefix && access(prefix, F_OK) ? 0 : add_set_of(inputs, path, 0, err);

	free(prefix);
	if (!r)
		return error_set(err, "%s: no such file", path);
	return r < 0 ? -1 : 0;
}

static int add_path(struct inputs *inputs, const char *path, struct error *err)
{
	size_t len = set_member_len(path_base_name(path));
	struct stat st;

	if (stat(path, &st)) {
		if (errno != ENOENT)
			return error_errno(err, errno, "%s", path);
		return len ? error_set(err, "%s: no such file", path)
			   : add_base_name(inputs, path, err);
	}
	if (S_ISDIR(st.st_mode))
		return add_directory(inputs, path, err);
	if (len && S_ISREG(st.st_mode))
		return add_set_of(inputs, path, len, err) < 0 ? -1 : 0;
	if (S_ISBLK(st.st_mode))
		return error_set(err, "%s: is a block device, not a trace", path);
	return add_file(inputs, path, S_ISREG(st.st_mode), err);
}

int inputs_add(struct inputs *inputs, const char *path, struct error *err)
{
	char *clean;
	int r;

	if (!strcmp(path, "-"))
		return add_stdin(inputs, err);
	if (!*path)
		return error_set(err, "an empty name names no file");
	clean = path_clean(path);
	r = add_path(inputs, clean, err);
	free(clean);
	return r;
}
