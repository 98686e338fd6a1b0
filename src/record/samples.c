/* SPDX-License-Identifier: MIT */
#include "record/samples.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "record/reread.h"
#include "record/when.h"

#define STAT_FIELDS 17
#define STAT_READS  0 /* completed, in /sys/block/DEV/stat */
#define STAT_WRITES 4

/* Of the hundreds: what dirty pages and writeback did. */
static const char *const vmstat_keys[] = { "nr_dirty",
					   "nr_writeback",
					   "nr_dirtied",
					   "nr_written",
					   "nr_dirty_threshold",
					   "nr_dirty_background_threshold",
					   "pgpgin",
					   "pgpgout" };
/* "_bytes" in JSON: the kernel's kB are KiB. */
static const char *const meminfo_keys[] = { "MemFree", "MemAvailable", "Cached", "Dirty",
					    "Writeback" };

#define NR(array) (sizeof(array) / sizeof((array)[0]))

struct line {
	char text[16384];
	size_t used;
};

__attribute__((format(printf, 2, 3))) static void line_add(struct line *line, const char *fmt, ...)
{
	va_list args;
	int n;

	va_start(args, fmt);
	n = vsnprintf(line->text + line->used, sizeof(line->text) - line->used, fmt, args);
	va_end(args);
	if (n > 0)
		line->used += (size_t)n;
	if (line->used >= sizeof(line->text))
		line->used = sizeof(line->text) - 1;
}

static int open_attribute(const struct sysroot *root, uint32_t dev, const char *attribute)
{
	char *path = sysroot_path(root, "/sys/dev/block/" DEV_FMT "/%s", DEV_ARG(dev), attribute);
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	free(path);
	return fd;
}

static int open_proc(const struct sysroot *root, const char *file)
{
	char *path = sysroot_path(root, "/proc/%s", file);
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	free(path);
	return fd;
}

static uint64_t read_size(const struct sampled_device *device, bool *dead)
{
	char text[32];
	bool ok = reread(device->size_fd, text, sizeof(text));

	*dead = !ok && device->size_fd >= 0;
	return ok ? strtoull(text, NULL, 10) : 0;
}

