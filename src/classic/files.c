/* SPDX-License-Identifier: MIT
 *
 * File mode of blkparse: the per-CPU files of each device, merged. A file is read in batches, and the notes of
 * a batch are taken when it is read: that decides from when a name is known, and is kept as it is.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/container.h"
#include "base/limit.h"
#include "base/mem.h"
#include "classic/blkparse.h"
#include "classic/stop.h"
#include "trace/order.h"

#define BUFFER_BYTES \
	(64u * 1024u) /* at first: holds a batch of 512 records without payload twice */

struct file {
	struct ordered next; /* the head of the batch */
	size_t device;       /* index */
	uint32_t cpu;
	int fd;           /* -1: read to its end, or given up */
	uint8_t *buf;     /* owned */
	size_t size, len; /* bytes of it, and read ones */
	size_t used;      /* bytes that the batch and all before it took */
	size_t *batch;    /* owned: where the records of the batch start */
	size_t nr, at;
};

struct files {
	struct blkparse *bp; /* borrowed */
	struct file *list;   /* owned array; stays where it is once `order` points into it */
	size_t nr;
	struct order order;     /* its array is owned */
	bool swap, order_known; /* the byte order of the first record is taken for that of all */
};

/* "vda", "dir/vda" and "vda.blktrace.0" all name the files of vda; a directory in the name stays in force
 * for the names after it. */
struct base {
	char *dir, *name; /* owned; dir may be NULL */
};

static void set_base(struct base *base, const char *input)
{
	const char *slash = strrchr(input, '/'), *name, *suffix;

	if (slash == input + 1 && input[0] == '.')
		slash = NULL; /* "./vda" is a name */
	name = slash ? slash + 1 : input;
	suffix = strstr(name, ".blktrace.");
	if (slash) {
		free(base->dir);
		base->dir = mem_strndup(input, (size_t)(slash - input));
	}
	free(base->name);
	base->name = suffix ? mem_strndup(name, (size_t)(suffix - name)) : mem_strdup(name);
}

static void add_file(struct files *files, size_t device, uint32_t cpu, int fd)
{
	struct file *f;

	files->list = mem_grow(files->list, files->nr, sizeof(*files->list));
	f = &files->list[files->nr++];
	*f = (struct file){ .device = device, .cpu = cpu, .fd = fd, .size = BUFFER_BYTES };
}

static void give_up(struct file *f)
{
	close(f->fd);
	f->fd = -1;
}

/* Bytes from `used` on: at least n, or false. */
static bool have(struct file *f, size_t n)
{
	while (f->len - f->used < n) {
		ssize_t got;

		if (f->fd < 0)
			return false;
		if (f->len == f->size || !f->buf) {
			f->size *= f->buf ? 2 : 1;
			f->buf = mem_resize(f->buf, f->size, 1);
		}
		got = read(f->fd, f->buf + f->len, f->size - f->len);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		f->len += (size_t)got;
	}
	return true;
}

/* Is there another whole record, of a version that is read? The size of its header goes to *size. */
static bool next_record(struct files *files, struct file *f, size_t *size)
{
	const uint8_t *p;
	uint32_t magic;

	if (!have(f, 4))
		return false;
	p = f->buf + f->used;
	if (!files->order_known) {
		files->order_known = true;
		files->swap = (bytes_u32(p, false) & 0xffffff00u) != BLKTRACE_MAGIC;
		if (files->swap && (bytes_u32(p, true) & 0xffffff00u) != BLKTRACE_MAGIC) {
			files->order_known = false;
			return false; /* the classic says nothing here */
		}
	}
	magic = bytes_u32(p, files->swap);
	if ((magic & 0xffffff00u) != BLKTRACE_MAGIC) {
		if (have(f, BLKTRACE_V7_BYTES))
			fprintf(stderr, "Bad magic %x\n", magic);
		return false;
	}
	*size = blktrace_header_size(p, files->swap);
	if (*size == BLKTRACE_V8_BYTES && files->bp->o->classic != CLASSIC_8)
		*size = 0;
	if (!*size) {
		if (have(f, BLKTRACE_V7_BYTES))
			fprintf(stderr, "unsupported trace version %x\n", magic & 0xff);
		return false;
	}
	return have(f, *size) &&
	       have(f, *size + blktrace_payload_bytes(f->buf + f->used, *size, files->swap));
}

/* Reads the next batch and puts the records before it away: false at the end. Records of another CPU count, and
 * a batch of nothing else is the end of the file to the classic. */
