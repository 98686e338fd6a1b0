/* SPDX-License-Identifier: MIT */
#include "record/threads.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "record/jsontext.h"
#include "record/workers.h"

#define PF_KTHREAD  0x00200000u /* in field 9 of /proc/PID/stat */
#define MAX_THREADS 200000

size_t thread_name_len(const char *text)
{
	return strncmp(text, "kworker/", 8) ? strcspn(text, "\n") : strcspn(text, "+-\n");
}

void thread_work(const char *text, char work[64])
{
	const char *mark = text + thread_name_len(text);

	work[0] = '\0';
	if (*mark == '+' || *mark == '-')
		snprintf(work, 64, "%.*s", (int)strcspn(mark + 1, "\n"), mark + 1);
}

/* Fields after the name in /proc/PID/stat: 9 = flags, 14 and 15 = user and system ticks, 22 = start. */
static bool parse_stat(struct thread *thread, char *text)
{
	char *open = strchr(text, '('), *close = strrchr(text, ')');
	unsigned long long flags = 0, ticks = 0;
	char *at = close;

	if (!open || !close || close < open)
		return false;
	for (int field = 3; (at = strchr(at, ' ')); field++) {
		at++;
		if (field == 9)
			flags = strtoull(at, NULL, 10);
		else if (field == 14 || field == 15)
			ticks += strtoull(at, NULL, 10);
		else if (field == 22)
			thread->started = strtoull(at, NULL, 10);
	}
	*close = '\0';
	snprintf(thread->comm, sizeof(thread->comm), "%s", open + 1);
	for (char *p = thread->comm; *p; p++) /* a name may hold anything, also an end of a line */
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			*p = '?';
	thread->kernel = flags & PF_KTHREAD;
	thread->cpu_ns = ticks * (1000000000ull / (unsigned long long)sysconf(_SC_CLK_TCK));
	return true;
}

static void add_thread(struct threads *threads, const struct sysroot *root, int tgid, int tid)
{
	struct thread thread = { .tid = tid, .tgid = tgid };
	char *text = sysroot_read(root, 4096, "/proc/%d/task/%d/stat", tgid, tid);
	bool known = text && parse_stat(&thread, text);

	free(text);
	if (!known)
		return; /* it has ended meanwhile */
	if (thread.kernel) {
		/* In ns where the kernel keeps them (CONFIG_SCHED_INFO). */
		text = sysroot_read(root, 256, "/proc/%d/schedstat", tgid);
		if (text)
			thread.cpu_ns = strtoull(text, NULL, 10);
		free(text);
		thread.comm[thread_name_len(thread.comm)] = '\0';
	}
	threads->list = mem_grow(threads->list, threads->nr, sizeof(*threads->list));
	threads->list[threads->nr++] = thread;
}

static void scan_process(struct threads *threads, const struct sysroot *root, int tgid)
{
	char *path = sysroot_path(root, "/proc/%d/task", tgid);
	DIR *dir = opendir(path);
	struct dirent *entry;

	while (dir && threads->nr < MAX_THREADS && (entry = readdir(dir)))
		if (isdigit((unsigned char)entry->d_name[0]))
			add_thread(threads, root, tgid, atoi(entry->d_name));
	if (dir)
		closedir(dir);
	free(path);
}

static int by_tid(const void *left, const void *right)
{
	const struct thread *a = left, *b = right;

	return (a->tid > b->tid) - (a->tid < b->tid);
}

void threads_scan(struct threads *threads, const struct sysroot *root)
{
	char *path = sysroot_path(root, "/proc");
	DIR *dir = opendir(path);
	struct dirent *entry;

	*threads = (struct threads){ 0 };
	while (dir && (entry = readdir(dir)))
		if (isdigit((unsigned char)entry->d_name[0]))
			scan_process(threads, root, atoi(entry->d_name));
	if (dir)
		closedir(dir);
	free(path);
	if (threads->nr)
		qsort(threads->list, threads->nr, sizeof(*threads->list), by_tid);
}

void threads_release(struct threads *threads)
{
	free(threads->list);
	*threads = (struct threads){ 0 };
}

static const struct thread *find_thread(const struct threads *threads, int tid)
{
	struct thread key = { .tid = tid };

	return threads->nr ? bsearch(&key, threads->list, threads->nr, sizeof(key), by_tid) : NULL;
}

static void add_grown(json_t *list, const struct thread *thread, uint64_t ns)
{
	json_t *one = json_object();

	json_object_set_new(one, "pid", json_integer(thread->tid));
	json_object_set_new(one, "comm", json_text(thread->comm));
	json_object_set_new(one, "kernel", json_true());
	json_object_set_new(one, "cpu_ns", json_integer((json_int_t)ns));
	json_array_append_new(list, one);
}

