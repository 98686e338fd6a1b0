# SPDX-License-Identifier: MIT
"""What the matrix cannot compare: live input, signals, and what ours does where the classic ends in memory that
is not its own. Each check gives None or what is wrong."""
import fcntl
import os
import signal
import struct
import subprocess
import termios
import time

from trace_build import C, D, FS, PC, Q, READ, Cpu
from trace_gen import history
from trace_sets import merged

PATIENCE = 20  # seconds: only ever waited for in full where something is wrong


def until(condition):
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


class Live:
    """A program that reads standard input from a pipe which stays open."""

    def __init__(self, program, words, env, path):
        self.path = path
        read, self.pipe = os.pipe()
        with open(path, "wb") as out:
            self.process = subprocess.Popen(words, executable=program, stdin=read, stdout=out, stderr=subprocess.STDOUT, env=env)
        os.close(read)

    def feed(self, data):
        os.write(self.pipe, data)

    def drained(self):
        return struct.unpack("i", fcntl.ioctl(self.pipe, termios.FIONREAD, b"\0\0\0\0"))[0] == 0

    def size(self):
        return os.path.getsize(self.path)

    def end(self, by=None):
        """Ends it by a signal, or by the end of its input: status and output."""
        if not by:
            os.close(self.pipe)
        if by:
            self.process.send_signal(by)
        try:
            status = self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            status = f"still running {PATIENCE} s later, {self.process.wait()}"
        if by:
            os.close(self.pipe)
        return status, self.path.read_bytes()


def both(programs, work):
    """The classic and ours as (program, words without arguments)."""
    own = programs.ours if programs.ours[0] != programs.classic else ["blkparse"]
    return ((programs.classic, ["blkparse"], work / "classic.live"), (programs.ours[0], list(own), work / "ours.live"))


def signals(programs, work):
    """A signal ends the reading, not the printing: as if the input had ended. (So does the classic, as long as the
    signal does not come while it waits for input: then it goes on waiting.)"""
    stream = merged(*history("<", seed=41, nr_cpus=2, events=200))
    env = {**programs.env, "LOCPATH": programs.locales[0]}
    (program, words, path), (own, own_words, own_path) = both(programs, work)
    classic = Live(program, [*words, "-s", "-i", "-"], env, path)
    classic.feed(stream)
    expected = classic.end()
    for by in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        ours = Live(own, [*own_words, "-s", "-i", "-"], env, own_path)
        ours.feed(stream)
        if not until(ours.drained):
            return f"{own}: does not read its input"
        time.sleep(0.2)  # it has read all and waits for more
        found = ours.end(by)
        if found != expected:
            return f"{by.name}: status {found[0]}, {len(found[1])} bytes instead of {len(expected[1])}"
    return None


def live(programs, work):
    """What the classic shows while its input is still open, ours shows too; and all of it at the end."""
    records = [bytes(Cpu().event(Q, sequence=nr, sector=nr, time=nr * 1000).data) for nr in range(1, 201)]
    env = {**programs.env, "LOCPATH": programs.locales[0]}
    shown, ends = [], []
    for program, words, path in both(programs, work):
        one = Live(program, [*words, "-i", "-"], env, path)
        for at in range(0, len(records), 40):
            one.feed(b"".join(records[at:at + 40]))
            if not until(one.drained):
                return f"{program}: does not read its input"
            time.sleep(0.1)
        # The classic prints what it read in an earlier round.
        if not until(lambda one=one: not shown and one.size() or shown and one.size() >= min(shown)):
            return f"after 200 events the classic has shown {shown} bytes, ours {one.size()}"
        shown.append(one.size())
        ends.append(one.end())
    if ends[0] != ends[1]:
        return f"at the end: classic {ends[0][0]}, {len(ends[0][1])} bytes; ours {ends[1][0]}, {len(ends[1][1])} bytes"
    return None


