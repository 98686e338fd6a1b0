/* SPDX-License-Identifier: MIT
 *
 * What the running kernel says of its own types (BTF): whether a tracepoint is there and takes the
 * arguments that our program expects, and the numbers of operations and flags. Never asked for by
 * kernel version.
 */
#ifndef BLKLAB_RECORD_BPF_BTF_H
#define BLKLAB_RECORD_BPF_BTF_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "record/bpf_config.h"

struct btf; /* libbpf's */

/* Does the tracepoint begin with such arguments? `args` has a letter for each: b struct bio *, r struct
 * request *, q struct request_queue *, t struct task_struct *, s a number of one byte, n any number,
 * p any pointer. */
bool kernel_has_tracepoint(const struct btf *btf, const char *name, const char *args);

/* Enum `name` as an object, names without the prefix -> values; those without it are left out. NULL =
 * there is no such enum. */
json_t *kernel_enum(const struct btf *btf, const char *name, const char *prefix);

/* Fills what depends on the kernel: op_class, masks, errno_of. `ops` and `flags` are from above. */
void kernel_fill_config(const struct btf *btf, const json_t *ops, const json_t *flags,
			struct bpf_config *config);

#endif
