#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""test/vm/multipath.py BLKLAB RELAY TRACEFS: an NVMe head of two hidden paths. Both backends see the same bios on the
head; the requests are those of the paths, which nobody can open, so only trace events have them. Their numbers are not in
sysfs."""
import json
import subprocess
import sys

blklab, relay, tracefs = sys.argv[1:4]


def devices(trace):
    done = subprocess.run([blklab, "report", "--json", trace], capture_output=True, check=True)
    return {d["name"] or d["device"]: d for d in json.loads(done.stdout)["devices"]}


ours, theirs = devices(relay), devices(tracefs)
head = next(name for name in ours if name.startswith("nvme"))
paths = {name: sum(c["count"] or 0 for c in d["requests"].values()) for name, d in theirs.items() if d["requests"]}


def told(counts):
    """(counts by class, bytes). Records of version 7 show write_zeroes as writes (doc/backends.md)."""
    def get(kind, key):
        return counts.get(kind, {}).get(key) or 0
    return ({"read": get("read", "count"), "write": get("write", "count") + get("write_zeroes", "count"),
             "discard": get("discard", "count"), "flush": get("flush", "count")},
            get("read", "bytes") + get("write", "bytes") + get("write_zeroes", "affected_bytes"))


bios, moved = zip(*(told(d[head]["bios"]) for d in (ours, theirs)))
below = sum(told(d["requests"])[1] for name, d in theirs.items() if name in paths)
print(f"multipath: head {head}: {bios[0]} by relay, {bios[1]} by trace events; requests of its paths: {paths}; "
      f"{moved[0]} and {moved[1]} bytes at the head, {below} on the paths")
assert bios[0] == bios[1]
assert paths and head not in paths and sum(paths.values()) > 500, paths
assert below == moved[0] == moved[1]
