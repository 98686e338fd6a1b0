/* SPDX-License-Identifier: MIT
 *
 * What the kernel's names of operations (enum req_op without "REQ_OP_") and of their flags (enum
 * req_flag_bits without "__REQ_") mean. Their numbers change between kernels, so a recording tells
 * them.
 */
#ifndef BLKLAB_TRACE_BPF_OPS_H
#define BLKLAB_TRACE_BPF_OPS_H

#include <stdint.h>

#include "trace/event.h"

/* CLASS_OTHER where the name is not known. */
enum io_class bpf_op_class(const char *name);
/* EV_* that follow from the operation itself. */
uint32_t bpf_op_flags(const char *name);
/* The EV_* of a flag, or 0 where it tells nothing that we keep. */
uint32_t bpf_flag(const char *name);

#endif
