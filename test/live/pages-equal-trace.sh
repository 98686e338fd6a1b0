#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Is what we decode from the ring buffer's pages what the kernel says it is? Records a load on a loop
# device in a private trace instance, stops, reads the kernel's own text (`trace` does not consume),
# then the raw pages, and compares every line.
#
#     test/live/pages-equal-trace.sh DUMP_PAGES_PROGRAM
set -u
here=$(cd "$(dirname "$0")" && pwd)
dump=${1:?usage: pages-equal-trace.sh DUMP_PAGES_PROGRAM}
tracing=/sys/kernel/tracing
instance=$tracing/instances/blklab-test-$$
work='' loop='' mounted=''

skip() {
	echo "skipped: $1"
	exit 77
}

cleanup() {
	trap - EXIT INT TERM HUP
	if [ -d "$instance" ]; then
		echo 0 >"$instance/tracing_on"
		# removing says EBUSY for a moment after the last reader left
		for _ in 1 2 3 4 5; do
			rmdir "$instance" 2>/dev/null && break
			sleep 0.2
		done
	fi
	[ -n "$mounted" ] && umount "$mounted"
	# only while it still is ours
	[ -n "$loop" ] && losetup -j "$work/disk" | grep -q "^$loop:" && losetup -d "$loop"
	[ -n "$work" ] && rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

[ "$(id -u)" = 0 ] || skip "needs root"
[ -d "$tracing/instances" ] || skip "tracefs is not mounted at $tracing"
for tool in losetup mkfs.ext4 python3 dd fstrim; do
	command -v $tool >/dev/null || skip "$tool is not installed"
done

work=$(mktemp -d "${TMPDIR:-/tmp}/blklab-pages.XXXXXX") || skip "no scratch directory"
trace=$work/trace
mkdir -p "$trace/formats" "$work/mnt"
truncate -s 256M "$work/disk" || skip "no room for a scratch file"
loop=$(losetup --direct-io=on --show -f "$work/disk" 2>/dev/null) ||
	loop=$(losetup --show -f "$work/disk") || { loop=; skip "no loop device to be had"; }
mkfs.ext4 -q -F "$loop" || skip "mkfs.ext4 failed"
mount -o discard "$loop" "$work/mnt" || skip "the loop device cannot be mounted"
mounted=$work/mnt
echo mq-deadline >"/sys/block/${loop#/dev/}/queue/scheduler" 2>/dev/null

mkdir "$instance" || skip "no trace instance may be made"
echo mono >"$instance/trace_clock"
echo 32768 >"$instance/buffer_size_kb"
IFS=: read -r major minor < <(cat "/sys/block/${loop#/dev/}/dev")
device=$((major << 20 | minor))
for event in block/block_{bio_queue,getrq,bio_backmerge,bio_frontmerge,rq_insert,rq_issue,rq_complete} \
	block/block_{rq_requeue,rq_merge,split,bio_remap,rq_remap,bio_complete,rq_error,plug,unplug} \
	sched/sched_process_{fork,exec} task/task_{newtask,rename}; do
	dir=$instance/events/$event
	[ -d "$dir" ] || continue
	case $event in
	*plug | sched/* | task/*) ;;
	*) echo "dev == $device" >"$dir/filter" ;;
	esac
	mkdir -p "$trace/formats/${event%/*}"
	cat "$dir/format" >"$trace/formats/$event"
	echo 1 >"$dir/enable"
done
cat "$instance/events/header_page" >"$trace/formats/header_page"

echo 1 >"$instance/tracing_on"
dd if=/dev/zero of="$work/mnt/big" bs=1M count=64 status=none
sync -f "$work/mnt"
for i in $(seq 60); do # small pieces: merges, journal commits
	dd if=/dev/zero of="$work/mnt/f$i" bs=4k count=$((i % 9 + 1)) conv=fsync status=none
done
if command -v fio >/dev/null; then
	fio --name=r --filename="$work/mnt/big" --rw=randrw --bs=4k --size=64m --io_size=8m --direct=1 \
		--ioengine=libaio --iodepth=8 --output=/dev/null >/dev/null
	fio --name=s --filename="$work/mnt/big" --rw=write --bs=4k --size=4m --direct=1 --ioengine=libaio \
		--iodepth=16 --iodepth_batch=16 --output=/dev/null >/dev/null
fi
rm "$work"/mnt/f*
sync -f "$work/mnt"
fstrim "$work/mnt"
echo 3 >"$work/mnt/last"
dd if="$work/mnt/big" of=/dev/null iflag=direct bs=8M status=none
sync -f "$work/mnt"
echo 0 >"$instance/tracing_on"

cat "$instance/trace" >"$work/text"
cpus=
for per_cpu in "$instance"/per_cpu/cpu*; do
	cpu=${per_cpu##*/cpu}
	# a page per read; the reader waits for more at the end unless it may not
	timeout 20 dd if="$per_cpu/trace_pipe_raw" of="$trace/cpu$cpu.pages" bs=4096 iflag=nonblock status=none \
		2>/dev/null
	cpus="$cpus${cpus:+, }$cpu"
done
cat "$tracing/saved_cmdlines" >"$trace/saved_cmdlines"
little=$([ "$(printf '\1\0' | od -An -tu2 | tr -d ' ')" = 1 ] && echo true || echo false)
cat >"$trace/meta.json" <<EOF
{ "trace_version": 1, "complete": true, "kernel": "$(uname -r)", "long_size": $(($(getconf LONG_BIT) / 8)),
  "page_size": $(getconf PAGESIZE), "little_endian": $little, "cpus": [$cpus], "clock": "mono" }
EOF

"$dump" "$trace" >"$work/dump" || exit 1
[ -n "${KEEP_TRACE:-}" ] && cp -r "$trace" "$KEEP_TRACE"
python3 "$here/pages_equal_trace.py" "$work/text" "$work/dump" 1000 8
