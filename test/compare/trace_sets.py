# SPDX-License-Identifier: MIT
"""The list of synthetic traces: those of trace_gen.py as files and as streams, several devices, and damage."""
import random
import struct

import trace_gen
from matrix_uses import FEW, FULL, SOME
from trace_build import A, C, D, FS, G, GENESIS, I, MAGIC, Q, READ, U, WRITE, X, Cpu, cpus, device, files
from trace_gen import history


class Trace:
    def __init__(self, name, content, inputs=("-i", "sda"), stdin=None, options=FEW):
        """content: path in the folder -> bytes. stdin: which of them is given there. options: what runs on it."""
        self.name, self.inputs, self.stdin, self.options = name, list(inputs), stdin, options
        self.base, self.folder = inputs[1], "."
        self.files = {path: bytes(data) for path, data in content.items()}


def merged(*of):
    """The records of all CPUs in the order of time, as one stream."""
    found = []
    for turn, cpu in enumerate(of):
        at = 0
        while at < len(cpu.data):
            time, = struct.unpack_from(cpu.order + "Q", cpu.data, at + 8)
            length, = struct.unpack_from(cpu.order + "H", cpu.data, at + 46)
            found.append((time, turn, at, bytes(cpu.data[at:at + 48 + length])))
            at += 48 + length
    return b"".join(one[3] for one in sorted(found))


