# SPDX-License-Identifier: MIT
"""Synthetic traces, the same on every run: everything that a record can hold, more of it than real traces have."""
import os
import random
import struct

from trace_build import (A, AHEAD, B, C, CGROUP, D, DISCARD, DRIVER, F, FLUSH, FS, FUA, G, GENESIS, I, M, MESSAGE,
                         META, NOTIFY, P, PC, PROCESS, Q, R, READ, S, SYNC, U, UT, WRITE, X, Cpu, cpus, device, files)


def actions(order):
    """Every action with every category, direction and kind of size; every combination of flags."""
    two = cpus(2, order)
    for cpu in two:
        cpu.clock(1_600_000_000, 123_456_789).name(1000, "writer").name(0, "swapper/%d" % cpu.number)
    turn = 0
    for number in list(range(0, 22)) + [255, 0x8001, 0xffff]:
        if number & CGROUP:
            continue
        pdu = {U: struct.pack(">Q", 4), UT: struct.pack(">Q", 5), X: struct.pack(">Q", 1008), DRIVER: b"driver",
               A: struct.pack(">IIQ", device(8, 1), device(8, 16), 952)}.get(number, b"")
        for kind in (0, FS, PC, FS | PC):
            for direction in (0, READ, WRITE, READ | WRITE):
                for size in (0, 100, 4096):
                    turn += 1
                    two[turn & 1].event(number, kind | direction, GENESIS + turn * 777, 1000 + 8 * turn, size,
                                        pid=turn % 3 * 500, pdu=pdu, error=-5 if turn % 7 == 0 else 0)
    flags = (FLUSH, DISCARD, FUA, AHEAD, SYNC, META, WRITE)
    for mask in range(1 << len(flags)):
        bits = sum(flag for bit, flag in enumerate(flags) if mask >> bit & 1)
        turn += 1
        two[turn & 1].event((Q, D, C)[turn % 3], bits | (0 if bits & WRITE else READ), GENESIS + turn * 777, 9000,
                            (0, 8192)[turn >> 1 & 1])
    return files(two)


def payloads(order):
    cpu = Cpu(0, order).name(1000, "cdb tool")
    cpu.event(Q)
    cdbs = [b"", b"\0", b"\0\0", b"\x12", b"\x12\0\0\0$\0", b"\x12\0\0\0$\1", bytes(16), bytes(15) + b"\1", bytes(range(16)),
            b"\xff" * 10, b"\0\1\0\1\0\0\0\0", bytes(range(256)), b"\1" + bytes(299)]
    for number in (Q, G, S, R, D, C, I, M, F, P, U, X, A, B):
        for cdb in cdbs:
            if number not in (U, X, A) or len(cdb) >= 16:
                cpu.event(number, PC | READ, sector=len(cdb), size=len(cdb) * 7, pdu=cdb)
    for number in (D, C, I, R, Q):
        cpu.event(number, FS | WRITE, pdu=b"\x2a\0\1\2").event(number, FS | WRITE, size=0, pdu=b"\x2a\0\1\2")
    for count in (0, 1, 127, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**63 + 5):
        cpu.unplug(count).unplug(count, UT).split(count, sector=count & 0xffff)
        cpu.remap(count & 0xffffffff, (count * 3) & 0xffffffff, count, sector=count & 0xffffffff, size=count % 5000)
    return files([cpu])


def driver_data(order):
    cpu = Cpu(0, order).name(1000, "driver")
    cpu.event(Q)
    for size in (0, 1, 16, 4096, 65535):
        cpu.event(DRIVER, 0, pdu=bytes(i & 255 for i in range(size))).event(D, FS | READ)
    cpu.event(DRIVER, READ, pdu=b"x").event(DRIVER, PC, pdu=b"y").event(DRIVER, FS | WRITE)
    return files([cpu])