static bool read_batch(struct files *files, struct file *f)
{
	struct blkparse *bp = files->bp;
	unsigned int read = 0;
	struct record r;
	size_t size;

	if (f->used) {
		memmove(f->buf, f->buf + f->used, f->len - f->used);
		f->len -= f->used;
		f->used = 0;
	}
	f->nr = f->at = 0;
	while (f->fd >= 0 && read < bp->o->batch) {
		if (!next_record(files, f, &size)) {
			give_up(f);
			break;
		}
		record_decode(&r, f->buf + f->used, size, files->swap, bp->o->classic);
		if (r.h.cpu != f->cpu) {
			fprintf(stderr, "cpu %u trace info has error cpu %u\n", f->cpu, r.h.cpu);
			read++;
		} else if (record_is_note(&r)) {
			blkparse_note(bp, &r);
		} else {
			f->batch = mem_grow(f->batch, f->nr, sizeof(*f->batch));
			f->batch[f->nr++] = f->used;
			read++;
		}
		f->used += size + blktrace_payload_bytes(f->buf + f->used, size, files->swap);
	}
	return f->nr > 0;
}

/* The classic prints it to the buffer that a dump to standard output goes to. */
static void tell_added(struct blkparse *bp, const char *path)
{
	if (bp->dump.writer && !strcmp(bp->o->dump, "-"))
		out_printf(&bp->dump, "Input file %s added\n", path);
	else
		printf("Input file %s added\n", path);
}

/* Opens CPU 0, 1, ... up to the first that is not there, and reads the first batch of each. */
static int open_device(struct files *files, const struct base *base)
{
	struct blkparse *bp = files->bp;
	size_t device = bp->nr_devices;
	uint32_t cpu;

	blkparse_device(bp, 0, base->name);
	for (cpu = 0;; cpu++) {
		char *path = mem_printf("%s%s%s.blktrace.%u", base->dir ? base->dir : "",
					base->dir ? "/" : "", base->name, cpu);
		int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
		off_t size = fd < 0 ? 0 : lseek(fd, 0, SEEK_END);

		if (fd < 0 && errno != ENOENT && errno != ENOTDIR)
			perror(path);
		if (size > 0) {
			lseek(fd, 0, SEEK_SET);
			tell_added(files->bp, path);
			add_file(files, device, cpu, fd);
			read_batch(files, &files->list[files->nr - 1]);
		} else if (fd >= 0) {
			close(fd);
		}
		free(path);
		if (fd < 0)
			break;
	}
	if (cpu)
		return 0;
	fprintf(stderr, "No input files found for %s\n", base->name);
	return 1;
}

static struct file *current(const struct files *files)
{
	return container_of(files->order.at[0], struct file, next);
}

/* The head of the batch, for the order. */
static void set_head(struct files *files, struct file *f)
{
	f->next.time_ns = bytes_u64(f->buf + f->batch[f->at] + BLKTRACE_TIME_AT, files->swap);
}

static void prime(struct files *files)
{
	files->order.at = mem_zalloc((files->nr + 1) * sizeof(*files->order.at));
	for (size_t i = 0; i < files->nr; i++) {
		struct file *f = &files->list[i];

		if (!f->nr)
			continue;
		set_head(files, f);
		order_add(&files->order, &f->next);
	}
	if (files->order.nr)
		files->bp->genesis_ns = files->order.at[0]->time_ns;
}

/* The current file has given its head: makes the next record of all the first. */
static void advance(struct files *files)
{
	struct file *f = current(files);

	f->at++;
	if (f->at == f->nr && stop_asked(files->bp->stop_fd)) {
		files->order.nr = 0;
		return;
	}
	if (f->at == f->nr && !read_batch(files, f)) {
		order_remove_first(&files->order);
		return;
	}
	set_head(files, f);
	order_again(&files->order);
}

static void take_all(struct files *files)
{
	struct blkparse *bp = files->bp;
	struct record r;

	while (files->order.nr) {
		struct file *f = current(files);
		const uint8_t *p = f->buf + f->batch[f->at];
		struct device *device = &bp->devices[f->device];

		record_decode(&r, p, blktrace_header_size(p, files->swap), files->swap,
			      bp->o->classic);
		if (!blkparse_take(bp, device, device_cpu(device, f->cpu), &r))
			break;
		advance(files);
	}
}

static void release(struct files *files, struct base *base)
{
	for (size_t i = 0; i < files->nr; i++) {
		if (files->list[i].fd >= 0)
			close(files->list[i].fd);
		free(files->list[i].buf);
		free(files->list[i].batch);
	}
	free(files->list);
	free(files->order.at);
	free(base->dir);
	free(base->name);
}

int files_run(struct blkparse *bp)
{
	struct files files = { .bp = bp };
	struct base base = { .dir = bp->o->input_dir ? mem_strdup(bp->o->input_dir) : NULL };
	struct rlimit old;
	int status = 0;

	limit_raise_files(&old); /* there is a file per CPU and device */
	for (size_t i = 0; i < bp->o->nr_inputs && !status; i++) {
		set_base(&base, bp->o->inputs[i]);
		status = open_device(&files, &base);
	}
	if (!status) {
		prime(&files);
		take_all(&files);
	}
	release(&files, &base);
	return status;
}
