/* SPDX-License-Identifier: MIT
 *
 * The options of btt: letters and long names of the classic (2.09).
 */
#ifndef BLKLAB_CLASSIC_BTT_OPTIONS_H
#define BLKLAB_CLASSIC_BTT_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "classic/options.h" /* enum options_next */

/* Strings are borrowed from argv; NULL = not given. */
struct btt_options {
	const char *input;         /* -i */
	const char *output;        /* -o */
	bool all_data;             /* -A */
	bool seek_absolute;        /* -a */
	const char *block_numbers; /* -B */
	uint64_t range_delta_ns;   /* -d, 0.1 s */
	uint32_t *devices;         /* owned: -D, in its order; NULL: all */
	size_t nr_devices;
	char **processes; /* owned array of owned: -e, names in its order; NULL: all */
	size_t nr_processes;
	bool no_processes;            /* -e with an empty string */
	const char *iostat;           /* -I */
	uint64_t iostat_ns;           /* -S, 1 s */
	const char *d2c, *q2c, *q2d;  /* -l, -q, -z */
	uint64_t periodic_ns;         /* -L; 0 = not given */
	const char *device_map;       /* -M */
	const char *seeks_per_second; /* -m */
	const char *per_io;           /* -p */
	bool per_io_trees;            /* -P */
	const char *queue_depth;      /* -Q */
	bool no_remaps;               /* -r */
	const char *seeks;            /* -s */
	uint64_t from_ns, to_ns;      /* -t, -T; 0 and UINT64_MAX where not given */
	const char *unplugs;          /* -u */
	bool verbose;                 /* -v */
	bool xvg;                     /* -X */
	bool activity;                /* -Z */
};

/* OPTIONS_RUN; else -h, -V or a mistake were answered, and the program is to end so. */
enum options_next btt_options_parse(struct btt_options *o, int argc, char **argv);
void btt_options_release(struct btt_options *o);

#endif