def own_output(programs, work, name, data, args, stdin=None):
    folder = work / name
    folder.mkdir()
    (folder / "sda.blktrace.0").write_bytes(data)
    done = subprocess.run([*programs.ours, *args], cwd=folder, capture_output=True, env=programs.env, input=stdin, timeout=PATIENCE,
                          check=False)
    return done.returncode, done.stdout, done.stderr


def long_dumps(programs, work):
    """Payloads beyond the 4096 letters that the classic has room for."""
    cpu, expected = Cpu().event(Q), []
    for size in (1364, 1365, 1366, 4096, 21845, 65535):
        pdu = bytes(nr % 255 + 1 for nr in range(size))
        cpu.event(D, PC | READ, pdu=pdu).event(C, FS | READ)
        expected.append(b" 4096 (" + pdu.hex(" ").encode() + b") [(null)]")
    status, out, error = own_output(programs, work, "long-dumps", cpu.data, ["-q", "-i", "sda"])
    found = [line[line.index(b"   R") + 4:] for line in out.split(b"\n") if b"  D   R" in line]
    if status or found != expected:
        return f"status {status}, {len(found)} dumps of {len(expected)}: {error[:200]!r}"
    status, out, error = own_output(programs, work, "long-dumps-own", cpu.data, ["-q", "-i", "sda", "-F", "D,%P\\n"])
    found = [line for line in out.split(b"\n") if line.startswith(b"01 02")]
    if status or [len(line) for line in found] != [len(line) - len(" 4096 () [(null)]") for line in expected]:
        return f"-F D,%P: status {status}, {len(found)} dumps of {len(expected)}: {error[:200]!r}"
    return None


def short_names(programs, work):
    """Names of fewer than 16 bytes without a NUL: the classic prints what lies behind them."""
    cpu = Cpu().name(1, b"abc").name(2, b"").event(Q, pid=1).event(Q, pid=2).event(Q, pid=3)
    status, out, _ = own_output(programs, work, "short-names", cpu.data, ["-q", "-i", "sda", "-f", "%p [%C]\\n"])
    if status or not out.startswith(b"1 [abc]\n2 []\n3 [(null)]\n"):
        return f"status {status}, {out[:60]!r}"
    return None


def many_cpus(programs, work):
    """A stream of 300 CPUs: the classic writes outside its map of them."""
    of = [Cpu(number) for number in (0, 1, 63, 64, 255, 300)]
    for turn in range(60):
        of[turn % len(of)].event(Q, time=10**9 + turn * 1000, sector=turn)
    status, out, _ = own_output(programs, work, "many-cpus", merged(*of), ["-i", "-", "-f", "%c %S\\n"], stdin=merged(*of))
    expected = b"".join(b"%d %d\n" % (of[turn % len(of)].number, turn) for turn in range(60))
    if status or not out.startswith(expected):
        return f"status {status}, {out[:60]!r}"
    return None


def other_classics(programs, work):
    """--fix and the other versions run to their end and print as many events."""
    data = b"".join(bytes(cpu.data) for cpu in history("<", seed=42, nr_cpus=1, events=300))
    counts = set()
    for args in ([], ["--classic=1.3"], ["--classic=8"], ["--fix"], ["--fix", "--classic=1.3"]):
        status, out, error = own_output(programs, work, "-".join(["other", *args]), data, [*args, "-s", "-t", "-i", "sda"])
        if status:
            return f"{' '.join(args)}: status {status}, {error[:200]!r}"
        counts.add(sum(1 for line in out.split(b"\n") if line.startswith(b"  8,0 ")))
    return None if len(counts) == 1 else f"lines: {counts}"


# (what, check, is it only of ours)
CHECKS = (
    ("SIGINT, SIGTERM and SIGHUP end a live run as its end would", signals, True),
    ("live input is shown as soon as by the classic", live, False),
    ("hex dumps of more than 1365 bytes (the classic overflows its buffer)", long_dumps, True),
    ("names shorter than 16 bytes (the classic prints what lies behind)", short_names, True),
    ("streams of many CPUs (the classic writes outside its map of CPUs)", many_cpus, True),
    ("--fix and --classic=", other_classics, True),
)
