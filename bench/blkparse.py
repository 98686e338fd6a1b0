#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bench/blkparse.py BLKLAB GEN_SEED [-o OUT.md]: the drop-in blkparse beside the installed one.

Every round runs every form of both once, in random order, over the same cached files, and compares what
they wrote (once, before). Each form is compared with the same form of the classic. The memory of a machine
of 128 CPUs and 3 devices is measured apart, with a small trace in each of its files.
"""
import filecmp
import os
import shutil
import subprocess
import sys

import stats
from timing import main, rounds, timed

OUTPUT = "output"
FORMS = {  # name -> (arguments, goal as a multiple of the classic's speed)
    "`-i sdb > FILE`": ("{program} -i seed/sdb > output", 15),
    "`-i sdb \\| cat >/dev/null`": ("sh -c '{program} -i seed/sdb | cat >/dev/null'", 15),
    "`-i sdb -o FILE`": ("{program} -i seed/sdb -o output", 12),
    "`-i sdb -O -d FILE`": ("{program} -i seed/sdb -O -d output", 12),
}
GOAL_MIB, CPUS, DEVICES = 64, 128, 3


def compare(programs, folder):
    """Both write the same bytes in every form that writes a file."""
    for name, (command, _) in FORMS.items():
        files = []
        for program in programs.values():
            subprocess.run(command.format(program=program), shell=True, cwd=folder, check=True,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            if os.path.exists(os.path.join(folder, OUTPUT)):
                files.append(os.path.join(folder, f"{OUTPUT}{len(files)}"))
                os.rename(os.path.join(folder, OUTPUT), files[-1])
        if files and not filecmp.cmp(*files, shallow=False):
            sys.exit(f"{name}: the outputs differ")
        for file in files:
            os.unlink(file)


def wide(programs, gen_seed, folder):
    """Peak MiB of each over 3 devices of 128 files."""
    subprocess.run([gen_seed, "-n", "20000", "small"], cwd=folder, check=True, capture_output=True)
    os.mkdir(os.path.join(folder, "wide"))
    for device in range(DEVICES):
        for cpu in range(CPUS):
            # Every file has the CPU number of its name in its records: 4 bytes at offset 40 of each.
            with open(os.path.join(folder, "small", f"sdb.blktrace.{cpu % 8}"), "rb") as file:
                data = bytearray(file.read())
            at = 0
            while at < len(data):
                data[at + 40:at + 44] = cpu.to_bytes(4, "little")
                at += 48 + int.from_bytes(data[at + 46:at + 48], "little")
            with open(os.path.join(folder, "wide", f"sd{chr(98 + device)}.blktrace.{cpu}"), "wb") as file:
                file.write(data)
    names = " ".join(f"-i wide/sd{chr(98 + device)}" for device in range(DEVICES))
    return {who: timed(f"{program} -q {names}", folder)[1] for who, program in programs.items()}


def bench(blklab, gen_seed, args, folder):
    nr, pages, compared = args.rounds, args.pages, not args.no_compare
    events = int(subprocess.run([gen_seed, "-n", str(pages), "seed"], cwd=folder, check=True,
                                capture_output=True, text=True).stdout)
    programs = {"blkparse": shutil.which("blkparse"), "blklab": f"{blklab} blkparse"}
    if compared:
        compare(programs, folder)
    arms = {(form, who): command.format(program=program)
            for form, (command, _) in FORMS.items() for who, program in programs.items()}
    seconds, memory = rounds(arms, nr, folder, "blkparse", clean=[OUTPUT], warm=False)
    size = sum(entry.stat().st_size for entry in os.scandir(os.path.join(folder, "seed")))
    level = stats.median_interval(next(iter(seconds.values())))[2]
    out = [f"The trace of the first table ({events:,} events, {size / 2**20:.0f} MiB in the page cache). "
           f"{'The outputs of both programs were compared before: the same bytes. ' if compared else ''}"
           f"{nr} rounds of all in random order; medians with the order-statistic interval ({100 * level:.0f} %); "
           "the ratio is taken inside each round.", "",
           "| form | blkparse 1.2.0, s | `blklab blkparse`, s | times faster | goal | peak memory, MiB |",
           "|---|---|---|---|---|---|"]
    for form, (_, goal) in FORMS.items():
        theirs, ours = seconds[form, "blkparse"], seconds[form, "blklab"]
        ratio = [a / b for a, b in zip(theirs, ours)]
        out.append(f"| {form} | {stats.spread_text(theirs, digits=1)} | {stats.spread_text(ours)} | {stats.spread_text(ratio, digits=1)} | "
                   f"{goal}x: **{'met' if stats.median(ratio) >= goal else 'missed'}** | {stats.median(memory[form, 'blklab']):.1f} |")
    peak = wide(programs, gen_seed, folder)
    worst = max(max(memory[form, "blklab"]) for form in FORMS)
    out += ["", f"Goal: at most {GOAL_MIB} MiB: **{'met' if worst <= GOAL_MIB else 'missed'}** ({worst:.1f}). "
            f"{CPUS} CPUs x {DEVICES} devices ({CPUS * DEVICES} small files): {peak['blklab']:.0f} MiB, blkparse {peak['blkparse']:.0f} MiB.", ""]
    return "\n".join(out)


if not shutil.which("blkparse"):
    sys.exit("blkparse is not installed (make deps)")
main(bench, 5, 2560000,
     lambda parser: parser.add_argument("--no-compare", action="store_true", help="measure only"))
