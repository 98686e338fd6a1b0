#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Every signal that asks a recorder to stop gives a whole trace and no leftover, at any moment, with
# and without a command.
set -eu
. "$(dirname "$(realpath "$0")")/lib.bash"
needs losetup python3 dd
make_loop 32

for signal in INT TERM HUP QUIT USR1 ALRM XCPU ABRT PWR RTMAX; do
	start_record -d "$loop" -o "alone-$signal"
	dd if=/dev/zero of="$loop" bs=64k count=16 oflag=direct status=none
	kill -$signal "$pid"
	end_of 0
	meta "alone-$signal" "m['complete'] and m['stopped_by'] == 'signal' and m['command'] is None"
	meta "alone-$signal" "sum(r['read_events'] for r in m['ring']) >= 16 * 4"

	start_record -d "$loop" -o "command-$signal" -- sleep 60
	kill -$signal "$pid"
	end_of 0
	meta "command-$signal" "m['complete'] and m['stopped_by'] == 'signal' and m['command']['signal'] == 15"
done

# As early as can be: it either has not begun or undoes all.
for delay in 0 0.002 0.005 0.01 0.02 0.04 0.06 0.08 0.1 0.15; do
	"$BLKLAB" record --no-report -d "$loop" -o early -- sleep 20 2>"$WORK/stderr" &
	pid=$!
	pids+=("$pid")
	# Until it is us: the forked shell still has this script's traps and would swallow the signal.
	until [ "$(readlink "/proc/$pid/exe")" = "$BLKLAB" ]; do :; done
	sleep $delay
	kill -TERM "$pid"
	rc=0
	wait "$pid" || rc=$?
	no_instance "$pid"
	[ $rc = 0 ] || [ $rc = 143 ] || fail "status $rc after a signal at $delay s: $(cat stderr)"
	if [ $rc = 0 ]; then meta early "m['complete'] and m['stopped_by'] == 'signal'"; fi
	rm -rf early
done

# A command that does not listen is not killed, and the recording ends all the same.
start_record -d "$loop" -o deaf -- sh -c 'trap "" TERM; echo $$ >deaf.pid; exec sleep 8'
for _ in $(seq 50); do [ -s deaf.pid ] && break; sleep 0.1; done
kill -TERM "$pid"
end_of 0
says "has not ended and runs on"
expect 0 "$BLKLAB" report deaf
[[ $out == *"it had not ended"* && $out != *nan* ]] || fail "report of a command that runs on: $out"
meta deaf "m['complete'] and m['command']['exit_status'] is None and m['command']['end_ns'] is None"
kill -KILL "$(cat deaf.pid)"
# The limit of time, and a signal, also end a command that is stopped.
start_record -d "$loop" -o stopped --for 1 -- sh -c 'kill -STOP $$; exec sleep 60'
end_of 0
meta stopped "m['stopped_by'] == 'time' and m['command']['signal'] == 15"
start_record -d "$loop" -o stopped2 -- sh -c 'kill -STOP $$; exec sleep 60'
kill -TERM "$pid"
end_of 0
meta stopped2 "m['command']['signal'] == 15"

# The command finds signals and the limit of files as they were.
ulimit -S -n 256
expect 0 "$BLKLAB" record --no-report -d "$loop" -o inherits -- sh -c 'ulimit -S -n; grep -E "Sig(Blk|Ign)" /proc/self/status'
[ "$out" = "256
$(grep -E 'Sig(Blk|Ign)' /proc/self/status)" ] || fail "the command inherits: $out"

echo "10 signals with and without a command, 10 early ones, 1 deaf command, 2 stopped ones"
