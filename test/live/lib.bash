# SPDX-License-Identifier: MIT
#
# What the recording tests share: a scratch folder, a loop device with or without ext4 on it, checks,
# and the way back from all of it. Sourced; the caller has `set -eu`.
#
# BLKLAB is the program (build/blklab), WORK an empty folder to work in (one is made where unset).

BLKLAB=$(realpath "${BLKLAB:-build/blklab}")
tracing=/sys/kernel/tracing
own_work= loops=() mounts=() pids=() instances=()

skip() {
	echo "skipped: $1"
	exit 77
}

fail() {
	echo "failed: $*" >&2
	exit 1
}

cleanup() {
	local i
	set +e
	for i in "${pids[@]}"; do kill "$i" 2>/dev/null && wait "$i" 2>/dev/null; done
	for i in "${instances[@]}"; do [ -d "$tracing/instances/$i" ] && rmdir "$tracing/instances/$i"; done
	for ((i = ${#mounts[@]} - 1; i >= 0; i--)); do umount "${mounts[i]}"; done
	for i in "${loops[@]}"; do
		# Detached already, its number may be somebody else's by now.
		case $(cat "/sys/block/${i#/dev/}/loop/backing_file" 2>/dev/null) in
		"$WORK"/*) ;;
		*) continue ;;
		esac
		partx -d "$i" 2>/dev/null
		losetup -d "$i"
	done
	[ -z "$own_work" ] || rm -rf --one-file-system "$own_work"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

needs() {
	local tool
	[ "$(id -u)" = 0 ] || skip "needs root"
	for tool; do command -v "$tool" >/dev/null || skip "$tool is not installed"; done
	"$BLKLAB" doctor >/dev/null || skip "nothing can be recorded here (see blklab doctor)"
	[ -d $tracing/instances ] || skip "tracefs is not mounted at $tracing"
	if [ -z "${WORK:-}" ]; then
		own_work=$(mktemp -d "${TMPDIR:-/var/tmp}/blklab-live-XXXXXX")
		WORK=$own_work
	fi
	cd "$WORK"
}

# make_loop MIB: a loop device on a new scratch file, into $loop.
make_loop() {
	local file=$WORK/disk${#loops[@]}
	truncate -s "$1M" "$file"
	loop=$(losetup --direct-io=on --show -f "$file" 2>/dev/null) ||
		loop=$(losetup --show -f "$file" 2>/dev/null) || skip "no loop device to be had"
	loops+=("$loop")
}

# make_fs MIB: one with ext4 on it, mounted at $mnt.
make_fs() {
	make_loop "$1"
	mkfs.ext4 -q -F "$loop"
	mnt=$WORK/mnt${#mounts[@]}
	mkdir "$mnt"
	mount "$loop" "$mnt" || skip "the loop device cannot be mounted"
	mounts+=("$mnt")
}

# expect STATUS COMMAND...: its output into $out and $err.
expect() {
	local wanted=$1 rc=0
	shift
	"$@" >"$WORK/stdout" 2>"$WORK/stderr" </dev/null || rc=$?
	out=$(cat "$WORK/stdout") err=$(cat "$WORK/stderr")
	[ "$rc" = "$wanted" ] || fail "status $rc, not $wanted, of: $* ($err)"
}

# says WORDS: what the last command printed as errors.
says() {
	[[ $err == *"$1"* ]] || fail "does not say \"$1\" but: $err"
}

# meta DIR EXPRESSION: a Python expression over meta.json (as m) must be true.
meta() {
	python3 - "$1" "$2" <<-'END' || fail "not true of $1/meta.json: $2"
		import json, sys
		m = json.load(open(sys.argv[1] + "/meta.json"))
		value = eval(sys.argv[2])
		if not value:
		    print(json.dumps({k: m[k] for k in m if k not in ("events", "threads")}, indent=1), file=sys.stderr)
		sys.exit(0 if value else 1)
	END
}

# The instance of process $1 is not there (any more).
no_instance() {
	[ ! -d "$tracing/instances/blklab-$1" ] || fail "the instance of process $1 is still there"
}

# No instance of a recording that this test made: those of others may come and go.
instances_like_before() {
	local now
	now=$(ls $tracing/instances)
	[ "$now" = "$instances_before" ] || fail "instances before: $instances_before; now: $now"
}

# start_record ARG...: in the background, into $pid; returns once it records.
start_record() {
	local own
	"$BLKLAB" record --no-report "$@" >"$WORK/stdout" 2>"$WORK/stderr" </dev/null &
	pid=$!
	pids+=("$pid")
	for _ in $(seq 200); do
		# A new instance is on by itself, before it is set up; its events are not.
		own=$tracing/instances/blklab-$pid
		[ "$(cat "$own/events/block/block_rq_issue/enable" "$own/tracing_on" 2>/dev/null)" != $'1\n1' ] || return 0
		kill -0 "$pid" 2>/dev/null || fail "did not start: $(cat "$WORK/stderr")"
		sleep 0.05
	done
	fail "does not record after 10 s"
}

# end_of STATUS: the background recording must end with it, soon.
end_of() {
	local rc=0 waited
	for waited in $(seq 200); do
		kill -0 "$pid" 2>/dev/null || break
		[ "$waited" -lt 200 ] || fail "still runs after 20 s"
		sleep 0.1
	done
	wait "$pid" || rc=$?
	err=$(cat "$WORK/stderr")
	[ "$rc" = "$1" ] || fail "status $rc, not $1: $err"
	no_instance "$pid"
}
