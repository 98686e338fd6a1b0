# SPDX-License-Identifier: MIT
#
# For the scripts that run inside; /bin/sh of busybox.

# The disk with that serial number ("disk0": the first -d of tools/vm/run); the head of several NVMe paths, which
# are hidden, has it at its subsystem.
disk() {
	for s in /sys/class/nvme-subsystem/* /sys/block/*; do
		serial=$(cat "$s/serial" "$s/device/serial" 2>/dev/null | head -n 1 | tr -d ' ')
		[ "$serial" = "$1" ] || continue
		case $s in
		*/nvme-subsystem/*)
			for d in "$s"/nvme*n*; do
				[ -e "/dev/${d##*/}" ] && echo "/dev/${d##*/}" && return
			done
			;;
		*) [ -e "/dev/${s##*/}" ] && echo "/dev/${s##*/}" && return ;;
		esac
	done
	echo "no disk $1" >&2
	return 1
}

# until_file FILE: at most ten seconds.
until_file() {
	for _ in $(seq 100); do
		[ -e "$1" ] && return
		sleep 0.1
	done
	echo "no $1 after ten seconds" >&2
	return 1
}

# recorders NAME DEV COMMAND...: the command, recorded by all backends at once, into /out/NAME.BACKEND.
recorders() {
	name=$1 dev=$2
	shift 2
	pids=
	for backend in $BACKENDS; do
		blklab record --backend "$backend" --no-report -d "$dev" -o "/out/$name.$backend" &
		pids="$pids $!"
		until_file "/out/$name.$backend/meta.json"
	done
	"$@"
	echo "$name: the workload ended with status $?"
	sleep 1 # md marks its array clean 0.2 s after the last write
	for pid in $pids; do kill -INT "$pid"; done
	for pid in $pids; do
		wait "$pid"
		echo "$name: a recorder ended with status $?"
	done
}
