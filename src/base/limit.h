/* SPDX-License-Identifier: MIT
 *
 * How many files may be open: the soft limit is usually 1024, for programs that call select(); a
 * machine, or a trace of one, may have more CPUs than that.
 */
#ifndef BLKLAB_BASE_LIMIT_H
#define BLKLAB_BASE_LIMIT_H

#include <sys/resource.h>

/* Raises the soft limit to the hard one; *old is what it was. Where that fails, nothing changes. */
void limit_raise_files(struct rlimit *old);
/* For a program that is started, which may count on the old one. */
void limit_restore_files(const struct rlimit *old);

#endif
