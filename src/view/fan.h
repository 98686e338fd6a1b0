/* SPDX-License-Identifier: MIT
 *
 * The tracker hands what it finishes to one track_sink; this is one that hands it on to several.
 */
#ifndef BLKLAB_VIEW_FAN_H
#define BLKLAB_VIEW_FAN_H

#include <stddef.h>

#include "track/track.h"

#define FAN_MAX 4

/* Zero-initialised. */
struct fan {
	struct track_sink sinks[FAN_MAX];
	size_t nr;
};

/* The order of adding is the order of being told. Sinks that write io_bio.mark share it. */
void fan_add(struct fan *fan, struct track_sink sink);
/* What to give to the tracker: of one sink itself, so that nothing is lost on the way. */
struct track_sink fan_sink(struct fan *fan);

#endif
