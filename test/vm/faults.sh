#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The relay backend when things go wrong (test/vm/guest/faults.sh).
set -eu -o pipefail

status=0
tools/vm/run -k "$1" -t 200 -o "$WORK/out" -d virtio:128M -d virtio:128M -p blktrace -p "$BLKLAB" -f test/vm/guest/lib.sh \
	test/vm/guest/faults.sh >"$WORK/log" 2>&1 || status=$?
cat "$WORK/out/log" || cat "$WORK/log"
exit $status