def messages(order):
    two = cpus(2, order)
    texts = [b"", b"hello world", b"m" * 127, b"two\nlines\n", b"100% %s %n %", bytes(range(1, 128)), b"bin\x80\xff\xc3",
             b"nul\0behind", "grüße".encode(), b" ", b"\n", b"\t", b"x" * 1000]
    for turn, text in enumerate(texts):
        cpu = two[turn & 1]
        cpu.message(text, pid=(0, 1000)[turn & 1], time=GENESIS + 3000 * turn, dev=(0, device(8, 0))[turn >> 1 & 1])
        cpu.event(Q, time=GENESIS + 3000 * turn + 500)
        cpu.record((NOTIFY | READ | SYNC) << 16 | MESSAGE, time=GENESIS + 3000 * turn + 700, sector=7, size=512, pdu=text,
                   error=3, sequence=99)
    return files(two)


def notes(order):
    three = cpus(3, order)
    three[0].clock(1_600_000_000, 999_999_999).event(Q, pid=1).event(Q, pid=2).event(Q, pid=3).event(Q, pid=4)
    for number in (3, 7, 255, 0xffff):
        three[0].note(number, b"unknown note", pid=9)
    for pid in range(10, 30):
        three[0].event(Q, pid=pid, sector=pid)
    three[0].event(Q, pid=2**31).event(Q, pid=2**32 - 1).event(Q, pid=0)
    # Names in another file than their events, before and behind them; the second of a pid; odd ones.
    three[1].name(1, "first").name(1, "second").name(2, "with a blank").name(3, b"sixteen-letters!").name(4, "")
    three[1].name(12, b"longer-than-sixteen-letters").name(13, "a]b[c").name(14, "n\nl")
    three[1].name(15, "grüße").name(16, b"\xff\xfe\x80".ljust(16, b"\0")).name(17, b"nul\0behind nul..").name(10, b"\0" * 16).name(18, "%s %n").name(19, "\t")
    three[1].name(2**31, "high").name(2**32 - 1, "highest").name(0, "idle")
    three[1].clock(1_700_000_000, 1).event(Q, pid=1).clock(0, 0).event(Q, pid=2).clock(2**32 - 1, 999_999_999)
    three[2].event(Q, pid=20, time=GENESIS + 9_000_000)
    three[2].name(20, "late").event(Q, pid=20).name(1, "third").event(Q, pid=1).event(C, pid=29)
    for turn in range(600):
        three[2].event(Q, pid=40)
    three[2].name(40, "behind a batch").event(Q, pid=40)
    return files(three)


def cgroup(order):
    cpu = Cpu(0, order).name(1000, "flagged")
    group = struct.pack(order + "II", 77, 1)
    cpu.event(Q).note(MESSAGE | CGROUP, group + b"in a group").event(Q | CGROUP, pdu=group).event(C | CGROUP, FS | READ, pdu=group)
    cpu.event(U | CGROUP, pdu=group + struct.pack(">Q", 3)).event(D | CGROUP, PC | READ, pdu=group + b"\x12\0\1")
    cpu.note(PROCESS | CGROUP, group + b"other\0", pid=1001).event(Q, pid=1001)
    return files([cpu])


def times(order):
    """Equal times across CPUs, runs of them, times that run backwards, and before the first event."""
    rng = random.Random(3)
    four = cpus(4, order)
    for cpu in four:
        at = GENESIS + cpu.number % 3
        for turn in range(150):
            cpu.event(Q, time=at, sector=turn)
            at += rng.choice((0, 0, 0, 1, 1, 2, 5, -1, -3, 1000))
        cpu.event(Q, time=GENESIS - 5_000_000_000).event(Q, time=GENESIS + 10**9)
    return files(four)


def wide(order):
    """The most that each column holds, alone and together."""
    cpu = Cpu(0, order).name(2**31 - 1, "pid").name(2**32 - 1, "last pid")
    cpu.event(Q)
    most = {"sector": 2**64 - 1, "size": 2**32 - 1, "pid": 2**32 - 1, "error": 65535, "sequence": 2**32 - 1,
            "dev": 2**32 - 1, "time": GENESIS + 99_999_999_999_999}
    for number in (Q, D, C, M, R, P):
        for column, value in most.items():
            if column != "time":
                cpu.event(number, FS | WRITE, **{column: value}).event(number, PC | WRITE, **{column: value})
    cpu.event(Q, pid=2**31 - 1).event(Q, size=2**31).event(C, size=2**31 - 1).event(Q, sector=2**63)
    cpu.event(Q, time=GENESIS + 99_999_000_000_000)
    for number in (Q, D, C):
        cpu.event(number, FS | WRITE | FLUSH | FUA | SYNC | META | AHEAD, **most)
    cpu.message(b"late").event(Q, time=2**64 - 1).event(Q, time=5)
    return files([cpu])


