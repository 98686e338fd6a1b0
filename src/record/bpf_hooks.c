/* SPDX-License-Identifier: MIT */
#include "record/bpf_hooks.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/membarrier.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <block_bpf.skel.h>

#include "base/mem.h"
#include "record/bpf_btf.h"

/* One row per program, whose name is that of its tracepoint. */
static const struct hook {
	const char *name;
	const char *system;
	const char *args; /* kernel_has_tracepoint */
	bool needed;      /* without it there are no requests to speak of */
	bool is_plug;
	bool is_task;
} rows[] = {
	{ "block_bio_queue", "block", "b", .needed = true },
	{ "block_getrq", "block", "b" },
	{ "block_bio_backmerge", "block", "b" },
	{ "block_bio_frontmerge", "block", "b" },
	{ "block_rq_insert", "block", "r" },
	{ "block_rq_issue", "block", "r", .needed = true },
	{ "block_rq_complete", "block", "rsn", .needed = true },
	{ "block_rq_requeue", "block", "r" },
	{ "block_rq_merge", "block", "r" },
	{ "block_rq_error", "block", "rsn" },
	{ "block_bio_complete", "block", "qb" },
	{ "block_split", "block", "bn" },
	{ "block_bio_remap", "block", "bnn" },
	{ "block_rq_remap", "block", "rnn" },
	{ "block_plug", "block", "q", .is_plug = true },
	{ "block_unplug", "block", "qnn", .is_plug = true },
	{ "disk_zone_wplug_add_bio", "block", "qnnn" },
	{ "blk_zone_wplug_bio", "block", "qnnn" },
	{ "blk_zone_append_update_request_bio", "block", "r" },
	{ "sched_process_fork", "sched", "tt", .is_task = true },
	{ "sched_process_exec", "sched", "t", .is_task = true },
	{ "task_rename", "task", "tp", .is_task = true },
};
#define NR_ROWS (sizeof(rows) / sizeof(rows[0]))
_Static_assert(NR_ROWS <= BPF_HOOKS_MAX, "a link for each");

static int say_nothing(enum libbpf_print_level level, const char *format, va_list args)
{
	return 0;
}

/* The kernel has a table of types, and the enums are in it. */
static struct btf *open_btf(struct bpf_hooks *hooks, struct error *err)
{
	struct btf *btf = btf__load_vmlinux_btf();

	if (!btf) {
		error_errno(
			err, errno,
			"this kernel describes no types of its own (CONFIG_DEBUG_INFO_BTF), which "
			"libbpf needs");
		return NULL;
	}
	hooks->ops = kernel_enum(btf, "req_op", "REQ_OP_");
	if (!hooks->ops) /* before 6.0 */
		hooks->ops = kernel_enum(btf, "req_opf", "REQ_OP_");
	hooks->flags = kernel_enum(btf, "req_flag_bits", "__REQ_");
	if (hooks->ops && hooks->flags)
		return btf;
	error_set(err, "this kernel's types (BTF) do not tell the operations of the block layer");
	btf__free(btf);
	return NULL;
}

static struct bpf_program *program_of(const struct bpf_hooks *hooks, const struct hook *row)
{
	return bpf_object__find_program_by_name(hooks->skeleton->obj, row->name);
}

/* Which programs to load: those whose tracepoint is there, with arguments as expected. */
static int choose_hooks(struct bpf_hooks *hooks, const struct btf *btf, bool no_plug,
			struct error *err)
{
	hooks->events = json_array();
	hooks->events_absent = json_array();
	for (size_t i = 0; i < NR_ROWS; i++) {
		const struct hook *hook = &rows[i];
		bool has = kernel_has_tracepoint(btf, hook->name, hook->args);
		bool wanted = has && !(hook->is_plug && no_plug);
		json_t *name = json_sprintf("%s/%s", hook->system, hook->name);

		if (!has && hook->needed) {
			json_decref(name);
			return error_set(err,
					 "this kernel's tracepoint %s is missing or takes other "
					 "arguments than the ones known",
					 hook->name);
		}
		bpf_program__set_autoload(program_of(hooks, hook), wanted);
		if (wanted)
			json_array_append_new(hooks->events,
					      json_pack("{s:O, s:n}", "name", name, "filter"));
		else if (!has)
			json_array_append(hooks->events_absent, name);
		json_decref(name);
	}
	return 0;
}

