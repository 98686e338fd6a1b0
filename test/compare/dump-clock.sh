#!/bin/bash
# SPDX-License-Identifier: MIT
#
# A merged dump of the installed `blkparse -d` gives the names of the files it was made of, though its
# events count from 0 and its notes do not; and it claims no wall clock.
set -eu

blkparse=$(dpkg -L blktrace 2>/dev/null | grep -x '.*/bin/blkparse' || true)
if [ -z "$blkparse" ]; then
	echo "skipped: Debian's blktrace is not installed"
	exit 77
fi

# facts FILE: how long it is, and who did how much.
facts() {
	"$BLKLAB" report --json "$1" >"$WORK/json" || [ $? = 3 ]
	python3 -B - "$WORK/json" <<-'END'
		import json, sys
		r = json.load(open(sys.argv[1]))
		print(r["span_ns"])
		for p in r["processes"]:
		    print(p["pid"], p["comm"], p["bios"])
	END
}

devices=0
for archive in test/data/*.tar.xz; do
	dir=$WORK/$(basename "$archive" .tar.xz)
	mkdir "$dir"
	tar xJf "$archive" -C "$dir"
	for file in "$dir"/*.blktrace.0; do
		device=$(basename "$file" .blktrace.0)
		(cd "$dir" && "$blkparse" -i "$device" -O -d "$device.dump" >/dev/null 2>&1) || continue
		facts "$dir/$device" >"$WORK/set"
		facts "$dir/$device.dump" >"$WORK/dump"
		grep -q '"start_wall_ns": null' "$WORK/json" || { echo "$device of $archive: a wall clock"; exit 1; }
		diff "$WORK/set" "$WORK/dump" || { echo "$device of $archive differs"; exit 1; }
		devices=$((devices + 1))
	done
done
[ "$devices" -ge 5 ] || { echo "only $devices devices were found"; exit 1; }
echo "$devices devices, the same names and no clock"
