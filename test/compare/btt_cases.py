# SPDX-License-Identifier: MIT
"""The smallest traces in which blklab btt differs from the classic: a trace of each difference of doc/btt-differences.md."""
from trace_build import A, C, D, DISCARD, F, FLUSH, FS, FUA, G, GENESIS, I, M, P, Q, R, READ, U, WRITE, X, Cpu, device, files

MS = 1_000_000


class Story:
    """Events told in milliseconds; `io` is a whole request of one bio."""

    def __init__(self, dev=device(8, 0)):
        self.cpu = Cpu(dev=dev)
        self.cpu.name(0, "swapper/0", time=GENESIS).name(1000, "fio", time=GENESIS)

    def at(self, ms, number, sector=0, sectors=8, bits=READ, **more):
        fs = FS if number in (I, D, R, C) and not more.pop("bio", False) else 0
        self.cpu.event(number, bits | fs, GENESIS + round(ms * MS), sector, sectors * 512, **more)
        return self

    def io(self, ms, sector, sectors=8, bits=READ, **more):
        for step, number in enumerate((Q, G, I, D, C)):
            self.at(ms + step, number, sector, sectors, bits, **more)
        return self

    def files(self):
        return files([self.cpu])


def majors():
    return Story(device(254, 0)).io(0, 8).io(10, 80).files()


def split():
    """A bio of 16 sectors that is cut in two requests."""
    one = Story().at(0, Q, 0, 16).at(1, X, 0, 16, pdu=(8).to_bytes(8, "big")).at(2, G, 0, 8).at(3, G, 8, 8)
    return one.at(4, D, 0, 8).at(5, D, 8, 8).at(6, C, 0, 8).at(9, C, 8, 8).files()


def overlap():
    """A read of 8 sectors while a read of 64 around them is on its way."""
    one = Story().at(0, Q, 0, 64).at(1, G, 0, 64).at(2, Q, 32, 8).at(4, G, 32, 8).at(5, D, 0, 64).at(6, D, 32, 8)
    return one.at(8, C, 32, 8).at(10, C, 0, 64).files()


def same_start():
    """Two reads of one place at a time."""
    one = Story().at(0, Q, 0, 8).at(1, G, 0, 8).at(2, D, 0, 8).at(3, Q, 0, 8).at(4, G, 0, 8)
    return one.at(5, C, 0, 8).at(6, D, 0, 8).at(8, C, 0, 8).files()


def parts():
    """A request that completes in two parts."""
    return Story().at(0, Q, 0, 16).at(1, G, 0, 16).at(2, D, 0, 16).at(4, C, 0, 8).at(7, C, 8, 8).files()


def fua():
    """A write with FUA to a device that has none: a flush follows, and the write ends with it."""
    bits = WRITE | FUA
    one = Story().at(0, Q, 0, 8, bits).at(1, G, 0, 8, bits).at(2, D, 0, 8, WRITE).at(4, C, 0, 8, WRITE)
    one.at(5, D, 0, 0, FLUSH).at(8, C, 0, 0, FLUSH)
    return one.at(9, C, 0, 0, WRITE).files()


def requeue():
    one = Story().at(0, Q, 0).at(1, G, 0).at(2, I, 0).at(3, D, 0).at(4, R, 0).at(6, D, 0).at(9, C, 0)
    return one.io(10, 100).files()


def front():
    """A bio merged in front of a request."""
    one = Story().at(0, Q, 8).at(1, G, 8).at(2, Q, 0).at(3, F, 0).at(5, I, 0, 16).at(7, D, 0, 16)
    return one.at(10, C, 0, 16).files()


def request_merge():
    """A bio fills the gap between two requests, which become one."""
    one = Story().at(0, Q, 0).at(1, G, 0).at(2, Q, 16).at(3, G, 16).at(4, Q, 8).at(5, M, 8)
    return one.at(6, M, 16, 8, READ | FS).at(8, D, 0, 24).at(10, C, 0, 24).files()


def plug_left_open():
    """Multi-queue kernels write no U where the thread issues at once."""
    one = Story().at(0, Q, 0).at(1, G, 0).at(2, P, 0, 0).at(3, D, 0).at(4, C, 0).at(1000, P, 0, 0)
    return one.io(1001, 64).at(1010, U, 0, 0, pdu=(1).to_bytes(8, "big")).files()


def median():
    one = Story()
    for turn, sector in enumerate((0, 1000, 3000, 6000, 6008)):
        one.io(turn * 10, sector)
    return one.files()


def two_modes():
    one = Story()
    for turn, sector in enumerate((0, 108, 416, 524, 832, 5000)):
        one.io(turn * 10, sector)
    return one.files()


