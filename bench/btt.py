#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bench/btt.py BLKLAB GEN_SEED [-o OUT.md]: the drop-in btt beside the installed one.

Every round runs every arm once, in random order, over the same cached files: what the classic tools need for btt's tables
(blkparse merges the files of the CPUs, then btt), `blklab btt` on those files, and `blklab report`, which tells more. On
a merged file, made before, both btts are measured too. Before, the tables of both are compared where they count the same.
"""
import os
import shutil
import subprocess
import sys

import stats
from timing import main, rounds

CLASSIC, OURS, REPORT = "`blkparse -i sdb -O -d FILE && btt -i FILE -A`", "`blklab btt -i sdb -A`", "`blklab report sdb`"
CLASSIC_MERGED, OURS_MERGED = "`btt -i FILE -A`, merged before", "`blklab btt -i FILE -A`, merged before"
GOAL, GOAL_MIB = 10, 128
# Sections in which both count the same on this trace: it has no splits and no overlapping I/O.
SAME = ("All Devices", "Device Overhead", "Plug Information")


def tables(command, folder):
    """{section: text} that a btt writes."""
    text = subprocess.run(command, shell=True, cwd=folder, check=True, capture_output=True, text=True).stdout
    parts = [part.split(" ====================\n", 1) for part in text.split("==================== ")[1:]]
    return {name: rest.split("\n# Total System")[0] for name, rest in parts}


def compare(programs, folder):
    theirs, ours = (tables(f"{program} -i merged -A", folder) for program in (programs["btt"], programs["blklab"] + " btt"))
    for name in SAME:
        if theirs[name] != ours[name]:
            sys.exit(f"{name}: the tables differ\n{theirs[name]}\n{ours[name]}")


def bench(blklab, gen_seed, args, folder):
    programs = {"blkparse": shutil.which("blkparse"), "btt": shutil.which("btt"), "blklab": blklab}
    events = int(subprocess.run([gen_seed, "-n", str(args.pages), "seed"], cwd=folder, check=True,
                                capture_output=True, text=True).stdout)
    subprocess.run([programs["blkparse"], "-q", "-i", "seed/sdb", "-O", "-d", "merged"], cwd=folder, check=True,
                   stdout=subprocess.DEVNULL)
    if not args.no_compare:
        compare(programs, folder)
    arms = {
        CLASSIC: "sh -c '{blkparse} -i seed/sdb -O -d dump >log && {btt} -i dump -A >tables'",
        OURS: "{blklab} btt -i seed/sdb -A >tables",
        REPORT: "{blklab} report seed/sdb >tables",
        CLASSIC_MERGED: "{btt} -i merged -A >tables",
        OURS_MERGED: "{blklab} btt -i merged -A >tables",
    }
    # Without -o, btt writes a few plot files into the folder.
    plots = [f"{name}_{kind}_fp.dat" for name in ("8,16", "sys") for kind in ("iops", "mbps")]
    seconds, memory = rounds({name: command.format(**programs) for name, command in arms.items()}, args.rounds, folder, "btt",
                             clean=["dump", "tables", "log", *plots], warm=False)
    size = sum(entry.stat().st_size for entry in os.scandir(os.path.join(folder, "seed")))
    level = stats.median_interval(seconds[OURS])[2]
    out = [f"The trace of the first table ({events:,} events, {size / 2**20:.0f} MiB in the page cache). "
           f"{'' if args.no_compare else 'Both btts said the same before of ' + ', '.join(SAME) + '. '}"
           f"{args.rounds} rounds of all in random order; medians with the order-statistic interval ({100 * level:.0f} %); "
           "the ratio is taken inside each round.", "",
           "| command | wall, s | times faster than the classic's way | million events/s | peak memory, MiB |", "|---|---|---|---|---|"]
    for name in arms:
        base = seconds[CLASSIC_MERGED if name in (CLASSIC_MERGED, OURS_MERGED) else CLASSIC]
        ratio = [a / b for a, b in zip(base, seconds[name])]
        rate = [events / 1e6 / one for one in seconds[name]]
        out.append(f"| {name} | {stats.spread_text(seconds[name])} | {stats.spread_text(ratio, digits=1)} | "
                   f"{stats.spread_text(rate)} | {stats.median(memory[name]):.1f} |")
    ratio = stats.median([a / b for a, b in zip(seconds[CLASSIC], seconds[OURS])])
    worst = max(memory[OURS] + memory[OURS_MERGED])
    out += ["", f"Goals of `blklab btt`: at least {GOAL}x as fast as the classic's way: **{'met' if ratio >= GOAL else 'missed'}** "
            f"({ratio:.1f}x); at most {GOAL_MIB} MiB: **{'met' if worst <= GOAL_MIB else 'missed'}** ({worst:.1f} MiB).", ""]
    return "\n".join(out)


for program in ("blkparse", "btt"):
    if not shutil.which(program):
        sys.exit(f"{program} is not installed (make deps)")
main(bench, 5, 2560000,
     lambda parser: parser.add_argument("--no-compare", action="store_true", help="measure only"))