static int fill_ranges(struct bpf_config *config, const struct rec_devices *devices,
		       struct error *err)
{
	if (devices->nr > BPF_RANGES_MAX)
		return error_set(err, "%zu devices are more than the bpf backend can record (%d)",
				 devices->nr, BPF_RANGES_MAX);
	for (size_t i = 0; i < devices->nr; i++) {
		const struct rec_device *device = &devices->list[i];

		config->ranges[i] =
			(struct bpf_range){ .dev = device->dev,
					    .part_dev = device->part_dev,
					    .start = device->part_start,
					    .end = device->part_start + device->part_sectors };
	}
	config->nr_ranges = (uint32_t)devices->nr;
	return 0;
}

/* Nothing is held: no memory for it. */
static void shrink_held(struct bpf_hooks *hooks)
{
	bpf_map__set_max_entries(hooks->skeleton->maps.held_bios, 1);
	bpf_map__set_max_entries(hooks->skeleton->maps.held_requests, 1);
	bpf_map__set_max_entries(hooks->skeleton->maps.flushes, 1);
}

/* They are constants of the program from now on. */
static int configure(struct bpf_hooks *hooks, const struct btf *btf,
		     const struct rec_devices *devices, const struct record_filter *filter,
		     struct error *err)
{
	struct bpf_config *config = mem_zalloc(sizeof(*config));
	int result = fill_ranges(config, devices, err);

	kernel_fill_config(btf, hooks->ops, hooks->flags, config);
	config->slower_ns = filter->slower_ns;
	config->tgid = filter->pid;
	config->cgroup = filter->cgroup;
	config->classes = filter->classes ? filter->classes : UINT32_MAX;
	config->hidden_paths = devices->hidden_paths;
	config->hold = filter->slower_ns || filter->pid || filter->cgroup;
	/* The skeleton's copy is const for whoever reads it, and is to be written before loading. */
	memcpy((void *)&hooks->skeleton->rodata->config, config, sizeof(*config));
	free(config);
	return result;
}

int bpf_hooks_load(struct bpf_hooks *hooks, const struct rec_devices *devices,
		   const struct record_filter *filter, bool no_plug, struct error *err)
{
	struct btf *btf;
	int result;

	libbpf_set_print(say_nothing);
	hooks->skeleton = block_bpf__open();
	if (!hooks->skeleton)
		return error_errno(err, errno, "cannot open the programs for the kernel");
	btf = open_btf(hooks, err);
	if (!btf)
		return -1;
	result = choose_hooks(hooks, btf, no_plug, err);
	if (!result)
		result = configure(hooks, btf, devices, filter, err);
	btf__free(btf);
	if (result)
		return -1;
	bpf_map__set_max_entries(hooks->skeleton->maps.rings, (uint32_t)bpf_hooks_nr_cpus());
	if (!hooks->skeleton->rodata->config.hold)
		shrink_held(hooks);
	result = block_bpf__load(hooks->skeleton);
	return result ? error_errno(err, -result,
				    "the kernel refuses the programs for its block tracepoints")
		      : 0;
}

int bpf_hooks_nr_cpus(void)
{
	int nr = libbpf_num_possible_cpus();

	return nr > 0 ? nr : 1;
}

int bpf_hooks_set_ring(struct bpf_hooks *hooks, int cpu, int ring_fd, struct error *err)
{
	uint32_t key = (uint32_t)cpu;
	int failed = bpf_map_update_elem(bpf_map__fd(hooks->skeleton->maps.rings), &key, &ring_fd,
					 BPF_ANY);

	return failed ? error_errno(err, -failed, "cannot give CPU %d its ring buffer", cpu) : 0;
}

