/* SPDX-License-Identifier: MIT
 *
 * From an embedded struct to the one that holds it.
 */
#ifndef BLKLAB_BASE_CONTAINER_H
#define BLKLAB_BASE_CONTAINER_H

#include <stddef.h>

#define container_of(ptr, type, member) ((type *)((char *)(ptr)-offsetof(type, member)))

#endif
