/* SPDX-License-Identifier: MIT
 *
 * What a thread is for, told from its name alone.
 */
#ifndef BLKLAB_VIEW_ROLE_H
#define BLKLAB_VIEW_ROLE_H

/* "app", "writeback", "journal", "crypt", "raid", "loop", "reclaim", "worker" (a kworker whose work
 * the name does not tell: mostly writeback), "kernel" or, for no name, "unknown". Static. */
const char *role_of(const char *comm);

#endif
