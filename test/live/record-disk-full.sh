#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The disk that takes the trace (a 16 MiB tmpfs) fills up while recording: what is there is kept and
# can be read, it is said, status 3. Full from the start: nothing is left behind.
set -eu
. "$(dirname "$(realpath "$0")")/lib.bash"
needs losetup python3 dd
command -v fio >/dev/null || skip "fio is not installed"
make_loop 64
dd if=/dev/zero of="$loop" bs=1M count=64 oflag=direct status=none

mkdir small
mount -t tmpfs -o size=16m blklab-test small || skip "no tmpfs can be mounted"
mounts+=("$WORK/small")
load=(fio --name=load --filename="$loop" --rw=randread --bs=4k --direct=1 --ioengine=libaio --iodepth=16 --size=64m
	--io_size=4g --time_based --runtime=60 --output=/dev/null)

# Enough work for some 60 MiB of events; the command ends once the disk is full.
expect 3 "$BLKLAB" record -d "$loop" -o small/trace --no-report -- sh -c '
	"$@" & load=$!
	for i in $(seq 600); do
		[ "$(df --output=avail -k "'"$WORK"'/small" | tail -n 1)" -gt 2000 ] || break
		sleep 0.1
	done
	sleep 0.5; kill $load; wait $load; exit 5' sh "${load[@]}"
says "No space left on device"
says "the command runs on"
meta small/trace "m['complete'] and m['stopped_by'] == 'disk-full' and m['command']['exit_status'] == 5"
meta small/trace "m['write_errors'] and m['write_errors'][0]['errno'] == 28 and m['write_errors'][0]['lost_bytes'] > 0"
meta small/trace "sum(r['bytes_written'] for r in m['ring']) > 10 << 20 and all(r['bytes_written'] % m['page_size'] == 0 for r in m['ring'])"
for file in facts/end.json kmsg saved_cmdlines; do [ -e small/trace/$file ] || fail "no $file"; done
expect 3 "$BLKLAB" report small/trace
[[ $out == *VERDICT* ]] || fail "the report of what is there: $out"
first=$(head -n 1 <<<"$out")
rm -rf small/trace

dd if=/dev/zero of=small/filler bs=1M count=16 status=none 2>/dev/null || true
expect 1 "$BLKLAB" record -d "$loop" -o small/trace --no-report -- true
says "No space left on device"
[ ! -e small/trace ] || fail "a directory was left behind"
echo "kept and reported what there was: $first"
