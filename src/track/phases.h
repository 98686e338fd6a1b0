/* SPDX-License-Identifier: MIT
 *
 * The phases of one finished bio or request, by the rules that the device's tables keep (spec, "Phases";
 * model.md 4-6): what is added up by group is what is added up by device.
 */
#ifndef BLKLAB_TRACK_PHASES_H
#define BLKLAB_TRACK_PHASES_H

#include "track/summary.h"

/* One phase of the thing; called for those that were seen. */
typedef void (*phase_fn)(void *arg, enum phase phase, uint64_t ns);

/* Nothing of what was left out of latencies. */
void phases_of_bio(const struct io_bio *bio, phase_fn fn, void *arg);
/* Of a retried request only what its lost attempts took; nothing of what is ambiguous or crosses a loss.
 * d2c of a flush command too: a device's own row leaves that to its class. */
void phases_of_request(const struct io *io, phase_fn fn, void *arg);

#endif
