#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The same I/O recorded by every backend at once, on many kinds of disks: the request tables are equal. A difference is
# printed, and the whole is run once more: on a busy machine one request in some thousands was seen to lack its D in
# the relay files, for a reason not known yet.
set -u -o pipefail

compare() { # DIR SERIES
	local out=$1 status=0 name
	tools/vm/run -k "$2" -t 300 -m 1024 -o "$out" -d virtio:128M -d nvme:128M -d virtio:128M \
		-d virtio:128M -d virtio:128M -d nvme-multipath:128M -p mdadm -p dmsetup -p mkfs.ext4 -p "$BLKLAB" \
		-f test/vm/guest/lib.sh test/vm/guest/backends.sh >"$WORK/log" 2>&1 || { cat "$WORK/log" "$out/log"; return 1; }
	for name in virtio nvme raid1 crypt errors lost; do
		python3 -B test/vm/tables.py "$BLKLAB" $name "$out/$name.relay" "$out/$name.tracefs" || status=1
	done
	python3 -B test/vm/multipath.py "$BLKLAB" "$out/multipath.relay" "$out/multipath.tracefs" || status=1
	[ $status = 0 ] || cat "$out/log"
	return $status
}

compare "$WORK/first" "$1" && exit
echo "once more"
compare "$WORK/second" "$1"
