# SPDX-License-Identifier: MIT
"""Histories that the classic btt joins rightly: every bio becomes a request of its own or is merged, every request
is inserted, issued and completed once, nothing that is under way overlaps, every plug is opened and closed."""
import os
import random

from trace_build import (A, AHEAD, C, D, DISCARD, F, FS, G, GENESIS, I, M, META, P, PC, Q, READ, S, SYNC, U, UT, WRITE,
                         Cpu, device)

SLOT = 8192  # sectors that one request may touch
SLOTS = 4096
MAPPED = 1 << 33  # how far up a mapped bio was on the mapper
NAMES = ("fio", "dd", "postgres", "a name of 15 ch", "sync", "mkfs.ext4")


class One:
    """A request on its way: its bios in the order of their sectors."""

    def __init__(self, slot, start, bios, bits, pid):
        self.slot, self.start, self.bios, self.bits, self.pid = slot, start, bios, bits, pid

    def size(self):
        return sum(self.bios) * 512


class History:
    def __init__(self, seed, nr_cpus, disks, mapper=None, order="<", front=False, most=6):
        """disks: device numbers; mapper: a device without requests, whose bios are mapped to the first disk."""
        self.rng = random.Random(seed + 1000 * int(os.environ.get("BTT_SEED", "0")))
        self.cpus = [Cpu(number, order, disks[0]) for number in range(nr_cpus)]
        self.disks, self.mapper, self.front, self.most, self.now, self.events = disks, mapper, front, most, GENESIS, 0
        self.free = {disk: self.rng.sample(range(SLOTS), SLOTS) for disk in disks}
        self.begun, self.steps = set(), []  # what is to come: functions of what is under way
        for turn, name in enumerate(NAMES):
            self.rng.choice(self.cpus).name(500 + turn, name, time=GENESIS - 100 + turn)
        self.cpus[0].name(0, "swapper/0", time=GENESIS - 10)

    def emit(self, dev, number, bits, sector, size, pid, **more):
        rng = self.rng
        self.now += rng.choice((1, 250, 1_000, 7_000, 30_000, 400_000, 4_000_000)) if self.events else 1000
        self.events += 1
        rng.choice(self.cpus).event(number, bits, self.now, sector, size, pid=pid, dev=dev, **more)

    def pick(self, disk):
        rng = self.rng
        bits = rng.choice((READ, READ, READ | AHEAD, WRITE, WRITE, WRITE | SYNC, WRITE | META, WRITE | (DISCARD if self.front else SYNC)))
        slot, nr = self.free[disk].pop(), min(rng.choice((1, 1, 1, 2, 3, 6)), self.most)
        sizes = (2, 8, 8, 16, 64, 256, 1024) if nr > 1 else (1, 2, 8, 8, 8, 32, 256, 1024, 1025, 2048)
        bios = [rng.choice(sizes) for _ in range(nr)]
        return One(slot, slot * SLOT + rng.randrange(0, SLOT // 4, 8), bios, bits, rng.choice(range(498, 507)))

    def queue_bio(self, disk, one, start, sectors):
        mapped = self.mapper and disk == self.disks[0] and self.rng.random() < 0.4
        if mapped:
            one.bios_mapped = getattr(one, "bios_mapped", []) + [(start, sectors)]
            self.emit(self.mapper, Q, one.bits, start + MAPPED, sectors * 512, one.pid)
            self.emit(disk, A, one.bits, start, sectors * 512, one.pid, pdu=remap(self.mapper, disk, start + MAPPED))
        elif self.rng.random() < 0.1:
            self.emit(disk, A, one.bits, start, sectors * 512, one.pid, pdu=remap(disk + 1, disk, start - 64))
        self.emit(disk, Q, one.bits, start, sectors * 512, one.pid)

    def submit(self, disk):
        """Some I/O of one thread, in a plug or not."""
        rng = self.rng
        plugged, ones = rng.random() < 0.6 and disk in self.begun, [self.pick(disk) for _ in range(rng.choice((1, 1, 2, 5)))]
        self.begun.add(disk)  # a P before the first Q does not count
        if plugged:
            self.emit(disk, P, READ, 0, 0, ones[0].pid)
        for one in ones:
            # The one that gets the request, and on which side of it the others merge.
            first = rng.randrange(len(one.bios)) if self.front and rng.random() < 0.3 else 0
            starts = [one.start + sum(one.bios[:nr]) for nr in range(len(one.bios))]
            self.queue_bio(disk, one, starts[first], one.bios[first])
            if rng.random() < 0.05:
                self.emit(disk, S, one.bits, starts[first], one.bios[first] * 512, one.pid)
            self.emit(disk, G, one.bits, starts[first], one.bios[first] * 512, one.pid)
            for nr in [*range(first + 1, len(one.bios)), *range(first - 1, -1, -1)]:
                self.queue_bio(disk, one, starts[nr], one.bios[nr])
                self.emit(disk, M if nr > first else F, one.bits, starts[nr], one.bios[nr] * 512, one.pid)
        if plugged:
            self.emit(disk, rng.choice((U, U, UT)), READ, 0, 0, ones[0].pid,
                      pdu=rng.choice((len(ones), len(ones), 37, 250)).to_bytes(8, "big"))
        for one in ones:
            self.emit(disk, I, one.bits | FS, one.start, one.size(), one.pid)
            self.steps.append(self.later(disk, one))

    def later(self, disk, one):
        def issue():
            self.emit(disk, D, one.bits | FS, one.start, one.size(), self.rng.choice((one.pid, 42)))
            self.steps.append(complete)

        def complete():
            # In parts that end with a bio.
            at, parts = one.start, [one.bios]
            if len(one.bios) > 1 and self.rng.random() < 0.2:
                cut = self.rng.randrange(1, len(one.bios))
                parts = [one.bios[:cut], one.bios[cut:]]
            for part in parts:
                self.emit(disk, C, one.bits | FS, at, sum(part) * 512, 0)
                at += sum(part)
            for start, sectors in getattr(one, "bios_mapped", []):
                self.emit(self.mapper, C, one.bits, start + MAPPED, sectors * 512, 0)
            self.free[disk].insert(0, one.slot)
        return issue

    def other(self, disk):
        """What is not counted, and messages."""
        rng = self.rng
        if rng.random() < 0.5:
            self.now += 5
            rng.choice(self.cpus).message(b"%s %d" % (rng.choice((b"bfq", b"fio done")), rng.randrange(99)), time=self.now,
                                          dev=disk)
        else:
            self.emit(disk, D, PC | READ, 0, 512, 499, pdu=b"\x12\0\0\0")
            self.emit(disk, C, PC | READ, 0, 512, 499, pdu=b"\x12\0\0\0")

    def run(self, events):
        rng = self.rng
        while self.events < events or self.steps:
            disk = rng.choice(self.disks)
            if self.events < events and (not self.steps or rng.random() < 0.3):
                self.submit(disk)
            elif rng.random() < 0.02:
                self.other(disk)
            else:
                self.steps.pop(rng.randrange(min(len(self.steps), 8)))()
            if rng.random() < 0.004:
                self.now += rng.randrange(90_000_000, 3_000_000_000)
        return self.cpus


def remap(source, target, sector):
    return source.to_bytes(4, "big") + target.to_bytes(4, "big") + sector.to_bytes(8, "big")


HISTORIES = {
    "plain": lambda: History(1, 2, [device(8, 0)], most=1).run(1500),
    "merges": lambda: History(1, 2, [device(8, 0)]).run(1500),
    "disks": lambda: History(2, 4, [device(8, 0), device(8, 32), device(259, 1)], most=1).run(2500),
    "mapped": lambda: History(3, 3, [device(8, 0), device(8, 16)], mapper=device(253, 0), most=1).run(2500),
    "both": lambda: History(6, 2, [device(8, 0), device(8, 48)], mapper=device(8, 48), most=1).run(800),
    "fronts": lambda: History(5, 2, [device(8, 0), device(8, 16)], mapper=device(253, 0), front=True).run(1500),
    "big-endian": lambda: History(4, 2, [device(8, 0)], order=">", most=1).run(600),
}
