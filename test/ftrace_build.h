/* SPDX-License-Identifier: MIT
 *
 * Makes ring-buffer pages and the format texts to read them, for unit tests and fuzzers.
 */
#ifndef BLKLAB_TEST_FTRACE_BUILD_H
#define BLKLAB_TEST_FTRACE_BUILD_H

#include <string.h>

#include "base/mem.h"
#include "trace/input.h"

#define COMMON_FIELDS                                                                  \
	"format:\n"                                                                    \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"         \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"         \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n" \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"                   \
	"\tfield:dev_t dev;\toffset:8;\tsize:4;\tsigned:0;\n"                          \
	"\tfield:sector_t sector;\toffset:16;\tsize:8;\tsigned:0;\n"

#define FORMAT_QUEUE                                                        \
	"name: block_bio_queue\nID: 10\n" COMMON_FIELDS                     \
	"\tfield:unsigned int nr_sector;\toffset:24;\tsize:4;\tsigned:0;\n" \
	"\tfield:char rwbs[10];\toffset:28;\tsize:10;\tsigned:0;\n"         \
	"\tfield:char comm[16];\toffset:38;\tsize:16;\tsigned:0;\n\n"       \
	"print fmt: \"%d\", REC->dev\n"

#define FORMAT_ISSUE                                                         \
	"name: block_rq_issue\nID: 11\n" COMMON_FIELDS                       \
	"\tfield:unsigned int nr_sector;\toffset:24;\tsize:4;\tsigned:0;\n"  \
	"\tfield:unsigned int bytes;\toffset:28;\tsize:4;\tsigned:0;\n"      \
	"\tfield:unsigned short ioprio;\toffset:32;\tsize:2;\tsigned:0;\n"   \
	"\tfield:char rwbs[10];\toffset:34;\tsize:10;\tsigned:0;\n"          \
	"\tfield:char comm[16];\toffset:44;\tsize:16;\tsigned:0;\n"          \
	"\tfield:__data_loc char[] cmd;\toffset:60;\tsize:4;\tsigned:0;\n\n" \
	"print fmt: \"%d\", REC->dev\n"

#define FORMAT_COMPLETE                                                     \
	"name: block_rq_complete\nID: 12\n" COMMON_FIELDS                   \
	"\tfield:unsigned int nr_sector;\toffset:24;\tsize:4;\tsigned:0;\n" \
	"\tfield:int error;\toffset:28;\tsize:4;\tsigned:1;\n"              \
	"\tfield:char rwbs[10];\toffset:34;\tsize:10;\tsigned:0;\n\n"       \
	"print fmt: \"%d\", REC->dev\n"

#define FORMAT_SPLIT                                                     \
	"name: block_split\nID: 13\n" COMMON_FIELDS                      \
	"\tfield:sector_t new_sector;\toffset:24;\tsize:8;\tsigned:0;\n" \
	"\tfield:char rwbs[10];\toffset:32;\tsize:10;\tsigned:0;\n"      \
	"\tfield:char comm[16];\toffset:42;\tsize:16;\tsigned:0;\n\n"    \
	"print fmt: \"%d\", REC->dev\n"

#define FORMAT_FORK                                                               \
	"name: sched_process_fork\nID: 14\nformat:\n"                             \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"    \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"              \
	"\tfield:__data_loc char[] parent_comm;\toffset:8;\tsize:4;\tsigned:0;\n" \
	"\tfield:pid_t parent_pid;\toffset:12;\tsize:4;\tsigned:1;\n"             \
	"\tfield:__data_loc char[] child_comm;\toffset:16;\tsize:4;\tsigned:0;\n" \
	"\tfield:pid_t child_pid;\toffset:20;\tsize:4;\tsigned:1;\n"

#define FORMAT_UNPLUG                                                          \
	"name: block_unplug\nID: 15\nformat:\n"                                \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n" \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"           \
	"\tfield:int nr_rq;\toffset:8;\tsize:4;\tsigned:1;\n"                  \
	"\tfield:char comm[16];\toffset:12;\tsize:16;\tsigned:0;\n"

/* An event with no meaning to us, but a stored format. */
#define FORMAT_OTHER                            \
	"name: sched_switch\nID: 16\nformat:\n" \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"

static const struct {
	const char *name, *text;
} build_formats[] = {
	{ "formats/block/block_bio_queue", FORMAT_QUEUE },
	{ "formats/block/block_rq_issue", FORMAT_ISSUE },
	{ "formats/block/block_rq_complete", FORMAT_COMPLETE },
	{ "formats/block/block_split", FORMAT_SPLIT },
	{ "formats/sched/sched_process_fork", FORMAT_FORK },
	{ "formats/block/block_unplug", FORMAT_UNPLUG },
	{ "formats/sched/sched_switch", FORMAT_OTHER },
};

/* Adds a blob over borrowed memory to a group; input_release frees it. */
static inline struct blob *build_blob(struct input *in, const char *name, const void *mem,
				      size_t len)
{
	in->blobs = mem_grow(in->blobs, in->nr, sizeof(*in->blobs));
	in->blobs[in->nr] = (struct blob){ .name = mem_strdup(name),
					   .fd = -1,
					   .mem = mem ? mem : (const uint8_t *)"",
					   .mem_len = len };
	return &in->blobs[in->nr++];
}

/* A group with all the formats above. */
static inline void build_group(struct input *in, const char *label)
{
	*in = (struct input){ .label = mem_strdup(label), .base = mem_strdup(label) };
	for (size_t i = 0; i < sizeof(build_formats) / sizeof(*build_formats); i++)
		build_blob(in, build_formats[i].name, build_formats[i].text,
			   strlen(build_formats[i].text));
}

#endif
