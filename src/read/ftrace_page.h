/* SPDX-License-Identifier: MIT
 *
 * The pages of the kernel's trace ring buffer, as read from per_cpu/cpuN/trace_pipe_raw. Layout and
 * its quirks: doc/formats/ftrace_page.md.
 */
#ifndef BLKLAB_READ_FTRACE_PAGE_H
#define BLKLAB_READ_FTRACE_PAGE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "trace/facts.h"
#include "trace/input.h"
#include "trace/source.h"

/* How to read the pages of one trace: page layout and every event's fields, from the stored texts.
 * Shared by the sources of all CPUs, counted. */
struct page_layout;

/* What the recording machine was. */
struct page_machine {
	bool little_endian;
	uint32_t long_size; /* 4 or 8 */
	uint32_t page_size; /* bytes; where there is no header_page text */
};

/* Reads formats/header_page and formats/SYSTEM/EVENT of the group; NULL with err. */
struct page_layout *page_layout_new(struct input *in, const struct page_machine *machine,
				    struct error *err);
void page_layout_put(struct page_layout *layout);

/* What a source knows beside its bytes. */
struct page_cpu {
	uint32_t cpu;
	uint64_t start_ns; /* of the recording: a loss before the first event begins here */
	uint64_t
		ring_lost; /* lost events that the ring's statistics told; already in facts->dropped */
	uint64_t write_lost; /* bytes that the recorder could not write */
	uint64_t
		stored_bytes; /* what it wrote, 0 = unknown: where less is there, pages are missing */
	size_t input;         /* index in facts->inputs, whose event count is kept up to date */
};

/* A source over one cpuN.pages; it takes a share of the layout and borrows blob and facts. Forks and
 * execs are no events, they go to facts->names. Where the page headers tell of more lost events than
 * ring_lost, the rest is added to facts->dropped: facts->dropped is the whole, stats.lost what the
 * page headers told. */
struct source *page_source_new(struct page_layout *layout, struct blob *blob,
			       const struct page_cpu *cpu, struct facts *facts);

/* Machine and CPU of a trace directory, for the dump and the reader alike: "cpu3.pages" -> 3, or
 * -1. */
int page_blob_cpu(const char *name);

/* A debugging aid, used by the test that compares with the kernel's own text: one line per event of
 * every cpuN.pages in the group, CPU by CPU, all fields raw in the format's order:
 *
 *     EVENT TIME_NS CPU PID FIELD=VALUE ...
 *
 * Text values are in double quotes with \xNN for what is not printable. 0, or -1 with err. */
int page_dump(struct input *in, const struct page_machine *machine, FILE *out, struct error *err);

/* As page_dump for a trace directory, whose meta.json tells of the machine (src/read/trace_dir.c). */
int ftrace_page_dump(struct input *in, FILE *out, struct error *err);

#endif
