# SPDX-License-Identifier: MIT
#
# What doctor says on this machine, boot by boot ($CASE comes with the script).
. ./lib.sh
. ./case
failed=0
says() { # WORDS... DOCTOR'S ARGUMENTS
	words=$1
	shift
	blklab doctor "$@" >/tmp/said 2>&1
	if grep -q -- "$words" /tmp/said; then
		echo "ok: $CASE: $(grep -m 1 -- "$words" /tmp/said)"
	else
		echo "FAILED: $CASE: not said: $words"
		sed 's/^/    /' /tmp/said
		failed=1
	fi
}
name=$(basename "$(disk disk0)")

case $CASE in
plain)
	says "^tracefs *yes"
	says "^relay *yes"
	says "^tracers *none is running"
	says "nosuch: no such device" nosuch
	printf 'n\np\n1\n\n\nw\n' | fdisk "/dev/$name" >/dev/null 2>&1
	mdev -s
	says "only partition ${name}1" "${name}1"
	blktrace -d "/dev/$name" -D /tmp/theirs >/dev/null 2>&1 &
	theirs=$!
	sleep 1
	says "^tracers .*blktrace of a device $name"
	blklab record --backend relay --no-report -d "$name" -o /tmp/t -- true >/tmp/said 2>&1
	grep -q "traced by somebody else" /tmp/said && echo "ok: $CASE: $(cat /tmp/said)" || failed=1
	kill -INT $theirs
	wait $theirs
	echo blk >/sys/kernel/tracing/current_tracer
	echo 1 >"/sys/block/$name/trace/enable"
	says "^tracers .*a tracer in the global buffer blk"
	says "^tracers .*the blk tracer, of a device $name"
	blklab record --backend relay --no-report -d "$name" -o /tmp/t -- true >/tmp/said 2>&1
	grep -q "traced by somebody else" /tmp/said && echo "ok: $CASE: with the blk tracer: $(cat /tmp/said)" || failed=1
	blklab record --backend tracefs --no-report -d "$name" -o /tmp/t -- true >/tmp/said 2>&1 &&
		echo "ok: $CASE: trace events can be recorded beside it" || failed=1
	[ "$(cat /sys/kernel/tracing/current_tracer)" = blk ] || failed=1
	;;
unmounted)
	says "tracefs is not mounted"
	says "debugfs is not mounted"
	says "^relay *yes"
	for backend in tracefs relay; do
		blklab record --backend $backend --no-report -d "$name" -o /tmp/$backend -- dd if=/dev/zero of="/dev/$name" bs=4k count=9 oflag=direct 2>/dev/null &&
			blklab report /tmp/$backend | grep -q 'write  *9 ' && echo "ok: $CASE: $backend records all the same" || failed=1
	done
	grep -q -e ' /sys/kernel/debug ' -e ' /sys/kernel/tracing ' /proc/mounts && failed=1 && echo "FAILED: something is still mounted"
	;;
integrity)
	says "^relay *no .*lockdown"
	says "^tracefs *yes"
	says "^lockdown *integrity"
	;;
confidentiality)
	says "^tracefs *no .*confidentiality"
	says "cannot record here"
	;;
esac
[ $failed = 0 ] || sed 's/^/    /' /tmp/said
exit $failed
