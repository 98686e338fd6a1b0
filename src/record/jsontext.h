/* SPDX-License-Identifier: MIT
 *
 * Text from the outside world (names, arguments, sysfs) as JSON strings, which must be UTF-8.
 */
#ifndef BLKLAB_RECORD_JSONTEXT_H
#define BLKLAB_RECORD_JSONTEXT_H

#include <jansson.h>

/* A new string; bytes that are no UTF-8 become '?'. NULL becomes null. */
json_t *json_text(const char *text);

#endif
