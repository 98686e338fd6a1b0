#!/bin/bash
# SPDX-License-Identifier: MIT
#
# A partition has no events of its own: it is recorded through its disk, with the rest of the disk
# left out. (addpart, since the kernel need not know any partition table.)
set -eu
. "$(dirname "$(realpath "$0")")/lib.bash"
needs losetup python3 dd addpart partx
make_loop 64
addpart "$loop" 1 2048 40960 && addpart "$loop" 2 43008 40960 || skip "no partitions on loop devices"
for _ in $(seq 50); do [ -b "${loop}p1" ] && [ -b "${loop}p2" ] && break; sleep 0.1; done
[ -b "${loop}p2" ] || skip "no node for the partition"
write() { echo "dd if=/dev/zero of=$1 bs=64k count=$2 oflag=direct status=none;"; }
disk=${loop#/dev/}
both="$(write "${loop}p1" 10) $(write "${loop}p2" 30)"

expect 0 "$BLKLAB" record -d "${loop}p2" -o part --no-report -- sh -c "$both"
meta part "len(m['devices']) == 1 and m['devices'][0]['name'] == '$disk' and m['devices'][0]['why'] == 'disk of ${disk}p2'"
meta part "m['devices'][0]['partition']['name'] == '${disk}p2'"
meta part "(m['devices'][0]['partition']['start_sector'], m['devices'][0]['partition']['sectors']) == (43008, 40960)"
expect 0 "$BLKLAB" record -d "${loop}p1" -d "${loop}p2" -o parts --no-report -- sh -c "$both"
meta parts "[d['partition']['name'] for d in m['devices']] == ['${disk}p1', '${disk}p2']"
expect 0 "$BLKLAB" record -d "${loop}p1" -d "$loop" -o disk --no-report -- sh -c "$both"
meta disk "len(m['devices']) == 1 and m['devices'][0]['partition'] is None"

# written TRACE: bytes of the requests that were written, by the report.
written() {
	"$BLKLAB" report --json "$1" | python3 -c '
import json, sys
r = json.load(sys.stdin)
print(sum(d["requests"]["write"]["bytes"] for d in r["devices"] if d["requests"]))'
}
for pair in part=1966080 parts=2621440 disk=2621440; do
	[ "$(written ${pair%=*})" = ${pair#*=} ] || fail "${pair%=*}: $(written ${pair%=*}) bytes written, not ${pair#*=}"
done
echo "one of two partitions, both, and the disk: 1966080, 2621440 and 2621440 bytes"
