/* SPDX-License-Identifier: MIT */
#include "record/workers.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/mem.h"
#include "record/jsontext.h"
#include "record/reread.h"
#include "record/threads.h"

#define CHILDREN_MAX 65536 /* bytes: 10,000 kernel threads */
#define OPEN_MOST    1024  /* schedstat files; large machines have a few hundred kworkers */
#define SHARES_MOST  64    /* works of one worker; the rest is booked as unknown */

static bool read_cpu(const struct worker *worker, uint64_t *ns)
{
	char text[64];

	/* Of an ended one it cannot be read. */
	if (!reread(worker->cpu_fd, text, sizeof(text)) || !*text)
		return false;
	*ns = strtoull(text, NULL, 10);
	return true;
}

/* Its name, and through `work` what it works at. */
static bool read_names(const struct workers *workers, struct worker *worker, char work[64])
{
	char *text = sysroot_read(workers->root, 128, "/proc/%d/comm", worker->pid);
	bool is_worker = text && !strncmp(text, "kworker/", 8);

	work[0] = '\0';
	if (is_worker) {
		snprintf(worker->comm, sizeof(worker->comm), "%.*s", (int)thread_name_len(text),
			 text);
		thread_work(text, work);
	}
	free(text);
	return is_worker;
}

/* From `from` on and around: both lists are in order of appearance. */
static struct worker *find(const struct workers *workers, int pid, size_t from)
{
	for (size_t i = 0; i < workers->nr; i++) {
		size_t at = from + i < workers->nr ? from + i : from + i - workers->nr;

		if (workers->list[at].pid == pid && !workers->list[at].ended)
			return &workers->list[at];
	}
	return NULL;
}

/* `fresh`: it was not there at the last look, so all it has done is new. */
static void add(struct workers *workers, int pid, bool fresh)
{
	struct worker worker = { .pid = pid, .cpu_fd = -1 };
	char work[64];

	if (read_names(workers, &worker, work) && workers->nr_open < workers->most_open) {
		char *path = sysroot_path(workers->root, "/proc/%d/schedstat", pid);

		worker.cpu_fd = open(path, O_RDONLY | O_CLOEXEC);
		workers->nr_open += worker.cpu_fd >= 0;
		free(path);
	}
	if (!fresh)
		read_cpu(&worker, &worker.cpu_ns);
	workers->list = mem_grow(workers->list, workers->nr, sizeof(*workers->list));
	workers->list[workers->nr++] = worker;
}

static void find_new(struct workers *workers, bool fresh)
{
	size_t from = 0;
	char *at, *end;

	for (at = workers->text;; at = end) {
		int pid = (int)strtol(at, &end, 10);
		const struct worker *known;

		if (end == at)
			break;
		known = find(workers, pid, from);
		if (!known)
			add(workers, pid, fresh);
		else
			from = (size_t)(known - workers->list) + 1;
	}
}

/* Who is there now; nothing to do where it is who was there before. */
static void read_children(struct workers *workers, bool fresh)
{
	char *before = workers->text;

	workers->text = workers->text_before;
	workers->text_before = before;
	if (reread(workers->children_fd, workers->text, CHILDREN_MAX) &&
	    strcmp(workers->text, workers->text_before))
		find_new(workers, fresh);
}

/* Ended: its number may come again as another's. */
static void forget(struct workers *workers, struct worker *worker)
{
	close(worker->cpu_fd);
	worker->cpu_fd = -1;
	worker->ended = true;
	workers->nr_open--;
}

static void book(struct worker *worker, const char *work, uint64_t ns)
{
	struct worker_share *share = NULL;

	if (worker->nr_shares >= SHARES_MOST)
		work = "";
	for (size_t i = 0; i < worker->nr_shares && !share; i++)
		if (!strcmp(worker->shares[i].work, work))
			share = &worker->shares[i];
	if (!share) {
		worker->shares =
			mem_grow(worker->shares, worker->nr_shares, sizeof(*worker->shares));
		share = &worker->shares[worker->nr_shares++];
		*share = (struct worker_share){ .cpu_ns = 0 };
		snprintf(share->work, sizeof(share->work), "%s", work);
	}
	share->cpu_ns += ns;
}

void workers_open(struct workers *workers, const struct sysroot *root)
{
	char *path = sysroot_path(root, "/proc/2/task/2/children");
	struct rlimit files;

	*workers = (struct workers){ .root = root, .most_open = OPEN_MOST };
	/* The recorder needs files too. */
	if (!getrlimit(RLIMIT_NOFILE, &files) && files.rlim_cur / 2 < OPEN_MOST)
		workers->most_open = files.rlim_cur / 2;
	workers->children_fd = open(path, O_RDONLY | O_CLOEXEC);
	free(path);
	workers->text = mem_zalloc(CHILDREN_MAX);
	workers->text_before = mem_zalloc(CHILDREN_MAX);
	read_children(workers, false);
}

void workers_look(struct workers *workers)
{
	read_children(workers, true);
	for (size_t i = 0; i < workers->nr; i++) {
		struct worker *worker = &workers->list[i];
		char work[64];
		uint64_t now;

		if (worker->cpu_fd < 0)
			continue;
		if (!read_cpu(worker, &now)) {
			forget(workers, worker);
		} else if (now > worker->cpu_ns) {
			read_names(workers, worker, work);
			book(worker, work, now - worker->cpu_ns);
			worker->cpu_ns = now;
		}
	}
}

bool workers_has(const struct workers *workers, int pid)
{
	const struct worker *worker = find(workers, pid, 0);

	return worker && worker->cpu_fd >= 0;
}

void workers_add_json(const struct workers *workers, json_t *list)
{
	for (size_t i = 0; i < workers->nr; i++)
		for (size_t j = 0; j < workers->list[i].nr_shares; j++) {
			const struct worker *worker = &workers->list[i];
			const struct worker_share *share = &worker->shares[j];
			json_t *one = json_object();

			json_object_set_new(one, "pid", json_integer(worker->pid));
			json_object_set_new(one, "comm", json_text(worker->comm));
			json_object_set_new(one, "kernel", json_true());
			json_object_set_new(one, "cpu_ns", json_integer((json_int_t)share->cpu_ns));
			if (share->work[0])
				json_object_set_new(one, "work", json_text(share->work));
			json_object_set_new(one, "sampled", json_true());
			json_array_append_new(list, one);
		}
}

void workers_release(struct workers *workers)
{
	if (!workers->text)
		return;
	for (size_t i = 0; i < workers->nr; i++) {
		if (workers->list[i].cpu_fd >= 0)
			close(workers->list[i].cpu_fd);
		free(workers->list[i].shares);
	}
	if (workers->children_fd >= 0)
		close(workers->children_fd);
	free(workers->list);
	free(workers->text);
	free(workers->text_before);
	*workers = (struct workers){ 0 };
}
