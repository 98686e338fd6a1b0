#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The text that blkparse prints of a stored trace gives the same counts and latencies as the trace itself, with
# and without elapsed times and in formats of somebody's own. The installed blkparse prints the elapsed times (some
# of them are what lies in its memory), ours the rest: compare/blkparse-matrix says that it is the same, and it takes
# a tenth of the time.
set -eu

blkparse=$(dpkg -L blktrace 2>/dev/null | grep -x '.*/bin/blkparse' || true)
if [ -z "$blkparse" ]; then
	echo "skipped: Debian's blktrace is not installed"
	exit 77
fi

# values FILE: what the text must tell as the trace does.
values() {
	"$BLKLAB" report --json "$1" >"$WORK/json" || [ $? = 3 ]
	python3 -B test/compare/blkparse_values.py "$WORK/json" "$2"
}

own='%D %2c %8s %5T.%9t %6p %2a %3d %10S + %10n (%4e) [%C]\n'
columns='%5T.%9t, %p, %C, %a, %d, %S, %n\n'
devices=0 texts=0
for archive in test/data/*.tar.xz; do
	dir=$WORK/$(basename "$archive" .tar.xz)
	mkdir "$dir"
	tar xJf "$archive" -C "$dir"
	for file in "$dir"/*.blktrace.0; do
		device=$(basename "$file" .blktrace.0)
		text=$WORK/$device.txt
		devices=$((devices + 1))
		for how in default elapsed own columns; do
			printer=("$BLKLAB" blkparse)
			case $how in
			default) options=(-q) ;;
			elapsed) options=(-q -t) printer=("$blkparse") ;;
			own) options=(-q -f "$own") ;;
			columns) options=(-q -f "$columns") ;;
			esac
			(cd "$dir" && "${printer[@]}" -i "$device" "${options[@]}" 2>/dev/null) | grep -v '^Input file ' >"$text"
			values "$dir/$device" "$how" >"$WORK/trace"
			values "$text" "$how" >"$WORK/text"
			if ! diff "$WORK/trace" "$WORK/text" >"$WORK/diff"; then
				echo "$device of $archive, $how: the trace (<) and its text (>) differ"
				head -n 20 "$WORK/diff"
				exit 1
			fi
			texts=$((texts + 1))
		done
	done
done
[ "$devices" -ge 9 ] || { echo "only $devices devices were found"; exit 1; }
echo "$texts texts of $devices devices tell what the traces tell"
