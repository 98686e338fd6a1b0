/* SPDX-License-Identifier: MIT
 *
 * Building what a text says for struct facts: values in the report's shape, and findings.
 */
#ifndef BLKLAB_READ_TEXT_FINDING_H
#define BLKLAB_READ_TEXT_FINDING_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/facts.h"

void put_u64(json_t *obj, const char *key, uint64_t value); /* not above INT64_MAX */
void put_real(json_t *obj, const char *key, double value);  /* finite */
/* Text from anywhere: what cannot be a JSON string becomes \xNN. */
void put_text(json_t *obj, const char *key, const char *text);
/* obj[key] = null, obj[key + "_why"] = why. */
void put_unknown(json_t *obj, const char *key, const char *why);

/* Appends a finding; its evidence, to be filled (borrowed; NULL where there are too many findings:
 * then filling does nothing). `sentence` is taken, `advice` may be NULL; both come from us or from
 * anywhere. */
json_t *finding_add(struct facts *facts, const char *id, const char *severity, const char *title,
		    char *sentence, const char *advice);

/* "1,234,567" for sentences. */
struct grouped {
	char s[32];
};
struct grouped grouped(uint64_t n);
/* "16.0 KiB", "9.8 GiB" for sentences. */
struct grouped grouped_bytes(double bytes);

#endif
