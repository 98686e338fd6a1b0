#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bench/record.py BLKLAB [-o OUT.md]: what recording costs, on 4 KiB random I/O to a scratch loop device.

A block runs every condition once, in random order: nothing, `blklab record`, `perf record`, biosnoop. Each
condition is measured twice: at 10,000 I/Os per second (CPU time per I/O, latency) and at saturation (I/Os
per second). A difference is taken inside its block; shown are pseudo-medians with exact 95 % intervals.
The tool is running and has settled before fio starts and is stopped after it ended.
"""
import argparse
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import stats

RATE = 10000
GOALS = {"cpu": 2000, "latency": 5, "iops": -20}
BIOSNOOP_BT = os.path.join(os.path.dirname(os.path.realpath(__file__)), "biosnoop.bt")


def cpu_idle_ns():
    """Idle time of all CPUs in ns. Exact on a kernel that stops its tick when idle, unlike the busy
    columns of /proc/stat, which are sampled."""
    with open("/proc/stat", encoding="ascii") as file:
        fields = file.readline().split()
    return (int(fields[4]) + int(fields[5])) * 10**9 // os.sysconf("SC_CLK_TCK")


def fio(device, seed, seconds, extra):
    command = ["fio", "--name=bench", f"--filename={device}", "--direct=1", "--rw=randrw", "--bs=4k",
               "--ioengine=libaio", f"--randseed={seed}", "--time_based", f"--runtime={seconds}",
               "--group_reporting", "--percentile_list=50:99", "--output-format=json", *extra]
    start, idle = time.monotonic_ns(), cpu_idle_ns()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    idle, wall = cpu_idle_ns() - idle, time.monotonic_ns() - start
    if done.returncode:
        sys.exit(f"fio: {done.stderr}")
    # fio may print warnings before the JSON.
    job = json.loads(done.stdout[done.stdout.index("{"):])["jobs"][0]
    ios = job["read"]["total_ios"] + job["write"]["total_ios"]
    if job["error"] or not ios:
        sys.exit(f"fio: error {job['error']}, {ios} I/Os")
    result = {"cpu": (wall * os.cpu_count() - idle) / ios, "iops": job["read"]["iops"] + job["write"]["iops"], "ios": ios}
    for way in ("read", "write"):
        for quantile in ("50", "99"):
            result[f"{way} p{quantile}"] = job[way]["clat_ns"]["percentile"][quantile + ".000000"]
    return result


class Tool:
    """A recorder: started before fio, stopped by SIGINT after it; then says what it got and lost."""
    name, label = "none", "nothing"

    def __init__(self, folder, device):
        self.folder, self.device, self.process = folder, device, None

    def command(self):
        return None

    def missing(self):
        """Why it cannot run here, or None."""
        return None

    def start(self):
        if not self.command():
            time.sleep(1)  # as long as the others settle
            return
        self.log = open(os.path.join(self.folder, self.name + ".log"), "w+", encoding="utf-8", errors="replace")
        self.process = subprocess.Popen(self.command(), stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log,
                                        cwd=self.folder)
        limit = time.monotonic() + 30
        while not self.ready() and self.process.poll() is None and time.monotonic() < limit:
            time.sleep(0.1)
        time.sleep(1)
        if self.process.poll() is not None:
            raise RuntimeError(f"{self.name}: ended at once: {self.text().strip()[-300:]}")

    def ready(self):
        return True

    def text(self):
        with open(self.log.name, encoding="utf-8", errors="replace") as file:
            return file.read()

    def stop(self):
        """(events, lost) since start; None where not known."""
        if not self.process:
            return None, None
        self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(180)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise RuntimeError(f"{self.name}: did not end after SIGINT")
        finally:
            self.log.close()
            self.process = None
        return self.result()

    def abort(self):
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            try:
                self.process.wait(60)
            except subprocess.TimeoutExpired:
                self.process.kill()

    def result(self):
        return None, None

    def remove(self, *names):
        for name in names:
            path = os.path.join(self.folder, name)
            if os.path.isdir(path):
                shutil.rmtree(path)
            elif os.path.exists(path):
                os.remove(path)


class Blklab(Tool):
    name, label = "blklab", "`blklab record`"
    program = None

    def command(self):
        return [self.program, "record", "-d", self.device, "-o", "blklab.trace"]

    def ready(self):
        for tracefs in ("/sys/kernel/tracing", "/sys/kernel/debug/tracing"):
            if os.path.isdir(f"{tracefs}/instances/blklab-{self.process.pid}"):
                return True
        return False

    def result(self):
        done = subprocess.run([self.program, "report", "--json", "blklab.trace"], cwd=self.folder, capture_output=True,
                              text=True, check=False)
        self.remove("blklab.trace")
        if done.returncode not in (0, 3):
            raise RuntimeError(f"blklab report: {done.stderr} {self.text()[-300:]}")
        page = json.loads(done.stdout)
        losses = page["losses"]
        lost = losses.get("lost_events")
        return sum(one["events"] for one in page["inputs"]), lost if lost is not None else losses.get("dropped")


class Perf(Tool):
    name, label = "perf", "`perf record -a -e 'block:*'`"

    def command(self):
        return ["perf", "record", "-a", "-e", "block:*", "-o", "perf.data"]

    def missing(self):
        if not shutil.which("perf"):
            return "perf is not installed (tools/deps bench)"
        done = subprocess.run(["perf", "record", "-a", "-e", "block:*", "-o", "perf.data", "true"], cwd=self.folder,
                              capture_output=True, text=True, check=False)
        return None if not done.returncode else "perf: " + done.stderr.strip().splitlines()[-1]

    def result(self):
        text = self.text()
        self.remove("perf.data")
        events = re.search(r"\((\d+) samples\)", text)
        lost = sum(int(n) for n in re.findall(r"lost (\d+) (?:events|samples)", text, re.I))
        lost += sum(int(n) for n in re.findall(r"(\d+) events lost", text, re.I))
        chunks = re.search(r"lost (\d+) chunks", text)
        return int(events.group(1)) if events else None, (f"{chunks.group(1)} chunks" if chunks else lost)


class Biosnoop(Tool):
    name = "biosnoop"
    label = "`biosnoop`"
    classic = True

    def missing(self):
        # bcc's program needs kprobes and kernel headers; bench/biosnoop.bt does the same work without.
        why = "biosnoop-bpfcc is not installed"
        if shutil.which("biosnoop-bpfcc"):
            process = subprocess.Popen(["biosnoop-bpfcc"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                       stderr=subprocess.PIPE, text=True)
            try:
                _, text = process.communicate(timeout=12)
                why = (text.strip().splitlines() or ["no message"])[-1]
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGINT)
                process.communicate()
                return None
        self.classic = False
        self.label = "biosnoop's work in bpftrace (`bench/biosnoop.bt`)"
        self.note = f"`biosnoop-bpfcc` does not run here ({why.strip()}); `bench/biosnoop.bt` does its work on tracepoints."
        return None if shutil.which("bpftrace") else why + "; bpftrace is not installed (tools/deps bench)"

    def command(self):
        return ["biosnoop-bpfcc"] if self.classic else ["bpftrace", "-o", "biosnoop.out", BIOSNOOP_BT]

    def ready(self):
        if self.classic:  # compiles for some seconds, and says nothing on a file until its buffer is full
            time.sleep(8)
            return True
        path = os.path.join(self.folder, "biosnoop.out")
        return os.path.exists(path) and os.path.getsize(path) > 0

    def result(self):
        text = self.text()
        if not self.classic:
            with open(os.path.join(self.folder, "biosnoop.out"), encoding="utf-8", errors="replace") as file:
                text = file.read() + text
        self.remove("biosnoop.out")
        lost = sum(int(n) for n in re.findall(r"lost (\d+)", text, re.I))
        return text.count("\n"), lost


def measure(tool, device, seed, rate_seconds, seconds):
    """One condition of one block."""
    tool.start()
    rate = fio(device, seed, rate_seconds, ["--iodepth=8", f"--rate_iops={RATE // 2},{RATE // 2}"])
    tool.stop()
    tool.start()
    full = fio(device, seed, seconds, ["--iodepth=32", "--numjobs=2"])
    events, lost = tool.stop()
    return {**{key: rate[key] for key in rate if key != "iops"}, "rate": rate["iops"], "iops": full["iops"],
            "events/s": None if events is None else events / seconds, "lost": lost, "events": events}


def table(tools, runs, args, notes):
    base = {key: [run[key] for run in runs["none"]] for key in runs["none"][0]}

    def column(name, key):
        return [run[key] for run in runs[name]]

    out = [f"4 KiB random reads and writes (half each) by fio on a loop device with direct I/O, {args.blocks} blocks of all "
           f"conditions in random order. Cost = difference to \"nothing\" in the same block: "
           "Hodges-Lehmann centre with its exact 95 % signed-rank interval. (a), (b): at "
           f"{RATE:,} I/Os per second for {args.rate_seconds} s; (c): at saturation (2 jobs, depth 32) for {args.seconds} s. `perf` and biosnoop see every "
           "device of the machine, also the disk below the loop device; `blklab record` the loop device.", "",
           "| condition | (a) CPU ns/I/O, whole machine | (b) read p50, us | read p99, us | write p50, us | write p99, us "
           "| (c) I/Os per second |", "|---|---|---|---|---|---|---|"]
    for tool in tools:
        row = [tool.label, stats.spread_text(column(tool.name, "cpu"), digits=0)]
        row += [stats.spread_text(column(tool.name, key), 1e-3, 1) for key in ("read p50", "read p99", "write p50", "write p99")]
        row.append(stats.spread_text(column(tool.name, "iops"), digits=0))
        out.append("| " + " | ".join(row) + " |")
    out += ["", "Added by the tool:", "", "| tool | (a) CPU ns per I/O | (b) read p50, % | read p99, % | write p50, % | write p99, % "
            "| (c) I/Os per second, % | events/s at saturation | lost there |", "|---|---|---|---|---|---|---|---|---|"]
    for tool in tools[1:]:
        cpu = stats.hodges_lehmann([own - none for own, none in zip(column(tool.name, "cpu"), base["cpu"])])
        row = [tool.label, stats.interval_text(cpu, 0)]
        for key in ("read p50", "read p99", "write p50", "write p99", "iops"):
            row.append(stats.interval_text(stats.ratio(column(tool.name, key), base[key])))
        events = [x for x in column(tool.name, "events/s") if x is not None]
        row.append(f"{stats.median(events):,.0f}" if events else "n/a")
        lost = column(tool.name, "lost")
        if all(isinstance(x, int) for x in lost):
            row.append(f"{sum(lost):,} of {sum(column(tool.name, 'events')) + sum(lost):,}")
        else:
            # perf counts lost pieces of its buffer, each of many events
            chunks = sum(int(str(x).split()[0]) for x in lost if x)
            row.append(f"{chunks:,} chunks of many events" if chunks else "n/a")
        out.append("| " + " | ".join(row) + " |")
    ours = runs.get("blklab")
    if ours:
        cpu = stats.hodges_lehmann([own["cpu"] - none for own, none in zip(ours, base["cpu"])])
        latency = max((stats.ratio(column("blklab", key), base[key]) for key in
                       ("read p50", "read p99", "write p50", "write p99")), key=lambda x: x[0])
        iops = stats.ratio(column("blklab", "iops"), base["iops"])

        def verdict(triple, limit, lower_is_better):
            centre, low, high = triple if lower_is_better else (-triple[0], *(None if x is None else -x for x in
                                                                                      (triple[2], triple[1])))
            limit = limit if lower_is_better else -limit
            if high is not None and high <= limit:
                return "met"
            if low is not None and low > limit:
                return "missed"
            return "centre within, interval not" if centre <= limit else "centre above, interval not"
        out += ["", f"Goals of `blklab record`: (a) at most {GOALS['cpu']} ns: **{verdict(cpu, GOALS['cpu'], True)}**; (b) no quantile "
                f"moved by more than {GOALS['latency']} % (the worst is taken): **{verdict(latency, GOALS['latency'], True)}**; (c) at most "
                f"{-GOALS['iops']} % fewer: **{verdict(iops, GOALS['iops'], False)}**."]
        for tool in tools[1:]:
            if tool.name == "blklab":
                continue
            against = [stats.hodges_lehmann([own["cpu"] - other["cpu"] for own, other in zip(ours, runs[tool.name])])]
            against += [stats.ratio(column("blklab", key), column(tool.name, key)) for key in ("read p99", "write p99", "iops")]
            out.append(f"`blklab record` against {tool.label}: CPU {stats.interval_text(against[0], 0)} ns per I/O; read p99 "
                       f"{stats.interval_text(against[1])} %; write p99 {stats.interval_text(against[2])} %; I/Os per second "
                       f"{stats.interval_text(against[3])} %.")
    out += [""] + [f"- {note}" for note in notes] + [""] * bool(notes)
    return "\n".join(out)


def bench(args, folder, device):
    Blklab.program = os.path.realpath(args.blklab)
    notes, tools = [], []
    for kind in (Tool, Blklab, Perf, Biosnoop):
        tool = kind(folder, device)
        why = tool.missing()
        if why:
            notes.append(f"Not measured: {tool.label}: {why}")
            continue
        if hasattr(tool, "note"):
            notes.append(tool.note)
        tools.append(tool)
    runs = {tool.name: [] for tool in tools}
    rng = random.Random(args.seed)
    try:
        for turn in range(args.blocks + 1):
            order = list(tools)
            rng.shuffle(order)
            for tool in order:
                print(f"\rrecord: block {turn}/{args.blocks}: {tool.name:10}", end="", file=sys.stderr, flush=True)
                # Same accesses for all conditions of a block, others in the next.
                run = measure(tool, device, args.seed + turn, args.rate_seconds if turn else 1,
                              args.seconds if turn else 1)
                if turn:  # the first block is a rehearsal
                    runs[tool.name].append(run)
    finally:
        for tool in tools:
            tool.abort()
        print(file=sys.stderr)
    if args.raw:
        with open(args.raw, "w", encoding="utf-8") as file:
            json.dump(runs, file, indent=1)
    return table(tools, runs, args, notes)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("blklab")
    parser.add_argument("-o", default="-")
    parser.add_argument("--raw", help="all measured values as JSON")
    parser.add_argument("--blocks", type=int, default=12)
    parser.add_argument("--seconds", type=int, default=4)
    parser.add_argument("--rate-seconds", type=int, default=6)
    parser.add_argument("--mib", type=int, default=512)
    parser.add_argument("--seed", type=int, default=20240229)
    args = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    folder = tempfile.mkdtemp(prefix="blklab-bench-", dir=os.environ.get("BLKLAB_SCRATCH", "/var/tmp"))
    device = None
    try:
        disk = os.path.join(folder, "disk")
        # Written once, so that no run allocates blocks.
        subprocess.run(["dd", "if=/dev/zero", f"of={disk}", "bs=1M", f"count={args.mib}", "oflag=direct", "status=none"],
                       check=True)
        device = subprocess.run(["losetup", "--direct-io=on", "--show", "-f", disk], check=True, capture_output=True,
                                text=True).stdout.strip()
        text = bench(args, folder, device)
    finally:
        if device:
            subprocess.run(["losetup", "-d", device], check=False)
        shutil.rmtree(folder)
    if args.o == "-":
        print(text)
    else:
        with open(args.o, "w", encoding="utf-8") as file:
            file.write(text + "\n")


main()