static int by_cpu(const void *left, const void *right)
{
	json_int_t a = json_integer_value(json_object_get(*(json_t *const *)left, "cpu_ns"));
	json_int_t b = json_integer_value(json_object_get(*(json_t *const *)right, "cpu_ns"));

	return (a < b) - (a > b);
}

/* Takes the list. */
static json_t *largest_first(json_t *list)
{
	size_t nr = json_array_size(list);
	json_t **order = mem_zalloc((nr + 1) * sizeof(*order)), *sorted = json_array();

	for (size_t i = 0; i < nr; i++)
		order[i] = json_array_get(list, i);
	if (nr)
		qsort(order, nr, sizeof(*order), by_cpu);
	for (size_t i = 0; i < nr; i++)
		json_array_append(sorted, order[i]);
	json_decref(list);
	free(order);
	return sorted;
}

json_t *threads_grown_json(const struct threads *start, const struct threads *end,
			   const struct workers *workers)
{
	json_t *list = json_array();

	workers_add_json(workers, list);
	for (size_t i = 0; i < end->nr; i++) {
		const struct thread *now = &end->list[i];
		const struct thread *then = find_thread(start, now->tid);
		uint64_t before = then && then->started == now->started ? then->cpu_ns : 0;

		if (now->kernel && now->cpu_ns > before && !workers_has(workers, now->tid))
			add_grown(list, now, now->cpu_ns - before);
	}
	return largest_first(list);
}

/* A file in memory. */
struct names_file {
	FILE *stream;
	char *text;
	size_t len;
};

static bool names_file_open(struct names_file *file)
{
	*file = (struct names_file){ 0 };
	file->stream = open_memstream(&file->text, &file->len);
	return file->stream != NULL;
}

static void names_file_write(struct names_file *file, struct outdir *out, const char *name)
{
	fclose(file->stream);
	outdir_write(out, name, file->text, file->len);
	free(file->text);
}

/* Threads that the kernel's list knows and the last walk does not: they have ended. */
static void add_kernels_list(FILE *stream, const struct threads *end, const char *text)
{
	for (const char *line = text; line && *line; line = strchr(line, '\n')) {
		size_t len;

		line += *line == '\n';
		len = strcspn(line, "\n");
		if (isdigit((unsigned char)*line) && !find_thread(end, atoi(line)))
			fprintf(stream, "%.*s\n", (int)len, line);
	}
}

static bool list_has(const char *text, int tid)
{
	char key[32];
	size_t len = (size_t)snprintf(key, sizeof(key), "%d ", tid);

	for (const char *at = text; at && (at = strstr(at, key)); at += len)
		if (at == text || at[-1] == '\n')
			return true;
	return false;
}

static void write_cmdlines(const struct threads *start, const struct threads *end,
			   const struct sysroot *root, struct outdir *out)
{
	char *kernels = sysroot_read(root, 8 << 20, "/sys/kernel/tracing/saved_cmdlines");
	struct names_file file;

	if (names_file_open(&file)) {
		for (size_t i = 0; i < end->nr; i++)
			fprintf(file.stream, "%d %s\n", end->list[i].tid, end->list[i].comm);
		add_kernels_list(file.stream, end, kernels);
		for (size_t i = 0; i < start->nr; i++)
			if (!find_thread(end, start->list[i].tid) &&
			    !list_has(kernels, start->list[i].tid))
				fprintf(file.stream, "%d %s\n", start->list[i].tid,
					start->list[i].comm);
		names_file_write(&file, out, "saved_cmdlines");
	}
	free(kernels);
}

static void write_tgids(const struct threads *start, const struct threads *end, struct outdir *out)
{
	const struct threads *walks[] = { start, end };
	struct names_file file;

	if (!names_file_open(&file))
		return;
	for (int w = 0; w < 2; w++)
		for (size_t i = 0; i < walks[w]->nr; i++) {
			const struct thread *thread = &walks[w]->list[i];

			if (thread->tid == thread->tgid || (!w && find_thread(end, thread->tid)))
				continue;
			fprintf(file.stream, "%d %d\n", thread->tid, thread->tgid);
		}
	names_file_write(&file, out, "saved_tgids");
}

void threads_write_names(const struct threads *start, const struct threads *end,
			 const struct sysroot *root, struct outdir *out)
{
	write_cmdlines(start, end, root, out);
	write_tgids(start, end, out);
}
