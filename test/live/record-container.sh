#!/bin/bash
# SPDX-License-Identifier: MIT
#
# In a pid namespace of its own (a container) processes have other numbers than in the events: the
# command is found all the same, and nobody removes the instance of a living recorder whose process he
# cannot see.
set -eu
. "$(dirname "$(realpath "$0")")/lib.bash"
needs losetup python3 dd unshare
[ "$(stat -Lc %i /proc/self/ns/pid)" = 4026531836 ] || skip "this is a container already"
unshare --pid --fork --mount-proc true 2>/dev/null || skip "no pid namespace can be made"
make_loop 32
inside="unshare --pid --fork --kill-child --mount-proc"

# The instance of a recorder in a namespace, into $instance; its trace is being recorded.
wait_for_instance() {
	for _ in $(seq 200); do
		instance=$(cd $tracing/instances && ls -d blklab-[0-9]*-[0-9]* 2>/dev/null | head -n 1) || true
		[ -z "$instance" ] || [ "$(cat "$tracing/instances/$instance/events/block/block_rq_issue/enable" "$tracing/instances/$instance/tracing_on" 2>/dev/null)" != $'1\n1' ] || return 0
		sleep 0.05
	done
	fail "no instance of a container: $(cat "$WORK/stderr")"
}

# The command is found by the kernel's number, and its name too.
expect 0 $inside "$BLKLAB" record --no-report -d "$loop" -o inside -- dd if=/dev/zero of="$loop" bs=64k count=16 oflag=direct status=none
meta inside "not m['pid_namespace']['initial'] and m['command']['pid'] > 100 and 'threads' not in m"
grep -q "^$(python3 -c 'import json; print(json.load(open("inside/meta.json"))["command"]["pid"])') dd\$" inside/saved_cmdlines ||
	fail "the command's name is not that of its number"
expect 0 "$BLKLAB" report --json inside
python3 -c '
import json, sys
shares = json.load(sys.stdin)["verdict"]["shares"]
assert 0 < shares["device"] <= 1, shares' <<<"$out" || fail "nobody is seen waiting: $out"

# doctor elsewhere does not touch a living one: outside, in another namespace, and without /proc.
$inside "$BLKLAB" record --no-report -d "$loop" -o living >stdout 2>stderr </dev/null &
shell=$!
pids+=("$shell")
wait_for_instance
start_record -d "$loop" -o outside
outside=$pid
for way in "" "$inside" "$inside mount -t tmpfs none /proc;"; do
	case $way in
	*\;) expect 0 $inside sh -c 'mount -t tmpfs none /proc && exec "$0" doctor' "$BLKLAB" ;;
	*) expect 0 $way "$BLKLAB" doctor ;;
	esac
	[ -d "$tracing/instances/$instance" ] || fail "doctor removed a living recorder in a container ($way)"
	[ -d "$tracing/instances/blklab-$outside" ] || fail "doctor removed a living recorder ($way)"
done
kill -TERM "$outside"
pid=$outside
end_of 0
# Its namespace ends with it, and then it is a leftover.
kill -KILL "$shell"
wait "$shell" 2>/dev/null || true
instances+=("$instance")
for _ in $(seq 100); do # a moment later
	expect 0 "$BLKLAB" doctor
	[[ $out != *"removed instances/$instance of a killed recording"* ]] || break
	sleep 0.1
done
[[ $out == *"removed instances/$instance of a killed recording"* ]] || fail "the leftover of a container stays: $out"
[ ! -d "$tracing/instances/$instance" ] || fail "instance $instance is still there"

# A name that is taken is no obstacle.
( mkdir "$tracing/instances/blklab-$BASHPID"; echo "$BASHPID" >taken.pid
  exec 4<"$tracing/instances/blklab-$BASHPID/tracing_on"
  exec "$BLKLAB" record --no-report -d "$loop" -o taken -- true ) 2>taken.err || fail "a taken name: $(cat taken.err)"
instances+=("blklab-$(cat taken.pid)")
[ ! -d "$tracing/instances/blklab-$(cat taken.pid).2" ] || fail "the second name is left"
echo "1 command found, 2 living recorders left alone by 3 doctors, 1 leftover of a container removed"
