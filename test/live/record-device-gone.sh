#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The device vanishes while it is recorded: the recorder says so, ends (or goes on until the command
# has ended), keeps what it has, and exits with 3.
set -eu
. "$(dirname "$(realpath "$0")")/lib.bash"
needs losetup python3 dd

make_loop 32
start_record -d "$loop" -o gone
dd if=/dev/zero of="$loop" bs=64k count=16 oflag=direct status=none
losetup -d "$loop"
end_of 3
says "${loop#/dev/} is gone"
meta gone "m['complete'] and m['stopped_by'] == 'device-gone' and m['devices_gone'] == ['${loop#/dev/}']"
meta gone "sum(r['read_events'] for r in m['ring']) >= 16 * 4"

make_loop 32
expect 3 "$BLKLAB" record -d "$loop" -o gone2 --no-report -- sh -c "sleep 0.3; losetup -d $loop; sleep 0.4; exit 9"
says "${loop#/dev/} is gone"
meta gone2 "m['complete'] and m['stopped_by'] == 'command' and m['command']['exit_status'] == 9"
meta gone2 "m['devices_gone'] == ['${loop#/dev/}']"

# One of two: the other is recorded to the end.
make_loop 32
other=$loop
make_loop 32
expect 3 "$BLKLAB" record -d "$loop" -d "$other" -o gone3 --no-report --for 1 -- sh -c "losetup -d $loop; sleep 0.4; dd if=/dev/zero of=$other bs=64k count=4 oflag=direct status=none"
says "${loop#/dev/} is gone"
meta gone3 "m['stopped_by'] == 'command' and m['after']['diskstats']['${other#/dev/}'][6] - m['before']['diskstats']['${other#/dev/}'][6] == 512"
echo "3 devices vanished"
