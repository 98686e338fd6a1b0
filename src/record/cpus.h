/* SPDX-License-Identifier: MIT
 *
 * Which CPUs are online.
 */
#ifndef BLKLAB_RECORD_CPUS_H
#define BLKLAB_RECORD_CPUS_H

#include <stddef.h>

#include "base/sysroot.h"

#define CPU_MAX 4096

/* Fills cpus (room for CPU_MAX), ascending; returns how many. One, CPU 0, where the kernel does not tell. */
size_t online_cpus(const struct sysroot *root, int *cpus);

#endif
