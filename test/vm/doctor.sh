#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What doctor says on machines that differ by how they were booted.
set -eu -o pipefail

failed=0
boot() { # CASE WORDS for the kernel's command line
	echo "CASE=$1" >"$WORK/case"
	tools/vm/run -k "$series" -t 60 -a "$2" -o "$WORK/$1" -d virtio:64M -p blktrace -p "$BLKLAB" -f "$WORK/case" \
		-f test/vm/guest/lib.sh test/vm/guest/doctor.sh >"$WORK/log" 2>&1 || failed=1
	cat "$WORK/$1/log" || cat "$WORK/log"
}
series=$1
boot plain ''
boot unmounted 'nodebugfs notracefs'
boot integrity 'lsm=lockdown lockdown=integrity'
boot confidentiality 'lsm=lockdown lockdown=confidentiality'
exit $failed