def damaged():
    """name -> files of traces that end or break in every way."""
    base = [bytes(cpu.data) for cpu in history("<", seed=11, nr_cpus=2, events=300)]
    starts, at = [], 0
    while at < len(base[1]):
        starts.append(at)
        at += 48 + struct.unpack_from("<H", base[1], at + 46)[0]
    middle = starts[len(starts) // 2]
    with_payload = next(at for at in starts[20:] if struct.unpack_from("<H", base[1], at + 46)[0])

    def second(data):
        return {"sda.blktrace.0": base[0], "sda.blktrace.1": data}

    def with_magic(magic):
        return second(base[1][:middle] + struct.pack("<I", magic) + base[1][middle + 4:])

    wrong_cpu = bytearray(base[1])
    for at in starts[10::17]:
        struct.pack_into("<I", wrong_cpu, at + 40, at % 5)
    long_payload = bytearray(base[1])
    struct.pack_into("<H", long_payload, middle + 46, 65535)
    noise = random.Random(7).randbytes(5000)
    found = {
        "wrong-cpu": second(wrong_cpu),
        "bad-magic": with_magic(0x12345678),
        "zero-magic": with_magic(0),
        "version-8-later": with_magic(MAGIC | 8),
        "version-6-later": with_magic(MAGIC | 6),
        "swapped-later": with_magic(0x07746165),
        "cut-header": second(base[1][:middle + 20]),
        "cut-payload": second(base[1][:with_payload + 50]),
        "cut-before-payload": second(base[1][:with_payload + 48]),
        "long-payload": second(long_payload),
        "zero-tail": second(base[1][:middle] + bytes(4096)),
        "noise-tail": second(base[1] + noise),
        "noise": {"sda.blktrace.0": noise},
        "noise-first": {"sda.blktrace.0": noise, "sda.blktrace.1": base[1]},
        "version-8": {"sda.blktrace.0": with_magic(MAGIC | 8)["sda.blktrace.1"][middle:]},
        "one-byte": {"sda.blktrace.0": b"\7"},
        "all-empty": {"sda.blktrace.0": b"", "sda.blktrace.1": b""},
        "first-empty": {"sda.blktrace.0": b"", "sda.blktrace.1": base[1]},
        "last-empty": second(b""),
        "gap": {"sda.blktrace.0": base[0], "sda.blktrace.2": base[1]},
        "no-first": {"sda.blktrace.1": base[1]},
        "none": {"other.blktrace.0": base[0]},
        "only-notes": {"sda.blktrace.0": Cpu().clock(1, 2).name(1, "lonely").data},
        "only-messages": {"sda.blktrace.0": Cpu().message(b"lonely").data},
        "one-event": {"sda.blktrace.0": Cpu().event(Q).data},
    }
    mixed = history(">", seed=12, nr_cpus=2, events=200)
    found["both-orders"] = second(mixed[1].data)
    return found


def undefined():
    """Payloads shorter than what the action needs: the classic reads what lies behind them."""
    cpu = Cpu().name(1, "short")
    cpu.event(Q)
    for length in (0, 4):
        for number in (U, X, A):
            cpu.event(number, READ, pdu=b"\1\2\3\4"[:length], pid=1)
    cpu.event(Q)
    return files([cpu])


def timed():
    """Requests of which every step is there: each I, D and C has an elapsed time."""
    two = cpus(2)
    two[0].name(1, "timed", time=GENESIS - 1).event(Q, time=GENESIS - 1)
    for turn in range(60):
        at, bits = GENESIS + turn * 1_000_000, FS | (READ, WRITE)[turn % 3 == 0]
        for wait, number in enumerate((G, I, D, C)):
            two[turn + wait & 1].event(number, bits, at + wait ** 3 * (turn % 8) * 1111 + wait * 10, turn * 8 + 8, pid=turn % 3)
    return files(two)


def devices():
    """Three devices, one of them in a folder, that overlap in time; equal times across them."""
    found = {}
    for turn, base in enumerate(("sda", "sdb", "folder/nvme0n1")):
        of = history("<", seed=20 + turn, nr_cpus=1 + turn, events=250, dev=device(8, 16 * turn))
        found.update(files(of, base))
    return found


def streams():
    """Traces for standard input: name -> (stream, options)."""
    one = history("<", seed=31, nr_cpus=3, events=600)
    two = history("<", seed=32, nr_cpus=2, events=300, dev=device(8, 16))
    nvme = history("<", seed=33, nr_cpus=2, events=300, dev=device(259, 3))
    gaps = cpus(2)
    for turn in range(300):
        cpu = gaps[turn & 1]
        if turn % 37 == 20:
            cpu.sequence += turn % 5 + 1
        cpu.event(Q, time=GENESIS + turn * 1000, sector=turn)
    late_start = cpus(2)
    for cpu in late_start:
        cpu.sequence = 500
        for turn in range(50):
            cpu.event(Q, time=GENESIS + turn * 1000 + cpu.number, sector=turn)
    # A number that is missing shows up behind its successors.
    shuffled = Cpu()
    order = list(range(1, 200))
    rng = random.Random(9)
    for turn in range(0, 190, 5):
        at = turn + rng.randrange(5)
        order[turn], order[at] = order[at], order[turn]
    for turn, number in enumerate(order):
        shuffled.event(Q, time=GENESIS + number * 1000, sequence=number, sector=turn)
    back = Cpu()
    for turn in range(100):
        back.event(Q, time=GENESIS + turn * 1000 - (0, 2500)[turn % 10 == 9], sector=turn)
    stream = merged(*one)
    short = merged(*history("<", seed=34, nr_cpus=2, events=200))
    return {
        "stream": (stream, FULL),
        "stream-be": (merged(*history(">", seed=31, nr_cpus=3, events=600)), FEW),
        "stream-devices": (merged(*(one + two + nvme)), SOME),
        "stream-gaps": (merged(*gaps), FEW),
        "stream-late-start": (merged(*late_start), FEW),
        "stream-shuffled": (merged(shuffled), FEW),
        "stream-back": (merged(back), FEW),
        "stream-files": (b"".join(bytes(cpu.data) for cpu in history("<", seed=35, nr_cpus=2, events=300)), FEW),
        "stream-short": (short, SOME),
        "stream-bad-magic": (bytes(gaps[0].data[:4800]) + bytes(48) + bytes(gaps[0].data[4800:]), FEW),
        "stream-cut": (stream[:len(stream) // 2 + 17], FEW),
        "stream-empty": (b"", FEW),
        "stream-noise": (random.Random(8).randbytes(500), FEW),
    }


def everything():
    """All traces, in the order of the table."""
    found = []
    for order, suffix in (("<", ""), (">", "-be")):
        for name in ("actions", "payloads", "driver_data", "messages", "notes", "cgroup", "times", "wide", "units", "exact",
                     "processes"):
            options = FULL if name == "actions" and not suffix else FEW if suffix else SOME
            found.append(Trace(name + suffix, getattr(trace_gen, name)(order), options=options))
        found.append(Trace("history" + suffix, files(history(order)), options=SOME if suffix else FULL))
    found.append(Trace("cpus20", files(history("<", seed=4, nr_cpus=20, events=1500)), options=FEW))
    found.append(Trace("devices", devices(), ("-i", "sda", "-i", "sdb", "-i", "folder/nvme0n1"), options=SOME))
    found += [Trace("undefined", undefined(), options=None), Trace("timed", timed())]
    found += [Trace(name, content) for name, content in damaged().items()]
    found += [Trace(name, {"stream": data}, ("-i", "-"), "stream", options)
              for name, (data, options) in streams().items()]
    return found
