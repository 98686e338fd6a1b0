/* SPDX-License-Identifier: MIT
 *
 * Pid namespaces (containers). The events carry the kernel's own process numbers, those of the initial
 * namespace; getpid() and /proc tell those of other namespaces, which may be the same or not.
 */
#ifndef BLKLAB_RECORD_PIDNS_H
#define BLKLAB_RECORD_PIDNS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/sysroot.h"

#define PIDNS_UNKNOWN 0
#define PIDNS_INITIAL 0xEFFFFFFCu /* PROC_PID_INIT_INO, Linux 3.8 and later */

/* The inode that names our namespace, and the one whose processes /proc shows. */
uint64_t pidns_own(const struct sysroot *root);
uint64_t pidns_of_proc(const struct sysroot *root);

/* Is there a process in it? Only /proc of the initial namespace can tell; in doubt, yes. */
bool pidns_has_processes(const struct sysroot *root, uint64_t inode);

#endif
