# SPDX-License-Identifier: MIT
"""Files of blktrace (version 7, both byte orders) made record by record."""
import struct

(READ, WRITE, FLUSH, SYNC, QUEUE, REQUEUE, ISSUE, COMPLETE, FS, PC, NOTIFY, AHEAD, META, DISCARD, DRV_DATA,
 FUA) = (1 << bit for bit in range(16))
(Q, M, F, G, S, R, D, C, P, U, UT, I, X, B, A, ABORT, DRIVER) = range(1, 18)
CGROUP = 0x100
PROCESS, TIMESTAMP, MESSAGE = range(3)
# What the kernel adds to each action.
IMPLIED = {Q: QUEUE, M: QUEUE, F: QUEUE, G: QUEUE, S: QUEUE, R: REQUEUE, D: ISSUE, C: COMPLETE, P: QUEUE,
           U: QUEUE, UT: QUEUE, I: QUEUE, A: QUEUE, ABORT: QUEUE, DRIVER: DRV_DATA}
MAGIC = 0x65617400
GENESIS = 5_000_000_000_000


def device(major, minor):
    return major << 20 | minor


class Cpu:
    """The file of one CPU. Every argument is a column of the record; what is not given is plausible."""

    def __init__(self, number=0, order="<", dev=device(8, 0)):
        self.number, self.order, self.dev = number, order, dev
        self.data = bytearray()
        self.sequence = 0
        self.time = GENESIS

    def record(self, action, time=None, sector=0, size=0, pid=1000, error=0, pdu=b"", sequence=0, dev=None,
               cpu=None, magic=MAGIC | 7, pdu_len=None):
        self.time = self.time + 1000 if time is None else time
        self.data += struct.pack(
            self.order + "IIQQIIIIIHH", magic, sequence, self.time & (1 << 64) - 1, sector, size, action, pid,
            self.dev if dev is None else dev, self.number if cpu is None else cpu, error & 0xffff,
            len(pdu) if pdu_len is None else pdu_len) + pdu
        return self

    def event(self, number, bits=READ, time=None, sector=1000, size=4096, **more):
        """An event; `bits` are the categories beside those that the kernel adds to this action."""
        self.sequence += 1
        more.setdefault("sequence", self.sequence)
        bits |= IMPLIED.get(number & 0xff, 0)
        return self.record(bits << 16 | number, time, sector, size, **more)

    def note(self, number, pdu, pid=0, **more):
        return self.record(NOTIFY << 16 | number, pid=pid, pdu=pdu, **more)

    def name(self, pid, name, **more):
        return self.note(PROCESS, name if isinstance(name, bytes) else name.encode().ljust(16, b"\0"), pid, **more)

    def clock(self, seconds, nanoseconds, **more):
        return self.note(TIMESTAMP, struct.pack(self.order + "II", seconds, nanoseconds), **more)

    def message(self, text, **more):
        return self.note(MESSAGE, text, **more)

    def unplug(self, count, number=U, **more):
        return self.event(number, sector=0, size=0, pdu=struct.pack(">Q", count), **more)

    def split(self, at, bits=WRITE, **more):
        return self.event(X, bits, pdu=struct.pack(">Q", at), **more)

    def remap(self, source, target, source_sector, bits=WRITE, **more):
        return self.event(A, bits, pdu=struct.pack(">IIQ", source, target, source_sector), **more)


def cpus(nr, order="<", dev=device(8, 0)):
    return [Cpu(number, order, dev) for number in range(nr)]


def files(of, base="sda"):
    return {f"{base}.blktrace.{cpu.number}": cpu.data for cpu in of}


def merged(of):
    """The records of all files in the order of time, as a stream (records of equal time by CPU)."""
    found = []
    for cpu in of:
        at = 0
        while at < len(cpu.data):
            time, = struct.unpack_from(cpu.order + "Q", cpu.data, at + 8)
            length, = struct.unpack_from(cpu.order + "H", cpu.data, at + 46)
            found.append((time, cpu.number, at, bytes(cpu.data[at:at + 48 + length])))
            at += 48 + length
    return b"".join(one[3] for one in sorted(found))
