#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Our merge of per-CPU files against the installed blkparse: the same order of events on every stored
# device, also where times are equal or run backwards.
set -eu

blkparse=$(dpkg -L blktrace 2>/dev/null | grep -x '.*/bin/blkparse' || true)
if [ -z "$blkparse" ]; then
	echo "skipped: Debian's blktrace is not installed"
	exit 77
fi
[ "$("$blkparse" -V | tr -dc 0-9.)" = 1.2.0 ] || { echo "skipped: $blkparse is not version 1.2.0"; exit 77; }

devices=0 events=0
for archive in test/data/*.tar.xz; do
	dir=$WORK/$(basename "$archive" .tar.xz)
	mkdir "$dir"
	tar xJf "$archive" -C "$dir"
	for file in "$dir"/*.blktrace.0; do
		device=$(basename "$file" .blktrace.0)
		"$BUILD/test/print_order" "$dir/$device" >"$WORK/ours"
		# Only lines of our format: its statistics follow, and messages have lines of their own.
		(cd "$dir" && "$blkparse" -q -i "$device" -f 'EV %c %s\n') | sed -n 's/^EV //p' >"$WORK/theirs"
		if ! cmp -s "$WORK/ours" "$WORK/theirs"; then
			echo "$device of $archive: the order differs from line $(cmp "$WORK/ours" "$WORK/theirs" | sed 's/.*line //') on"
			diff "$WORK/ours" "$WORK/theirs" | head -n 5
			exit 1
		fi
		devices=$((devices + 1)) events=$((events + $(wc -l <"$WORK/ours")))
	done
done
[ "$devices" -ge 9 ] || { echo "only $devices devices were found"; exit 1; }
echo "$devices devices, $events events in the same order"
