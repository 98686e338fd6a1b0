/* SPDX-License-Identifier: MIT
 *
 * Archives: their members are spooled, and grouped by their names.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "trace/archive.h"
#include "trace/decode.h"
#include "trace/group.h"
#include "trace/spool.h"

#define IN_BYTES 65536u
#define NAMED    5 /* members left out of one kind that are named */

enum left_out {
	SYMLINK,
	HARD_LINK,
	FIFO,
	DEVICE_NODE,
	SOCKET,
	UNKNOWN,
	NAMELESS,
	REPLACED,
	NR_LEFT_OUT
};

/* Members that nobody reads. */
struct left {
	size_t nr;
	char *names; /* owned, or NULL */
};

/* Where libarchive gets its bytes from: a blob, so that standard input and streams work too. */
struct packed {
	struct blob *blob;
	const char *label;
	struct inputs *inputs;
	struct libarchive lib;
	struct archive *archive;
	struct input all; /* every member, flat by its name */
	struct error why; /* what is damaged; no text = nothing */
	bool cut;         /* the blob itself has an error, in `why` */
	struct left left[NR_LEFT_OUT];
	uint8_t buf[IN_BYTES];
};

static la_ssize_t packed_read(struct archive *a, void *data, const void **bytes)
{
	struct packed *p = data;
	ssize_t r = blob_read(p->blob, p->buf, sizeof(p->buf), &p->why);

	p->cut |= r < 0;
	*bytes = p->buf;
	return r;
}

static void damaged(struct packed *p)
{
	if (!p->cut)
		decode_error(p->label, p->lib.archive_error_string(p->archive), &p->why);
}

/* `target`: of a link, or NULL. */
static void leave_out(struct packed *p, enum left_out kind, const char *name, const char *target)
{
	struct left *left = &p->left[kind];
	char *names = left->names;

	left->nr++;
	if (left->nr > NAMED || !name || !*name)
		return;
	left->names = mem_printf("%s%s%.200s%s%.200s", names ? names : "", names ? ", " : "", name,
				 target ? " -> " : "", target ? target : "");
	free(names);
}

/* Why the member is no file, or NR_LEFT_OUT: it is one, or a directory. */
static enum left_out left_out_as(const struct libarchive *lib, struct archive_entry *entry,
				 const char *name)
{
	if (lib->archive_entry_filetype(entry) == AE_IFDIR)
		return NR_LEFT_OUT;
	if (!name || !*name)
		return NAMELESS;
	if (lib->archive_entry_hardlink(entry))
		return HARD_LINK;
	switch (lib->archive_entry_filetype(entry)) {
	case AE_IFREG:
		return NR_LEFT_OUT;
	case AE_IFLNK:
		return SYMLINK;
	case AE_IFIFO:
		return FIFO;
	case AE_IFCHR:
	case AE_IFBLK:
		return DEVICE_NODE;
	case AE_IFSOCK:
		return SOCKET;
	default:
		return UNKNOWN;
	}
}

/* One sentence for each kind. */
static void say_left_out(struct packed *p)
{
	static const char *const words[NR_LEFT_OUT][3] = {
		[SYMLINK] = { "symbolic link", "symbolic links", "not read" },
		[HARD_LINK] = { "hard link", "hard links", "not read" },
		[FIFO] = { "FIFO", "FIFOs", "not read" },
		[DEVICE_NODE] = { "device node", "device nodes", "not read" },
		[SOCKET] = { "socket", "sockets", "not read" },
		[UNKNOWN] = { "member of unknown type", "members of unknown type", "not read" },
		[NAMELESS] = { "member without a name", "members without a name", "not read" },
		[REPLACED] = { "member", "members", "replaced by a later one of the same name" },
	};

	for (size_t i = 0; i < NR_LEFT_OUT; i++) {
		const struct left *left = &p->left[i];

		if (left->nr)
			inputs_note(p->inputs,
				    mem_printf("%s: %zu %s %s %s%s%s%s", p->label, left->nr,
					       words[i][left->nr > 1],
					       left->nr > 1 ? "were" : "was", words[i][2],
					       left->names ? ": " : "",
					       left->names ? left->names : "",
					       left->names && left->nr > NAMED ? ", ..." : ""));
		free(p->left[i].names);
	}
}

