#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A small trace of the shape of the slow-sync seed: counts and latencies of `blklab report --json` against
those computed here from the text of the installed blkparse. The generated trace has no flushes, splits
or errors, so both must agree exactly."""
import json
import os
import shutil
import subprocess
import sys

PAGES = 30000


def main():
    work, build = os.environ["WORK"], os.environ["BUILD"]
    if not shutil.which("blkparse"):
        print("blkparse is not installed")
        return 77
    subprocess.run(["ninja", "-C", build, "bench/gen_seed"], check=True, stdout=subprocess.DEVNULL)
    events = int(subprocess.run([f"{build}/bench/gen_seed", "-n", str(PAGES), f"{work}/seed"], check=True,
                                capture_output=True, text=True).stdout)
    text = subprocess.run(["blkparse", "-q", "-i", f"{work}/seed/sdb", "-f", "%a %d %S %N %T %t\n"], check=True,
                          capture_output=True, text=True).stdout
    count, size, issued, d2c = {}, {}, {}, []
    for line in text.splitlines():
        field = line.split()
        if len(field) != 6 or field[0] not in "AQGMFIDC" or len(field[0]) != 1:
            continue
        action, rwbs, sector, length = field[0], field[1], int(field[2]), int(field[3])
        now = int(field[4]) * 10**9 + int(field[5])
        key = action + rwbs[0]
        count[key] = count.get(key, 0) + 1
        size[key] = size.get(key, 0) + length
        if action == "D":
            issued[sector] = now
        elif action == "C":
            d2c.append(now - issued.pop(sector))

    done = subprocess.run([os.environ["BLKLAB"], "report", "--json", f"{work}/seed/sdb"], capture_output=True, text=True,
                          check=False)
    if done.returncode:
        print(f"status {done.returncode}: {done.stderr}")
        return 1
    page = json.loads(done.stdout)
    device = page["devices"][0]
    latency = device["latency_ns"]["d2c"]
    pairs = [
        ("events", sum(one["events"] for one in page["inputs"]), events),
        ("devices", len(page["devices"]), 1),
        ("writes queued", device["bios"]["write"]["count"], count["QW"]),
        ("bytes queued", device["bios"]["write"]["bytes"], size["QW"]),
        ("reads queued", device["bios"]["read"]["count"], count["QR"]),
        ("write requests", device["requests"]["write"]["count"], count["DW"]),
        ("bytes requested", device["requests"]["write"]["bytes"], size["DW"]),
        ("back merges", device["merges"]["back"], count["MW"]),
        ("D to C: n", latency["n"], len(d2c)),
        ("D to C: min", latency["min"], min(d2c)),
        ("D to C: max", latency["max"], max(d2c)),
        ("D to C: mean", round(latency["mean"]), round(sum(d2c) / len(d2c))),
    ]
    d2c.sort()
    # The histogram may be off by 1 % of the value.
    p50 = d2c[(len(d2c) - 1) // 2]
    pairs.append(("D to C: p50", latency["p50"] if abs(latency["p50"] - p50) > 0.015 * p50 else p50, p50))
    wrong = [f"{name}: blklab {own}, blkparse {theirs}" for name, own, theirs in pairs if own != theirs]
    print("\n".join(wrong or [f"{len(pairs)} figures equal"]))
    return 1 if wrong else 0


sys.exit(main())
