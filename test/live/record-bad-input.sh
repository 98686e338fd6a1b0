#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What cannot be recorded: one sentence that names the thing, the promised status, and neither a
# directory nor an instance left behind.
set -eu
. "$(dirname "$(realpath "$0")")/lib.bash"
needs losetup
make_loop 32
record=("$BLKLAB" record -o "$WORK/trace" --no-report)
nr=0

# refused STATUS WORDS ARG...
refused() {
	local status=$1 words=$2
	shift 2
	expect "$status" "${record[@]}" "$@"
	says "$words"
	[ "$(wc -l <stderr)" = 1 ] || fail "not one sentence: $err"
	[[ $err == "blklab: record: "* ]] || fail "not in the usual form: $err"
	[ ! -e trace ] || fail "a directory was left behind by: $*"
	nr=$((nr + 1))
}

refused 1 '/dev/no-such-disk: no such device' -d /dev/no-such-disk -- true
refused 1 'no-such-disk: no such device' -d no-such-disk -- true
refused 1 '/dev/null is not a block device' -d /dev/null -- true
refused 1 '/etc/passwd is not a block device' -d /etc/passwd -- true
refused 1 "$WORK is not a block device (for a directory use --mount)" -d "$WORK" -- true
mknod no-driver b 4095 1048575 2>/dev/null && refused 1 'no-driver: no such device' -d "$WORK/no-driver" -- true
refused 1 '/proc is on proc, which has no block device' --mount /proc -- true
refused 1 '/no/such/dir: No such file or directory' --mount /no/such/dir -- true
refused 1 'no-such-command: command not found' -d "$loop" -- no-such-command
refused 1 '/no/such/command' -d "$loop" -- /no/such/command
refused 1 '/etc/passwd: Permission denied' -d "$loop" -- /etc/passwd
refused 1 "cannot run $WORK" -d "$loop" -- "$WORK"
printf '#!/no/such/interpreter\n' >script
chmod +x script
refused 1 'cannot run ./script: No such file or directory' -d "$loop" -- ./script
refused 1 'cannot make the directory /proc/trace' -d "$loop" -o /proc/trace -- true
refused 1 'cannot make the directory /no/such/dir' -d "$loop" -o /no/such/dir -- true
refused 2 "no backend is called 'nonsense'" -d "$loop" --backend nonsense -- true
refused 2 'there is no option "--nonsense"' --nonsense
for time in x '' -1 0 1x nan inf 1e300; do refused 2 '--for takes seconds' -d "$loop" --for "$time" -- true; done
for size in x '' 0 1K 2000M 2G 5X 1g nan; do refused 2 '--buffer takes 64K' -d "$loop" --buffer "$size" -- true; done
refused 2 '--for needs a value' -d "$loop" --for
refused 2 'no value for the option before it' -d --for -- true
refused 2 '--exit-with-cmd needs a command' -d "$loop" --exit-with-cmd

# Not root.
if command -v setpriv >/dev/null && [ -x "$BLKLAB" ]; then
	cp "$BLKLAB" /dev/shm/blklab-test-$$ 2>/dev/null && {
		rc=0
		setpriv --reuid 65534 --regid 65534 --clear-groups /dev/shm/blklab-test-$$ record -d "${loop#/dev/}" -o trace -- true \
			>stdout 2>stderr || rc=$?
		rm /dev/shm/blklab-test-$$
		err=$(cat stderr)
		[ $rc = 1 ] || fail "status $rc as nobody: $err"
		says "recording needs root"
	}
fi

expect 1 "$BLKLAB" doctor /dev/no-such-disk
says 'blklab: doctor: /dev/no-such-disk: no such device'
expect 2 "$BLKLAB" doctor --nonsense
expect 2 "$BLKLAB" doctor a b
expect 0 "$BLKLAB" doctor "$loop"
[[ $out == *"device      ${loop#/dev/}"* ]] || fail "doctor of a device: $out"
echo "$nr ways to be refused"