void sampler_open(struct sampler *sampler, const struct sysroot *root,
		  const struct rec_devices *devices, struct outdir *out)
{
	*sampler = (struct sampler){ .out = out };
	sampler->vmstat_fd = open_proc(root, "vmstat");
	sampler->meminfo_fd = open_proc(root, "meminfo");
	sampler->out_fd =
		openat(out->fd, SAMPLE_FILE, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	sampler->devices = mem_zalloc((devices->nr + 1) * sizeof(*sampler->devices));
	for (size_t i = 0; i < devices->nr; i++) {
		const struct rec_device *from = &devices->list[i];
		struct sampled_device *device = &sampler->devices[sampler->nr_devices];
		bool dead;

		if (sampler->nr_devices && !strcmp(device[-1].name, from->name))
			continue; /* another partition of the same disk */
		sampler->nr_devices++;
		snprintf(device->name, sizeof(device->name), "%s", from->name);
		device->stat_fd = open_attribute(root, from->dev, "stat");
		device->size_fd = open_attribute(root, from->dev, "size");
		device->inflight_fd = open_attribute(root, from->dev, "inflight");
		device->had_size = read_size(device, &dead) > 0;
	}
}

static void add_stat(struct line *line, const char *text)
{
	char *end;

	for (int i = 0; i < STAT_FIELDS; i++) {
		unsigned long long value = strtoull(text, &end, 10);

		if (end == text)
			break; /* older kernels have fewer */
		line_add(line, "%s%llu", i ? "," : "", value);
		text = end;
	}
}

static void add_diskstats(struct line *line, const struct sampler *sampler)
{
	const char *comma = "";

	line_add(line, "\"diskstats\":{");
	for (size_t i = 0; i < sampler->nr_devices; i++) {
		char text[512];

		if (!reread(sampler->devices[i].stat_fd, text, sizeof(text)))
			continue;
		line_add(line, "%s\"%s\":[", comma, sampler->devices[i].name);
		add_stat(line, text);
		line_add(line, "]");
		comma = ",";
	}
	line_add(line, "}");
}

/* The value after "KEY" and `after` at the start of a line of text. */
static bool find_value(const char *text, const char *key, char after, unsigned long long *value)
{
	size_t len = strlen(key);

	for (const char *at = text; (at = strstr(at, key)); at += len) {
		if ((at != text && at[-1] != '\n') || at[len] != after)
			continue;
		*value = strtoull(at + len + 1, NULL, 10);
		return true;
	}
	return false;
}

static void add_keys(struct line *line, const char *text, const char *const *keys, size_t nr,
		     bool meminfo)
{
	const char *comma = "";

	line_add(line, ",\"%s\":{", meminfo ? "meminfo" : "vmstat");
	for (size_t i = 0; i < nr; i++) {
		unsigned long long value;

		if (!find_value(text, keys[i], meminfo ? ':' : ' ', &value))
			continue;
		line_add(line, "%s\"%s%s\":%llu", comma, keys[i], meminfo ? "_bytes" : "",
			 meminfo ? value * 1024 : value);
		comma = ",";
	}
	line_add(line, "}");
}

static void fill(struct sampler *sampler, struct line *line)
{
	char text[16384];

	line->used = 0;
	line_add(line, "{\"time_ns\":%llu,", (unsigned long long)when_mono());
	add_diskstats(line, sampler);
	if (!reread(sampler->vmstat_fd, text, sizeof(text)))
		text[0] = '\0';
	add_keys(line, text, vmstat_keys, NR(vmstat_keys), false);
	if (!reread(sampler->meminfo_fd, text, sizeof(text)))
		text[0] = '\0';
	add_keys(line, text, meminfo_keys, NR(meminfo_keys), true);
	line_add(line, "}\n");
}

json_t *sampler_snapshot(struct sampler *sampler)
{
	struct line line;
	json_t *json;

	fill(sampler, &line);
	json = json_loadb(line.text, line.used, 0, NULL);
	return json ? json : json_null();
}

void sampler_take(struct sampler *sampler)
{
	struct line line;
	ssize_t n;

	if (sampler->failed || sampler->out_fd < 0)
		return;
	fill(sampler, &line);
	n = write(sampler->out_fd, line.text, line.used);
	if (n == (ssize_t)line.used) {
		sampler->count++;
		return;
	}
	sampler->failed = true;
	outdir_problem(sampler->out, SAMPLE_FILE, n < 0 ? errno : ENOSPC, line.used);
	/* No half line. */
	if (n > 0 && ftruncate(sampler->out_fd, lseek(sampler->out_fd, 0, SEEK_CUR) - n))
		return;
}

size_t sampler_look(struct sampler *sampler, const char **news)
{
	size_t gone = 0;

	*news = NULL;
	for (size_t i = 0; i < sampler->nr_devices; i++) {
		struct sampled_device *device = &sampler->devices[i];
		bool dead;

		if (!device->gone) {
			/* A detached loop device stays, with size 0; an unplugged disk's sysfs
			 * files answer ENODEV. */
			bool empty = !read_size(device, &dead) && device->had_size;

			device->gone = dead || empty;
			if (device->gone && !*news)
				*news = device->name;
		}
		gone += device->gone;
	}
	return gone;
}

uint64_t sampler_completed(struct sampler *sampler)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < sampler->nr_devices; i++) {
		char text[512], *at = text, *end;

		if (sampler->devices[i].gone ||
		    !reread(sampler->devices[i].stat_fd, text, sizeof(text)))
			continue;
		for (int field = 0; field <= STAT_WRITES; field++, at = end) {
			uint64_t value = strtoull(at, &end, 10);

			if (field == STAT_READS || field == STAT_WRITES)
				sum += value;
		}
	}
	return sum;
}

uint64_t sampler_inflight(struct sampler *sampler)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < sampler->nr_devices; i++) {
		char text[64], *end;

		if (sampler->devices[i].gone ||
		    !reread(sampler->devices[i].inflight_fd, text, sizeof(text)))
			continue;
		sum += strtoull(text, &end, 10);
		sum += strtoull(end, NULL, 10);
	}
	return sum;
}

static void close_if_open(int fd)
{
	if (fd >= 0)
		close(fd);
}

void sampler_release(struct sampler *sampler)
{
	if (!sampler->devices)
		return;
	for (size_t i = 0; i < sampler->nr_devices; i++) {
		close_if_open(sampler->devices[i].stat_fd);
		close_if_open(sampler->devices[i].size_fd);
		close_if_open(sampler->devices[i].inflight_fd);
	}
	close_if_open(sampler->vmstat_fd);
	close_if_open(sampler->meminfo_fd);
	close_if_open(sampler->out_fd);
	free(sampler->devices);
	*sampler = (struct sampler){ 0 };
}