/* 1 = a member was begun, 0 = there are no more, also where the rest is damaged. */
static int next_member(struct packed *p, const char **name)
{
	struct archive_entry *entry;
	int r;

	while ((r = p->lib.archive_read_next_header(p->archive, &entry)) == ARCHIVE_OK ||
	       r == ARCHIVE_WARN) {
		enum left_out kind;

		*name = p->lib.archive_entry_pathname(entry);
		kind = left_out_as(&p->lib, entry, *name);
		if (kind != NR_LEFT_OUT)
			leave_out(p, kind, *name,
				  kind == HARD_LINK ? p->lib.archive_entry_hardlink(entry)
						    : p->lib.archive_entry_symlink(entry));
		else if (p->lib.archive_entry_filetype(entry) == AE_IFREG)
			return 1;
	}
	if (r != ARCHIVE_EOF)
		damaged(p);
	return 0;
}

/* The holes of a sparse member are not written, the one at its end counts too. */
static int spool_to(struct spool *spool, uint64_t end, const char *label, struct error *err)
{
	uint64_t size = spool_size(spool);

	return end > size ? spool_append(spool, NULL, end - size, label, err) : 0;
}

/* -1 with err: there is no room. */
static int spool_member(struct packed *p, struct blob *blob, struct error *err)
{
	struct spool *spool = blob->spool;
	const void *bytes;
	la_int64_t at;
	size_t n;
	int r;

	while ((r = p->lib.archive_read_data_block(p->archive, &bytes, &n, &at)) == ARCHIVE_OK) {
		if (at > 0 && (uint64_t)at > SPOOL_MAX)
			return error_set(err, "%s: unpacks to more than %llu GiB", p->label,
					 SPOOL_MAX >> 30);
		if (at > 0 && spool_to(spool, blob->spool_from + (uint64_t)at, p->label, err) < 0)
			return -1;
		if (spool_append(spool, bytes, n, p->label, err) < 0)
			return -1;
	}
	if (r != ARCHIVE_EOF)
		damaged(p);
	else if (at > 0 && (uint64_t)at <= SPOOL_MAX &&
		 spool_to(spool, blob->spool_from + (uint64_t)at, p->label, err) < 0)
		return -1;
	blob->spool_end = spool_size(spool);
	return 0;
}

static int spool_members(struct packed *p, struct error *err)
{
	const char *name;

	while (!p->why.text[0] && next_member(p, &name)) {
		struct blob *blob;

		if (p->all.nr == BLOBS_MAX)
			return error_set(err, "%s: holds more than %u files", p->label, BLOBS_MAX);
		blob = group_blob(&p->all, path_clean(name));
		blob->spool = spool_get(p->inputs->spool);
		blob->spool_from = blob->spool_at = spool_size(blob->spool);
		if (spool_member(p, blob, err) < 0)
			return -1;
	}
	if (p->why.text[0] && p->all.nr) {
		struct blob *last = &p->all.blobs[p->all.nr - 1];

		last->late = mem_zalloc(sizeof(*last->late));
		*last->late = p->why;
	}
	return 0;
}

static int read_archive(struct packed *p, struct error *err)
{
	struct archive *a;
	int r = 0;

	if (libarchive_load(&p->lib, p->label, err) < 0)
		return -1;
	a = p->lib.archive_read_new();
	if (!a)
		return error_set(err, "%s: out of memory", p->label);
	p->archive = a;
	if (!p->inputs->spool)
		p->inputs->spool = spool_new();
	p->lib.archive_read_support_format_tar(a);
	p->lib.archive_read_support_format_zip(a);
	p->lib.archive_read_support_format_empty(a);
	if (p->lib.archive_read_open(a, p, NULL, packed_read, NULL) != ARCHIVE_OK)
		damaged(p);
	else
		r = spool_members(p, err);
	p->lib.archive_read_free(a);
	return r;
}

/* Of two members of one name, the later one is what would be extracted. */
static void drop_replaced(struct packed *p)
{
	struct input *all = &p->all;
	size_t nr = 0;

	for (size_t i = 0; i < all->nr; i++) {
		if (i + 1 < all->nr && !strcmp(all->blobs[i].name, all->blobs[i + 1].name)) {
			leave_out(p, REPLACED, all->blobs[i].name, NULL);
			blob_release(&all->blobs[i]);
		} else {
			all->blobs[nr++] = all->blobs[i];
		}
	}
	all->nr = nr;
}

/* "DIR/" of a trace directory takes everything below DIR that no other has. In the order of the names,
 * what is below one directory lies together. */
