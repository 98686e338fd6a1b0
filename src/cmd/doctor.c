/* SPDX-License-Identifier: MIT */
#include "record/doctor.h"

#include <stdio.h>
#include <string.h>

#include "cmd/command.h"
#include "cmd/help.h"
#include "cmd/option.h"

static const char *text_of(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

static const char *or_na(const char *text)
{
	return text ? text : "n/a";
}

static void print_backends(const json_t *doc)
{
	const json_t *backend;
	size_t i;

	json_array_foreach(json_object_get(doc, "backends"), i, backend)
	{
		bool can = json_is_true(json_object_get(backend, "can_record"));

		printf("%-11s %-4s %s\n", text_of(backend, "name"), can ? "yes" : "no",
		       can ? text_of(backend, "what") : text_of(backend, "why"));
		if (text_of(backend, "fix"))
			printf("%16s try: %s\n", "", text_of(backend, "fix"));
	}
}

static void print_events(const json_t *doc)
{
	const json_t *events = json_object_get(doc, "events"), *event;
	size_t i, present, absent;

	if (!json_is_object(events))
		return;
	present = json_array_size(json_object_get(events, "present"));
	absent = json_array_size(json_object_get(events, "absent"));
	printf("%-11s %zu of the %zu wanted trace events are there%s\n", "events", present,
	       present + absent, absent ? "; what is absent is not needed" : "");
	json_array_foreach(json_object_get(events, "absent"), i, event)
		printf("%16s absent: %s (%s)\n", "", text_of(event, "name"),
		       text_of(event, "what"));
}

static void print_capabilities(const json_t *doc)
{
	const json_t *caps = json_object_get(doc, "capabilities");
	const json_t *memory = json_object_get(doc, "memory_available_bytes");

	if (json_is_object(caps))
		printf("%-11s %s, CAP_SYS_ADMIN %s, CAP_BPF %s, CAP_PERFMON %s\n", "rights",
		       json_is_true(json_object_get(caps, "root")) ? "root" : "not root",
		       json_is_true(json_object_get(caps, "sys_admin")) ? "yes" : "no",
		       json_is_true(json_object_get(caps, "bpf")) ? "yes" : "no",
		       json_is_true(json_object_get(caps, "perfmon")) ? "yes" : "no");
	if (json_is_integer(memory))
		printf("%-11s %lld MiB available (buffers take at most a sixteenth)\n", "memory",
		       (long long)json_integer_value(memory) >> 20);
}

static void print_config(const json_t *doc)
{
	const json_t *config = json_object_get(doc, "config"), *value;
	const json_t *blktrace = json_object_get(doc, "blktrace");
	const char *key;

	printf("%-11s %s\n", "blktrace",
	       json_is_null(blktrace)   ? "n/a: there is no disk to tell by"
	       : json_is_true(blktrace) ? "in this kernel (CONFIG_BLK_DEV_IO_TRACE)"
					: "not in this kernel (CONFIG_BLK_DEV_IO_TRACE)");
	json_object_foreach((json_t *)config, key,
			    value) if (!strcmp(json_string_value(value), "n"))
		printf("%-11s %s is off\n", "config", key);
}

static void print_tracers(const json_t *doc)
{
	const json_t *tracers = json_object_get(doc, "tracers"), *one;
	size_t i;

	if (!json_array_size(tracers))
		printf("%-11s none is running\n", "tracers");
	json_array_foreach(tracers, i, one)
		printf("%-11s running, somebody else's or another blklab's: %s %s\n", "tracers",
		       text_of(one, "what"), or_na(text_of(one, "name")));
}

static void print_machine(const json_t *doc)
{
	const json_t *bpf = json_object_get(doc, "bpf");
	const json_t *tracer = json_object_get(doc, "blk_tracer");

	printf("%-11s %s\n", "kernel", or_na(text_of(doc, "kernel")));
	printf("%-11s %s\n", "lockdown",
	       text_of(doc, "lockdown") ? text_of(doc, "lockdown") : "none (not in this kernel)");
	printf("%-11s %s\n", "mounted",
	       json_is_true(json_object_get(doc, "tracefs_mounted"))
		       ? "tracefs is mounted"
		       : "tracefs is not mounted (record mounts it while it runs)");
	printf("%-11s %s\n", "",
	       json_is_true(json_object_get(doc, "debugfs_mounted"))
		       ? "debugfs is mounted"
		       : "debugfs is not mounted (the relay backend mounts it while it runs)");
	print_capabilities(doc);
	print_config(doc);
	printf("%-11s %s\n", "blk tracer",
	       json_is_null(tracer)   ? "n/a"
	       : json_is_true(tracer) ? "in this kernel (not used)"
				      : "not in this kernel (not needed)");
	printf("%-11s %s%s\n", "bpf",
	       text_of(bpf, "why") ? "not possible: " : "possible (not used yet)",
	       text_of(bpf, "why") ? text_of(bpf, "why") : "");
}

static void print_leftovers(const json_t *doc)
{
	const json_t *leftovers = json_object_get(doc, "leftovers"), *one;
	size_t i;

	if (json_is_null(leftovers)) {
		printf("%-11s not looked for: %s\n", "leftovers",
		       or_na(text_of(doc, "leftovers_why")));
		return;
	}
	if (!json_array_size(leftovers))
		printf("%-11s none\n", "leftovers");
	json_array_foreach(leftovers, i, one)
	{
		const char *what = strcmp(or_na(text_of(one, "kind")), "trace") ? "instances/"
										: "the trace of ";

		if (json_is_true(json_object_get(one, "removed")))
			printf("%-11s removed %s%s of a killed recording\n", "leftovers", what,
			       text_of(one, "name"));
		else
			printf("%-11s cannot remove %s%s: %s\n", "leftovers", what,
			       text_of(one, "name"), or_na(text_of(one, "why")));
	}
}

static void print_mounts(const json_t *device)
{
	const json_t *mount;
	size_t i;

	json_array_foreach(json_object_get(device, "mounts"), i, mount)
		printf("%16s mounted on %s (%s)\n", "", or_na(text_of(mount, "dir")),
		       or_na(text_of(mount, "fstype")));
}

static void print_device(const json_t *device)
{
	const json_t *part = json_object_get(device, "partition");
	const json_t *fua = json_object_get(device, "fua");
	const json_t *loop = json_object_get(device, "loop");

	printf("\n%-11s %s (%s), %s-based, %s\n", "device", text_of(device, "name"),
	       text_of(device, "device"), text_of(device, "kind"), text_of(device, "why"));
	if (json_is_object(part))
		printf("%16s only partition %s, sectors %lld + %lld\n", "", text_of(part, "name"),
		       (long long)json_integer_value(json_object_get(part, "start_sector")),
		       (long long)json_integer_value(json_object_get(part, "sectors")));
	printf("%16s scheduler %s, nr_requests %s, max_sectors_kb %s\n", "",
	       or_na(text_of(device, "scheduler")), or_na(text_of(device, "nr_requests")),
	       or_na(text_of(device, "max_sectors_kb")));
	printf("%16s write cache %s, fua %s, wbt_lat_usec %s\n", "",
	       or_na(text_of(device, "write_cache")),
	       json_is_null(fua)   ? "n/a"
	       : json_is_true(fua) ? "yes"
				   : "no",
	       or_na(text_of(device, "wbt_lat_usec")));
	if (json_is_object(loop))
		printf("%16s loop device on %s, %s\n", "", or_na(text_of(loop, "backing_file")),
		       json_is_true(json_object_get(loop, "direct_io"))
			       ? "direct I/O"
			       : "buffered: measures the page cache (losetup --direct-io=on)");
	print_mounts(device);
}

static void print_text(const json_t *doc)
{
	const json_t *device;
	size_t i;

	printf("%s\n\n", json_is_true(json_object_get(doc, "can_record"))
				 ? "blklab can record here."
				 : "blklab cannot record here (traces from elsewhere can still be "
				   "reported).");
	print_backends(doc);
	print_events(doc);
	print_machine(doc);
	print_tracers(doc);
	print_leftovers(doc);
	json_array_foreach(json_object_get(doc, "devices"), i, device) print_device(device);
}

static int run(int argc, char **argv, const struct sysroot *root, struct error *err)
{
	static const struct option longs[] = {
		{ "json", no_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	bool json = false, can;
	json_t *doc;
	int c;

	opterr = 0;
	optind = 0;
	while ((c = getopt_long(argc, argv, ":h", longs, NULL)) != -1) {
		if (c == 'j') {
			json = true;
		} else if (c == 'h') {
			help_print("doctor");
			return STATUS_DONE;
		} else {
			return option_error(err, c, argv, longs);
		}
	}
	if (argc - optind > 1)
		return error_usage(err, "one device at most (see blklab help doctor)");
	doc = doctor_json(root, optind < argc ? argv[optind] : NULL, err);
	if (!doc)
		return -1;
	if (json) {
		json_dumpf(doc, stdout, JSON_INDENT(2));
		putchar('\n');
	} else {
		print_text(doc);
	}
	can = json_is_true(json_object_get(doc, "can_record"));
	json_decref(doc);
	return can ? STATUS_DONE : STATUS_FAILED;
}

const struct command cmd_doctor = {
	.name = "doctor",
	.summary = "say what can be recorded here, and if not why; remove leftovers",
	.run = run,
};
