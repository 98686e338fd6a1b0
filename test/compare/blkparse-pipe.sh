#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Our blkparse in pipe mode against the installed one: the same output, byte for byte, of generated streams
# (disorder, gaps, several devices and CPUs, notes, windows, damage, slow writers) and of stored traces.
set -eu

blkparse=$(dpkg -L blktrace 2>/dev/null | grep -x '.*/bin/blkparse' || true)
if [ -z "$blkparse" ]; then
	echo "skipped: Debian's blktrace is not installed"
	exit 77
fi
[ "$("$blkparse" -V | tr -dc 0-9.)" = 1.2.0 ] || { echo "skipped: $blkparse is not version 1.2.0"; exit 77; }

for archive in test/data/*.tar.xz; do
	dir=$WORK/$(basename "$archive" .tar.xz)
	mkdir "$dir"
	tar xJf "$archive" -C "$dir"
done
python3 -B test/compare/blkparse_pipe.py "$blkparse" "$BLKLAB" "$WORK"
