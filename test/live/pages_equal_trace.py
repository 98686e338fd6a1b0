#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the kernel's own text of a trace with our decoding of the same ring buffer's pages.

    pages_equal_trace.py TRACE_TEXT DUMP [MIN_LINES MIN_KINDS]

Every line of the text is made again from the raw fields of the dump, in the words of the event's own
"print fmt", and must be equal: CPU, pid, time (the kernel rounds to whole microseconds) and all fields.
"""
import re
import sys
from collections import Counter

IOPRIO = {0: "none", 1: "rt", 2: "be", 3: "idle", 7: "invalid"}
LINE = re.compile(r"^\s*(?P<comm>.*)-(?P<pid>\d+)\s+(?:\(.*?\)\s+)?\[(?P<cpu>\d+)\]\s+(?:\S+\s+)?"
                  r"(?P<time>\d+\.\d{6}): (?P<event>\w+): (?P<rest>.*)$")
DUMP = re.compile(r'(\w+)=("(?:[^"\\]|\\x[0-9a-f]{2})*"|-?\d+|\?)')


def text_of(value):
    return re.sub(r"\\x([0-9a-f]{2})", lambda m: chr(int(m.group(1), 16)), value[1:-1])


def dev(n):
    return "%d,%d" % (n >> 20, n & 0xfffff)


def prio(n):
    cls = n >> 13 & 7
    return "%s,%u,%u" % (IOPRIO.get(cls, "0x%x" % cls), n >> 3 & 0x3ff, n & 7)


def bio(f):
    return "%s %s %u + %u [%s]" % (dev(f["dev"]), f["rwbs"], f["sector"], f["nr_sector"], f["comm"])


def request(f):
    return "%s %s %u (%s) %u + %u %s [%s]" % (dev(f["dev"]), f["rwbs"], f["bytes"], f["cmd"], f["sector"],
                                              f["nr_sector"], prio(f["ioprio"]), f["comm"])


def completion(f):
    return "%s %s (%s) %u + %u %s [%d]" % (dev(f["dev"]), f["rwbs"], f["cmd"], f["sector"], f["nr_sector"],
                                           prio(f["ioprio"]), f.get("error", 0))


def remap(f):
    return "%s %s %u + %u <- (%s) %u" % (dev(f["dev"]), f["rwbs"], f["sector"], f["nr_sector"],
                                         dev(f["old_dev"]), f["old_sector"])


TEXT = {
    "block_bio_queue": bio, "block_getrq": bio, "block_bio_backmerge": bio, "block_bio_frontmerge": bio,
    "block_rq_insert": request, "block_rq_issue": request, "block_rq_merge": request,
    "block_rq_complete": completion, "block_rq_requeue": completion, "block_rq_error": completion,
    "block_bio_remap": remap,
    "block_rq_remap": lambda f: remap(f) + " %u" % f["nr_bios"],
    "block_bio_complete": lambda f: "%s %s %u + %u [%d]" % (dev(f["dev"]), f["rwbs"], f["sector"],
                                                            f["nr_sector"], f["error"]),
    "block_split": lambda f: "%s %s %u / %u [%s]" % (dev(f["dev"]), f["rwbs"], f["sector"], f["new_sector"],
                                                     f["comm"]),
    "block_plug": lambda f: "[%s]" % f["comm"],
    "block_unplug": lambda f: "[%s] %d" % (f["comm"], f["nr_rq"]),
    "sched_process_fork": lambda f: "comm=%s pid=%d child_comm=%s child_pid=%d" % (
        f["parent_comm"], f["parent_pid"], f["child_comm"], f["child_pid"]),
    "task_newtask": lambda f: "pid=%d comm=%s clone_flags=%x oom_score_adj=%d" % (
        f["pid"], f["comm"], f["clone_flags"], f["oom_score_adj"]),
    "task_rename": lambda f: "pid=%d oldcomm=%s newcomm=%s oom_score_adj=%d" % (
        f["pid"], f["oldcomm"], f["newcomm"], f["oom_score_adj"]),
    "sched_process_exec": lambda f: "filename=%s pid=%d old_pid=%d" % (f["filename"], f["pid"], f["old_pid"]),
}


def read_dump(path):
    """Lines as the kernel would print them, as (time us, cpu, pid, event, rest), per CPU in order."""
    per_cpu = {}
    with open(path, encoding="latin-1") as lines:
        for line in lines:
            event, time_ns, cpu, rest = line.split(" ", 3)
            if event == "?":
                sys.exit("pages hold an event of unknown kind: " + line)
            pid, _, rest = rest.partition(" ")
            f = {k: text_of(v) if v[0] == '"' else int(v) for k, v in DUMP.findall(rest)}
            us = (int(time_ns) + 500) // 1000
            per_cpu.setdefault(int(cpu), []).append((us, int(cpu), int(pid), event, TEXT[event](f)))
    return per_cpu


def read_trace(path):
    per_cpu = {}
    with open(path, encoding="latin-1") as lines:
        for line in lines:
            line = line.rstrip("\n")
            if line.startswith("#") or not line:
                continue
            if "LOST" in line and "EVENTS" in line:
                sys.exit("the ring buffer lost events: make it larger: " + line)
            m = LINE.match(line)
            if not m:
                sys.exit("line of an unknown form: " + line)
            sec, usec = m["time"].split(".")
            per_cpu.setdefault(int(m["cpu"]), []).append(
                (int(sec) * 1000000 + int(usec), int(m["cpu"]), int(m["pid"]), m["event"], m["rest"]))
    return per_cpu


def main():
    trace, dump = read_trace(sys.argv[1]), read_dump(sys.argv[2])
    min_lines, min_kinds = (int(a) for a in sys.argv[3:5]) if len(sys.argv) > 4 else (1000, 8)
    kinds, differ = Counter(), 0
    for cpu in sorted(set(trace) | set(dump)):
        ours, theirs = dump.get(cpu, []), trace.get(cpu, [])
        for a, b in zip(ours, theirs):
            kinds[b[3]] += 1
            if a != b:
                differ += 1
                if differ <= 5:
                    print("kernel: %s\nours:   %s" % (b, a))
        if len(ours) != len(theirs):
            differ += abs(len(ours) - len(theirs))
            print("CPU %d: %d lines in the kernel's text, %d in the pages" % (cpu, len(theirs), len(ours)))
    lines = sum(kinds.values())
    print("%d lines compared on %d CPUs, %d kinds: %s" % (
        lines, len(trace), len(kinds), ", ".join("%s %d" % k for k in kinds.most_common())))
    print("%d differ" % differ)
    if lines < min_lines or len(kinds) < min_kinds:
        sys.exit("too little: at least %d lines and %d kinds are wanted" % (min_lines, min_kinds))
    sys.exit(1 if differ else 0)


main()
