# SPDX-License-Identifier: MIT
#
# What goes wrong while the relay backend records; each line says what was seen.
. ./lib.sh
failed=0
check() { # TEXT COMMAND...: the command must succeed
	text=$1
	shift
	if "$@" >/tmp/check 2>&1; then
		echo "ok: $text"
	else
		echo "FAILED: $text"
		sed 's/^/    /' /tmp/check
		failed=1
	fi
}
says() { grep -q -- "$1" "$2" || { cat "$2"; return 1; }; }
is_traced() { [ -e "/sys/kernel/debug/block/$1/trace0" ]; }
not() { ! "$@"; }

dev=$(disk disk0) name=$(basename "$(disk disk0)") other=$(disk disk1) other_name=$(basename "$(disk disk1)")
record="blklab record --backend relay --no-report" # no function: its process is what is killed
write() { dd if=/dev/zero of="$dev" bs=4k count="$1" oflag=direct 2>/dev/null; }

# ---- somebody else traces it: refused, and left alone
blktrace -d "$dev" -D /tmp/theirs >/dev/null 2>&1 &
theirs=$!
sleep 1
$record -d "$dev" -o /tmp/refused -- true >/tmp/said 2>&1
check "a device that blktrace traces is refused" says "being traced by somebody else" /tmp/said
check "nothing was left behind of the refused recording" not [ -e /tmp/refused ]
check "blktrace goes on" is_traced "$name"
write 50
kill -INT $theirs
wait $theirs
check "blktrace has its events" [ "$(cat /tmp/theirs/*.blktrace.* | wc -c)" -gt 10000 ]
check "its trace is gone with it" not is_traced "$name"

# ---- two recorders of ours
$record -d "$dev" -o /tmp/first --for 30 >/tmp/said1 2>&1 &
first=$!
until_file /tmp/first/meta.json
$record -d "$dev" -o /tmp/second -- true >/tmp/said 2>&1
check "a second recorder of the same device is refused" says "being recorded by another blklab" /tmp/said

# ---- killed: what it leaves is recognised, other traces are not touched
blktrace -d "$other" -D /tmp/theirs2 >/dev/null 2>&1 &
theirs=$!
write 200
sleep 1
kill -9 $first
wait $first 2>/dev/null
check "a killed recorder leaves its trace" is_traced "$name"
blklab report /tmp/first >/tmp/said 2>&1
check "what it had stored can be read" says "the recorder was killed" /tmp/said
check "and the loss is said to be unknown" says "the recorder did not finish" /tmp/said
check "the next recorder clears it and records" $record -d "$dev" -o /tmp/third -- dd if=/dev/zero of="$dev" bs=4k count=50 oflag=direct
check "that one has its events" [ "$(cat /tmp/third/"$name".blktrace.* | wc -c)" -gt 10000 ]
check "no trace is left" not is_traced "$name"
check "the trace of blktrace on another disk survives" is_traced "$other_name"

# ---- a stale claim is no right to somebody else's trace
$record -d "$dev" -o /tmp/fourth --for 30 >/dev/null 2>&1 &
first=$!
until_file /tmp/fourth/meta.json
kill -9 $first
wait $first 2>/dev/null
blktrace -d "$dev" -k >/dev/null 2>&1
blktrace -d "$dev" -D /tmp/theirs3 >/dev/null 2>&1 &
theirs3=$!
sleep 1
$record -d "$dev" -o /tmp/fifth -- true >/tmp/said 2>&1
check "a trace made after ours was killed is somebody else's" says "somebody else" /tmp/said
check "and goes on" is_traced "$name"
kill -INT $theirs $theirs3
wait $theirs $theirs3

# ---- doctor clears leftovers too
$record -d "$dev" -o /tmp/sixth --for 30 >/dev/null 2>&1 &
first=$!
until_file /tmp/sixth/meta.json
kill -9 $first
wait $first 2>/dev/null
blklab doctor >/tmp/said 2>&1
check "doctor removes a leftover and says so" says "removed the trace of $name" /tmp/said
check "it is gone" not is_traced "$name"

# ---- full disk
mkdir -p /tmp/small
mount -t tmpfs -o size=3m small /tmp/small
$record -d "$dev" -o /tmp/small/t -- dd if=/dev/zero of="$dev" bs=4k count=12000 oflag=direct >/tmp/said 2>&1
check "a full disk ends the recording with status 3" [ $? = 3 ]
check "and is told" says "cannot write the trace" /tmp/said
check "no trace is left after that" not is_traced "$name"
blklab report /tmp/small/t >/tmp/said 2>&1
check "what was stored can be read, with its loss" [ $? = 3 ]
check "the loss stands in the page" says "could not be" /tmp/said

# ---- the device goes away
modprobe sd_mod
modprobe scsi_debug dev_size_mb=64
sleep 1
scsi=$(basename "$(ls -d /sys/bus/pseudo/drivers/scsi_debug/adapter*/host*/target*/*:*/block/*)")
$record -d "$scsi" -o /tmp/gone >/tmp/said 2>&1 &
first=$!
until_file /tmp/gone/meta.json
dd if=/dev/zero of="/dev/$scsi" bs=4k count=200 oflag=direct 2>/dev/null
echo 1 >"/sys/block/$scsi/device/delete"
wait $first
check "a device that vanishes ends the recording with status 3" [ $? = 3 ]
check "and is told" says "is gone" /tmp/said
check "its events are there" [ "$(cat /tmp/gone/"$scsi".blktrace.* | wc -c)" -gt 10000 ]

# ---- ended at any moment (SIGTERM: a shell lets its background jobs ignore SIGINT)
for pause in 0 0.02 0.05 0.1 0.2 0.4; do
	$record -d "$dev" -o "/tmp/c$pause" >/dev/null 2>&1 &
	first=$!
	sleep $pause
	kill -TERM $first
	wait $first 2>/dev/null
	is_traced "$name" && echo "FAILED: traced after SIGTERM at $pause s" && failed=1
done
echo "ok: SIGTERM at six moments leaves no trace behind"
check "nothing of ours is left in the kernel" [ "$(ls /sys/kernel/tracing/instances | wc -l)" = 0 ]
exit $failed
