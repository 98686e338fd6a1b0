/* SPDX-License-Identifier: MIT
 *
 * cmocka and what it wants included before it.
 */
#ifndef BLKLAB_TEST_CM_H
#define BLKLAB_TEST_CM_H

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */

#endif
