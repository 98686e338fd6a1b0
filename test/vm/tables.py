#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""test/vm/tables.py BLKLAB NAME TRACE_A TRACE_B [DEVICE_NAME]: the request tables of two recordings of the same I/O.

Both were armed before the workload began and stopped after it had ended. Compared are class, range, bytes, error
and attempts, for every range in the order of time; how far apart the times are is printed. Passthrough has no range. Prints
how many requests there were and every difference.
"""
import json
import statistics
import subprocess
import sys



def table(blklab, trace, only):
    done = subprocess.run([blklab, "report", "--json", "--requests", trace], capture_output=True, check=False)
    if done.returncode not in (0, 3):
        sys.exit(f"{trace}: status {done.returncode}: {done.stderr.decode()}")
    report = json.loads(done.stdout)
    names = {d["device"]: d["name"] for d in report["devices"] if d["kind"] == "request"}
    start = report["start_wall_ns"]
    rows = []
    for r in report["requests_list"]:
        if r["device"] not in names or r["kind"] != "request" or (only and names[r["device"]] != only):
            continue
        if r["state"] != "completed" or r["class"] == "passthrough":
            continue
        end = start + r["end_ns"]
        # Version 7 of blktrace's records has no word for write_zeroes: a plain W of its full length (doc/backends.md).
        of = "write" if r["class"] == "write_zeroes" else r["class"]
        rows.append({"key": (r["device"], of, r["sector"], r["sectors"], r["bytes"], r["errno"], r["attempts"]),
                     "end": end, "d2c": r["phases_ns"].get("d2c")})
    return rows, names


def main():
    blklab, name, trace_a, trace_b = sys.argv[1:5]
    a, names = table(blklab, trace_a, sys.argv[5] if len(sys.argv) > 5 else None)
    b, _ = table(blklab, trace_b, sys.argv[5] if len(sys.argv) > 5 else None)
    if not a or not b:
        sys.exit(f"{name}: {len(a)} and {len(b)} requests")
    for rows in (a, b):
        rows.sort(key=lambda r: r["end"])
    differ = 0
    left = {}
    for r in a:
        left.setdefault(r["key"], []).append(r)
    apart = []
    for r in b:
        twin = left.get(r["key"])
        if not twin:
            print(f"{name}: only in {trace_b}: {r['key']}")
            differ += 1
            continue
        other = twin.pop(0)
        if r["d2c"] is not None and other["d2c"] is not None:
            apart.append(abs(r["d2c"] - other["d2c"]))
    for rest in left.values():
        for r in rest:
            print(f"{name}: only in {trace_a}: {r['key']}")
            differ += 1
    classes = {}
    for r in b:
        classes[r["key"][1]] = classes.get(r["key"][1], 0) + 1
    print(f"{name}: {len(a)} and {len(b)} requests on {', '.join(sorted(set(names.values())))} "
          f"({', '.join(f'{n} {c}' for c, n in sorted(classes.items()))}), {differ} differ; "
          f"d2c differs by {statistics.median(apart):.0f} ns (median), {sorted(apart)[len(apart) * 9 // 10]} (p90); failed: {sum(r['key'][5] != 0 for r in b)}, "
          f"several attempts: {sum(r['key'][6] > 1 for r in b)}")
    sys.exit(differ > 0)


main()
