#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bench/report.py BLKLAB GEN_SEED [-o OUT.md]: time and memory of `blklab report` beside the classic tools.

Every round runs every program once, in random order, over the same cached files; `cat` of the files is
the measure that makes machines comparable. Prints a table.
"""
import os
import shutil
import subprocess

import stats
from timing import main, rounds

GOAL_RATIO, GOAL_MIB = 8.0, 64


def bench(blklab, gen_seed, args, folder):
    nr, pages = args.rounds, args.pages
    events = int(subprocess.run([gen_seed, "-n", str(pages), "seed"], cwd=folder, check=True,
                                capture_output=True, text=True).stdout)
    size = sum(entry.stat().st_size for entry in os.scandir(os.path.join(folder, "seed")))
    arms = {
        "cat": "cat seed/sdb.blktrace.* ",
        "blklab report": f"{blklab} report seed/sdb",
        "blklab report --json": f"{blklab} report --json seed/sdb",
        "blkparse -O (no text)": "blkparse -i seed/sdb -O",
        "blkparse (text)": "blkparse -i seed/sdb",
        "btt (merged file, made before)": "btt -i merged",
    }
    # btt reads what blkparse -d wrote; that step is not in its time.
    if not shutil.which("blkparse"):
        arms = {name: command for name, command in arms.items() if "bl" in name and "blkp" not in name or name == "cat"}
    else:
        subprocess.run("blkparse -i seed/sdb -O -d merged", shell=True, cwd=folder, check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    seconds, memory = rounds(arms, nr, folder, "report")
    out = [f"A trace of the shape of the 10 GB `dd` + `sync` ({events:,} events, 8 CPU files, "
           f"{size / 2**20:.0f} MiB, in the page cache; `bench/gen_seed`), {nr} rounds of all programs in "
           "random order. Medians with the order-statistic interval "
           f"({100 * stats.median_interval(seconds['cat'])[2]:.0f} %); the ratio to `cat` is taken inside each round.",
           "", "| program | wall, s | x `cat` | million events/s | peak memory, MiB |", "|---|---|---|---|---|"]
    for name in arms:
        against = [own / cat for own, cat in zip(seconds[name], seconds["cat"])]
        rate = [events / own / 1e6 for own in seconds[name]]
        out.append(f"| {name} | {stats.spread_text(seconds[name], digits=3)} | {stats.spread_text(against)} | "
                   f"{stats.spread_text(rate)} | {stats.median(memory[name]):.1f} |")
    ours = stats.median([own / cat for own, cat in zip(seconds["blklab report"], seconds["cat"])])
    peak = max(memory["blklab report"])
    out += ["", f"Goals: `report` at most {GOAL_RATIO:.0f}x `cat`: **{'met' if ours <= GOAL_RATIO else 'missed'}** "
            f"({ours:.1f}x); at most {GOAL_MIB} MiB: **{'met' if peak <= GOAL_MIB else 'missed'}** ({peak:.1f} MiB).", ""]
    return "\n".join(out)


main(bench, 7, 2560000)