static void take_trace_dir(struct packed *p, char *const *names, size_t meta, const char *dir,
			   size_t len)
{
	struct blob *blobs = p->all.blobs;
	size_t first = meta, end = meta;
	struct input *in;

	while (first && !strncmp(names[first - 1], dir, len))
		first--;
	while (end < p->all.nr && !strncmp(names[end], dir, len))
		end++;
	in = group_new(p->inputs,
		       len ? mem_printf("%s:%.*s", p->label, (int)len - 1, dir)
			   : mem_strdup(p->label),
		       mem_strdup(path_base_name(p->label)));
	for (size_t i = first; i < end; i++)
		if (blobs[i].name)
			group_move(in, &blobs[i], names[i] + len);
	group_sort(in);
}

/* A trace directory is where a meta.json is. */
static void take_trace_dirs(struct packed *p, char *const *names)
{
	static const char meta[] = "meta.json";

	for (size_t i = 0; i < p->all.nr; i++) {
		size_t len;
		char *dir;

		if (!p->all.blobs[i].name || strcmp(path_base_name(names[i]), meta))
			continue;
		len = strlen(names[i]) - strlen(meta);
		dir = mem_strndup(names[i], len);
		take_trace_dir(p, names, i, dir, len);
		free(dir);
	}
}

/* A file of a per-CPU set, compressed or not. Both forms of one lie together, the plain one first. */
static int take_member(struct packed *p, struct blob *blob, const char *name, const char *last,
		       size_t base_len, struct error *err)
{
	char *group =
		mem_printf("%s:%.*s%.*s", p->label, (int)(last - name), name, (int)base_len, last);
	struct input *in = group_find_set(p->inputs, group);
	size_t plain = set_packed_len(last);
	char *own = plain ? mem_strndup(last, plain) : mem_strdup(last);
	int r = 0;

	if (!in)
		in = group_new(p->inputs, mem_strdup(group), mem_strndup(last, base_len));
	if (!in->nr || strcmp(in->blobs[in->nr - 1].name, own)) {
		if (plain) {
			blob_unpack(blob, group);
			r = packed_spool(p->inputs, blob, group, err);
		}
		group_move(in, blob, own);
	}
	free(own);
	free(group);
	return r;
}

/* Everything else alone; it may be compressed, or an archive, itself. */
static int take_alone(struct packed *p, struct blob *blob, const char *name, int depth,
		      struct error *err)
{
	char *label = mem_printf("%s:%s", p->label, name);
	char *own = mem_strdup(path_base_name(name));
	int r;

	free(blob->name);
	blob->name = own;
	r = packed_add_at(p->inputs, blob, label, true, depth, err);
	free(label);
	return r;
}

static int take_members(struct packed *p, char *const *names, int depth, struct error *err)
{
	int r = 0;

	for (size_t i = 0; i < p->all.nr && !r; i++) {
		struct blob *blob = &p->all.blobs[i];
		const char *last = path_base_name(names[i]);
		size_t len = set_member_len(last);

		if (!blob->name)
			continue;
		r = len ? take_member(p, blob, names[i], last, len, err)
			: take_alone(p, blob, names[i], depth, err);
	}
	return r;
}

/* The sets of this archive, in the order of the CPUs. */
static int take_all(struct packed *p, int depth, struct error *err)
{
	size_t nr;
	char **names;
	int r;

	group_sort(&p->all);
	drop_replaced(p);
	nr = p->all.nr;
	names = mem_zalloc((nr + 1) * sizeof(*names));
	for (size_t i = 0; i < nr; i++)
		names[i] = mem_strdup(p->all.blobs[i].name);
	take_trace_dirs(p, names);
	r = take_members(p, names, depth, err);
	for (size_t i = 0; i < nr; i++)
		free(names[i]);
	free(names);
	return r;
}

/* A group that says why there is nothing in it when it is read. */
static void add_damaged(struct inputs *inputs, const char *label, const struct error *why)
{
	struct input *in = group_new(inputs, mem_strdup(label), mem_strdup(path_base_name(label)));
	struct blob *blob = group_blob(in, mem_strdup(in->base));

	blob->mem = (const uint8_t *)"";
	blob->late = mem_zalloc(sizeof(*blob->late));
	*blob->late = *why;
}

int archive_add(struct inputs *inputs, struct blob *blob, const char *label, int depth,
		struct error *err)
{
	struct packed *p;
	int r;

	if (group_seen(inputs, label))
		return 0;
	p = mem_zalloc(sizeof(*p));
	p->blob = blob;
	p->label = label;
	p->inputs = inputs;
	r = read_archive(p, err);
	blob_close(blob);
	if (!r && p->all.nr)
		r = take_all(p, depth, err);
	else if (!r && p->why.text[0])
		add_damaged(inputs, label, &p->why);
	else if (!r)
		r = error_set(err, "%s: an archive without files", label);
	say_left_out(p);
	input_release(&p->all);
	free(p);
	return r;
}