def units(order):
    """Sums beyond a million KiB, MiB, GiB; completions of 2 GiB and more; requeues first."""
    two = cpus(2, order)
    two[0].name(1, "large")
    two[0].event(R, FS | READ, size=4096, pid=1).event(R, FS | WRITE, size=1 << 20, pid=1)
    for cpu in two:
        for turn in range(260):
            cpu.event(Q, WRITE, size=2**32 - 512, sector=turn * 2**23, pid=1)
        for turn in range(3):
            cpu.event(Q, READ, size=999_999 * 1024 // 3, pid=1).event(C, FS | READ, size=2**30 + 511, pid=2)
        cpu.event(D, FS | WRITE, size=2**31, pid=1).event(C, FS | WRITE, size=2**31, pid=1)
        cpu.event(C, FS | WRITE, size=2**31 + 1000, pid=1).event(C, FS | WRITE, size=2**32 - 1, pid=1)
    return files(two)


def exact(order):
    """Sums at the thresholds of the units: 1,000,000 and 1,000,001 KiB; throughput of odd bytes in odd times."""
    two = cpus(2, order)
    two[0].event(Q, READ, size=1_000_000 * 1024).event(Q, WRITE, size=1_000_000 * 1024 + 1023)
    two[1].event(Q, READ, size=1_000_001 * 1024).event(D, FS | READ, size=1_000_000 * 1024).event(D, FS | READ, size=1024)
    for turn in range(50):
        two[turn & 1].event(C, FS | (READ, WRITE)[turn % 3 == 0], size=1001 + turn, time=GENESIS + turn * 999_983)
    return files(two)


def processes(order):
    """Names whose natural order differs from that of their bytes, many pids of one name, pids without a name."""
    rng = random.Random(5)
    two = cpus(2, order)
    names = ["kworker/%d:%d" % (a, b) for a in (0, 1, 2, 10, 11) for b in (0, 1, 2, 10)]
    names += ["a1", "a01", "a001", "a10", "a010", "a", "A1", "a1b", "a1.5", "a1.10", "000", "00", "0", "1", "01", "~", "_",
              "é", "jbd2/vda1-8", "jbd2/vda1-10", " lead", "zz top", "", "fio", "fio", "fio", "unknown"]
    for pid, name in enumerate(names, 100):
        two[pid & 1].name(pid, name)
    for turn in range(900):
        two[turn & 1].event(rng.choice((Q, Q, G, I, D, C, M, F, U, UT, R, P)), rng.choice((READ, WRITE)) |
                            rng.choice((0, FS, FS, PC)), GENESIS + 5000 + turn * 1000, rng.randrange(40) * 8,
                            rng.choice((0, 512, 4096, 65536)), pid=rng.choice((100, 110, 120, 95, 99)) +
                            rng.randrange(30), pdu=struct.pack(">Q", turn))
    return files(two)


class History:
    """I/O that could have been: bios are queued, become requests or merge, are inserted, issued, requeued, complete."""

    def __init__(self, seed, of):
        self.rng, self.cpus = random.Random(seed + 1000 * int(os.environ.get("MATRIX_SEED", "0"))), of
        self.now = GENESIS
        self.allocated, self.inserted, self.issued = [], [], []
        for cpu in of:
            cpu.clock(1_600_000_000, 250_000_000, time=GENESIS - 1000)
        for pid in range(2000, 2012):
            self.rng.choice(of).name(pid, "worker/%d" % (pid - 2000), time=GENESIS - 900)

    def emit(self, number, bits, one, **more):
        rng = self.rng
        self.now += rng.choice((0, 0, 150, 700, 3_000, 20_000, 400_000))
        more.setdefault("pid", one[3] if rng.random() < 0.7 else rng.choice((0, 9, 2000)))
        rng.choice(self.cpus).event(number, one[2] | bits, self.now, one[0], one[1], **more)

    def queue(self):
        rng = self.rng
        bits = rng.choice((READ, READ | AHEAD, READ | META, WRITE, WRITE | SYNC, WRITE | SYNC | FUA, WRITE | DISCARD))
        one = (rng.randrange(1 << 22) * 8, rng.choice((512, 4096, 4096, 16384, 131072)), bits, rng.randrange(2000, 2015))
        if rng.random() < 0.05:
            self.emit(A, 0, one, pdu=struct.pack(">IIQ", device(8, 1), device(8, 0), one[0] - 2048 & 2**32 - 1))
        self.emit(Q, 0, one)
        if rng.random() < 0.03:
            self.emit(X, 0, one, pdu=struct.pack(">Q", one[0] + 4))
        if self.allocated and rng.random() < 0.2:
            into = self.allocated.pop()
            if rng.random() < 0.5:
                self.emit(M, 0, (into[0] + into[1] // 512, one[1], into[2], one[3]))
                self.allocated.append((into[0], into[1] + one[1], into[2], into[3]))
            else:
                start = max(into[0] - one[1] // 512, 0)
                self.emit(F, 0, (start, one[1], into[2], one[3]))
                self.allocated.append((start, into[1] + one[1], into[2], into[3]))
            return
        if rng.random() < 0.3:
            self.emit(P, 0, (0, 0, READ, one[3]))
        self.emit(G, 0, one)
        self.allocated.append(one)

    def insert(self):
        one = self.allocated.pop(self.rng.randrange(len(self.allocated)))
        if self.rng.random() < 0.6:
            self.emit(I, FS, one)
        if self.rng.random() < 0.3:
            count = struct.pack(">Q", self.rng.randrange(1, 16))
            self.emit(self.rng.choice((U, UT)), 0, (0, 0, READ, one[3]), pdu=count)
        self.inserted.append(one)

    def issue(self):
        one = self.inserted.pop(self.rng.randrange(len(self.inserted)))
        self.emit(D, FS, one)
        if self.rng.random() < 0.05:
            self.emit(R, FS, one)
            self.inserted.append(one)
        else:
            self.issued.append(one)

    def complete(self):
        one = self.issued.pop(self.rng.randrange(len(self.issued)))
        error = -5 if self.rng.random() < 0.01 else 0
        if one[1] > 65536 and self.rng.random() < 0.5:
            self.emit(C, FS, (one[0], one[1] // 2, one[2], one[3]), error=error)
            one = (one[0] + one[1] // 1024, one[1] // 2, one[2], one[3])
        self.emit(C, FS, one, error=error, pid=self.rng.choice((0, 0, one[3])))

    def flush(self):
        self.emit(D, FS | FLUSH, (0, 0, READ, 9), pid=9)
        self.emit(C, FS | FLUSH, (0, 0, READ, 0), pid=0)

    def run(self, events):
        rng = self.rng
        while sum(cpu.sequence for cpu in self.cpus) < events:
            choice = rng.random()
            if choice < 0.3 or not (self.allocated or self.inserted or self.issued):
                self.queue()
            elif choice < 0.52:
                self.insert() if self.allocated else self.queue()
            elif choice < 0.75:
                self.issue() if self.inserted else self.queue()
            elif choice < 0.98:
                self.complete() if self.issued else self.queue()
            elif choice < 0.99:
                self.flush()
            else:
                cpu = rng.choice(self.cpus)
                cpu.message(b"%s %d" % (rng.choice((b"cfq", b"bfq", b"fio")), rng.randrange(99)), time=self.now)
        return self.cpus


def history(order, seed=1, nr_cpus=4, events=900, dev=device(8, 0)):
    return History(seed, cpus(nr_cpus, order, dev)).run(events)
