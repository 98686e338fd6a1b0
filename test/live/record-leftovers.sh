#!/bin/bash
# SPDX-License-Identifier: MIT
#
# A recorder killed with SIGKILL leaves its trace instance behind. doctor, and the next record, remove
# it; an instance of anybody else, one of a living recorder too, stays.
set -eu
. "$(dirname "$(realpath "$0")")/lib.bash"
needs losetup python3
make_loop 32

instances+=("foreign-$$" "blklab-foreign-$$")

start_record -d "$loop" -o living
living=$pid
start_record -d "$loop" -o killed
victim=$pid
kill -KILL "$victim"
wait "$victim" 2>/dev/null || true
[ -d "$tracing/instances/blklab-$victim" ] || fail "no leftover to test with"
instances+=("blklab-$victim")
meta killed "m['complete'] is False and m['backend'] == 'tracefs'"
expect 0 "$BLKLAB" report killed
[[ $out == *"losses:    unknown: the recorder did not finish"* && $out != *nan* ]] || fail "report of a killed recording: $out"
mkdir "$tracing/instances/foreign-$$" "$tracing/instances/blklab-foreign-$$"

expect 0 "$BLKLAB" doctor
[[ $out == *"removed instances/blklab-$victim of a killed recording"* ]] || fail "doctor does not say what it removed: $out"
no_instance "$victim"
[ -d "$tracing/instances/foreign-$$" ] || fail "a foreign instance was removed"
[ -d "$tracing/instances/blklab-foreign-$$" ] || fail "an instance with a name like ours was removed"
[ -d "$tracing/instances/blklab-$living" ] || fail "the instance of a living recorder was removed"
pid=$living
kill -TERM "$pid"
end_of 0

expect 0 "$BLKLAB" doctor --json
python3 -c 'import json, sys; d = json.load(sys.stdin); assert d["can_record"] and d["leftovers"] == [], d' <<<"$out" ||
	fail "doctor --json: $out"

# The next record does the same.
start_record -d "$loop" -o killed2
victim=$pid
kill -KILL "$victim"
wait "$victim" 2>/dev/null || true
instances+=("blklab-$victim")
[ -d "$tracing/instances/blklab-$victim" ] || fail "no leftover to test with"
expect 0 "$BLKLAB" record -d "$loop" -o after --no-report -- true
no_instance "$victim"
meta after "m['leftovers_removed'] == 1"
[ -d "$tracing/instances/foreign-$$" ] || fail "a foreign instance was removed by record"
echo "2 leftovers removed, 2 foreign instances and 1 living recorder left alone"