int bpf_hooks_attach(struct bpf_hooks *hooks, struct error *err)
{
	for (size_t i = 0; i < NR_ROWS; i++) {
		struct bpf_program *program = program_of(hooks, &rows[i]);

		if (!bpf_program__autoload(program))
			continue;
		hooks->links[i] = bpf_program__attach(program);
		if (!hooks->links[i])
			return error_errno(err, errno, "cannot attach to the tracepoint %s",
					   rows[i].name);
	}
	return 0;
}

static void detach(struct bpf_hooks *hooks, size_t i)
{
	bpf_link__destroy(hooks->links[i]);
	hooks->links[i] = NULL;
}

void bpf_hooks_detach_plugs(struct bpf_hooks *hooks)
{
	for (size_t i = 0; i < NR_ROWS; i++)
		if (rows[i].is_plug)
			detach(hooks, i);
}

/* Runs that the kernel left out: on a CPU where the same program was just running, interrupted. */
static uint64_t runs_missed(const struct bpf_hooks *hooks)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < NR_ROWS; i++) {
		struct bpf_prog_info info = { 0 };
		uint32_t len = sizeof(info);
		int fd = bpf_program__fd(program_of(hooks, &rows[i]));

		if (fd >= 0 && !rows[i].is_task && !bpf_obj_get_info_by_fd(fd, &info, &len))
			sum += info.recursion_misses;
	}
	return sum;
}

void bpf_hooks_detach(struct bpf_hooks *hooks)
{
	for (size_t i = 0; i < NR_ROWS; i++)
		detach(hooks, i);
	/* Waits until every CPU is out of what it may have been in. */
	syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
	hooks->runs_missed = runs_missed(hooks);
}

struct bpf_cpu *bpf_hooks_counters(const struct bpf_hooks *hooks)
{
	struct bpf_cpu *counters = mem_zalloc((size_t)bpf_hooks_nr_cpus() * sizeof(*counters));
	uint32_t zero = 0;

	if (!bpf_map_lookup_elem(bpf_map__fd(hooks->skeleton->maps.cpus), &zero, counters))
		return counters;
	free(counters);
	return NULL;
}

void bpf_hooks_each_held(const struct bpf_hooks *hooks, uint64_t now_ns,
			 void (*take)(void *arg, const struct bpf_rec *records, uint32_t nr),
			 void *arg)
{
	const struct bpf_config *config = (const void *)&hooks->skeleton->rodata->config;
	int bios = bpf_map__fd(hooks->skeleton->maps.held_bios);
	int requests = bpf_map__fd(hooks->skeleton->maps.held_requests);
	struct bpf_held_bio bio;
	struct bpf_held_rq rq;
	uint64_t key, *last = NULL;

	if (!config->hold)
		return;
	for (; !bpf_map_get_next_key(bios, last, &key); last = &key)
		if (!bpf_map_lookup_elem(bios, &key, &bio) && bio.queued &&
		    now_ns - bio.first_ns >= config->slower_ns && bio.nr <= BPF_HELD_BIO)
			take(arg, bio.at, bio.nr);
	/* Whose bios a request has is known in the kernel only. */
	if (config->tgid || config->cgroup)
		return;
	for (last = NULL; !bpf_map_get_next_key(requests, last, &key); last = &key)
		if (!bpf_map_lookup_elem(requests, &key, &rq) &&
		    now_ns - rq.first_ns >= config->slower_ns && rq.nr <= BPF_HELD_RQ)
			take(arg, rq.at, rq.nr);
}

void bpf_hooks_release(struct bpf_hooks *hooks)
{
	for (size_t i = 0; i < NR_ROWS; i++)
		detach(hooks, i);
	block_bpf__destroy(hooks->skeleton);
	hooks->skeleton = NULL;
	json_decref(hooks->events);
	json_decref(hooks->events_absent);
	json_decref(hooks->ops);
	json_decref(hooks->flags);
	hooks->events = hooks->events_absent = hooks->ops = hooks->flags = NULL;
}
