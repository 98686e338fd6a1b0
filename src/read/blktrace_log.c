/* SPDX-License-Identifier: MIT
 *
 * What blktrace prints when it ends: doc/formats/blktrace_log.md. Its only use is the number of
 * dropped events, which the binary files do not carry.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/format.h"

#define LOG_MAX    (4u << 20)
#define HEAD_BYTES 4096u

struct log {
	bool told;
	uint64_t totals;  /* dropped, summed over the devices' "Total:" lines */
	uint64_t overall; /* "You have N ... dropped events" */
	unsigned int devices;
	char names[4][32]; /* of the first devices */
};

static const char *skip_blanks(const char *p)
{
	while (*p == ' ' || *p == '\t')
		p++;
	return p;
}

/* "=== nullb0 ===", to the line's end. */
static bool is_device_line(const char *line, size_t len)
{
	while (len && (line[len - 1] == '\r' || line[len - 1] == ' '))
		len--;
	return len > 8 && !memcmp(line, "=== ", 4) && !memcmp(line + len - 4, " ===", 4);
}

/* "CPU  0:   144926 events,   6794 KiB data" */
static bool is_cpu_line(const char *line)
{
	unsigned int cpu;
	unsigned long long events, kib;
	int end = 0;

	line = skip_blanks(line);
	return sscanf(line, "CPU %u: %llu events, %llu KiB data%n", &cpu, &events, &kib, &end) ==
		       3 &&
	       end;
}

static void take_line(struct log *log, const char *line, size_t len)
{
	unsigned long long events, n;

	line = skip_blanks(line);
	if (is_device_line(line, len)) {
		if (log->devices < sizeof(log->names) / sizeof(*log->names))
			sscanf(line, "=== %31s", log->names[log->devices]);
		log->devices++;
	} else if (sscanf(line, "Total: %llu events (dropped %llu)", &events, &n) == 2) {
		log->told = true;
		log->totals += n;
	} else if (sscanf(line, "You have %llu (", &n) == 1 &&
		   memmem(line, len, "dropped events", 14)) {
		log->told = true;
		log->overall = n;
	}
}

/* Calls take for each line, NUL-terminated and without its newline. */
static void each_line(char *text, struct log *log)
{
	while (*text) {
		char *end = strchrnul(text, '\n');
		bool last = !*end;

		*end = 0;
		take_line(log, skip_blanks(text), strlen(skip_blanks(text)));
		if (last)
			break;
		text = end + 1;
	}
}

/* A device's line and right below it a CPU's. */
static bool looks_like_log(char *text)
{
	bool after_device = false;

	while (*text) {
		char *end = strchrnul(text, '\n');
		bool last = !*end;

		*end = 0;
		if (after_device && is_cpu_line(text))
			return true;
		after_device = is_device_line(skip_blanks(text), strlen(skip_blanks(text)));
		if (last)
			break;
		text = end + 1;
	}
	return false;
}

static int log_probe(struct input *in, struct error *err)
{
	char text[HEAD_BYTES + 1];
	const uint8_t *head;
	size_t len;

	if (in->nr != 1)
		return 0;
	len = blob_head(&in->blobs[0], HEAD_BYTES, &head, err);
	if (!len || memchr(head, 0, len))
		return 0;
	memcpy(text, head, len);
	text[len] = 0;
	return looks_like_log(text) ? 90 : 0;
}

static int log_open(struct input *in, struct facts *facts, struct sources *sources,
		    struct error *err)
{
	struct log log = { 0 };
	struct input_info *info;
	size_t i;
	char *text = blob_text(&in->blobs[0], LOG_MAX, NULL, err);

	blob_close(&in->blobs[0]);
	if (!text)
		return -1;
	each_line(text, &log);
	free(text);
	i = facts_input(facts, in->label, "blktrace-log");
	info = &facts->inputs[i];
	snprintf(info->dialect, sizeof(info->dialect), "%u device%s", log.devices,
		 log.devices == 1 ? "" : "s");
	if (!log.told) {
		facts_note(facts, "%s: tells no number of dropped events (it was cut?)", in->label);
		return 0;
	}
	facts->dropped_told = true;
	memcpy(info->tells_drops_of, log.names, sizeof(log.names));
	/* Both say the same where the log is whole. */
	facts->dropped += log.totals > log.overall ? log.totals : log.overall;
	return 0;
}

const struct format format_blktrace_log = {
	.name = "blktrace-log",
	.what = "what blktrace prints at its end",
	.facts_only = true,
	.probe = log_probe,
	.open = log_open,
};
