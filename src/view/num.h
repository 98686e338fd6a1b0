/* SPDX-License-Identifier: MIT
 *
 * Numbers for people: three significant digits, always with a unit. KiB = 1024 bytes.
 */
#ifndef BLKLAB_VIEW_NUM_H
#define BLKLAB_VIEW_NUM_H

#include <stdint.h>

/* Returned by value, so that `num_ns(x).s` lives as long as the statement. */
struct num {
	char s[32];
};

struct num num_count(uint64_t n);                /* "16,568" */
struct num num_of(uint64_t n, const char *noun); /* "1 bio", "16,568 bios"; a short noun */
struct num num_ns(double ns);                    /* "850 ns", "12.3 us", "1.23 ms", "40.0 s" */
struct num num_bytes(double n);                  /* "512 B", "4.00 KiB", "1.14 MiB" */
struct num num_share(double part);               /* 0..1: "81.3 %", "100 %", "<0.1 %" */
struct num num_real(double n);                   /* "0.12", "1.23", "12.3", "1,234" */

#endif
