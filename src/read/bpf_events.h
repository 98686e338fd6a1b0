/* SPDX-License-Identifier: MIT
 *
 * The events of the bpf backend, cpuN.bpf of a trace directory: doc/formats/bpf_events.md.
 */
#ifndef BLKLAB_READ_BPF_EVENTS_H
#define BLKLAB_READ_BPF_EVENTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "trace/facts.h"
#include "trace/input.h"
#include "trace/source.h"

/* What the numbers of the recording kernel mean, and how the events are ordered. */
struct bpf_meaning {
	uint8_t class_of[256];  /* enum io_class, by operation */
	uint32_t flags_of[256]; /* EV_*, by operation */
	uint32_t flag_of[32];   /* EV_*, by bit of opf */
	bool held; /* events were stored when their request ended: anywhere behind later ones */
};

/* From the "bpf" and "filter" objects of meta.json; what is missing there means CLASS_OTHER. */
void bpf_meaning_read(struct bpf_meaning *meaning, const json_t *meta);

/* What a source knows beside its bytes. */
struct bpf_file {
	uint64_t
		stored_bytes; /* what the recorder wrote, 0 = unknown: where less is there, it is damage */
	uint64_t lost_bytes; /* what it could not write */
	bool drops_told; /* all lost events are in facts->dropped already: marks are not added to it */
	size_t input;    /* index in facts->inputs, whose event count is kept up to date */
};

/* A source over one file; copies meaning and file, borrows blob and facts. Its events are in the order of
 * time: all of a file with held events are in memory, up to BPF_HELD_MAX. */
#define BPF_HELD_MAX ((size_t)4 << 20)
struct source *bpf_source_new(const struct bpf_meaning *meaning, struct blob *blob,
			      const struct bpf_file *file, struct facts *facts);

/* Adds the sources of all cpuN.bpf of a trace directory, losses and what was filtered. facts_input has been
 * called for it. */
int bpf_events_open(struct input *in, const json_t *meta, struct facts *facts,
		    struct sources *sources, struct error *err);

#endif
