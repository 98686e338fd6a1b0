#!/bin/bash
# SPDX-License-Identifier: MIT
#
# tools/demo.sh BLKLAB: records buffered writes and their sync on a real ext4 on a scratch loop device,
# prints the report, then the report of a stored recording. Where recording is not permitted it says why
# and still shows the stored one. Touches no existing device; leaves nothing behind, also when interrupted.
# BLKLAB_SCRATCH names the folder for the scratch file (1 GiB, sparse), BLKLAB_DEMO_MIB the size written.
set -u

blklab=$(realpath -- "${1:?usage: demo.sh BLKLAB}")
cd "$(dirname "$0")/.." || exit 1
mib=${BLKLAB_DEMO_MIB:-384}
example=examples/ddsync.tar.xz

scratch='' loop='' mounted='' child=''

cleanup() {
	trap '' INT TERM HUP
	if [ -n "$child" ]; then
		# blklab stops its command and removes its trace instance before it ends.
		kill -TERM "$child" 2>/dev/null
		wait "$child" 2>/dev/null
	fi
	if [ -n "$mounted" ]; then
		for _ in 1 2 3 4 5 6 7 8 9 10; do
			umount "$scratch/mnt" 2>/dev/null && break
			mountpoint -q "$scratch/mnt" || break
			sleep 0.5
		done
		if mountpoint -q "$scratch/mnt"; then
			echo "demo: cannot unmount $scratch/mnt; left: $scratch and $loop" >&2
			return
		fi
	fi
	[ -z "$loop" ] || losetup -d "$loop"
	[ -z "$scratch" ] || rm -rf --one-file-system "$scratch"
}
trap cleanup EXIT
trap 'echo "demo: interrupted" >&2; exit 130' INT TERM HUP

# Prints a folder on a disk that takes direct I/O (no tmpfs, no overlay that refuses it) and has room.
scratch_folder() {
	local folder try
	for folder in "${BLKLAB_SCRATCH:-}" /var/tmp "$PWD" /tmp; do
		[ -n "$folder" ] && [ -d "$folder" ] && [ -w "$folder" ] || continue
		[ "$(df -m --output=avail "$folder" | tail -n 1)" -gt $((mib * 2 + 200)) ] || continue
		try=$(mktemp -d "$folder/blklab-demo-XXXXXX") || continue
		if dd if=/dev/zero of="$try/direct" bs=64k count=1 oflag=direct 2>/dev/null; then
			rm "$try/direct"
			echo "$try"
			return
		fi
		rm -rf "$try"
	done
	return 1
}

# Runs a command such that a signal to this script reaches cleanup at once.
run() {
	"$@" &
	child=$!
	wait "$child"
	local rc=$?
	child=
	return $rc
}

set_up() {
	[ "$(id -u)" = 0 ] || { why="recording needs root"; return 1; }
	why="no folder on a disk that takes direct I/O with $((mib * 2 + 200)) MiB free (set BLKLAB_SCRATCH)"
	scratch=$(scratch_folder) || return 1
	why=
	truncate -s $((mib * 2 + 200))M "$scratch/disk" || { why="cannot make the scratch file"; return 1; }
	# Direct: a buffered loop device would measure the page cache twice.
	loop=$(losetup --direct-io=on --show -f "$scratch/disk" 2>"$scratch/why") || {
		loop=
		why="no loop device: $(cat "$scratch/why")"
		return 1
	}
	# Not lazy: the kernel would go on initialising tables while we measure.
	mkfs.ext4 -q -F -E lazy_itable_init=0,lazy_journal_init=0 "$loop" >"$scratch/why" 2>&1 || {
		why="mkfs.ext4 failed: $(tail -n 1 "$scratch/why")"
		return 1
	}
	mkdir "$scratch/mnt"
	mounted=1
	mount "$loop" "$scratch/mnt" 2>"$scratch/why" || {
		mounted=
		why="cannot mount: $(tail -n 1 "$scratch/why")"
		return 1
	}
}

why=
echo "== 1. Record: write $mib MiB into the page cache of a new ext4, then sync"
if set_up; then
	# sync -f: a plain sync would wait for every file system of the machine.
	work="dd if=/dev/zero of='$scratch/mnt/file' bs=1M count=$mib status=none && sync -f '$scratch/mnt'"
	echo "\$ blklab record -d $loop -- sh -c \"$work\""
	echo
	run "$blklab" record -d "$loop" -o "$scratch/trace" -- sh -c "$work"
	rc=$?
	# 3: recorded, with losses, which the report's first lines state.
	[ $rc = 0 ] || [ $rc = 3 ] || why="blklab record ended with status $rc"
fi
if [ -n "$why" ]; then
	echo "Not recorded here: $why."
	echo "\$ blklab doctor"
	run "$blklab" doctor || true
fi

echo
echo "== 2. Report of a stored recording: the same work on a partition of a real disk"
echo "\$ blklab report $example"
echo
run "$blklab" report "$example"
rc=$?
if [ $rc != 0 ] && [ $rc != 3 ]; then
	echo "demo: blklab report ended with status $rc" >&2
	exit 1
fi
