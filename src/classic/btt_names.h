/* SPDX-License-Identifier: MIT
 *
 * For the files of btt's core only: names of processes and of devices.
 */
#ifndef BLKLAB_CLASSIC_BTT_NAMES_H
#define BLKLAB_CLASSIC_BTT_NAMES_H

#include "classic/btt.h"

struct btt_processes *btt_processes_new(void);
void btt_processes_free(struct btt_processes *p);
/* Is it called so, by its whole name or by what stands before a slash? */
bool btt_process_is(const char *name, const char *wanted);

/* ---- the map of -M (btt_map.c) ---- */

/* NULL with err where it cannot be read. */
struct btt_map *btt_map_read(const char *path, struct error *err);
void btt_map_free(struct btt_map *map);
/* NULL: it does not name it. */
const char *btt_map_name(const struct btt_map *map, uint32_t device);

#endif
