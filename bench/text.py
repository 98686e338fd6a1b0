#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bench/text.py BLKLAB GEN_SEED [-o OUT.md]: time and memory of `blklab report` over text, plain and compressed.

The text is what the installed blkparse prints of a trace of bench/gen_seed. Beside it: `wc -l` over the
same file (the least that any reader of lines can do), the decompressors alone, and the awk line with which
people count actions.
"""
import os
import shutil
import subprocess
import sys

import stats
from timing import main, rounds

GOAL_RATE, GOAL_XZ = 5.0, 0.9


def make(gen_seed, pages, folder):
    """Writes text, text.zst, text.xz, text.gz; the number of event lines."""
    def run(command):
        subprocess.run(command, shell=True, cwd=folder, check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)

    subprocess.run([gen_seed, "-n", str(pages), "seed"], cwd=folder, check=True, capture_output=True)
    run("blkparse -q -i seed/sdb > text")
    shutil.rmtree(os.path.join(folder, "seed"))
    run("zstd -q -3 text -o text.zst && xz -k -2 -T2 text && gzip -k -3 text")
    with open(os.path.join(folder, "text"), "rb") as file:
        return sum(chunk.count(b"\n") for chunk in iter(lambda: file.read(1 << 20), b""))


def bench(blklab, gen_seed, args, folder):
    nr, pages = args.rounds, args.pages
    lines = make(gen_seed, pages, folder)
    size = os.stat(os.path.join(folder, "text")).st_size
    arms = {
        "wc -l": "wc -l text",
        "awk '{ n[$6]++ }'": "awk '{ n[$6]++ } END { for (a in n) print a, n[a] }' text",
        "blklab report text": f"{blklab} report text",
        "zstd -dc \\| wc -l": "sh -c 'zstd -dc text.zst | wc -l'",
        "blklab report text.zst": f"{blklab} report text.zst",
        "gzip -dc \\| wc -l": "sh -c 'gzip -dc text.gz | wc -l'",
        "blklab report text.gz": f"{blklab} report text.gz",
        "xz -dc \\| wc -l": "sh -c 'xz -dc text.xz | wc -l'",
        "blklab report text.xz": f"{blklab} report text.xz",
    }
    seconds, memory = rounds(arms, nr, folder, "text")
    out = [f"blkparse's text of a trace of `bench/gen_seed` ({lines:,} lines, {size / 2**20:.0f} MiB, in the page cache), "
           f"{nr} rounds of all programs in random order; medians with the order-statistic interval "
           f"({100 * stats.median_interval(seconds['wc -l'])[2]:.0f} %).",
           "", "| program | wall, s | million lines/s | peak memory, MiB |", "|---|---|---|---|"]
    rate = {name: [lines / s / 1e6 for s in seconds[name]] for name in arms}
    for name in arms:
        out.append(f"| {name} | {stats.spread_text(seconds[name], digits=3)} | {stats.spread_text(rate[name])} | "
                   f"{stats.median(memory[name]):.1f} |")
    slower = min(stats.median(rate["blklab report text"]), stats.median(rate["blklab report text.zst"]))
    share = [xz / own for xz, own in zip(seconds["xz -dc \\| wc -l"], seconds["blklab report text.xz"])]
    out += ["", f"Goals: at least {GOAL_RATE:.0f} million events/s from plain and zstd text: "
            f"**{'met' if slower >= GOAL_RATE else 'missed'}** ({slower:.1f}); from xz at least {GOAL_XZ:.0%} of the speed of "
            f"`xz -dc \\| wc -l` in the same round: **{'met' if stats.median(share) >= GOAL_XZ else 'missed'}** "
            f"({stats.spread_text(share, 100, 0)} %).", ""]
    return "\n".join(out)


if not shutil.which("blkparse") or not shutil.which("zstd"):
    sys.exit("bench/text.py needs blkparse and zstd (make deps)")
main(bench, 7, 800000)
