/* SPDX-License-Identifier: MIT */
#ifndef BLKLAB_CLASSIC_HEXDUMP_H
#define BLKLAB_CLASSIC_HEXDUMP_H

#include <stddef.h>
#include <stdint.h>

#define HEXDUMP_ROOM(bytes) (3 * (size_t)(bytes) + 8)

/* "12 00 24 00 ..": bytes in hexadecimal; from where on all are zero, one 00 and "..". Returns the bytes
 * written to out, which holds HEXDUMP_ROOM(len); not terminated. */
size_t hexdump(const uint8_t *bytes, size_t len, char *out);

#endif
