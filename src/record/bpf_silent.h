/* SPDX-License-Identifier: MIT
 *
 * A hook that tells nothing while the device works is not an empty trace, it is a failure. The disk's own
 * counters show it.
 */
#ifndef BLKLAB_RECORD_BPF_SILENT_H
#define BLKLAB_RECORD_BPF_SILENT_H

#include <stdint.h>

#include "record/bpf_config.h"

/* Requests that a device has completed, by the text of its `stat` in sysfs: reads, writes, discards,
 * flushes. 0 where it cannot be told. */
uint64_t bpf_completed(const char *stat);

/* The tracepoint that was silent, or NULL: `completed` requests ended on a device of that kind
 * ("request", "bio", as device_kind has it) while the hooks saw `seen`. A request may be counted on
 * each CPU whose events were before the hooks; `slack` is how many that may be. Static. */
const char *bpf_silent_hook(const struct bpf_seen *seen, const char *kind, uint64_t completed,
			    uint64_t slack);

/* Requests that ended by the disk's count and were not seen to: the kernel ran no hook for them. 0 for
 * devices without requests. */
uint64_t bpf_unseen(const struct bpf_seen *seen, const char *kind, uint64_t completed,
		    uint64_t slack);

#endif
