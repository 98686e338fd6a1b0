#!/bin/bash
# SPDX-License-Identifier: MIT
#
# A recorder that cannot keep up (stopped, with a small buffer) loses events: the number is known,
# said, stored, and the status is 3; the report begins with it.
set -eu
. "$(dirname "$(realpath "$0")")/lib.bash"
needs losetup python3 dd
make_loop 32

start_record -d "$loop" -o lost --buffer 64K
kill -STOP "$pid"
dd if=/dev/zero of="$loop" bs=4k count=5000 oflag=direct status=none
kill -CONT "$pid"
dd if=/dev/zero of="$loop" bs=4k count=100 oflag=direct status=none
sleep 0.3
kill -TERM "$pid"
end_of 3
says "events were lost in the kernel's buffers"
meta lost "m['complete'] and sum(r['overrun'] + r['dropped_events'] for r in m['ring']) > 1000"
lost=$(python3 -c 'import json; print(sum(r["overrun"] + r["dropped_events"] + r["commit_overrun"] for r in json.load(open("lost/meta.json"))["ring"]))')
expect 3 "$BLKLAB" report lost
[[ $(head -n 2 <<<"$out") == *"${lost:0:1}"* ]] || fail "the report does not begin with the loss: $(head -n 3 <<<"$out")"
[[ $(head -n 1 <<<"$out") == losses:* ]] || fail "the report does not begin with the loss: $(head -n 3 <<<"$out")"
echo "lost $lost events and said so: $(head -n 1 <<<"$out")"
