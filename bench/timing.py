# SPDX-License-Identifier: MIT
"""Time and peak memory of a command; what the benchmarks of readers share."""
import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time


def timed(command, cwd):
    """(seconds, peak MiB, status) of a shell command. GNU time forks from a small process, so its
    maximum is that of the command (a child of this interpreter would start with its size)."""
    memory = os.path.join(cwd, "peak")
    start = time.perf_counter()
    done = subprocess.run(["/usr/bin/time", "-q", "-o", memory, "-f", "%M", "sh", "-c", "exec " + command],
                          cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, check=False)
    seconds = time.perf_counter() - start
    with open(memory, encoding="ascii") as file:
        return seconds, int(file.read().split()[-1]) / 1024, done


def rounds(arms, nr, cwd, what, seed=20240229, clean=(), warm=True):
    """Runs every arm (name -> command) once a round, in random order, and before them (warm) one round more to fill the page
    cache: (seconds, peak MiB), each name -> list. The files named in `clean` are removed after each run."""
    seconds, memory = {name: [] for name in arms}, {name: [] for name in arms}
    rng = random.Random(seed)
    for turn in range(0 if warm else 1, nr + 1):
        order = list(arms)
        rng.shuffle(order)
        for name in order:
            print(f"\r{what}: round {turn}/{nr}: {str(name):32}", end="", file=sys.stderr, flush=True)
            wall, peak, done = timed(arms[name], cwd)
            for file in clean:
                if os.path.exists(os.path.join(cwd, file)):
                    os.unlink(os.path.join(cwd, file))
            if done.returncode not in (0, 3):
                sys.exit(f"\n{name}: status {done.returncode}: {done.stderr.decode(errors='replace')}")
            if turn:
                seconds[name].append(wall)
                memory[name].append(peak)
    print(file=sys.stderr)
    return seconds, memory


def main(bench, rounds_wanted, pages, arguments=None):
    """The command line of a benchmark of readers: calls bench(blklab, gen_seed, args, folder) in a scratch folder,
    and writes the text that it returns."""
    parser = argparse.ArgumentParser()
    parser.add_argument("blklab")
    parser.add_argument("gen_seed")
    parser.add_argument("-o", default="-")
    parser.add_argument("--rounds", type=int, default=rounds_wanted)
    parser.add_argument("--pages", type=int, default=pages)
    if arguments:
        arguments(parser)
    args = parser.parse_args()
    folder = tempfile.mkdtemp(prefix="blklab-bench-", dir=os.environ.get("BLKLAB_SCRATCH", "/var/tmp"))
    try:
        text = bench(os.path.realpath(args.blklab), os.path.realpath(args.gen_seed), args, folder)
    finally:
        shutil.rmtree(folder)
    if args.o == "-":
        print(text, end="")
    else:
        with open(args.o, "w", encoding="utf-8") as file:
            file.write(text)