def tiny():
    """A request of 100 bytes (passthrough apart, only on tapes and the like)."""
    cpu = Story().io(0, 0).cpu
    for step, number in enumerate((Q, G, I, D, C)):
        cpu.event(number, READ | (FS if number in (I, D, C) else 0), GENESIS + (10 + step) * MS, 64, 100)
    return files([cpu])


def three_seconds():
    one = Story()
    for turn in range(4):
        one.io(turn * 1000, turn * 64)
    return one.files()


def late():
    """I/O from the second second on."""
    return Story().at(0, Q, 0).at(1000, G, 0).at(1001, D, 0).at(1002, C, 0).io(1500, 64).files()


def slashes():
    one = Story()
    one.cpu.name(20, "kworker/0:1", time=GENESIS).name(21, "kworker/1:2H", time=GENESIS)
    return one.io(0, 0, pid=20).io(10, 64, pid=21).files()


def renamed():
    """A process that executes another program."""
    one = Story()
    one.cpu.name(30, "bash", time=GENESIS)
    one.io(0, 0, pid=30)
    one.cpu.name(30, "dd", time=GENESIS + 5 * MS)
    return one.io(10, 64, pid=30).files()


def no_name():
    one = Story()
    one.cpu.data = bytearray()
    return one.io(0, 0, pid=0).files()


def two_devices():
    """One with a seek, one with many; plugs of different length."""
    one, two = Story(), device(8, 16)
    for turn in range(2):
        one.at(turn * 10, Q, turn * 1000).at(turn * 10 + 1, P, 0, 0).at(turn * 10 + 2, U, 0, 0, pdu=(9).to_bytes(8, "big"))
        one.at(turn * 10 + 3, G, turn * 1000).at(turn * 10 + 4, D, turn * 1000).at(turn * 10 + 5, C, turn * 1000)
    for turn in range(8):
        one.io(100 + turn * 10, turn * 24, dev=two)
        one.at(106 + turn * 10, P, 0, 0, dev=two).at(107 + turn * 10, U, 0, 0, dev=two, pdu=(1).to_bytes(8, "big"))
    return one.files()


def open_at_end():
    """A bio whose request never completes."""
    return Story().io(0, 0).at(10, Q, 64).at(13, G, 64).files()


def discard():
    return Story().io(0, 0).io(10, 4096, 2097152, WRITE | DISCARD).files()


def split_queue():
    """A bio that is cut in two, and another one before the second part is issued."""
    one = Story().at(0, Q, 0, 16).at(1, X, 0, 16, pdu=(8).to_bytes(8, "big")).at(2, G, 0, 8).at(3, G, 8, 8).at(4, D, 0, 8)
    one.at(5, Q, 64).at(6, G, 64).at(7, D, 8, 8).at(8, D, 64)
    return one.at(9, C, 0, 8).at(10, C, 8, 8).at(11, C, 64).files()


def mapped_disk():
    """A disk that has requests and also maps a bio to another one."""
    above, below = device(8, 48), device(8, 0)
    one = Story(above).at(0, Q, 1000).at(1, A, 8, dev=below, pdu=remap(above, below, 1000)).at(2, Q, 8, dev=below)
    one.at(3, G, 8, dev=below).at(4, D, 8, dev=below).at(5, C, 8, dev=below).at(6, C, 1000, bio=True)
    for turn in range(3):
        one.at(10 + turn * 10, Q, turn * 64).at(11 + turn * 10, G, turn * 64)
        one.at(12 + turn * 10, D, turn * 64).at(13 + turn * 10, C, turn * 64)
    return one.files()


def no_issue():
    """A bio of md that is mapped to a disk."""
    above, below = device(9, 0), device(8, 0)
    one = Story(above).at(0, Q, 1000).at(0.5, A, 8, dev=below, pdu=remap(above, below, 1000)).at(1, Q, 8, dev=below)
    one.at(1.5, G, 8, dev=below).at(2, D, 8, dev=below).at(3, C, 8, dev=below)
    return one.at(4, C, 1000, bio=True).files()


def tree_order():
    """Two bios merged to a request: the tree's root is the one in the middle."""
    one = Story().at(0, Q, 0).at(1, G, 0).at(2, Q, 8).at(3, M, 8).at(4, Q, 16).at(5, M, 16)
    return one.at(6, D, 0, 24).at(8, C, 0, 24).files()


def remap(source, target, sector):
    return source.to_bytes(4, "big") + target.to_bytes(4, "big") + sector.to_bytes(8, "big")


CASES = {make.__name__.replace("_", "-"): make for make in (
    majors, split, overlap, same_start, parts, fua, requeue, front, request_merge, plug_left_open, median, two_modes, tiny,
    three_seconds, late, slashes, renamed, no_name, two_devices, open_at_end, discard,
    split_queue, mapped_disk, no_issue, tree_order)}
